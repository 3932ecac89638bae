// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/object.h"

#include "load/helper/check.h"
#include "load/helper/host.h"
#include "load/helper/kernel.h"
#include "load/helper/reply.h"
#include "load/helper/sections.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARNINGS = 8 };

/* libbpf's last warnings, a line each. */
static struct {
	char line[MAX_WARNINGS][400];
	unsigned int cnt;
} warnings;

/* Its address is what makes the one load that matters recognisable. */
static char log_buf[64];

static int print(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *line, *end;

	if (level != LIBBPF_WARN)
		return 0;
	if (warnings.cnt == MAX_WARNINGS) {
		memmove(warnings.line[0], warnings.line[1],
			sizeof(warnings.line) - sizeof(warnings.line[0]));
		warnings.cnt--;
	}
	line = warnings.line[warnings.cnt++];
	vsnprintf(line, sizeof(warnings.line[0]), fmt, args);
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	if (strncmp(line, "libbpf: ", 8) == 0)
		memmove(line, line + 8, strlen(line + 8) + 1);
	return 0;
}

/* Lines by which libbpf's callers repeat, on the way out, that something failed. */
static bool is_echo(const char *line)
{
	static const char *const echoes[] = {
		"failed to load object",
		"failed to load BPF skeleton",
		": failed to load: ",
		": failed to prepare load attributes",
		"failed to perform CO-RE relocations: ",
	};

	for (size_t i = 0; i < sizeof(echoes) / sizeof(*echoes); i++) {
		if (strstr(line, echoes[i]))
			return true;
	}
	return false;
}

/* The last warning that says something, NULL if there is none. */
static const char *last_warning(void)
{
	for (unsigned int i = warnings.cnt; i--;) {
		if (!is_echo(warnings.line[i]))
			return warnings.line[i];
	}
	return warnings.cnt ? warnings.line[warnings.cnt - 1] : NULL;
}

/* Types whose max_entries means something else than a number of entries, or that need none. */
static bool is_exempt(enum bpf_map_type type)
{
	switch ((int)type) {
	case 11: /* lpm_trie */
	case 19: /* cgroup_storage */
	case 21: /* percpu_cgroup_storage */
	case 24: /* sk_storage */
	case 27: /* ringbuf */
	case 28: /* inode_storage */
	case 29: /* task_storage */
	case 31: /* user_ringbuf */
	case 32: /* cgrp_storage */
	case 33: /* arena */
		return true;
	default:
		return false;
	}
}

/* A pin would make the map another program's; a tool sets 0 or absurd numbers of entries before it
 * loads. */
static void prepare_maps(struct bpf_object *obj, bool as_is)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		uint32_t entries = bpf_map__max_entries(map);

		bpf_map__set_pin_path(map, NULL);
		if (as_is || is_exempt(bpf_map__type(map)))
			continue;
		if (!entries)
			bpf_map__set_max_entries(map, 1);
		else if (entries > 1000000)
			bpf_map__set_max_entries(map, 1000);
	}
}

static struct bpf_object *open_object(const struct wire_request *request)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = request->object_name);

	return bpf_object__open_mem(request->object, request->object_len, &opts);
}

static void set_type(struct bpf_program *prog, const struct wire_request *request)
{
	const struct section_type *row;

	if (bpf_program__type(prog) != BPF_PROG_TYPE_UNSPEC)
		return;
	row = section_find(bpf_program__section_name(prog), false);
	if (!row) {
		bpf_program__set_type(prog, (enum bpf_prog_type)request->prog_type);
		return;
	}
	bpf_program__set_type(prog, (enum bpf_prog_type)row->prog_type);
	bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)row->attach_type);
	if (row->sleepable)
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
}

static bool needs_target(const struct bpf_program *prog)
{
	switch (bpf_program__type(prog)) {
	case BPF_PROG_TYPE_TRACING:
	case BPF_PROG_TYPE_EXT:
	case BPF_PROG_TYPE_LSM:
		return true;
	default:
		return false;
	}
}

/* What follows the slash of a section whose type attaches to a kernel type. */
static char *target_of(const struct bpf_program *prog)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');

	return needs_target(prog) && slash && slash[1] ? strdup(slash + 1) : NULL;
}

/* How a program is loaded: first as it is, then with less of what this machine may lack. */
struct manner {
	bool unset_target; /* with an attach target that stands for none */
	bool own_types;	   /* with the object's own types in place of the kernel's */
};

struct attempt {
	struct loupe_image *image;
	char reason[400];
	bool needs_target, lacks_types;
};

/* Types that stand for the kernel's give no id of anything in the kernel. */
static bool names_kernel_types(const struct loupe_image *image)
{
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		const struct loupe_insn *insn = &image->insns[i];

		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
			return true;
		if (insn->code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (insn->src_reg == BPF_PSEUDO_BTF_ID)
			return true;
		i++;
	}
	return false;
}

static int apply(struct bpf_object *obj, struct bpf_program *prog, const struct manner *manner)
{
	const struct btf *btf = manner->own_types ? bpf_object__btf(obj) : NULL;
	const void *data = NULL;
	uint32_t size = 0;
	int fd, ret;

	if (btf)
		data = btf__raw_data(btf, &size);
	ret = host_show_types(data, size);
	if (ret || !manner->unset_target)
		return ret;
	fd = kernel_target_fd();
	return fd < 0 ? fd : bpf_program__set_attach_target(prog, fd, KERNEL_TARGET_FUNC);
}

