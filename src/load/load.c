// SPDX-License-Identifier: GPL-2.0-only
/* Dispatch by content: what is this file, and who makes images of it? */
#include "bpfloupe/load.h"

#include "bpfloupe/asm.h"
#include "load/child.h"
#include "load/embedded.h"
#include "load/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_MS = 20000 };

struct file {
	const char *path;
	const uint8_t *data;
	size_t len;
};

struct buffer {
	uint8_t *data;
	size_t len, cap;
};

struct job {
	struct loupe_load_opts opts;
	struct file file;
	char helper[4096];
	int64_t deadline;
};

/* Makes room for another read, with a byte to spare so that the end of the file is seen. */
static int grow(struct buffer *buf, size_t hint)
{
	size_t wanted = buf->cap ? buf->cap * 2 : hint + 1;
	uint8_t *grown;

	if (buf->len < buf->cap)
		return 0;
	if (buf->cap > WIRE_MAX_OBJECT)
		return -EFBIG;
	grown = realloc(buf->data, wanted);
	if (!grown)
		return -ENOMEM;
	buf->data = grown;
	buf->cap = wanted;
	return 0;
}

/* A pipe's writer may keep us waiting, but not past the deadline. */
static int wait_readable(int fd, int64_t deadline)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int64_t left = deadline - child_now_ms();

	if (left <= 0)
		return -ETIMEDOUT;
	poll(&pfd, 1, left > 60000 ? 60000 : (int)left);
	return 0;
}

static int read_all(struct buffer *buf, int fd, int64_t deadline)
{
	size_t hint = 65536;
	struct stat st;
	ssize_t n = 1;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= WIRE_MAX_OBJECT)
		hint = (size_t)st.st_size;
	while (n) {
		int ret = grow(buf, hint);

		if (ret)
			return ret;
		n = read(fd, buf->data + buf->len, buf->cap - buf->len);
		if (n > 0)
			buf->len += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			ret = wait_readable(fd, deadline);
		else if (n < 0 && errno != EINTR)
			ret = -errno;
		if (ret)
			return ret;
	}
	return 0;
}

/* *own is the caller's to free, also after an error. */
static int read_file(struct file *file, uint8_t **own, int64_t deadline, struct loupe_error *err)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret;
	struct buffer buf = { 0 };

	if (fd < 0)
		return loupe_error_set(err, -errno, "cannot open: %s", strerror(errno));
	ret = read_all(&buf, fd, deadline);
	close(fd);
	*own = buf.data;
	file->data = buf.data;
	file->len = buf.len;
	if (ret == -EFBIG)
		return loupe_error_set(err, ret, "larger than %d MiB", WIRE_MAX_OBJECT >> 20);
	return ret ? loupe_error_set(err, ret, "cannot read: %s", strerror(-ret)) : 0;
}

static bool is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int loupe_load_helper(const struct loupe_load_opts *opts, char *buf, size_t size)
{
	/* From the running program's folder: a program or a test of the build tree, then an
	 * installation. */
	static const char *const beside[] = {
		"../src/load/bpfloupe-load",
		"../../src/load/bpfloupe-load",
		"../libexec/bpfloupe-load",
	};
	const char *env = getenv("BPFLOUPE_LOAD_HELPER");
	char exe[2048], *slash;
	ssize_t n;

	if (opts && opts->helper)
		env = opts->helper;
	if (env && *env) {
		snprintf(buf, size, "%s", env);
		return is_executable(buf) ? 0 : -ENOENT;
	}
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	slash = strrchr(exe, '/');
	if (slash) {
		slash[1] = '\0';
		for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
			snprintf(buf, size, "%s%s", exe, beside[i]);
			if (is_executable(buf))
				return 0;
		}
	}
	snprintf(buf, size, "%s", LOUPE_LOAD_HELPER);
	return is_executable(buf) ? 0 : -ENOENT;
}

