/* SPDX-License-Identifier: MIT */
#include "tabs.h"

#include <stdlib.h>
#include <string.h>

#include "debugger.h"

static int by_recency(const void *left, const void *right)
{
	const struct nm_tab *t = left, *b = right;

	return (t->asked < b->asked) - (t->asked > b->asked);
}

/* Opens a tab; at the limit it replaces the last one of the list. */
static int open_tab(struct nm_tabs *tabs, const char *token, struct nm_tab **ret_tab, struct nm_error *err)
{
	struct nm_tab tab = {.asked = 0};
	int status = nm_debugger_another(&tab.debugger, tabs->first, err);

	if (status)
		return status;
	strcpy(tab.token, token);
	if (tabs->count == NM_TABS)
		nm_debugger_close(tabs->at[--tabs->count].debugger);
	*ret_tab = &tabs->at[tabs->count++];
	**ret_tab = tab;
	return 0;
}

int nm_tabs_find(struct nm_tabs *tabs, const char *token, struct nm_debugger **ret, struct nm_error *err)
{
	struct nm_tab *tab = tabs->at;
	int status = 0;

	if (!token || !tabs->first) {
		*ret = tabs->first;
		return 0;
	}
	if (strlen(token) > NM_TAB_TOKEN)
		return nm_fail(err, NM_EINVAL, "\"tab\" has at most %d characters", NM_TAB_TOKEN);
	while (tab < tabs->at + tabs->count && strcmp(tab->token, token) != 0)
		tab++;
	if (tab == tabs->at + tabs->count)
		status = open_tab(tabs, token, &tab, err);
	if (status)
		return status;
	tab->asked = ++tabs->requests;
	qsort(tabs->at, tabs->count, sizeof *tabs->at, by_recency);
	if (tabs->count > NM_TABS_AWAKE)
		nm_debugger_rest(tabs->at[NM_TABS_AWAKE].debugger);
	*ret = tabs->at[0].debugger;
	return 0;
}

void nm_tabs_done(struct nm_tabs *tabs)
{
	for (unsigned i = 0; i < tabs->count; i++)
		nm_debugger_close(tabs->at[i].debugger);
	tabs->count = 0;
}
