// SPDX-License-Identifier: GPL-2.0-only
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "bpfloupe/log.h"
#include "roff.h"

enum option_id {
	OPT_PROG,
	OPT_BTF,
	OPT_KCONFIG,
	OPT_CPUS,
	OPT_TYPE,
	OPT_MAPS,
	OPT_LOG_LEVEL,
	OPT_LOG_SIZE,
	OPT_UNPRIVILEGED,
	OPT_NO_PRUNING,
	OPT_CHECKPOINT_ALWAYS,
	OPT_NO_CLEANING,
	OPT_EVICT,
	OPT_INSN_LIMIT,
	OPT_MEMORY_LIMIT,
	OPT_OUTPUT,
	OPT_COLUMNS,
	OPT_SORT,
	OPT_FILTER,
	OPT_COMPARE,
	OPT_EMIT,
	OPT_PID,
	OPT_EXPLAIN,
	OPT_POLICY,
	OPT_LEVEL_1,
	OPT_LEVEL_2,
	OPT_LEVEL_3,
	OPT_WEIGHTS,
	OPT_TABLE,
	OPT_ARCH,
	OPT_CAPS,
	OPT_KERNEL,
	OPT_BEFORE,
	OPT_LIST,
	OPT_RUNS,
	OPT_JOBS,
	OPT_GENERATE,
	OPT_SEED,
	OPT_SAVE,
	OPT_SWEEP,
	OPT_REPEAT,
	OPT_LOG,
	OPT_SIDE_BY_SIDE,
	OPT_SCRIPT,
	OPT_SIZE,
	OPT_VIEW,
	OPT_THEME,
	OPT_ASCII,
	OPT_LESSON,
	OPT_HELP,
	OPT_VERSION,
};

struct option_row {
	enum option_id id;
	const char *name; /* without the dashes */
	const char *arg;  /* what its argument is called, NULL: takes none; in brackets: may have
			     one */
	uint32_t commands;
	const char *what;
};

