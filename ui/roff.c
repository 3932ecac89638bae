// SPDX-License-Identifier: GPL-2.0-only
#include "roff.h"

/* One UTF-8 character as roff names it; what is no character as '?'. */
static const unsigned char *put_wide(FILE *out, const unsigned char *p)
{
	int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	unsigned int c = *p++ & (0x3fu >> more);

	if (!more) {
		fputc('?', out);
		return p;
	}
	for (; more && (*p & 0xc0) == 0x80; more--)
		c = c << 6 | (*p++ & 0x3f);
	fprintf(out, "\\[u%04X]", c);
	return p;
}

/* roff takes a leading dot or quote, a double quote in a macro's arguments, a backslash and a minus
 * for its own. */
void roff_put(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (*p == '.' || *p == '\'')
		fputs("\\&", out);
	while (*p) {
		if (*p >= 0x80) {
			p = put_wide(out, p);
			continue;
		}
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '-')
			fputs("\\-", out);
		else if (*p == '"')
			fputs("\\(dq", out);
		else
			fputc(*p, out);
		p++;
	}
}
