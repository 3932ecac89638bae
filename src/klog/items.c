// SPDX-License-Identifier: GPL-2.0-only
/* Cuts a log's text into items. */
#include "klog/logged.h"

#include <stdlib.h>
#include <string.h>

bool logged_grow(void **at, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (need <= *cap)
		return true;
	if (*cap > UINT32_MAX / 2)
		return false;
	while (more < need)
		more *= 2;
	grown = realloc(*at, more * size);
	if (!grown)
		return false;
	memset((char *)grown + *cap * size, 0, (more - *cap) * size);
	*at = grown;
	*cap = more;
	return true;
}

static struct scan scan_item(const struct loupe_logged *log, const struct log_item *item)
{
	return (struct scan){ log->text + item->at, log->text + item->at + item->len };
}

bool item_scan(const struct loupe_logged *log, const struct log_item *item,
	       struct scan_field *fields)
{
	struct scan s = scan_item(log, item);

	return item->kind < FORM_CNT && form_scan(&s, (enum form_id)item->kind, fields);
}

/* --- lines of several forms ------------------------------------------------------------------ */

/* Text, then " @ file:line", the last one of the line. */
static bool take_source(struct scan *s, struct source_line *out)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan line = *s;

	scan_line_end(&line);
	for (const char *p = line.at; p-- > s->at;) {
		struct scan t = { p, s->end };

		if (*p != ' ' || !form_scan(&t, FORM_SOURCE_FILE, f) || t.at < line.at)
			continue;
		*out = (struct source_line){ .text = s->at,
					     .text_len = (size_t)(p - s->at),
					     .file = f[0].text,
					     .file_len = f[0].len,
					     .line = f[1].number,
					     .insn_idx = out->insn_idx };
		s->at = t.at;
		return true;
	}
	return false;
}

static bool take_source_line(struct scan *s, struct source_line *out)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan t = *s;

	*out = (struct source_line){ .insn_idx = -1, .text = "", .file = "" };
	if (form_scan(&t, FORM_SOURCE_PREFIX_INSN, f)) {
		out->insn_idx = f[0].number;
	} else if (!form_scan(&t, FORM_SOURCE_PREFIX, f)) {
		return false;
	}
	if (take_source(&t, out)) {
		*s = t;
		return true;
	}
	/* older kernels name no file */
	if (out->insn_idx >= 0)
		return false;
	out->text = t.at;
	scan_line_end(&t);
	out->text_len = (size_t)(t.at - out->text);
	scan_is(&t, "\n");
	*s = t;
	return true;
}

bool source_scan(const struct loupe_logged *log, const struct log_item *item,
		 struct source_line *out)
{
	struct scan s = scan_item(log, item);

	return take_source_line(&s, out);
}

static bool take_live_row(struct scan *s, struct live_row *out)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan t = *s;

	*out = (struct live_row){ 0 };
	if (!form_scan(&t, FORM_LIVE_REGS_INSN, f)) {
		t = *s;
		if (!form_scan(&t, FORM_LIVE_REGS_SCC, f) || f[0].number < 0 ||
		    f[0].number > INT32_MAX)
			return false;
		out->scc = (uint32_t)f[0].number;
		if (!form_scan(&t, FORM_LIVE_REGS_INSN, f))
			return false;
	}
	if (f[0].number < 0 || f[0].number > INT32_MAX || f[1].len != LOUPE_REG_FP)
		return false;
	out->insn_idx = (uint32_t)f[0].number;
	for (uint32_t r = 0; r < LOUPE_REG_FP; r++) {
		if (f[1].text[r] == (char)('0' + r))
			out->regs |= 1u << r;
		else if (f[1].text[r] != '.')
			return false;
	}
	out->insn = f[2].text;
	out->insn_len = f[2].len;
	*s = t;
	return true;
}

bool live_row_scan(const struct loupe_logged *log, const struct log_item *item,
		   struct live_row *out)
{
	struct scan s = scan_item(log, item);

	return take_live_row(&s, out);
}

