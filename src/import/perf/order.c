/* SPDX-License-Identifier: MIT
 *
 * order.c - records of perf.data in the order of their times.
 *
 * Each processor has a buffer of its own, which perf empties in turn, so a sample may stand before the mapping
 * that it lies in. After each turn perf writes FINISHED_ROUND: whatever is not newer than the newest record of
 * the round before can have nothing older behind it, and leaves. Files without rounds leave when too much
 * waits, the oldest first. Records without a time leave at once. Where the input is damaged, those that wait leave
 * before the fault is told.
 */
#include "perf_priv.h"

#include <stdlib.h>

enum { RECORD_HEADER = 8, MOST_WAITING = 1 << 27 }; /* bytes */

static int is_before(const struct perf_ordered *o, const struct perf_ordered *p)
{
	return o->time != p->time ? o->time < p->time : o->number < p->number;
}

static void swap_records(struct perf_ordered *o, struct perf_ordered *p)
{
	const struct perf_ordered c = *o;

	*o = *p;
	*p = c;
}

static int push_record(struct nm_perf *perf, const struct perf_bytes *bytes, uint64_t time)
{
	struct perf_ordered record = {time, perf->number++, malloc(RECORD_HEADER + bytes->count)};
	const uint16_t count = (uint16_t)(bytes->count + RECORD_HEADER);
	size_t i = perf->waiting.count;

	if (!record.bytes)
		return NM_ENOMEM;
	memcpy(record.bytes, &bytes->type, 4);
	memcpy(record.bytes + 4, &bytes->misc, 2);
	memcpy(record.bytes + 6, &count, 2);
	memcpy(record.bytes + RECORD_HEADER, bytes->at, bytes->count);
	if (nm_vec_push(&perf->waiting, record)) {
		free(record.bytes);
		return NM_ENOMEM;
	}
	perf->waiting_bytes += count;
	for (; i && is_before(&perf->waiting.at[i], &perf->waiting.at[(i - 1) / 2]); i = (i - 1) / 2)
		swap_records(&perf->waiting.at[i], &perf->waiting.at[(i - 1) / 2]);
	perf->newest = time > perf->newest ? time : perf->newest;
	return 0;
}

static void pop_record(struct nm_perf *perf, struct perf_bytes *ret)
{
	struct perf_ordered *heap = perf->waiting.at;
	uint16_t count;
	size_t i = 0, n;

	free(perf->given);
	perf->given = heap[0].bytes;
	heap[0] = heap[--perf->waiting.count];
	n = perf->waiting.count;
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
			if (is_before(&heap[child], &heap[least]))
				least = child;
		if (least == i)
			break;
		swap_records(&heap[i], &heap[least]);
		i = least;
	}
	memcpy(&ret->type, perf->given, 4);
	memcpy(&ret->misc, perf->given + 4, 2);
	memcpy(&count, perf->given + 6, 2);
	ret->at = perf->given + RECORD_HEADER;
	ret->count = count - (size_t)RECORD_HEADER;
	perf->waiting_bytes -= count;
}

static int may_leave(const struct nm_perf *perf)
{
	return perf->waiting.count && (perf->flushing || perf->waiting.at[0].time <= perf->limit ||
				       perf->waiting_bytes > MOST_WAITING);
}

int perf_order_next(struct nm_perf *perf, struct perf_bytes *ret, struct nm_error *err)
{
	while (!may_leave(perf)) {
		const int status = perf->flushing ? 0 : perf_file_next(perf, ret, &perf->fault);
		uint64_t time;

		if (perf->flushing) {
			if (perf->fault.code && err)
				*err = perf->fault;
			return (int)perf->fault.code;
		}
		if (status <= 0) {
			perf->fault.code = (enum nm_code)status;
			perf->flushing = 1;
			continue;
		}
		if (ret->type == RECORD_FINISHED_ROUND) {
			perf->limit = perf->round;
			perf->round = perf->newest;
			continue;
		}
		time = perf_time_of(perf, ret);
		if (push_record(perf, ret, time))
			return nm_fail_memory(err);
	}
	pop_record(perf, ret);
	return 1;
}

void perf_order_done(struct nm_perf *perf)
{
	for (size_t i = 0; i < perf->waiting.count; i++)
		free(perf->waiting.at[i].bytes);
	nm_vec_free(&perf->waiting);
	free(perf->given);
}

int nm_perf_next(struct nm_perf *perf, struct nm_perf_record *ret_record, struct nm_error *err)
{
	struct perf_bytes bytes;
	int status;

	while ((status = perf_order_next(perf, &bytes, err)) > 0) {
		status = perf_decode(perf, &bytes, ret_record, err);
		if (status)
			return status;
	}
	return status;
}
