// SPDX-License-Identifier: GPL-2.0-only
/* Registers, stack slots and frames read back from the log's notation. */
#include "klog/scan.h"

#include <string.h>

#include "klog/reg.h"
#include "verifier/typename.h"

/* --- registers ------------------------------------------------------------------------------- */

static void unknown_bounds(struct loupe_reg *reg)
{
	reg->var_off = (struct loupe_tnum){ 0, UINT64_MAX };
	reg->smin = INT64_MIN;
	reg->smax = INT64_MAX;
	reg->umin = 0;
	reg->umax = UINT64_MAX;
	reg->s32_min = INT32_MIN;
	reg->s32_max = INT32_MAX;
	reg->u32_min = 0;
	reg->u32_max = UINT32_MAX;
}

static void known_value(struct loupe_reg *reg, uint64_t value)
{
	reg->var_off = (struct loupe_tnum){ value, 0 };
	reg->smin = reg->smax = (int64_t)value;
	reg->umin = reg->umax = value;
	reg->s32_min = reg->s32_max = (int32_t)value;
	reg->u32_min = reg->u32_max = (uint32_t)value;
}

enum bound { SMIN, SMAX, UMIN, UMAX, SMIN32, SMAX32, UMIN32, UMAX32, BOUND_CNT };

static const char *const bound_names[BOUND_CNT] = {
	"smin=", "smax=", "umin=", "umax=", "smin32=", "smax32=", "umin32=", "umax32=",
};

static void set_bound(struct loupe_reg *reg, enum bound bound, int64_t v)
{
	switch (bound) {
	case SMIN:
		reg->smin = v;
		break;
	case SMAX:
		reg->smax = v;
		break;
	case UMIN:
		reg->umin = (uint64_t)v;
		break;
	case UMAX:
		reg->umax = (uint64_t)v;
		break;
	case SMIN32:
		reg->s32_min = (int32_t)v;
		break;
	case SMAX32:
		reg->s32_max = (int32_t)v;
		break;
	case UMIN32:
		reg->u32_min = (uint32_t)v;
		break;
	default:
		reg->u32_max = (uint32_t)v;
		break;
	}
}

/* "smin=umin=5": bounds that share a number. */
static bool take_bounds(struct scan *s, struct loupe_reg *reg, bool *any)
{
	uint32_t which = 0;
	int64_t value;

	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < BOUND_CNT; i++) {
			if (scan_is(s, bound_names[i])) {
				which |= 1u << i;
				more = true;
			}
		}
	}
	*any = which != 0;
	if (!which)
		return true;
	if (!scan_number(s, &value))
		return false;
	for (uint32_t i = 0; i < BOUND_CNT; i++) {
		if (which & 1u << i)
			set_bound(reg, (enum bound)i, value);
	}
	return true;
}

static bool take_tnum(struct scan *s, struct loupe_tnum *tnum)
{
	int64_t value, mask = 0;

	if (scan_is(s, "(")) {
		if (!scan_number(s, &value) || !scan_is(s, "; ") || !scan_number(s, &mask) ||
		    !scan_is(s, ")"))
			return false;
	} else if (!scan_number(s, &value)) {
		return false;
	}
	*tnum = (struct loupe_tnum){ (uint64_t)value, (uint64_t)mask };
	return true;
}

