/* SPDX-License-Identifier: MIT
 *
 * checkpoint_priv.h - the protocol between the debugger and the process of a checkpoint, over a pair of sockets.
 *
 * Each request has one response: a fixed structure, or a count of bytes and these bytes.
 */
#ifndef NM_CHECKPOINT_PRIV_H
#define NM_CHECKPOINT_PRIV_H

#include "checkpoint.h"

enum nm_checkpoint_request_kind {
	NM_REQUEST_COPY, /* with a descriptor: the socket of the copy; answer: struct nm_checkpoint_copied */
	NM_REQUEST_RUN,  /* followed by the stops; answer: struct nm_checkpoint_report, and the stops */
	NM_REQUEST_SLOTS,
	NM_REQUEST_SUMS,
	NM_REQUEST_LINES,
	NM_REQUEST_FIND, /* answer: struct nm_found_slot */
};

struct nm_checkpoint_request {
	uint32_t kind, flags, stop_count, level, core, by_set;
	uint64_t from, to, address;
};

struct nm_checkpoint_copied {
	int32_t status; /* 0 or errno */
	int32_t process;
	uint64_t changed; /* as in struct nm_checkpoint */
};

/* Runs in the checkpoint's process: answers requests until the socket is closed. */
void nm_checkpoint_serve(int socket, struct nm_caches *caches, const struct nm_shared_record *record)
    __attribute__((noreturn));

/* checkpoint_process.c: whole messages. 0 or -1. */
int nm_socket_send(int socket, const void *bytes, size_t count);
int nm_socket_receive(int socket, void *bytes, size_t count);

#endif
