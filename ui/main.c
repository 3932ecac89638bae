// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe: the command line. */
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "out.h"
#include "pid_input.h"
#include "roff.h"
#include "tui.h"
#include "view.h"

struct command {
	const char *name; /* NULL: the explorer */
	uint32_t id;
	const char *synopsis;
	const char *what;
	int (*run)(const struct args *args);
	bool many; /* takes several files */
};

static int cmd_explore(const struct args *args)
{
	struct tui_options opts = {
		.files = args->files,
		.file_cnt = args->file_cnt,
		.prog_name = args->load.prog_name,
		.load = &args->load,
		.filters = &args->filters,
		.passes = args->passes,
		.verify = args->verify,
		.log = args->log,
		.compare = args->side_by_side,
		.view = args->view,
		.theme = args->theme,
		.script = args->script,
		.width = args->width,
		.height = args->height,
		.ascii = args->ascii,
	};

	if (args->view && view_by_name(args->view) == VIEW_CNT)
		return complain_text("there is no view '%s'; see bpfloupe --help", args->view);
	if (args->lessons)
		return cmd_lesson(args, &opts);
	if (!args->script && !isatty(STDOUT_FILENO))
		return args->side_by_side ? cmd_compare(args) : cmd_summary(args);
	return tui_run(&opts);
}

static const struct command commands[] = {
	{ NULL, FOR_EXPLORE, "[FILE...]",
	  "explore programs or filters; without a terminal: a summary", cmd_explore, true },
	{ "verify", FOR_VERIFY, "FILE", "verify a program and print the kernel's log of it",
	  cmd_verify, false },
	{ "stat", FOR_STAT, "FILE...", "verdicts and counters of all programs, as veristat",
	  cmd_stat, true },
	{ "disasm", FOR_DISASM, "FILE", "print instructions in the assembler's syntax", cmd_disasm,
	  false },
	{ "cfg", FOR_CFG, "FILE", "draw the control-flow graph of a program or filter", cmd_cfg,
	  false },
	{ "compile", FOR_COMPILE, "POLICY", "make a seccomp filter of a policy", cmd_compile,
	  false },
	{ "optimize", FOR_OPTIMIZE, "POLICY|FILTER",
	  "make a classic filter shorter, of a policy: as short as can be", cmd_optimize, false },
	{ "eval", FOR_EVAL, "POLICY|FILTER CALL [ARG...]",
	  "run a seccomp filter on a system call, or on a table of them", cmd_eval, true },
	{ "bench", FOR_BENCH, "FILE", "time the model and the running kernel in turn (root)",
	  cmd_bench, false },
	{ "lab", FOR_LAB, "FILE...", "verify programs under other rules and compare the counters",
	  cmd_lab, true },
	{ "parity", FOR_PARITY, "FILE...", "compare the model with the running kernel (root)",
	  cmd_parity, true },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void write_help(FILE *out)
{
	fprintf(out,
		"bpfloupe %s: see what the optimizer did to a BPF program, and everything the verifier did with it\n\nusage:\n",
		BPFLOUPE_VERSION);
	for (size_t i = 0; i < COMMANDS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "bpfloupe %s%s%s",
			 commands[i].name ? commands[i].name : "", commands[i].name ? " " : "",
			 commands[i].synopsis);
		if (strlen(left) > 26)
			fprintf(out, "  %s\n%29s%s\n", left, "", commands[i].what);
		else
			fprintf(out, "  %-26s %s\n", left, commands[i].what);
	}
	fprintf(out, "\nbpfloupe COMMAND --help tells a command's options. Of the explorer:\n");
	args_write_options(out, FOR_EXPLORE, NULL, false);
	fprintf(out,
		"\nFILE: an ELF object, an executable with BPF objects inside, assembler text (.bpfasm), a\n"
		"classic filter (sock_filter bytes, tcpdump -ddd text, C initializers), a seccomp policy (OCI\n"
		"or Docker JSON, Firecracker JSON, minijail text), or, for the explorer and stat, a verifier\n"
		"log as the kernel or libbpf printed it; - is standard input.\n"
		"Exit status: 0 accepted or done, 1 rejected or different, 2 usage or unreadable input, 3 not judged.\n");
}

