// SPDX-License-Identifier: GPL-2.0-only
/* The format strings of bpf_snprintf(), which are checked when a program is loaded. */
#include "verifier/helper.h"

enum char_class {
	SPACE = 1 << 0,
	PUNCT = 1 << 1,
	OTHER = 1 << 2, /* letters and digits */
};

/* Classes of characters, Latin-1 as in the kernel whatever the locale; 0: control characters. */
static enum char_class class_of(uint8_t c)
{
	if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0)
		return SPACE;
	if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	    (c >= 0xc0 && c != 0xd7 && c != 0xf7))
		return OTHER;
	if ((c > ' ' && c < 0x7f) || c > 0xa0)
		return PUNCT;
	return 0;
}

static bool is_one_of(uint8_t c, const char *set)
{
	return c && strchr(set, c);
}

/* What follows cannot be part of the conversion. */
static bool ends_conversion(uint8_t c)
{
	return !c || (class_of(c) & (SPACE | PUNCT));
}

/* The pointer conversion at *at, the p. Leaves *at at its last character. */
static bool pointer_ok(const uint8_t *at, const uint8_t **last)
{
	*last = at;
	if (ends_conversion(at[1]))
		return true;
	*last = at + 1;
	if (is_one_of(at[1], "ku") && at[2] == 's') {
		*last = at + 2;
		return ends_conversion(at[3]);
	}
	if (is_one_of(at[1], "KxsSB"))
		return true;
	*last = at + 2;
	return is_one_of(at[1], "iI") && is_one_of(at[2], "46");
}

/* The conversion after a percent sign. */
static bool conversion_ok(const uint8_t *at, const uint8_t **last)
{
	if (*at >= 0x80)
		return false;
	while (is_one_of(*at, "0+- "))
		at++;
	if (*at >= '1' && *at <= '9') {
		while (*at >= '0' && *at <= '9')
			at++;
	}
	if (*at == 'p')
		return pointer_ok(at, last);
	*last = at;
	if (*at == 's')
		return ends_conversion(at[1]);
	if (*at == 'c')
		return true;
	for (int i = 0; i < 2 && *at == 'l'; i++)
		at++;
	*last = at;
	return is_one_of(*at, "iduxX");
}

static bool format_ok(const uint8_t *fmt, uint64_t arg_cnt)
{
	uint64_t used = 0;

	for (; *fmt; fmt++) {
		if (*fmt < 0x80 && !class_of(*fmt))
			return false;
		if (*fmt != '%')
			continue;
		if (fmt[1] == '%') {
			fmt++;
			continue;
		}
		if (used++ >= arg_cnt || !conversion_ok(fmt + 1, &fmt))
			return false;
	}
	return true;
}

int vf_check_snprintf(struct vf_env *env)
{
	static const uint8_t empty;
	const struct loupe_reg *fmt = &vf_cur_regs(env)[BPF_REG_3];
	uint64_t data_len = vf_cur_regs(env)[BPF_REG_5].var_off.value;
	const struct loupe_map *map = env->maps[loupe_reg_map(fmt)].def;
	uint32_t off = (uint32_t)(fmt->off + (int)fmt->var_off.value);
	const uint8_t *text = &empty;

	if (data_len % 8)
		return -EINVAL;
	/* its end was found before: contents that were never written are zero */
	if (off < map->data_len)
		text = map->data + off;
	if (format_ok(text, (uint32_t)(data_len / 8)))
		return 0;
	vf_msg(env, "Invalid format string\n");
	return -EINVAL;
}
