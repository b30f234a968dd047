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
