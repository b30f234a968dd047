/* SPDX-License-Identifier: MIT
 *
 * status.c - see status.h.
 */
#include "status.h"

int nm_status_of(enum nm_code code, int otherwise)
{
	switch (code) {
	case NM_OK: return NM_STATUS_OK;
	case NM_ENOSPC: return NM_STATUS_NO_OUTPUT;
	case NM_EFORMAT:
	case NM_EVERSION: return NM_STATUS_BAD_INPUT;
	case NM_EPLUGIN:
	case NM_ENOMEM: return NM_STATUS_FAILED;
	default: return otherwise;
	}
}
