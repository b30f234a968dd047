/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * maps.c - reports mappings, the data segment and loaded modules.
 *
 * Valgrind's core reports every change of the program's address space; its own mappings never show. A module
 * is a file with an executable mapping; its lowest mapped address identifies it. The build-id is read from
 * the file's notes, once per module.
 *
 * The core reports an mremap as pieces that are unmapped and mapped; we hold them back and send one
 * NM_WIRE_REMAP when the system call returns.
 */
#include "sampling.h"
#include "tool.h"

#include "libvex_guest_amd64.h"

#include <elf.h>

#define MAX_BUILD_ID 64
#define MAX_PROGRAM_HEADERS 64
#define NO_SEGMENT (~(UWord)0)

/* Linux constants that Valgrind's headers lack. */
enum { MAP_HUGETLB_ = 0x40000, MAP_HUGE_SHIFT_ = 26, MADV_HUGEPAGE_ = 14, MADV_NOHUGEPAGE_ = 15 };

/* A function of the core that its headers for tools do not declare. */
extern Addr VG_(brk_base);
extern Addr VG_(clstk_end); /* last byte of the main thread's stack */

static XArray *modules; /* of Addr */
static Bool in_mremap;
static UInt mmap_flags;               /* of the mmap in progress */
static UWord segment_id = NO_SEGMENT; /* of the shmat in progress */

/* The lowest address at which the file of the segment is mapped without a gap. */
static Addr lowest_of_file(const NSegment *segment)
{
	Addr lowest = segment->start;

	while (lowest > 0) {
		const NSegment *below = VG_(am_find_nsegment)(lowest - 1);

		if (below == NULL || below->kind != SkFileC || below->dev != segment->dev ||
		    below->ino != segment->ino)
			break;
		lowest = below->start;
	}
	return lowest;
}

static Bool read_at(Int fd, ULong offset, void *bytes, SizeT size)
{
	return VG_(lseek)(fd, (Off64T)offset, VKI_SEEK_SET) == (Off64T)offset &&
	       VG_(read)(fd, bytes, (Int)size) == (Int)size;
}

static UInt build_id_of_notes(const UChar *notes, SizeT size, UChar id[MAX_BUILD_ID])
{
	SizeT at = 0;

	while (at + sizeof(Elf64_Nhdr) <= size) {
		Elf64_Nhdr note;
		SizeT name, description;

		VG_(memcpy)(&note, notes + at, sizeof note);
		name = at + sizeof note;
		description = name + ((SizeT)note.n_namesz + 3) / 4 * 4;
		if (description + note.n_descsz > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    VG_(memcmp)(notes + name, "GNU", 4) == 0 && note.n_descsz <= MAX_BUILD_ID) {
			VG_(memcpy)(id, notes + description, note.n_descsz);
			return note.n_descsz;
		}
		at = description + ((SizeT)note.n_descsz + 3) / 4 * 4;
	}
	return 0;
}

