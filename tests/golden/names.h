/* SPDX-License-Identifier: GPL-2.0-only */
/* Which programs a test of the golden logs runs. */
#ifndef BPFLOUPE_TESTS_GOLDEN_NAMES_H
#define BPFLOUPE_TESTS_GOLDEN_NAMES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int is_program(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".bpfasm");
}

/*
 * Calls run for the given names or, if there are none, for all programs of dir in order.
 * Returns how many were run and, in *failed, of how many run said false.
 */
static uint32_t each_program(const char *dir, char **given, int given_cnt,
			     bool (*run)(const char *dir, const char *name, void *data), void *data,
			     uint32_t *failed)
{
	struct dirent **entries = NULL;
	int cnt = 0;

	*failed = 0;
	for (int i = 0; i < given_cnt; i++)
		*failed += !run(dir, given[i], data);
	if (given_cnt)
		return (uint32_t)given_cnt;
	cnt = scandir(dir, &entries, is_program, alphasort);
	for (int i = 0; i < cnt; i++) {
		*strrchr(entries[i]->d_name, '.') = '\0';
		*failed += !run(dir, entries[i]->d_name, data);
		free(entries[i]);
	}
	free(entries);
	return cnt > 0 ? (uint32_t)cnt : 0;
}

#endif
