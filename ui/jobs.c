// SPDX-License-Identifier: GPL-2.0-only
/* The queue and its thread. */
#include "jobs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct jobs {
	struct job *first;
	pthread_t thread; /* valid while the first job runs */
};

struct jobs *jobs_create(void)
{
	return calloc(1, sizeof(struct jobs));
}

void jobs_destroy(struct jobs *jobs)
{
	if (!jobs)
		return;
	while (jobs->first)
		jobs_cancel(jobs, jobs->first);
	free(jobs);
}

void jobs_add(struct jobs *jobs, struct job *job)
{
	struct job **place = &jobs->first;

	job->state = JOB_WAITING;
	job->rc = 0;
	job->cancel = false;
	job->cancelled = 0;
	job->next = NULL;
	atomic_store(&job->progress, 0);
	atomic_store(&job->finished, false);
	while (*place)
		place = &(*place)->next;
	*place = job;
}

static bool unlink_job(struct jobs *jobs, struct job *job)
{
	for (struct job **place = &jobs->first; *place; place = &(*place)->next) {
		if (*place == job) {
			*place = job->next;
			job->next = NULL;
			return true;
		}
	}
	return false;
}

void jobs_prefer(struct jobs *jobs, struct job *job)
{
	struct job **place = &jobs->first;

	if (job->state != JOB_WAITING || !unlink_job(jobs, job))
		return;
	if (*place && (*place)->state == JOB_RUNNING)
		place = &(*place)->next;
	job->next = *place;
	*place = job;
}

static void *thread_main(void *arg)
{
	struct job *job = arg;

	job->rc = job->ops->run(job);
	atomic_store(&job->finished, true);
	return NULL;
}

static void start(struct jobs *jobs, struct job *job)
{
	sigset_t all, old;

	job->state = JOB_RUNNING;
	/* signals are the UI thread's business */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&jobs->thread, NULL, thread_main, job)) {
		/* no thread to be had: then it is done here */
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		job->state = JOB_DONE;
		job->rc = job->ops->run(job);
		atomic_store(&job->finished, true);
		return;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Takes a finished job off the queue; waits for its thread. */
static void finish(struct jobs *jobs, struct job *job)
{
	if (job->state == JOB_RUNNING)
		pthread_join(jobs->thread, NULL);
	unlink_job(jobs, job);
	job->state = JOB_DONE;
	job->ops->done(job);
}

void jobs_cancel(struct jobs *jobs, struct job *job)
{
	job->cancel = true;
	job->cancelled = 1;
	if (job->state == JOB_WAITING)
		job->rc = -ECANCELED;
	finish(jobs, job);
}

bool jobs_stop(struct jobs *jobs)
{
	struct job *job = jobs_running(jobs);

	if (!job)
		return false;
	job->cancel = true;
	job->cancelled = 1;
	return true;
}

bool jobs_poll(struct jobs *jobs)
{
	bool any = false;

	if (jobs->first && jobs->first->state != JOB_WAITING &&
	    atomic_load(&jobs->first->finished)) {
		finish(jobs, jobs->first);
		any = true;
	}
	if (jobs->first && jobs->first->state == JOB_WAITING)
		start(jobs, jobs->first);
	return any;
}

void jobs_wait(struct jobs *jobs)
{
	while (jobs->first) {
		if (jobs->first->state == JOB_WAITING)
			start(jobs, jobs->first);
		finish(jobs, jobs->first);
	}
}

struct job *jobs_running(struct jobs *jobs)
{
	return jobs->first && jobs->first->state == JOB_RUNNING ? jobs->first : NULL;
}

bool jobs_busy(const struct jobs *jobs)
{
	return jobs->first != NULL;
}
