// SPDX-License-Identifier: GPL-2.0-only
/* The text of one register. */
#include "klog/reg.h"

#include "klog/names.h"
#include "verifier/typename.h"

static const char *const dynptr_names[] = { "<invalid>", "local", "ringbuf",
					    "skb",	 "xdp",	  "skb_meta" };

const char *dynptr_type_name(uint32_t type)
{
	return type < sizeof(dynptr_names) / sizeof(dynptr_names[0]) ? dynptr_names[type]
								     : "<unknown>";
}

static void type_text(struct text *t, uint32_t type)
{
	char name[VF_TYPE_NAME];

	text_str(t, vf_type_str(name, type));
}

/* Small numbers are decimal, large ones hexadecimal. */
static void unsigned_text(struct text *t, uint64_t value)
{
	if (value <= UINT16_MAX)
		text_dec(t, (int64_t)value);
	else
		text_hex(t, value);
}

static bool signed_is_small(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

static void signed_text(struct text *t, int64_t value)
{
	if (signed_is_small(value))
		text_dec(t, value);
	else
		text_hex(t, (uint64_t)value);
}

static void tnum_text(struct text *t, struct loupe_tnum tnum)
{
	if (!tnum.mask) {
		unsigned_text(t, tnum.value);
		return;
	}
	text_char(t, '(');
	text_hex(t, tnum.value);
	text_str(t, "; ");
	text_hex(t, tnum.mask);
	text_char(t, ')');
}

/* A 32-bit bound beside 64-bit ones: sign-extended only where it shows as a decimal number. */
static int64_t widen(int32_t value)
{
	return signed_is_small(value) ? value : (int64_t)(uint32_t)value;
}

struct bound {
	const char *name;
	int64_t value;
	bool is_signed;
	bool hidden; /* says nothing, or was shown together with an equal one */
};

static bool is_negative(const struct bound *b)
{
	return b->is_signed && b->value < 0;
}

/* The bounds that say something; equal minima, and equal maxima, share one number. */
static void bounds_text(struct text *t, const struct loupe_reg *reg, const char **sep)
{
	struct bound bounds[] = {
		{ "smin=", reg->smin, true, reg->smin == INT64_MIN },
		{ "smax=", reg->smax, true, reg->smax == INT64_MAX },
		{ "umin=", (int64_t)reg->umin, false, reg->umin == 0 },
		{ "umax=", (int64_t)reg->umax, false, reg->umax == UINT64_MAX },
		{ "smin32=", widen(reg->s32_min), true, reg->s32_min == INT32_MIN },
		{ "smax32=", widen(reg->s32_max), true, reg->s32_max == INT32_MAX },
		{ "umin32=", reg->u32_min, false, reg->u32_min == 0 },
		{ "umax32=", reg->u32_max, false, reg->u32_max == UINT32_MAX },
	};
	const size_t cnt = sizeof(bounds) / sizeof(bounds[0]);

	for (size_t i = 0; i < cnt; i++) {
		if (bounds[i].hidden)
			continue;
		text_str(t, *sep);
		text_str(t, bounds[i].name);
		*sep = ",";
		for (size_t j = i + 2; j < cnt; j += 2) {
			if (bounds[j].hidden || bounds[j].value != bounds[i].value ||
			    is_negative(&bounds[j]) != is_negative(&bounds[i]))
				continue;
			bounds[j].hidden = true;
			text_str(t, bounds[j].name);
		}
		if (bounds[i].is_signed)
			signed_text(t, bounds[i].value);
		else
			unsigned_text(t, (uint64_t)bounds[i].value);
	}
}

/* Starts the next of the attributes in parentheses. */
static void attribute(struct text *t, const char **sep, const char *name)
{
	text_str(t, *sep);
	text_str(t, name);
	*sep = ",";
}

static void map_attributes(struct text *t, const char **sep, struct map_text map)
{
	if (map.name[0]) {
		attribute(t, sep, "map=");
		text_str(t, map.name);
	}
	attribute(t, sep, "ks=");
	text_dec(t, (int32_t)map.key_size);
	attribute(t, sep, "vs=");
	text_dec(t, (int32_t)map.value_size);
}

static void attributes(struct text *t, const struct loupe_reg *reg, struct loupe_names *names)
{
	const uint32_t base = loupe_base_type(reg->type);
	const char *sep = "";

	if (reg->id) {
		attribute(t, &sep, "id=");
		text_dec(t, (int32_t)(reg->id & ~LOUPE_ADD_CONST));
	}
	if (reg->id & LOUPE_ADD_CONST) {
		if (reg->off >= 0)
			text_char(t, '+');
		text_dec(t, reg->off);
	}
	if (reg->ref_obj_id) {
		attribute(t, &sep, "ref_obj_id=");
		text_dec(t, (int32_t)reg->ref_obj_id);
	}
	if (base == PTR_TO_BTF_ID && reg->type & MEM_ALLOC && reg->type & NON_OWN_REF)
		attribute(t, &sep, "non_own_ref");
	if (base == CONST_PTR_TO_MAP || base == PTR_TO_MAP_KEY || base == PTR_TO_MAP_VALUE)
		map_attributes(t, &sep, names_map(names, loupe_reg_map(reg)));
	if (reg->type != SCALAR_VALUE && reg->off) {
		attribute(t, &sep, "off=");
		signed_text(t, reg->off);
	}
	if (reg->type == PTR_TO_PACKET || reg->type == PTR_TO_PACKET_META) {
		attribute(t, &sep, "r=");
		unsigned_text(t, (uint64_t)reg->range);
	}
	if (base == PTR_TO_MEM) {
		attribute(t, &sep, "sz=");
		unsigned_text(t, reg->mem.size);
	}
	if (reg->type == CONST_PTR_TO_DYNPTR) {
		attribute(t, &sep, "type=");
		text_str(t, dynptr_type_name(reg->dynptr.type));
	}
	if (!reg->var_off.mask) {
		if (reg->var_off.value) {
			attribute(t, &sep, "imm=");
			signed_text(t, (int64_t)reg->var_off.value);
		}
		return;
	}
	bounds_text(t, reg, &sep);
	if (reg->var_off.value || reg->var_off.mask != UINT64_MAX) {
		attribute(t, &sep, "var_off=");
		tnum_text(t, reg->var_off);
	}
}

void reg_text(struct text *t, const struct loupe_reg *reg, uint32_t frameno,
	      struct loupe_names *names)
{
	if (reg->type == NOT_INIT)
		return;
	if (reg->type == REG_NOT_LOGGED) {
		text_str(t, "? (not in the log)");
		return;
	}
	if (reg->type == SCALAR_VALUE) {
		if (reg->precise)
			text_char(t, 'P');
		if (!reg->var_off.mask) {
			signed_text(t, (int64_t)reg->var_off.value);
			return;
		}
	}
	type_text(t, reg->type);
	if (reg->type == PTR_TO_ARENA)
		return;
	if (reg->type == PTR_TO_STACK) {
		if (reg->frameno != frameno) {
			text_char(t, '[');
			text_dec(t, (int32_t)reg->frameno);
			text_char(t, ']');
		}
		if (!reg->var_off.mask) {
			signed_text(t, (int64_t)(reg->var_off.value + (uint64_t)reg->off));
			return;
		}
	}
	if (loupe_base_type(reg->type) == PTR_TO_BTF_ID)
		text_str(t, names_type(names, reg->btf.btf, reg->btf.id));
	text_char(t, '(');
	attributes(t, reg, names);
	text_char(t, ')');
}

size_t loupe_reg_print(char *buf, size_t size, const struct loupe_reg *reg, uint32_t frameno,
		       struct loupe_names *names)
{
	struct text t = text_in(buf, size);

	reg_text(&t, reg, frameno, names);
	return text_end(&t);
}

size_t loupe_reg_type_print(char *buf, size_t size, uint32_t type)
{
	struct text t = text_in(buf, size);

	type_text(&t, type);
	return text_end(&t);
}

size_t loupe_tnum_print(char *buf, size_t size, struct loupe_tnum tnum)
{
	struct text t = text_in(buf, size);

	tnum_text(&t, tnum);
	return text_end(&t);
}
