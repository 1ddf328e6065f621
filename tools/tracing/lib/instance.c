// SPDX-License-Identifier: GPL-2.0
/*
 * The instance that belongs to this run: PROGRAM-PID; and another one for a run that needs two.
 *
 * It holds a lock (flock) on the directory of its instance for as long as it lives. The
 * kernel drops the lock when the process ends, however it ends, so an instance of that name
 * without a lock is one that a killed run has left. The next run removes it. A number in
 * the name would not do: it may be another process by now, or one of another pid namespace.
 *
 * Instances are made and removed with a lock on the directory of all instances, so that
 * no instance is found between its making and its locking.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "instance.h"
#include "util.h"

static struct own {
	struct tracefs_instance *instance;
	int lock;
} own, other;
static pid_t maker;

/**
 * tracing_open - find tracefs, which the library mounts where it is not
 *
 * Ends the program if it cannot be used.
 */
void tracing_open(void)
{
	const char *dir = tracefs_tracing_dir();
	char *instances;

	if (!dir && geteuid())
		die("tracefs is not mounted, and only root can mount it: run this as root");
	if (!dir)
		die("tracefs cannot be mounted on /sys/kernel/tracing: does the kernel have it?");
	instances = format_string("%s/instances", dir);
	if (access(instances, R_OK | W_OK | X_OK)) {
		if (errno == EACCES || errno == EPERM)
			die("no permission to use %s: run this as root", dir);
		die("%s: %s", instances, strerror(errno));
	}
	free(instances);
}

/* The directory, open; -1 if it is not there. */
static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/**
 * tracing_lock - keep other runs from making and removing instances
 *
 * Returns: a value for tracing_unlock().
 */
int tracing_lock(void)
{
	char *path = format_string("%s/instances", tracefs_tracing_dir());
	int lock = open_directory(path);

	if (lock < 0)
		die("%s: %s", path, strerror(errno));
	while (flock(lock, LOCK_EX)) {
		if (errno != EINTR)
			die("%s cannot be locked: %s", path, strerror(errno));
	}
	free(path);
	return lock;
}

/**
 * tracing_unlock - let other runs go on
 * @lock: from tracing_lock()
 */
void tracing_unlock(int lock)
{
	close(lock);
}

/* Locks an instance; -1 if another run has it, or it is gone. */
static int lock_instance(const char *name)
{
	char *path = format_string("%s/instances/%s", tracefs_tracing_dir(), name);
	int lock = open_directory(path);

	free(path);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB)) {
		close(lock);
		lock = -1;
	}
	return lock;
}

static bool name_is_ours(const char *name)
{
	size_t len = strlen(program_name);

	return !strncmp(name, program_name, len) && name[len++] == '-' &&
	       isdigit((unsigned char)name[len]) && !name[len + strspn(name + len, "0123456789")];
}

static void remove_if_stale(const char *name, void (*recover)(struct tracefs_instance *stale))
{
	struct tracefs_instance *stale;
	int lock;

	if (!name_is_ours(name))
		return;
	lock = lock_instance(name);
	if (lock < 0)
		return;
	stale = tracefs_instance_alloc(NULL, name);
	if (!stale)
		die("instance %s: %s", name, strerror(errno));
	if (recover)
		recover(stale);
	if (tracefs_instance_destroy(stale))
		warn("instance %s, which a killed run has left, cannot be removed: %s", name,
		     strerror(errno));
	tracefs_instance_free(stale);
	close(lock);
}

/* Another process may have had our number, in a pid namespace of its own. */
static char *free_name(void)
{
	for (unsigned long n = getpid(); ; n += 10000000) {
		char *name = format_string("%s-%lu", program_name, n);

		if (!tracefs_instance_exists(name))
			return name;
		free(name);
	}
}

static void make(struct own *made)
{
	char *name = free_name();

	made->instance = tracefs_instance_create(name);
	if (!made->instance)
		die("no instance can be made in %s/instances: %s", tracefs_tracing_dir(),
		    strerror(errno));
	maker = getpid();
	made->lock = lock_instance(name);
	if (made->lock < 0)
		die("instance %s cannot be locked: %s", name, strerror(errno));
	free(name);
	/* A counter records nothing: there is no need of the usual 1.4 MB for each CPU. */
	file_write(made->instance, "buffer_size_kb", "1");
}

/**
 * instance_make - make the instance of this run, after removing those of killed ones
 * @recover: called for each that was left, before it is removed; or NULL
 *
 * instance_remove() is called when the program ends.
 *
 * Returns: the instance; the same one if it was made before.
 */
struct tracefs_instance *instance_make(void (*recover)(struct tracefs_instance *stale))
{
	char **all;
	int lock;

	if (own.instance)
		return own.instance;
	lock = tracing_lock();
	all = tracefs_instances(NULL);
	for (char **there = all; there && *there; there++)
		remove_if_stale(*there, recover);
	tracefs_list_free(all);
	atexit(instance_remove);
	make(&own);
	tracing_unlock(lock);
	return own.instance;
}

/**
 * instance_make_other - make one more instance of this run, after instance_make()
 *
 * Returns: the instance.
 */
