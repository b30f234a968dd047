/* SPDX-License-Identifier: MIT
 *
 * showing.c - see showing.h.
 */
#include "showing.h"

#include "message.h"

int nm_showing_open(struct nm_showing *s, const char *profile, enum nm_format format, int64_t width)
{
	if (nm_profile_open(&s->profile, profile, &s->err))
		return nm_failed(&s->err, NM_STATUS_NO_PROFILE);
	s->style = nm_style_of(stdout, format, width);
	nm_output_open(&s->output, format);
	return 0;
}

int nm_showing_close(struct nm_showing *s, int status, int fault)
{
	int written = nm_output_close(&s->output);

	nm_profile_close(s->profile);
	return status ? nm_failed(&s->err, fault) : written;
}
