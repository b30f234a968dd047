/* SPDX-License-Identifier: MIT
 *
 * facts_priv.h - what the files of facts share.
 */
#ifndef NM_VIEW_FACTS_PRIV_H
#define NM_VIEW_FACTS_PRIV_H

#include "facts.h"

/* Room for so many rows in all. 0 or NM_ENOMEM. */
int nm_facts_reserve(struct nm_facts *facts, size_t rows);

#endif
