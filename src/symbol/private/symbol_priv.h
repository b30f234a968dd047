/* SPDX-License-Identifier: MIT
 *
 * symbol_priv.h - shared by the files of this folder: the module and its lazily built tables.
 *
 * A module owns up to two files: the program's own ELF file and a separate file of debug information
 * (`debug`). `dwarf` belongs to the one that has .debug_info. Each table has a flag that says whether it was
 * queried; a table that could not be built stays empty and is not tried again. Strings from the mapped files
 * live as long as the module; strings returned to callers are interned.
 */
#ifndef NM_SYMBOL_PRIV_H
#define NM_SYMBOL_PRIV_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <pthread.h>

#include "arena.h"
#include "map.h"
#include "spans.h"
#include "symbol.h"

struct symbol_encoder;
struct symbol_cache;
struct decoded_symbols;
struct symbol_decoder;

#define NO_ID UINT32_MAX
enum { BUILD_ID_MAX = 64 };

struct elf_file {
	int fd; /* -1: none */
	Elf *elf;
	int64_t modified;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_bytes;
};

/* One PT_LOAD segment. */
struct segment {
	uint64_t offset, vaddr, file_bytes, bytes;
	int executable;
};

/* One section that occupies memory; .tbss is not among them. */
struct section {
	uint64_t low, end;
	const char *name;
	int executable;
};

/* One symbol of the ELF symbol table.  `raw` points into the mapped string table, or is interned. */
struct elf_symbol {
	uint64_t low, end;
	const char *raw;
	const char *plain; /* demangled and without clone suffix, interned; NULL until queried */
	uint8_t rank;      /* of equals the lowest wins: global 0, weak 1, local 2, no type +4 */
};
struct elf_symbols nm_vec(struct elf_symbol);

/* From `low` to the next row: this line.  file NULL: the end of a sequence, nothing is known. */
struct line_row {
	uint64_t low;
	const char *file;
	uint32_t line, column; /* column 0: unknown */
};
struct line_rows nm_vec(struct line_row);

/* A function or an inlined instance of one.  Parents come before children. */
struct frame {
	Dwarf_Die die;
	const char *name;      /* NULL until queried */
	const char *call_file; /* with call_line and call_read: where it is inlined */
	uint32_t call_line;
	int call_read;
	uint64_t low;    /* least address, in the physical function for inlined ones too */
	uint32_t parent; /* frame it is inlined into; NO_ID: a physical function */
};
struct frames nm_vec(struct frame);

struct unit {
	Dwarf_Die die;  /* of the compilation unit, or of its skeleton */
	Dwarf_Die body; /* the same, or that of the split unit */
	uint64_t bytes; /* at most so many DIEs can be in it */
	int language;   /* DW_LANG_*, 0 if not given */
	int lines_read, frames_read;
	struct line_rows lines;
	struct frames frames;
	struct spans code; /* flat; id: frame */
};
struct units nm_vec(struct unit);

/* A variable with its DIE (if any): type, file and line are read at the first query. */
struct variable {
	struct nm_variable seen;
	Dwarf_Die die;
	int language;
	int is_completed, lacks_scope; /* DWARF does not say what it belongs to */
	uint32_t order;                /* in the file */
};
struct variables nm_vec(struct variable);

struct nm_symbols {
	pthread_mutex_t lock; /* recursive; held while a function of symbol.h works */
	struct nm_strings pool;
	struct nm_vec(struct nm_module *) modules;
	struct symbol_encoder *encoder; /* or NULL */
	struct symbol_decoder *decoder; /* or NULL */
	struct symbol_cache *cache;     /* or NULL */
	struct nm_arena arena;
	struct nm_map types, locals; /* by what they hold: struct nm_type, nm_locals in the arena */
	int complete;  /* the modules' answers are all that there are: files are not looked at */
	int expecting; /* what is not there will come in time */
};

struct nm_module {
	struct nm_symbols *store;
	const char *path, *name;
	uint8_t wanted_id[BUILD_ID_MAX]; /* the requested build-id, or the file's */
	size_t wanted_id_bytes;
	const char *build_id; /* the same as text, once asked for */
	struct elf_file file, debug;
	int had_file;                    /* `file` could be opened, here or where the answers are from */
	int64_t modified;                /* when that file was changed last; 0 without one */
	struct decoded_symbols *decoded; /* answers of an earlier run, or NULL */
	int sought;                      /* the file was looked for since something was not among them */
	uint32_t encoded_number;         /* its number among the encoded ones; 0: none yet */
	struct nm_vec(struct segment) segments;
	uint64_t tls_bytes, tls_image_bytes, tls_align; /* image: what the file initialises */

