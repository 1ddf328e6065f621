// SPDX-License-Identifier: GPL-2.0
/*
 * The input: the lines of the kernel's files, and the words of the command line.
 *
 * Each function looks at a string and at nothing else. Those that take a line write into
 * it, and return pointers into it. Those that take an option end the program if it is wrong.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "util.h"

/* A year is longer than anybody waits, and far from an overflow. */
#define MOST_SECONDS	(366ULL * 24 * 3600)

/* Takes a decimal number from *@text, which then points after it. */
static bool take_number(const char **text, uint64_t max, uint64_t *number)
{
	char *end;

	/* strtoull() takes signs and spaces, too. */
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return !errno && *number <= max;
}

/**
 * parse_number - a decimal number and nothing else
 * @text: the text that is read
 * @max: the highest that is allowed
 * @number: the number
 *
 * Returns: whether it is one.
 */
bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	return take_number(&text, max, number) && !*text;
}

/**
 * parse_seconds - seconds, with up to nine decimals
 * @text: the text that is read
 * @ns: the same in nanoseconds, above zero
 *
 * Returns: whether it is a time that one can wait.
 */
bool parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t seconds = 0, unit = NSEC;

	if (*text != '.' && !take_number(&text, MOST_SECONDS, &seconds))
		return false;
	*ns = seconds * NSEC;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			unit /= 10;
			*ns += (*text - '0') * unit;
		}
	}
	return !*text && *ns;
}

/**
 * option_number - the number that an option was given, or a usage error
 * @option: the option
 * @text: the word of the command line
 *
 * Returns: the number, which is above zero.
 */
uint64_t option_number(const char *option, const char *text)
{
	uint64_t number;

	if (!parse_number(text, INT_MAX, &number) || !number)
		usage_error("--%s: '%s' is not a number above 0", option, text);
	return number;
}

/**
 * option_seconds - the seconds that an option was given, or a usage error
 * @option: the option
 * @text: the word of the command line
 *
 * Returns: the same in nanoseconds.
 */
uint64_t option_seconds(const char *option, const char *text)
{
	uint64_t ns;

	if (!parse_seconds(text, &ns))
		usage_error("--%s: '%s' is not a number of seconds above 0", option, text);
	return ns;
}

/**
 * parse_cpus - a list of CPUs such as 0-3,8
 * @text: the text that is read; the end of the line ends it
 * @cpus: takes their numbers
 * @max: how many of them; each number is below it, too
 *
 * Returns: how many there are; -1 if it is no such list, or one that is too long.
 */
int parse_cpus(const char *text, unsigned int *cpus, unsigned int max)
{
	uint64_t first, last;
	unsigned int nr = 0;

	do {
		if (!take_number(&text, max - 1, &first))
			return -1;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, max - 1, &last) || last < first)
				return -1;
		}
		if (last - first >= max - nr)
			return -1;
		while (first <= last)
			cpus[nr++] = first++;
	} while (*text++ == ',');
	return text[-1] == '\n' || !text[-1] ? (int)nr : -1;
}

/* A word that is written to a filter is not to mean anything else there. */
static const char *word_problem(const char *word)
{
	if (!*word)
		return "it is empty";
	if (strpbrk(word, " \t\n\v\f\r"))
		return "it has a space in it";
	if (strchr(word, ':'))
		return "it has a colon in it";
	return NULL;
}

/**
 * glob_problem - why the kernel would not take a word for a glob of functions
 * @glob: the word
 *
 * Returns: the reason, or NULL.
 */
const char *glob_problem(const char *glob)
{
	if (*glob == '!')
		return "it begins with '!'";
	if (*glob == '#')
		return "it begins with '#'";
	if (*glob && !glob[strspn(glob, "0123456789")])
		return "it is a number";
	return word_problem(glob);
}

/**
 * module_problem - why a word is not the name of a module, or a glob of such
 * @module: the word
 *
 * Returns: the reason, or NULL.
 */
const char *module_problem(const char *module)
{
	if (*module == '!')
		return "it begins with '!'";
	return word_problem(module);
}

/* The next word of *@line, ended with a zero; *@line then points after it. */
static char *take_word(char **line)
{
	char *word;

	*line += strspn(*line, " \t\n");
	if (!**line)
		return NULL;
	word = *line;
	*line += strcspn(*line, " \t\n");
	if (**line)
		*(*line)++ = '\0';
	return word;
}

/* The module that *@line goes on with, in brackets; NULL and nothing taken if it does not. */
static char *take_module(char **line)
{
	char *word, *end;

	*line += strspn(*line, " \t");
	if (**line != '[')
		return NULL;
	word = take_word(line) + 1;
	end = strchr(word, ']');
	if (end)
		*end = '\0';
	return word;
}

/**
 * parse_function - a line of available_filter_functions or set_ftrace_filter
 * @line: the line
 * @name: the function
 * @module: its module, or NULL
 *
 * Returns: false if the line has no function, but a comment, a command, or nothing.
 */
bool parse_function(char *line, char **name, char **module)
{
	*name = take_word(&line);
	if (!*name || **name == '#' || strchr(*name, ':'))
		return false;
	*module = take_module(&line);
	return true;
}

/**
 * parse_count - a line of function_latency, or of function_counts without callers
 * @line: the line; not the first, which names the columns
 * @name: the function
 * @module: its module, or NULL
 * @number: takes the count, and what follows the module: the counts of CPUs, or times
 * @max: for how many @number has room, at least one
 *
 * Returns: how many numbers there are; -1 if it is not such a line.
 */
int parse_count(char *line, char **name, char **module, uint64_t *number, unsigned int max)
{
	char *word = take_word(&line);
	unsigned int nr = 1;

	if (!word || !parse_number(word, UINT64_MAX, &number[0]))
		return -1;
	*name = take_word(&line);
	*module = *name ? take_word(&line) : NULL;
	if (!*module)
		return -1;
	if (!strcmp(*module, "-"))
		*module = NULL;
	while ((word = take_word(&line))) {
		if (nr == max || !parse_number(word, UINT64_MAX, &number[nr++]))
			return -1;
	}
	return nr;
}

/**
 * parse_stat - a line of trace_stat/function*
 * @line: the line
 * @name: the function, which the kernel has cut after 30 characters
 * @count: how often it was called
 *
 * Returns: false if it is a line of the heading.
 */
bool parse_stat(char *line, char **name, uint64_t *count)
{
	char *word;

	*name = take_word(&line);
	word = *name ? take_word(&line) : NULL;
	return word && parse_number(word, UINT64_MAX, count);
}

/**
 * parse_error - the reason in an entry of error_log
 * @log: the entry
 *
 * Returns: the reason, to be freed; or NULL.
 */
char *parse_error(const char *log)
{
	const char *text = strstr(log, "error: ");

	if (!text)
		return NULL;
	text += strlen("error: ");
	return format_string("%.*s", (int)strcspn(text, "\n"), text);
}
