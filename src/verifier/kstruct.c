// SPDX-License-Identifier: GPL-2.0-only
/* What lies at an offset of a structure of the kernel's. */
#include "verifier/vf.h"

enum { MAX_NESTING = 64 };

/* What is looked for, and where the search has come to. */
struct walk {
	struct vf_env *env;
	const struct btf *btf;
	uint32_t off, size;	  /* of the access, in t */
	const struct btf_type *t; /* structure or union */
	bool loose; /* came through a union: an access may run over a member's end */
};

/* A member, or the element of an array that the access begins in. */
struct part {
	const char *name; /* the member's */
	uint32_t off, size;
	uint32_t end; /* of the whole member */
	const struct btf_type *t;
};

enum { FOUND = 1, ELSEWHERE, GO_ON }; /* what a look at a member may say besides an errno */

static bool is_struct(const struct btf_type *t)
{
	return t && (btf_type_kind(t) == BTF_KIND_STRUCT || btf_type_kind(t) == BTF_KIND_UNION);
}

static const char *name_of(const struct walk *walk)
{
	return vf_kernel_name(walk->env, walk->t);
}

static int beyond(const struct walk *walk)
{
	vf_msg(walk->env, "access beyond struct %s at off %u size %u\n", name_of(walk), walk->off,
	       walk->size);
	return -EACCES;
}

/* Behind the structure's end there may be more elements of an array without a length. */
static int enter_flexible(struct walk *walk)
{
	uint32_t cnt = btf_type_vlen(walk->t), start;
	const struct btf_type *t;
	uint32_t id;

	if (!cnt)
		return beyond(walk);
	id = btf_resolve(walk->btf, btf_members(walk->t)[cnt - 1].type);
	t = btf_type(walk->btf, id);
	start = btf_member_bit_offset(walk->t, cnt - 1) / 8;
	if (!t || btf_type_kind(t) != BTF_KIND_ARRAY || btf_array(t)->nelems || walk->off < start)
		return beyond(walk);
	t = btf_type(walk->btf, btf_resolve(walk->btf, btf_array(t)->type));
	if (t && btf_type_kind(t) == BTF_KIND_INT)
		return FOUND;
	if (!is_struct(t) || !t->size)
		return beyond(walk);
	walk->off = (walk->off - start) % t->size;
	walk->t = t;
	return GO_ON;
}

/* The member's size, and its element's where it is an array of any number of dimensions. */
static bool measure(const struct walk *walk, uint32_t id, struct part *part, uint32_t *elems)
{
	uint32_t whole;

	*elems = 1;
	if (btf_size(walk->btf, id, &whole))
		return false;
	part->end = part->off + whole;
	id = btf_resolve(walk->btf, id);
	while (btf_kind(walk->btf, id) == BTF_KIND_ARRAY) {
		const struct btf_array *array = btf_array(btf_type(walk->btf, id));

		*elems *= array->nelems;
		id = btf_resolve(walk->btf, array->type);
	}
	part->t = btf_type(walk->btf, id);
	part->size = *elems ? whole / *elems : 0;
	return part->t != NULL;
}

static int found_pointer(const struct walk *walk, const struct part *part)
{
	const struct btf_type *to;

	if (part->size != walk->size || part->off != walk->off) {
		vf_msg(walk->env,
		       "cannot access ptr member %s with moff %u in struct %s with off %u size %u\n",
		       part->name, part->off, name_of(walk), walk->off, walk->size);
		return -EACCES;
	}
	to = btf_type(walk->btf, btf_resolve(walk->btf, part->t->type));
	return vf_not_judged(walk->env, "insn %d: pointer in struct %s (%s%s)", walk->env->insn_idx,
			     name_of(walk), is_struct(to) ? "to struct " : "to ",
			     to ? btf_str(walk->btf, to->name_off) : "void");
}

static int look_at_bits(const struct walk *walk, uint32_t i)
{
	uint32_t start = btf_member_bit_offset(walk->t, i);
	uint32_t end = (start + btf_member_bit_size(walk->t, i) + 7) / 8;

	/* bits without a name may lie before */
	return walk->off <= start / 8 && end <= walk->off + walk->size ? FOUND : ELSEWHERE;
}

static int look_at_member(struct walk *walk, uint32_t i)
{
	const struct btf_member *member = &btf_members(walk->t)[i];
	struct part part = {
		.name = member->name_off ? btf_str(walk->btf, member->name_off) : "(anon)",
		.off = btf_member_bit_offset(walk->t, i) / 8,
	};
	uint32_t elems;

	if (!measure(walk, member->type, &part, &elems)) {
		vf_msg(walk->env, "field %s doesn't have size\n", part.name);
		return -EFAULT;
	}
	if (walk->off >= part.end || part.off == part.end)
		return ELSEWHERE;
	if (elems > 1)
		part.off += (walk->off - part.off) / part.size * part.size;
	if (is_struct(part.t)) {
		walk->t = part.t;
		walk->off -= part.off;
		return GO_ON;
	}
	if (btf_type_kind(part.t) == BTF_KIND_PTR)
		return found_pointer(walk, &part);
	if (walk->off + walk->size > part.end && !walk->loose) {
		vf_msg(walk->env,
		       "access beyond the end of member %s (mend:%u) in struct %s with off %u size %u\n",
		       part.name, part.end, name_of(walk), walk->off, walk->size);
		return -EACCES;
	}
	return FOUND;
}

/* One structure: FOUND, GO_ON in an inner one, or an errno. */
static int look_at_struct(struct walk *walk)
{
	uint32_t cnt = btf_type_vlen(walk->t);

	if (btf_type_kind(walk->t) == BTF_KIND_UNION && cnt != 1)
		walk->loose = true;
	if (walk->off + walk->size > walk->t->size)
		return enter_flexible(walk);
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t start = btf_member_bit_offset(walk->t, i) / 8;
		int what;

		if (walk->off + walk->size <= start)
			break;
		if (btf_member_bit_size(walk->t, i)) {
			what = look_at_bits(walk, i);
		} else {
			if (walk->off < start)
				break;
			what = look_at_member(walk, i);
		}
		if (what != ELSEWHERE)
			return what;
	}
	vf_msg(walk->env, "struct %s doesn't have field at offset %u\n", name_of(walk), walk->off);
	return -EINVAL;
}

int vf_check_struct_access(struct vf_env *env, uint32_t id, uint32_t off, uint32_t size)
{
	struct walk walk = {
		.env = env,
		.btf = env->kernel_btf,
		.off = off,
		.size = size,
		.t = btf_type(env->kernel_btf, id),
	};

	for (int depth = 0; is_struct(walk.t) && depth < MAX_NESTING; depth++) {
		int what = look_at_struct(&walk);

		if (what != GO_ON)
			return what == FOUND ? 0 : what;
	}
	return vf_not_judged(env, "insn %d: a structure of the kernel's without end",
			     env->insn_idx);
}
