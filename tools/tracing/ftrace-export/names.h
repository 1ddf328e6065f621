/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names, each kept once and known by a number.
 *
 * A name is valid UTF-8 without control characters: other bytes are replaced when the name is
 * taken in, so that no format has to look at it again. The numbers begin with 1, without gaps.
 */
#ifndef EXPORT_NAMES_H
#define EXPORT_NAMES_H

#include <stddef.h>
#include <stdint.h>

uint32_t name_of(const char *text);
uint32_t name_of_part(const char *text, size_t most);
const char *name_text(uint32_t name);
uint32_t names_count(void);
size_t text_clean(char *to, const char *from, size_t most);

/* The most that text_clean() writes for a byte, beside the 0 at the end. */
#define CLEAN_BYTES	3

#endif
