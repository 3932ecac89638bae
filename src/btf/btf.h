/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A read-only view of raw BTF. Everything that the accessors rely on is checked when it is opened:
 * sections, the room of every type and of what follows it, name offsets and type ids. What opening
 * cannot exclude (cycles, absurd sizes) the functions that follow references answer with an error.
 * Types and constants are those of <linux/btf.h>.
 */
#ifndef BTF_BTF_H
#define BTF_BTF_H

#include <linux/btf.h>

#include "bpfloupe/common.h"

struct btf;

/* "No such type"; id 0 is void. */
#define BTF_NO_TYPE UINT32_MAX

/**
 * Opens BTF in memory.
 * @param data  must live as long as the view
 * @param size  bytes
 * @param out   free with btf_close()
 * @return 0; -EINVAL with the byte offset when it is malformed; -ENOMEM
 */
int btf_open(const void *data, size_t size, struct btf **out, struct loupe_error *err);

/**
 * btf_open() of a file's contents: raw BTF (/sys/kernel/btf/vmlinux), or the .BTF section of an ELF
 * file. Also the errno of reading it.
 */
int btf_open_file(const char *path, struct btf **out, struct loupe_error *err);

/** Frees the view. NULL is fine. */
void btf_close(struct btf *btf);

/** Number of types, void included: ids are 0 to this - 1. */
uint32_t btf_type_cnt(const struct btf *btf);

/** A type, NULL for void and for an id that does not exist. */
const struct btf_type *btf_type(const struct btf *btf, uint32_t id);

/** The string at off, "" if there is none. */
const char *btf_str(const struct btf *btf, uint32_t off);

/** A type's name, "" if it has none or does not exist. */
const char *btf_name(const struct btf *btf, uint32_t id);

/** BTF_KIND_* of a type; BTF_KIND_UNKN for void and for an id that does not exist. */
uint32_t btf_kind(const struct btf *btf, uint32_t id);

/** First type of that name and kind, 0 if there is none. */
uint32_t btf_find(const struct btf *btf, const char *name, uint32_t kind);

static inline uint32_t btf_type_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

static inline uint32_t btf_type_vlen(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

static inline bool btf_type_kflag(const struct btf_type *t)
{
	return BTF_INFO_KFLAG(t->info);
}

/* What follows a type, vlen entries where it is a list; the caller knows the kind. */
static inline const struct btf_member *btf_members(const struct btf_type *t)
{
	return (const struct btf_member *)(t + 1);
}

static inline const struct btf_param *btf_params(const struct btf_type *t)
{
	return (const struct btf_param *)(t + 1);
}

static inline const struct btf_enum *btf_enums(const struct btf_type *t)
{
	return (const struct btf_enum *)(t + 1);
}

static inline const struct btf_enum64 *btf_enums64(const struct btf_type *t)
{
	return (const struct btf_enum64 *)(t + 1);
}

static inline const struct btf_array *btf_array(const struct btf_type *t)
{
	return (const struct btf_array *)(t + 1);
}

static inline const struct btf_var_secinfo *btf_var_secinfos(const struct btf_type *t)
{
	return (const struct btf_var_secinfo *)(t + 1);
}

static inline const struct btf_var *btf_var(const struct btf_type *t)
{
	return (const struct btf_var *)(t + 1);
}

static inline const struct btf_decl_tag *btf_decl_tag(const struct btf_type *t)
{
	return (const struct btf_decl_tag *)(t + 1);
}

/* The word that follows a BTF_KIND_INT: BTF_INT_ENCODING(), BTF_INT_OFFSET(), BTF_INT_BITS(). */
static inline uint32_t btf_int_data(const struct btf_type *t)
{
	return *(const uint32_t *)(t + 1);
}

/** Offset of member i of a struct or union in bits. */
uint32_t btf_member_bit_offset(const struct btf_type *t, uint32_t i);

/** Size of member i in bits if it is a bit field, 0 otherwise. */
uint32_t btf_member_bit_size(const struct btf_type *t, uint32_t i);

/** True for typedef, const, volatile, restrict and type tags. */
bool btf_kind_is_modifier(uint32_t kind);

/**
 * Follows typedefs, qualifiers and type tags.
 * @return the id of the type behind them (0: void), BTF_NO_TYPE for a cycle or a missing type
 */
uint32_t btf_resolve(const struct btf *btf, uint32_t id);

/**
 * Size of a type in bytes; 8 for pointers, the product for arrays.
 * @return 0, or -EINVAL when it has none (void, functions, forward declarations, cycles, overflow)
 */
int btf_size(const struct btf *btf, uint32_t id, uint32_t *size);

/**
 * The prototype of a BTF_KIND_FUNC: its return type is t->type, its parameters are btf_params(t).
 * @return NULL if id is no function with a prototype
 */
const struct btf_type *btf_func_proto(const struct btf *btf, uint32_t id);

/** BTF_FUNC_STATIC, BTF_FUNC_GLOBAL or BTF_FUNC_EXTERN of a BTF_KIND_FUNC. */
uint32_t btf_func_linkage(const struct btf_type *t);

/**
 * Next BTF_KIND_DECL_TAG on type id.
 * @param component  member or parameter number, -1 for the type itself
 * @param after      the tag found before, 0 to begin
 * @return 0 if there is none
 */
uint32_t btf_find_decl_tag(const struct btf *btf, uint32_t id, int32_t component, uint32_t after);

#endif
