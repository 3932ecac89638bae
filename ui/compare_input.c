// SPDX-License-Identifier: GPL-2.0-only
/* The two programs that are compared, and the rules that they are verified by. */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "compare_input.h"

/* "FILE:PROGRAM", where there is no file of that whole name. */
static char *split_name(const char *name, const char **prog)
{
	const char *colon = strrchr(name, ':');

	if (!colon || !colon[1] || colon == name || !strcmp(name, "-") || !access(name, F_OK))
		return strdup(name);
	*prog = colon + 1;
	return strndup(name, (size_t)(colon - name));
}

static int only_one(const char *name, const struct input *input)
{
	char names[400] = "";
	size_t len = 0;

	if (input->kind != INPUT_PROGRAMS)
		return complain_text(
			"%s: a classic filter; --compare takes programs that are verified", name);
	if (!input->progs.cnt)
		return complain_text("%s: holds no such BPF program", name);
	if (input->progs.cnt == 1 && !input->progs.progs[0].image)
		return complain_text("%s: %s does not load: %s", name, input->progs.progs[0].name,
				     input->progs.progs[0].reason);
	if (input->progs.cnt == 1)
		return 0;
	for (uint32_t i = 0; i < input->progs.cnt && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					input->progs.progs[i].name);
	return complain_text("%s: holds %u programs; name one behind a colon, as %s:%s: %s", name,
			     input->progs.cnt, input_base_name(name), input->progs.progs[0].name,
			     names);
}

static int open_one(const char *name, const struct loupe_load_opts *load, struct input *out)
{
	struct loupe_load_opts opts =
		load ? *load : (struct loupe_load_opts){ .size = sizeof(opts) };
	struct loupe_error err;
	char *path = split_name(name, &opts.prog_name);
	int rc;

	if (!path)
		return complain_text("out of memory");
	rc = input_open(path, &opts, NULL, out, &err);
	free(path);
	if (rc)
		return complain(&err);
	rc = only_one(name, out);
	if (rc)
		input_finish(out);
	return rc;
}

void compare_rules(const struct loupe_verify_opts *rules, char *buf, size_t size)
{
	struct loupe_verify_opts kernel;
	size_t len = 0;

	loupe_verify_opts_init(&kernel);
	if (size)
		buf[0] = '\0';
#define SAY(...)                                                                            \
	len += (size_t)snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0, \
				__VA_ARGS__)
	if (rules->unprivileged)
		SAY("%sunprivileged", len ? ", " : "");
	if (rules->no_pruning)
		SAY("%sno pruning", len ? ", " : "");
	if (rules->checkpoint_always)
		SAY("%scheckpoints always", len ? ", " : "");
	if (rules->evict_n == LOUPE_EVICT_OFF)
		SAY("%seviction off", len ? ", " : "");
	else if (rules->evict_n != kernel.evict_n)
		SAY("%sevict %d", len ? ", " : "", rules->evict_n);
	if (rules->insn_limit != kernel.insn_limit)
		SAY("%slimit %u", len ? ", " : "", rules->insn_limit);
#undef SAY
}

int compare_open(const char *const *files, uint32_t cnt, const struct loupe_load_opts *load,
		 const struct loupe_verify_opts *rules, struct input out[COMPARE_SIDES])
{
	char words[100];
	int rc;

	compare_rules(rules, words, sizeof(words));
	if (cnt < 1 || cnt > 2)
		return complain_text("--compare takes two programs, or one and rules to change");
	if (cnt == 1 && !*words)
		return complain_text(
			"--compare with one program needs a rule to change, as --evict off");
	rc = open_one(files[0], load, &out[0]);
	if (rc)
		return rc;
	if (cnt == 1 && out[0].log) {
		input_finish(&out[0]);
		return complain_text("%s: a log cannot be run again; --compare takes two of them",
				     files[0]);
	}
	rc = open_one(files[cnt - 1], load, &out[1]);
	if (rc)
		input_finish(&out[0]);
	return rc;
}
