/* SPDX-License-Identifier: GPL-2.0 */
/* Call chains of the guest's kernel, for insnprof: see chains.c. */
#ifndef CHAINS_H
#define CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How a block's last instruction leaves it, as far as it matters here. */
enum block_end { END_PLAIN, END_CALL, END_RETURN, END_EXCEPTION_RETURN };

/* The facts of a block that are known when it is translated. */
struct place {
	unsigned int range;
	bool entry;
	enum block_end end;
};

int chains_read_ranges(const char *file);
void chains_place(struct place *p, uint64_t addr, const uint8_t *last, size_t len);
bool chains_go_on(const struct place *p);
void chains_step(const struct place *p, uint64_t sp);
void chains_count(uint32_t insns);
void chains_clear(void);
void chains_write(FILE *out, unsigned int window);

#endif
