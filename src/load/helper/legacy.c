// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/object.h"

#include "load/helper/check.h"
#include "load/helper/host.h"
#include "load/helper/reply.h"
#include "load/helper/sections.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a definition starts, in every struct that was used for it. */
enum { DEF_TYPE, DEF_KEY_SIZE, DEF_VALUE_SIZE, DEF_ENTRIES, DEF_FLAGS, DEF_WORDS };
enum { FIRST_FD = 3, MAX_MAPS = 1024, INNER_SIZE = 4 };

/* A map symbol; its fd and its template's are the same in every program of the object. */
struct legacy_map {
	uint64_t offset; /* in the maps section */
	struct loupe_map map, inner;
	bool has_inner, used;
};

static struct {
	Elf *elf;
	size_t names;	 /* section name strings */
	size_t maps_ndx; /* section indices, 0 if there is none */
	Elf_Data *maps, *symbols, *symbol_names;
	char license[128];
	struct legacy_map *defs;
	uint32_t def_cnt;
	const struct wire_request *request;
} legacy;

static const char *section_name(Elf_Scn *scn, GElf_Shdr *shdr)
{
	const char *name = gelf_getshdr(scn, shdr)
				   ? elf_strptr(legacy.elf, legacy.names, shdr->sh_name)
				   : NULL;

	return name ? name : "";
}

static bool open_elf(const struct wire_request *request)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	legacy.request = request;
	legacy.elf = elf_memory((char *)(uintptr_t)request->object, request->object_len);
	return legacy.elf && elf_kind(legacy.elf) == ELF_K_ELF &&
	       gelf_getclass(legacy.elf) == ELFCLASS64 &&
	       !elf_getshdrstrndx(legacy.elf, &legacy.names);
}

bool legacy_is(const struct wire_request *request)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	if (!open_elf(request))
		return false;
	while ((scn = elf_nextscn(legacy.elf, scn))) {
		if (strcmp(section_name(scn, &shdr), "maps") == 0 && shdr.sh_type == SHT_PROGBITS) {
			legacy.maps_ndx = elf_ndxscn(scn);
			return true;
		}
	}
	return false;
}

static void find_sections(void)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(legacy.elf, scn))) {
		const char *name = section_name(scn, &shdr);
		Elf_Data *data;

		if (shdr.sh_type == SHT_NOBITS || shdr.sh_type == SHT_NULL)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		if (elf_ndxscn(scn) == legacy.maps_ndx) {
			legacy.maps = data;
		} else if (shdr.sh_type == SHT_SYMTAB) {
			Elf_Scn *strings = elf_getscn(legacy.elf, shdr.sh_link);

			legacy.symbols = data;
			legacy.symbol_names = strings ? elf_getdata(strings, NULL) : NULL;
		} else if (strcmp(name, "license") == 0) {
			snprintf(legacy.license, sizeof(legacy.license), "%.*s", (int)data->d_size,
				 (const char *)data->d_buf);
		}
	}
	if (!legacy.maps || !legacy.symbols)
		reply_error(-EINVAL, "the object's maps section or symbol table cannot be read");
}

static const char *symbol_name(const GElf_Sym *sym)
{
	const Elf_Data *names = legacy.symbol_names;

	if (!names || !names->d_buf || sym->st_name >= names->d_size ||
	    !memchr((const char *)names->d_buf + sym->st_name, '\0', names->d_size - sym->st_name))
		return "";
	return (const char *)names->d_buf + sym->st_name;
}

