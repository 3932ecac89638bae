// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives a fuzz target where libFuzzer is not at hand, with its most used arguments:
 *
 *	TARGET [-runs=N] [-max_total_time=SECONDS] [-seed=N] [-max_len=N] [FILE|DIRECTORY...]
 *
 * A single FILE without -runs or -max_total_time is run as it is, once. Otherwise every file of the
 * corpus runs as it is, and then mutated ones do. An input that crashes the target, or takes more
 *than 10 seconds, is left as crash-SEED-RUN in the working directory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define SECONDS_PER_INPUT 10

static struct input {
	uint8_t *data;
	size_t size;
} * corpus, current;
static size_t corpus_cnt;

static uint64_t seed = 1, state, run;
static size_t max_len = 65536;

/* xorshift64*, Vigna 2016. */
static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next() % limit) : 0;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void add_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct input input = { malloc(max_len + 1), 0 };

	if (!file || !input.data)
		die(path);
	input.size = fread(input.data, 1, max_len, file);
	fclose(file);
	corpus = reallocarray(corpus, corpus_cnt + 1, sizeof(*corpus));
	if (!corpus)
		die("corpus");
	corpus[corpus_cnt++] = input;
}

static void add_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	char name[4096];
	int cnt;

	if (stat(path, &st))
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		add_file(path);
		return;
	}
	cnt = scandir(path, &names, NULL, alphasort);
	if (cnt < 0)
		die(path);
	for (int i = 0; i < cnt; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add_file(name);
		free(names[i]);
	}
	free(names);
}

/* Leaves the input behind. Runs in a signal handler, hence the plain calls. */
static void save_current(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "crash-%llu-%llu", (unsigned long long)seed,
		 (unsigned long long)run);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, current.data, current.size) != (ssize_t)current.size)
		_exit(3);
	close(fd);
	dprintf(2, "\ninput saved as %s; run the target with it to see this again\n", name);
}

static void on_signal(int sig)
{
	if (sig == SIGALRM)
		dprintf(2, "more than %d seconds\n", SECONDS_PER_INPUT);
	save_current();
	signal(sig, SIG_DFL);
	raise(sig == SIGALRM ? SIGKILL : sig);
}

/* Puts size bytes in place of cut bytes at at; does nothing if that would be too much. */
static void replace(struct input *input, size_t at, size_t cut, const uint8_t *data, size_t size)
{
	if (input->size - cut + size > max_len)
		return;
	memmove(input->data + at + size, input->data + at + cut, input->size - at - cut);
	if (size)
		memcpy(input->data + at, data, size);
	input->size += size - cut;
}

/* A piece between two places where the kind of character changes, so that words move as a whole. */
static struct input word_of(const struct input *input)
{
	size_t start = below(input->size), end = start;

	while (end < input->size && end - start < 32 &&
	       (input->data[end] > ' ') == (input->data[start] > ' '))
		end++;
	while (start > 0 && end - start < 32 &&
	       (input->data[start - 1] > ' ') == (input->data[start] > ' '))
		start--;
	return (struct input){ input->data + start, end - start };
}

static void mutate_once(struct input *input)
{
	static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '"', '0', '-', ':' };
	const struct input *other = &corpus[below(corpus_cnt)];
	size_t at = below(input->size), len = 1 + below(below(64) + 1);
	uint8_t copy[64], byte = (uint8_t)next();
	struct input piece;

	if (len > input->size - at)
		len = input->size - at;
	switch (below(8)) {
	case 0:
		if (input->size)
			input->data[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		if (input->size)
			input->data[at] = bytes[below(sizeof(bytes))];
		break;
	case 2:
		replace(input, at, 0, &byte, 1);
		break;
	case 3:
		replace(input, at, len, NULL, 0);
		break;
	case 4:
		memcpy(copy, input->data + at, len);
		replace(input, below(input->size), 0, copy, len);
		break;
	case 5:
	case 6:
		if (!other->size || !input->size)
			break;
		piece = word_of(input);
		at = (size_t)(piece.data - input->data);
		len = piece.size;
		piece = word_of(other);
		memcpy(copy, piece.data, piece.size);
		replace(input, at, below(2) ? len : 0, copy, piece.size);
		break;
	default:
		len = below(other->size + 1);
		at = below(input->size + 1);
		replace(input, at, input->size - at, other->data + (other->size - len), len);
		break;
	}
}

static void run_current(void)
{
	/* A copy of its own size lets a sanitizer see reads behind the end. */
	uint8_t *exact = malloc(current.size ? current.size : 1);

	if (!exact)
		die("input");
	if (current.size)
		memcpy(exact, current.data, current.size);
	alarm(SECONDS_PER_INPUT);
	LLVMFuzzerTestOneInput(exact, current.size);
	alarm(0);
	free(exact);
	run++;
}

static void take_corpus(size_t i)
{
	current.size = corpus[i].size;
	if (current.size)
		memcpy(current.data, corpus[i].data, current.size);
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM };
	unsigned long long runs = 0, seconds = 0, value;
	time_t start = time(NULL);

	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "-runs=%llu", &value) == 1)
			runs = value;
		else if (sscanf(argv[i], "-max_total_time=%llu", &value) == 1)
			seconds = value;
		else if (sscanf(argv[i], "-seed=%llu", &value) == 1)
			seed = value;
		else if (sscanf(argv[i], "-max_len=%llu", &value) == 1)
			max_len = (size_t)value;
		else if (argv[i][0] != '-')
			add_path(argv[i]);
		else if (strncmp(argv[i], "-entropic=", 10) != 0)
			fprintf(stderr, "%s: ignored\n", argv[i]);
	}
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	current.data = malloc(max_len + 1);
	if (!current.data)
		die("input");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], on_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(save_current);

	for (size_t i = 0; i < corpus_cnt; i++) {
		take_corpus(i);
		run_current();
	}
	if (!corpus_cnt)
		add_file("/dev/null");
	while (run < runs || (seconds && time(NULL) - start < (time_t)seconds)) {
		take_corpus(below(corpus_cnt));
		for (size_t n = 1 + below(8); n; n--)
			mutate_once(&current);
		run_current();
	}
	printf("%llu inputs, seed %llu\n", (unsigned long long)run, (unsigned long long)seed);
	for (size_t i = 0; i < corpus_cnt; i++)
		free(corpus[i].data);
	free(corpus);
	free(current.data);
	return 0;
}
