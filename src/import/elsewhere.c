/* SPDX-License-Identifier: MIT
 *
 * elsewhere.c - what a file is that is in no trace format, and what to do with it. One more kind of file: a row.
 */
#include "importer.h"

#include <string.h>

static const struct kind {
	const char *magic;
	size_t bytes;
	const char *is;
} kinds[] = {
#define KIND(magic, is)                     \
	{                                   \
		magic, sizeof magic - 1, is \
	}
    KIND("SQLite format 3", "is a profile, not a trace: show it with nearmiss report FILE"),
    KIND("\177ELF", "is a program, not a trace: run it with nearmiss record"),
    KIND("PERFILE2", "holds samples of perf record, not a trace: read it with nearmiss import"),
    KIND("# callgrind format", "holds sums of Callgrind, which are no trace"),
    KIND("desc: I1 cache:", "holds sums of Cachegrind, which are no trace"),
    KIND("JiTD", "is a jitdump, not a trace"),
    KIND("DTeJ", "is a jitdump, not a trace"),
    KIND("PK\3\4", "is a zip archive: unpack it first"),
    KIND("7z\274\257\47\34", "is a 7z archive: unpack it first"),
    KIND("Rar!\32\7", "is a rar archive: unpack it first"),
    KIND("\4\42\115\30", "is packed by lz4: unpack it first (lz4 -d)"),
    KIND("LZIP", "is packed by lzip: unpack it first (lzip -d)"),
    KIND("\211LZO", "is packed by lzop: unpack it first (lzop -d)"),
    KIND("\37\235", "is packed by compress: unpack it first (uncompress)"),
    KIND("\377\376\0\0", "is text in UTF-32: convert it first (iconv -f UTF-32 -t UTF-8)"),
    KIND("\377\376", "is text in UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"),
    KIND("\376\377", "is text in UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"),
    KIND("\211HDF", "is an HDF5 file: write its references as csv (nearmiss-replay(1))"),
    KIND("PAR1", "is a Parquet file: write its references as csv (nearmiss-replay(1))"),
#undef KIND
};

/* Every other byte is zero, as in text of UTF-16 without its mark. */
static const char *wide_text(const uint8_t *bytes, size_t count)
{
	size_t n = count < 64 ? count : 64;

	for (size_t zero = 0; zero < 2 && n >= 16; zero++) {
		size_t i = 0;

		while (i < n && !bytes[i] == (i % 2 == zero))
			i++;
		if (i == n)
			return zero ? "is text in UTF-16: convert it first (iconv -f UTF-16LE -t UTF-8)"
				    : "is text in UTF-16: convert it first (iconv -f UTF-16BE -t UTF-8)";
	}
	return NULL;
}

const char *known_elsewhere(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (count >= kinds[i].bytes && !memcmp(bytes, kinds[i].magic, kinds[i].bytes))
			return kinds[i].is;
	return wide_text(bytes, count);
}
