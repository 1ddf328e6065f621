/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events, taken apart.
 */
#ifndef EXPORT_DECODE_H
#define EXPORT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

struct source;
struct tep_handle;

/* Where a field of an event is. */
struct field {
	int offset, size;
	bool is_signed;
};

bool field_find(struct tep_event *event, const char *name, struct field *field);
uint64_t field_read(const struct tep_record *record, const struct field *field);
uint32_t field_name(const struct tep_record *record, const struct field *field);
const char *moment_text(const struct moment *m);

void decode_begin(struct tep_handle *tep, const struct format *format);
const char *decode_record(struct tep_record *record);
uint64_t decode_lost(bool *unknown);
void decode_end(void);

#endif
