// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following each class of calls through a filter. Number and architecture are known on such a run,
 * so only tests of other words part it. Runs that come to an instruction with the same contents of
 * A and X go on as one; every edge that a run takes is an arrival.
 */
#include "why/why.h"

#include <linux/audit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define X32_BIT 0x40000000u

/* States of an instruction in one run; beyond, contents that read the same word count as equal. */
enum { MOST_STATES = 24, NR = 0, ARCH = 1 };

struct flow {
	struct loupe_why *why;
	struct why_state *states;
	uint32_t cnt, cap;
	uint32_t *heads; /* by instruction: its first state, LOUPE_NONE */
	uint32_t *lens;
	uint32_t callers; /* the class that runs */
	bool failed;
};

uint32_t why_word_of(const struct loupe_why *why, uint32_t load)
{
	if (why->filter->flavour != LOUPE_FILTER_SECCOMP || load == LOUPE_NONE ||
	    why_insn(why, load).code != (BPF_LD | BPF_W | BPF_ABS))
		return LOUPE_NONE;
	return why_insn(why, load).k / 4;
}

unsigned int why_ways(const struct loupe_why *why, uint32_t i, uint32_t to[2],
		      enum loupe_way way[2])
{
	struct loupe_cbpf_insn insn = why_insn(why, i);

	if (filter_is_ret(insn.code))
		return 0;
	if (filter_is_cond(insn.code)) {
		to[0] = i + 1 + insn.jt;
		to[1] = i + 1 + insn.jf;
		way[0] = LOUPE_WAY_TRUE;
		way[1] = LOUPE_WAY_FALSE;
		return 2;
	}
	way[0] = filter_is_ja(insn.code) ? LOUPE_WAY_JUMP : LOUPE_WAY_FALL;
	to[0] = filter_is_ja(insn.code) ? i + 1 + insn.k : i + 1;
	return 1;
}

bool why_same_word(const struct loupe_why *why, uint32_t i, uint32_t j)
{
	struct loupe_filter_read a, b;

	if (i == j)
		return true;
	a = why_read(why, i);
	b = why_read(why, j);
	if (a.word == LOUPE_WORD_PACKET_IND || a.word == LOUPE_WORD_ANCILLARY)
		return false;
	return a.word == b.word && a.arg == b.arg && a.size == b.size && a.offset == b.offset;
}

/* ---- one step ----------------------------------------------------------------------------- */

static void load(const struct flow *f, struct why_state *s)
{
	struct loupe_cbpf_insn insn = why_insn(f->why, s->insn);
	uint32_t word = why_word_of(f->why, s->insn);
	struct why_hold *to = BPF_CLASS(insn.code) == BPF_LDX ? &s->x : &s->a;

	*to = (struct why_hold){ LOUPE_HOLD_WORD, s->insn, LOUPE_NONE, UINT32_MAX, 0, UINT32_MAX };
	if (word != LOUPE_NONE) {
		to->lo = s->lo[word];
		to->hi = s->hi[word];
	} else if (why_read(f->why, s->insn).word == LOUPE_WORD_IMM) {
		to->lo = to->hi = insn.k;
	} else if (why_read(f->why, s->insn).word == LOUPE_WORD_MEM) {
		to->kind = LOUPE_HOLD_CHANGED;
	}
}

static void compute(struct why_state *s, struct loupe_cbpf_insn insn)
{
	struct why_hold was = s->a;
	bool masked = insn.code == (BPF_ALU | BPF_AND | BPF_K);

	s->a = (struct why_hold){ .kind = LOUPE_HOLD_CHANGED,
				  .at = s->insn,
				  .base = was.kind == LOUPE_HOLD_WORD ? was.at : was.base,
				  .hi = UINT32_MAX };
	if (masked) {
		s->a.mask = was.mask & insn.k;
		s->a.hi = insn.k < was.hi ? insn.k : was.hi;
		if (was.lo == was.hi)
			s->a.lo = s->a.hi = was.lo & insn.k;
	}
}

