// SPDX-License-Identifier: GPL-2.0-only
/* Small graphs as they must look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/cfg_report.h"
#include "cfg_random.h"

/* An instruction and what the block shows for it. */
struct row {
	uint8_t op; /* enum loupe_cfg_op */
	uint32_t target, other;
	const char *text;
	const char *mark;
};

#define DO(text)	      { LOUPE_CFG_NEXT, 0, 0, text, NULL }
#define IF(to, other, text)   { LOUPE_CFG_COND, to, other, text, NULL }
#define MAY(to, other, text)  { LOUPE_CFG_MAY_GOTO, to, other, text, NULL }
#define GO(to)		      { LOUPE_CFG_JUMP, to, 0, "goto", NULL }
#define CALL(to)	      { LOUPE_CFG_CALL, to, 0, "call", NULL }
#define EXIT(text)	      { LOUPE_CFG_EXIT, 0, 0, text, NULL }

struct picture {
	const struct row *rows;
	struct loupe_cfg *cfg;
};

static uint32_t lines(void *data, uint32_t block)
{
	const struct picture *p = data;

	return p->cfg->blocks[block].last - p->cfg->blocks[block].first + 1;
}

static void line(void *data, uint32_t block, uint32_t i, struct loupe_block_line *out)
{
	const struct picture *p = data;
	uint32_t insn = p->cfg->blocks[block].first + i;

	out->number = (uint8_t)snprintf(out->text, sizeof(out->text), "%u: ", insn);
	snprintf(out->text + out->number, sizeof(out->text) - out->number, "%s",
		 p->rows[insn].text);
	if (p->rows[insn].mark)
		snprintf(out->mark, sizeof(out->mark), "%s", p->rows[insn].mark);
}

static char *draw(const struct row *rows, uint32_t cnt, bool ascii)
{
	struct picture p = { rows, NULL };
	struct loupe_cfg_insn *insns = calloc(cnt, sizeof(*insns));
	const struct loupe_block_content content = { .data = &p, .lines = lines, .line = line };
	struct loupe_cfg_report report = { .content = &content, .ascii = ascii };
	struct loupe_error err = { .message = "" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < cnt; i++)
		insns[i] = (struct loupe_cfg_insn){ rows[i].op, rows[i].target, rows[i].other };
	if (loupe_cfg_build(insns, cnt, &p.cfg, &err))
		fail_msg("%s", err.message);
	report.cfg = p.cfg;
	assert_int_equal(loupe_cfg_write_text(&report, out), 0);
	fclose(out);
	free(insns);
	loupe_cfg_destroy(p.cfg);
	return text;
}

#define CHECK(rows, expected) check(rows, sizeof(rows) / sizeof((rows)[0]), false, expected)

static void check(const struct row *rows, uint32_t cnt, bool ascii, const char *expected)
{
	char *text = draw(rows, cnt, ascii);

	if (strcmp(text, expected))
		print_message("--- drawn:\n%s--- expected:\n%s", text, expected);
	assert_string_equal(text, expected);
	free(text);
}

static void straight(void **state)
{
	const struct row rows[] = { DO("r0 = 1"), EXIT("exit") };

	(void)state;
	CHECK(rows,
	      "┌───────────┐\n"
	      "│ 0: r0 = 1 │\n"
	      "│ 1: exit   │\n"
	      "└───────────┘\n");
}

static void diamond(void **state)
{
	const struct row rows[] = {
		IF(3, 1, "if r1 == 0x0"), DO("r0 = 1"), GO(4), DO("r0 = 2"), EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "     ┌─────────────────┐\n"
	      "     │ 0: if r1 == 0x0 │\n"
	      "     └──t───────────f──┘\n"
	      "        │           │\n"
	      "┌───────┴───┐   ┌───┴───────┐\n"
	      "│ 3: r0 = 2 │   │ 1: r0 = 1 │\n"
	      "└─────┬─────┘   │ 2: goto   │\n"
	      "      │         └─────┬─────┘\n"
	      "      └────┐     ┌────┘\n"
	      "         ┌─┴─────┴─┐\n"
	      "         │ 4: exit │\n"
	      "         └─────────┘\n");
}

static void triangle(void **state)
{
	const struct row rows[] = {
		IF(2, 1, "if r1 == 0x0"), DO("r0 = 1"), EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "┌─────────────────┐\n"
	      "│ 0: if r1 == 0x0 │\n"
	      "└──t───────────f──┘\n"
	      "┌──┘         ┌─┘\n"
	      "│  ┌─────────┴─┐\n"
	      "│  │ 1: r0 = 1 │\n"
	      "│  └─────┬─────┘\n"
	      "└─────┐  │\n"
	      "    ┌─┴──┴────┐\n"
	      "    │ 2: exit │\n"
	      "    └─────────┘\n");
}