/* What a user can do about some of libbpf's reasons. */
static const struct {
	const char *words, *advice;
} advices[] = {
	{ "loading vmlinux BTF", " (it needs a kernel's types: choose a file with --btf)" },
	{ "system Kconfig", " (it needs a kernel's configuration: choose a file with --kconfig)" },
};

static void explain(struct attempt *out, int error)
{
	const char *warning = last_warning(), *advice = "";
	char words[128];

	if (!warning) {
		libbpf_strerror(error < 0 ? error : -EINVAL, words, sizeof(words));
		warning = words;
	}
	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++) {
		if (strstr(warning, advices[i].words))
			advice = advices[i].advice;
	}
	out->lacks_types = advice == advices[0].advice;
	snprintf(out->reason, sizeof(out->reason), "%s%s", warning, advice);
}

/* Loads the index-th program alone, from a fresh open of the object. */
static void attempt(const struct wire_request *request, uint32_t index, const struct manner *manner,
		    struct attempt *out)
{
	struct bpf_program *prog, *this = NULL;
	struct bpf_object *obj;
	uint32_t i = 0;
	int error, ret;

	*out = (struct attempt){ 0 };
	warnings.cnt = 0;
	kernel_begin(log_buf);
	host_begin();
	obj = open_object(request);
	if (!obj) {
		explain(out, -errno);
		return;
	}
	bpf_object__for_each_program(prog, obj)
	{
		bpf_program__set_autoload(prog, i == index);
		if (i++ == index)
			this = prog;
	}
	prepare_maps(obj, request->maps_as_is);
	set_type(this, request);
	bpf_program__set_log_buf(this, log_buf, sizeof(log_buf));
	bpf_program__set_log_level(this, 1);
	out->needs_target = needs_target(this);
	ret = apply(obj, this, manner);
	if (!ret)
		ret = bpf_object__load(obj);
	out->image = kernel_take(&error);
	if (!out->image) {
		explain(out, error ? error : ret);
	} else if (manner->own_types && names_kernel_types(out->image)) {
		loupe_image_destroy(out->image);
		out->image = NULL;
	} else {
		out->image->attach_target = target_of(this);
		out->image->own_types = manner->own_types;
	}
	bpf_object__close(obj);
	host_show_types(NULL, 0);
}

static int describe(struct loupe_image *image)
{
	char loader[64];

	snprintf(loader, sizeof(loader), "libbpf %s", libbpf_version_string() + 1);
	image->host.loader = strdup(loader);
	return image->host.loader ? host_describe(&image->host) : -ENOMEM;
}

/*
 * A program whose target only its tool's user chooses, or whose target or types this kernel lacks,
 * still has instructions, maps and types to show. Its image says what is missing, and its reason
 * stays.
 */
static void load_one(const struct wire_request *request, uint32_t index, const char *name,
		     const char *section)
{
	struct attempt first, later;
	struct manner manner = { 0 };

	attempt(request, index, &manner, &first);
	if (!first.image && first.needs_target) {
		manner.unset_target = true;
		attempt(request, index, &manner, &later);
		first.image = later.image;
		first.lacks_types = first.lacks_types || later.lacks_types;
	}
	if (!first.image && first.lacks_types) {
		manner.own_types = true;
		attempt(request, index, &manner, &later);
		first.image = later.image;
	}
	if (first.image && !first.reason[0])
		check_maps(first.image, first.reason, sizeof(first.reason));
	if (first.image && describe(first.image)) {
		loupe_image_destroy(first.image);
		first.image = NULL;
		snprintf(first.reason, sizeof(first.reason), "out of memory");
	}
	reply_program(name, section, first.reason[0] ? first.reason : NULL, first.image);
}

struct names {
	char *name, *section;
};

void object_load(const struct wire_request *request)
{
	struct bpf_program *prog;
	struct bpf_object *obj;
	struct names *names = NULL;
	uint32_t cnt = 0, wanted = 0;
	struct attempt opened = { 0 };

	libbpf_set_print(print);
	obj = open_object(request);
	if (!obj) {
		explain(&opened, -errno);
		reply_error(-EINVAL, "libbpf refuses the object: %s", opened.reason);
	}
	bpf_object__for_each_program(prog, obj)
	{
		struct names *grown = realloc(names, (cnt + 1) * sizeof(*names));

		if (!grown)
			reply_error(-ENOMEM, "out of memory");
		names = grown;
		names[cnt].name = strdup(bpf_program__name(prog));
		names[cnt].section = strdup(bpf_program__section_name(prog));
		if (!names[cnt].name || !names[cnt].section)
			reply_error(-ENOMEM, "out of memory");
		cnt++;
	}
	bpf_object__close(obj);
	for (uint32_t i = 0; i < cnt; i++) {
		if (!reply_wanted(request, names[i].name, names[i].section))
			continue;
		wanted++;
		if (request->list_only)
			reply_program(names[i].name, names[i].section, NULL, NULL);
		else
			load_one(request, i, names[i].name, names[i].section);
	}
	if (cnt && !wanted)
		reply_error(-ENOENT, "no program or section named %s; the first of %u is %s",
			    request->prog_name, cnt, names[0].name);
	reply_end();
}
