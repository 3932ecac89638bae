// SPDX-License-Identifier: GPL-2.0-only
/* Breaking text at blanks. */
#include "wrap.h"

int wrap_columns(const char *text, int w)
{
	int at = 0, blank = 0;
	uint32_t c;

	while ((c = screen_next_glyph(&text)) != 0) {
		if (++at > w)
			return blank ? blank : w;
		if (c == ' ')
			blank = at;
	}
	return at;
}

int wrap_text(struct screen *screen, struct rect at, int first, enum ui_role role, const char *text)
{
	int used = 0;

	while (*text && used < at.h) {
		int indent = used ? 0 : first, room = at.w - indent;
		int columns = wrap_columns(text, room);

		if (used + 1 == at.h) {
			screen_text(screen, at.x + indent, at.y + used, room, role, text);
			return at.h;
		}
		for (int x = 0; x < columns; x++)
			screen_put(screen, at.x + indent + x, at.y + used, role,
				   screen_next_glyph(&text));
		used++;
	}
	return used;
}
