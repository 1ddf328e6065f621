/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input: the lines of the kernel's files, and the words of the command line.
 */
#ifndef TRACING_PARSE_H
#define TRACING_PARSE_H

#include <stdbool.h>
#include <stdint.h>

bool parse_number(const char *text, uint64_t max, uint64_t *number);
bool parse_seconds(const char *text, uint64_t *ns);
uint64_t option_number(const char *option, const char *text);
uint64_t option_seconds(const char *option, const char *text);
int parse_cpus(const char *text, unsigned int *cpus, unsigned int max);
const char *glob_problem(const char *glob);
const char *module_problem(const char *module);

bool parse_function(char *line, char **name, char **module);
int parse_count(char *line, char **name, char **module, uint64_t *number, unsigned int max);
bool parse_stat(char *line, char **name, uint64_t *count);
char *parse_error(const char *log);

#endif
