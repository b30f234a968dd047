/* SPDX-License-Identifier: MIT
 *
 * routes.c - the table of answers about a profile.
 */
#include "view_priv.h"

const struct nm_view_route nm_view_routes[] = {
    {NULL, NULL},
};
