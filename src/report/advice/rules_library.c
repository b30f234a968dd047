/* SPDX-License-Identifier: MIT
 *
 * rules_library.c - rules for containers: their nodes and headers are the library's, so advice is about the container.
 *
 * A container is known by the type of the object, else by the code that uses it: the function, or what is inlined
 * there. Lists and trees come in blocks, of which there must be many.
 */
#include "rules.h"

struct container {
	const char *marks[5]; /* parts of the names of its types and functions */
	const char *name, *advice;
	int in_blocks; /* each element has a block of its own */
	int64_t links; /* bytes of a node that are not its element's */
	double saves;  /* of the misses of a look-up; 0: of a walk, by the bytes of an element */
};

#define TREE_STEP \
	"a step from one node to the next waits for the load before it: if it seldom changes, keep the elements in a "

static const struct container containers[] = {
    {{"std::_List_", "std::__cxx11::list<", "std::list<", "std::__detail::_List_"},
     "std::list",
     "each step waits for the load of the node before it: keep the elements in a std::vector (sort that, or an "
     "array of indices), which is read in order",
     1,
     16,
     0},
    {{"linked_list::"},
     "LinkedList",
     "each step waits for the load of the node before it: keep the elements in a Vec or VecDeque, which is read in "
     "order",
     1,
     16,
     0},
    {{"_Rb_tree", "std::map<", "std::set<", "std::multimap<", "std::multiset<"},
     "std::map or std::set",
     TREE_STEP
     "sorted std::vector (and search it with std::lower_bound), which lies in the order in which it is walked; "
     "else in a B-tree, whose nodes hold many keys",
     1,
     32,
     0},
    {{"collections::btree::"},
     "BTreeMap or BTreeSet",
     TREE_STEP
     "sorted Vec (and search it with binary_search_by_key); where the order of keys is not needed, in a HashMap, or "
     "in a Vec indexed by the key if keys are dense",
     1,
     0,
     0.5},
    {{"_Hash_node", "_Hashtable", "std::unordered_"},
     "std::unordered_map or std::unordered_set",
     "a look-up loads a place of the table, then a node for each key that it compares, one after the other: "
     "use a flat table (open addressing) that keeps keys and values, or the hash of a long key, in one array; "
     "look-ups that do not depend on each other gain from being prefetched in batches",
     0,
     0,
     0.7},
    {{"hashbrown::raw::"},
     "HashMap or HashSet",
     "a look-up loads a line of its control bytes and one of its entries, anywhere: if keys are small numbers, use a "
     "Vec that is indexed by them; keep large values elsewhere, and their indices in the table; give it its size at "
     "the start (with_capacity), since each growth moves all entries",
     0,
     0,
     0.25},
    {{"basic_string<", "std::string"},
     "std::string",
     "a string of more than 15 characters keeps them in a block of its own, so each comparison follows a "
     "pointer: keep a prefix of the key (its first 8 bytes as a number) or its hash beside the pointer, or all "
     "characters in one array with offsets",
     1,
     0,
     0.5},
};

int nm_is_library_type(const char *type)
{
	static const char *const spaces[] = {
	    "std::", "core::", "alloc::", "__gnu_cxx::", "hashbrown::", "boost::", "array_descriptor"};

	type += strncmp(type, "struct ", strlen("struct ")) ? 0 : strlen("struct ");
	for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (!strncmp(type, spaces[i], strlen(spaces[i])))
			return 1;
	return 0;
}

int nm_is_plain_array(const char *type)
{
	static const char *const plain[] = {
	    "double",   "float", "char", "signed char", "unsigned char", "short", "int",
	    "unsigned", "long",  "u8[",  "i8[",         "u16[",          "i16[",  "u32[",
	    "i32[",     "u64[",  "i64[", "f32[",        "f64[",          "real",  "integer"};

	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
		if (!strncmp(type, plain[i], strlen(plain[i])) && strchr(type, '[') && !strchr(type, '*'))
			return 1;
	return 0;
}

static int has_mark(const struct container *c, const char *text)
{
	for (unsigned i = 0; text && i < sizeof c->marks / sizeof *c->marks && c->marks[i]; i++)
		if (strstr(text, c->marks[i]))
			return 1;
	return 0;
}

/* Of an object without a type of the user's. */
static const struct container *container_of(const struct nm_evidence *e)
{
	const char *const told[] = {e->type, e->function, e->inner};

	for (unsigned t = 0; t < sizeof told / sizeof *told; t++) {
		for (unsigned i = 0; i < sizeof containers / sizeof *containers; i++)
			if (has_mark(&containers[i], told[t]))
				return &containers[i];
		if (!t && e->type && !nm_is_library_type(e->type))
			return NULL;
	}
	return NULL;
}

static int container(const struct nm_evidence *e)
{
	const struct container *c = container_of(e);

	return c && (!c->in_blocks || is_collection(e)) && e->waste >= NM_SCATTERED &&
	       (!is_half(e, e->covered) || wasteful(e)) && !is_half(e, e->cold);
}

static void advise_container(const struct nm_evidence *e, FILE *out)
{
	const struct container *c = container_of(e);

	if (is_collection(e))
		fprintf(out, "%" PRId64 " blocks of a %s, of %" PRId64 " bytes on average; ", e->blocks,
			c->name, mean_block(e));
	else
		fprintf(out, "the table of a %s: ", c->name);
	fprintf(out, "%.0f %% of the bytes loaded are never used, and %s", e->waste, c->advice);
}

/* What a node holds beside its links is read in order. */
static double saves_container(const struct nm_evidence *e)
{
	const struct container *c = container_of(e);
	const double element = (double)(mean_block(e) - c->links);

	if (c->saves > 0)
		return c->saves;
	return element < (double)e->line_size ? 1 - element / (double)e->line_size : 0;
}

const struct nm_rule nm_rules_of_libraries[] = {
    {"container", container, advise_container, .saves = saves_container, .orders = 1},
    {.cause = NULL},
};
