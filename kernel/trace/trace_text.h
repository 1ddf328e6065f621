/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers as text, for the lines of a trace.
 *
 * Each function writes to a pointer and returns the pointer behind the text, which no
 * NUL ends. The caller has made room. The text is that of the format named beside the
 * function; vsnprintf() takes several times as long for it.
 */
#ifndef _TRACE_TEXT_H
#define _TRACE_TEXT_H

#include <linux/align.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/types.h>

/* The most that a function writes where the width is not above that. */
#define TRACE_TEXT_DEC_MAX	20
#define TRACE_TEXT_HEX_MAX	16

char *trace_text_dec(char *to, u64 value, unsigned int width, char pad);
char *trace_text_int(char *to, int value, unsigned int width);
char *trace_text_int_left(char *to, int value, unsigned int width);
char *trace_text_hex(char *to, u64 value, unsigned int width);
__printf(3, 0)
int trace_text_format(char *to, unsigned int room, const char *format, va_list args);

/* The characters of a literal string. */
#define trace_text_put(to, text)			\
({							\
	memcpy(to, text, sizeof(text) - 1);		\
	(to) + sizeof(text) - 1;			\
})

extern const char trace_text_pairs[200];

/* "%02u", of a value below 100 */
static inline char *trace_text_pair(char *to, unsigned int value)
{
	memcpy(to, &trace_text_pairs[2 * value], 2);
	return to + 2;
}

/* "%06u", of less than a million */
static inline char *trace_text_usecs(char *to, unsigned int usecs)
{
	unsigned int low = usecs % 10000;

	to = trace_text_pair(to, usecs / 10000);
	to = trace_text_pair(to, low / 100);
	return trace_text_pair(to, low % 100);
}

/* Texts that are copied in pieces have room for whole ones, and so has the copy. */
#define TRACE_TEXT_PIECE	16
#define TRACE_TEXT_PIECES(len)	ALIGN(len, TRACE_TEXT_PIECE)

/* The same of a kept text of @len characters, in fewer instructions than memcpy(). */
static inline char *trace_text_pieces(char *to, const char *from, unsigned long len)
{
	for (unsigned long i = 0; i < len; i += TRACE_TEXT_PIECE)
		memcpy(to + i, from + i, TRACE_TEXT_PIECE);
	return to + len;
}

#endif /* _TRACE_TEXT_H */