static void step(const struct flow *f, struct why_state *s)
{
	struct loupe_cbpf_insn insn = why_insn(f->why, s->insn);

	switch (BPF_CLASS(insn.code)) {
	case BPF_LD:
	case BPF_LDX:
		load(f, s);
		break;
	case BPF_ALU:
		compute(s, insn);
		break;
	case BPF_MISC:
		if (insn.code == (BPF_MISC | BPF_TAX))
			s->x = s->a;
		else
			s->a = s->x;
		break;
	}
}

/* Narrows A to what goes one way of a comparison. @return false if nothing does */
static bool narrow(struct why_hold *a, struct loupe_cbpf_insn insn, bool taken)
{
	uint32_t unlike = a->lo ^ a->hi, fixed = UINT32_MAX, k = insn.k;

	if (BPF_SRC(insn.code) != BPF_K)
		return true;
	switch (BPF_OP(insn.code)) {
	case BPF_JEQ:
		if (taken) {
			if (k < a->lo || k > a->hi)
				return false;
			a->lo = a->hi = k;
			return true;
		}
		if (a->lo == a->hi)
			return a->lo != k;
		a->lo += a->lo == k;
		a->hi -= a->hi == k;
		return true;
	case BPF_JGE:
		if (!k)
			return taken;
		k--;
		/* fall through */
	case BPF_JGT:
		if (taken) {
			if (a->hi <= k)
				return false;
			a->lo = a->lo > k ? a->lo : k + 1;
			return true;
		}
		if (a->lo > k)
			return false;
		a->hi = a->hi < k ? a->hi : k;
		return true;
	case BPF_JSET:
		if (unlike)
			fixed = (uint32_t)(~UINT64_C(0) << (32 - __builtin_clz(unlike)));
		if (a->lo & fixed & k)
			return taken;
		if (!(k & ~fixed))
			return !taken;
		/* Without bits at the top it is small. */
		if (!taken && !(~k & (~k + 1)) && a->hi > ~k)
			a->hi = ~k;
		else if (taken && !(~k & (~k + 1)) && a->lo <= ~k)
			a->lo = ~k + 1;
		return a->lo <= a->hi;
	}
	return true;
}

/* What a comparison leaves of A is left of its word too. */
static bool narrow_state(const struct flow *f, struct why_state *s, bool taken)
{
	uint32_t word = s->a.kind == LOUPE_HOLD_WORD ? why_word_of(f->why, s->a.at) : LOUPE_NONE;

	if (!narrow(&s->a, why_insn(f->why, s->insn), taken))
		return false;
	if (word != LOUPE_NONE) {
		s->lo[word] = s->a.lo;
		s->hi[word] = s->a.hi;
	}
	return true;
}

/* ---- arrivals ----------------------------------------------------------------------------- */

static struct loupe_hold public_hold(struct why_hold h)
{
	return (struct loupe_hold){ (enum loupe_hold_kind)h.kind, h.at, h.base, h.lo, h.hi };
}

static bool same_public(struct loupe_hold a, struct why_hold b)
{
	return (uint8_t)a.kind == b.kind && a.at == b.at;
}

static void widen(uint32_t *lo, uint32_t *hi, uint32_t other_lo, uint32_t other_hi)
{
	*lo = other_lo < *lo ? other_lo : *lo;
	*hi = other_hi > *hi ? other_hi : *hi;
}

/* The instructions on the way to a state and the state's own. */
static uint32_t *way_here(const struct flow *f, uint32_t state, uint32_t *cnt)
{
	uint32_t *path;

	*cnt = 0;
	for (uint32_t s = state; s != LOUPE_NONE; s = f->states[s].prev)
		(*cnt)++;
	path = malloc((*cnt + !*cnt) * sizeof(*path));
	if (!path)
		return NULL;
	for (uint32_t s = state, i = *cnt; s != LOUPE_NONE; s = f->states[s].prev)
		path[--i] = f->states[s].insn;
	return path;
}

static struct loupe_arrival *new_arrival(struct flow *f, struct why_list *list, uint32_t state)
{
	struct loupe_arrival *arrival;

