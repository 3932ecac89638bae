/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading: from a file to images. Foreign bytes are only parsed by a short-lived helper process
 * (and by the assembler), so a hostile file costs an error, never the caller.
 */
#ifndef BPFLOUPE_LOAD_H
#define BPFLOUPE_LOAD_H

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a load may depend on. Set size to sizeof(struct loupe_load_opts); everything else may be
 * zero. */
struct loupe_load_opts {
	size_t size;
	const char *prog_name; /* only programs of this name (or of this ELF section), NULL: all */
	const char
		*kernel_btf; /* kernel's BTF, raw or a vmlinux; NULL: the host's; "none": hidden */
	const char *
		kconfig; /* kernel configuration, plain or gzip; NULL: the host's; "none": hidden */
	const char
		*kallsyms;  /* kernel symbols as /proc/kallsyms; NULL: the host's; "none": hidden */
	const char *helper; /* path of bpfloupe-load, NULL: found as loupe_load_helper() says */
	uint32_t kernel_version; /* KERNEL_VERSION() to load for; 0: that of the chosen kconfig,
				    else the host's */
	uint32_t cpus;		 /* possible CPUs, 0: the host's */
	uint32_t timeout_ms;	 /* for the whole file, 0: 20,000 */
	uint32_t prog_type; /* BPF_PROG_TYPE_* for sections of unknown name; 0: refused by libbpf,
			       and a tc classifier in objects with an old "maps" section */
	bool maps_as_is;    /* leave 0 and absurd numbers of entries as the object has them */
	bool list_only;	    /* only names and sections; image and reason stay NULL */
};

/**
 * Makes images of every program in a file: a BPF ELF object, an object with an old "maps" section,
 * an executable with BPF objects inside it, or assembler text. The contents decide, not the name.
 * @param path  file to read
 * @param opts  NULL for defaults
 * @param out   filled on success, one entry a program in the file's order; a program that could not
 * be loaded has a reason instead of an image. Empty it with loupe_program_list_finish()
 * @param err   one line on failure
 * @return 0 (out has at least one entry), -EINVAL (not a BPF file, damaged, or it crashed libbpf),
 *         -ENOENT (no such file, or no program of the name asked for), -ENOEXEC (the helper program
 * is missing), -ETIMEDOUT, -EFBIG, -ENOMEM, or what reading the file gave
 */
LOUPE_API int loupe_load_file(const char *path, const struct loupe_load_opts *opts,
			      struct loupe_program_list *out, struct loupe_error *err);

/**
 * The same of a file's bytes that the caller has read, as from a pipe.
 * @param path  what the file is called in errors and images
 * @param data  its contents, only read during the call; not NULL
 * @param len   bytes of them
 */
LOUPE_API int loupe_load_bytes(const char *path, const void *data, size_t len,
			       const struct loupe_load_opts *opts, struct loupe_program_list *out,
			       struct loupe_error *err);

/**
 * Path of the helper program: opts->helper, else $BPFLOUPE_LOAD_HELPER, else the build tree that
 * the running program lies in, else where it was installed.
 * @param opts  NULL for defaults
 * @param buf   filled, always NUL-terminated
 * @return 0, or -ENOENT if no candidate is executable (buf then names the last one tried)
 */
LOUPE_API int loupe_load_helper(const struct loupe_load_opts *opts, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