static const struct option_row options[] = {
	{ OPT_PROG, "prog", "NAME", FOR_LOADING | FOR_POLICY | FOR_EVAL,
	  "only the program of this name (or ELF section), or filter of a policy" },
	{ OPT_BTF, "btf", "FILE", FOR_LOADING,
	  "kernel BTF to load against (default: this machine's; none: hide it)" },
	{ OPT_KCONFIG, "kconfig", "FILE", FOR_LOADING,
	  "kernel configuration to load against (default: this machine's; none)" },
	{ OPT_CPUS, "cpus", "N", FOR_LOADING, "possible CPUs (default: this machine's)" },
	{ OPT_TYPE, "type", "TYPE", FOR_LOADING,
	  "program type of sections with an unknown name: xdp, sched_cls ..." },
	{ OPT_MAPS, "maps", "as-is", FOR_LOADING,
	  "leave 0 or absurd numbers of map entries as they are" },
	{ OPT_LOG_LEVEL, "log-level", "0|1|2|4|6", FOR_VERIFY,
	  "what the log holds, as the kernel's (default 1); 8 more: --log-size keeps the beginning" },
	{ OPT_LOG_SIZE, "log-size", "BYTES", FOR_VERIFY,
	  "buffer for the log: of a longer one only the end stays, and ENOSPC" },
	{ OPT_UNPRIVILEGED, "unprivileged", NULL, FOR_KNOBS | FOR_PARITY,
	  "as a user without CAP_BPF and CAP_PERFMON" },
	{ OPT_NO_PRUNING, "no-pruning", NULL, FOR_KNOBS,
	  "never end a path at a matching checkpoint" },
	{ OPT_CHECKPOINT_ALWAYS, "checkpoint-always", NULL, FOR_KNOBS,
	  "store a checkpoint at every chance (BPF_F_TEST_STATE_FREQ)" },
	{ OPT_NO_CLEANING, "no-cleaning", NULL, FOR_KNOBS,
	  "checkpoints keep stack slots that nothing will read" },
	{ OPT_EVICT, "evict", "N|off", FOR_KNOBS, "evict when misses > hits * N + N (default 3)" },
	{ OPT_INSN_LIMIT, "insn-limit", "N", FOR_KNOBS,
	  "processed instructions before giving up (default 1000000)" },
	{ OPT_MEMORY_LIMIT, "memory-limit", "MIB", FOR_KNOBS, "memory for states (default: none)" },
	{ OPT_OUTPUT, "o", "FORMAT", FOR_STAT | FOR_CFG | FOR_PARITY | FOR_LAB,
	  "stat: table, csv or json; cfg: text, dot, svg or json; parity, lab: table or csv" },
	{ OPT_COLUMNS, "e", "COLUMNS", FOR_STAT, "columns to show, separated by commas" },
	{ OPT_SORT, "s", "COLUMNS", FOR_STAT,
	  "columns to sort by; a trailing > sorts downwards, < upwards" },
	{ OPT_COMPARE, "C", NULL, FOR_STAT,
	  "compare two tables written with -o csv: A.csv B.csv; -e, -s and -f take COLUMN_a, _b, _diff, _pct" },
	{ OPT_FILTER, "f", "FILTERS", FOR_STAT,
	  "rows to show: COLUMN=VALUE, COLUMN>N ..., or a name with * and ?, or FILE/PROGRAM; ! before it: not those" },
	{ OPT_EMIT, "emit", "FORM", FOR_POLICY,
	  "ddd, asm, words, c, raw, stats, graph, dot, svg or json (default ddd)" },
	{ OPT_PID, "pid", "N[:K]", FOR_FILTERS | FOR_DISASM,
	  "instead of a file, the seccomp filters of process N (root); K: only one, 0 is the newest" },
	{ OPT_EXPLAIN, "explain", "[=WHAT]", FOR_OPTIMIZE,
	  "why each load and comparison stayed, and every edit; WHAT: only a call (ioctl), its loads of one argument (ioctl:1), or a line of the policy (:12)" },
	{ OPT_POLICY, "policy", "FILE", FOR_OPTIMIZE | FOR_EXPLORE,
	  "explain a filter by the rules of this policy" },
	{ OPT_LEVEL_1, "O1", NULL, FOR_FILTERS,
	  "keep the filter's tests: share tails, lead ways over what they decide" },
	{ OPT_LEVEL_2, "O2", NULL, FOR_FILTERS,
	  "build it anew from what it decides, where that is shorter (default)" },
	{ OPT_LEVEL_3, "O3", NULL, FOR_FILTERS,
	  "try orders in which words are asked for, and tests of bits, too" },
	{ OPT_TABLE, "table", "FILE", FOR_EVAL,
	  "run the calls of a table, with the filter as it is and optimized" },
	{ OPT_WEIGHTS, "weights", "FILE", FOR_FILTERS | FOR_COMPILE,
	  "how often calls are made: a table with columns name, nr, arg0 ... arg5, weight" },
	{ OPT_ARCH, "arch", "NAME", FOR_FILTERS | FOR_COMPILE,
	  "x86_64 (default) or aarch64, whose calls these are" },
	{ OPT_CAPS, "caps", "CAP,...", FOR_FILTERS | FOR_COMPILE,
	  "capabilities of the process, for policies that ask (default: none)" },
	{ OPT_KERNEL, "kernel", "X.Y", FOR_FILTERS | FOR_COMPILE,
	  "kernel version, for policies that ask (default: 6.18)" },
	{ OPT_BEFORE, "before", NULL, FOR_CFG,
	  "the program as it was loaded, not what verification leaves of it" },
	{ OPT_LIST, "list", NULL, FOR_BENCH,
	  "FILE names programs, one a line: FILE [PROGRAM [TYPE]]" },
	{ OPT_RUNS, "n", "N", FOR_BENCH, "runs of each (default 10)" },
	{ OPT_JOBS, "j", "N", FOR_PARITY, "programs compared at the same time (default 1)" },
	{ OPT_GENERATE, "generate", "N", FOR_PARITY, "compare N random programs instead of files" },
	{ OPT_SEED, "seed", "N", FOR_PARITY, "seed of the first random program (default 1)" },
	{ OPT_SAVE, "save", "DIR", FOR_PARITY,
	  "where random programs that differ are saved, shrunk (default: here)" },
	{ OPT_SWEEP, "sweep", "KNOB=VALUES", FOR_LAB,
	  "change one rule: evict, pruning, checkpoints, states, keep, allocator, privileged, insn-limit (default evict=off,1,2,3,5,10)" },
	{ OPT_REPEAT, "repeat", "N", FOR_LAB,
	  "do each run N times; the fastest counts (default 1)" },
	{ OPT_LOG, "log", "LOG", FOR_EXPLORE,
	  "a kernel's log of the program: say first whether the model agrees, or where they part" },
	{ OPT_SIDE_BY_SIDE, "compare", NULL, FOR_EXPLORE,
	  "two programs (FILE or FILE:PROGRAM) side by side; or one by the kernel's rules and by others" },
	{ OPT_SCRIPT, "script", "FILE", FOR_EXPLORE,
	  "obey keys and commands from a file, without a terminal" },
	{ OPT_SIZE, "size", "WxH", FOR_EXPLORE, "cells of a script's screen (default 80x24)" },
	{ OPT_VIEW, "view", "NAME", FOR_EXPLORE,
	  "view to open: cfg, walk, prune, cost, blame, rules, lab, log, tree, calls, eval" },
	{ OPT_THEME, "theme", "NAME", FOR_EXPLORE, "dark, light or none" },
	{ OPT_ASCII, "ascii", NULL, FOR_EXPLORE | FOR_CFG, "no characters beyond ASCII" },
	{ OPT_LESSON, "lesson", "[N]", FOR_EXPLORE,
	  "open lesson N on pruning; without a number: list the lessons" },
	{ OPT_HELP, "help", NULL, UINT32_MAX, "this text" },
	{ OPT_VERSION, "version", NULL, FOR_EXPLORE,
	  "its version, and which kernel the model is of" },
};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

