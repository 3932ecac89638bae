/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of files that some machines have. */
#ifndef BPFLOUPE_TESTS_LIVE_THERE_H
#define BPFLOUPE_TESTS_LIVE_THERE_H

#include <stdio.h>
#include <unistd.h>

/* Checks those of the named files that are there; check returns 0 if all is well. A test's status.
 */
static int check_those_there(int argc, char **argv, int (*check)(const char *path))
{
	int bad = 0, there = 0;

	for (int i = 1; i < argc; i++) {
		if (access(argv[i], R_OK))
			continue;
		there++;
		bad += check(argv[i]);
	}
	if (there)
		return bad ? 1 : 0;
	printf("skipped: the policies that this reads are not there\n");
	return 77;
}

#endif
