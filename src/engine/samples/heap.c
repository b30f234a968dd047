/* SPDX-License-Identifier: MIT
 *
 * heap.c - blocks of the heap for samples: each belongs to the bucket of the call chain that allocated it, as in a
 * recording (contexts.h).
 *
 * A chain comes as return addresses; a context has the calls before them. On x86-64 the length of a call's
 * instruction follows from its bytes, read backward: where several lengths are possible, the most usual one is taken.
 */
#include "samples_priv.h"

enum { MOST_CALL = 7 /* bytes */ };

/* The length of the call instruction that ends before a return address; 1: any place within it. */
static unsigned call_bytes(struct nm_module *module, uint64_t vaddr)
{
	enum {
		CALL = 0xe8,
		GROUP = 0xff,
		REX_B = 0x41,
		MODE = 0xf8,
		NEAR = 0xd0,
		RIP = 0x15,
		BYTE = 0x50,
		WORD = 0x90
	};
	uint8_t code[MOST_CALL];

	if (nm_module_code(module, vaddr - MOST_CALL, code, MOST_CALL) != MOST_CALL)
		return 1;
	if (code[2] == CALL)
		return 5;
	if (code[1] == GROUP && (code[2] == RIP || (code[2] & MODE) == WORD))
		return code[0] == REX_B ? 7 : 6;
	if (code[4] == GROUP && (code[5] & MODE) == BYTE)
		return code[3] == REX_B ? 4 : 3;
	if (code[5] == GROUP)
		return code[4] == REX_B && (code[6] & MODE) == NEAR ? 3 : 2;
	return 1;
}

/* The number of a function by its name; 0: it has none. */
static int number_of(struct nm_samples *samples, struct nm_module *module, uint64_t vaddr, uint32_t *ret)
{
	struct nm_function function;
	const char *name;

	*ret = 0;
	if (!module || !nm_module_function(module, vaddr, &function) || !function.name)
		return 0;
	name = function.linkage_name ? function.linkage_name : function.name;
	*ret = (uint32_t)nm_map_get(&samples->function_of, (uintptr_t)name, samples->function_of.count + 1);
	return *ret > samples->function_of.count ? nm_map_put(&samples->function_of, (uintptr_t)name, *ret)
						 : 0;
}

static int add_call(struct nm_samples *samples, struct image *image, struct nm_chain *chain, uint64_t pc)
{
	const struct nm_mapping *m = nm_space_mapping(&image->space, pc - 1);
	struct nm_module *module = m ? m->module : NULL;
	uint32_t function;

	pc -= module ? call_bytes(module, pc - m->bias) : 1;
	if (number_of(samples, module, module ? pc - m->bias : 0, &function))
		return NM_ENOMEM;
	nm_chain_add(chain, pc, function);
	return 0;
}

static int context_of(struct nm_samples *samples, struct image *image, uint32_t number, const uint64_t *pcs,
		      uint32_t count, uint32_t *ret)
{
	struct nm_chain chain = {0};

	*ret = (uint32_t)nm_map_get(&image->context_of, number, 0);
	if (*ret || !count)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (add_call(samples, image, &chain, pcs[i]))
			return NM_ENOMEM;
	return nm_contexts_enter(&image->contexts, chain.pcs, chain.count, ret) ||
		       nm_map_put(&image->context_of, number, *ret)
		   ? NM_ENOMEM
		   : 0;
}

int nm_samples_allocate(struct nm_samples *samples, uint32_t pid, uint64_t address, uint64_t bytes,
			uint32_t number, const uint64_t *chain, uint32_t count)
{
	struct image *image = samples_image_of(samples, pid);
	uint32_t context;

	if (!image || context_of(samples, image, number, chain, count, &context))
		return NM_ENOMEM;
	return nm_space_alloc(&image->space, address, bytes, context, 0);
}

int nm_samples_release(struct nm_samples *samples, uint32_t pid, uint64_t address)
{
	struct image *image = samples_image_of(samples, pid);

	if (!image)
		return NM_ENOMEM;
	nm_blocks_remove(&image->space.heap, address, NULL);
	return 0;
}