static bool take_live_change(struct scan *s, struct live_change *out)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan t = *s;

	if (!form_scan(&t, FORM_LIVE_STACK, f) || f[1].number < 0 ||
	    f[1].number >= LOUPE_MAX_FRAMES || f[2].number < 0 || f[2].number > INT32_MAX)
		return false;
	*out = (struct live_change){ .chain = f[0].chain,
				     .frameno = (uint32_t)f[1].number,
				     .insn_idx = (int32_t)f[2].number };
	if (form_scan(&t, FORM_LIVE_STACK_GAINED, f)) {
		out->gained = f[1].slots;
		out->written = f[0].len && f[0].text[0] == 'w';
	}
	if (form_scan(&t, FORM_LIVE_STACK_LOST, f)) {
		out->lost = f[1].slots;
		out->written = f[0].len && f[0].text[0] == 'w';
	}
	if (!(out->gained | out->lost) || !form_scan(&t, FORM_LIVE_STACK_END, f))
		return false;
	*s = t;
	return true;
}

bool live_change_scan(const struct loupe_logged *log, const struct log_item *item,
		      struct live_change *out)
{
	struct scan s = scan_item(log, item);

	return take_live_change(&s, out);
}

/* --- one line after the other ---------------------------------------------------------------- */

/* Forms that are a line by themselves, in the order in which they are tried. */
static const uint8_t whole_forms[] = {
	FORM_SAFE,
	FORM_PATH_SAFE,
	FORM_PATH_BEGIN,
	FORM_SUBPROG,
	FORM_LIVE_REGS,
	FORM_VALIDATING,
	FORM_FUNC_SAFE,
	FORM_CALLER,
	FORM_CALLEE,
	FORM_RETURNING,
	FORM_TO_CALLER,
	FORM_INFINITE_LOOP,
	FORM_CUR_STATE,
	FORM_OLD_STATE,
	FORM_SCC_ENTER,
	FORM_SCC_EXIT,
	FORM_SCC_BACKEDGE,
	FORM_WALK_BEGIN,
	FORM_WALK_PARENT,
	FORM_WALK_HOP,
	FORM_FORCE_ALL,
	FORM_FORCE_REG,
	FORM_FORCE_SLOT,
	FORM_PROPAGATE,
	FORM_LIVE_STACK_DONE,
	FORM_TIME,
	FORM_STACK_DEPTH,
	FORM_PROCESSED,
};

static bool speculative_word(const struct scan_field *f)
{
	static const char word[] = " (speculative execution)";

	return !f->len || (f->len == sizeof(word) - 1 && !memcmp(f->text, word, f->len));
}

static bool plausible(uint8_t kind, const struct scan_field *f)
{
	switch (kind) {
	case FORM_PATH_SAFE:
	case FORM_PATH_BEGIN:
		return speculative_word(&f[2]);
	case FORM_STATE:
		/* touched, but nothing is in it */
		return !f[1].len || frame_looks(f[1].text, f[1].len);
	default:
		return true;
	}
}

static bool take_form(struct scan *s, uint8_t kind)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan t = *s;

	if (!form_scan(&t, (enum form_id)kind, f) || !plausible(kind, f))
		return false;
	*s = t;
	return true;
}

static bool add_item(struct loupe_logged *log, uint8_t kind, const char *from, const char *to)
{
	if (!logged_grow((void **)&log->items, &log->item_cap, log->item_cnt + 1,
			 sizeof(*log->items)))
		return false;
	log->items[log->item_cnt++] = (struct log_item){ .at = (uint32_t)(from - log->text),
							 .len = (uint32_t)(to - from),
							 .kind = kind };
	return true;
}

/*
 * Where what follows an insn on its line begins: ";" of a state. At level 1 anything can follow an
 * insn that left a path for later, because the newline before what was taken back may have been
 * written over.
 */
static const char *after_insn(const char *from, const char *to)
{
	static const char *const ends[] = { "goto pc", "call " };
	const char *semicolon = memchr(from, ';', (size_t)(to - from));
	const char *p = NULL;

	to = semicolon ? semicolon : to;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !p; i++) {
		p = memmem(from, (size_t)(to - from), ends[i], strlen(ends[i]));
		p = p ? p + strlen(ends[i]) : NULL;
	}
	while (p && p < to && *p != ' ')
		p++;
	while (p && p < to && *p == ' ')
		p++;
	return p && p < to ? p : semicolon;
}

static bool take_state_after(struct loupe_logged *log, struct scan *s)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan t = *s;

	if (!form_scan(&t, FORM_STATE_AFTER, f) || (f[0].len && !frame_looks(f[0].text, f[0].len)))
		return true; /* what it is, is found out as if it began a line */
	if (!add_item(log, FORM_STATE_AFTER, s->at, t.at))
		return false;
	s->at = t.at;
	return true;
}