static bool is_map_in_map(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* Entries and value sizes that the old loaders' users relied on the loader to fix. */
static void prepare(struct loupe_map *map)
{
	if (is_map_in_map(map->type) && map->value_size < sizeof(uint32_t))
		map->value_size = sizeof(uint32_t);
	if (map->max_entries > 100000)
		map->max_entries = 1000;
	if (map->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY && !map->max_entries)
		map->max_entries = 2;
}

static void add_map(const GElf_Sym *sym, int32_t *next_fd)
{
	struct legacy_map *def = &legacy.defs[legacy.def_cnt];
	uint32_t words[DEF_WORDS];

	if (sym->st_value > legacy.maps->d_size ||
	    legacy.maps->d_size - sym->st_value < sizeof(words))
		reply_error(-EINVAL, "the definition of map %s is cut short", symbol_name(sym));
	memcpy(words, (const char *)legacy.maps->d_buf + sym->st_value, sizeof(words));
	*def = (struct legacy_map){
		.offset = sym->st_value,
		.map = {
			.type = words[DEF_TYPE],
			.key_size = words[DEF_KEY_SIZE],
			.value_size = words[DEF_VALUE_SIZE],
			.max_entries = words[DEF_ENTRIES],
			.map_flags = words[DEF_FLAGS],
			.inner_map_fd = -1,
		},
		.has_inner = is_map_in_map(words[DEF_TYPE]),
	};
	snprintf(def->map.name, sizeof(def->map.name), "%.15s", symbol_name(sym));
	if (!legacy.request->maps_as_is)
		prepare(&def->map);
	if (def->has_inner) {
		def->inner = (struct loupe_map){
			.fd = (*next_fd)++,
			.type = BPF_MAP_TYPE_HASH,
			.key_size = INNER_SIZE,
			.value_size = INNER_SIZE,
			.max_entries = 1,
			.inner_map_fd = -1,
		};
		def->map.inner_map_fd = def->inner.fd;
	}
	def->map.fd = (*next_fd)++;
	legacy.def_cnt++;
}

static size_t symbol_cnt(void)
{
	return legacy.symbols->d_size / sizeof(Elf64_Sym);
}

static void read_maps(void)
{
	int32_t next_fd = FIRST_FD;
	GElf_Sym sym;

	legacy.defs = calloc(MAX_MAPS, sizeof(*legacy.defs));
	if (!legacy.defs)
		reply_error(-ENOMEM, "out of memory");
	for (size_t i = 0; i < symbol_cnt() && legacy.def_cnt < MAX_MAPS; i++) {
		if (gelf_getsym(legacy.symbols, (int)i, &sym) && sym.st_shndx == legacy.maps_ndx &&
		    GELF_ST_TYPE(sym.st_info) != STT_SECTION)
			add_map(&sym, &next_fd);
	}
}

static struct legacy_map *map_at(uint64_t offset)
{
	for (uint32_t i = 0; i < legacy.def_cnt; i++) {
		if (legacy.defs[i].offset == offset)
			return &legacy.defs[i];
	}
	return NULL;
}

/* Puts the map's number into the ldimm64 that one relocation names. */
static bool relocate_one(struct loupe_image *image, const GElf_Rel *rel, char *reason, size_t size)
{
	uint64_t index = rel->r_offset / sizeof(struct loupe_insn);
	struct loupe_insn *insn;
	struct legacy_map *def;
	GElf_Sym sym;

	if (index >= image->insn_cnt ||
	    !gelf_getsym(legacy.symbols, (int)GELF_R_SYM(rel->r_info), &sym)) {
		snprintf(reason, size, "a relocation lies outside the program");
		return false;
	}
	insn = &image->insns[index];
	def = sym.st_shndx == legacy.maps_ndx ? map_at(sym.st_value) : NULL;
	if (!def || insn->code != (BPF_LD | BPF_IMM | BPF_DW)) {
		snprintf(reason, size,
			 "instruction %llu refers to %.60s, which is no map: not supported in an "
			 "object "
			 "with a maps section",
			 (unsigned long long)index,
			 symbol_name(&sym)[0] ? symbol_name(&sym) : "another section");
		return false;
	}
	insn->src_reg = BPF_PSEUDO_MAP_FD;
	insn->imm = def->map.fd;
	def->used = true;
	return true;
}

static bool relocate(struct loupe_image *image, size_t ndx, char *reason, size_t size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(legacy.elf, scn))) {
		Elf_Data *data;
		GElf_Rel rel;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_REL || shdr.sh_info != ndx)
			continue;
		data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rel); i++) {
			if (!gelf_getrel(data, (int)i, &rel) ||
			    !relocate_one(image, &rel, reason, size))
				return false;
		}
	}
	return true;
}

