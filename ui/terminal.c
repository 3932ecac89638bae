// SPDX-License-Identifier: GPL-2.0-only
/* Shows screens with ncursesw and reads keys. */
#define NCURSES_WIDECHAR 1
#include "terminal.h"

#include "keys.h"

#include <curses.h>
#include <term.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Terminals drop longer clipboard texts. */
#define MAX_COPY 74994

struct terminal {
	SCREEN *curses;
	FILE *in, *out;
	const struct theme *theme;
	bool strikes; /* combining strokes are shown */
	/* colour pair of each look, 0: not made yet */
	short pair[UI_ROLE_CNT][UI_GROUND_CNT];
	short pairs;
	struct screen *shown; /* what the terminal has, to skip rows that stay */
};

static FILE *open_stream(FILE *std, const char *mode)
{
	return isatty(fileno(std)) ? std : fopen("/dev/tty", mode);
}

/* Asked before curses is, which does not clean up when it does not know the terminal. */
static bool is_known(int fd)
{
	bool usable;
	int why;

	if (setupterm(NULL, fd, &why) != OK)
		return false;
	/* curses would write to a "dumb" one, lines over lines */
	usable = cursor_address != NULL;
	del_curterm(cur_term);
	return usable;
}

static void start_curses(struct terminal *term)
{
	set_term(term->curses);
	cbreak();
	noecho();
	nonl();
	intrflush(NULL, FALSE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
	}
}

int term_open(const struct theme *theme, struct terminal **out, struct loupe_error *err)
{
	const char *name = getenv("TERM");
	struct terminal *term = calloc(1, sizeof(*term));

	if (!term)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	term->theme = theme;
	term->in = open_stream(stdin, "r");
	term->out = open_stream(stdout, "w");
	if (term->in && term->out && is_known(fileno(term->out)))
		term->curses = newterm(NULL, term->out, term->in);
	if (!term->curses) {
		term_close(term);
		return loupe_error_set(
			err, -ENOTTY,
			name && *name
				? "this terminal (TERM=%s) is unknown here or cannot move its cursor; try TERM=xterm"
				: "no terminal (TERM is not set); use --script, or send the "
				  "output to a file for a summary",
			name);
	}
	term->strikes = name && strcmp(name, "linux") != 0 && strncmp(name, "vt", 2) != 0;
	start_curses(term);
	*out = term;
	return 0;
}

void term_close(struct terminal *term)
{
	if (!term)
		return;
	if (term->curses) {
		set_term(term->curses);
		endwin();
		delscreen(term->curses);
	}
	if (term->in && term->in != stdin)
		fclose(term->in);
	if (term->out && term->out != stdout)
		fclose(term->out);
	screen_destroy(term->shown);
	free(term);
}

void term_set_theme(struct terminal *term, const struct theme *theme)
{
	term->theme = theme;
	memset(term->pair, 0, sizeof(term->pair));
	term->pairs = 0;
	term_repaint(term);
}

void term_size(const struct terminal *term, int *w, int *h)
{
	(void)term;
	getmaxyx(stdscr, *h, *w);
}

void term_repaint(struct terminal *term)
{
	screen_destroy(term->shown);
	term->shown = NULL;
	clearok(curscr, TRUE);
}

/* ---- colours ------------------------------------------------------------------------------ */

static short colour_of(uint32_t rgb)
{
	return (short)(rgb == THEME_DEFAULT ? -1 : theme_nearest(rgb, COLORS));
}

static short pair_of(struct terminal *term, enum ui_role role, enum ui_ground ground,
		     struct style style)
{
	short *pair = &term->pair[role][ground];
	uint32_t bg = style.bg;

	if (*pair || !has_colors() || term->pairs + 1 >= COLOR_PAIRS)
		return *pair;
	/* eight colours have no quiet backgrounds: shades are left out there */
	if (COLORS < 256)
		bg = THEME_DEFAULT;
	if (style.fg == THEME_DEFAULT && bg == THEME_DEFAULT)
		return 0;
	*pair = ++term->pairs;
	init_pair(*pair, colour_of(style.fg), colour_of(bg));
	return *pair;
}

static attr_t attrs_of(const struct ui_cell *cell, struct style style)
{
	attr_t attrs = A_NORMAL;

	if (style.bold)
		attrs |= A_BOLD;
	if (style.underline)
		attrs |= A_UNDERLINE;
	if (style.reverse)
		attrs |= A_REVERSE;
	if (COLORS < 256 && style.bg != THEME_DEFAULT &&
	    (cell->ground == UI_GROUND_CURSOR || cell->ground == UI_GROUND_BAR ||
	     cell->ground == UI_GROUND_MATCH))
		attrs |= A_REVERSE;
	return attrs;
}

