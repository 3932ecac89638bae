// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: load_legacy FOLDER
 * Objects with an old "maps" section: every section that FOLDER/linux-6.18.tsv lists has an image
 * of as many instructions as the kernel was given. Columns: object, section, verdict, errno,
 * instructions.
 */
#include "bpfloupe/load.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

struct row {
	char object[128], section[64];
	unsigned int insns;
};

/* The image is complete: each map that an instruction names is there, and none is unused. */
static const char *check_maps(const struct loupe_image *image)
{
	bool used[256] = { false };

	if (image->map_cnt > 256)
		return "too many maps";
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		const struct loupe_insn *insn = &image->insns[i];
		int index;

		if (insn->code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (insn->src_reg == BPF_PSEUDO_MAP_FD) {
			index = loupe_image_map_by_fd(image, insn->imm);
			if (index < 0)
				return "an instruction names a map that is not there";
			used[index] = true;
			if (image->maps[index].inner_map_fd >= 0) {
				index = loupe_image_map_by_fd(image,
							      image->maps[index].inner_map_fd);
				if (index < 0)
					return "a template is not there";
				used[index] = true;
			}
		}
		i++;
	}
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		if (!used[i])
			return "a map that nothing names";
	}
	return NULL;
}

static const char *check(const char *folder, const struct row *row)
{
	struct loupe_load_opts opts = { .size = sizeof(opts), .prog_name = row->section };
	struct loupe_program_list list;
	const struct loupe_image *image;
	static struct loupe_error err;
	const char *complaint = NULL;
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", folder, row->object);
	if (loupe_load_file(path, &opts, &list, &err))
		return err.message;
	image = list.progs[0].image;
	if (list.cnt != 1)
		complaint = "more than one program of that name";
	else if (!image)
		complaint = "no image";
	else if (list.progs[0].reason)
		complaint = "a reason beside the image";
	else if (image->insn_cnt != row->insns)
		complaint = "another number of instructions";
	else if (image->prog_type != BPF_PROG_TYPE_SCHED_CLS)
		complaint = "no tc classifier";
	else if (strcmp(image->license, "GPL") != 0)
		complaint = "another licence";
	else
		complaint = check_maps(image);
	loupe_program_list_finish(&list);
	return complaint;
}

int main(int argc, char **argv)
{
	const char *folder = getenv("BPFLOUPE_LEGACY_CORPUS");
	unsigned int cnt = 0, wrong = 0;
	char path[1024], line[1024];
	FILE *f;

	if (!folder)
		folder = argc > 1 ? argv[1] : ".";
	snprintf(path, sizeof(path), "%s/linux-6.18.tsv", folder);
	f = fopen(path, "r");
	if (!f) {
		printf("skipped: there is no %s\n", path);
		return SKIPPED;
	}
	while (fgets(line, sizeof(line), f)) {
		const char *complaint;
		struct row row;

		if (sscanf(line, "%127[^\t]\t%63[^\t]\t%*[^\t]\t%*[^\t]\t%u", row.object,
			   row.section, &row.insns) != 3)
			continue;
		cnt++;
		complaint = check(folder, &row);
		if (complaint) {
			printf("%s %s: %s\n", row.object, row.section, complaint);
			wrong++;
		}
	}
	fclose(f);
	printf("%u sections, %u wrong\n", cnt, wrong);
	return wrong || !cnt;
}
