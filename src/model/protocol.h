/* SPDX-License-Identifier: MIT
 *
 * protocol.h - coherence protocols: one table row and one file each.
 *
 * Protocols work on *blocks*: lines of the longest private data level. A core's *copy* of a block is all
 * that its private levels hold of it, and has one state. A protocol is called when a core lacks the right
 * to read or write; it changes the states of copies with the actions below, which count messages and move
 * data.
 *
 *     state      readable  writable      others may have copies  memory is up to date
 *     MODIFIED   yes       yes           no                      no
 *     OWNED      yes       no            yes                     no
 *     EXCLUSIVE  yes       no: silently  no                      yes
 *     FORWARD    yes       no            yes                     yes; supplies the next reader
 *     SHARED     yes       no            yes                     yes, or the owner is
 *
 * MSI, MESI, MOESI and MESIF keep a single writer. Under FULL, SCOPE and OPT (CacheIn, section 4) several
 * copies may be MODIFIED, each with its own bytes, which are merged in memory.
 */
#ifndef NM_PROTOCOL_H
#define NM_PROTOCOL_H

#include "coherence.h"
#include "machine.h"

struct nm_protocol {
	const char *name, *summary;
	/* it calls nm_copy_is_local: the home of a block must be recorded at its first load */
	int asks_homes;
	int has_exclusive; /* the only reader may write later without a message */
	/* The core of the copy reads or writes, which the copy's state does not permit. Afterwards it
	 * does. */
	void (*read)(struct nm_coherence *coherence, struct nm_copy *copy);
	void (*write)(struct nm_coherence *coherence, struct nm_copy *copy);
	/* A core has synchronised, at a lock, a barrier or the like; NULL: nothing happens. */
	void (*synchronise)(struct nm_coherence *coherence, unsigned core);
};

extern const struct nm_protocol nm_protocol_none, nm_protocol_msi, nm_protocol_mesi, nm_protocol_moesi,
    nm_protocol_mesif, nm_protocol_full, nm_protocol_scope, nm_protocol_opt;
/* All of them, with NULL at the end. */
extern const struct nm_protocol *const nm_protocols[];

/* Whether the level has a protocol other than `none`. */
static inline int nm_level_is_coherent(const struct nm_level_spec *spec)
{
	return spec->protocol && spec->protocol->read;
}

/* ---- actions for protocols (actions.c) -- -------------------------------------------------------- */

/* The copy of another core in one of these states (bits 1 << enum nm_copy_state), or NULL. */
enum {
	NM_OWNERS =
	    1u << NM_COPY_MODIFIED | 1u << NM_COPY_OWNED | 1u << NM_COPY_EXCLUSIVE | 1u << NM_COPY_FORWARD,
	NM_VALID = NM_OWNERS | 1u << NM_COPY_SHARED,
};
struct nm_copy *nm_copy_other(const struct nm_copy *copy, unsigned states);

/* The core requests a block, to read or write it, or the right to write the block that it has: counts the
 * message. */
void nm_copy_request(struct nm_coherence *coherence, enum nm_message request);

/* The data of a request come from another core's copy, an intervention, or (NULL) from memory. */
void nm_copy_supply(struct nm_coherence *coherence, struct nm_copy *from);

/* Changes the state; if the copy was NM_COPY_NONE, it is loaded. */
void nm_copy_set_state(struct nm_coherence *coherence, struct nm_copy *copy, enum nm_copy_state state);

/* Writes modified data back to memory; the core keeps the copy, unmodified. */
void nm_copy_write_back(struct nm_coherence *coherence, struct nm_copy *copy);

/* Makes the core's writes visible to others that load the block from now on. */
void nm_copy_publish(struct nm_coherence *coherence, struct nm_copy *copy);

/* A core loses its copy. Modified data are written back to memory, unless the cause is another core's write:
 * then that core gets them. */
void nm_copy_invalidate(struct nm_coherence *coherence, struct nm_copy *copy, enum nm_cause cause);

/* read() of msi, mesi and mesif: the copy that has one of the states `owners`, if one has, supplies the block
 * and is shared from then on; the reader's state is one of the two. */
void nm_protocol_share(struct nm_coherence *coherence, struct nm_copy *copy, unsigned owners,
		       enum nm_copy_state shared, enum nm_copy_state alone);

/* write() of the protocols with a single writer: invalidates all other copies. */
void nm_protocol_invalidate_others(struct nm_coherence *coherence, struct nm_copy *copy);

/* read() and write() of protocols that send no messages to other cores: missing blocks come from memory. */
void nm_protocol_read_untold(struct nm_coherence *coherence, struct nm_copy *copy);
void nm_protocol_write_untold(struct nm_coherence *coherence, struct nm_copy *copy);

/* Whether a block's home is the core's node. */
int nm_copy_is_local(const struct nm_coherence *coherence, const struct nm_copy *copy);

/* Removes it from the core's valid copies. */
static inline void nm_copy_unlist(struct nm_copy *copy)
{
	*copy->link = copy->after;
	if (copy->after)
		copy->after->link = copy->link;
	copy->state = NM_COPY_NONE;
}

/* The core's first valid copy, and the one after `copy`; NULL at the end. */
static inline struct nm_copy *nm_copy_first(const struct nm_coherence *coherence, unsigned core)
{
	return coherence->core[core].valid;
}
static inline struct nm_copy *nm_copy_after(const struct nm_copy *copy) { return copy->after; }

#endif
