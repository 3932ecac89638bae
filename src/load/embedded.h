/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds BPF ELF objects: is this one, or are some inside this executable? Reads headers only. */
#ifndef LOAD_EMBEDDED_H
#define LOAD_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_kind {
	ELF_NOT,   /* no ELF magic */
	ELF_BPF,   /* a relocatable object for BPF (or for no machine, as old compilers wrote) */
	ELF_OTHER, /* executable, library or object for another machine */
};

enum elf_kind elf_kind(const uint8_t *data, size_t len);

/* Number of the machine that a relocatable object of ELF_OTHER is for, 0 of other files. */
uint32_t elf_object_machine(const uint8_t *data, size_t len);

struct embedded_object {
	size_t offset, len; /* inside the executable */
	char name[64];	    /* of its skeleton, or its offset */
};

enum { EMBEDDED_MAX = 256 };

/*
 * Finds at most max BPF objects inside an executable or a library, in the file's order.
 * A skeleton keeps its name as a string NAME_bpf beside the object: one object and one such string
 * belong together. In every other case an object is called "at 0xOFFSET". Returns their number.
 */
size_t embedded_find(const uint8_t *data, size_t len, struct embedded_object *objects, size_t max);

#endif
