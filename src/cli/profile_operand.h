/* SPDX-License-Identifier: MIT
 *
 * profile_operand.h - `nearmiss report old.nmp` means `nearmiss report -i old.nmp`, in each command that shows
 * a profile.
 */
#ifndef NM_PROFILE_OPERAND_H
#define NM_PROFILE_OPERAND_H

#include "errors.h"
#include "options.h"

/* Takes the profile out of the operands, which keep their order, and sets *input: to it, to what -i gave, or to
 * nearmiss.nmp. An operand is a profile if it ends in .nmp or is a file that is one, or of perf. 0, or
 * NM_STATUS_USAGE after a message: there are two, or an operand is a program. */
int nm_take_profile(const struct nm_command *self, struct nm_operands *operands, const char **input);

/* The same without -i: adds each to the list. */
int nm_take_profiles(const struct nm_command *self, struct nm_operands *operands,
		     struct nm_option_list *inputs);

/* Reports that a profile cannot be opened; says how to make one that is not there. Returns the status. */
int nm_profile_failed(const char *path, const struct nm_error *err);

/* Whether it ends in .nmp. */
int nm_names_profile(const char *path);

/* What a file is by its first bytes. "-" is read by whoever opens it: NM_FILE_OTHER. */
enum nm_file_kind { NM_FILE_UNREADABLE, NM_FILE_PROFILE, NM_FILE_PROGRAM, NM_FILE_SAMPLES, NM_FILE_OTHER };
enum nm_file_kind nm_file_kind(const char *path);

/* Says that a program is to be recorded first; returns NM_STATUS_USAGE. */
int nm_refuse_program(const struct nm_command *self, const char *path);

#endif
