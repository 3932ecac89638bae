// SPDX-License-Identifier: GPL-2.0-only
#include "rewrite/list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loupe_rewrite {
	enum loupe_rewrite_kind kind;
	union loupe_rewrite_insn *original;
	uint32_t original_cnt;
	struct rewrite_list head;
	struct loupe_edit *edits;
	uint32_t edit_cnt, edit_cap;
	uint32_t *removed_by; /* by index before: the edit that took it out, LOUPE_NONE if none */
	bool sealed;
	struct loupe_rewrite_prog before, after;
	int (*describe)(const void *arg, union loupe_rewrite_insn insn, char *buf, size_t size);
	const void *describe_arg;
};

static struct loupe_rewrite *create(enum loupe_rewrite_kind kind, const void *insns, uint32_t cnt)
{
	struct loupe_rewrite *rw = calloc(1, sizeof(*rw));
	int err = -ENOMEM;

	if (!rw)
		goto fail;
	rw->kind = kind;
	rw->original_cnt = cnt;
	rw->original = calloc(cnt + !cnt, sizeof(*rw->original));
	if (!rw->original)
		goto fail;
	memcpy(rw->original, insns, cnt * sizeof(*rw->original));
	rw->removed_by = malloc((cnt + !cnt) * sizeof(*rw->removed_by));
	if (!rw->removed_by)
		goto fail;
	memset(rw->removed_by, 0xff, cnt * sizeof(*rw->removed_by));
	err = rewrite_list_init(&rw->head, kind, rw->original, cnt);
	if (!err)
		err = rewrite_list_layout(&rw->head, &rw->before);
	if (!err)
		return rw;
fail:
	loupe_rewrite_destroy(rw);
	errno = -err;
	return NULL;
}

struct loupe_rewrite *loupe_rewrite_create_cbpf(const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	_Static_assert(sizeof(*insns) == sizeof(union loupe_rewrite_insn), "same size");
	return create(LOUPE_REWRITE_CBPF, insns, cnt);
}

struct loupe_rewrite *loupe_rewrite_create_ebpf(const struct loupe_insn *insns, uint32_t cnt)
{
	_Static_assert(sizeof(*insns) == sizeof(union loupe_rewrite_insn), "same size");
	return create(LOUPE_REWRITE_EBPF, insns, cnt);
}

void loupe_rewrite_destroy(struct loupe_rewrite *rw)
{
	if (!rw)
		return;
	rewrite_list_finish(&rw->head);
	loupe_rewrite_prog_finish(&rw->before);
	loupe_rewrite_prog_finish(&rw->after);
	free(rw->original);
	free(rw->removed_by);
	free(rw->edits);
	free(rw);
}

void loupe_rewrite_set_describe(struct loupe_rewrite *rw,
				int (*describe)(const void *arg, union loupe_rewrite_insn insn,
						char *buf, size_t size),
				const void *arg)
{
	rw->describe = describe;
	rw->describe_arg = arg;
}

const struct rewrite_list *rewrite_head(const struct loupe_rewrite *rw)
{
	return &rw->head;
}

/* Notes which instructions the newest edit took out; they still know what followed them. */
static void note_removed(struct loupe_rewrite *rw, const struct loupe_edit *edit)
{
	uint32_t id = edit->id;

	for (uint32_t i = 0; i < edit->cnt; i++) {
		if (id < rw->original_cnt)
			rw->removed_by[id] = rw->edit_cnt;
		id = rw->head.nodes[id].next;
	}
}

int loupe_rewrite_edit(struct loupe_rewrite *rw, const struct loupe_edit *edit, uint32_t *id)
{
	struct loupe_edit copy = *edit;
	int err;

	if (rw->sealed || !edit->pass || !edit->reason)
		return -EINVAL;
	if (rw->edit_cnt == rw->edit_cap) {
		uint32_t cap = rw->edit_cap ? rw->edit_cap * 2 : 256;
		struct loupe_edit *edits = realloc(rw->edits, cap * sizeof(*edits));

		if (!edits)
			return -ENOMEM;
		rw->edits = edits;
		rw->edit_cap = cap;
	}
	if (copy.kind == LOUPE_EDIT_INSERTED)
		copy.id = rw->head.id_cnt;
	if (copy.kind != LOUPE_EDIT_REMOVED && copy.kind != LOUPE_EDIT_MOVED)
		copy.cnt = 1;
	err = rewrite_list_apply(&rw->head, &copy);
	if (err)
		return err;
	if (copy.kind == LOUPE_EDIT_REMOVED)
		note_removed(rw, &copy);
	rw->edits[rw->edit_cnt++] = copy;
	if (id)
		*id = copy.id;
	return 0;
}

