// SPDX-License-Identifier: GPL-2.0-only
#include "rewrite/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* eBPF encoding, as in the uapi header. */
enum {
	CLASS_MASK = 0x07,
	CLASS_LD = 0x00,
	CLASS_JMP = 0x05,
	CLASS_JMP32 = 0x06,
	OP_MASK = 0xf0,
	OP_JA = 0x00,
	OP_CALL = 0x80,
	OP_EXIT = 0x90,
	CODE_LDIMM64 = 0x18,
	PSEUDO_CALL = 1,
	PSEUDO_FUNC = 4,
};

/* Classic encoding. */
enum {
	CBPF_CLASS_RET = 0x06,
};

static bool in_imm(struct loupe_insn insn)
{
	return insn.code == CODE_LDIMM64 || insn.code == (CLASS_JMP32 | OP_JA) ||
	       insn.code == (CLASS_JMP | OP_CALL);
}

static enum rewrite_flow ebpf_flow(struct loupe_insn insn)
{
	uint8_t class = insn.code & CLASS_MASK, op = insn.code & OP_MASK;

	if (insn.code == CODE_LDIMM64)
		return insn.src_reg == PSEUDO_FUNC ? REWRITE_REFER : REWRITE_NEXT;
	if (class != CLASS_JMP && class != CLASS_JMP32)
		return REWRITE_NEXT;
	if (op == OP_EXIT)
		return REWRITE_LEAVE;
	if (op == OP_CALL)
		return class == CLASS_JMP && insn.src_reg == PSEUDO_CALL ? REWRITE_REFER
									 : REWRITE_NEXT;
	return op == OP_JA ? REWRITE_JUMP : REWRITE_COND;
}

static enum rewrite_flow cbpf_flow(struct loupe_cbpf_insn insn)
{
	switch (insn.code & CLASS_MASK) {
	case CBPF_CLASS_RET:
		return REWRITE_LEAVE;
	case CLASS_JMP:
		return (insn.code & OP_MASK) == OP_JA ? REWRITE_JUMP : REWRITE_COND;
	default:
		return REWRITE_NEXT;
	}
}

enum rewrite_flow rewrite_flow_of(enum loupe_rewrite_kind kind, union loupe_rewrite_insn insn)
{
	return kind == LOUPE_REWRITE_EBPF ? ebpf_flow(insn.ebpf) : cbpf_flow(insn.cbpf);
}

static bool has_jt(enum rewrite_flow flow)
{
	return flow == REWRITE_JUMP || flow == REWRITE_COND || flow == REWRITE_REFER;
}

static bool has_jf(enum loupe_rewrite_kind kind, enum rewrite_flow flow)
{
	return kind == LOUPE_REWRITE_CBPF && flow == REWRITE_COND;
}

/* Index that a jump of the program before leads to, LOUPE_NONE when that is outside. */
static uint32_t absolute(int64_t index, int64_t off, uint32_t cnt)
{
	int64_t to = index + 1 + off;

	return to >= 0 && to < cnt ? (uint32_t)to : LOUPE_NONE;
}

int rewrite_list_init(struct rewrite_list *list, enum loupe_rewrite_kind kind,
		      const union loupe_rewrite_insn *insns, uint32_t cnt)
{
	*list = (struct rewrite_list){ .kind = kind };
	if (!cnt || cnt >= LOUPE_NONE / 2)
		return -EINVAL;
	list->nodes = calloc(cnt, sizeof(*list->nodes));
	if (!list->nodes)
		return -ENOMEM;
	list->id_cnt = list->id_cap = list->cnt = cnt;
	list->last = cnt - 1;
	for (uint32_t i = 0; i < cnt; i++) {
		struct rewrite_node *node = &list->nodes[i];
		enum rewrite_flow flow = rewrite_flow_of(kind, insns[i]);

		node->insn = insns[i];
		node->prev = i ? i - 1 : LOUPE_NONE;
		node->next = i + 1 < cnt ? i + 1 : LOUPE_NONE;
		node->jt = node->jf = LOUPE_NONE;
		if (!has_jt(flow))
			continue;
		if (kind == LOUPE_REWRITE_EBPF) {
			struct loupe_insn insn = insns[i].ebpf;

			node->jt = absolute(i, in_imm(insn) ? insn.imm : insn.off, cnt);
		} else if (flow == REWRITE_JUMP) {
			node->jt = absolute(i, insns[i].cbpf.k, cnt);
		} else {
			node->jt = absolute(i, insns[i].cbpf.jt, cnt);
			node->jf = absolute(i, insns[i].cbpf.jf, cnt);
		}
		if (node->jt == LOUPE_NONE || (has_jf(kind, flow) && node->jf == LOUPE_NONE)) {
			rewrite_list_finish(list);
			return -EINVAL;
		}
	}
	return 0;
}

void rewrite_list_finish(struct rewrite_list *list)
{
	free(list->nodes);
	*list = (struct rewrite_list){ 0 };
}