int complain_text(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	loupe_text_clean(text, strlen(text), false);
	fprintf(stderr, "bpfloupe: %s\n", text);
	return 2;
}

int complain(const struct loupe_error *err)
{
	char text[1024];

	loupe_error_format(err, text, sizeof(text));
	return complain_text("%s", text);
}

/* A decimal number in [min, max]. */
static int parse_number(const char *text, const char *option, uint64_t min, uint64_t max,
			uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || *out < min || *out > max)
		return complain_text("%s%s takes a number from %llu to %llu, not '%s'",
				     option[1] ? "--" : "-", option, (unsigned long long)min,
				     (unsigned long long)max, text);
	return 0;
}

static int parse_u32(const char *text, const char *option, uint64_t min, uint64_t max,
		     uint32_t *out)
{
	uint64_t n;

	if (parse_number(text, option, min, max, &n))
		return 2;
	*out = (uint32_t)n;
	return 0;
}

static int parse_size(struct args *args, const char *text)
{
	if (sscanf(text, "%ux%u", &args->width, &args->height) == 2 && args->width >= 20 &&
	    args->width <= 1000 && args->height >= 5 && args->height <= 1000)
		return 0;
	return complain_text("--size takes WIDTHxHEIGHT in cells, as 140x45, not '%s'", text);
}

static int parse_evict(struct args *args, const char *text)
{
	uint64_t n;

	if (!strcmp(text, "off")) {
		args->verify.evict_n = LOUPE_EVICT_OFF;
		return 0;
	}
	if (parse_number(text, "evict", 0, 1000000, &n))
		return 2;
	args->verify.evict_n = (int)n;
	return 0;
}

static int parse_arch(struct args *args, const char *text)
{
	if (!strcmp(text, "x86_64"))
		args->filters.arch = AUDIT_ARCH_X86_64;
	else if (!strcmp(text, "aarch64"))
		args->filters.arch = AUDIT_ARCH_AARCH64;
	else
		return complain_text("--arch takes x86_64 or aarch64, not '%s'", text);
	args->filters.policy.arch = args->filters.arch;
	return 0;
}