static void do_while(void **state)
{
	const struct row rows[] = {
		DO("r0 = 0"), DO("r0 += r1"), IF(1, 3, "if r0 < 0x40"), EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "      ┌───────────┐\n"
	      "      │ 0: r0 = 0 │\n"
	      "      └─────┬─────┘\n"
	      "┌────┐      │\n"
	      "▲  ┌─┴──────┴────────┐\n"
	      "│  │ 1: r0 += r1     │\n"
	      "│  │ 2: if r0 < 0x40 │\n"
	      "│  └──t───────────f──┘\n"
	      "└─────┘        ┌──┘\n"
	      "       ┌───────┴─┐\n"
	      "       │ 3: exit │\n"
	      "       └─────────┘\n");
}

static void nested_loops(void **state)
{
	const struct row rows[] = {
		DO("r6 = 8"),		     /* 0 */
		IF(7, 2, "if r6 == 0x0"),    /* 1 */
		DO("r7 = 8"),		     /* 2 */
		DO("r7 += -1"),		     /* 3 */
		IF(3, 5, "if r7 != 0x0"),    /* 4 */
		DO("r6 += -1"),		     /* 5 */
		GO(1),			     /* 6 */
		EXIT("exit"),		     /* 7 */
	};

	(void)state;
	CHECK(rows,
	      "                 ┌───────────┐\n"
	      "                 │ 0: r6 = 8 │\n"
	      "                 └─────┬─────┘\n"
	      "┌───────────────┐      │\n"
	      "▲             ┌─┴──────┴────────┐\n"
	      "│             │ 1: if r6 == 0x0 │\n"
	      "│             └──t───────────f──┘\n"
	      "│          ┌─────┘         ┌─┘\n"
	      "│  ┌───────┴─┐   ┌─────────┴─┐\n"
	      "│  │ 7: exit │   │ 2: r7 = 8 │\n"
	      "│  └─────────┘   └─────┬─────┘\n"
	      "│          ┌────┐      │\n"
	      "│          ▲  ┌─┴──────┴────────┐\n"
	      "│          │  │ 3: r7 += -1     │\n"
	      "│          │  │ 4: if r7 != 0x0 │\n"
	      "│          │  └──t───────────f──┘\n"
	      "│          └─────┘          ┌┘\n"
	      "│               ┌───────────┴─┐\n"
	      "│               │ 5: r6 += -1 │\n"
	      "│               │ 6: goto     │\n"
	      "│               └──────┬──────┘\n"
	      "└──────────────────────┘\n");
}

static void may_goto_loop(void **state)
{
	const struct row rows[] = {
		DO("r0 = 0"), MAY(4, 2, "may_goto"), DO("r0 += 1"), GO(1), EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "         ┌───────────┐\n"
	      "         │ 0: r0 = 0 │\n"
	      "         └─────┬─────┘\n"
	      "┌─────────┐    │\n"
	      "▲       ┌─┴────┴──────┐\n"
	      "│       │ 1: may_goto │\n"
	      "│       └──m───────f──┘\n"
	      "│          │       │\n"
	      "│  ┌───────┴─┐   ┌─┴──────────┐\n"
	      "│  │ 4: exit │   │ 2: r0 += 1 │\n"
	      "│  └─────────┘   │ 3: goto    │\n"
	      "│                └─────┬──────┘\n"
	      "└──────────────────────┘\n");
}

static void irreducible(void **state)
{
	const struct row rows[] = {
		IF(2, 1, "if r1 == 0x0"), DO("r2 += 1"), IF(1, 3, "if r2 < 0x5"), EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "        ┌─────────────────┐\n"
	      "        │ 0: if r1 == 0x0 │\n"
	      "        └──t───────────f──┘\n"
	      "           └──┐        └─────┐\n"
	      "┌───────────┐ │              │\n"
	      "▲        ┌──┴─┴───────────┐  │\n"
	      "│        │ 2: if r2 < 0x5 │  │\n"
	      "│        └──t──────────f──┘  │\n"
	      "│           │ ┌────────│─────┘\n"
	      "│  ┌────────┴─┴─┐   ┌──┴──────┐\n"
	      "│  │ 1: r2 += 1 │   │ 3: exit │\n"
	      "│  └─────┬──────┘   └─────────┘\n"
	      "└────────┘\n");
}

