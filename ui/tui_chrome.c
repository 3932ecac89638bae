// SPDX-License-Identifier: GPL-2.0-only
/* What is around every view: header with the verdict, tabs, error bar, status line, progress. */
#include "tui_internal.h"

#include "commands.h"
#include "explain.h"
#include "panes.h"
#include "wrap.h"

#include <string.h>

/* ---- header ------------------------------------------------------------------------------- */

static const struct {
	enum ui_role role;
	const char *word;
} verdicts[] = {
	[LOUPE_ACCEPTED] = { UI_ACCEPTED, " ACCEPTED " },
	[LOUPE_REJECTED] = { UI_REJECTED, " REJECTED " },
	[LOUPE_NOT_JUDGED] = { UI_UNJUDGED, " NOT JUDGED " },
	[LOUPE_STOPPED] = { UI_UNJUDGED, " STOPPED " },
};

/* The verdict's badge and the counters beside it. */
static enum ui_role verdict_words(const struct subject *subject, bool wide, const char **word,
				  char *text, size_t size)
{
	static const struct {
		const char *word;
		enum ui_role role;
	} states[] = {
		[SUBJECT_NOT_LOADED] = { " NOT LOADED ", UI_UNJUDGED },
		[SUBJECT_NEW] = { "", UI_TEXT },
		[SUBJECT_WORKING] = { " WORKING ", UI_WORKING },
		[SUBJECT_READY] = { "", UI_TEXT },
		[SUBJECT_STOPPED] = { " STOPPED ", UI_UNJUDGED },
		[SUBJECT_FAILED] = { " FAILED ", UI_REJECTED },
	};
	const struct loupe_counters *counters = &subject->result.counters;
	char steps[NUMBER_TEXT], states_text[NUMBER_TEXT], peak[NUMBER_TEXT];

	text[0] = '\0';
	*word = states[subject->state].word;
	if (subject->state != SUBJECT_READY)
		return states[subject->state].role;
	if (subject->filter) {
		snprintf(text, size, " %u → %u insns  %s edits  -O%u ",
			 loupe_rewrite_before(subject->rewrite)->cnt,
			 loupe_rewrite_after(subject->rewrite)->cnt,
			 number_text(steps, loupe_rewrite_edit_cnt(subject->rewrite)),
			 subject->level);
		*word = subject->proof.verdict == LOUPE_PROOF_PROVEN ? " PROVEN " : " TESTED ";
		return subject->proof.verdict == LOUPE_PROOF_PROVEN ? UI_ACCEPTED : UI_UNJUDGED;
	}
	*word = verdicts[subject->result.verdict].word;
	number_text(steps, counters->insn_processed);
	if (wide)
		snprintf(text, size, "  %s steps  %s states  peak %s ", steps,
			 number_text(states_text, counters->total_states),
			 number_text(peak, counters->peak_states));
	else
		snprintf(text, size, " %s steps ", steps);
	return verdicts[subject->result.verdict].role;
}

static void draw_title(struct tui *tui, int w)
{
	struct pen pen = pen_at(tui->screen, 0, 0, w);
	const struct subject *subject = tui_current_subject(tui);
	char number[NUMBER_TEXT], text[160];
	enum ui_role role;
	const char *word;
	int columns;

	pen_text(&pen, UI_BRAND, " bpfloupe  ");
	if (!subject) {
		pen_printf(&pen, UI_TEXT, "%s", input_base_name(tui->inputs[0].path));
		if (tui->input_cnt > 1)
			pen_printf(&pen, UI_DIM, " and %u more", tui->input_cnt - 1);
		pen_printf(&pen, UI_DIM, "  %u program%s", tui->subject_cnt,
			   tui->subject_cnt == 1 ? "" : "s");
		return;
	}
	role = verdict_words(subject, w >= 110, &word, text, sizeof(text));
	columns = screen_columns(word) + screen_columns(text);
	pen.end -= columns + 1;
	if (!subject->filter && w >= 100) {
		pen_text(&pen, UI_TEXT, input_base_name(subject->input->path));
		pen_text(&pen, UI_DIM, " › ");
	}
	pen_text(&pen, UI_STRONG, subject_name(subject));
	pen_printf(&pen, UI_DIM, "  %s", subject_type(subject));
	if (!subject->filter && pen_room(&pen) > 14)
		pen_printf(&pen, UI_DIM, "  %s insns",
			   number_text(number, subject_insn_cnt(subject)));
	pen.end = w;
	pen_to(&pen, w - columns);
	pen_text(&pen, role, word);
	pen_text(&pen, UI_STRONG, text);
}

