// SPDX-License-Identifier: GPL-2.0-only
/* Facts that lessons claim, one function each; data/lessons/README.md says what each means. */
#include "lesson.h"

#include "bpfloupe/insn.h"
#include "lab.h"
#include "view.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 4, MAX_ROWS = 256 };

/* A fact at work. */
struct fact {
	const struct lesson_facts *facts;
	uint32_t step;
	struct loupe_step_info info;
	char *arg[MAX_ARGS]; /* words behind the fact's name; the last may be a text */
	char *why;
	size_t size;
};

/* ---- arguments ---------------------------------------------------------------------------- */

static bool differs(const struct fact *fact, const char *fmt, ...) LOUPE_PRINTF(2, 3);
static bool differs(const struct fact *fact, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(fact->why, fact->size, fmt, args);
	va_end(args);
	return false;
}

/* "12", "#3" */
static bool number(const struct fact *fact, const char *text, uint32_t *out)
{
	const char *digits = text + (*text == '#');
	char *end;

	*out = (uint32_t)strtoul(digits, &end, 10);
	return (*digits && !*end) || differs(fact, "'%s' is no number", text);
}

/* "R6", "fp-16" */
static bool location(const struct fact *fact, const char *text, struct loupe_loc *loc)
{
	bool slot = strncmp(text, "fp-", 3) == 0;
	unsigned long n = 0;
	char *end = NULL;

	*loc = (struct loupe_loc){ .frameno = (uint8_t)(fact->info.frame_cnt - 1) };
	if (slot || *text == 'R')
		n = strtoul(text + (slot ? 3 : 1), &end, 10);
	if (!end || *end ||
	    (slot ? !n || n % LOUPE_REG_SIZE || n > LOUPE_MAX_STACK : n >= LOUPE_MAX_REG))
		return differs(fact, "'%s' is no register or slot", text);
	loc->kind = slot ? LOUPE_LOC_SLOT : LOUPE_LOC_REG;
	loc->index = (uint8_t)(slot ? n / LOUPE_REG_SIZE - 1 : n);
	return true;
}

static bool same_number(const struct fact *fact, uint64_t is, const char *what)
{
	uint32_t wanted;

	return number(fact, fact->arg[0], &wanted) &&
	       (is == wanted || differs(fact, "%s is %" PRIu64, what, is));
}

/* The comparison with a checkpoint at this step. */
static bool comparison(const struct fact *fact, const char *serial, struct loupe_compare_info *info)
{
	uint32_t wanted;
	uint64_t row = loupe_trace_first_row(fact->facts->trace, LOUPE_TABLE_COMPARE, fact->step);

	if (!number(fact, serial, &wanted))
		return false;
	for (; loupe_trace_compare(fact->facts->trace, row, info) == 0 && info->step == fact->step;
	     row++) {
		if (info->serial == wanted)
			return true;
	}
	return differs(fact, "#%u is not compared at step %u", wanted, fact->step);
}

/* A checkpoint as it is at this step: when it is compared, or else after the step. */
static const struct loupe_state *checkpoint_now(const struct fact *fact, const char *text)
{
	const struct loupe_trace *trace = fact->facts->trace;
	struct loupe_compare_info compare;
	uint32_t serial;
	uint64_t row;

	if (!number(fact, text, &serial))
		return NULL;
	if (comparison(fact, text, &compare))
		row = compare.row;
	else
		row = loupe_trace_first_row(trace, LOUPE_TABLE_COMPARE, fact->step + 1);
	if (row >= loupe_trace_rows(trace, LOUPE_TABLE_COMPARE))
		row = LOUPE_NO_ROW;
	return loupe_cursor_seek_checkpoint(fact->facts->then, serial, row);
}

static bool masks_have(const struct loupe_masks *masks, struct loupe_loc loc)
{
	uint64_t mask = loc.kind == LOUPE_LOC_REG ? masks->regs : masks->stack;

	return masks->frameno == loc.frameno && (mask >> loc.index & 1) != 0;
}

/* A location of a state, as words_value() takes it. */
static bool value_in(const struct loupe_state *state, struct loupe_loc loc,
		     struct loupe_value *value)
{
	const struct loupe_frame *frame;

	*value = (struct loupe_value){ 0 };
	if (loc.frameno > state->curframe)
		return false;
	frame = state->frame[loc.frameno];
	if (loc.kind == LOUPE_LOC_REG) {
		value->present = true;
		value->reg = frame->regs[loc.index];
	} else if (loc.index < frame->slot_cnt) {
		value->present = true;
		value->reg = frame->stack->slot[loc.index].spilled;
		memcpy(value->type, frame->stack->slot[loc.index].type, sizeof(value->type));
	}
	return true;
}

