/* SPDX-License-Identifier: GPL-2.0-only */
/* Long work off the UI's thread: one job runs at a time, the others wait in a queue. */
#ifndef BPFLOUPE_UI_JOBS_H
#define BPFLOUPE_UI_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct jobs;
struct job;

enum job_state {
	JOB_WAITING,
	JOB_RUNNING,
	JOB_DONE, /* rc tells how it ended */
};

struct job_ops {
	/* Works, in a thread of its own; reads job->cancel now and then. Returns 0 or -errno. */
	int (*run)(struct job *job);
	/* In the UI's thread, once run has returned (rc in job->rc) or the job was dropped before
	   it ran (rc is -ECANCELED). The last that is heard of the job: it may free it. */
	void (*done)(struct job *job);
};

/* Embedded in what the owner needs for it. */
struct job {
	const struct job_ops *ops;
	char what[128];		/* "Verifying xdp_pass" */
	const char *unit;	/* what is counted, "instructions" */
	uint32_t total;		/* at most that many, 0 if unknown */
	atomic_uint progress;	/* how many are done */
	volatile bool cancel;	/* set to stop it */
	volatile int cancelled; /* the same, for those who want an int */
	/* for jobs.c */
	enum job_state state;
	int rc;
	atomic_bool finished;
	struct job *next;
};

/** An empty queue, or NULL. Free with jobs_destroy(), which stops what runs. */
struct jobs *jobs_create(void);
void jobs_destroy(struct jobs *jobs);

/** Puts a job at the end of the queue; it starts with one of the next jobs_poll(). */
void jobs_add(struct jobs *jobs, struct job *job);

/** Puts a waiting job before all others. */
void jobs_prefer(struct jobs *jobs, struct job *job);

/** Ends a job, waiting until its thread is gone, and calls its done. */
void jobs_cancel(struct jobs *jobs, struct job *job);

/** Asks the running job to stop; its done follows with jobs_poll(). False if none runs. */
bool jobs_stop(struct jobs *jobs);

/** Finishes and starts jobs. @return true if one was finished */
bool jobs_poll(struct jobs *jobs);

/** Runs everything in the queue to its end. */
void jobs_wait(struct jobs *jobs);

/** The running job, NULL if there is none. */
struct job *jobs_running(struct jobs *jobs);

/** True while a job runs or waits. */
bool jobs_busy(const struct jobs *jobs);

#endif
