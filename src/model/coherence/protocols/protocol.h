/* SPDX-License-Identifier: MIT
 *
 * protocol.h - coherence protocols: one table row and one file each.
 *
 * Protocols work on *blocks*: lines of the longest private data level. A core's *copy* of a block is all that
 * its private levels hold of it, and has one state. A protocol is asked when a core lacks the right to do
 * what it does; it changes the states of copies with the actions below, which count and move.
 *
 *     state      readable  writable      others may have copies  memory is up to date
 *     MODIFIED   yes       yes           no                      no
 *     OWNED      yes       no            yes                     no
 *     EXCLUSIVE  yes       no: silently  no                      yes
 *     FORWARD    yes       no            yes                     yes; supplies the next reader
 *     SHARED     yes       no            yes                     yes, or the owner is
 *
 * MSI, MESI, MOESI and MESIF keep a single writer. Under FULL, SCOPE and OPT (CacheIn, section 4) several
 * copies may be MODIFIED, each with bytes of its own, which meet in memory.
 */
#ifndef NM_PROTOCOL_H
#define NM_PROTOCOL_H

#include "coherence.h"
#include "machine.h"

struct nm_protocol {
	const char *name, *summary;
	/* nm_copy_is_local is asked: the home of a block must be known from its first load on */
	int asks_homes;
	int has_exclusive; /* a reader that is alone may write later without asking */
	/* The core of the copy reads, or writes, and must not with the copy in this state. It may
	 * afterwards. */
	void (*read)(struct nm_coherence *coherence, struct nm_copy *copy);
	void (*write)(struct nm_coherence *coherence, struct nm_copy *copy);
	/* A core passed a lock, a barrier, or what else orders threads; NULL: nothing happens. */
	void (*synchronise)(struct nm_coherence *coherence, unsigned core);
};

extern const struct nm_protocol nm_protocol_none, nm_protocol_msi, nm_protocol_mesi, nm_protocol_moesi,
    nm_protocol_mesif, nm_protocol_full, nm_protocol_scope, nm_protocol_opt;
/* All of them; NULL behind the last. */
extern const struct nm_protocol *const nm_protocols[];

/* Whether the level says one under which something happens. */
static inline int nm_level_is_coherent(const struct nm_level_spec *spec)
{
	return spec->protocol && spec->protocol->read;
}

/* ---- what protocols are made of (actions.c) -------------------------------------------------------- */

/* The copy of another core in one of these states (bits 1 << enum nm_copy_state), or NULL. */
enum {
	NM_OWNERS =
	    1u << NM_COPY_MODIFIED | 1u << NM_COPY_OWNED | 1u << NM_COPY_EXCLUSIVE | 1u << NM_COPY_FORWARD,
	NM_VALID = NM_OWNERS | 1u << NM_COPY_SHARED,
};
struct nm_copy *nm_copy_other(const struct nm_copy *copy, unsigned states);

/* The core asks for a block, to read or write it, or for the right to write what it has: counts the
 * message. */
void nm_copy_request(struct nm_coherence *coherence, enum nm_message request);

/* The data of a request come from another core's copy, an intervention, or (NULL) from memory. */
void nm_copy_supply(struct nm_coherence *coherence, struct nm_copy *from);

/* Where the copy had no state it has one now: it is loaded.  Else the state changes. */
void nm_copy_set_state(struct nm_coherence *coherence, struct nm_copy *copy, enum nm_copy_state state);

/* What was written goes to memory; the copy stays, unmodified. */
void nm_copy_write_back(struct nm_coherence *coherence, struct nm_copy *copy);

/* What was written is what others get when they load the block from now on. */
void nm_copy_publish(struct nm_coherence *coherence, struct nm_copy *copy);

/* A core loses its copy. What it had written goes to memory where the cause is not another core's write,
 * which takes it over. */
void nm_copy_invalidate(struct nm_coherence *coherence, struct nm_copy *copy, enum nm_cause cause);

/* read() of msi, mesi and mesif: the copy that has one of the states `owners`, if one has, supplies the block
 * and is shared from then on; the reader's state is one of the two. */
void nm_protocol_share(struct nm_coherence *coherence, struct nm_copy *copy, unsigned owners,
		       enum nm_copy_state shared, enum nm_copy_state alone);

/* write() of the protocols with a single writer: all other copies are invalidated. */
void nm_protocol_take(struct nm_coherence *coherence, struct nm_copy *copy);

/* read() and write() of those where no message is sent: what is not there comes from memory. */
void nm_protocol_read_untold(struct nm_coherence *coherence, struct nm_copy *copy);
void nm_protocol_write_untold(struct nm_coherence *coherence, struct nm_copy *copy);

/* Whether a block's home is the core's node. */
int nm_copy_is_local(const struct nm_coherence *coherence, const struct nm_copy *copy);

/* It is no valid copy any more. */
static inline void nm_copy_unlist(struct nm_copy *copy)
{
	*copy->link = copy->after;
	if (copy->after)
		copy->after->link = copy->link;
	copy->state = NM_COPY_NONE;
}

/* A valid copy of the core, and the one after another; NULL behind the last. */
static inline struct nm_copy *nm_copy_first(const struct nm_coherence *coherence, unsigned core)
{
	return coherence->core[core].valid;
}
static inline struct nm_copy *nm_copy_after(const struct nm_copy *copy) { return copy->after; }

#endif