static bool same_value(const struct fact *fact, const struct loupe_value *value,
		       struct loupe_loc loc, const char *wanted)
{
	char text[300];

	words_value(value, loc, fact->facts->names, text, sizeof(text));
	return strcmp(text, wanted) == 0 || differs(fact, "it holds %s", text);
}

/* ---- where ------------------------------------------------------------------------------- */

static bool is_step(const struct fact *fact)
{
	return same_number(fact, fact->step, "the step");
}

static bool is_insn(const struct fact *fact)
{
	return same_number(fact, (uint64_t)fact->info.insn_idx, "the insn");
}

static bool is_visit(const struct fact *fact)
{
	return same_number(fact,
			   loupe_trace_visit_lower(fact->facts->trace,
						   (uint32_t)fact->info.insn_idx, fact->step) +
				   1,
			   "the visit");
}

static bool is_path(const struct fact *fact)
{
	return same_number(fact, fact->info.path + 1, "the path");
}

static bool has_visits(const struct fact *fact)
{
	uint32_t cnt;

	loupe_trace_visits(fact->facts->trace, (uint32_t)fact->info.insn_idx, &cnt);
	return same_number(fact, cnt, "the number of visits");
}

static bool has_code(const struct fact *fact)
{
	char text[128];
	uint32_t insn;

	if (!number(fact, fact->arg[0], &insn) || insn >= loupe_trace_insn_cnt(fact->facts->trace))
		return differs(fact, "there is no insn %s", fact->arg[0]);
	loupe_insn_print(text, sizeof(text), &loupe_trace_insns(fact->facts->trace)[insn], NULL);
	/* without the opcode in front */
	return strcmp(text + 5, fact->arg[1]) == 0 || differs(fact, "the insn is %s", text + 5);
}

static bool has_flag(const struct fact *fact, uint32_t flag, const char *otherwise)
{
	return fact->info.flags & flag || differs(fact, "%s", otherwise);
}

static bool is_pruned(const struct fact *fact)
{
	return has_flag(fact, LOUPE_STEP_PRUNED, "the path is not pruned");
}

static bool goes_on(const struct fact *fact)
{
	return !(fact->info.flags & LOUPE_STEP_PATH_END) || differs(fact, "the path ends");
}

static bool is_end(const struct fact *fact)
{
	return has_flag(fact, LOUPE_STEP_PATH_END, "the path goes on");
}

static bool is_start(const struct fact *fact)
{
	return has_flag(fact, LOUPE_STEP_PATH_START, "no path starts here");
}

/* The insn at which a branch goes on that is left for later here. */
static bool leaves(const struct fact *fact)
{
	struct loupe_push_info push;
	uint64_t row = loupe_trace_first_row(fact->facts->trace, LOUPE_TABLE_PUSH, fact->step);

	if (loupe_trace_push(fact->facts->trace, row, &push) || push.step != fact->step)
		return differs(fact, "no branch is left for later");
	return same_number(fact, (uint64_t)push.insn_idx, "the insn of the other branch");
}

/* ---- checkpoints ------------------------------------------------------------------------- */

static bool point(const struct fact *fact, struct loupe_checkpoint_info *info)
{
	uint32_t serial;

	return number(fact, fact->arg[0], &serial) &&
	       (!loupe_trace_checkpoint(fact->facts->trace, serial, info) ||
		differs(fact, "there is no checkpoint #%u", serial));
}

static bool stores(const struct fact *fact)
{
	struct loupe_checkpoint_info info;

	return point(fact, &info) &&
	       (info.born == fact->step || differs(fact, "it is stored at step %u", info.born));
}

static bool is_at(const struct fact *fact)
{
	struct loupe_checkpoint_info info;
	uint32_t insn;

	return point(fact, &info) && number(fact, fact->arg[1], &insn) &&
	       (info.insn_idx == (int32_t)insn || differs(fact, "it is at insn %d", info.insn_idx));
}

static bool outcome_is(const struct fact *fact)
{
	static const char *const names[] = {
		[LOUPE_CMP_HIT] = "hit",
		[LOUPE_CMP_HIT_BACKEDGE] = "hit-in-loop",
		[LOUPE_CMP_LOOP_CONVERGED] = "converged",
		[LOUPE_CMP_INFINITE_LOOP] = "infinite-loop",
		[LOUPE_CMP_MISS] = "miss",
		[LOUPE_CMP_MISS_UNCOUNTED] = "uncounted-miss",
	};
	struct loupe_compare_info compare;

	return comparison(fact, fact->arg[0], &compare) &&
	       (strcmp(names[compare.outcome], fact->arg[1]) == 0 ||
		differs(fact, "the outcome is %s", names[compare.outcome]));
}