uint32_t rewrite_list_resolve(const struct rewrite_list *list, uint32_t id)
{
	while (id != LOUPE_NONE && list->nodes[id].removed) {
		struct rewrite_node *node = &list->nodes[id];
		uint32_t to = node->forward;

		/* Halve the path for the next one who comes here. */
		if (to != LOUPE_NONE && list->nodes[to].removed)
			node->forward = to = list->nodes[to].forward;
		id = to;
	}
	return id;
}

uint32_t rewrite_list_target(const struct rewrite_list *list, uint32_t id, enum loupe_way way)
{
	const struct rewrite_node *node = &list->nodes[id];

	if (way == LOUPE_WAY_FALL || (way == LOUPE_WAY_FALSE && list->kind == LOUPE_REWRITE_EBPF))
		return node->next;
	return rewrite_list_resolve(list, way == LOUPE_WAY_FALSE ? node->jf : node->jt);
}

static bool present(const struct rewrite_list *list, uint32_t id)
{
	return id < list->id_cnt && !list->nodes[id].removed;
}

/* Last id of the run of cnt nodes that starts at id, LOUPE_NONE if there are fewer. */
static uint32_t run_end(const struct rewrite_list *list, uint32_t id, uint32_t cnt)
{
	while (--cnt && id != LOUPE_NONE)
		id = list->nodes[id].next;
	return id;
}

static void unlink_run(struct rewrite_list *list, uint32_t first, uint32_t last)
{
	uint32_t prev = list->nodes[first].prev, next = list->nodes[last].next;

	if (prev == LOUPE_NONE)
		list->first = next;
	else
		list->nodes[prev].next = next;
	if (next == LOUPE_NONE)
		list->last = prev;
	else
		list->nodes[next].prev = prev;
}

static void link_run(struct rewrite_list *list, uint32_t first, uint32_t last, uint32_t where)
{
	uint32_t prev = where == LOUPE_NONE ? list->last : list->nodes[where].prev;

	list->nodes[first].prev = prev;
	list->nodes[last].next = where;
	if (prev == LOUPE_NONE)
		list->first = first;
	else
		list->nodes[prev].next = first;
	if (where == LOUPE_NONE)
		list->last = last;
	else
		list->nodes[where].prev = last;
}

static int apply_removed(struct rewrite_list *list, const struct loupe_edit *edit)
{
	uint32_t last = edit->cnt ? run_end(list, edit->id, edit->cnt) : LOUPE_NONE;
	uint32_t after;

	if (last == LOUPE_NONE)
		return -EINVAL;
	after = list->nodes[last].next;
	if (edit->into != LOUPE_NONE) {
		if (!present(list, edit->into) || edit->into == edit->id || edit->cnt > 1)
			return -EINVAL;
		after = edit->into;
	}
	unlink_run(list, edit->id, last);
	for (uint32_t id = edit->id;; id = list->nodes[id].next) {
		list->nodes[id].removed = true;
		list->nodes[id].forward = after;
		if (id == last)
			break;
	}
	list->cnt -= edit->cnt;
	return 0;
}

static int apply_moved(struct rewrite_list *list, const struct loupe_edit *edit)
{
	uint32_t last = edit->cnt ? run_end(list, edit->id, edit->cnt) : LOUPE_NONE;

	if (last == LOUPE_NONE || (edit->where != LOUPE_NONE && !present(list, edit->where)))
		return -EINVAL;
	for (uint32_t id = edit->id;; id = list->nodes[id].next) {
		if (id == edit->where)
			return -EINVAL;
		if (id == last)
			break;
	}
	unlink_run(list, edit->id, last);
	link_run(list, edit->id, last, edit->where);
	return 0;
}

static int apply_retargeted(struct rewrite_list *list, const struct loupe_edit *edit)
{
	struct rewrite_node *node = &list->nodes[edit->id];
	enum rewrite_flow flow = rewrite_flow_of(list->kind, node->insn);

	if (!present(list, edit->jt))
		return -EINVAL;
	if (edit->way == LOUPE_WAY_FALSE && has_jf(list->kind, flow))
		node->jf = edit->jt;
	else if ((edit->way == LOUPE_WAY_TRUE && flow == REWRITE_COND) ||
		 (edit->way == LOUPE_WAY_JUMP && (flow == REWRITE_JUMP || flow == REWRITE_REFER)))
		node->jt = edit->jt;
	else
		return -EINVAL;
	return 0;
}

/* Gives node the edit's instruction and the targets that it has. */
static int set_insn(struct rewrite_list *list, uint32_t id, const struct loupe_edit *edit)
{
	enum rewrite_flow flow = rewrite_flow_of(list->kind, edit->insn);
	struct rewrite_node *node = &list->nodes[id];

	/* An inserted or replaced instruction may jump to itself only by mistake. */
	if (has_jt(flow) && (!present(list, edit->jt) || edit->jt == id))
		return -EINVAL;
	if (has_jf(list->kind, flow) && (!present(list, edit->jf) || edit->jf == id))
		return -EINVAL;
	node->insn = edit->insn;
	node->jt = has_jt(flow) ? edit->jt : LOUPE_NONE;
	node->jf = has_jf(list->kind, flow) ? edit->jf : LOUPE_NONE;
	return 0;
}