static void show_cell(struct terminal *term, int x, int y, const struct ui_cell *cell)
{
	enum ui_role role = (enum ui_role)cell->role;
	enum ui_ground ground = (enum ui_ground)cell->ground;
	struct style style = theme_style(term->theme, role, ground);
	wchar_t text[3] = { (wchar_t)(cell->glyph ? cell->glyph : ' '), 0, 0 };
	cchar_t out;

	if (style.struck && term->strikes && cell->glyph > ' ')
		text[1] = 0x336;
	if (setcchar(&out, text, attrs_of(cell, style), pair_of(term, role, ground, style), NULL))
		return;
	mvadd_wch(y, x, &out);
}

static bool same_row(const struct screen *a, const struct screen *b, int y)
{
	return memcmp(&a->cells[y * a->w], &b->cells[y * b->w],
		      (size_t)a->w * sizeof(*a->cells)) == 0;
}

void term_show(struct terminal *term, const struct screen *screen)
{
	struct screen *shown = term->shown;

	if (!shown || shown->w != screen->w || shown->h != screen->h) {
		screen_destroy(shown);
		shown = NULL;
		erase();
	}
	for (int y = 0; y < screen->h; y++) {
		if (shown && same_row(shown, screen, y))
			continue;
		for (int x = 0; x < screen->w; x++)
			show_cell(term, x, y, &screen->cells[y * screen->w + x]);
	}
	if (!shown)
		shown = screen_create(screen->w, screen->h);
	if (shown)
		memcpy(shown->cells, screen->cells,
		       (size_t)screen->w * (size_t)screen->h * sizeof(*screen->cells));
	term->shown = shown;
	if (screen->cursor_x >= 0) {
		curs_set(1);
		move(screen->cursor_y, screen->cursor_x);
	} else {
		curs_set(0);
	}
	refresh();
}

/* ---- keys --------------------------------------------------------------------------------- */

static int key_of_curses(wint_t c)
{
	static const struct {
		int curses, ours;
	} table[] = {
		{ KEY_UP, K_UP },	  { KEY_DOWN, K_DOWN },	  { KEY_LEFT, K_LEFT },
		{ KEY_RIGHT, K_RIGHT },	  { KEY_HOME, K_HOME },	  { KEY_END, K_END },
		{ KEY_PPAGE, K_PGUP },	  { KEY_NPAGE, K_PGDN },  { KEY_BACKSPACE, K_BACKSPACE },
		{ KEY_DC, K_DELETE },	  { KEY_BTAB, K_BTAB },	  { KEY_ENTER, K_ENTER },
		{ KEY_RESIZE, K_RESIZE },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if ((wint_t)table[i].curses == c)
			return table[i].ours;
	}
	if (c >= (wint_t)KEY_F(1) && c <= (wint_t)KEY_F(12))
		return K_F1 + (int)(c - (wint_t)KEY_F(1));
	return K_NONE;
}

/*
 * The character that begins with byte c. Not curses' own get_wch(), which after a byte that is no
 * text waits for fifteen more and drops them.
 */
static int key_of_bytes(int c)
{
	enum { REST_MS = 25 };
	mbstate_t state = { 0 };
	wchar_t wide;

	timeout(REST_MS);
	for (;;) {
		char byte = (char)c;
		size_t n = mbrtowc(&wide, &byte, 1, &state);

		if (n == (size_t)-1)
			return K_NONE;
		if (n != (size_t)-2)
			return (int)wide;
		c = getch();
		if (c == ERR)
			return K_NONE;
		if (c < 0x80 || c > 0xff) {
			ungetch(c);
			return K_NONE;
		}
	}
}

int term_key(struct terminal *term, int timeout_ms)
{
	int c;

	(void)term;
	timeout(timeout_ms);
	c = getch();
	if (c == ERR)
		return K_NONE;
	if (c > 0xff)
		return key_of_curses((wint_t)c);
	if (c >= 0x80)
		return key_of_bytes(c);
	if (c == '\r')
		return K_ENTER;
	return c == 0x7f || c == 8 ? K_BACKSPACE : c;
}

/* ---- clipboard ---------------------------------------------------------------------------- */

void term_copy(struct terminal *term, const char *text, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)text;

	if (len > MAX_COPY)
		len = MAX_COPY;
	fputs("\033]52;c;", term->out);
	for (size_t i = 0; i < len; i += 3) {
		unsigned int bits = (unsigned int)p[i] << 16;

		if (i + 1 < len)
			bits |= (unsigned int)p[i + 1] << 8;
		if (i + 2 < len)
			bits |= p[i + 2];
		fputc(digits[bits >> 18], term->out);
		fputc(digits[bits >> 12 & 63], term->out);
		fputc(i + 1 < len ? digits[bits >> 6 & 63] : '=', term->out);
		fputc(i + 2 < len ? digits[bits & 63] : '=', term->out);
	}
	fputs("\a", term->out);
	fflush(term->out);
}