/* The place of the first difference: "differs #1 R6". */
static bool first_difference(const struct fact *fact)
{
	struct loupe_compare_info compare;
	struct loupe_loc loc, is = { 0 };
	char name[32];

	if (!comparison(fact, fact->arg[0], &compare) || !location(fact, fact->arg[1], &loc))
		return false;
	is.kind = compare.reg >= 0 ? LOUPE_LOC_REG : LOUPE_LOC_SLOT;
	is.frameno = compare.frameno;
	is.index = (uint8_t)(compare.reg >= 0 ? compare.reg : compare.spi);
	words_loc(&is, false, name, sizeof(name));
	return (compare.diff != LOUPE_DIFF_NONE && (compare.reg >= 0 || compare.spi >= 0) &&
		memcmp(&is, &loc, sizeof(is)) == 0) ||
	       differs(fact, "the first difference is in %s", compare.diff ? name : "nothing");
}

/* What the explorer says about a comparison. */
static bool says(const struct fact *fact)
{
	struct loupe_compare_info compare;
	char text[800];

	if (!comparison(fact, fact->arg[0], &compare))
		return false;
	words_compare(&compare,
		      loupe_cursor_seek_checkpoint(fact->facts->then, compare.serial, compare.row),
		      loupe_cursor_seek(fact->facts->now, fact->step), fact->facts->names, text,
		      sizeof(text));
	return strcmp(text, fact->arg[1]) == 0 || differs(fact, "it says: %s", text);
}

/* Hits and counted misses of a checkpoint, those of this step included. */
static bool counters_are(const struct fact *fact)
{
	const struct loupe_trace *trace = fact->facts->trace;
	struct loupe_compare_info compares[MAX_ROWS];
	uint32_t hits = 0, misses = 0, wanted_hits, wanted_misses;
	struct loupe_checkpoint_info info;
	uint64_t cnt;

	if (!point(fact, &info) || !number(fact, fact->arg[1], &wanted_hits) ||
	    !number(fact, fact->arg[2], &wanted_misses))
		return false;
	cnt = loupe_trace_checkpoint_compares(trace, info.serial, 0, compares, MAX_ROWS);
	for (uint64_t i = 0; i < cnt && compares[i].step <= fact->step; i++) {
		bool hit;

		words_outcome(compares[i].outcome, &hit);
		hits += hit;
		misses += compares[i].outcome == LOUPE_CMP_MISS;
	}
	return (hits == wanted_hits && misses == wanted_misses) ||
	       differs(fact, "it has %u hits and %u misses", hits, misses);
}

static bool evicts(const struct fact *fact)
{
	struct loupe_checkpoint_info info;

	return point(fact, &info) &&
	       (info.evicted == fact->step || differs(fact, "it is not evicted at this step"));
}

static bool is_gone(const struct fact *fact)
{
	struct loupe_checkpoint_info info;

	return point(fact, &info) &&
	       (info.evicted < fact->step || differs(fact, "it is still there"));
}

static bool is_alive(const struct fact *fact)
{
	struct loupe_checkpoint_info info;

	return point(fact, &info) && ((info.born <= fact->step && (info.evicted == LOUPE_NO_STEP ||
								   info.evicted > fact->step)) ||
				      differs(fact, "it is not there"));
}

/* ---- values ------------------------------------------------------------------------------ */

static bool value_is(const struct fact *fact)
{
	struct loupe_value value;
	struct loupe_loc loc;

	return location(fact, fact->arg[0], &loc) &&
	       !loupe_trace_value(fact->facts->trace, fact->step, loc, &value) &&
	       same_value(fact, &value, loc, fact->arg[1]);
}

static bool held_is(const struct fact *fact)
{
	const struct loupe_state *state;
	struct loupe_value value;
	struct loupe_loc loc;

	if (!location(fact, fact->arg[1], &loc))
		return false;
	state = checkpoint_now(fact, fact->arg[0]);
	return state && value_in(state, loc, &value) && same_value(fact, &value, loc, fact->arg[2]);
}

static bool precision_is(const struct fact *fact, bool wanted)
{
	const struct loupe_state *state;
	struct loupe_value value;
	struct loupe_loc loc;

	if (!location(fact, fact->arg[1], &loc))
		return false;
	state = checkpoint_now(fact, fact->arg[0]);
	if (!state || !value_in(state, loc, &value))
		return false;
	return (value.present && value.reg.precise) == wanted ||
	       differs(fact, "it is%s precise", wanted ? " not" : "");
}

