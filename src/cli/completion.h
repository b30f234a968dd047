/* SPDX-License-Identifier: MIT
 *
 * completion.h - a completion script for bash, made of the tables of commands and options.
 */
#ifndef NM_COMPLETION_H
#define NM_COMPLETION_H

#include <stdio.h>

void nm_completion_bash(FILE *out);

#endif