static void write_command_help(FILE *out, const struct command *command)
{
	fprintf(out, "usage: bpfloupe %s%s%s\n%s\n\noptions:\n", command->name ? command->name : "",
		command->name ? " " : "", command->synopsis, command->what);
	args_write_options(out, command->id, command->name, false);
}

/* Source of the man page's generated sections; the build joins them with the prose. */
static int write_man(FILE *out)
{
	fprintf(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < COMMANDS; i++) {
		fprintf(out, ".TP\n.B bpfloupe%s%s ", commands[i].name ? " " : "",
			commands[i].name ? commands[i].name : "");
		roff_put(out, commands[i].synopsis);
		fputc('\n', out);
		roff_put(out, commands[i].what);
		fputc('\n', out);
	}
	fprintf(out, ".SH OPTIONS\n");
	args_write_options(out, 0, NULL, true);
	tui_keys_write(out, TUI_KEYS_MAN);
	return STATUS_OK;
}

/* What bash offers after each command; the build installs it. */
static int write_bash_completion(FILE *out)
{
	fprintf(out, "# bash completion for bpfloupe\n_bpfloupe()\n{\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
		     "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 1; i < COMMANDS; i++) {
		fprintf(out, "\t%s) words='", commands[i].name);
		args_write_names(out, commands[i].id);
		fprintf(out, "' ;;\n");
	}
	fprintf(out, "\t*) words='");
	args_write_names(out, FOR_EXPLORE);
	fprintf(out, "' ;;\n\tesac\n"
		     "\t[[ $cur == -* ]] || words=\n"
		     "\t[[ $cur == -* || $COMP_CWORD -gt 1 ]] || words='");
	for (size_t i = 1; i < COMMANDS; i++)
		fprintf(out, "%s%s", i > 1 ? " " : "", commands[i].name);
	fprintf(out, "'\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		     "\t[[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n}\n"
		     "complete -o filenames -F _bpfloupe bpfloupe\n");
	return STATUS_OK;
}

static const struct command *find_command(int *argc, char ***argv)
{
	for (size_t i = 1; *argc > 0 && i < COMMANDS; i++) {
		if (!strcmp((*argv)[0], commands[i].name)) {
			(*argc)--;
			(*argv)++;
			return &commands[i];
		}
	}
	return &commands[0];
}

static int run(int argc, char **argv)
{
	const struct command *command;
	struct args args;
	int err;

	if (argc == 1 && !strcmp(argv[0], "--man-sections"))
		return write_man(stdout);
	if (argc == 1 && !strcmp(argv[0], "--bash-completion"))
		return write_bash_completion(stdout);
	command = find_command(&argc, &argv);
	err = args_parse(&args, command->id, command->name ? command->name : "bpfloupe", argc,
			 argv);
	if (err)
		return err;
	if (args.help) {
		if (command->name)
			write_command_help(stdout, command);
		else
			write_help(stdout);
		return STATUS_OK;
	}
	if (args.version) {
		printf("bpfloupe %s (model: Linux 6.18.44, x86-64)\n", BPFLOUPE_VERSION);
		return STATUS_OK;
	}
	if (args.pid) {
		err = pid_input_expand(&args, command->id == FOR_EXPLORE);
		if (err)
			return err;
	}
	if (!args.file_cnt && !args.generate && !args.lessons) {
		if (command->name)
			return complain_text("%s needs a file; see bpfloupe %s --help",
					     command->name, command->name);
		write_help(stderr);
		return STATUS_USAGE;
	}
	/* a command that is spelled wrong reads as a file */
	if (!command->name && args.file_cnt && !strpbrk(args.files[0], "./:-") &&
	    access(args.files[0], F_OK))
		return complain_text(
			"there is no command '%s', nor such a file; see bpfloupe --help",
			args.files[0]);
	if (args.file_cnt && args.generate)
		return complain_text(
			"--generate compares random programs instead of files; leave out %s",
			args.files[0]);
	if (args.file_cnt > 1 && !command->many)
		return complain_text("%s takes one file, not %u", command->name, args.file_cnt);
	if (command->name)
		out_guard();
	return command->run(&args);
}

int main(int argc, char **argv)
{
	out_reserve();
	setlocale(LC_ALL, "");
	return out_finish(run(argc - 1, argv + 1));
}