static bool is_precise(const struct fact *fact)
{
	return precision_is(fact, true);
}

static bool is_imprecise(const struct fact *fact)
{
	return precision_is(fact, false);
}

static bool liveness_is(const struct fact *fact, bool wanted)
{
	const struct loupe_insn_facts *insn =
		loupe_trace_facts(fact->facts->trace, (uint32_t)fact->info.insn_idx);
	struct loupe_loc loc;

	if (!location(fact, fact->arg[0], &loc) || !insn)
		return false;
	if (loc.kind != LOUPE_LOC_REG)
		return differs(fact, "only registers can be asked for");
	return (insn->live_regs >> loc.index & 1) == (wanted ? 1 : 0) ||
	       differs(fact, "it is %s", wanted ? "dead" : "live");
}

static bool is_live(const struct fact *fact)
{
	return liveness_is(fact, true);
}

static bool is_dead(const struct fact *fact)
{
	return liveness_is(fact, false);
}

/* The insn that gave a location its value. */
static bool writer_is(const struct fact *fact)
{
	struct loupe_loc loc;
	uint32_t insn, step;

	if (!location(fact, fact->arg[0], &loc) || !number(fact, fact->arg[1], &insn))
		return false;
	step = loupe_trace_writer(fact->facts->trace, fact->step, loc);
	return loupe_trace_step_insn(fact->facts->trace, step) == (int32_t)insn ||
	       differs(fact, "insn %d wrote it", loupe_trace_step_insn(fact->facts->trace, step));
}

/* ---- precision, loops, the whole ------------------------------------------------------------ */

static bool demands(const struct fact *fact)
{
	uint64_t row = loupe_trace_first_row(fact->facts->trace, LOUPE_TABLE_WALK, fact->step);
	struct loupe_walk_info walk;
	struct loupe_loc loc;

	if (!location(fact, fact->arg[0], &loc))
		return false;
	for (; loupe_trace_walk(fact->facts->trace, row, &walk) == 0 && walk.step == fact->step;
	     row++) {
		if (masks_have(&walk.want, loc))
			return true;
	}
	return differs(fact, "the exact value of %s is not demanded here", fact->arg[0]);
}

/* A checkpoint's register or slot becomes precise at this step. */
static bool marks(const struct fact *fact)
{
	uint64_t row = loupe_trace_first_row(fact->facts->trace, LOUPE_TABLE_MARK, fact->step);
	struct loupe_mark_info mark;
	struct loupe_loc loc;
	uint32_t serial;

	if (!number(fact, fact->arg[0], &serial) || !location(fact, fact->arg[1], &loc))
		return false;
	for (; loupe_trace_mark(fact->facts->trace, row, &mark) == 0 && mark.step == fact->step;
	     row++) {
		if (mark.serial == serial && mark.kind == LOUPE_MARK_PRECISE &&
		    masks_have(&mark.masks, loc))
			return true;
	}
	return differs(fact, "no such mark is made here");
}

/* Two insns are in one loop. */
static bool in_loop(const struct fact *fact)
{
	const struct loupe_insn_facts *a, *b;
	uint32_t first, last;

	if (!number(fact, fact->arg[0], &first) || !number(fact, fact->arg[1], &last))
		return false;
	a = loupe_trace_facts(fact->facts->trace, first);
	b = loupe_trace_facts(fact->facts->trace, last);
	return (a && b && a->scc && a->scc == b->scc) ||
	       differs(fact, "they are in no common loop");
}

static bool processed(const struct fact *fact)
{
	return same_number(fact, loupe_trace_result(fact->facts->trace)->counters.insn_processed,
			   "the number of processed instructions");
}

static bool evictions(const struct fact *fact)
{
	return same_number(fact, loupe_trace_result(fact->facts->trace)->counters.evictions,
			   "the number of evictions");
}

static bool is_accepted(const struct fact *fact)
{
	return loupe_trace_result(fact->facts->trace)->verdict == LOUPE_ACCEPTED ||
	       differs(fact, "it is not accepted");
}

