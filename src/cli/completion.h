/* SPDX-License-Identifier: MIT
 *
 * completion.h - generates the completion script for bash from the tables of commands and options.
 */
#ifndef NM_COMPLETION_H
#define NM_COMPLETION_H

#include <stdio.h>

void nm_completion_bash(FILE *out);

#endif
