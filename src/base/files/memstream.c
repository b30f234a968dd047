/* SPDX-License-Identifier: MIT
 *
 * memstream.c - see memstream.h.
 */
#include "memstream.h"

#include <stdlib.h>

#include "errors.h"

int nm_memstream_close(FILE *stream, char **text)
{
	int lost = fflush(stream) || ferror(stream);

	if (!fclose(stream) && !lost && *text)
		return 0;
	free(*text);
	*text = NULL;
	return NM_ENOMEM;
}