struct tracefs_instance *instance_make_other(void)
{
	int lock = tracing_lock();

	make(&other);
	tracing_unlock(lock);
	return other.instance;
}

static void remove_one(struct own *made)
{
	if (!made->instance)
		return;
	if (tracefs_instance_destroy(made->instance))
		warn("instance %s cannot be removed: %s",
		     tracefs_instance_get_name(made->instance), strerror(errno));
	tracefs_instance_free(made->instance);
	made->instance = NULL;
	close(made->lock);
}

/**
 * instance_remove - remove the instances of this run, if there are any
 *
 * A process that was forked since only uses them.
 */
void instance_remove(void)
{
	if (maker != getpid())
		return;
	remove_one(&own);
	remove_one(&other);
}

static bool write_once(struct tracefs_instance *instance, const char *file, const char *text,
		       int flags)
{
	int fd = tracefs_instance_file_open(instance, file, O_WRONLY | O_CLOEXEC | flags);
	size_t len = strlen(text);
	bool ok;
	int err;

	if (fd < 0)
		return false;
	ok = !len || write(fd, text, len) == (ssize_t)len;
	err = errno;
	/* Filters take effect, or fail to, when they are closed. */
	if (close(fd) && ok)
		return false;
	errno = err;
	return ok;
}

/**
 * file_write - write a word to a file of an instance, beside its contents
 * @instance: the instance; NULL for the top one
 * @file: the file
 * @text: the text to write
 *
 * Returns: false, with errno, if it cannot be.
 */
bool file_write(struct tracefs_instance *instance, const char *file, const char *text)
{
	return write_once(instance, file, text, 0);
}

/**
 * file_set - as file_write(), but ends the program if it cannot be
 * @instance: the instance; NULL for the top one
 * @file: the file
 * @text: the text to write
 */
void file_set(struct tracefs_instance *instance, const char *file, const char *text)
{
	if (!file_write(instance, file, text))
		die("'%s' cannot be written to %s: %s", text, file, strerror(errno));
}

/**
 * file_clear - empty a file that holds a list
 * @instance: the instance; NULL for the top one
 * @file: the file
 *
 * Returns: false, with errno, if it cannot be.
 */
bool file_clear(struct tracefs_instance *instance, const char *file)
{
	return write_once(instance, file, "", O_TRUNC);
}

/**
 * file_open - open a file to read it
 * @instance: the instance; NULL for the top one
 * @file: the file
 *
 * Returns: a file for file_take(); -1, with errno, if it cannot be opened.
 */
int file_open(struct tracefs_instance *instance, const char *file)
{
	return tracefs_instance_file_open(instance, file, O_RDONLY | O_CLOEXEC);
}

/**
 * file_take - read all of an open file, and close it
 * @fd: from file_open()
 * @file: the file
 *
 * Returns: its text, to be freed. Ends the program if it cannot be read.
 */
char *file_take(int fd, const char *file)
{
	size_t len = 0, size = 1 << 16;
	char *text = alloc(size, 1);
	ssize_t n;

	if (fd < 0)
		die("%s cannot be opened: %s", file, strerror(errno));
	while ((n = read(fd, text + len, size - len - 1))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = errno;

			/* An instance with an open file cannot be removed. */
			close(fd);
			die("%s cannot be read: %s", file, strerror(err));
		}
		len += n;
		if (size - len < 2) {
			size *= 2;
			text = grow(text, size, 1);
		}
	}
	close(fd);
	text[len] = '\0';
	return text;
}

/**
 * file_read - all of a file
 * @instance: the instance; NULL for the top one
 * @file: the file
 *
 * Returns: its text, to be freed. Ends the program if it cannot be read.
 */
char *file_read(struct tracefs_instance *instance, const char *file)
{
	return file_take(file_open(instance, file), file);
}

/**
 * file_is - whether a file holds one word, and this one
 * @instance: the instance; NULL for the top one
 * @file: the file
 * @text: the word
 *
 * Returns: false if it holds another.
 */
bool file_is(struct tracefs_instance *instance, const char *file, const char *text)
{
	char *there = file_read(instance, file);
	size_t len = strcspn(there, "\n");
	bool same = strlen(text) == len && !strncmp(there, text, len);

	free(there);
	return same;
}

/**
 * event_set - switch an event, or all events of a system
 * @instance: the instance; NULL for the top one
 * @system: the system
 * @name: the event; NULL: all of them
 * @on: whether it is to be recorded
 * @problem: the function that writes why it cannot be: die(), warn(), or NULL
 *
 * Returns: false if it cannot be.
 */
bool event_set(struct tracefs_instance *instance, const char *system, const char *name, bool on,
	       void (*problem)(const char *format, ...))
{
	char *file = format_string("events/%s%s%s/enable", system, name ? "/" : "",
				   name ? name : "");
	const char *value = on ? "1" : "0";
	bool ok = file_write(instance, file, value);

	if (!ok && problem)
		problem("'%s' cannot be written to %s: %s", value, file, strerror(errno));
	free(file);
	return ok;
}
