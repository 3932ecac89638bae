/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image: exactly what a load hands to the kernel, and what that load depended on. Plain structs;
 * every eBPF input becomes one.
 */
#ifndef BPFLOUPE_IMAGE_H
#define BPFLOUPE_IMAGE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One instruction slot, the layout of the kernel's struct bpf_insn (an ldimm64 takes two). */
struct loupe_insn {
	uint8_t code;
	uint8_t dst_reg : 4;
	uint8_t src_reg : 4;
	int16_t off;
	int32_t imm;
};

struct loupe_func_info {
	uint32_t insn_off; /* insn slot where the function starts */
	uint32_t type_id;  /* BTF_KIND_FUNC in the image's BTF */
};

struct loupe_line_info {
	uint32_t insn_off;	/* first insn slot of the line */
	uint32_t file_name_off; /* into the BTF's strings */
	uint32_t line_off;	/* source text, into the BTF's strings */
	uint32_t line_col;	/* line number << 10 | column */
};

/* A map's definition as BPF_MAP_CREATE got it. */
struct loupe_map {
	char name[16];	 /* as the kernel keeps it: at most 15 characters */
	int32_t fd;	 /* the number by which ldimm64 insns and fd_array name it; image-wide
			    unique, made by the loader (not a file descriptor of any process) */
	uint32_t type;	 /* BPF_MAP_TYPE_* */
	uint32_t key_size, value_size; /* bytes */
	uint32_t max_entries;
	uint32_t map_flags; /* BPF_F_* of map creation */
	uint64_t map_extra;
	int32_t inner_map_fd; /* fd of the template of a map in map, -1 if none */
	uint32_t numa_node;
	uint32_t btf_key_type_id, btf_value_type_id; /* in the image's BTF, 0 if none */
	uint32_t btf_vmlinux_value_type_id;	     /* struct_ops */
	bool frozen;	      /* BPF_MAP_FREEZE was called */
	uint32_t data_len;    /* bytes of data, 0 or value_size */
	uint8_t *data;	      /* value of key 0 as written before the program load (.rodata, .data);
				 NULL if nothing was written, or only zeros: the value is all zero
				 then */
};

/*
 * The types of a kernel, for what attaches by them or reads what they describe. They are read when
 * a verification first needs one, which most never do, and then serve all programs of the load.
 */
struct loupe_kernel_types;

/**
 * Types that a file will give.
 * @param path  raw BTF, or an ELF file with a .BTF section as vmlinux has it; not opened before it
 *              is needed
 * @return NULL when out of memory; give it back with loupe_kernel_types_unref()
 */
LOUPE_API struct loupe_kernel_types *loupe_kernel_types_create(const char *path);

/** One more user of them, who gives them back too. NULL is fine. @return types */
LOUPE_API struct loupe_kernel_types *loupe_kernel_types_ref(struct loupe_kernel_types *types);

/** The file that they were read from; NULL if none was needed so far, or it cannot be read. */
LOUPE_API const char *loupe_kernel_types_used(struct loupe_kernel_types *types);

/** Gives them back; the last user's frees them. NULL is fine. */
LOUPE_API void loupe_kernel_types_unref(struct loupe_kernel_types *types);

/* What the load depended on, so that nothing comes silently from the machine. */
struct loupe_host {
	char *kernel_btf;      /* path of the kernel BTF used to load, NULL if none was needed or
				  found */
	char *kconfig;	       /* path of the kernel configuration used, NULL if none */
	char *kallsyms;	       /* path of the kernel symbols used, NULL if none */
	char *loader;	       /* e.g. "libbpf 1.1.2", "legacy maps loader", "assembler" */
	uint32_t kernel_version; /* KERNEL_VERSION() that LINUX_KERNEL_VERSION externs got */
	uint32_t cpus;	       /* possible CPUs that the loader saw */
};

struct loupe_image {
	char *file;	      /* path of the input */
	char *object;	      /* name of the object inside FILE when it is embedded, else NULL */
	char *section;	      /* ELF section, or NULL */
	char *name;	      /* program's full name */
	char prog_name[16];   /* prog_name of the load: at most 15 characters */

	struct loupe_insn *insns;
	uint32_t insn_cnt;    /* slots */

	uint32_t prog_type;   /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type;
	uint32_t attach_btf_id;
	int32_t attach_btf_fd;	/* 0: vmlinux; else a number of the loader's for module or target
				   program */
	char *attach_target;	/* what the section names as attach target ("tcp_connect"), NULL if
				   nothing */
	bool own_types;		/* no kernel BTF was there, so fields of kernel structs lie where
				   the object's own types have them: relocations would give other
				   instructions on a real kernel */
	bool attach_unset;	/* the load needs an attach target and has none: the section names
				   none, it is not in the kernel BTF, or it is a program that only
				   the tool's user chooses. attach_btf_id is 0 then, and a verdict
				   would be about no load at all */
	uint32_t prog_flags;  /* BPF_F_STRICT_ALIGNMENT, BPF_F_ANY_ALIGNMENT, BPF_F_TEST_RND_HI32,
				 BPF_F_TEST_STATE_FREQ, BPF_F_SLEEPABLE, BPF_F_XDP_HAS_FRAGS,
				 BPF_F_TEST_REG_INVARIANTS ... */
	uint32_t kern_version;
	uint32_t prog_ifindex;
	char *license;

	struct loupe_map *maps;
	uint32_t map_cnt;
	int32_t *fd_array;    /* NULL if the load had none */
	uint32_t fd_array_cnt;

	uint8_t *btf;	      /* raw BTF of the load, NULL if none; line and func info refer to
				 it */
	uint32_t btf_size;
	struct loupe_func_info *func_info;
	uint32_t func_info_cnt;
	struct loupe_line_info *line_info;
	uint32_t line_info_cnt;

	struct loupe_host host;
	struct loupe_kernel_types *kernel_types; /* of the kernel BTF that was chosen; NULL: none
						    was */

	bool from_log; /* made of what a verifier log shows: not all of a program, nothing that
			  could be verified. Types that registers name are those of btf; insns that
			  the log does not show have code 0 */
};

/* One program of an input file: an image, or the reason why there is none. */
struct loupe_program {
	char *name;
	char *section;		   /* NULL if none */
	char *object;		   /* embedded object's name, or NULL */
	struct loupe_image *image; /* NULL if it did not load */
	char *reason;		   /* one line: the loader's words, when image is NULL; else what is
				      not as a real load would have it (attach target unset, own
				      types, a map that the kernel refuses), NULL if nothing */
};

struct loupe_program_list {
	struct loupe_program *progs;
	uint32_t cnt;
};

/** Allocates an empty image (attach_btf_fd 0, everything zero). NULL when out of memory. Free with
 * loupe_image_destroy(). */
LOUPE_API struct loupe_image *loupe_image_create(void);

/** Frees the image and all it owns. NULL is fine. */
LOUPE_API void loupe_image_destroy(struct loupe_image *image);

/** Frees what one entry owns, its image included, and empties it. */
LOUPE_API void loupe_program_finish(struct loupe_program *program);

/** Frees what a list owns, images included, and empties it. */
LOUPE_API void loupe_program_list_finish(struct loupe_program_list *list);

/**
 * Finds the map that fd names.
 * @return index into image->maps, or -1
 */
LOUPE_API int loupe_image_map_by_fd(const struct loupe_image *image, int32_t fd);

#ifdef __cplusplus
}
#endif

#endif