static int apply_inserted(struct rewrite_list *list, const struct loupe_edit *edit)
{
	uint32_t id = list->id_cnt;
	int err;

	if (edit->id != id || (edit->where != LOUPE_NONE && !present(list, edit->where)))
		return -EINVAL;
	if (id == list->id_cap) {
		uint32_t cap = list->id_cap + list->id_cap / 2 + 16;
		struct rewrite_node *nodes = realloc(list->nodes, cap * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		list->nodes = nodes;
		list->id_cap = cap;
	}
	list->nodes[id] = (struct rewrite_node){ .removed = true, .forward = LOUPE_NONE };
	err = set_insn(list, id, edit);
	if (err)
		return err;
	list->nodes[id].removed = false;
	list->id_cnt++;
	list->cnt++;
	link_run(list, id, id, edit->where);
	return 0;
}

int rewrite_list_apply(struct rewrite_list *list, const struct loupe_edit *edit)
{
	if (edit->kind == LOUPE_EDIT_INSERTED)
		return apply_inserted(list, edit);
	if (!present(list, edit->id))
		return -EINVAL;
	switch (edit->kind) {
	case LOUPE_EDIT_REMOVED:
		return apply_removed(list, edit);
	case LOUPE_EDIT_RETARGETED:
		return apply_retargeted(list, edit);
	case LOUPE_EDIT_MOVED:
		return apply_moved(list, edit);
	case LOUPE_EDIT_REPLACED:
		return set_insn(list, edit->id, edit);
	default:
		return -EINVAL;
	}
}

/* Writes a classic jump's offsets; false when one does not fit. */
static bool encode_cbpf(struct loupe_cbpf_insn *insn, int64_t t, int64_t f)
{
	bool fits = t >= 0 && f >= 0;

	if (cbpf_flow(*insn) == REWRITE_JUMP) {
		insn->k = t >= 0 ? (uint32_t)t : UINT32_MAX;
		return fits;
	}
	fits = fits && t <= UINT8_MAX && f <= UINT8_MAX;
	insn->jt = t >= 0 && t <= UINT8_MAX ? (uint8_t)t : UINT8_MAX;
	insn->jf = f >= 0 && f <= UINT8_MAX ? (uint8_t)f : UINT8_MAX;
	return fits;
}

static bool encode_ebpf(struct loupe_insn *insn, int64_t off)
{
	if (in_imm(*insn)) {
		insn->imm = (int32_t)off;
		return true;
	}
	insn->off = off > INT16_MAX ? INT16_MAX : off < INT16_MIN ? INT16_MIN : (int16_t)off;
	return insn->off == off;
}

int rewrite_list_layout(const struct rewrite_list *list, struct loupe_rewrite_prog *out)
{
	uint32_t n = 0, cnt = list->cnt;

	*out = (struct loupe_rewrite_prog){ .cnt = cnt, .id_cnt = list->id_cnt, .encodable = true };
	out->insns = malloc((cnt + !cnt) * sizeof(*out->insns));
	out->ids = malloc((cnt + !cnt) * sizeof(*out->ids));
	out->jt = malloc((cnt + !cnt) * sizeof(*out->jt));
	out->jf = malloc((cnt + !cnt) * sizeof(*out->jf));
	out->index_of = malloc(list->id_cnt * sizeof(*out->index_of));
	if (!out->insns || !out->ids || !out->jt || !out->jf || !out->index_of)
		return -ENOMEM;
	memset(out->index_of, 0xff, list->id_cnt * sizeof(*out->index_of));
	for (uint32_t id = list->first; id != LOUPE_NONE; id = list->nodes[id].next) {
		out->ids[n] = id;
		out->index_of[id] = n++;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		const struct rewrite_node *node = &list->nodes[out->ids[i]];
		enum rewrite_flow flow = rewrite_flow_of(list->kind, node->insn);
		uint32_t t, f = LOUPE_NONE;

		out->insns[i] = node->insn;
		out->jt[i] = out->jf[i] = LOUPE_NONE;
		if (!has_jt(flow))
			continue;
		t = rewrite_list_resolve(list, node->jt);
		if (has_jf(list->kind, flow))
			f = rewrite_list_resolve(list, node->jf);
		if (t == LOUPE_NONE || (has_jf(list->kind, flow) && f == LOUPE_NONE)) {
			out->encodable = false;
			continue;
		}
		out->jt[i] = out->index_of[t];
		if (f != LOUPE_NONE)
			out->jf[i] = out->index_of[f];
		if (list->kind == LOUPE_REWRITE_EBPF)
			out->encodable &=
				encode_ebpf(&out->insns[i].ebpf, (int64_t)out->jt[i] - i - 1);
		else
			out->encodable &=
				encode_cbpf(&out->insns[i].cbpf, (int64_t)out->jt[i] - i - 1,
					    f == LOUPE_NONE ? 0 : (int64_t)out->jf[i] - i - 1);
	}
	return 0;
}
