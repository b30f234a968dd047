/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * requests.c - answers the annotations of client.h. Pointers to names are checked before use: the program may
 * pass any.
 */
#include "sampling.h"
#include "tool.h"

#include "libvex_guest_amd64.h"

#include "nearmiss/client.h"

#define NAME_BYTES 1024

static void copy_name(HChar name[NAME_BYTES], Addr from)
{
	SizeT i;

	for (i = 0; i < NAME_BYTES - 1; i++) {
		if ((i == 0 || (from + i) % VKI_PAGE_SIZE == 0) &&
		    !VG_(am_is_valid_for_client)(from + i, 1, VKI_PROT_READ))
			break;
		name[i] = *(const HChar *)(from + i);
		if (name[i] == '\0')
			break;
	}
	name[i] = '\0';
}

Bool nm_client_request(ThreadId thread, UWord *args, UWord *result)
{
	HChar name[NAME_BYTES];
	ULong address = args[1];

	(void)thread;
	if ((args[0] & 0xffff0000ul) != NEARMISS_REQUEST_BASE)
		return False;
	*result = 1;
	switch ((enum nearmiss_request)(args[0] - NEARMISS_REQUEST_BASE)) {
	case NEARMISS_REQUEST_RUNNING: return True;
	case NEARMISS_REQUEST_NAME:
		copy_name(name, args[3]);
		nm_record_begin(NM_WIRE_NAME, 0);
		nm_record_word(address);
		nm_record_word(args[2]);
		nm_record_string(name);
		nm_record_end();
		return True;
	case NEARMISS_REQUEST_UNNAME: nm_record(NM_WIRE_UNNAME, 0, 1, &address); return True;
	case NEARMISS_REQUEST_REGION:
		copy_name(name, args[2]);
		nm_record_begin(NM_WIRE_REGION, args[1] != 0);
		nm_record_string(name);
		nm_record_end();
		return True;
	case NEARMISS_REQUEST_MEASURE:
		nm_sampling_measure(args[1] != 0);
		nm_record(NM_WIRE_MEASURE, args[1] != 0, 0, NULL);
		return True;
	}
	return False;
}