/* Names separated by commas; text is cut up. */
static int parse_caps(struct args *args, char *text)
{
	enum { MAX = sizeof(args->caps) / sizeof(args->caps[0]) };
	uint32_t cnt = 0;

	for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
		if (strncmp(name, "CAP_", 4))
			return complain_text("--caps takes names as CAP_SYS_PTRACE, not '%s'",
					     name);
		if (cnt == MAX)
			return complain_text("--caps takes at most %d names", MAX);
		args->caps[cnt++] = name;
	}
	args->filters.policy.caps = args->caps;
	args->filters.policy.cap_cnt = cnt;
	return 0;
}

static int parse_kernel(struct args *args, const char *text)
{
	int end = 0;

	if (sscanf(text, "%9u.%9u%n", &args->filters.policy.kernel[0],
		   &args->filters.policy.kernel[1], &end) == 2 &&
	    !text[end] && args->filters.policy.kernel[0])
		return 0;
	return complain_text("--kernel takes a version as 6.18, not '%s'", text);
}

static int set_option(struct args *args, const struct option_row *row, char *value)
{
	uint64_t n = 0;
	int type;

	switch (row->id) {
	case OPT_PROG:
		args->load.prog_name = value;
		args->filters.policy.filter = value;
		return 0;
	case OPT_BTF:
		args->load.kernel_btf = value;
		return 0;
	case OPT_KCONFIG:
		args->load.kconfig = value;
		return 0;
	case OPT_CPUS:
		return parse_u32(value, row->name, 1, 65536, &args->load.cpus);
	case OPT_TYPE:
		type = loupe_prog_type_by_name(value);
		if (type < 0)
			return complain_text(
				"there is no program type '%s' (try xdp, sched_cls, kprobe ...)",
				value);
		args->load.prog_type = (uint32_t)type;
		return 0;
	case OPT_MAPS:
		if (strcmp(value, "as-is"))
			return complain_text("--maps takes as-is, not '%s'", value);
		args->load.maps_as_is = true;
		return 0;
	case OPT_LOG_LEVEL:
		return parse_u32(value, row->name, 0, LOUPE_LOG_LEVELS, &args->log_level);
	case OPT_LOG_SIZE:
		return parse_u32(value, row->name, 1, UINT32_MAX / 4, &args->log_size);
	case OPT_UNPRIVILEGED:
		args->verify.unprivileged = true;
		return 0;
	case OPT_NO_PRUNING:
		args->verify.no_pruning = true;
		return 0;
	case OPT_NO_CLEANING:
		args->verify.no_cleaning = true;
		return 0;
	case OPT_CHECKPOINT_ALWAYS:
		args->verify.checkpoint_always = true;
		return 0;
	case OPT_EVICT:
		return parse_evict(args, value);
	case OPT_INSN_LIMIT:
		return parse_u32(value, row->name, 1, UINT32_MAX, &args->verify.insn_limit);
	case OPT_MEMORY_LIMIT:
		if (parse_number(value, row->name, 1, 1u << 20, &n))
			return 2;
		args->verify.memory_limit = n << 20;
		return 0;
	case OPT_OUTPUT:
		args->output = value;
		return 0;
	case OPT_COLUMNS:
		args->columns = value;
		return 0;
	case OPT_SORT:
		args->sort = value;
		return 0;
	case OPT_COMPARE:
		args->compare = true;
		return 0;
	case OPT_FILTER:
		args->filter = value;
		return 0;
	case OPT_EMIT:
		args->emit = value;
		return 0;
	case OPT_PID:
		args->pid = value;
		return 0;
	case OPT_EXPLAIN:
		args->explain = true;
		args->explain_what = value;
		return 0;
	case OPT_POLICY:
		args->filters.policy_file = value;
		return 0;
	case OPT_LEVEL_1:
	case OPT_LEVEL_2:
	case OPT_LEVEL_3:
		args->passes.level = 1 + (uint32_t)(row->id - OPT_LEVEL_1);
		return 0;
	case OPT_WEIGHTS:
		args->filters.weights = value;
		return 0;
	case OPT_TABLE:
		args->table = value;
		return 0;
	case OPT_ARCH:
		return parse_arch(args, value);
	case OPT_CAPS:
		return parse_caps(args, value);
	case OPT_KERNEL:
		return parse_kernel(args, value);
	case OPT_BEFORE:
		args->before = true;
		return 0;
	case OPT_LIST:
		args->list = true;
		return 0;
	case OPT_RUNS:
		return parse_u32(value, row->name, 1, 10000, &args->runs);
	case OPT_JOBS:
		return parse_u32(value, row->name, 1, 256, &args->jobs);
	case OPT_GENERATE:
		return parse_u32(value, row->name, 1, 100000000, &args->generate);
	case OPT_SEED:
		return parse_number(value, row->name, 0, UINT64_MAX, &args->seed);
	case OPT_SAVE:
		args->save = value;
		return 0;
	case OPT_SWEEP:
		args->sweep = value;
		return 0;
	case OPT_REPEAT:
		return parse_u32(value, row->name, 1, 10000, &args->repeat);
	case OPT_LOG:
		args->log = value;
		return 0;
	case OPT_SIDE_BY_SIDE:
		args->side_by_side = true;
		return 0;
	case OPT_SCRIPT:
		args->script = value;
		return 0;
	case OPT_SIZE:
		return parse_size(args, value);
	case OPT_VIEW:
		args->view = value;
		return 0;
	case OPT_THEME:
		if (strcmp(value, "dark") && strcmp(value, "light") && strcmp(value, "none"))
			return complain_text("--theme takes dark, light or none, not '%s'", value);
		args->theme = value;
		return 0;
	case OPT_ASCII:
		args->ascii = true;
		return 0;
	case OPT_LESSON:
		args->lessons = true;
		return value ? parse_u32(value, row->name, 1, 1000, &args->lesson) : 0;
	case OPT_HELP:
		args->help = true;
		return 0;
	case OPT_VERSION:
		args->version = true;
		return 0;
	}
	return 2;
}

