// SPDX-License-Identifier: GPL-2.0-only
/* Compares a kernel's log with a model's, line by line, while the latter is being written. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/kernel.h"

struct loupe_log_compare {
	const char *want;
	size_t want_len, want_at; /* want_at: start of the next line */
	char *part;		  /* a line of the model's that has no end yet */
	size_t part_len, part_size;
	uint64_t lines;		  /* lines found equal */
	bool failed, no_memory;
	struct loupe_log_difference diff;
};

/* A line without its newline. */
struct line {
	const char *text;
	size_t len;
};

static const char time_words[] = "verification time ";
static const char address_words[] = "(18) r";
static const uint64_t lowest_address = 0xffff800000000000;

/*
 * Finds the value of an ldimm64 line, "...(18) rN = 0x123...".
 * @return its digits, NULL if the line is another one
 */
static const char *find_value(struct line line, size_t *digits)
{
	const char *end = line.text + line.len;
	const char *p = memmem(line.text, line.len, address_words, sizeof(address_words) - 1);
	size_t n = 0;

	if (!p)
		return NULL;
	p += sizeof(address_words) - 1;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (end - p < 5 || memcmp(p, " = 0x", 5) != 0)
		return NULL;
	p += 5;
	while (p + n < end && strchr("0123456789abcdef", p[n]) && p[n])
		n++;
	*digits = n;
	return n ? p : NULL;
}

static bool is_address(const char *digits, size_t cnt)
{
	uint64_t n = 0;

	if (cnt != 16)
		return false;
	for (size_t i = 0; i < cnt; i++) {
		int digit = digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10;

		n = n << 4 | (uint64_t)digit;
	}
	return n >= lowest_address;
}

/*
 * Measures what precedes "verification time N usec", which need not be at the line's start: some
 * messages have no newline.
 * @return its length, -1 if the line tells no time
 */
static ptrdiff_t before_time(struct line line)
{
	const size_t len = sizeof(time_words) - 1;
	const char *p = memmem(line.text, line.len, time_words, len);

	if (!p || line.len < 5 || memcmp(line.text + line.len - 5, " usec", 5) != 0)
		return -1;
	return p - line.text;
}

static const char *skip_blanks(struct line line, const char *p)
{
	while (p < line.text + line.len && *p == ' ')
		p++;
	return p;
}

static bool same_line(struct line want, struct line got)
{
	size_t want_cnt, got_cnt, head;
	const char *value, *other;
	ptrdiff_t before;

	if (want.len == got.len && !memcmp(want.text, got.text, want.len))
		return true;
	before = before_time(want);
	if (before >= 0)
		return before == before_time(got) &&
		       !memcmp(want.text, got.text, (size_t)before);
	value = find_value(want, &want_cnt);
	other = find_value(got, &got_cnt);
	/* An arena's address is one of user space, but the model's stand-in for it is not. */
	if (!value || !other || !(is_address(value, want_cnt) || is_address(other, got_cnt)))
		return false;
	head = (size_t)(value - want.text);
	if (want.len == head + want_cnt && got.len == head + got_cnt)
		return !memcmp(want.text, got.text, head);
	if (head != (size_t)(other - got.text) || memcmp(want.text, got.text, head) != 0)
		return false;
	/* What follows stands in the same column, however long the value is. */
	value = skip_blanks(want, value + want_cnt);
	other = skip_blanks(got, other + got_cnt);
	head = (size_t)(value - want.text);
	return want.len == got.len && head == (size_t)(other - got.text) &&
	       !memcmp(value, other, want.len - head);
}

struct loupe_log_compare *loupe_log_compare_create(const char *want, size_t len)
{
	struct loupe_log_compare *compare = calloc(1, sizeof(*compare));

	if (compare) {
		compare->want = want;
		compare->want_len = len;
	}
	return compare;
}

void loupe_log_compare_destroy(struct loupe_log_compare *compare)
{
	if (compare)
		free(compare->part);
	free(compare);
}

static void copy_line(char *to, size_t size, const struct line *line)
{
	size_t len = line->len < size - 1 ? line->len : size - 1;

	memcpy(to, line->text, len);
	to[len] = '\0';
}

