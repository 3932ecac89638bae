// SPDX-License-Identifier: GPL-2.0-only
/* BTF in files: raw, or a section of an ELF file. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf/parse.h"

enum { MAX_FILE = 256 << 20 }; /* bytes; a kernel's BTF has about 6 MB */

/* Reads all of f, which may not know its size beforehand. */
static int read_all(FILE *f, void **data, size_t *size)
{
	size_t cap = 1 << 20, len = 0, n;
	char *buf = malloc(cap), *more;

	while (buf) {
		n = fread(buf + len, 1, cap - len, f);
		len += n;
		if (len < cap)
			break;
		if (cap >= MAX_FILE) {
			free(buf);
			return -EFBIG;
		}
		cap *= 2;
		more = realloc(buf, cap);
		if (!more)
			free(buf);
		buf = more;
	}
	if (!buf)
		return -ENOMEM;
	if (ferror(f)) {
		free(buf);
		return -EIO;
	}
	*data = buf;
	*size = len;
	return 0;
}

static bool lies_within(uint64_t off, uint64_t len, size_t size)
{
	return off <= size && len <= size - off;
}

/* Section i of an ELF file whose table of sections lies within it. */
static Elf64_Shdr section_at(const uint8_t *data, const Elf64_Ehdr *ehdr, uint32_t i)
{
	Elf64_Shdr section;

	memcpy(&section, data + ehdr->e_shoff + (size_t)i * sizeof(section), sizeof(section));
	return section;
}

/* The .BTF section of a 64-bit ELF file of our byte order; false if it has none. */
static bool find_section(const uint8_t *data, size_t size, size_t *off, size_t *len)
{
	static const char wanted[] = ".BTF";
	Elf64_Shdr names, section;
	Elf64_Ehdr ehdr;

	if (size < sizeof(ehdr))
		return false;
	memcpy(&ehdr, data, sizeof(ehdr));
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    ehdr.e_shentsize != sizeof(section) || ehdr.e_shstrndx >= ehdr.e_shnum ||
	    !lies_within(ehdr.e_shoff, (uint64_t)ehdr.e_shnum * sizeof(section), size))
		return false;
	names = section_at(data, &ehdr, ehdr.e_shstrndx);
	if (!lies_within(names.sh_offset, names.sh_size, size))
		return false;
	for (uint32_t i = 0; i < ehdr.e_shnum; i++) {
		section = section_at(data, &ehdr, i);
		if (section.sh_type == SHT_NOBITS ||
		    !lies_within(section.sh_name, sizeof(wanted), names.sh_size) ||
		    memcmp(data + names.sh_offset + section.sh_name, wanted, sizeof(wanted)) != 0)
			continue;
		*off = section.sh_offset;
		*len = section.sh_size;
		return lies_within(section.sh_offset, section.sh_size, size);
	}
	return false;
}

/* An ELF file's BTF moves to the front, where it is aligned. */
static int take_section(uint8_t *data, size_t *size)
{
	size_t off, len;

	if (*size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
		return 0;
	if (!find_section(data, *size, &off, &len))
		return -EINVAL;
	memmove(data, data + off, len);
	*size = len;
	return 0;
}

int btf_open_file(const char *path, struct btf **out, struct loupe_error *err)
{
	void *data = NULL;
	size_t size = 0;
	FILE *f;
	int ret;

	*out = NULL;
	f = fopen(path, "re");
	if (!f) {
		ret = -errno;
	} else {
		ret = read_all(f, &data, &size);
		fclose(f);
	}
	if (ret) {
		loupe_error_set(err, ret, "cannot read BTF: %s", strerror(-ret));
	} else if (take_section(data, &size)) {
		free(data);
		ret = loupe_error_set(err, -EINVAL, "an ELF file without BTF");
	} else {
		ret = btf_open_owned(data, size, data, out, err);
	}
	if (ret && err)
		snprintf(err->file, sizeof(err->file), "%s", path);
	return ret;
}
