/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output: it comes to be under its name when all of it is written, and never else.
 */
#ifndef EXPORT_OUTPUT_H
#define EXPORT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

void output_open(const char *path);
void output_remove(void);
void output_write(const void *data, size_t len);
void output_text(const char *text);
void output_number(uint64_t n);
void output_decimal(uint64_t n, unsigned int places);
void output_json(const char *clean);
void output_close(void);

#endif