static bool take_u32(struct scan *s, uint32_t *out)
{
	int64_t n;

	if (!scan_number(s, &n) || n < INT32_MIN || n > UINT32_MAX)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool take_i32(struct scan *s, int32_t *out)
{
	uint32_t n;
	int64_t wide;
	struct scan t = *s;

	/* negative offsets that are not small show as 64-bit hexadecimal */
	if (scan_number(&t, &wide) && wide >= INT32_MIN && wide <= INT32_MAX) {
		*s = t;
		*out = (int32_t)wide;
		return true;
	}
	if (!take_u32(s, &n))
		return false;
	*out = (int32_t)n;
	return true;
}

/* What the attributes of one register said besides fields of its own. */
struct attributes {
	bool has_map;
	const char *map;
	size_t map_len;
	uint32_t key_size, value_size;
	bool varies; /* its value is no constant */
};

static const char *const dynptr_words[] = { "<invalid>", "local", "ringbuf",
					    "skb",	 "xdp",	  "skb_meta" };

static bool take_dynptr(struct scan *s, uint8_t *type)
{
	uint8_t best = 0;
	size_t len = 0;

	for (uint8_t i = 0; i < sizeof(dynptr_words) / sizeof(dynptr_words[0]); i++) {
		struct scan t = *s;

		if (scan_is(&t, dynptr_words[i]) && strlen(dynptr_words[i]) > len) {
			best = i;
			len = strlen(dynptr_words[i]);
		}
	}
	s->at += len;
	*type = best;
	return len != 0;
}

static bool take_id(struct scan *s, struct loupe_reg *reg)
{
	if (!take_u32(s, &reg->id))
		return false;
	if (s->at < s->end && (*s->at == '+' || *s->at == '-')) {
		/* the log does not tell 64 from 32 bits */
		reg->id |= LOUPE_ADD_CONST64;
		s->at += *s->at == '+';
		return take_i32(s, &reg->off);
	}
	return true;
}

static bool take_attribute(struct scan *s, struct loupe_reg *reg, struct attributes *a)
{
	int64_t n;
	bool any;

	if (scan_is(s, "id="))
		return take_id(s, reg);
	if (scan_is(s, "ref_obj_id="))
		return take_u32(s, &reg->ref_obj_id);
	if (scan_is(s, "non_own_ref")) {
		reg->type |= MEM_ALLOC | NON_OWN_REF;
		return true;
	}
	if (scan_is(s, "map=")) {
		a->has_map = true;
		a->map = s->at;
		while (s->at < s->end && *s->at != ',' && *s->at != ')')
			s->at++;
		a->map_len = (size_t)(s->at - a->map);
		return true;
	}
	if (scan_is(s, "ks=")) {
		a->has_map = true;
		return take_u32(s, &a->key_size);
	}
	if (scan_is(s, "vs="))
		return take_u32(s, &a->value_size);
	if (scan_is(s, "off="))
		return take_i32(s, &reg->off);
	if (scan_is(s, "r=")) {
		/* written as an unsigned number of 64 bits */
		if (!scan_number(s, &n))
			return false;
		reg->range = (int32_t)n;
		return true;
	}
	if (scan_is(s, "sz="))
		return take_u32(s, &reg->mem.size);
	if (scan_is(s, "type="))
		return take_dynptr(s, &reg->dynptr.type);
	if (scan_is(s, "imm=")) {
		if (!scan_number(s, &n))
			return false;
		known_value(reg, (uint64_t)n);
		return true;
	}
	if (scan_is(s, "var_off=")) {
		a->varies = true;
		return take_tnum(s, &reg->var_off);
	}
	if (!take_bounds(s, reg, &any) || !any)
		return false;
	a->varies = true;
	return true;
}

/* The attributes in parentheses. */
static bool take_attributes(struct scan *s, struct loupe_reg *reg, const struct scan_names *names)
{
	struct attributes a = { .map = "" };
	struct loupe_reg bounds = *reg;
	bool scalar = reg->type == SCALAR_VALUE;

	if (!scan_is(s, "("))
		return false;
	unknown_bounds(&bounds);
	for (bool first = true; !scan_is(s, ")"); first = false) {
		if (!first && !scan_is(s, ","))
			return false;
		if (!take_attribute(s, &bounds, &a))
			return false;
	}
	/* a pointer that says nothing of a variable part has none */
	if (!scalar && !a.varies && bounds.var_off.mask)
		known_value(&bounds, 0);
	*reg = bounds;
	if (a.has_map)
		reg->map.nr =
			1 + names->map(names->ctx, a.map, a.map_len, a.key_size, a.value_size);
	return true;
}

static bool take_stack_offset(struct scan *s, struct loupe_reg *reg, uint32_t frameno)
{
	int64_t off;

	reg->frameno = frameno;
	if (scan_is(s, "[")) {
		if (!take_u32(s, &reg->frameno) || !scan_is(s, "]"))
			return false;
	}
	if (s->at < s->end && *s->at == '(')
		return true;
	if (!scan_number(s, &off))
		return false;
	known_value(reg, 0);
	reg->off = (int32_t)off;
	return true;
}

static size_t word_length(const struct scan *s)
{
	const char *p = s->at;

	while (p < s->end && *p != '(' && *p != '[')
		p++;
	return (size_t)(p - s->at);
}

bool reg_scan(const char *text, size_t len, uint32_t frameno, const struct scan_names *names,
	      struct loupe_reg *reg)
{
	struct scan s = { text, text + len };
	const char *type_name = NULL;
	size_t used, name_len;
	int64_t value;

	memset(reg, 0, sizeof(*reg));
	reg->precise = scan_is(&s, "P");
	if (s.at < s.end && (*s.at == '-' || (*s.at >= '0' && *s.at <= '9'))) {
		if (!scan_number(&s, &value))
			return false;
		reg->type = SCALAR_VALUE;
		known_value(reg, (uint64_t)value);
		return s.at == s.end;
	}
	name_len = word_length(&s);
	if (!vf_type_scan(s.at, name_len, &reg->type, &used))
		return false;
	if (loupe_base_type(reg->type) == PTR_TO_BTF_ID) {
		type_name = s.at + used;
		reg->btf.btf = 1;
		reg->btf.id = names->type(names->ctx, type_name, name_len - used);
		s.at += name_len;
	} else {
		s.at += used;
	}
	if (reg->type == PTR_TO_STACK && !take_stack_offset(&s, reg, frameno))
		return false;
	if (reg->type == PTR_TO_ARENA && s.at == s.end) {
		unknown_bounds(reg); /* nothing else is written of it */
		return true;
	}
	if (reg->type == PTR_TO_STACK && s.at == s.end)
		return true;
	return take_attributes(&s, reg, names) && s.at == s.end;
}

/* --- slots ----------------------------------------------------------------------------------- */

static bool slot_byte(char c, uint8_t *type)
{
	for (uint8_t i = 0; i < SLOT_CHAR_CNT; i++) {
		if (slot_chars[i] == c) {
			*type = i;
			return true;
		}
	}
	return false;
}

static bool plain_bytes(const char *text, size_t cnt, uint8_t *types)
{
	for (size_t i = 0; i < cnt; i++) {
		if (!slot_byte(text[i], &types[i]))
			return false;
	}
	return true;
}

/* A spilled register behind the bytes that are not part of it. */
static bool spill_scan(const char *text, size_t len, uint32_t frameno,
		       const struct scan_names *names, struct loupe_slot *slot)
{
	for (size_t before = 0; before < LOUPE_REG_SIZE && before < len; before++) {
		/* what an ordinary user's program has given back */
		bool gone = len - before == 3 && memcmp(text + before, "?()", 3) == 0;

		if (!plain_bytes(text, before, slot->type))
			return false;
		if (!gone && !reg_scan(text + before, len - before, frameno, names, &slot->spilled))
			continue;
		memset(slot->type + before, STACK_SPILL, LOUPE_REG_SIZE - before);
		return true;
	}
	return false;
}

static bool dynptr_scan(struct scan *s, struct loupe_slot *slot)
{
	struct loupe_reg *reg = &slot->spilled;
	uint32_t ignored;

	reg->type = CONST_PTR_TO_DYNPTR;
	if (!take_dynptr(s, &reg->dynptr.type) || !scan_is(s, "("))
		return false;
	for (bool first = true; !scan_is(s, ")"); first = false) {
		if (!first && !scan_is(s, ","))
			return false;
		if (scan_is(s, "dynptr_id=")) {
			reg->dynptr.first_slot = true;
			if (!take_u32(s, &ignored))
				return false;
		} else if (!(scan_is(s, "ref_id=") ? take_u32(s, &reg->ref_obj_id)
						   : scan_is(s, "id=") && take_u32(s, &reg->id))) {
			return false;
		}
	}
	memset(slot->type, STACK_DYNPTR, sizeof(slot->type));
	return s->at == s->end;
}

static bool iter_scan(struct scan *s, const struct scan_names *names, struct loupe_slot *slot)
{
	static const char *const states[] = { "<invalid>", "active", "drained" };
	struct loupe_reg *reg = &slot->spilled;
	size_t len = word_length(s);
	uint32_t depth, state = 3;

	reg->type = PTR_TO_STACK;
	reg->iter.btf_id = names->type(names->ctx, s->at, len);
	s->at += len;
	if (!scan_is(s, "(ref_id=") || !take_u32(s, &reg->ref_obj_id) || !scan_is(s, ",state="))
		return false;
	for (uint32_t i = 0; i < 3; i++) {
		if (state == 3 && scan_is(s, states[i]))
			state = i;
	}
	if (state == 3 || !scan_is(s, ",depth=") || !take_u32(s, &depth) || !scan_is(s, ")"))
		return false;
	reg->iter.state_depth = depth << 2 | state;
	memset(slot->type, STACK_ITER, sizeof(slot->type));
	return s->at == s->end;
}

static bool slot_scan(const char *text, size_t len, uint32_t frameno,
		      const struct scan_names *names, struct loupe_slot *slot)
{
	struct scan s = { text, text + len };

	memset(slot, 0, sizeof(*slot));
	if (scan_is(&s, "dynptr_"))
		return dynptr_scan(&s, slot);
	if (scan_is(&s, "iter_"))
		return iter_scan(&s, names, slot);
	if (len == LOUPE_REG_SIZE && plain_bytes(text, len, slot->type))
		return true;
	memset(slot->type, 0, sizeof(slot->type));
	return spill_scan(text, len, frameno, names, slot);
}

/* --- frames ---------------------------------------------------------------------------------- */

/* The next word; blanks inside parentheses belong to it. */
static bool next_word(struct scan *s, const char **word, size_t *len)
{
	int depth = 0;

	while (s->at < s->end && *s->at == ' ')
		s->at++;
	*word = s->at;
	for (; s->at < s->end && (depth > 0 || *s->at != ' '); s->at++)
		depth += (*s->at == '(') - (*s->at == ')');
	*len = (size_t)(s->at - *word);
	return *len != 0;
}

static bool refs_scan(struct scan *s, struct scan_frame *out)
{
	do {
		uint32_t id;

		if (!take_u32(s, &id))
			return false;
		if (out->ref_cnt < SCAN_MAX_REFS)
			out->refs[out->ref_cnt++] = id;
	} while (scan_is(s, ","));
	return s->at == s->end;
}

/* "R5=" or, in older kernels' logs, "R5_w=". */
static bool take_reg_name(struct scan *s, uint32_t *regno, bool *foreign)
{
	int64_t n;

	if (!scan_is(s, "R") || !scan_number(s, &n) || n < 0 || n >= LOUPE_MAX_REG)
		return false;
	*regno = (uint32_t)n;
	*foreign = scan_is(s, "_rw") || scan_is(s, "_w") || scan_is(s, "_r");
	return scan_is(s, "=");
}

static bool take_slot_name(struct scan *s, uint32_t *spi)
{
	int64_t off;

	if (!scan_is(s, "fp") || !scan_number(s, &off) || off >= 0 || off < -LOUPE_MAX_STACK ||
	    off % LOUPE_REG_SIZE)
		return false;
	*spi = (uint32_t)(-off / LOUPE_REG_SIZE) - 1;
	(void)(scan_is(s, "_rw") || scan_is(s, "_w") || scan_is(s, "_r"));
	return scan_is(s, "=");
}

static bool word_scan(struct scan *s, const struct scan_names *names, struct scan_frame *out)
{
	uint32_t n;
	bool foreign;
	int64_t frameno;
	struct scan t = *s;

	if (scan_is(&t, "frame") && scan_number(&t, &frameno) && frameno >= 0 &&
	    frameno < LOUPE_MAX_FRAMES && scan_is(&t, ":") && t.at == t.end) {
		out->frameno = (uint32_t)frameno;
		return true;
	}
	t = *s;
	if (take_reg_name(&t, &n, &foreign)) {
		out->regs |= 1u << n;
		if (!foreign &&
		    reg_scan(t.at, (size_t)(t.end - t.at), out->frameno, names, &out->reg[n]))
			return true;
		memset(&out->reg[n], 0, sizeof(out->reg[n]));
		out->reg[n].type = REG_NOT_LOGGED;
		return false;
	}
	t = *s;
	if (take_slot_name(&t, &n)) {
		if (!slot_scan(t.at, (size_t)(t.end - t.at), out->frameno, names, &out->slot[n]))
			return false;
		out->slots |= 1ull << n;
		/* a dynptr's two slots have one name, that of the lower one */
		if (out->slot[n].type[0] == STACK_DYNPTR && n) {
			out->slot[n - 1] = out->slot[n];
			out->slot[n - 1].spilled.dynptr.first_slot = false;
			out->slots |= 1ull << (n - 1);
		}
		return true;
	}
	t = *s;
	if (scan_is(&t, "refs="))
		return refs_scan(&t, out);
	t = *s;
	if (scan_is(&t, "cb") && t.at == t.end) {
		out->callback = true;
		return true;
	}
	t = *s;
	if (scan_is(&t, "async_cb") && t.at == t.end) {
		out->async_callback = true;
		return true;
	}
	return false;
}

void frame_scan(const char *text, size_t len, const struct scan_names *names,
		struct scan_frame *out)
{
	struct scan s = { text, text + len };
	const char *word;
	size_t word_len;

	out->frameno = out->regs = out->ref_cnt = out->foreign = 0;
	out->slots = 0;
	out->callback = out->async_callback = false;
	while (next_word(&s, &word, &word_len)) {
		struct scan t = { word, word + word_len };

		if (!word_scan(&t, names, out))
			out->foreign++;
	}
}

bool frame_looks(const char *text, size_t len)
{
	struct scan s = { text, text + len };
	const char *word;
	size_t word_len;
	uint32_t n;
	bool foreign;

	if (!next_word(&s, &word, &word_len))
		return false;
	s = (struct scan){ word, word + word_len };
	if (take_reg_name(&s, &n, &foreign))
		return true;
	s.at = word;
	if (take_slot_name(&s, &n))
		return true;
	s.at = word;
	if (scan_is(&s, "frame") && word[word_len - 1] == ':')
		return true;
	s.at = word;
	return scan_is(&s, "refs=") ||
	       ((word_len == 2 || word_len == 8) && memcmp(word + word_len - 2, "cb", 2) == 0);
}
