// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: load_mutate COUNT|SECONDSs [SEED [FILE...]]
 * Loads COUNT objects with mutated bytes, or as many as go into SECONDS. Whatever they do to the
 * loader process, the caller gets a list in which every program has an image or a reason, or one
 * printable line; in time, and (under a sanitizer) without a leak. Without FILEs the bases are
 * objects made here and those of xdp-tools, where they are installed.
 */
#include "bpfloupe/load.h"
#include "../unit/load_objects.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BASES = 64, TIMEOUT_MS = 10000 };

static struct {
	uint8_t *data;
	size_t len;
} bases[MAX_BASES];
static size_t base_cnt;

static uint64_t random_state;

/* xorshift64*, Vigna 2016. */
static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

static size_t below(size_t limit)
{
	return (size_t)(next_random() % limit);
}

static void add_base(uint8_t *data, size_t len)
{
	if (!data || !len || base_cnt == MAX_BASES) {
		free(data);
		return;
	}
	bases[base_cnt].data = data;
	bases[base_cnt++].len = len;
}

static void add_file(const char *path)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = malloc(1 << 22);
	size_t len = f && data ? fread(data, 1, 1 << 22, f) : 0;

	if (f)
		fclose(f);
	add_base(data, len);
}

static void add_made(void)
{
	static const uint32_t def[9] = { 1, 4, 8, 100, 0, 0, 0, 0, 0 };
	struct obj obj;
	uint16_t text, maps;
	uint8_t *data;
	size_t len;

	obj_init(&obj);
	obj_section(&obj, "license", SHF_ALLOC, "GPL", 4);
	obj_program(&obj, "xdp", "first", obj_return_1, 2);
	obj_program(&obj, "fentry/x", "second", obj_return_1, 2);
	data = obj_build(&obj, &len);
	add_base(data, len);

	obj_init(&obj);
	obj_section(&obj, "license", SHF_ALLOC, "GPL", 4);
	maps = obj_section(&obj, "maps", SHF_ALLOC | SHF_WRITE, def, sizeof(def));
	obj_symbol(&obj, "map", maps, STT_OBJECT, 0, sizeof(def));
	text = obj_program(&obj, "from-netdev", "prog", obj_map_user, 4);
	obj_rel(&obj, text, 0, 1);
	data = obj_build(&obj, &len);
	add_base(data, len);
}

/* One to a few changes: bits, bytes, 2- to 8-byte numbers, copies inside the file, a cut. */
static void mutate(uint8_t *data, size_t *len)
{
	static const uint64_t numbers[] = { 0,		1,	    0x7f,	0x80,
					    0xff,	0xffff,	    0x7fffffff, 0x80000000,
					    0xffffffff, UINT64_MAX, INT64_MAX };
	size_t changes = 1 + below(next_random() & 1 ? 3 : 16);

	for (size_t i = 0; i < changes; i++) {
		/* Half of them in the headers at the end and at the start, where it hurts. */
		size_t zone = *len > 4096 ? 2048 : *len, at = below(*len), n;

		switch (below(4)) {
		case 0:
			at = below(zone);
			break;
		case 1:
			at = *len - 1 - below(zone);
			break;
		}
		switch (below(5)) {
		case 0:
			data[at] ^= (uint8_t)(1 << below(8));
			break;
		case 1:
			data[at] = (uint8_t)next_random();
			break;
		case 2: {
			uint64_t number = numbers[below(sizeof(numbers) / sizeof(*numbers))];

			n = (size_t)2 << below(3);
			memcpy(data + at, &number, n < *len - at ? n : *len - at);
			break;
		}
		case 3: {
			size_t from = below(*len);

			n = 1 + below(64);
			n = n < *len - at ? n : *len - at;
			n = n < *len - from ? n : *len - from;
			memmove(data + at, data + from, n);
			break;
		}
		case 4:
			if (!below(8))
				*len = 1 + below(*len);
			break;
		}
	}
}