	if (list->cnt == list->cap) {
		uint32_t cap = list->cap ? 2 * list->cap : 2;

		arrival = realloc(list->at, cap * sizeof(*arrival));
		if (!arrival)
			return NULL;
		list->at = arrival;
		list->cap = cap;
	}
	arrival = &list->at[list->cnt];
	*arrival = (struct loupe_arrival){ 0 };
	arrival->callers = calloc(f->why->caller_words, sizeof(uint64_t));
	arrival->path = way_here(f, state, &arrival->path_cnt);
	if (!arrival->callers || !arrival->path) {
		free((void *)(uintptr_t)arrival->callers);
		free((void *)(uintptr_t)arrival->path);
		return NULL;
	}
	list->cnt++;
	return arrival;
}

/* Notes that the class comes to an instruction in this state, from the instruction of another. */
static void arrive(struct flow *f, const struct why_state *s, uint32_t to, uint32_t from_state,
		   enum loupe_way way)
{
	struct why_list *list = &f->why->lists[to];
	uint32_t from = from_state == LOUPE_NONE ? LOUPE_NONE : f->states[from_state].insn;
	struct loupe_arrival *a = NULL;
	uint64_t *set;

	for (uint32_t i = list->cnt; i-- && !a;) {
		struct loupe_arrival *at = &list->at[i];

		if (at->from == from && at->way == way && same_public(at->a, s->a) &&
		    same_public(at->x, s->x))
			a = at;
	}
	if (!a) {
		a = new_arrival(f, list, from_state);
		if (!a) {
			f->failed = true;
			return;
		}
		a->from = from;
		a->way = way;
		a->a = public_hold(s->a);
		a->x = public_hold(s->x);
		memcpy(a->lo, s->lo, sizeof(a->lo));
		memcpy(a->hi, s->hi, sizeof(a->hi));
	}
	widen(&a->a.lo, &a->a.hi, s->a.lo, s->a.hi);
	for (uint32_t w = 0; w < LOUPE_WHY_WORDS; w++)
		widen(&a->lo[w], &a->hi[w], s->lo[w], s->hi[w]);
	set = (uint64_t *)(uintptr_t)a->callers;
	a->caller_cnt += !why_bit(set, f->callers);
	why_set_bit(set, f->callers);
}

/* ---- one run ------------------------------------------------------------------------------ */

static bool merges(const struct flow *f, uint32_t insn, const struct why_state *a,
		   const struct why_state *b)
{
	if (a->a.kind == b->a.kind && a->a.at == b->a.at && a->x.kind == b->x.kind &&
	    a->x.at == b->x.at)
		return true;
	return f->lens[insn] >= MOST_STATES;
}

static struct why_hold meet(struct why_hold a, struct why_hold b)
{
	if (a.kind != b.kind || a.at != b.at)
		return (struct why_hold){
			LOUPE_HOLD_MIXED, LOUPE_NONE, LOUPE_NONE, 0, 0, UINT32_MAX
		};
	widen(&a.lo, &a.hi, b.lo, b.hi);
	a.mask |= b.mask;
	return a;
}

/* A state of an instruction to come; it becomes part of one that is there already. */
static void put(struct flow *f, const struct why_state *s, uint32_t insn, uint32_t prev)
{
	for (uint32_t n = f->heads[insn]; n != LOUPE_NONE; n = f->states[n].next) {
		struct why_state *at = &f->states[n];

		if (!merges(f, insn, at, s))
			continue;
		at->a = meet(at->a, s->a);
		at->x = meet(at->x, s->x);
		for (uint32_t w = 0; w < LOUPE_WHY_WORDS; w++)
			widen(&at->lo[w], &at->hi[w], s->lo[w], s->hi[w]);
		return;
	}
	if (f->cnt == f->cap) {
		uint32_t cap = f->cap ? 2 * f->cap : 256;
		struct why_state *states = realloc(f->states, cap * sizeof(*states));

		if (!states) {
			f->failed = true;
			return;
		}
		f->states = states;
		f->cap = cap;
	}
	f->states[f->cnt] = *s;
	f->states[f->cnt].insn = insn;
	f->states[f->cnt].prev = prev;
	f->states[f->cnt].next = f->heads[insn];
	f->heads[insn] = f->cnt++;
	f->lens[insn]++;
}

