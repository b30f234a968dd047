/* SPDX-License-Identifier: MIT
 *
 * csv.c - see csv.h.
 */
#include "csv.h"

#include <string.h>

void nm_csv_field(const char *text, FILE *out)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}