/* What a user chose must be there: libbpf would take its absence for a kernel without it. */
static int check_choice(const char *path, const char *what, struct loupe_error *err)
{
	ssize_t n;
	char byte;
	int fd;

	if (!path || strcmp(path, "none") == 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return loupe_error_set(err, -errno, "cannot open the %s %s: %s", what, path,
				       strerror(errno));
	n = read(fd, &byte, 1);
	if (n < 0)
		loupe_error_set(err, -errno, "cannot read the %s %s: %s", what, path,
				strerror(errno));
	else if (!n)
		loupe_error_set(err, -EINVAL, "the %s %s is empty", what, path);
	close(fd);
	return n < 0 ? -EIO : n ? 0 : -EINVAL;
}

static int check_choices(const struct loupe_load_opts *opts, struct loupe_error *err)
{
	int ret = check_choice(opts->kernel_btf, "kernel BTF", err);

	if (!ret)
		ret = check_choice(opts->kconfig, "kernel configuration", err);
	if (!ret)
		ret = check_choice(opts->kallsyms, "kernel symbols", err);
	return ret;
}

/* Gives the entries from first on their file and object, and their images the same and the names.
 */
static int name_entries(const char *path, const char *object, struct loupe_program_list *list,
			uint32_t first)
{
	bool failed = false;

	for (uint32_t i = first; i < list->cnt; i++) {
		struct loupe_program *prog = &list->progs[i];
		struct loupe_image *image = prog->image;

		if (object)
			failed |= !(prog->object = strdup(object));
		if (!image)
			continue;
		failed |= !(image->file = strdup(path));
		failed |= !(image->name = strdup(prog->name));
		if (object)
			failed |= !(image->object = strdup(object));
		if (prog->section)
			failed |= !(image->section = strdup(prog->section));
	}
	return failed ? -ENOMEM : 0;
}

/* libbpf takes a file's name up to the first dot, and makes the names of .data and .rodata maps of
 * it. */
static char *object_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return strndup(base, strcspn(base, "."));
}

static int find_helper(struct job *job, struct loupe_error *err)
{
	if (!loupe_load_helper(&job->opts, job->helper, sizeof(job->helper)))
		return 0;
	return loupe_error_set(
		err, -ENOEXEC,
		"the loader program %s is missing; BPFLOUPE_LOAD_HELPER can name another",
		job->helper);
}

static int load_object(struct job *job, const uint8_t *data, size_t len, const char *name,
		       const char *embedded, struct loupe_program_list *out,
		       struct loupe_error *err)
{
	const struct loupe_load_opts *opts = &job->opts;
	uint32_t first = out->cnt;
	struct wire_request request = {
		.object_name = (char *)name,
		.prog_name = (char *)opts->prog_name,
		.kernel_btf = (char *)opts->kernel_btf,
		.kconfig = (char *)opts->kconfig,
		.kallsyms = (char *)opts->kallsyms,
		.kernel_version = opts->kernel_version,
		.cpus = opts->cpus,
		.prog_type = opts->prog_type,
		.timeout_ms = opts->timeout_ms,
		.maps_as_is = opts->maps_as_is,
		.list_only = opts->list_only,
		.object = data,
		.object_len = (uint32_t)len,
	};
	int ret;

	if (len > WIRE_MAX_OBJECT)
		return loupe_error_set(err, -EFBIG, "larger than %d MiB", WIRE_MAX_OBJECT >> 20);
	ret = child_load(job->helper, &request, job->deadline, out, err);
	if (ret)
		return ret;
	ret = name_entries(job->file.path, embedded, out, first);
	return ret ? loupe_error_set(err, ret, "out of memory") : 0;
}

/* An embedded object that is refused as a whole is an entry with that reason: the others may load.
 */
static int add_refused(const char *object, const struct loupe_error *why,
		       struct loupe_program_list *list)
{
	struct loupe_program prog = {
		.name = strdup(object),
		.object = strdup(object),
		.reason = strdup(why->message),
	};

