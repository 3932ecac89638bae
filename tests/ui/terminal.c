// SPDX-License-Identifier: GPL-2.0-only
/* The explorer in a real pseudo-terminal, seen through a terminal emulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

enum { PATIENCE_MS = 20000, SKIPPED = 77 };

static char **arguments; /* of the program under test */

struct session {
	pid_t pid;
	int master, slave; /* the slave stays open here, so that its settings can be read */
	VTerm *vterm;
	VTermScreen *screen;
	struct termios before;
	bool alternate, cursor_visible;
	int rows, columns;
	bool ended;
	int status;
};

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
	struct session *session = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		session->alternate = value->boolean;
	if (prop == VTERM_PROP_CURSORVISIBLE)
		session->cursor_visible = value->boolean;
	return 1;
}

static void start(struct session *session, int rows, int columns, const char *term,
		  const char *no_color)
{
	static const VTermScreenCallbacks callbacks = { .settermprop = on_property };
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };

	*session = (struct session){ .rows = rows, .columns = columns, .cursor_visible = true };
	session->vterm = vterm_new(rows, columns);
	vterm_set_utf8(session->vterm, 1);
	session->screen = vterm_obtain_screen(session->vterm);
	vterm_screen_set_callbacks(session->screen, &callbacks, session);
	vterm_screen_enable_altscreen(session->screen, 1);
	vterm_screen_reset(session->screen, 1);
	assert_int_equal(openpty(&session->master, &session->slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(session->slave, &session->before), 0);
	session->pid = fork();
	if (session->pid == 0) {
		close(session->master);
		login_tty(session->slave);
		setenv("TERM", term, 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		unsetenv("COLORFGBG");
		if (no_color)
			setenv("NO_COLOR", no_color, 1);
		else
			unsetenv("NO_COLOR");
		execv(arguments[0], arguments);
		_exit(127);
	}
	assert_true(session->pid > 0);
}

/* Takes in what the program writes for a moment. */
static void listen(struct session *session, int ms)
{
	struct pollfd fd = { .fd = session->master, .events = POLLIN };
	char buf[65536], reply[256];
	ssize_t len;
	size_t got;

	while (poll(&fd, 1, ms) > 0) {
		len = read(session->master, buf, sizeof(buf));
		if (len <= 0)
			break;
		vterm_input_write(session->vterm, buf, (size_t)len);
		/* answers to the program's questions about the terminal */
		got = vterm_output_read(session->vterm, reply, sizeof(reply));
		if (got)
			assert_int_equal(write(session->master, reply, got), got);
		ms = 10;
	}
	vterm_screen_flush_damage(session->screen);
}

static void row_text(struct session *session, int row, char *buf, size_t size)
{
	VTermRect rect = { row, row + 1, 0, session->columns };
	size_t len = vterm_screen_get_text(session->screen, buf, size - 1, rect);

	buf[len < size ? len : size - 1] = '\0';
}

static bool shows(struct session *session, const char *text)
{
	char row[4096];

	for (int i = 0; i < session->rows; i++) {
		row_text(session, i, row, sizeof(row));
		if (strstr(row, text))
			return true;
	}
	return false;
}

static void wait_for(struct session *session, const char *text)
{
	char row[4096];

	for (int waited = 0; waited < PATIENCE_MS; waited += 50) {
		listen(session, 50);
		if (shows(session, text))
			return;
	}
	for (int i = 0; i < session->rows; i++) {
		row_text(session, i, row, sizeof(row));
		fprintf(stderr, "|%s\n", row);
	}
	fail_msg("it never shows: %s", text);
}

static void type(struct session *session, const char *keys)
{
	assert_int_equal(write(session->master, keys, strlen(keys)), strlen(keys));
}

static void resize(struct session *session, int rows, int columns)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };

	session->rows = rows;
	session->columns = columns;
	vterm_set_size(session->vterm, rows, columns);
	assert_int_equal(ioctl(session->master, TIOCSWINSZ, &size), 0);
}

static void wait_for_end(struct session *session)
{
	for (int waited = 0; waited < PATIENCE_MS; waited += 20) {
		listen(session, 20);
		if (waitpid(session->pid, &session->status, WNOHANG) == session->pid) {
			session->ended = true;
			listen(session, 20);
			return;
		}
	}
	fail_msg("it does not end");
}

static void finish(struct session *session)
{
	if (!session->ended) {
		kill(session->pid, SIGKILL);
		waitpid(session->pid, NULL, 0);
	}
	close(session->master);
	close(session->slave);
	vterm_free(session->vterm);
}

