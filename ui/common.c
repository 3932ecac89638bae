// SPDX-License-Identifier: GPL-2.0-only
/* What several commands need: verdicts in words, and the programs of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"

int verdict_status(enum loupe_verdict verdict)
{
	switch (verdict) {
	case LOUPE_ACCEPTED:
		return STATUS_OK;
	case LOUPE_REJECTED:
		return STATUS_REJECTED;
	default:
		return STATUS_NOT_JUDGED;
	}
}

const char *errno_name(int err)
{
	enum { ENOTSUPP_IN_KERNEL = 524 };
	const char *name;

	if (err == ENOTSUPP_IN_KERNEL)
		return "ENOTSUPP";
	name = strerrorname_np(err);
	return name ? name : "unknown error";
}

int verdict_text(const struct loupe_verify_result *result, char *buf, size_t size)
{
	switch (result->verdict) {
	case LOUPE_ACCEPTED:
		return snprintf(buf, size, "accepted");
	case LOUPE_REJECTED:
		if (!result->err) /* a log may not tell it */
			return snprintf(buf, size, "rejected");
		return snprintf(buf, size, "rejected: %s (%d)", errno_name(-result->err),
				-result->err);
	case LOUPE_NOT_JUDGED:
		return snprintf(buf, size, "not judged: %s", result->reason);
	case LOUPE_STOPPED:
		break;
	}
	return snprintf(buf, size, "stopped: %s", result->reason);
}

int load_programs(const struct args *args, const char *file, struct loupe_program_list *list)
{
	return load_programs_or_log(args, file, list, NULL);
}

int load_programs_or_log(const struct args *args, const char *file, struct loupe_program_list *list,
			 struct loupe_log_file **log)
{
	struct loupe_error err;
	char *data;
	size_t len;
	int rc;

	if (input_read(file, &data, &len, &err))
		return complain(&err);
	if (log)
		*log = NULL;
	if (log && input_is_log(file, data, len)) {
		rc = loupe_log_read(file, data, len, log, &err);
		if (!rc)
			*list = *loupe_log_file_programs(*log);
	} else if (input_is_log(file, data, len))
		rc = loupe_error_set(&err, -EINVAL,
				     "%s: a verifier log, without the program itself; the explorer "
				     "and stat take it",
				     file);
	else if (loupe_filter_sniff(data, len))
		rc = loupe_error_set(&err, -EINVAL,
				     "%s: a classic filter; optimize, disasm and cfg take it, "
				     "and the explorer",
				     file);
	else
		rc = loupe_load_bytes(file, data, len, &args->load, list, &err);
	free(data);
	if (rc)
		return complain(&err);
	if (list->cnt)
		return 0;
	loupe_program_list_finish(list);
	if (args->load.prog_name)
		return complain_text("%s: no program named '%s'; bpfloupe stat lists them", file,
				     args->load.prog_name);
	return complain_text("%s: holds no BPF program", file);
}

const struct loupe_image *only_program(const struct args *args,
				       const struct loupe_program_list *list, const char *file)
{
	(void)args;
	if (list->cnt > 1) {
		char names[512] = "";
		size_t len = 0;

		for (uint32_t i = 0; i < list->cnt && len < sizeof(names) - 1; i++)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						i ? ", " : "", list->progs[i].name);
		complain_text("%s: holds %u programs; choose one with --prog: %s", file, list->cnt,
			      names);
		return NULL;
	}
	if (!list->progs[0].image)
		complain_text("%s: %s does not load: %s", file, list->progs[0].name,
			      list->progs[0].reason);
	return list->progs[0].image;
}