/* Conditions of a filter that share a return; one instruction is marked, one is never reached. */
static void filter_with_shared_return(void **state)
{
	const struct row rows[] = {
		DO("A = args[1].lo"),	       /* 0 */
		IF(2, 3, "if A == 0x5401"),    /* 1 */
		GO(13),			       /* 2 */
		{ LOUPE_CFG_NEXT, 0, 0, "A = args[1].lo", "gone" },
		IF(13, 5, "if A == 0x5402"),   /* 4 */
		IF(13, 6, "if A == 0x5403"),   /* 5 */
		IF(13, 7, "if A == 0x5404"),   /* 6 */
		IF(13, 8, "if A == 0x5405"),   /* 7 */
		IF(13, 9, "if A == 0x5406"),   /* 8 */
		IF(13, 10, "if A == 0x5407"),  /* 9 */
		IF(13, 12, "if A == 0x5408"),  /* 10 */
		DO("never reached"),	       /* 11 */
		EXIT("return KILL"),	       /* 12 */
		EXIT("return ALLOW"),	       /* 13 */
	};

	(void)state;
	CHECK(rows,
	      "                ┌───────────────────┐\n"
	      "                │ 0: A = args[1].lo │\n"
	      "                │ 1: if A == 0x5401 │\n"
	      "                └───t───────────f───┘\n"
	      "        ┌───────────┘           │\n"
	      "┌───────┴─┐   ┌─────────────────┴──────┐\n"
	      "│ 2: goto │   │ 3: A = args[1].lo  gone│\n"
	      "└────┬────┘   │ 4: if A == 0x5402      │\n"
	      "     │        └────t──────────────f────┘\n"
	      "     │       ┌─────┘              │\n"
	      "    →13    →13  ┌─────────────────┴─┐\n"
	      "                │ 5: if A == 0x5403 │\n"
	      "                └───t───────────f───┘\n"
	      "             ┌──────┘           │\n"
	      "           →13  ┌───────────────┴───┐\n"
	      "                │ 6: if A == 0x5404 │\n"
	      "                └───t───────────f───┘\n"
	      "             ┌──────┘           │\n"
	      "           →13  ┌───────────────┴───┐\n"
	      "                │ 7: if A == 0x5405 │\n"
	      "                └───t───────────f───┘\n"
	      "             ┌──────┘           │\n"
	      "           →13  ┌───────────────┴───┐\n"
	      "                │ 8: if A == 0x5406 │\n"
	      "                └───t───────────f───┘\n"
	      "             ┌──────┘           │\n"
	      "           →13  ┌───────────────┴───┐\n"
	      "                │ 9: if A == 0x5407 │\n"
	      "                └───t───────────f───┘\n"
	      "             ┌──────┘           │\n"
	      "           →13  ┌───────────────┴────┐\n"
	      "                │ 10: if A == 0x5408 │\n"
	      "                └───t────────────f───┘\n"
	      "                   ┌┘            │\n"
	      "     ┌─────────────┴─+7─┐   ┌────┴────────────┐\n"
	      "     │ 13: return ALLOW │   │ 12: return KILL │\n"
	      "     └──────────────────┘   └─────────────────┘\n"
	      "\n"
	      "┌───────────────────┐\n"
	      "│ 11: never reached │\n"
	      "└─────────┬─────────┘\n"
	      "          │\n"
	      "         →12\n");
}

static void subprograms(void **state)
{
	const struct row rows[] = {
		CALL(4), IF(3, 2, "if r0 == 0x0"), DO("r0 = 2"), EXIT("exit"), DO("r0 = 7"),
		EXIT("exit"),
	};

	(void)state;
	CHECK(rows,
	      "┌─────────────────┐\n"
	      "│ 0: call         │\n"
	      "│ 1: if r0 == 0x0 │\n"
	      "└──t───────────f──┘\n"
	      "┌──┘         ┌─┘\n"
	      "│  ┌─────────┴─┐\n"
	      "│  │ 2: r0 = 2 │\n"
	      "│  └─────┬─────┘\n"
	      "└─────┐  │\n"
	      "    ┌─┴──┴────┐\n"
	      "    │ 3: exit │\n"
	      "    └─────────┘\n"
	      "\n"
	      "┌───────────┐\n"
	      "│ 4: r0 = 7 │\n"
	      "│ 5: exit   │\n"
	      "└───────────┘\n");
}