	if (!prog.name || !prog.object || !prog.reason || child_reserve(list)) {
		loupe_program_finish(&prog);
		return -ENOMEM;
	}
	list->progs[list->cnt++] = prog;
	return 0;
}

/* What a file is that holds no BPF object: often it was compiled for the wrong machine. */
static int refuse_file(const struct file *file, struct loupe_error *err)
{
	uint32_t machine = elf_object_machine(file->data, file->len);

	if (machine)
		return loupe_error_set(
			err, -EINVAL,
			"an object for machine %u, not for BPF: compile it with -target bpf",
			machine);
	return loupe_error_set(err, -EINVAL,
			       "neither a BPF object nor an executable with one inside it");
}

static int load_embedded(struct job *job, struct loupe_program_list *out, struct loupe_error *err)
{
	struct embedded_object *objects = calloc(EMBEDDED_MAX, sizeof(*objects));
	struct loupe_error last = { .offset = -1 };
	size_t cnt, refused = 0;
	int ret;

	if (!objects)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	cnt = embedded_find(job->file.data, job->file.len, objects, EMBEDDED_MAX);
	ret = cnt ? find_helper(job, err) : refuse_file(&job->file, err);
	for (size_t i = 0; i < cnt && !ret; i++) {
		const struct embedded_object *object = &objects[i];
		struct loupe_error why = { .offset = -1 };

		ret = load_object(job, job->file.data + object->offset, object->len, object->name,
				  object->name, out, &why);
		if (ret == -ENOENT || ret == -EINVAL || ret == -ETIMEDOUT) {
			/* No program of the name asked for in this one: the next may have it. */
			if (!(ret == -ENOENT && job->opts.prog_name))
				ret = add_refused(object->name, &why, out);
			else
				ret = 0;
			refused++;
			last = why;
		} else if (ret && err) {
			*err = why;
		}
	}
	if (!ret && refused && refused == cnt) {
		ret = job->opts.prog_name && !out->cnt ? -ENOENT : -EINVAL;
		if (cnt == 1)
			loupe_error_set(err, ret, "%s", last.message);
		else
			loupe_error_set(err, ret, "none of the %zu BPF objects inside it loads: %s",
					cnt, last.message);
	}
	free(objects);
	return ret;
}

/* A .type line is what every assembler text must have; only its name tells when a mistake hides it.
 */
static bool is_assembler(const struct file *file)
{
	static const char directive[] = ".type", suffix[] = ".bpfasm";
	const uint8_t *pos = file->data, *end = file->data + file->len;
	size_t path_len = strlen(file->path);

	if (path_len >= sizeof(suffix) - 1 &&
	    strcmp(file->path + path_len - (sizeof(suffix) - 1), suffix) == 0)
		return true;
	if (memchr(file->data, '\0', file->len))
		return false;
	while ((pos = memmem(pos, (size_t)(end - pos), directive, sizeof(directive) - 1))) {
		const uint8_t *line = pos;

		while (line > file->data && (line[-1] == ' ' || line[-1] == '\t'))
			line--;
		if (line == file->data || line[-1] == '\n')
			return true;
		pos++;
	}
	return false;
}

static void drop_program(struct loupe_program_list *list, uint32_t index)
{
	loupe_program_finish(&list->progs[index]);
	memmove(&list->progs[index], &list->progs[index + 1],
		(--list->cnt - index) * sizeof(*list->progs));
}

