/* SPDX-License-Identifier: MIT
 *
 * diff_priv.h - a comparison that is ready to be written.
 */
#ifndef NM_DIFF_PRIV_H
#define NM_DIFF_PRIV_H

#include "rows.h"
#include "table.h"

struct nm_diff {
	const struct nm_diff_request *request;
	struct nm_diff_side sides[NM_DIFF_SIDES];
	unsigned count;
	char has[NM_DIFF_KEYS]; /* rows are told apart by these keys */
	enum nm_diff_metric by; /* ranks them */
	struct nm_diff_rows rows;
};

/* Sets has[key] of each key of a list by commas. NM_EINVAL. */
int nm_diff_take_keys(const char *list, char *has, struct nm_error *err);

/* One sentence without a full stop: what the change did, also if it did nothing. 0 or NM_ENOMEM. */
int nm_diff_verdict(const struct nm_diff *diff, FILE *out);

/* A sentence that can be quoted alone: what a side after the first changed, also if it changed nothing (quote.c).
 * *ret_text is malloc'ed. 0, or a code. */
int nm_diff_quote(const struct nm_diff *diff, unsigned side, char **ret_text, struct nm_error *err);

/* Writes it in the layout of the request. 0, or a code. */
int nm_diff_show(const struct nm_diff *diff, const struct nm_style *style, FILE *out, struct nm_error *err);

/* The columns of the keys that `has` names, at most NM_DIFF_KEYS + 1; returns how many. And the value of one. */
unsigned nm_diff_key_columns(const char *has, struct nm_column *to);
struct nm_value nm_diff_key_value(struct nm_table *table, const struct nm_diff_names *names, unsigned key);

/* Text and a table for a comment on a pull request. 0 or NM_ENOMEM. */
void nm_markdown_text(const char *text, FILE *out);
int nm_markdown_table(struct nm_table *table, FILE *out);

/* The row's names as the last profile that has it calls them, and as the first one does. */
const struct nm_diff_names *nm_diff_row_names(const struct nm_diff_row *row, unsigned count);
const struct nm_diff_names *nm_diff_row_before(const struct nm_diff_row *row);

/* "+12.3", "new" or "gone" of a change; `room` is enough for any. */
enum { NM_DIFF_PERCENT_ROOM = 32 };
const char *nm_diff_percent(int64_t before, int64_t after, char *ret_text);

#endif