/* Length of the build-id; 0 if there is none. */
static UInt read_build_id(Int fd, UChar id[MAX_BUILD_ID])
{
	UChar notes[4096];
	Elf64_Ehdr head;
	Elf64_Phdr part;
	UInt i, bytes;

	if (!read_at(fd, 0, &head, sizeof head) || VG_(memcmp)(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phnum > MAX_PROGRAM_HEADERS)
		return 0;
	for (i = 0; i < head.e_phnum; i++) {
		if (!read_at(fd, head.e_phoff + (ULong)i * head.e_phentsize, &part, sizeof part))
			return 0;
		if (part.p_type != PT_NOTE || part.p_filesz > sizeof notes ||
		    !read_at(fd, part.p_offset, notes, part.p_filesz))
			continue;
		bytes = build_id_of_notes(notes, part.p_filesz, id);
		if (bytes > 0)
			return bytes;
	}
	return 0;
}

/* Programs and libraries of the system stay where they are while others run. */
static Bool is_lasting(const HChar *path)
{
	static const HChar *const folders[] = {"/usr/", "/lib/", "/lib64/", "/opt/", "/nix/", "/gnu/"};
	UInt i;

	for (i = 0; i < sizeof folders / sizeof *folders; i++)
		if (VG_(strncmp)(path, folders[i], VG_(strlen)(folders[i])) == 0)
			return True;
	return False;
}

/* A program may delete or replace a library of its own as soon as it is loaded: the engine opens it first. */
static void report_module(Addr lowest, const HChar *path)
{
	ULong id[MAX_BUILD_ID / 8];
	UInt bytes = 0, i;
	Int fd;

	for (i = 0; i < (UInt)VG_(sizeXA)(modules); i++)
		if (*(Addr *)VG_(indexXA)(modules, i) == lowest)
			return;
	VG_(addToXA)(modules, &lowest);
	VG_(memset)(id, 0, sizeof id);
	fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (fd >= 0) {
		bytes = read_build_id(fd, (UChar *)id);
		VG_(close)(fd);
	}
	nm_record_begin(NM_WIRE_MODULE, bytes);
	nm_record_word(lowest);
	for (i = 0; i < (bytes + 7) / 8; i++)
		nm_record_word(id[i]);
	nm_record_string(path);
	nm_record_end();
	if (!is_lasting(path))
		nm_ring_drain();
}

static void forget_modules(Addr start, SizeT bytes)
{
	Word i;

	for (i = VG_(sizeXA)(modules) - 1; i >= 0; i--) {
		ULong lowest = *(Addr *)VG_(indexXA)(modules, i);

		if (lowest - start >= bytes)
			continue;
		nm_record(NM_WIRE_MODULE_GONE, 0, 1, (const ULong *)&lowest);
		VG_(removeIndexXA)(modules, i);
	}
}

static void report_map(Addr start, SizeT bytes, UInt flags)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	const HChar *path = NULL;
	ULong offset = 0;

	if (segment != NULL && segment->kind == SkFileC) {
		path = VG_(am_get_filename)(segment);
		offset = (ULong)segment->offset + (start - segment->start);
		flags |= NM_WIRE_MAP_FILE;
	}
	if (segment != NULL && segment->kind == SkShmC)
		flags |= NM_WIRE_MAP_SHARED;
	nm_call_stack_tell_now();
	nm_record_begin(NM_WIRE_MAP, flags);
	nm_record_word(start);
	nm_record_word(bytes);
	nm_record_word(offset);
	nm_record_string(path == NULL ? "" : path);
	nm_record_end();
	if (path != NULL && (flags & NM_WIRE_PROT_EXEC))
		report_module(lowest_of_file(segment), path);
}

/* Which part of which memory object lies there. Anonymous memory is shared with children only. */
static void report_shared(Addr start, SizeT bytes)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	ULong words[5] = {start, bytes};

	if (segment == NULL)
		return;
	if (segment->kind == SkFileC) {
		words[2] = segment->dev;
		words[3] = segment->ino;
		words[4] = (ULong)segment->offset + (start - segment->start);
	} else if (segment->kind == SkShmC) {
		words[2] = NM_WIRE_DEVICE_SYSV;
		words[3] = segment_id + 1;
	}
	nm_record(NM_WIRE_SHARED, 0, 5, words);
}

static UInt protection_flags(Bool r, Bool w, Bool x)
{
	return (r ? NM_WIRE_PROT_READ : 0) | (w ? NM_WIRE_PROT_WRITE : 0) | (x ? NM_WIRE_PROT_EXEC : 0);
}

/* The core shows the part of the tool's image that stands in for the kernel's signal trampoline. */
static Bool is_ours(Addr start)
{
	extern const UChar __executable_start[], _end[];

	return start - (Addr)__executable_start < (SizeT)(_end - __executable_start);
}

static void mapped_at_start(Addr start, SizeT bytes, Bool r, Bool w, Bool x, ULong handle)
{
	Bool stack = VG_(clstk_end) - start < bytes;

	(void)handle;
	if (is_ours(start))
		return;
	report_map(start, bytes, protection_flags(r, w, x) | (stack ? NM_WIRE_MAP_STACK : 0));
}

static void record_mapping(Addr start, SizeT bytes, Bool r, Bool w, Bool x, ULong handle)
{
	(void)handle;
	if (in_mremap)
		return;
	forget_modules(start, bytes);
	report_map(start, bytes,
		   protection_flags(r, w, x) | (mmap_flags & VKI_MAP_SHARED ? NM_WIRE_MAP_SHARED : 0));
	if (nm_one_machine && (mmap_flags & VKI_MAP_SHARED || segment_id != NO_SEGMENT))
		report_shared(start, bytes);
}

