/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that can be traced.
 */
#ifndef OVERHEAD_FUNCTIONS_H
#define OVERHEAD_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <tracefs.h>

/* The file that lists them. */
#define AVAILABLE	"available_filter_functions"

/**
 * struct function - a function that can be traced
 * @name: its name
 * @module: its module; NULL for the kernel itself
 * @number: its line in available_filter_functions, from 1; 0 if that is not known
 * @traced: whether the filters of the top instance let it be traced; kept by setup.c
 */
struct function {
	char *name;
	char *module;
	unsigned int number;
	bool traced;
};

/**
 * struct functions - a list of them, in the order of available_filter_functions at first
 * @function: the functions
 * @nr: how many
 */
struct functions {
	struct function *function;
	size_t nr;
};

/**
 * struct globs - which names are wanted
 * @glob: those of which one has to match; no one means all
 * @nr: how many
 */
struct globs {
	char **glob;
	size_t nr;
};

void functions_add(struct functions *f, const char *name, const char *module,
		   unsigned int number);
void functions_free(struct functions *f);
void functions_parse(struct functions *f, char *text);
void functions_choose(struct functions *f, const struct globs *with, const struct globs *without);
const struct function *functions_number(struct functions *f, const struct functions *there);
void functions_sort(struct functions *f);
struct function *functions_find(const struct functions *f, const char *name, const char *module,
				size_t *nr);

void functions_read(struct functions *f);
void functions_trace(struct tracefs_instance *instance, struct functions *f,
		     const unsigned int *set, size_t nr);

#endif
