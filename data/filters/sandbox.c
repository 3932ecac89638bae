/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small seccomp filter as a rule compiler writes it before any optimization: each rule loads the
 * word that it looks at, whatever A holds, and falls through chains of jumps.
 *
 *   read, write, close, exit_group: allowed
 *   ioctl: allowed with TCGETS, TIOCGWINSZ or FIONREAD
 *   socket: allowed for AF_UNIX and AF_INET
 *   everything else: EPERM
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

struct sock_filter sandbox[] = {
	{ 0x20, 0, 0, 0x00000004 }, /*  0: A = arch */
	{ 0x15, 1, 0, 0xc000003e }, /*  1: x86-64? */
	{ 0x06, 0, 0, 0x80000000 }, /*  2: kill the process */
	{ 0x20, 0, 0, 0x00000000 }, /*  3: A = nr */
	{ 0x35, 0, 1, 0x40000000 }, /*  4: x32? */
	{ 0x06, 0, 0, 0x80000000 }, /*  5: kill the process */
	{ 0x20, 0, 0, 0x00000000 }, /*  6: A = nr, again */
	{ 0x15, 0, 1, 0x00000000 }, /*  7: read */
	{ 0x05, 0, 0, 0x0000001a }, /*  8: to the allowing return */
	{ 0x15, 0, 1, 0x00000001 }, /*  9: write */
	{ 0x05, 0, 0, 0x00000018 }, /* 10 */
	{ 0x15, 0, 1, 0x00000003 }, /* 11: close */
	{ 0x05, 0, 0, 0x00000016 }, /* 12 */
	{ 0x15, 0, 1, 0x000000e7 }, /* 13: exit_group */
	{ 0x05, 0, 0, 0x00000014 }, /* 14 */
	{ 0x15, 0, 9, 0x00000010 }, /* 15: ioctl, else 25 */
	{ 0x20, 0, 0, 0x00000018 }, /* 16: A = args[1].lo */
	{ 0x15, 0, 1, 0x00005401 }, /* 17: TCGETS */
	{ 0x05, 0, 0, 0x00000010 }, /* 18 */
	{ 0x20, 0, 0, 0x00000018 }, /* 19: A = args[1].lo, again */
	{ 0x15, 0, 1, 0x00005413 }, /* 20: TIOCGWINSZ */
	{ 0x05, 0, 0, 0x0000000d }, /* 21 */
	{ 0x20, 0, 0, 0x00000018 }, /* 22: A = args[1].lo, again */
	{ 0x15, 11, 0, 0x0000541b }, /* 23: FIONREAD */
	{ 0x05, 0, 0, 0x00000008 }, /* 24: to the refusing return */
	{ 0x15, 0, 6, 0x00000029 }, /* 25: socket, else 32 */
	{ 0x20, 0, 0, 0x00000010 }, /* 26: A = args[0].lo */
	{ 0x15, 0, 1, 0x00000001 }, /* 27: AF_UNIX */
	{ 0x05, 0, 0, 0x00000006 }, /* 28 */
	{ 0x20, 0, 0, 0x00000010 }, /* 29: A = args[0].lo, again */
	{ 0x15, 0, 1, 0x00000002 }, /* 30: AF_INET */
	{ 0x05, 0, 0, 0x00000003 }, /* 31 */
	{ 0x05, 0, 0, 0x00000000 }, /* 32 */
	{ 0x06, 0, 0, 0x00050001 }, /* 33: errno EPERM */
	{ 0x06, 0, 0, 0x00050001 }, /* 34: errno EPERM, never reached */
	{ 0x06, 0, 0, 0x7fff0000 }, /* 35: allow */
};
