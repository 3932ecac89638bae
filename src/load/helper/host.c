// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/host.h"

#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

enum source { SRC_BTF, SRC_KCONFIG, SRC_KALLSYMS, SRC_CPUS, SRC_VERSION, SRC_CNT };

/* Where a kernel's facts are found, as path prefixes. Only the asked one stands for a choice. */
static const struct place {
	const char *prefix;
	enum source source;
	bool asked;
} places[] = {
	{ "/sys/kernel/btf/vmlinux", SRC_BTF, true },
	{ "/sys/kernel/btf/", SRC_BTF, false },
	{ "/boot/vmlinux", SRC_BTF, false },
	{ "/lib/modules/", SRC_BTF, false },
	{ "/usr/lib/modules/", SRC_BTF, false },
	{ "/usr/lib/debug/", SRC_BTF, false },
	{ "/proc/config.gz", SRC_KCONFIG, true },
	{ "/boot/config-", SRC_KCONFIG, false },
	{ "/proc/kallsyms", SRC_KALLSYMS, true },
	{ "/sys/devices/system/cpu/possible", SRC_CPUS, true },
	{ "/proc/version_signature", SRC_VERSION, false },
};

static struct {
	const char *choice[SRC_CNT]; /* NULL: the host's; "none": hidden */
	char *used[SRC_CNT];	     /* path last opened */
	uint32_t version;	     /* 0: the host's */
	uint32_t cpus;		     /* 0: the host's */
	char types[32];		     /* file that stands for the kernel's BTF, "" if none */
	int types_fd;
} host;

static void *next_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (!symbol)
		_exit(126);
	return symbol;
}

/* A function of the library behind ours, looked up once. */
#define NEXT(ret, name, ...)                    \
	static ret (*next_##name)(__VA_ARGS__); \
	if (!next_##name)                       \
	next_##name = (ret(*)(__VA_ARGS__))next_symbol(#name)

static const struct place *find_place(const char *path)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strncmp(path, places[i].prefix, strlen(places[i].prefix)) == 0)
			return &places[i];
	}
	return NULL;
}

/* The path to open in place of path: itself, the choice, or NULL with errno if it is hidden. */
static const char *answer(const char *path)
{
	const struct place *place = find_place(path);
	const char *choice = place ? host.choice[place->source] : NULL;

	if (place && place->source == SRC_BTF && host.types[0])
		choice = host.types;

	if (!choice)
		return path;
	if (place->asked && strcmp(choice, "none") != 0)
		return choice;
	errno = ENOENT;
	return NULL;
}

static void note(const char *path, const char *opened)
{
	const struct place *place = find_place(path);
	int saved = errno;

	if (place && opened != host.types) {
		free(host.used[place->source]);
		host.used[place->source] = strdup(opened);
	}
	errno = saved;
}

/* The file that lists the possible CPUs, when their number was chosen. */
static int open_cpus(void)
{
	char text[32];
	int fd = memfd_create("possible", MFD_CLOEXEC), len;

	if (fd < 0)
		return -1;
	len = snprintf(text, sizeof(text), host.cpus > 1 ? "0-%u\n" : "%u\n", host.cpus - 1);
	if (pwrite(fd, text, (size_t)len, 0) != len) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool is_chosen_cpus(const char *path)
{
	const struct place *place = host.cpus ? find_place(path) : NULL;

	return place && place->source == SRC_CPUS;
}

static int open_path(const char *path, int flags, mode_t mode)
{
	NEXT(int, open, const char *, int, ...);
	const char *opened = answer(path);
	int fd;

	if (is_chosen_cpus(path))
		return open_cpus();
	if (!opened)
		return -1;
	fd = next_open(opened, flags, mode);
	if (fd >= 0)
		note(path, opened);
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

/*
 * The C library's names are given as assembler names: with 64-bit file offsets the headers make two
 * of them one.
 */
#define DEFINE_OPEN(function, symbol)                                   \
	int function(const char *path, int flags, ...) __asm__(symbol); \
	int function(const char *path, int flags, ...)                  \
	{                                                               \
		va_list args;                                           \
		mode_t mode;                                            \
                                                                        \
		va_start(args, flags);                                  \
		mode = mode_of(flags, args);                            \
		va_end(args);                                           \
		return open_path(path, flags, mode);                    \
	}

DEFINE_OPEN(host_open, "open")
DEFINE_OPEN(host_open64, "open64")
DEFINE_OPEN(host_open_checked, "__open_2")
DEFINE_OPEN(host_open64_checked, "__open64_2")

/* The stream functions of the C library open by themselves, so they are answered apart. */
static FILE *fopen_path(const char *path, const char *mode)
{
	NEXT(FILE *, fopen, const char *, const char *);
	const char *opened = answer(path);
	FILE *stream;

	if (is_chosen_cpus(path)) {
		int fd = open_cpus();

		return fd < 0 ? NULL : fdopen(fd, "r");
	}
	if (!opened)
		return NULL;
	stream = next_fopen(opened, mode);
	if (stream)
		note(path, opened);
	return stream;
}

#define DEFINE_FOPEN(function, symbol)                                      \
	FILE *function(const char *path, const char *mode) __asm__(symbol); \
	FILE *function(const char *path, const char *mode)                  \
	{                                                                   \
		return fopen_path(path, mode);                              \
	}

DEFINE_FOPEN(host_fopen, "fopen")
DEFINE_FOPEN(host_fopen64, "fopen64")

static gzFile gzopen_path(const char *path, const char *mode)
{
	NEXT(gzFile, gzopen, const char *, const char *);
	const char *opened = answer(path);
	gzFile file = opened ? next_gzopen(opened, mode) : NULL;

	if (file)
		note(path, opened);
	return file;
}

gzFile host_gzopen64(const char *path, const char *mode) __asm__("gzopen64");
gzFile host_gzopen64(const char *path, const char *mode)
{
	return gzopen_path(path, mode);
}

int faccessat(int dirfd, const char *path, int mode, int flags)
{
	NEXT(int, faccessat, int, const char *, int, int);
	const char *asked = answer(path);

	if (is_chosen_cpus(path))
		return 0;
	return asked ? next_faccessat(dirfd, asked, mode, flags) : -1;
}

int access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, 0);
}