/* The kernel's line that starts at compare->want_at; false at its end. */
static bool next_wanted(const struct loupe_log_compare *compare, struct line *line)
{
	const char *start = compare->want + compare->want_at, *end;
	size_t left = compare->want_len - compare->want_at;

	if (!left)
		return false;
	end = memchr(start, '\n', left);
	*line = (struct line){ start, end ? (size_t)(end - start) : left };
	return true;
}

static void copy_lines_before(struct loupe_log_compare *compare)
{
	size_t end = compare->want_at;

	for (int i = 2; i >= 0 && end; i--) {
		size_t start = end - 1;
		struct line line;

		while (start && compare->want[start - 1] != '\n')
			start--;
		line = (struct line){ compare->want + start, end - 1 - start };
		copy_line(compare->diff.before[i], sizeof(compare->diff.before[i]), &line);
		end = start;
	}
}

static void part_ways(struct loupe_log_compare *compare, const struct line *want,
		      const struct line *got)
{
	static const struct line end = { "<end>", 5 };

	compare->failed = true;
	compare->diff.line = compare->lines + 1;
	copy_line(compare->diff.want, sizeof(compare->diff.want), want ? want : &end);
	copy_line(compare->diff.got, sizeof(compare->diff.got), got ? got : &end);
	copy_lines_before(compare);
}

static void compare_line(struct loupe_log_compare *compare, struct line got)
{
	struct line want;

	if (!next_wanted(compare, &want)) {
		part_ways(compare, NULL, &got);
		return;
	}
	if (!same_line(want, got)) {
		part_ways(compare, &want, &got);
		return;
	}
	compare->lines++;
	compare->want_at += want.len;
	if (compare->want_at < compare->want_len)
		compare->want_at++;
}

static void keep_part(struct loupe_log_compare *compare, const char *text, size_t len)
{
	if (compare->part_len + len > compare->part_size) {
		size_t size = 2 * (compare->part_len + len) + 256;
		char *part = realloc(compare->part, size);

		if (!part) {
			compare->no_memory = true;
			return;
		}
		compare->part = part;
		compare->part_size = size;
	}
	memcpy(compare->part + compare->part_len, text, len);
	compare->part_len += len;
}

void loupe_log_compare_feed(void *arg, const char *text, size_t len)
{
	struct loupe_log_compare *compare = arg;
	const char *end = text + len;

	while (text < end && !compare->failed && !compare->no_memory) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);

		if (!newline || compare->part_len)
			keep_part(compare, text, n);
		if (!newline)
			return;
		if (compare->part_len)
			compare_line(compare, (struct line){ compare->part, compare->part_len });
		else
			compare_line(compare, (struct line){ text, n });
		compare->part_len = 0;
		text = newline + 1;
	}
}

bool loupe_log_compare_end(struct loupe_log_compare *compare, struct loupe_log_difference *diff)
{
	struct line want;

	if (compare->part_len && !compare->failed)
		compare_line(compare, (struct line){ compare->part, compare->part_len });
	compare->part_len = 0;
	if (compare->no_memory) {
		static const struct line lost = { "<out of memory>", 15 };

		part_ways(compare, NULL, &lost);
	} else if (!compare->failed && next_wanted(compare, &want)) {
		part_ways(compare, &want, NULL);
	}
	*diff = compare->diff;
	return !compare->failed;
}

static size_t put(char *to, const char *text, size_t len)
{
	memmove(to, text, len);
	return len;
}

size_t loupe_log_normalise(char *text, size_t len)
{
	static const char some_address[] = "ffff800000000000", some_time[] = "0 usec";
	const char *from = text, *end = text + len;
	char *to = text;

	while (from < end) {
		const char *newline = memchr(from, '\n', (size_t)(end - from));
		struct line line = { from, (size_t)((newline ? newline : end) - from) };
		size_t digits;
		const char *value = find_value(line, &digits);
		ptrdiff_t before = before_time(line);

		from = newline ? newline + 1 : end;
		if (before >= 0) {
			to += put(to, line.text, (size_t)before + sizeof(time_words) - 1);
			to += put(to, some_time, sizeof(some_time) - 1);
		} else {
			if (value && is_address(value, digits))
				memcpy(text + (value - text), some_address, digits);
			to += put(to, line.text, line.len);
		}
		if (newline)
			*to++ = '\n';
	}
	*to = '\0';
	return (size_t)(to - text);
}