/* A mapping made readable and executable after the fact still makes a module. */
static void record_protection(Addr start, SizeT bytes, Bool r, Bool w, Bool x)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	const HChar *path;

	(void)bytes, (void)r, (void)w;
	if (!x || segment == NULL || segment->kind != SkFileC)
		return;
	path = VG_(am_get_filename)(segment);
	if (path != NULL)
		report_module(lowest_of_file(segment), path);
}

static void record_unmapping(Addr start, SizeT bytes)
{
	ULong words[] = {start, bytes};

	if (in_mremap)
		return;
	forget_modules(start, bytes);
	nm_record(NM_WIRE_UNMAP, 0, 2, words);
}

static void report_break(Addr end)
{
	ULong words[] = {VG_(brk_base), end};

	nm_call_stack_tell_now();
	nm_record(NM_WIRE_BRK, 0, 2, words);
}

static void break_grown(Addr start, SizeT bytes, ThreadId thread)
{
	(void)thread;
	report_break(start + bytes);
}

static void break_shrunk(Addr start, SizeT bytes)
{
	(void)bytes;
	report_break(start);
}

void nm_maps_before_syscall(UInt number, const UWord *args)
{
	if (number == __NR_mmap)
		mmap_flags = (UInt)args[3];
	else if (number == __NR_shmat)
		segment_id = args[0];
	else if (number == __NR_mremap)
		in_mremap = True;
}

/* The page size that the program asks for; mmap has it in its flags, where 0 means the default. */
static void report_pages(UInt number, const UWord *args, Addr start)
{
	const UInt shift = (UInt)args[3] >> MAP_HUGE_SHIFT_ & 0x3f;
	ULong words[] = {start, VG_PGROUNDUP(args[1])};

	if (args[1] == 0)
		return;
	if (number == __NR_mmap && args[3] & MAP_HUGETLB_)
		nm_record(NM_WIRE_PAGES, shift == 30 ? NM_WIRE_PAGES_1G : NM_WIRE_PAGES_2M, 2, words);
	if (number == __NR_madvise && args[2] == MADV_HUGEPAGE_)
		nm_record(NM_WIRE_PAGES, NM_WIRE_PAGES_2M, 2, words);
	if (number == __NR_madvise && args[2] == MADV_NOHUGEPAGE_)
		nm_record(NM_WIRE_PAGES, NM_WIRE_PAGES_4K, 2, words);
}

void nm_maps_after_syscall(UInt number, const UWord *args, SysRes result)
{
	if ((number == __NR_mmap || number == __NR_madvise) && !sr_isError(result))
		report_pages(number, args, number == __NR_mmap ? sr_Res(result) : args[0]);
	if (number == __NR_mmap)
		mmap_flags = 0;
	if (number == __NR_shmat)
		segment_id = NO_SEGMENT;
	if (number != __NR_mremap)
		return;
	in_mremap = False;
	if (!sr_isError(result)) {
		ULong words[] = {args[0], VG_PGROUNDUP(args[1]), sr_Res(result), VG_PGROUNDUP(args[2])};

		nm_record(NM_WIRE_REMAP, 0, 4, words);
	}
}

/* At the start the lowest file mapping is the program, and its interpreter lies above. */
const HChar *nm_maps_executable(void)
{
	Addr starts[32];
	Int i, n = VG_(am_get_segment_starts)(SkFileC, starts, 32);

	for (i = 0; i < n; i++) {
		const HChar *path = VG_(am_get_filename)(VG_(am_find_nsegment)(starts[i]));

		if (path != NULL)
			return path;
	}
	return VG_(args_the_exename) == NULL ? "" : VG_(args_the_exename);
}

void nm_maps_init(void)
{
	modules = VG_(newXA)(VG_(malloc), "nm.modules", VG_(free), sizeof(Addr));
	VG_(track_new_mem_startup)(mapped_at_start);
	VG_(track_new_mem_mmap)(record_mapping);
	VG_(track_change_mem_mprotect)(record_protection);
	VG_(track_die_mem_munmap)(record_unmapping);
	VG_(track_new_mem_brk)(break_grown);
	VG_(track_die_mem_brk)(break_shrunk);
}