static int add_maps(struct loupe_image *image)
{
	image->maps = calloc(2 * (size_t)legacy.def_cnt + 1, sizeof(*image->maps));
	if (!image->maps)
		return -ENOMEM;
	for (uint32_t i = 0; i < legacy.def_cnt; i++) {
		if (!legacy.defs[i].used)
			continue;
		if (legacy.defs[i].has_inner)
			image->maps[image->map_cnt++] = legacy.defs[i].inner;
		image->maps[image->map_cnt++] = legacy.defs[i].map;
	}
	return 0;
}

/* What libbpf knows by name, our tables, the caller's choice, and then tc, for which such objects
 * were made. */
static void set_type(struct loupe_image *image, const char *section)
{
	enum bpf_attach_type attach_type;
	const struct section_type *row;
	enum bpf_prog_type prog_type;

	if (!libbpf_prog_type_by_name(section, &prog_type, &attach_type)) {
		image->prog_type = prog_type;
		image->expected_attach_type = attach_type;
		return;
	}
	row = section_find(section, true);
	if (row) {
		image->prog_type = row->prog_type;
		image->expected_attach_type = row->attach_type;
		return;
	}
	image->prog_type =
		legacy.request->prog_type ? legacy.request->prog_type : BPF_PROG_TYPE_SCHED_CLS;
}

static void load_section(Elf_Scn *scn, const char *section)
{
	struct loupe_image *image = loupe_image_create();
	Elf_Data *text = elf_getdata(scn, NULL);
	char reason[256] = "";

	if (!image)
		reply_error(-ENOMEM, "out of memory");
	for (uint32_t i = 0; i < legacy.def_cnt; i++)
		legacy.defs[i].used = false;
	image->license = strdup(legacy.license);
	image->host.loader = strdup("legacy maps loader");
	if (!image->license || !image->host.loader || host_describe(&image->host))
		reply_error(-ENOMEM, "out of memory");
	set_type(image, section);
	if (!text || !text->d_buf || text->d_size % sizeof(*image->insns)) {
		snprintf(reason, sizeof(reason), "the section is not made of whole instructions");
	} else {
		image->insns = malloc(text->d_size);
		if (!image->insns)
			reply_error(-ENOMEM, "out of memory");
		memcpy(image->insns, text->d_buf, text->d_size);
		image->insn_cnt = (uint32_t)(text->d_size / sizeof(*image->insns));
		if (relocate(image, elf_ndxscn(scn), reason, sizeof(reason)) && add_maps(image))
			reply_error(-ENOMEM, "out of memory");
	}
	if (reason[0]) {
		loupe_image_destroy(image);
		image = NULL;
	} else {
		check_maps(image, reason, sizeof(reason));
	}
	reply_program(section, section, reason[0] ? reason : NULL, image);
}

void legacy_load(const struct wire_request *request)
{
	uint32_t cnt = 0, wanted = 0;
	Elf_Scn *scn = NULL;
	char first[128] = "";
	GElf_Shdr shdr;

	find_sections();
	read_maps();
	while ((scn = elf_nextscn(legacy.elf, scn))) {
		const char *name = section_name(scn, &shdr);

		if (shdr.sh_type != SHT_PROGBITS || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    !shdr.sh_size)
			continue;
		if (!cnt++)
			snprintf(first, sizeof(first), "%s", name);
		if (!reply_wanted(request, name, name))
			continue;
		wanted++;
		if (request->list_only)
			reply_program(name, name, NULL, NULL);
		else
			load_section(scn, name);
	}
	if (cnt && !wanted)
		reply_error(-ENOENT, "no program or section named %s; the first of %u is %s",
			    request->prog_name, cnt, first);
	reply_end();
}
