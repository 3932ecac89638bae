// SPDX-License-Identifier: GPL-2.0-only
#include "load/embedded.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Since 2016; elf.h of older systems lacks it. */
#ifndef EM_BPF
#define EM_BPF 247
#endif

static bool read_header(const uint8_t *data, size_t len, Elf64_Ehdr *ehdr)
{
	if (len < sizeof(*ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(ehdr, data, sizeof(*ehdr));
	return true;
}

/* Machine of a relocatable object, -1 of what is none. */
static int object_machine(const Elf64_Ehdr *ehdr)
{
	uint16_t type = ehdr->e_type, machine = ehdr->e_machine;

	if (ehdr->e_ident[EI_DATA] == ELFDATA2MSB) {
		type = (uint16_t)(type << 8 | type >> 8);
		machine = (uint16_t)(machine << 8 | machine >> 8);
	}
	return type == ET_REL ? machine : -1;
}

/* Other classes and byte orders are left to libbpf, which says what is wrong with them. */
static bool is_bpf(const Elf64_Ehdr *ehdr)
{
	int machine = object_machine(ehdr);

	return machine == EM_BPF || machine == EM_NONE;
}

uint32_t elf_object_machine(const uint8_t *data, size_t len)
{
	Elf64_Ehdr ehdr;
	int machine = read_header(data, len, &ehdr) ? object_machine(&ehdr) : -1;

	return machine > 0 ? (uint32_t)machine : 0;
}

enum elf_kind elf_kind(const uint8_t *data, size_t len)
{
	Elf64_Ehdr ehdr;

	if (len < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
		return ELF_NOT;
	/* Too short for a header: call it an object, so that it is reported as a damaged one. */
	if (!read_header(data, len, &ehdr) || is_bpf(&ehdr))
		return ELF_BPF;
	return ELF_OTHER;
}

/* Where the object that starts at data ends; len if its headers do not say. */
static size_t object_len(const uint8_t *data, size_t len, const Elf64_Ehdr *ehdr)
{
	size_t end = sizeof(*ehdr), cnt = ehdr->e_shnum;

	if (ehdr->e_shentsize != sizeof(Elf64_Shdr) || ehdr->e_shoff >= len ||
	    cnt > (len - ehdr->e_shoff) / sizeof(Elf64_Shdr) || !cnt)
		return len;
	end = ehdr->e_shoff + cnt * sizeof(Elf64_Shdr);
	for (size_t i = 0; i < cnt; i++) {
		Elf64_Shdr shdr;

		memcpy(&shdr, data + ehdr->e_shoff + i * sizeof(shdr), sizeof(shdr));
		if (shdr.sh_type == SHT_NOBITS || shdr.sh_type == SHT_NULL)
			continue;
		if (shdr.sh_offset > len || shdr.sh_size > len - shdr.sh_offset)
			return len;
		if (shdr.sh_offset + shdr.sh_size > end)
			end = shdr.sh_offset + shdr.sh_size;
	}
	return end;
}

/* Length of the C string at data if it is a skeleton's name (IDENTIFIER_bpf), else 0. */
static size_t skeleton_name(const uint8_t *data, size_t len)
{
	size_t n = 0;

	while (n < len && (isalnum(data[n]) || data[n] == '_'))
		n++;
	if (n == len || data[n] || n < 5 || n >= sizeof(((struct embedded_object *)0)->name) ||
	    isdigit(data[0]) || memcmp(data + n - 4, "_bpf", 4) != 0)
		return 0;
	return n;
}

/*
 * The only string of a skeleton name's form in the allocated sections, outside the object. Strings
 * that start in the middle of another do not count. Returns its length, 0 if there is none or more
 * than one.
 */
static size_t only_skeleton_name(const uint8_t *data, size_t len,
				 const struct embedded_object *object, const uint8_t **name)
{
	static const char suffix[] = "_bpf"; /* with its NUL */
	size_t found_len = 0, pos = 0;

	for (;;) {
		const uint8_t *hit =
			pos < len ? memmem(data + pos, len - pos, suffix, sizeof(suffix)) : NULL;
		size_t at, start, n;

		if (!hit)
			return found_len;
		at = (size_t)(hit - data);
		pos = at + sizeof(suffix);
		if (at >= object->offset && at < object->offset + object->len)
			continue;
		for (start = at; start && data[start - 1] && at - start < 64; start--)
			;
		n = skeleton_name(data + start, len - start);
		if (!n || (found_len == n && memcmp(*name, data + start, n) == 0))
			continue;
		if (found_len)
			return 0;
		*name = data + start;
		found_len = n;
	}
}

/* The part of an executable that its program sees: symbol names and debug strings lie behind it. */
static size_t loaded_len(const uint8_t *data, size_t len)
{
	Elf64_Ehdr ehdr;
	size_t end = 0;

	if (!read_header(data, len, &ehdr) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB || ehdr.e_phentsize != sizeof(Elf64_Phdr) ||
	    ehdr.e_phoff >= len || ehdr.e_phnum > (len - ehdr.e_phoff) / sizeof(Elf64_Phdr))
		return len;
	for (size_t i = 0; i < ehdr.e_phnum; i++) {
		Elf64_Phdr phdr;

		memcpy(&phdr, data + ehdr.e_phoff + i * sizeof(phdr), sizeof(phdr));
		if (phdr.p_type != PT_LOAD || phdr.p_offset > len ||
		    phdr.p_filesz > len - phdr.p_offset)
			continue;
		if (phdr.p_offset + phdr.p_filesz > end)
			end = phdr.p_offset + phdr.p_filesz;
	}
	return end ? end : len;
}

size_t embedded_find(const uint8_t *data, size_t len, struct embedded_object *objects, size_t max)
{
	size_t cnt = 0, pos = 1, loaded = loaded_len(data, len), name_len;
	const uint8_t *name = NULL;

	/* From 1: the container itself is no object inside it. */
	while (cnt < max && pos < loaded) {
		const uint8_t *hit = memmem(data + pos, loaded - pos, ELFMAG, SELFMAG);
		struct embedded_object *object = &objects[cnt];
		Elf64_Ehdr ehdr;

		if (!hit)
			break;
		pos = (size_t)(hit - data);
		if (!read_header(hit, loaded - pos, &ehdr) || !is_bpf(&ehdr) ||
		    ehdr.e_machine != EM_BPF || ehdr.e_ident[EI_CLASS] != ELFCLASS64) {
			pos += SELFMAG;
			continue;
		}
		object->offset = pos;
		object->len = object_len(hit, loaded - pos, &ehdr);
		snprintf(object->name, sizeof(object->name), "at 0x%zx", pos);
		pos += object->len;
		cnt++;
	}
	if (cnt == 1) {
		name_len = only_skeleton_name(data, loaded, objects, &name);
		if (name_len) {
			memcpy(objects->name, name, name_len);
			objects->name[name_len] = '\0';
		}
	}
	return cnt;
}