/* "12: (b7) r1 = 5      ; R1=5" */
static bool take_step(struct loupe_logged *log, struct scan *s)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct scan line = *s, t;
	const char *code, *rest, *from = s->at;

	scan_line_end(&line);
	code = memchr(s->at, '(', (size_t)(line.at - s->at));
	rest = code ? after_insn(code, line.at) : NULL;
	t = (struct scan){ s->at, rest ? rest : s->end };
	if (!form_scan(&t, FORM_STEP, f))
		return false;
	s->at = rest ? rest : t.at;
	return add_item(log, FORM_STEP, from, s->at) && (!rest || take_state_after(log, s));
}

static bool is_digit(const struct scan *s)
{
	return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

/* The kind of the line at s, which moves over it; ITEM_MESSAGE and s stays if it has none. */
static uint8_t line_kind(struct scan *s)
{
	struct source_line source;
	struct live_change change;
	struct live_row row;
	struct scan t = *s;

	if (take_live_row(&t, &row)) {
		*s = t;
		return FORM_LIVE_REGS_INSN;
	}
	if (take_live_change(s, &change))
		return FORM_LIVE_STACK;
	for (size_t i = 0; i < sizeof(whole_forms); i++) {
		if (take_form(s, whole_forms[i]))
			return whole_forms[i];
	}
	if (take_form(s, FORM_STATE))
		return FORM_STATE;
	if (take_source_line(s, &source))
		return source.insn_idx >= 0 ? FORM_SOURCE_PREFIX_INSN : FORM_SOURCE_PREFIX;
	return ITEM_MESSAGE;
}

/* A message may lack its newline; then the first of the last lines follows directly. */
static void end_message(struct scan *s)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} last[] = { { "verification time ", FORM_TIME }, { "processed ", FORM_PROCESSED } };
	const char *from = s->at;

	scan_line_end(s);
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		const char *at =
			memmem(from, (size_t)(s->at - from), last[i].word, strlen(last[i].word));
		struct scan t = { at, s->end };

		if (at && at > from && take_form(&t, last[i].kind)) {
			s->at = at;
			return;
		}
	}
	scan_is(s, "\n");
}

static bool take_line(struct loupe_logged *log, struct scan *s)
{
	const char *from = s->at, *form;
	uint32_t before = log->item_cnt;
	uint8_t kind;

	if (scan_is(s, "\n")) {
		/* before "from A to B" */
		if (s->at == s->end || *s->at != 'f')
			return true;
	}
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	if (is_digit(s) && take_step(log, s))
		return true;
	if (log->item_cnt != before)
		return false; /* out of memory half way */
	form = s->at;
	kind = line_kind(s);
	if (kind == ITEM_MESSAGE) {
		s->at = form = from;
		end_message(s);
	}
	return add_item(log, kind, form, s->at);
}

bool logged_find_items(struct loupe_logged *log)
{
	struct scan s = { log->text, log->text + log->len };

	while (s.at < s.end) {
		const char *from = s.at;

		if (!take_line(log, &s) || s.at == from)
			return false;
	}
	return true;
}

bool items_end(const char *from, const char *to)
{
	static const char word[] = "processed ";
	struct scan line = { from, to }, t = { from, to };
	const char *at;

	scan_line_end(&line);
	at = memmem(from, (size_t)(line.at - from), word, sizeof(word) - 1);
	t.at = at ? at : t.at;
	return at && take_form(&t, FORM_PROCESSED);
}

bool items_sniff(const char *text, size_t len)
{
	enum { LOOK = 256 << 10 };
	struct scan s = { text, text + (len < LOOK ? len : LOOK) };
	struct scan_field f[FORM_MAX_FIELDS];

	if (memchr(text, 0, (size_t)(s.end - s.at)))
		return false;
	while (s.at < s.end) {
		struct scan t = s;

		while (t.at < t.end && (*t.at == ' ' || *t.at == '\t'))
			t.at++;
		if (items_end(s.at, s.end) || take_form(&t, FORM_LIVE_REGS) ||
		    take_form(&t, FORM_STATE))
			return true;
		/* assembler text may have numbers and codes in front of instructions, but no states
		 */
		if (is_digit(&t) && form_scan(&t, FORM_STEP, f) && t.at < t.end && *t.at == ';')
			return true;
		scan_line_end(&s);
		scan_is(&s, "\n");
	}
	return false;
}