/* Whose word the verdict is, at the right of the tabs; what is less needed goes when room is short.
 */
static void draw_origin(struct pen *pen, const struct subject *subject)
{
	static const struct {
		const char *words;
		enum ui_role role;
	} kernels[] = {
		[KERNEL_NOT_ASKED] = { "kernel: not asked (K)", UI_DIM },
		[KERNEL_ASKED] = { "kernel: being asked", UI_NOTICE },
		[KERNEL_AGREES] = { "kernel: agrees", UI_HIT },
		[KERNEL_DIFFERS] = { "kernel: differs", UI_MISS },
		[KERNEL_ANSWERED] = { "kernel: has answered", UI_NOTICE },
		[KERNEL_NO_ANSWER] = { "kernel: cannot be asked", UI_DIM },
	};
	const char *model = "model 6.18.44", *kernel = "", *btf = NULL;
	enum ui_role role = UI_DIM;
	char types[96] = "";
	int columns;

	if (subject && subject->filter) {
		pen->end--;
		pen_right(pen, UI_DIM, input_base_name(subject->input->path));
		return;
	}
	if (subject && subject->logged) {
		char lacks[200] = "lacks ";

		if (subject->state != SUBJECT_READY)
			return;
		loupe_lacks_print(lacks + 6, sizeof(lacks) - 6, subject->result.lacks);
		pen->end--;
		pen_right(pen, UI_DIM, lacks);
		return;
	}
	if (subject && subject->image) {
		btf = input_kernel_btf(subject->image);
		kernel = kernels[subject->kernel].words;
		if (subject->beside && subject->kernel == KERNEL_NOT_ASKED) {
			kernel = subject->beside->agrees ? "log: agrees" : "log: differs";
			role = subject->beside->agrees ? UI_HIT : UI_MISS;
		} else {
			role = kernels[subject->kernel].role;
		}
	}
	if (btf)
		snprintf(types, sizeof(types), "types: %s   ",
			 strcmp(btf, "/sys/kernel/btf/vmlinux") == 0 ? "this host"
								     : input_base_name(btf));
	if (screen_columns(types) + screen_columns(model) + screen_columns(kernel) + 8 >
	    pen_room(pen))
		types[0] = '\0';
	if (screen_columns(model) + screen_columns(kernel) + 8 > pen_room(pen))
		model = "";
	columns = screen_columns(types) + screen_columns(model) + screen_columns(kernel) +
		  (*model && *kernel ? 3 : 0) + 1;
	if (columns + 2 > pen_room(pen))
		return;
	pen_to(pen, pen->end - columns);
	pen_text(pen, UI_DIM, types);
	pen_text(pen, UI_DIM, model);
	pen_text(pen, UI_DIM, *model && *kernel ? "   " : "");
	pen_text(pen, role, kernel);
}

static bool has_tab(struct tui *tui, enum view_id id)
{
	return view_ops(id)->title && (id != VIEW_LIST || tui->subject_cnt > 1) &&
	       (id == VIEW_LIST || !view_refuses(id, tui_current_subject(tui)));
}

/* How much room tabs have; the last always fits. */
enum tabs { TABS_WIDE, TABS_CLOSE, TABS_KEYS /* titles only of what is open */ };

static enum tabs tabs_for(struct tui *tui, int w)
{
	int cnt = 0, used = 0;

	for (int id = 0; id < VIEW_CNT; id++) {
		if (!has_tab(tui, (enum view_id)id))
			continue;
		cnt++;
		used += 2 + screen_columns(view_ops((enum view_id)id)->title);
	}
	/* a blank in front, and one or two behind each but the last */
	return used + 2 * cnt - 1 <= w ? TABS_WIDE : used + cnt <= w ? TABS_CLOSE : TABS_KEYS;
}

