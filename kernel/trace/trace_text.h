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
#include <linux/unaligned.h>

/*
 * The most that a function writes where the width is not above that. Each may write a sign and
 * 8 digits, though its text is shorter.
 */
#define TRACE_TEXT_DEC_MAX	20
#define TRACE_TEXT_HEX_MAX	16
#define TRACE_TEXT_LEAST	9

char *trace_text_dec(char *to, u64 value, unsigned int width, char pad);
char *trace_text_int(char *to, int value, unsigned int width);
char *trace_text_int_left(char *to, int value, unsigned int width);
char *trace_text_hex(char *to, u64 value, unsigned int width);

/* The characters of a literal string. */
#define trace_text_put(to, text)			\
({							\
	memcpy(to, text, sizeof(text) - 1);		\
	(to) + sizeof(text) - 1;			\
})

/*
 * The 8 decimal digits of a number below 100,000,000, one in a byte, the first in the highest:
 * two halves of four digits are parted side by side in two, and again in single ones. The
 * multiplications divide by 100 and by 10.
 */
static __always_inline u64 trace_text_digits(u32 value)
{
	u64 x = (u64)(value / 10000) << 32 | value % 10000, high;

	high = (x * 10486 >> 20) & 0x0000007f0000007f;
	x = (high << 16) + x - high * 100;
	high = (x * 103 >> 10) & 0x000f000f000f000f;
	return (high << 8) + x - high * 10;
}

/* The first @nr of 8 digits, without the zeros in front; writes 8 bytes */
static __always_inline char *trace_text_put_digits(char *to, u64 digits, unsigned int nr)
{
	put_unaligned_be64(digits + 0x3030303030303030, to);
	return to + nr;
}

/* "%0*u", of up to 8 digits; writes 8 bytes */
static __always_inline char *trace_text_padded(char *to, u32 value, unsigned int width)
{
	return trace_text_put_digits(to, trace_text_digits(value) << 8 * (8 - width), width);
}

/* Texts that are copied in pieces have room for whole ones, at least one, and so has the copy. */
#define TRACE_TEXT_PIECE	32
#define TRACE_TEXT_PIECES(len)	ALIGN((len) + 1, TRACE_TEXT_PIECE)

/* The same of a kept text of @len characters, in fewer instructions than memcpy(). */
static __always_inline char *trace_text_pieces(char *to, const char *from, unsigned long len)
{
	unsigned long i = 0;

	do {
		memcpy(to + i, from + i, TRACE_TEXT_PIECE);
		i += TRACE_TEXT_PIECE;
	} while (unlikely(i < len));
	return to + len;
}

/* Blanks; the same room is needed. */
static __always_inline char *trace_text_blanks(char *to, unsigned long nr)
{
	unsigned long i = 0;

	do {
		memset(to + i, ' ', TRACE_TEXT_PIECE);
		i += TRACE_TEXT_PIECE;
	} while (unlikely(i < nr));
	return to + nr;
}

/**
 * struct trace_text_part - some text of a format, and the conversion behind it
 * @at: where the text begins among those that are kept
 * @len: its length
 * @width: how many characters the conversion has, at least
 * @longs: how many times "l"
 * @zero: pad with zeros
 * @left: pad on the right
 * @type: the letter; 0 at the end of the format
 */
struct trace_text_part {
	u16	at;
	u16	len;
	u8	width;
	u8	longs;
	bool	zero;
	bool	left;
	char	type;
};

/**
 * struct trace_text_parsed - a format that was parsed
 * @format: the format
 * @parts: its parts, in order
 * @text: their texts, in pieces
 */
struct trace_text_parsed {
	const char		*format;
	struct trace_text_part	parts[24];
	char			text[32 * TRACE_TEXT_PIECE];
};

/* The room behind its text that trace_text_format() may write to */
#define TRACE_TEXT_SPARE	(TRACE_TEXT_DEC_MAX + TRACE_TEXT_PIECE)

void trace_text_keep(struct trace_text_parsed *kept, const char *format);
int trace_text_binary(char *to, unsigned int room, const char *format, const u32 *binary);
__printf(4, 0)
int trace_text_format(char *to, unsigned int room, const struct trace_text_parsed *kept,
		      const char *format, va_list args);

#endif /* _TRACE_TEXT_H */
