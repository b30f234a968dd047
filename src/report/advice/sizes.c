/* SPDX-License-Identifier: MIT
 *
 * sizes.c - sizes as advice writes them.
 */
#include <inttypes.h>

#include "rules.h"

void nm_advise_bytes(int64_t n, FILE *out)
{
	if (n >= 1 << 20)
		fprintf(out, "%.*fM", n % (1 << 20) ? 1 : 0, (double)n / (1 << 20));
	else if (n >= 10240)
		fprintf(out, "%.*fK", n % 1024 ? 1 : 0, (double)n / 1024);
	else
		fprintf(out, "%" PRId64 " bytes", n);
}

void nm_advise_huge_pages(const struct nm_evidence *e, FILE *out)
{
	enum { REACH = 16 << 20 }; /* more than 4096 pages: no processor's TLB has as many entries */

	if (in_use(e) <= REACH || is_half(e, e->foreseen))
		return;
	fputs("; its ", out);
	nm_advise_bytes(in_use(e), out);
	fputs(" are more pages of 4K than a TLB holds: huge pages (madvise(MADV_HUGEPAGE)) save the walks",
	      out);
}