static void draw_tabs(struct tui *tui, int w)
{
	struct pen pen = pen_at(tui->screen, 0, 1, w);
	enum tabs tabs = tabs_for(tui, w);

	pen_text(&pen, UI_TEXT, " ");
	for (int id = 0; id < VIEW_CNT; id++) {
		bool open = (int)tui->view == id;
		char keys[64];

		if (!has_tab(tui, (enum view_id)id))
			continue;
		key_list(VIEW_ANY, (enum request)(REQ_VIEW_LIST + id), keys, sizeof(keys));
		pen_printf(&pen, open ? UI_TAB_ACTIVE : UI_DIM, "%.1s", keys);
		if (open || tabs != TABS_KEYS)
			pen_printf(&pen, open ? UI_TAB_ACTIVE : UI_TAB, " %s",
				   view_ops((enum view_id)id)->title);
		pen_text(&pen, UI_TEXT, tabs == TABS_WIDE ? "  " : " ");
	}
	draw_origin(&pen, tui_current_subject(tui));
}

/* When a rejection was not found by exploring: "before exploration, control flow: "; else "". */
static const char *phase_words(const struct loupe_verify_result *result, char *buf, size_t size)
{
	static const char *const names[] = {
		[LOUPE_PHASE_LOAD] = "loading",
		[LOUPE_PHASE_SUBPROGS] = "functions",
		[LOUPE_PHASE_BTF] = "type information",
		[LOUPE_PHASE_RESOLVE] = "maps and opcodes",
		[LOUPE_PHASE_CFG] = "control flow",
		[LOUPE_PHASE_SCC] = "loops",
		[LOUPE_PHASE_LIVENESS] = "liveness",
		[LOUPE_PHASE_FASTCALL] = "fast calls",
		[LOUPE_PHASE_STACK_DEPTH] = "stack depth",
		[LOUPE_PHASE_DEAD_CODE] = "dead code",
		[LOUPE_PHASE_REWRITE] = "rewriting",
		[LOUPE_PHASE_JIT] = "compilation",
		[LOUPE_PHASE_DONE] = NULL,
	};

	buf[0] = '\0';
	if (result->verdict != LOUPE_REJECTED)
		return buf;
	/* a log does not tell what was being done then */
	if (result->lacks && result->phase < LOUPE_PHASE_EXPLORE_MAIN)
		snprintf(buf, size, "before exploration: ");
	else if (names[result->phase])
		snprintf(buf, size, "%s exploration, %s: ",
			 result->phase < LOUPE_PHASE_EXPLORE_MAIN ? "before" : "after",
			 names[result->phase]);
	return buf;
}

/* What stands in plain sight below the tabs; false if there is nothing to say. */
static bool bar_text(const struct subject *subject, char *buf, size_t size)
{
	if (!subject)
		return false;
	if (subject->state == SUBJECT_NOT_LOADED) {
		snprintf(buf, size, "did not load: %s",
			 subject->prog->reason ? subject->prog->reason : "no reason was given");
		return true;
	}
	if (subject->state == SUBJECT_FAILED) {
		snprintf(buf, size, "%s", subject->error);
		return true;
	}
	if (subject->state != SUBJECT_READY || subject->filter ||
	    subject->result.verdict == LOUPE_ACCEPTED)
		return false;
	if (subject->result.verdict == LOUPE_REJECTED)
		snprintf(buf, size, "%s", subject->error);
	else
		snprintf(buf, size, "neither accepted nor rejected: %s",
			 *subject->error ? subject->error
					 : "something that the model does not have");
	return true;
}

static int draw_bar(struct tui *tui, int y, int w)
{
	const struct subject *subject = tui_current_subject(tui);
	char text[1200], whole[1400], code[32] = "", phase[64] = "";
	const struct explanation *explanation = NULL;
	const char *rest = whole;
	struct pen pen;
	int room, rows, more = 0;

	if (!bar_text(subject, text, sizeof(text)))
		return 0;
	if (subject->state == SUBJECT_READY)
		phase_words(&subject->result, phase, sizeof(phase));
	/* some messages name the insn themselves */
	if (subject->state == SUBJECT_READY && subject->error_insn >= 0 && !strstr(text, "insn "))
		snprintf(whole, sizeof(whole), "%sinsn %d: %s", phase, subject->error_insn, text);
	else
		snprintf(whole, sizeof(whole), "%s%s", phase, text);
	if (subject->state == SUBJECT_READY && subject->result.err)
		snprintf(code, sizeof(code), "%s ", errno_name(-subject->result.err));
	room = w - 3 - screen_columns(code) - 1;
	rows = screen_columns(whole) > room ? 2 : 1;
	screen_ground(tui->screen, (struct rect){ 0, y, w, rows }, UI_GROUND_ERROR);
	pen = pen_at(tui->screen, 0, y, w);
	pen_text(&pen, UI_ERROR, " ✗ ");
	pen_right(&pen, UI_ERROR, code);
	if (rows == 2) {
		int columns = wrap_columns(rest, room);

		for (int x = 0; x < columns; x++)
			screen_put(tui->screen, 3 + x, y, UI_STRONG, screen_next_glyph(&rest));
		y++;
		room = w - 4;
	}
	screen_text(tui->screen, 3, y, room, UI_STRONG, rest);
	/* what exploration found is explained where it is looked at */
	if (*phase && tui->screen->h >= 20)
		explanation = explain_error(subject->error);
	if (explanation) {
		more = wrap_text(tui->screen, (struct rect){ 3, y + 1, w - 4, 2 }, 0, UI_NOTICE,
				 explanation->rule);
		more += wrap_text(tui->screen, (struct rect){ 3, y + 1 + more, w - 4, 2 }, 0,
				  UI_TEXT, explanation->ways);
	}
	return rows + more;
}