/* The terminal is as it was: main screen, cursor, line discipline. */
static void assert_restored(struct session *session)
{
	struct termios after;

	assert_false(session->alternate);
	assert_true(session->cursor_visible);
	assert_int_equal(tcgetattr(session->slave, &after), 0);
	assert_int_equal(after.c_lflag, session->before.c_lflag);
	assert_int_equal(after.c_iflag, session->before.c_iflag);
	assert_int_equal(after.c_oflag, session->before.c_oflag);
}

static VTermScreenCell cell_at(struct session *session, int row, int column)
{
	VTermScreenCell cell;

	vterm_screen_get_cell(session->screen, (VTermPos){ row, column }, &cell);
	return cell;
}

static void keys_resizing_leaving(void **state)
{
	struct session session;

	(void)state;
	start(&session, 24, 80, "xterm-256color", NULL);
	wait_for(&session, "ACCEPTED");
	assert_true(session.alternate);
	assert_false(session.cursor_visible);
	assert_true(shows(&session, "step 0 of"));
	type(&session, "ss");
	wait_for(&session, "step 2 of");
	/* bytes that are no character take no key along */
	type(&session, "\377\303S\303\244\303");
	wait_for(&session, "step 1 of");
	type(&session, "s");
	wait_for(&session, "step 2 of");
	/* an arrow key, in the terminal's own words */
	type(&session, "\033OC");
	type(&session, "]");
	wait_for(&session, "pruned");
	resize(&session, 45, 140);
	wait_for(&session, "live checkpoints");
	assert_true(shows(&session, "prune-at-join.bpf.o"));
	resize(&session, 12, 50);
	wait_for(&session, "prune_at_join");
	resize(&session, 24, 80);
	type(&session, "1");
	wait_for(&session, "graph");
	type(&session, "8");
	wait_for(&session, "log at level 2");
	type(&session, ":vi\t he\t\r");
	wait_for(&session, "In every view");
	type(&session, "\033");
	wait_for(&session, "log at level 2");
	type(&session, "q");
	wait_for_end(&session);
	assert_true(WIFEXITED(session.status) && WEXITSTATUS(session.status) == 0);
	assert_restored(&session);
	finish(&session);
}

static void colours_by_role(void **state)
{
	struct session session;
	VTermScreenCell cell;

	(void)state;
	start(&session, 24, 80, "xterm-256color", NULL);
	wait_for(&session, "ACCEPTED");
	/* the program's name in the header */
	cell = cell_at(&session, 0, 1);
	assert_int_equal(cell.chars[0], 'b');
	assert_true(cell.attrs.bold);
	assert_true(VTERM_COLOR_IS_INDEXED(&cell.fg) || VTERM_COLOR_IS_RGB(&cell.fg));
	assert_false(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
	type(&session, "q");
	wait_for_end(&session);
	finish(&session);

	start(&session, 24, 80, "xterm-256color", "1");
	wait_for(&session, "ACCEPTED");
	for (int row = 0; row < 24; row++) {
		for (int column = 0; column < 80; column++) {
			cell = cell_at(&session, row, column);
			assert_true(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
			assert_true(VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
		}
	}
	type(&session, "q");
	wait_for_end(&session);
	finish(&session);
}

static void a_signal_restores_it_too(void **state)
{
	struct session session;

	(void)state;
	start(&session, 24, 80, "xterm", NULL);
	wait_for(&session, "ACCEPTED");
	kill(session.pid, SIGTERM);
	wait_for_end(&session);
	assert_restored(&session);
	finish(&session);
}

static void without_colours_and_for_unknown_terminals(void **state)
{
	struct session session;

	(void)state;
	start(&session, 24, 80, "vt100", NULL);
	wait_for(&session, "ACCEPTED");
	type(&session, "q");
	wait_for_end(&session);
	assert_restored(&session);
	finish(&session);

	start(&session, 24, 80, "no-such-terminal", NULL);
	wait_for_end(&session);
	assert_true(WIFEXITED(session.status));
	assert_int_equal(WEXITSTATUS(session.status), 2);
	assert_true(shows(&session, "no-such-terminal"));
	finish(&session);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_resizing_leaving),
		cmocka_unit_test(colours_by_role),
		cmocka_unit_test(a_signal_restores_it_too),
		cmocka_unit_test(without_colours_and_for_unknown_terminals),
	};
	int master, slave;

	if (argc < 2) {
		fprintf(stderr, "usage: terminal BPFLOUPE ARGUMENTS...\n");
		return 2;
	}
	/* a container may have none */
	if (openpty(&master, &slave, NULL, NULL, NULL)) {
		printf("skipped: no pseudo-terminal: %s\n", strerror(errno));
		return SKIPPED;
	}
	close(master);
	close(slave);
	arguments = argv + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
