/* SPDX-License-Identifier: MIT
 *
 * status.c - see status.h.
 */
#include "status.h"

int nm_status_of(enum nm_code code, int otherwise)
{
	switch (code) {
	case NM_OK: return NM_STATUS_OK;
	case NM_ENOSPC: return NM_STATUS_FULL;
	case NM_EFORMAT: return NM_STATUS_DAMAGED;
	case NM_EVERSION: return NM_STATUS_NEWER_PROFILE;
	case NM_EPLUGIN:
	case NM_ENOMEM: return NM_STATUS_FAILED;
	default: return otherwise;
	}
}