static void without_line_characters(void **state)
{
	const struct row rows[] = {
		IF(3, 1, "if r1 == 0x0"), DO("r0 = 1"), GO(4), DO("r0 = 2"), EXIT("exit"),
	};

	(void)state;
	check(rows, 5, true,
	      "     +-----------------+\n"
	      "     | 0: if r1 == 0x0 |\n"
	      "     +--t-----------f--+\n"
	      "        |           |\n"
	      "+-------+---+   +---+-------+\n"
	      "| 3: r0 = 2 |   | 1: r0 = 1 |\n"
	      "+-----+-----+   | 2: goto   |\n"
	      "      |         +-----+-----+\n"
	      "      +----+     +----+\n"
	      "         +-+-----+-+\n"
	      "         | 4: exit |\n"
	      "         +---------+\n");
}

static void crossing(void **state)
{
	const struct row rows[] = {
		IF(4, 1, "if r1 == 0x0"), /* 0 */
		IF(7, 2, "if r2 == 0x0"), /* 1: to both ends */
		DO("r0 = 1"), GO(9),	  /* 2 */
		IF(7, 5, "if r3 == 0x0"), /* 4: to both ends */
		DO("r0 = 2"), GO(9),	  /* 5 */
		DO("r0 = 3"), EXIT("exit"), /* 7 */
		EXIT("exit"),		  /* 9 */
	};

	(void)state;
	CHECK(rows,
	      "                ┌─────────────────┐\n"
	      "                │ 0: if r1 == 0x0 │\n"
	      "                └──t───────────f──┘\n"
	      "                   │           └──┐\n"
	      "     ┌─────────────┴───┐        ┌─┴───────────────┐\n"
	      "     │ 4: if r3 == 0x0 │        │ 1: if r2 == 0x0 │\n"
	      "     └──t───────────f──┘        └──t───────────f──┘\n"
	      "        │ ┌─────────│──────────────┘         ┌─┘\n"
	      "┌───────┴─┴─┐   ┌───┴───────┐      ┌─────────┴─┐\n"
	      "│ 7: r0 = 3 │   │ 5: r0 = 2 │      │ 2: r0 = 1 │\n"
	      "│ 8: exit   │   │ 6: goto   │      │ 3: goto   │\n"
	      "└───────────┘   └─────┬─────┘      └─────┬─────┘\n"
	      "                      └───────┐     ┌────┘\n"
	      "                            ┌─┴─────┴─┐\n"
	      "                            │ 9: exit │\n"
	      "                            └─────────┘\n");
}

/* A window shows what the same cells of the whole picture show. */
static void windows_are_parts_of_the_whole(void **state)
{
	struct loupe_cfg_insn *insns = random_program(200, 30, 5, 11);
	struct loupe_cell_size sizes[200];
	struct loupe_canvas *whole, *part;
	struct loupe_layout_opts opts;
	struct loupe_layout *layout;
	struct loupe_cfg *cfg;
	uint64_t coin = 5;

	(void)state;
	assert_int_equal(loupe_cfg_build(insns, 200, &cfg, NULL), 0);
	for (uint32_t n = 0; n < cfg->block_cnt; n++)
		sizes[n] = (struct loupe_cell_size){ (int32_t)(rnd(&coin) % 25), 1 };
	loupe_layout_opts_init(&opts);
	opts.sizes = sizes;
	assert_int_equal(loupe_layout_create(cfg, &opts, &layout), 0);
	whole = loupe_canvas_create(0, 0, layout->w, layout->h);
	loupe_layout_draw(layout, cfg, NULL, whole);
	for (int i = 0; i < 60; i++) {
		part = loupe_canvas_create((int32_t)(rnd(&coin) % (uint32_t)layout->w) - 20,
					   (int32_t)(rnd(&coin) % (uint32_t)layout->h) - 20, 60,
					   25);
		loupe_layout_draw(layout, cfg, NULL, part);
		for (int32_t y = part->y; y < part->y + part->h; y++) {
			for (int32_t x = part->x; x < part->x + part->w; x++) {
				const struct loupe_cell *a = loupe_canvas_cell(part, x, y);
				const struct loupe_cell *b = loupe_canvas_cell(whole, x, y);

				assert_int_equal(a->glyph, b ? b->glyph : 0);
			}
		}
		loupe_canvas_destroy(part);
	}
	loupe_canvas_destroy(whole);
	loupe_layout_destroy(layout);
	loupe_cfg_destroy(cfg);
	free(insns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight),
		cmocka_unit_test(diamond),
		cmocka_unit_test(triangle),
		cmocka_unit_test(do_while),
		cmocka_unit_test(nested_loops),
		cmocka_unit_test(may_goto_loop),
		cmocka_unit_test(irreducible),
		cmocka_unit_test(filter_with_shared_return),
		cmocka_unit_test(subprograms),
		cmocka_unit_test(without_line_characters),
		cmocka_unit_test(crossing),
		cmocka_unit_test(windows_are_parts_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