int loupe_rewrite_seal(struct loupe_rewrite *rw)
{
	int err;

	if (rw->sealed || !rw->head.cnt)
		return -EINVAL;
	err = rewrite_list_layout(&rw->head, &rw->after);
	if (!err && !rw->after.encodable)
		err = -ERANGE;
	if (err) {
		loupe_rewrite_prog_finish(&rw->after);
		return err;
	}
	rw->after.edits = rw->edit_cnt;
	rw->sealed = true;
	return 0;
}

enum loupe_rewrite_kind loupe_rewrite_kind(const struct loupe_rewrite *rw)
{
	return rw->kind;
}

const struct loupe_rewrite_prog *loupe_rewrite_before(const struct loupe_rewrite *rw)
{
	return &rw->before;
}

const struct loupe_rewrite_prog *loupe_rewrite_after(const struct loupe_rewrite *rw)
{
	return rw->sealed ? &rw->after : NULL;
}

uint32_t loupe_rewrite_edit_cnt(const struct loupe_rewrite *rw)
{
	return rw->edit_cnt;
}

const struct loupe_edit *loupe_rewrite_edit_get(const struct loupe_rewrite *rw, uint32_t n)
{
	return n < rw->edit_cnt ? &rw->edits[n] : NULL;
}

/* The list after n edits. The caller finishes it, on failure too. */
static int replay(const struct loupe_rewrite *rw, uint32_t n, struct rewrite_list *list)
{
	int err = rewrite_list_init(list, rw->kind, rw->original, rw->original_cnt);

	for (uint32_t i = 0; !err && i < n; i++)
		err = rewrite_list_apply(list, &rw->edits[i]);
	return err;
}

uint32_t loupe_rewrite_edit_ids(const struct loupe_rewrite *rw, uint32_t n, uint32_t *ids,
				uint32_t max)
{
	const struct loupe_edit *edit = loupe_rewrite_edit_get(rw, n);
	const struct rewrite_list *list = &rw->head;
	struct rewrite_list past = { 0 };
	uint32_t id;

	if (!edit)
		return 0;
	/* What was removed keeps its order; what was moved may have been moved again. */
	if (edit->kind == LOUPE_EDIT_MOVED && edit->cnt > 1 && max > 1 && !replay(rw, n, &past))
		list = &past;
	id = edit->id;
	for (uint32_t i = 0; i < edit->cnt && i < max; i++) {
		ids[i] = id;
		id = list->nodes[id].next;
	}
	rewrite_list_finish(&past);
	return edit->cnt;
}

int loupe_rewrite_prog_at(const struct loupe_rewrite *rw, uint32_t n,
			  struct loupe_rewrite_prog *out)
{
	struct rewrite_list list;
	int err;

	*out = (struct loupe_rewrite_prog){ 0 };
	if (n > rw->edit_cnt)
		return -EINVAL;
	err = replay(rw, n, &list);
	if (!err)
		err = rewrite_list_layout(&list, out);
	rewrite_list_finish(&list);
	if (err)
		loupe_rewrite_prog_finish(out);
	else
		out->edits = n;
	return err;
}

void loupe_rewrite_prog_finish(struct loupe_rewrite_prog *prog)
{
	free(prog->insns);
	free(prog->ids);
	free(prog->jt);
	free(prog->jf);
	free(prog->index_of);
	*prog = (struct loupe_rewrite_prog){ 0 };
}

int64_t loupe_rewrite_after_of(const struct loupe_rewrite *rw, uint32_t before)
{
	if (!rw->sealed || before >= rw->original_cnt || rw->after.index_of[before] == LOUPE_NONE)
		return -1;
	return rw->after.index_of[before];
}

int64_t loupe_rewrite_before_of(const struct loupe_rewrite *rw, uint32_t after)
{
	if (!rw->sealed || after >= rw->after.cnt || rw->after.ids[after] >= rw->original_cnt)
		return -1;
	return rw->after.ids[after];
}

int64_t loupe_rewrite_removed_by(const struct loupe_rewrite *rw, uint32_t before)
{
	if (before >= rw->original_cnt || rw->removed_by[before] == LOUPE_NONE)
		return -1;
	return rw->removed_by[before];
}

/* ---- text --------------------------------------------------------------------------------- */