static void leave(struct flow *f, uint32_t n)
{
	struct why_state s = f->states[n];
	enum loupe_way way[2];
	uint32_t to[2];
	unsigned int ways = why_ways(f->why, s.insn, to, way);

	why_note_rules(f->why, f->callers, &s);
	step(f, &s);
	for (unsigned int w = 0; w < ways && !f->failed; w++) {
		struct why_state out = s;

		if (ways == 2 && !narrow_state(f, &out, !w))
			continue;
		arrive(f, &out, to[w], n, way[w]);
		put(f, &out, to[w], n);
	}
}

/* Numbers lo to hi of an architecture, which lies in arch_lo to arch_hi, as one class. */
static void run(struct flow *f, uint32_t lo, uint32_t hi, uint32_t arch_lo, uint32_t arch_hi)
{
	struct why_state s = { .next = LOUPE_NONE };
	uint32_t cnt = f->why->filter->cnt;

	memset(s.hi, 0xff, sizeof(s.hi));
	s.lo[NR] = lo;
	s.hi[NR] = hi;
	s.lo[ARCH] = arch_lo;
	s.hi[ARCH] = arch_hi;
	s.a = s.x = (struct why_hold){ LOUPE_HOLD_START, LOUPE_NONE, LOUPE_NONE, 0, 0, 0 };
	f->cnt = 0;
	memset(f->heads, 0xff, cnt * sizeof(*f->heads));
	memset(f->lens, 0, cnt * sizeof(*f->lens));
	arrive(f, &s, 0, LOUPE_NONE, LOUPE_WAY_FALL);
	put(f, &s, 0, LOUPE_NONE);
	for (uint32_t i = 0; i < cnt && !f->failed; i++) {
		for (uint32_t n = f->heads[i]; n != LOUPE_NONE && !f->failed; n = f->states[n].next)
			leave(f, n);
	}
}

/* ---- classes ------------------------------------------------------------------------------ */