/* Possible CPUs of this machine, as its kernel numbers them; 0 if it does not say. */
static uint32_t possible_cpus(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	char text[256] = "", *last;

	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	last = text + strcspn(text, "\n");
	*last = '\0';
	while (last > text && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return *last ? (uint32_t)strtoul(last, NULL, 10) + 1 : 0;
}

static int load_assembler(struct job *job, struct loupe_program_list *out, struct loupe_error *err)
{
	const char *wanted = job->opts.prog_name;
	int ret = loupe_asm_load(job->file.path, (const char *)job->file.data, job->file.len, out,
				 err);

	for (uint32_t i = out->cnt; !ret && i--;) {
		struct loupe_program *prog = &out->progs[i];

		prog->image->host.cpus = job->opts.cpus ? job->opts.cpus : possible_cpus();
		if (wanted && strcmp(wanted, prog->name) != 0 &&
		    !(prog->section && strcmp(wanted, prog->section) == 0)) {
			drop_program(out, i);
		} else if (job->opts.list_only) {
			loupe_image_destroy(prog->image);
			prog->image = NULL;
		}
	}
	if (!ret && !out->cnt)
		ret = loupe_error_set(err, -ENOENT, "no program or section named %s", wanted);
	return ret;
}

static int dispatch(struct job *job, struct loupe_program_list *out, struct loupe_error *err)
{
	const struct file *file = &job->file;
	char *name;
	int ret;

	if (!file->len)
		return loupe_error_set(err, -EINVAL, "the file is empty");
	switch (elf_kind(file->data, file->len)) {
	case ELF_BPF:
		ret = find_helper(job, err);
		if (ret)
			return ret;
		name = object_name(file->path);
		ret = name ? load_object(job, file->data, file->len, name, NULL, out, err)
			   : loupe_error_set(err, -ENOMEM, "out of memory");
		free(name);
		return ret;
	case ELF_OTHER:
		return load_embedded(job, out, err);
	case ELF_NOT:
		break;
	}
	if (is_assembler(file))
		return load_assembler(job, out, err);
	return loupe_error_set(err, -EINVAL,
			       "neither a BPF object, an executable with one inside it, BPF "
			       "assembler text (which has a .type line), a verifier log, nor a "
			       "classic filter");
}

/* Objects got their attach targets from libbpf; assembler text names them. */
static int give_types(const struct job *job, struct loupe_program_list *list)
{
	int ret = target_give_types(list, job->opts.kernel_btf);

	for (uint32_t i = 0; !ret && i < list->cnt; i++)
		if (list->progs[i].image)
			ret = target_resolve(list->progs[i].image, job->opts.kernel_btf);
	return ret;
}

/* Loads data, or what path holds if there is none. */
static int load(const char *path, const uint8_t *data, size_t len,
		const struct loupe_load_opts *opts, struct loupe_program_list *out,
		struct loupe_error *err)
{
	struct job *job = calloc(1, sizeof(*job));
	uint8_t *own = NULL;
	int ret = 0;

	*out = (struct loupe_program_list){ 0 };
	if (!job)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	/* A caller built against an older header has a shorter struct. */
	if (opts)
		memcpy(&job->opts, opts, opts->size < sizeof(*opts) ? opts->size : sizeof(*opts));
	if (!job->opts.timeout_ms)
		job->opts.timeout_ms = DEFAULT_TIMEOUT_MS;
	job->deadline = child_now_ms() + job->opts.timeout_ms;
	job->file = (struct file){ .path = path, .data = data, .len = len };
	if (!data)
		ret = read_file(&job->file, &own, job->deadline, err);
	if (!ret)
		ret = check_choices(&job->opts, err);
	if (!ret)
		ret = dispatch(job, out, err);
	if (!ret && !out->cnt)
		ret = loupe_error_set(err, -ENOENT, "the file holds no BPF program");
	if (!ret && give_types(job, out))
		ret = loupe_error_set(err, -ENOMEM, "out of memory");
	if (ret) {
		loupe_program_list_finish(out);
		if (err && !err->file[0])
			snprintf(err->file, sizeof(err->file), "%s", path);
	}
	free(own);
	free(job);
	return ret;
}

int loupe_load_file(const char *path, const struct loupe_load_opts *opts,
		    struct loupe_program_list *out, struct loupe_error *err)
{
	return load(path, NULL, 0, opts, out, err);
}

int loupe_load_bytes(const char *path, const void *data, size_t len,
		     const struct loupe_load_opts *opts, struct loupe_program_list *out,
		     struct loupe_error *err)
{
	return load(path, data, len, opts, out, err);
}