static bool is_line(const char *text)
{
	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	}
	return true;
}

/* Returns a complaint, or NULL. */
static const char *check(const char *path, struct loupe_error *err, bool *refused)
{
	struct loupe_load_opts opts = {
		.size = sizeof(opts),
		.kernel_btf = "none",
		.kconfig = "none",
		.kallsyms = "none",
		.timeout_ms = TIMEOUT_MS,
	};
	struct loupe_program_list list;
	const char *complaint = NULL;
	int ret = loupe_load_file(path, &opts, &list, err);

	*refused = ret != 0;
	if (ret)
		return ret == -ETIMEDOUT	? "overran its time"
		       : !is_line(err->message) ? "no clear line"
		       : list.progs		? "a list after an error"
						: NULL;
	if (!list.cnt)
		complaint = "an empty list";
	for (uint32_t i = 0; i < list.cnt; i++) {
		if (!list.progs[i].image && !is_line(list.progs[i].reason))
			complaint = "neither image nor reason";
	}
	loupe_program_list_finish(&list);
	return complaint;
}

/* Ends with the file kept and its path told, so that it can be looked into. */
static void keep(const char *complaint, unsigned long number, const uint8_t *data, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/load_mutate.%lu.o", number);
	f = fopen(path, "w");
	if (f) {
		fwrite(data, 1, len, f);
		fclose(f);
	}
	printf("object %lu: %s (kept as %s)\n", number, complaint, path);
}

struct counts {
	unsigned long tried, refused, crashed, wrong;
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* One mutated object. */
static void try_one(unsigned long number, int fd, struct counts *counts)
{
	size_t base = below(base_cnt), len = bases[base].len;
	uint8_t *data = malloc(len);
	struct loupe_error err = { .offset = -1 };
	const char *complaint = "out of memory";
	bool refused = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data) {
		memcpy(data, bases[base].data, len);
		mutate(data, &len);
		complaint = ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len
				    ? "cannot be written"
				    : check(path, &err, &refused);
	}
	if (complaint)
		keep(complaint, number, data, data ? len : 0);
	counts->tried++;
	counts->refused += refused;
	counts->crashed += refused && strstr(err.message, "crashed");
	counts->wrong += complaint != NULL;
	free(data);
}

static void add_bases(int cnt, char **paths)
{
	glob_t found = { 0 };

	for (int i = 0; i < cnt; i++)
		add_file(paths[i]);
	if (cnt)
		return;
	add_made();
	if (!glob("/usr/lib/*/bpf/*.o", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_file(found.gl_pathv[i]);
	}
	globfree(&found);
}

int main(int argc, char **argv)
{
	const char *amount = argc > 1 ? argv[1] : "300";
	bool seconds = strchr(amount, 's') != NULL;
	unsigned long limit = strtoul(amount, NULL, 0);
	int fd = memfd_create("mutated.o", 0);
	struct counts counts = { 0 };
	double start = now_ms();

	random_state = argc > 2 ? strtoull(argv[2], NULL, 0) * 2654435761u + 1 : 1;
	add_bases(argc > 3 ? argc - 3 : 0, argc > 3 ? argv + 3 : NULL);
	if (fd < 0 || !base_cnt) {
		puts("nothing to mutate");
		return 2;
	}
	while (seconds ? now_ms() - start < (double)limit * 1e3 : counts.tried < limit)
		try_one(counts.tried, fd, &counts);
	printf("%lu objects, %lu refused as a whole, %lu crashed the loader process, %lu wrong, "
	       "%.2f ms each\n",
	       counts.tried, counts.refused, counts.crashed, counts.wrong,
	       (now_ms() - start) / (double)(counts.tried ? counts.tried : 1));
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
		puts("a child was left behind");
		counts.wrong++;
	}
	for (size_t i = 0; i < base_cnt; i++)
		free(bases[i].data);
	close(fd);
	return counts.wrong != 0;
}