static int add_callers(struct loupe_why *why, enum loupe_callers_kind kind, uint32_t arch,
		       uint32_t nr)
{
	if (why->caller_cnt == why->caller_cap) {
		uint32_t cap = why->caller_cap ? 2 * why->caller_cap : 128;
		struct loupe_callers *bigger = realloc(why->callers, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		why->callers = bigger;
		why->caller_cap = cap;
	}
	why->callers[why->caller_cnt++] = (struct loupe_callers){ kind, arch, nr };
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct loupe_callers *x = a, *y = b;

	if (x->arch != y->arch)
		return x->arch < y->arch ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* Sorts the calls and takes out those that are there twice. */
static void sort_calls(struct loupe_why *why)
{
	uint32_t kept = 0;

	if (why->caller_cnt)
		qsort(why->callers, why->caller_cnt, sizeof(*why->callers), by_number);
	for (uint32_t i = 0; i < why->caller_cnt; i++) {
		if (!kept || by_number(&why->callers[kept - 1], &why->callers[i]))
			why->callers[kept++] = why->callers[i];
	}
	why->caller_cnt = kept;
}

static int add_calls_of_policy(struct loupe_why *why)
{
	int err = 0;

	for (uint32_t i = 0; i < why->policy->rule_cnt && !err; i++)
		err = add_callers(why, LOUPE_CALLERS_CALL, why->policy->arch,
				  why->policy->rules[i].nr);
	return err;
}

/* Calls with a name, and numbers that a test for equality names. */
static int add_calls_of_filter(struct loupe_why *why, uint32_t arch)
{
	const struct loupe_filter *filter = why->filter;
	int err = 0;

	for (uint32_t nr = 0; nr < 1024 && !err; nr++) {
		if (loupe_syscall_name(arch, nr))
			err = add_callers(why, LOUPE_CALLERS_CALL, arch, nr);
	}
	if (loupe_syscall_name(arch, 100))
		return err;
	for (uint32_t i = 0; i < filter->cnt && !err; i++) {
		if (filter->insns[i].code == (BPF_JMP | BPF_JEQ | BPF_K) &&
		    filter->insns[i].k < 1024)
			err = add_callers(why, LOUPE_CALLERS_CALL, arch, filter->insns[i].k);
	}
	return err;
}

/* Architectures that a test for equality names. */
static uint32_t find_archs(const struct loupe_why *why, uint32_t *archs, uint32_t most)
{
	static const uint32_t known[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_I386,	 AUDIT_ARCH_AARCH64,
					  AUDIT_ARCH_ARM,    AUDIT_ARCH_RISCV64, AUDIT_ARCH_PPC64LE,
					  AUDIT_ARCH_S390X };
	uint32_t cnt = 0;

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		for (uint32_t i = 0; i < why->filter->cnt && cnt < most; i++) {
			if (why->filter->insns[i].code != (BPF_JMP | BPF_JEQ | BPF_K) ||
			    why->filter->insns[i].k != known[k])
				continue;
			archs[cnt++] = known[k];
			break;
		}
	}
	return cnt;
}

static int make_classes(struct loupe_why *why, const uint32_t *archs, uint32_t arch_cnt)
{
	int err = 0;

	if (why->filter->flavour != LOUPE_FILTER_SECCOMP)
		return add_callers(why, LOUPE_CALLERS_PACKET, 0, 0);
	if (why->policy)
		err = add_calls_of_policy(why);
	for (uint32_t i = 0; !why->policy && i < arch_cnt && !err; i++)
		err = add_calls_of_filter(why, archs[i]);
	if (!err)
		sort_calls(why);
	for (uint32_t i = 0; i < arch_cnt && !err; i++) {
		err = add_callers(why, LOUPE_CALLERS_OTHER, archs[i], LOUPE_NONE);
		if (!err && archs[i] == AUDIT_ARCH_X86_64)
			err = add_callers(why, LOUPE_CALLERS_X32, archs[i], LOUPE_NONE);
	}
	return err ? err : add_callers(why, LOUPE_CALLERS_ARCH, 0, LOUPE_NONE);
}

/* Runs all numbers of an architecture between those of its calls. */
static void run_gaps(struct flow *f, uint32_t other)
{
	const struct loupe_callers *callers = f->why->callers;
	uint32_t arch = callers[other].arch;
	uint64_t next = 0;

	for (uint32_t i = 0; i <= f->why->caller_cnt; i++) {
		bool last = i == f->why->caller_cnt;
		uint64_t end;

		if (!last && (callers[i].kind != LOUPE_CALLERS_CALL || callers[i].arch != arch))
			continue;
		end = last ? UINT64_C(1) << 32 : callers[i].nr;
		/* The numbers of x32 are a class of their own. */
		f->callers = other;
		if (arch == AUDIT_ARCH_X86_64 && next < X32_BIT && end > X32_BIT) {
			run(f, (uint32_t)next, X32_BIT - 1, arch, arch);
			next = X32_BIT;
		}
		f->callers = other + (arch == AUDIT_ARCH_X86_64 && next >= X32_BIT);
		if (next < end)
			run(f, (uint32_t)next, (uint32_t)(end - 1), arch, arch);
		next = end + 1;
	}
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void run_all(struct flow *f, uint32_t *archs, uint32_t arch_cnt)
{
	struct loupe_why *why = f->why;
	uint64_t next = 0;

	for (uint32_t c = 0; c < why->caller_cnt && !f->failed; c++) {
		const struct loupe_callers *callers = &why->callers[c];

		f->callers = c;
		switch (callers->kind) {
		case LOUPE_CALLERS_CALL:
			run(f, callers->nr, callers->nr, callers->arch, callers->arch);
			break;
		case LOUPE_CALLERS_OTHER:
			run_gaps(f, c);
			break;
		case LOUPE_CALLERS_X32:
			break; /* with the others */
		case LOUPE_CALLERS_PACKET:
			run(f, 0, UINT32_MAX, 0, UINT32_MAX);
			break;
		case LOUPE_CALLERS_ARCH:
			qsort(archs, arch_cnt, sizeof(*archs), compare_u32);
			for (uint32_t i = 0; i <= arch_cnt; i++) {
				uint64_t end = i < arch_cnt ? archs[i] : UINT64_C(1) << 32;

				if (next < end)
					run(f, 0, UINT32_MAX, (uint32_t)next, (uint32_t)(end - 1));
				next = end + 1;
			}
			break;
		}
	}
}

/* ---- life --------------------------------------------------------------------------------- */

static int lower_calls(struct loupe_why *why)
{
	why->lowered = calloc(why->caller_cnt, sizeof(*why->lowered));
	if (!why->lowered)
		return -ENOMEM;
	for (uint32_t c = 0; why->policy && c < why->caller_cnt; c++) {
		int err = 0;

		if (why->callers[c].kind == LOUPE_CALLERS_CALL)
			err = lower_rules(why->policy, why->callers[c].nr, &why->lowered[c]);
		if (err == -ENOMEM)
			return err;
		/* Rules of too many cases are not told apart. */
		if (err)
			lower_finish(&why->lowered[c]);
	}
	return 0;
}

static int make(struct loupe_why *why, uint32_t arch)
{
	uint32_t archs[8] = { arch }, arch_cnt = 1, cnt = why->filter->cnt;
	struct flow f = { .why = why };
	int err;

	if (why->policy)
		archs[0] = why->policy->arch;
	else if (find_archs(why, archs, 8))
		arch_cnt = find_archs(why, archs, 8);
	err = make_classes(why, archs, arch_cnt);
	if (!err)
		err = lower_calls(why);
	if (err)
		return err;
	why->caller_words = why->caller_cnt / 64 + 1;
	why->rule_words = (why->policy ? why->policy->rule_cnt : 0) / 64 + 1;
	why->lists = calloc(cnt, sizeof(*why->lists));
	why->reach = calloc((size_t)cnt * why->caller_words, sizeof(*why->reach));
	why->serves = calloc((size_t)cnt * why->rule_words, sizeof(*why->serves));
	why->maybe = calloc((size_t)cnt * why->rule_words, sizeof(*why->maybe));
	f.heads = malloc(cnt * sizeof(*f.heads));
	f.lens = malloc(cnt * sizeof(*f.lens));
	if (why->lists && why->reach && why->serves && why->maybe && f.heads && f.lens)
		run_all(&f, archs, arch_cnt);
	else
		f.failed = true;
	free(f.states);
	free(f.heads);
	free(f.lens);
	if (f.failed)
		return -ENOMEM;
	why_settle_rules(why);
	return 0;
}

int loupe_why_create(const struct loupe_filter *filter, const struct loupe_policy *policy,
		     uint32_t arch, struct loupe_why **out, struct loupe_error *err)
{
	struct loupe_why *why = calloc(1, sizeof(*why));
	int rc = -ENOMEM;

	*out = NULL;
	if (why) {
		why->filter = filter;
		why->policy = policy;
		rc = make(why, arch);
	}
	if (rc) {
		loupe_why_destroy(why);
		return loupe_error_set(err, rc, "explaining: out of memory");
	}
	*out = why;
	return 0;
}

void loupe_why_destroy(struct loupe_why *why)
{
	if (!why)
		return;
	for (uint32_t i = 0; why->lists && i < why->filter->cnt; i++) {
		for (uint32_t n = 0; n < why->lists[i].cnt; n++) {
			free((void *)(uintptr_t)why->lists[i].at[n].callers);
			free((void *)(uintptr_t)why->lists[i].at[n].path);
		}
		free(why->lists[i].at);
	}
	for (uint32_t c = 0; why->lowered && c < why->caller_cnt; c++)
		lower_finish(&why->lowered[c]);
	free(why->lowered);
	free(why->lists);
	free(why->reach);
	free(why->serves);
	free(why->maybe);
	free(why->callers);
	free(why);
}
