/* SPDX-License-Identifier: GPL-2.0-only */
/* The two loaders. Each replies with every program that the request wants and never returns. */
#ifndef HELPER_OBJECT_H
#define HELPER_OBJECT_H

#include "load/wire.h"

/* Through libbpf. */
void object_load(const struct wire_request *request) __attribute__((noreturn));

/* Has the object an old "maps" section, which libbpf >= 1.0 refuses? */
bool legacy_is(const struct wire_request *request);

/*
 * The old "maps" section: through libelf. Each executable section is one program, named after it. A
 * map's definition starts with type, key size, value size, entries and flags, in struct bpf_map_def
 * and struct bpf_elf_map alike; a map in map gets a hash of one 4-byte key and value as template.
 */
void legacy_load(const struct wire_request *request) __attribute__((noreturn));

#endif
