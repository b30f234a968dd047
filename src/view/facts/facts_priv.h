/* SPDX-License-Identifier: MIT
 *
 * facts_priv.h - functions shared by the files of facts.
 */
#ifndef NM_VIEW_FACTS_PRIV_H
#define NM_VIEW_FACTS_PRIV_H

#include "facts.h"

/* Reserves space for `rows` rows in all. 0 or NM_ENOMEM. */
int nm_facts_reserve(struct nm_facts *facts, size_t rows);

#endif