struct text {
	char *buf;
	size_t size, len; /* len: of the whole text, whether or not it fitted */
};

LOUPE_PRINTF(2, 3) static void add(struct text *text, const char *fmt, ...)
{
	size_t room = text->len < text->size ? text->size - text->len : 0;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(room ? text->buf + text->len : NULL, room, fmt, args);
	va_end(args);
	if (n > 0)
		text->len += (size_t)n;
}

static void add_id(struct text *text, const struct loupe_rewrite *rw, uint32_t id)
{
	if (id == LOUPE_NONE)
		add(text, "the end");
	else if (id < rw->original_cnt)
		add(text, "%u", id);
	else
		add(text, "new %u", id - rw->original_cnt + 1);
}

static void add_described(struct text *text, const struct loupe_rewrite *rw, uint32_t id)
{
	char word[160];

	if (!rw->describe || id >= rw->head.id_cnt) {
		add_id(text, rw, id);
		return;
	}
	rw->describe(rw->describe_arg, rw->head.nodes[id].insn, word, sizeof(word));
	add(text, "%s", word);
}

static void add_reason(struct text *text, const struct loupe_rewrite *rw,
		       const struct loupe_edit *edit)
{
	static const char *const ways[] = {
		[LOUPE_WAY_FALL] = "falls through",
		[LOUPE_WAY_JUMP] = "jump",
		[LOUPE_WAY_TRUE] = "true",
		[LOUPE_WAY_FALSE] = "false",
	};
	uint32_t n = 0;

	for (const char *p = edit->reason->text; *p; p++) {
		uint32_t arg;

		if (*p != '%') {
			add(text, "%c", *p);
			continue;
		}
		p++;
		if (!*p)
			return;
		if (*p == '%') {
			add(text, "%%");
			continue;
		}
		arg = n < LOUPE_REASON_ARGS ? edit->args[n] : 0;
		n++;
		switch (*p) {
		case 'i':
			add_id(text, rw, arg);
			break;
		case 'e':
			add(text, "%s", arg <= LOUPE_WAY_FALSE ? ways[arg] : "?");
			break;
		case 'd':
			add_described(text, rw, arg);
			break;
		case 'u':
			add(text, "%u", arg);
			break;
		case 'x':
			add(text, "0x%x", arg);
			break;
		default:
			add(text, "?");
		}
	}
}

int loupe_rewrite_reason(const struct loupe_rewrite *rw, uint32_t n, char *buf, size_t size)
{
	struct text text = { .buf = buf, .size = size };

	if (size)
		buf[0] = 0;
	if (n >= rw->edit_cnt)
		return -EINVAL;
	add_reason(&text, rw, &rw->edits[n]);
	return (int)text.len;
}

const char *loupe_edit_kind_name(enum loupe_edit_kind kind)
{
	static const char *const names[] = {
		[LOUPE_EDIT_REMOVED] = "removed",   [LOUPE_EDIT_RETARGETED] = "retargeted",
		[LOUPE_EDIT_MOVED] = "moved",	    [LOUPE_EDIT_REPLACED] = "replaced",
		[LOUPE_EDIT_INSERTED] = "inserted",
	};

	return kind <= LOUPE_EDIT_INSERTED ? names[kind] : "?";
}

int loupe_rewrite_edit_line(const struct loupe_rewrite *rw, uint32_t n, char *buf, size_t size)
{
	struct text text = { .buf = buf, .size = size };
	const struct loupe_edit *edit;

	if (size)
		buf[0] = 0;
	if (n >= rw->edit_cnt)
		return -EINVAL;
	edit = &rw->edits[n];
	add_id(&text, rw, edit->id);
	if (edit->cnt > 1)
		add(&text, " and %u more", edit->cnt - 1);
	if (edit->kind == LOUPE_EDIT_RETARGETED && edit->way != LOUPE_WAY_JUMP)
		add(&text, " (%s)", edit->way == LOUPE_WAY_TRUE ? "true" : "false");
	add(&text, " %s", loupe_edit_kind_name(edit->kind));
	if (edit->kind == LOUPE_EDIT_RETARGETED) {
		add(&text, " to ");
		add_id(&text, rw, edit->jt);
	} else if (edit->kind == LOUPE_EDIT_MOVED || edit->kind == LOUPE_EDIT_INSERTED) {
		add(&text, edit->where == LOUPE_NONE ? " at " : " before ");
		add_id(&text, rw, edit->where);
	}
	add(&text, ": ");
	add_reason(&text, rw, edit);
	return (int)text.len;
}
