/* SPDX-License-Identifier: MIT
 *
 * sample_option.h - the option --sample: RATE[,line=BYTES][,seed=N].
 */
#ifndef NM_SAMPLE_OPTION_H
#define NM_SAMPLE_OPTION_H

#include "launch.h"
#include "machine.h"
#include "options.h"

/* Reads it; without line= the lines are those of the machine's first data level. 0, or a status after a
 * message. */
int nm_read_sample(const struct nm_command *self, const char *text, const struct nm_machine *machine,
		   struct nm_sample_choice *ret_choice);

#endif