/* Letters and levels go with one dash, words with two. */
static bool one_dash(const struct option_row *row)
{
	return strlen(row->name) == 1 || row->name[0] == 'O';
}

static const struct option_row *find_option(const char *name, size_t len)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		if (strlen(options[i].name) == len && !strncmp(options[i].name, name, len))
			return &options[i];
	}
	return NULL;
}

/* --no-PASS of the filter optimizer. */
static bool switch_pass_off(struct args *args, const char *word)
{
	return !strncmp(word, "--no-", 5) && !loupe_filter_opts_set(&args->passes, word + 5, false);
}

/* One word that starts with a dash; *i moves over its argument. */
static int parse_option(struct args *args, uint32_t command, const char *name, int argc,
			char **argv, int *i)
{
	char *word = argv[*i], *body = word + (word[1] == '-' ? 2 : 1);
	char *equals = word[1] == '-' ? strchr(body, '=') : NULL;
	size_t len = equals ? (size_t)(equals - body) : strlen(body);
	const struct option_row *row = !strcmp(word, "-h") ? find_option("help", 4)
							     : find_option(body, len);
	char *value = equals ? equals + 1 : NULL;

	if (command & FOR_FILTERS && switch_pass_off(args, word))
		return 0;
	if (row && strcmp(word, "-h") && (word[1] == '-') == one_dash(row))
		row = NULL;
	if (!row && word[1] != '-' && (row = find_option(body, 1)) && row->arg && body[1])
		value = body + 1; /* -j4 */
	if (!row || !(row->commands & command))
		return complain_text("%s has no option '%s'; see bpfloupe %s%s--help", name, word,
				     command == FOR_EXPLORE ? "" : name,
				     command == FOR_EXPLORE ? "" : " ");
	if (!row->arg && value)
		return complain_text("option '%s' takes no argument", word);
	/* "[N]": a number, or nothing; "[=WHAT]": only behind a = */
	if (row->arg && row->arg[0] == '[') {
		if (!value && row->arg[1] != '=' && *i + 1 < argc &&
		    isdigit((unsigned char)argv[*i + 1][0]))
			value = argv[++*i];
	} else if (row->arg && !value) {
		if (*i + 1 >= argc)
			return complain_text("option '%s' needs %s", word, row->arg);
		value = argv[++*i];
	}
	return set_option(args, row, value);
}

