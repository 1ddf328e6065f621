/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where events come from: a file of trace-cmd(1), or the buffers of the running kernel.
 */
#ifndef EXPORT_SOURCE_H
#define EXPORT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct tep_handle;
struct tep_record;

void source_file(const char *path, const char *buffer);
void source_running(const char *buffer);

struct tep_handle *source_tep(void);
const char *source_name(void);
const char *source_clock(void);
const char *source_release(void);
const char *source_machine(void);

uint64_t source_read(const char *(*take)(struct tep_record *record));

#endif
