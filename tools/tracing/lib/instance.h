/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instance of tracefs that belongs to this run.
 */
#ifndef TRACING_INSTANCE_H
#define TRACING_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <tracefs.h>

void tracing_open(void);
int tracing_lock(void);
void tracing_unlock(int lock);

struct tracefs_instance *instance_make(void (*recover)(struct tracefs_instance *stale));
struct tracefs_instance *instance_make_other(void);
void instance_remove(void);

bool file_write(struct tracefs_instance *instance, const char *file, const char *text);
void file_set(struct tracefs_instance *instance, const char *file, const char *text);
bool file_clear(struct tracefs_instance *instance, const char *file);
int file_open(struct tracefs_instance *instance, const char *file);
char *file_take(int fd, const char *file);
char *file_read(struct tracefs_instance *instance, const char *file);
bool file_is(struct tracefs_instance *instance, const char *file, const char *text);
bool event_set(struct tracefs_instance *instance, const char *system, const char *name, bool on,
	       void (*problem)(const char *format, ...));

#endif