	int debug_sought;
	Dwarf *dwarf;
	Elf *expanded; /* what dwarf was read from, if sections had to be unpacked; and its bytes */
	char *expanded_image;
	const char *complaint; /* why debug information that is there cannot be read; NULL */

	int symbols_read;
	struct elf_symbols functions, objects, tls_objects; /* aliases dropped, sorted by low */
	struct spans function_spans;                        /* flat; id: functions */
	struct nm_vec(struct section) sections;

	int units_read;
	struct units units;
	struct nm_map scoped_names; /* declaration of a function -> its interned name with scopes */
	struct spans unit_spans;    /* flat; id: units */

	Dwarf_CFI *cfi; /* the unwind tables of `file`, once they were needed */

	struct nm_map digests; /* interned path of a source -> interned digest, "" if units disagree */

	struct nm_map types_of;  /* entry of a type -> struct nm_type or NULL */
	struct nm_map locals_of; /* entry of a function -> struct nm_locals or NULL */

	int variables_read;
	struct variables variables, tls_variables;
	struct spans variable_spans, tls_spans; /* flat; ids: the two lists above */
};

static inline void store_release(struct nm_symbols *const *held) { pthread_mutex_unlock(&(*held)->lock); }
static inline struct nm_symbols *store_hold(struct nm_symbols *store)
{
	pthread_mutex_lock(&store->lock);
	return store;
}

/* Holds a store up to the end of the block: engines in several threads may ask it. */
#define HOLD_STORE(store) \
	struct nm_symbols *const held_ __attribute__((cleanup(store_release), unused)) = store_hold(store)

static inline struct nm_strings *module_pool(struct nm_module *module) { return &module->store->pool; }

/* module.c */
struct nm_module *module_new(struct nm_symbols *symbols,
			     const char *path); /* without a file; path interned */
void module_free(struct nm_module *module);

/* Keeps the first complaint of a module (symbol.h). */
void module_complain(struct nm_module *module, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* store.c */
void module_seek_file(struct nm_module *module); /* opens the file of a decoded module, once */

/* cache/folder.c */
void symbol_cache_free(struct symbol_cache *cache);

/* elf/elf_file.c */
int elf_file_open(struct elf_file *file, const char *path); /* 1 if it is an ELF program or library */
void elf_file_close(struct elf_file *file);
int elf_find_section(Elf *elf, const char *name, Elf_Scn **ret_section, GElf_Shdr *ret_header);

/* elf/expand.c: the file with its sections of zstd unpacked, and its bytes, to be freed after it; NULL if it has none,
 * or they are damaged. */
Elf *elf_expand(Elf *elf, char **ret_image);

/* elf/segments.c */
void module_read_segments(struct nm_module *module);
int module_holds_code(const struct nm_module *module, uint64_t vaddr); /* in an executable segment? */
int module_holds(const struct nm_module *module, uint64_t vaddr);      /* in any segment? */

/* cache/fingerprints.c: call before a file is looked for; does nothing unless the store has a cache. */
void fingerprint_file(struct nm_symbols *symbols, const char *path);

/* elf/debug_file.c: fills module->debug and module->dwarf at the first call. */
void module_find_debug(struct nm_module *module);

/* dwarf/paths.c: a source's path, absolute where that is known, interned; NULL for NULL. Relative to the
 * compilation directory of a unit, or of the unit that an entry is in. */
const char *path_of(struct nm_module *module, Dwarf_Die *unit, const char *path);
const char *path_near(struct nm_module *module, Dwarf_Die *die, const char *path);

/* elf/debuginfod.c: a descriptor of the debug file for a build-id, or -1. */
int debuginfod_open(const uint8_t *build_id, size_t build_id_bytes);

/* elf/symbols.c */
void module_read_symbols(struct nm_module *module);
struct elf_symbol *elf_symbol_starting_at(struct nm_module *module, uint64_t vaddr);
const char *elf_symbol_plain(struct nm_module *module, struct elf_symbol *symbol);

/* variables.c */
void module_read_variables(struct nm_module *module);

/* The answers from the files, behind the functions of symbol.h (queries.c). */
int module_function(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function);
size_t module_source_positions(struct nm_module *module, uint64_t vaddr, struct nm_source_position *at,
			       size_t max);
int module_variable(struct nm_module *module, uint64_t vaddr, struct nm_variable *ret_variable);
int module_tls_variable(struct nm_module *module, uint64_t offset, struct nm_variable *ret_variable);
enum nm_debug_level module_debug_level(struct nm_module *module);
size_t module_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room);

