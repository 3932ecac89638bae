// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: args_kernel [--unprivileged] [HELPER]
 * Arguments of helpers, against the running kernel: every helper that a program type has is called
 * with every kind of value in its first argument, then in its second with a right first one, and so
 * on; with every kind of map; and its result is used. What is right is learnt from the kernel. A
 * helper that all types have is tried with a third of them, unless RIG_ALL is in the environment.
 */
#include "calls.h"

static void compare(struct rig *rig, const struct call *call, const char *what)
{
	char args[256] = "";

	for (uint32_t i = 0; i < call->arg_cnt; i++) {
		size_t len = strlen(args);

		snprintf(args + len, sizeof(args) - len, "%s%s", i ? ", " : "",
			 value_names[call->args[i]]);
	}
	rig_compare(rig, "helper %d(%s) of map %s%s", call->func, args, maps[call->map].name, what);
}

/* The call, with nothing done with its result, or with all that can be done with a pointer. */
static bool try_call(struct rig *rig, const struct call *call, bool use_result)
{
	if (!add_call(rig, call))
		return false;
	if (use_result) {
		rig_add(rig, RIG_MOV(R_SAVED, 0));
		rig_add(rig, RIG_JMP_IMM(BPF_JEQ, 0, 0, 3));
		rig_add(rig, RIG_LOAD(BPF_W, 1, 0, 0));
		rig_add(rig, RIG_ADD_IMM(0, 4));
		rig_add(rig, RIG_LOAD(BPF_DW, 1, 0, 0));
		rig_add(rig, RIG_LOAD(BPF_B, 1, R_SAVED, 0));
	}
	/* a helper that writes to the stack leaves no zero there */
	rig_add(rig, RIG_LOAD(BPF_DW, 1, BPF_REG_10, -64));
	rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
	compare(rig, call, use_result ? ", result used" : "");
	return true;
}

static void try_helper(struct rig *rig, const struct subject *subject, int func)
{
	struct call call = { .subject = subject, .func = func, .map = map_of_helper(func) };

	/* does it take any argument, and may it be called at all? */
	call.args[0] = NOTHING;
	call.arg_cnt = 1;
	try_call(rig, &call, false);
	if (!strstr(rig->log, "\nR1 !read_ok\n")) {
		try_call(rig, &call, true);
		return;
	}
	for (uint32_t k = 0; k < ARGS; k++) {
		int right = -1;

		call.arg_cnt = k + 1;
		for (int value = 0; value < VALUES; value++) {
			call.args[k] = (enum value)value;
			if (!try_call(rig, &call, false))
				continue;
			if (value != NOTHING && right < 0 && were_right(rig, k + 1))
				right = value;
			if (value == MAP_PTR && right == value) {
				uint32_t own = call.map;

				for (call.map = 0; call.map < MAPS; call.map++)
					try_call(rig, &call, false);
				call.map = own;
			}
		}
		if (right < 0)
			return;
		call.args[k] = (enum value)right;
		try_call(rig, &call, false);
		if (rig->kernel_err && !strstr(rig->log, "!read_ok"))
			return;
		if (!rig->kernel_err)
			break;
	}
	try_call(rig, &call, true);
	for (uint32_t map = 0; map < MAPS; map++) {
		call.map = map;
		try_call(rig, &call, true);
	}
}

/* Reads and writes through a pointer to a map, not to its values. */
static void try_map_pointers(struct rig *rig, const struct subject *subject)
{
	static const int offs[] = { -8, -1, 0, 8, 32000 };

	for (uint32_t map = 0; map < MAPS; map++) {
		for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
			for (int write = 0; write < 3; write++) {
				rig_start(rig, subject->type, subject->attach);
				rig_add_map(rig, BPF_REG_1, map, false, 0);
				rig_add(rig, RIG_MOV_IMM(BPF_REG_2, 0));
				rig_add(rig, write == 0	  ? RIG_LOAD(BPF_B, 2, 1, offs[i])
					     : write == 1 ? RIG_STORE(BPF_B, 1, 2, offs[i])
							  : RIG_STORE_IMM(BPF_B, 1, offs[i], 0));
				rig_add(rig, RIG_MOV_IMM(0, 1));
				rig_add(rig, RIG_EXIT);
				rig_compare(rig, "%s at %d of map %s itself",
					    write ? "write" : "read", offs[i], maps[map].name);
			}
		}
	}
}

