/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SITETABLE_OBJECT_H
#define _SITETABLE_OBJECT_H
/*
 * An object while object mode processes it: its sites are found
 * (sites.c), get symbols (symbols.c) and then a table
 * (object.c).
 */
#include "elf-file.h"

/* A call of @len bytes. Its relocation is at @rel in the file. */
struct site {
	u32 sec;
	u32 group;
	u64 offset;
	u64 rel;
	u32 len;
};

/*
 * @role is the meaning of each symbol to a relocation, and @defined that the object
 * itself defines a target. @site is in the order of the relocations until it is
 * sorted.
 */
struct object {
	struct elf_file *f;
	u8 *role;
	bool defined;
	struct site *site;
	size_t nr_site;
};

int sites_find(struct object *o);
int symbols_provide(struct object *o);

#endif /* _SITETABLE_OBJECT_H */