/* elf/unwind_starts.c: "module+0x1234", interned, after the start of the function around vaddr; NULL: not
 * known. */
const char *module_nameless_function(struct nm_module *module, uint64_t vaddr);

/* elf/plt.c: appends "name@plt" stubs to module->functions. */
void plt_read(struct nm_module *module);

/* demangle.c: what the source calls it, without clone suffixes; the name itself if it is not mangled.
 * Interned; NULL when memory is exhausted. */
const char *demangle(struct nm_strings *pool, const char *name);
int is_mangled(const char *name);

/* dwarf/language.c */
int is_c(int language);
int is_cxx(int language);
int is_fortran(int language);

/* dwarf/units.c */
void module_read_units(struct nm_module *module);
struct unit *unit_at(struct nm_module *module, uint64_t vaddr);

/* dwarf/lines.c */
void unit_read_lines(struct nm_module *module, struct unit *unit);
const struct line_row *unit_line_at(const struct unit *unit, uint64_t vaddr);

/* dwarf/digests.c: what the unit's line table tells; the digest of a source in hexadecimal digits, or
 * NULL. */
void unit_read_digests(struct nm_module *module, struct unit *unit);
const char *module_digest(struct nm_module *module, const char *path);

/* dwarf/functions.c */
void unit_read_frames(struct nm_module *module, struct unit *unit);
const char *frame_name(struct nm_module *module, const struct unit *unit, struct frame *frame);
void frame_call(struct nm_module *module, struct frame *frame, const char **ret_file, uint32_t *ret_line);

/* The prefix of the names of the function's variables: "rank()::", "app::use(int)::". Interned; NULL
 * when memory is exhausted. */
const char *function_prefix(struct nm_module *module, Dwarf_Die *function);

/* dwarf/location.c: where a variable with static storage is.  1 if the expression is such a place. */
struct place {
	uint64_t address; /* vaddr, or offset in the module's TLS block */
	int is_thread_local;
};
int location_read(Dwarf_Die *die, struct place *ret_place);

/* dwarf/variables.c: appends what the units declare to the two lists. */
void dwarf_variables_read(struct nm_module *module);

/* dwarf/types.c: the type of a variable as its language writes it, interned, or NULL. */
const char *type_name(struct nm_module *module, Dwarf_Die *variable, int language);

const char *type_spelled(struct nm_module *module, Dwarf_Die *type, int language); /* the same of a type */

/* dwarf/fields.c: follows names and qualifiers of a type (and elements of arrays) to what it is, 0: to
 * nothing; whether that is a structure; its size or 0; its fields, or NULL; those of a variable; the one copy
 * of a type. */
int type_peel(Dwarf_Die *type, int arrays);
int type_is_structure(Dwarf_Die *type);
uint64_t type_bytes(Dwarf_Die *type);
const struct nm_type *type_of(struct nm_module *module, Dwarf_Die *type, int language);
/* flexible.c: does a structure end in an array without a size? Then *ret_type is that of a block of so many bytes, with
 * the array as its last field, "tail[]"; NULL if the block is too small. */
int type_flexible(struct nm_module *module, Dwarf_Die *structure, int language, uint64_t bytes,
		  const struct nm_type **ret_type);
const struct nm_type *type_of_variable(struct nm_module *module, Dwarf_Die *variable, int language);
const struct nm_type *type_intern(struct nm_symbols *symbols, const struct nm_type *type);

/* variables.c, dwarf/locals.c and dwarf/allocated.c, behind the functions of symbol.h (queries.c). */
const struct nm_type *module_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local);
const struct nm_locals *module_locals(struct nm_module *module, uint64_t vaddr);
enum nm_allocated module_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes,
				   const struct nm_type **ret_type);

/* dwarf/locals.c: the one copy of a list; NULL when memory is exhausted. */
const struct nm_locals *locals_intern(struct nm_symbols *symbols, const struct nm_local *list,
				      uint32_t count);

/* dwarf/allocated.c: the class that a function is a method of, by its parameter `this`. 1 if there is one. */
int function_class(const Dwarf_Die *function, Dwarf_Die *ret_class);

/* dwarf/assigned_call.c, behind nm_module_assigned. */
struct nm_assigned module_assigned(struct nm_module *module, uint64_t vaddr,
				   const struct nm_call_place *call);

/* cache/encode.c, decode.c, decoded.c */
void symbol_encoder_free(struct symbol_encoder *encoder);
void decoded_symbols_free(struct decoded_symbols *decoded);
void symbol_decoder_free(struct symbol_decoder *decoder);

#endif