static int wanted; /* helper, 0: all */

/* Helpers of all types are the same in most. */
static bool is_tried(const struct rig *rig, int func, int index)
{
	static const int common[] = {
		BPF_FUNC_map_lookup_elem,
		BPF_FUNC_map_update_elem,
		BPF_FUNC_map_delete_elem,
		BPF_FUNC_ktime_get_ns,
		BPF_FUNC_trace_printk,
		BPF_FUNC_get_prandom_u32,
		BPF_FUNC_tail_call,
		BPF_FUNC_perf_event_read,
		BPF_FUNC_perf_event_read_value,
		BPF_FUNC_map_push_elem,
		BPF_FUNC_map_pop_elem,
		BPF_FUNC_map_peek_elem,
		BPF_FUNC_strtol,
		BPF_FUNC_strtoul,
		BPF_FUNC_probe_read_user,
		BPF_FUNC_probe_read_kernel,
		BPF_FUNC_probe_read_user_str,
		BPF_FUNC_probe_read_kernel_str,
		BPF_FUNC_ringbuf_output,
		BPF_FUNC_ringbuf_reserve,
		BPF_FUNC_ringbuf_submit,
		BPF_FUNC_ringbuf_discard,
		BPF_FUNC_ringbuf_query,
		BPF_FUNC_get_task_stack,
		BPF_FUNC_copy_from_user,
		BPF_FUNC_snprintf_btf,
		BPF_FUNC_task_storage_get,
		BPF_FUNC_task_storage_delete,
		BPF_FUNC_for_each_map_elem,
		BPF_FUNC_snprintf,
		BPF_FUNC_timer_init,
		BPF_FUNC_timer_set_callback,
		BPF_FUNC_timer_start,
		BPF_FUNC_timer_cancel,
		BPF_FUNC_trace_vprintk,
		BPF_FUNC_find_vma,
		BPF_FUNC_loop,
		BPF_FUNC_strncmp,
		BPF_FUNC_copy_from_user_task,
		BPF_FUNC_kptr_xchg,
		BPF_FUNC_map_lookup_percpu_elem,
		BPF_FUNC_dynptr_from_mem,
		BPF_FUNC_ringbuf_reserve_dynptr,
		BPF_FUNC_dynptr_read,
		BPF_FUNC_dynptr_write,
		BPF_FUNC_user_ringbuf_drain,
	};

	if (wanted)
		return wanted == func;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (common[i] == func && (func + index) % 3 && !rig->unprivileged &&
		    !getenv("RIG_ALL"))
			return false;
	return true;
}

static int run(struct rig *rig, int index)
{
	const struct subject *subject = &subjects[index];

	if (init_calls(rig))
		return 1;
	if (rig->unprivileged && !rig_drop_privileges())
		return 1;
	if (!wanted)
		try_map_pointers(rig, subject);
	for (int func = 1; func <= 211; func++)
		if (is_tried(rig, func, index) && is_available(rig, subject, func))
			try_helper(rig, subject, func);
	rig_finish(rig);
	if (rig->unprivileged)
		printf("type %u: %u same, %u different, %u not judged\n", subject->type, rig->same,
		       rig->differ, rig->not_judged);
	return rig->differ ? 1 : 0;
}

static int run_unprivileged(struct rig *rig, int index)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_CGROUP_SKB };
	int i = 0;

	while (subjects[i].type != types[index])
		i++;
	return run(rig, i);
}

int main(int argc, char **argv)
{
	static struct rig rig;
	struct loupe_error err;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	if (argc > 1 && !strcmp(argv[1], "--unprivileged")) {
		wanted = argc > 2 ? atoi(argv[2]) : 0;
		return rig_run_unprivileged(&rig, 2, run_unprivileged);
	}
	wanted = argc > 1 ? atoi(argv[1]) : 0;
	/* some maps take programs of one type only, so that each type needs its own */
	for (size_t s = 0; s < sizeof(subjects) / sizeof(subjects[0]); s++)
		run(&rig, (int)s);
	printf("%u same, %u different, %u not judged\n", rig.same, rig.differ, rig.not_judged);
	return rig.differ ? 1 : 0;
}
