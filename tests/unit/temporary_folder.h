/* SPDX-License-Identifier: MIT
 *
 * temporary_folder.h - set-up and tear-down of a group of tests that write files: a folder of their own, which
 * is the working directory meanwhile.
 */
#ifndef TEMPORARY_FOLDER_H
#define TEMPORARY_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char temporary_folder[] = "/tmp/nearmiss-test-XXXXXX";

static int enter_temporary_folder(void **state)
{
	(void)state;
	return !mkdtemp(temporary_folder) || chdir(temporary_folder);
}

static int remove_temporary_folder(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", temporary_folder);
	return chdir("/") || system(command);
}

#endif
