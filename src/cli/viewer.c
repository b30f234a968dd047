/* SPDX-License-Identifier: MIT */
#include "viewer.h"

#include "message.h"
#include "open_profile.h"
#include "profile_operand.h"

int nm_viewer_open(struct nm_viewer *v, const char *profile, enum nm_format format, int64_t width)
{
	if (nm_open_profile(&v->profile, profile, &v->err))
		return nm_profile_failed(profile, &v->err);
	v->style = nm_style_of(stdout, format, width);
	nm_output_open(&v->output, format);
	return 0;
}

int nm_viewer_open_operand(struct nm_viewer *v, const struct nm_command *self, struct nm_operands *operands,
			   const char **input, enum nm_format format, int64_t width)
{
	const int status = nm_take_profile(self, operands, input);

	if (status)
		return status;
	if (operands->count)
		return nm_usage(self, "\"%s\" is no profile", operands->at[0]);
	return nm_viewer_open(v, *input, format, width);
}

int nm_viewer_close(struct nm_viewer *v, int code, int otherwise)
{
	int status = nm_output_close(&v->output);

	nm_profile_close(v->profile);
	return code ? nm_failed(&v->err, otherwise) : status;
}