static uint32_t version_of_release(const char *release)
{
	unsigned int major, minor, patch = 0;

	if (sscanf(release, "%u.%u.%u", &major, &minor, &patch) < 2)
		return 0;
	return KERNEL_VERSION(major, minor, patch > 255 ? 255 : patch);
}

int uname(struct utsname *name)
{
	NEXT(int, uname, struct utsname *);
	int ret = next_uname(name);

	if (ret || !host.version)
		return ret;
	snprintf(name->release, sizeof(name->release), "%u.%u.%u", host.version >> 16,
		 host.version >> 8 & 255, host.version & 255);
	/* Debian keeps the true version here, and libbpf reads it. */
	name->version[0] = '\0';
	return 0;
}

/* "# Linux/x86 6.12.3 Kernel Configuration" among the first lines. */
static uint32_t version_of_kconfig(const char *path)
{
	NEXT(gzFile, gzopen, const char *, const char *);
	gzFile file = next_gzopen(path, "r");
	uint32_t version = 0;
	char line[256];

	if (!file)
		return 0;
	for (int i = 0; i < 8 && !version && gzgets(file, line, sizeof(line)); i++) {
		const char *at = strstr(line, "Kernel Configuration") ? strchr(line, '/') : NULL;

		at = at ? strchr(at, ' ') : NULL;
		if (at)
			version = version_of_release(at + 1);
	}
	gzclose(file);
	return version;
}

void host_setup(const struct wire_request *request)
{
	host.choice[SRC_BTF] = request->kernel_btf;
	host.choice[SRC_KCONFIG] = request->kconfig;
	host.choice[SRC_KALLSYMS] = request->kallsyms;
	host.cpus = request->cpus;
	host.version = request->kernel_version;
	if (!host.version && request->kconfig && strcmp(request->kconfig, "none") != 0)
		host.version = version_of_kconfig(request->kconfig);
	if (host.version)
		host.choice[SRC_VERSION] = "none";
}

int host_show_types(const void *btf, uint32_t size)
{
	if (host.types[0])
		close(host.types_fd);
	host.types[0] = '\0';
	if (!btf)
		return 0;
	host.types_fd = memfd_create("types", MFD_CLOEXEC);
	if (host.types_fd < 0)
		return -errno;
	if (pwrite(host.types_fd, btf, size, 0) != (ssize_t)size) {
		close(host.types_fd);
		return -EIO;
	}
	snprintf(host.types, sizeof(host.types), "/proc/self/fd/%d", host.types_fd);
	return 0;
}

void host_begin(void)
{
	for (int i = 0; i < SRC_CNT; i++) {
		free(host.used[i]);
		host.used[i] = NULL;
	}
}

static int copy(char **out, const char *str)
{
	*out = str ? strdup(str) : NULL;
	return str && !*out ? -ENOMEM : 0;
}

/* As libbpf reads it: Debian's true version is in the version string. */
static uint32_t host_version(void)
{
	struct utsname name;
	const char *debian;

	if (uname(&name))
		return 0;
	debian = strstr(name.version, "Debian ");
	if (debian && version_of_release(debian + strlen("Debian ")))
		return version_of_release(debian + strlen("Debian "));
	return version_of_release(name.release);
}

int host_describe(struct loupe_host *out)
{
	int cpus = libbpf_num_possible_cpus();

	out->kernel_version = host_version();
	out->cpus = cpus > 0 ? (uint32_t)cpus : 0;
	if (copy(&out->kernel_btf, host.used[SRC_BTF]) ||
	    copy(&out->kconfig, host.used[SRC_KCONFIG]) ||
	    copy(&out->kallsyms, host.used[SRC_KALLSYMS]))
		return -ENOMEM;
	return 0;
}