/* ---- status line -------------------------------------------------------------------------- */

static void draw_hints(struct tui *tui, struct pen *pen)
{
	static const struct view_hint general[] = {
		{ REQ_COMMAND, REQ_NONE, "" },
		{ REQ_VIEW_HELP, REQ_NONE, "help" },
		{ REQ_NONE, REQ_NONE, NULL },
	};
	const struct view_hint *groups[] = { view_ops(tui->view)->hints, general };
	char text[132];
	int need = 0, room = pen_room(pen);

	/* twice: measure, then draw flush right; what does not fit is left out from the right */
	for (int pass = 0; pass < 2; pass++) {
		int used = 0;

		if (pass)
			pen_to(pen, pen->end - need);
		for (size_t g = 0; g < 2; g++) {
			const struct view_hint *hint = groups[g];

			for (; hint && hint->request != REQ_NONE; hint++) {
				const struct view *view = tui->views[tui->view];
				char keys[64], other[64] = "";
				int columns;

				if (view && view->ops->offers &&
				    !view->ops->offers(view, hint->request))
					continue;

				key_list(tui->view, hint->request, keys, sizeof(keys));
				*strchrnul(keys, ' ') = '\0';
				if (hint->other != REQ_NONE) {
					key_list(tui->view, hint->other, other, sizeof(other));
					*strchrnul(other, ' ') = '\0';
				}
				snprintf(text, sizeof(text), "%s%s%s", keys, *other ? " " : "",
					 other);
				columns = screen_columns(text) + screen_columns(hint->what) +
					  (*hint->what ? 3 : 2);
				if (used + columns + (g ? 0 : 10) > room)
					continue;
				used += columns;
				if (!pass)
					continue;
				pen_text(pen, UI_KEY, text);
				pen_printf(pen, UI_DIM, "%s%s  ", *hint->what ? " " : "",
					   hint->what);
			}
		}
		need = used;
	}
}

static void draw_prompt(struct tui *tui, int y, int w)
{
	struct prompt *prompt = &tui->prompt;
	struct pen pen = pen_at(tui->screen, 0, y, w);
	char before[PROMPT_TEXT], text[PROMPT_TEXT];
	int shown = 0;

	pen_text(&pen, UI_PROMPT, prompt->label);
	snprintf(before, sizeof(before), "%.*s", (int)prompt->cursor, prompt->text);
	tui->screen->cursor_x = pen.x + screen_columns(before);
	tui->screen->cursor_y = y;
	pen_text(&pen, UI_STRONG, prompt->text);
	if (tui->prompt_for != REQ_COMMAND)
		return;
	/* what could follow */
	pen_text(&pen, UI_TEXT, "   ");
	for (uint32_t n = 0; n < 8; n++) {
		const char *base = prompt->completion < 0 ? prompt->text : prompt->typed;

		if (!tui_complete(tui, base, n, text, sizeof(text)))
			break;
		if (screen_columns(text) + 2 > pen_room(&pen))
			break;
		pen_printf(&pen, (int32_t)n == prompt->completion ? UI_KEY : UI_DIM, "%s  ", text);
		shown++;
	}
	if (!shown && *prompt->text)
		pen_text(&pen, UI_DIM, "");
}

