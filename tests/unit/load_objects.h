/* SPDX-License-Identifier: GPL-2.0-only */
/* Small BPF ELF objects made in memory, so that loading is tested without a compiler. */
#ifndef TEST_LOAD_OBJECTS_H
#define TEST_LOAD_OBJECTS_H

#include "bpfloupe/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_BPF
#define EM_BPF 247
#endif

enum { OBJ_SECTIONS = 16, OBJ_SYMBOLS = 16, OBJ_RELS = 8 };

struct obj_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	const void *data;
	size_t len;
	uint32_t link, info;
	size_t entsize;
};

struct obj {
	struct obj_section sections[OBJ_SECTIONS]; /* 0 is the null section */
	size_t section_cnt;
	struct {
		const char *name;
		uint16_t section;
		uint8_t info;
		uint64_t value, size;
	} symbols[OBJ_SYMBOLS]; /* 0 is the null symbol */
	size_t symbol_cnt;
	Elf64_Rel rels[OBJ_RELS];
	size_t rel_cnt;
	uint16_t rel_section; /* that the relocations are for */
};

static inline void obj_init(struct obj *obj)
{
	memset(obj, 0, sizeof(*obj));
	obj->section_cnt = 1;
	obj->symbol_cnt = 1;
}

static inline uint16_t obj_section(struct obj *obj, const char *name, uint64_t flags,
				   const void *data, size_t len)
{
	obj->sections[obj->section_cnt] = (struct obj_section){
		.name = name,
		.type = SHT_PROGBITS,
		.flags = flags,
		.data = data,
		.len = len,
	};
	return (uint16_t)obj->section_cnt++;
}

static inline size_t obj_symbol(struct obj *obj, const char *name, uint16_t section, uint8_t type,
				uint64_t value, uint64_t size)
{
	size_t i = obj->symbol_cnt++;

	obj->symbols[i].name = name;
	obj->symbols[i].section = section;
	obj->symbols[i].info = ELF64_ST_INFO(STB_GLOBAL, type);
	obj->symbols[i].value = value;
	obj->symbols[i].size = size;
	return i;
}

/* A program: an executable section with one function that fills it. */
static inline uint16_t obj_program(struct obj *obj, const char *section, const char *name,
				   const struct loupe_insn *insns, size_t cnt)
{
	size_t len = cnt * sizeof(*insns);
	uint16_t ndx = obj_section(obj, section, SHF_ALLOC | SHF_EXECINSTR, insns, len);

	obj_symbol(obj, name, ndx, STT_FUNC, 0, len);
	return ndx;
}

static inline void obj_rel(struct obj *obj, uint16_t section, size_t insn, size_t symbol)
{
	obj->rel_section = section;
	obj->rels[obj->rel_cnt++] = (Elf64_Rel){
		.r_offset = insn * sizeof(struct loupe_insn),
		.r_info = ELF64_R_INFO(symbol, 1), /* R_BPF_64_64 */
	};
}

/* Lays the object out. Free the result; *len is its size. */
static inline uint8_t *obj_build(struct obj *obj, size_t *len)
{
	enum { CAP = 65536 };
	static const char rel_name[] = ".rel";
	uint8_t *out = calloc(1, CAP);
	char strings[4096] = "";
	size_t str_len = 1, pos = sizeof(Elf64_Ehdr);
	Elf64_Sym syms[OBJ_SYMBOLS] = { 0 };
	Elf64_Shdr shdrs[OBJ_SECTIONS + 4] = { 0 };
	size_t cnt, symtab = obj->section_cnt, strtab = symtab + 1;
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = EM_BPF,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	for (size_t i = 1; i < obj->symbol_cnt; i++) {
		syms[i] = (Elf64_Sym){
			.st_name = (uint32_t)str_len,
			.st_info = obj->symbols[i].info,
			.st_shndx = obj->symbols[i].section,
			.st_value = obj->symbols[i].value,
			.st_size = obj->symbols[i].size,
		};
		strcpy(strings + str_len, obj->symbols[i].name);
		str_len += strlen(obj->symbols[i].name) + 1;
	}
	obj->sections[symtab] = (struct obj_section){
		".symtab",
		SHT_SYMTAB,
		0,
		syms,
		obj->symbol_cnt * sizeof(*syms),
		(uint32_t)strtab,
		1,
		sizeof(*syms),
	};
	obj->sections[strtab] = (struct obj_section){
		".strtab", SHT_STRTAB, 0, strings, sizeof(strings), 0, 0, 0,
	};
	cnt = strtab + 1;
	if (obj->rel_cnt) {
		obj->sections[cnt++] = (struct obj_section){
			rel_name,
			SHT_REL,
			0,
			obj->rels,
			obj->rel_cnt * sizeof(*obj->rels),
			(uint32_t)symtab,
			obj->rel_section,
			sizeof(*obj->rels),
		};
	}
	for (size_t i = 1; i < cnt; i++) {
		const struct obj_section *section = &obj->sections[i];

		shdrs[i] = (Elf64_Shdr){
			.sh_name = (uint32_t)str_len,
			.sh_type = section->type,
			.sh_flags = section->flags,
			.sh_offset = pos,
			.sh_size = section->len,
			.sh_link = section->link,
			.sh_info = section->info,
			.sh_addralign = 8,
			.sh_entsize = section->entsize,
		};
		/* libbpf finds a relocation's section by sh_info, but wants the name to begin as
		 * usual. */
		strcpy(strings + str_len, section->name);
		str_len += strlen(section->name) + 1;
		pos += (section->len + 7) & ~(size_t)7;
	}
	for (size_t i = 1; i < cnt; i++)
		memcpy(out + shdrs[i].sh_offset, obj->sections[i].data, obj->sections[i].len);
	ehdr.e_shoff = pos;
	ehdr.e_shnum = (uint16_t)cnt;
	ehdr.e_shstrndx = (uint16_t)strtab;
	memcpy(out, &ehdr, sizeof(ehdr));
	memcpy(out + pos, shdrs, cnt * sizeof(*shdrs));
	*len = pos + cnt * sizeof(*shdrs);
	return out;
}

/* The two smallest programs: return 1, and one that looks up a map (its ldimm64 is insn 0). */
static const struct loupe_insn obj_return_1[] = {
	{ .code = 0xb7, .dst_reg = 0, .imm = 1 },
	{ .code = 0x95 },
};
static const struct loupe_insn obj_map_user[] = {
	{ .code = 0x18, .dst_reg = 1 },
	{ 0 },
	{ .code = 0xb7, .dst_reg = 0 },
	{ .code = 0x95 },
};

#endif
