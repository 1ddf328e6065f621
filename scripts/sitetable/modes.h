/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SITETABLE_MODES_H
#define _SITETABLE_MODES_H
/*
 * The modes of sitetable. Each takes a loaded file and returns a verdict.
 * After VERDICT_CHANGED the bytes of @f are those to be written.
 */
#include <stdio.h>

#include "elf-file.h"

enum site_action {
	SITE_RECORD,
	SITE_RECORD_AND_NOP,
};

/* object.c */
int object_record(struct elf_file *f, enum site_action action);
int object_list(struct elf_file *f, FILE *to);

/* image.c */
int image_finish(struct elf_file *f);
int image_list(struct elf_file *f, FILE *to);

#endif /* _SITETABLE_MODES_H */