static void draw_status(struct tui *tui, int y, int w)
{
	struct pen pen = pen_at(tui->screen, 0, y, w);
	const struct view *view = tui->views[tui->view];

	screen_ground(tui->screen, (struct rect){ 0, y, w, 1 }, UI_GROUND_BAR);
	if (tui->prompt.open) {
		draw_prompt(tui, y, w);
		return;
	}
	pen_text(&pen, UI_TEXT, " ");
	if (*tui->message) {
		pen_text(&pen, tui->message_role, tui->message);
		return;
	}
	if (view && view->ops->legend) {
		view->ops->legend((struct view *)view, &pen);
		pen_text(&pen, UI_TEXT, "  ");
	}
	draw_hints(tui, &pen);
}

/* ---- the whole ---------------------------------------------------------------------------- */

void tui_draw_progress(struct screen *screen, struct rect area, const struct job *job)
{
	uint32_t done = atomic_load(&job->progress);
	int w = area.w > 64 ? 60 : area.w - 4, x = area.x + (area.w - w) / 2;
	int y = area.y + area.h / 2 - 1;
	struct pen pen = pen_at(screen, x, y, w);
	char number[NUMBER_TEXT], total[NUMBER_TEXT];

	if (w < 8)
		return;
	pen_text(&pen, UI_STRONG, job->what);
	pen_text(&pen, UI_DIM, job->state == JOB_WAITING ? "  waits for its turn" : "");
	if (job->total) {
		int filled = (int)((uint64_t)done * (uint64_t)w / job->total);

		for (int i = 0; i < w; i++)
			screen_put(screen, x + i, y + 1, i < filled ? UI_PROGRESS : UI_FRAME,
				   i < filled ? 0x2588 : 0x2591);
		pen = pen_at(screen, x, y + 2, w);
		pen_printf(&pen, UI_TEXT, "%s", number_text(number, done));
		pen_printf(&pen, UI_DIM, " %s, at most %s", job->unit,
			   number_text(total, job->total));
	} else {
		pen = pen_at(screen, x, y + 2, w);
	}
	pen_right(&pen, UI_KEY, "Esc stops");
}

static void draw_missing(struct tui *tui, struct rect area)
{
	const struct subject *subject = tui_current_subject(tui);
	const char *refusal = view_refuses(tui->view, subject);
	struct pen pen = pen_at(tui->screen, area.x + 2, area.y + area.h / 2, area.w - 4);
	struct job *job = jobs_running(tui->jobs);

	if (refusal) {
		pen_text(&pen, UI_NOTICE, refusal);
	} else if (subject && subject->state == SUBJECT_WORKING && job) {
		tui_draw_progress(tui->screen, area, job);
	} else if (subject && subject->state == SUBJECT_STOPPED) {
		pen_text(&pen, UI_NOTICE, "It was stopped. ");
		pen_text(&pen, UI_KEY, ":verify");
		pen_text(&pen, UI_TEXT, " starts it again.");
	}
}

void tui_draw(struct tui *tui)
{
	struct screen *screen = tui->screen;
	int w = screen->w, h = screen->h, top = 2;
	struct view *view;
	struct rect area;

	screen_clear(screen);
	view = tui_view(tui);
	draw_title(tui, w);
	draw_tabs(tui, w);
	screen_ground(screen, (struct rect){ 0, 0, w, 2 }, UI_GROUND_BAR);
	if (tui->view != VIEW_LIST && tui->view != VIEW_HELP)
		top += draw_bar(tui, top, w);
	area = (struct rect){ 0, top, w, h - top - 1 };
	if (w < 40 || h < 10) {
		struct pen pen = pen_at(screen, 0, top, w);

		pen_text(&pen, UI_NOTICE, "needs 40×10 at least");
	} else if (view) {
		int rows = tui->lesson && view->subject ? lesson_rows(tui->lesson, area) : 0;

		area.h -= rows;
		view->ops->draw(view, screen, area);
		if (rows)
			lesson_draw(tui->lesson, screen,
				    (struct rect){ 0, area.y + area.h, w, rows });
	} else {
		draw_missing(tui, area);
	}
	/* below what views draw, so that nothing of theirs covers it */
	screen_erase(screen, (struct rect){ 0, h - 1, w, 1 });
	draw_status(tui, h - 1, w);
	if (tui->ascii)
		screen_make_ascii(screen);
}