/* "with evict=off 71": processed instructions under another rule. */
static bool with_knob(const struct fact *fact)
{
	struct loupe_verify_opts base;
	struct lab lab = { 0 };
	uint32_t wanted;
	uint64_t is = 0;

	if (!number(fact, fact->arg[1], &wanted))
		return false;
	loupe_verify_opts_init(&base);
	if (!lab_add(&lab, &base, fact->arg[0], fact->why, fact->size) &&
	    !lab_do(&lab.runs[0], fact->facts->image, 1))
		is = lab.runs[0].counters.insn_processed;
	lab_finish(&lab);
	return is == wanted ||
	       (is ? differs(fact, "it processes %" PRIu64 " instructions", is) : false);
}

/* "key walk ] next-hit": what a key that the words speak of asks for. */
static bool key_is(const struct fact *fact)
{
	const char *key = fact->arg[1];
	bool stops = strcmp(fact->arg[0], "lesson") == 0;
	enum view_id view = stops ? VIEW_LESSON : view_by_name(fact->arg[0]);
	const char *name;

	if (view == VIEW_CNT)
		return differs(fact, "there is no view '%s'", fact->arg[0]);
	name = request_name(key_request(view, key_parse(&key)));
	return (name && strcmp(name, fact->arg[2]) == 0) ||
	       differs(fact, "the key asks for %s", name ? name : "nothing");
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	uint32_t args; /* the last one takes the rest of the words */
	bool (*holds)(const struct fact *fact);
} table[] = {
	{ "step", 1, is_step },
	{ "insn", 1, is_insn },
	{ "visit", 1, is_visit },
	{ "visits", 1, has_visits },
	{ "path", 1, is_path },
	{ "code", 2, has_code },
	{ "starts", 0, is_start },
	{ "ends", 0, is_end },
	{ "pruned", 0, is_pruned },
	{ "goes-on", 0, goes_on },
	{ "leaves", 1, leaves },
	{ "stores", 1, stores },
	{ "at", 2, is_at },
	{ "compared", 2, outcome_is },
	{ "differs", 2, first_difference },
	{ "says", 2, says },
	{ "counters", 3, counters_are },
	{ "evicts", 1, evicts },
	{ "gone", 1, is_gone },
	{ "alive", 1, is_alive },
	{ "value", 2, value_is },
	{ "held", 3, held_is },
	{ "precise", 2, is_precise },
	{ "imprecise", 2, is_imprecise },
	{ "live", 1, is_live },
	{ "dead", 1, is_dead },
	{ "writer", 2, writer_is },
	{ "demands", 1, demands },
	{ "marks", 2, marks },
	{ "loop", 2, in_loop },
	{ "processed", 1, processed },
	{ "evictions", 1, evictions },
	{ "accepted", 0, is_accepted },
	{ "with", 2, with_knob },
	{ "key", 3, key_is },
};

/* Cuts the words of one fact off and asks. */
static bool holds_one(struct fact *fact, char *text)
{
	char *name = strtok(text, " "), *rest;

	for (size_t i = 0; name && i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) != 0)
			continue;
		for (uint32_t n = 0; n < table[i].args; n++) {
			rest = strtok(NULL, n + 1 == table[i].args ? "" : " ");
			if (!rest)
				return differs(fact, "'%s' takes %u words", name, table[i].args);
			fact->arg[n] = rest + strspn(rest, " ");
		}
		return table[i].holds(fact);
	}
	return differs(fact, "there is no fact '%s'", name ? name : "");
}

bool lesson_holds(const struct lesson_facts *facts, uint32_t step, const char *fact_text, char *why,
		  size_t size)
{
	struct fact fact = { .facts = facts, .step = step, .why = why, .size = size };
	char *copy = strdup(fact_text), *at = copy;
	bool holds = copy != NULL;

	why[0] = '\0';
	if (loupe_trace_step(facts->trace, step, &fact.info))
		holds = differs(&fact, "there is no step %u", step);
	while (holds && at) {
		char *next = strstr(at, " ; ");

		if (next) {
			*next = '\0';
			next += 3;
		}
		holds = holds_one(&fact, at);
		at = next;
	}
	if (holds)
		why[0] = '\0';
	free(copy);
	return holds;
}

int lesson_facts_init(struct lesson_facts *facts, const struct loupe_trace *trace,
		      const struct loupe_image *image, struct loupe_names *names)
{
	*facts = (struct lesson_facts){
		.trace = trace,
		.image = image,
		.names = names,
		.now = loupe_cursor_create(trace),
		.then = loupe_cursor_create(trace),
	};
	if (facts->now && facts->then)
		return 0;
	lesson_facts_finish(facts);
	return -ENOMEM;
}

void lesson_facts_finish(struct lesson_facts *facts)
{
	loupe_cursor_destroy(facts->now);
	loupe_cursor_destroy(facts->then);
	*facts = (struct lesson_facts){ 0 };
}
