/* SPDX-License-Identifier: GPL-2.0-only */
/* A lesson in the explorer: where it is, its pane, its keys. */
#ifndef BPFLOUPE_UI_LESSON_PLAY_H
#define BPFLOUPE_UI_LESSON_PLAY_H

#include "keys.h"
#include "screen.h"

struct lesson;
struct lesson_play;
struct tui;

/** Begins a lesson, which stays the caller's. NULL when out of memory. */
struct lesson_play *lesson_play_create(const struct lesson *lesson);
void lesson_play_destroy(struct lesson_play *play);

/** Goes to the present stop: when the program is ready, or verified again. */
void lesson_arrive(struct tui *tui);

/** Obeys a request that is about stops; false if it is another one. */
bool lesson_request(struct tui *tui, enum request request);

/** Rows that the pane takes of a view's area. */
int lesson_rows(const struct lesson_play *play, struct rect area);

/** Draws the pane. */
void lesson_draw(const struct lesson_play *play, struct screen *screen, struct rect area);

#endif