int args_parse(struct args *args, uint32_t command, const char *name, int argc, char **argv)
{
	bool only_files = false;
	int files = 0;

	*args = (struct args){
		.log_level = 1,
		.runs = 10,
		.repeat = 1,
		.jobs = 1,
		.seed = 1,
		.width = 80,
		.height = 24,
	};
	args->load.size = sizeof(args->load);
	args->passes.level = 2;
	args->filters.arch = AUDIT_ARCH_X86_64;
	loupe_verify_opts_init(&args->verify);
	for (int i = 0; i < argc; i++) {
		if (!only_files && !strcmp(argv[i], "--")) {
			only_files = true;
		} else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
			int err = parse_option(args, command, name, argc, argv, &i);

			if (err)
				return err;
		} else {
			argv[files++] = argv[i];
		}
	}
	args->files = (const char *const *)argv;
	args->file_cnt = (uint32_t)files;
	return 0;
}

static const char *dashes(const struct option_row *row)
{
	return one_dash(row) ? "-" : "--";
}

static void write_option(FILE *out, bool man, const char *dash, const char *name, const char *arg,
			 const char *what)
{
	char left[64];

	if (man) {
		fputs(".TP\n.BI ", out);
		roff_put(out, dash);
		roff_put(out, name);
		if (arg) {
			fputs(strncmp(arg, "[=", 2) == 0 ? " " : "\\~ ", out);
			roff_put(out, arg);
		}
		fputc('\n', out);
		roff_put(out, what);
		fputc('\n', out);
		return;
	}
	snprintf(left, sizeof(left), "%s%s%s%s", dash, name,
		 arg && strncmp(arg, "[=", 2) != 0 ? " " : "", arg ? arg : "");
	fprintf(out, "  %-24s %s\n", left, what);
}

/* Of "stat: …; parity, lab: …" what is for a command; all of other texts. */
static const char *what_for(const char *what, const char *name, char *buf, size_t size)
{
	for (const char *at = what; name && *at;) {
		size_t len = strcspn(at, ";"), head = strcspn(at, ":");
		const char *found = strstr(at, name);

		if (head < len && found && found + strlen(name) <= at + head) {
			snprintf(buf, size, "%.*s", (int)(len - head - 2), at + head + 2);
			return buf;
		}
		at += len + strspn(at + len, "; ");
	}
	return what;
}

void args_write_options(FILE *out, uint32_t command, const char *name, bool man)
{
	const struct loupe_filter_pass *passes;
	uint32_t pass_cnt;
	char what[160];

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_row *row = &options[i];

		if (!command || (row->commands & command))
			write_option(out, man, dashes(row), row->name, row->arg,
				     row->id == OPT_OUTPUT
					     ? what_for(row->what, name, what, sizeof(what))
					     : row->what);
	}
	if (command && !(command & FOR_FILTERS))
		return;
	passes = loupe_filter_passes(&pass_cnt);
	for (uint32_t i = 0; i < pass_cnt; i++) {
		snprintf(what, sizeof(what), "optimize without: %s", passes[i].what);
		write_option(out, man, "--no-", passes[i].name, NULL, what);
	}
}

void args_write_names(FILE *out, uint32_t command)
{
	const struct loupe_filter_pass *passes;
	const char *space = "";
	uint32_t pass_cnt;

	for (size_t i = 0; i < OPTIONS; i++) {
		if (!(options[i].commands & command))
			continue;
		fprintf(out, "%s%s%s", space, dashes(&options[i]), options[i].name);
		space = " ";
	}
	if (!(command & FOR_FILTERS))
		return;
	passes = loupe_filter_passes(&pass_cnt);
	for (uint32_t i = 0; i < pass_cnt; i++)
		fprintf(out, " --no-%s", passes[i].name);
}
