// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as text, for the lines of a trace: see trace_text.h.
 */
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <asm/page.h>

#include "trace_text.h"

/* Of up to 8 digits, without the zeros in front */
static __always_inline char *put_digits(char *to, u64 digits)
{
	unsigned int nr = (fls64(digits | 1) + 7) / 8;

	return trace_text_put_digits(to, digits << 8 * (8 - nr), nr);
}

#define MORE_DIGITS	100000000

static noinline char *put_more_dec(char *to, u64 value)
{
	u32 low;

	value = div_u64_rem(value, MORE_DIGITS, &low);
	if (value >= MORE_DIGITS)
		to = put_more_dec(to, value);
	else
		to = put_digits(to, trace_text_digits(value));
	return trace_text_padded(to, low, 8);
}

static __always_inline char *put_dec(char *to, u64 value)
{
	if (value < 10) {
		*to = '0' + value;
		return to + 1;
	}
	if (unlikely(value >= MORE_DIGITS))
		return put_more_dec(to, value);
	return put_digits(to, trace_text_digits(value));
}

/* The 8 hexadecimal digits, as in trace_text_digits(), but as characters less '0' */
static __always_inline u64 hex_digits(u32 value)
{
	u64 x = value, letters;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	letters = ((x + 0x0606060606060606) >> 4) & 0x0101010101010101;
	return x + letters * ('a' - '0' - 10);
}

static __always_inline char *put_hex(char *to, u64 value)
{
	u32 high = value >> 32;

	if (!high)
		return put_digits(to, hex_digits(value));
	to = put_digits(to, hex_digits(high));
	return trace_text_put_digits(to, hex_digits(value), 8);
}

static __always_inline char *put_int(char *to, s64 value)
{
	if (value < 0)
		*to++ = '-';
	return put_dec(to, value < 0 ? -(u64)value : value);
}

/* Moves a text to the right. Return: its end. */
static char *pad_left(char *text, const char *end, unsigned int width, char pad)
{
	unsigned int len = end - text;

	if (likely(len >= width))
		return text + len;
	memmove(text + width - len, text, len);
	memset(text, pad, width - len);
	return text + width;
}

/* Ends a text with blanks. */
static char *pad_right(char *text, char *end, unsigned int width)
{
	while (end < text + width)
		*end++ = ' ';
	return end;
}

/**
 * trace_text_dec - write an unsigned number in decimal
 * @to: where to
 * @value: the number
 * @width: how many characters, at least; 0 for the digits alone
 * @pad: ' ' for "%*llu", '0' for "%0*llu"
 *
 * Return: the end of the text.
 */
char *trace_text_dec(char *to, u64 value, unsigned int width, char pad)
{
	return pad_left(to, put_dec(to, value), width, pad);
}

/**
 * trace_text_int - write a number in decimal, on the right: "%*d"
 * @to: where to
 * @value: the number
 * @width: how many characters, at least
 *
 * Return: the end of the text.
 */
char *trace_text_int(char *to, int value, unsigned int width)
{
	return pad_left(to, put_int(to, value), width, ' ');
}

/**
 * trace_text_int_left - write a number in decimal, on the left: "%-*d"
 * @to: where to
 * @value: the number
 * @width: how many characters, at least
 *
 * Return: the end of the text.
 */
char *trace_text_int_left(char *to, int value, unsigned int width)
{
	return pad_right(to, put_int(to, value), width);
}

/**
 * trace_text_hex - write a number in hexadecimal: "%0*llx"
 * @to: where to
 * @value: the number
 * @width: how many digits, at least
 *
 * Return: the end of the text.
 */
char *trace_text_hex(char *to, u64 value, unsigned int width)
{
	return pad_left(to, put_hex(to, value), width, '0');
}

/* Return: the end of the width, which is written to the part. */
static noinline const char *parse_width(const char *format, struct trace_text_part *part)
{
	for (;; format++) {
		if (*format == '0')
			part->zero = true;
		else if (*format == '-')
			part->left = true;
		else
			break;
	}
	/* A longer width than this has no room to be written, and is left to vsnprintf(). */
	for (; isdigit(*format) && part->width < 25; format++)
		part->width = 10 * part->width + *format - '0';
	return format;
}

/* A conversion, or the end of the format. Return: its end. */
static __always_inline const char *parse_part(const char *format, struct trace_text_part *part)
{
	char type;

	*part = (struct trace_text_part) { };
	if (!*format)
		return format;
	type = *++format;
	if (unlikely(type <= '9' && type != '%')) {
		format = parse_width(format, part);
		type = *format;
	}
	for (; type == 'l' && part->longs < 2; part->longs++)
		type = *++format;
	if (unlikely(type == 'L' && !part->longs)) {
		part->longs = 2;
		type = *++format;
	}
	part->type = type ?: '?';
	return type ? format + 1 : format;
}

/**
 * trace_text_keep - parse a format, for trace_text_format()
 * @kept: where to
 * @format: the format
 */
void trace_text_keep(struct trace_text_parsed *kept, const char *format)
{
	struct trace_text_part *part = kept->parts;
	unsigned int used = 0, len;
	const char *text;

	kept->format = format;
	for (int i = 0; i < ARRAY_SIZE(kept->parts); i++, part++) {
		text = format;
		format = strchrnul(text, '%');
		len = format - text;
		if (TRACE_TEXT_PIECES(len) > sizeof(kept->text) - used)
			break;
		memcpy(&kept->text[used], text, len);
		format = parse_part(format, part);
		part->at = used;
		part->len = len;
		used += TRACE_TEXT_PIECES(len);
		if (!part->type)
			return;
	}
	/* Too long: not one of ours. */
	*kept->parts = (struct trace_text_part) { .type = '?' };
}

static noinline char *put_width(char *text, char *end, const struct trace_text_part *part)
{
	return part->left ? pad_right(text, end, part->width) :
			    pad_left(text, end, part->width, part->zero ? '0' : ' ');
}

/* Return: the end of a text; NULL if it is not one of ours to print, or has no room. */
static char *put_string(char *to, const char *end, const char *text)
{
	unsigned int len;

	if ((unsigned long)text < PAGE_SIZE || IS_ERR_VALUE(text))
		return NULL;
	len = strlen(text);
	if (len > end - to)
		return NULL;
	memcpy(to, text, len);
	return to + len;
}

/* A format's arguments: as a function has them, or as vbin_printf() has written them. */
struct text_args {
	va_list		list;
	const char	*binary;
};

/* The next one of those of vbin_printf(): words of 4 bytes, and a long one in two of these. */
static __always_inline u64 binary_number(struct text_args *args, size_t size)
{
	const u32 *at = (const u32 *)PTR_ALIGN(args->binary, sizeof(u32));
	u64 value = *at;

	if (size == sizeof(value))
		memcpy(&value, at, sizeof(value));
	args->binary = (const char *)at + size;
	return value;
}

#define next_arg(args, type)						\
	(is_binary ? (type)binary_number(args, sizeof(type)) : va_arg((args)->list, type))

/* Of a format that is kept, or not. */
static __always_inline int put_format(char *to, unsigned int room, bool is_kept,
				      const struct trace_text_parsed *kept, const char *format,
				      bool is_binary, struct text_args *args)
{
	const struct trace_text_part *part = is_kept ? kept->parts : NULL;
	char *start = to, *end = to + room - TRACE_TEXT_DEC_MAX, *text;
	struct trace_text_part parsed;
	u64 value;

	if (room < TRACE_TEXT_DEC_MAX)
		return -1;
	for (;; part++) {
		if (is_kept) {
			if (TRACE_TEXT_PIECES(part->len) >= end - to)
				return -1;
			to = trace_text_pieces(to, kept->text + part->at, part->len);
		} else {
			for (; to < end && *format && *format != '%'; format++)
				*to++ = *format;
			if (to >= end)
				return -1;
			format = parse_part(format, &parsed);
			part = &parsed;
		}
		text = to;
		if (part->type == 'd' || part->type == 'i') {
			value = part->longs == 2 ? next_arg(args, long long) :
				part->longs ? next_arg(args, long) : next_arg(args, int);
			/* Zeros would be behind the sign. */
			if (part->zero && (s64)value < 0)
				return -1;
			to = put_int(to, value);
		} else if (part->type == 'x' || part->type == 'u') {
			value = part->longs == 2 ? next_arg(args, unsigned long long) :
				part->longs ? next_arg(args, unsigned long) :
				next_arg(args, unsigned int);
			to = part->type == 'x' ? put_hex(to, value) : put_dec(to, value);
		} else if (part->type == 's' && !part->longs && !part->zero) {
			to = put_string(to, end, is_binary ? args->binary :
						 va_arg(args->list, const char *));
			if (!to)
				return -1;
			if (is_binary)
				args->binary += to - text + 1;
		} else if (part->type == 'c' && !part->longs && !part->zero) {
			*to++ = is_binary ? *args->binary++ : (char)va_arg(args->list, int);
		} else if (part->type == '%' && !part->longs && !part->width) {
			*to++ = '%';
		} else {
			return part->type ? -1 : to - start;
		}
		if (unlikely(part->width)) {
			if (part->width > end - text)
				return -1;
			to = put_width(text, to, part);
		}
	}
}

/**
 * trace_text_format - write as vsnprintf() does, if the format is simple
 * @to: where to
 * @room: the characters at @to
 * @kept: the format as trace_text_keep() has parsed it; or NULL
 * @format: the format; simple ones have %d, %i, %u, %x, %s, %c and %%, with "l", "ll" or "L",
 *	a width, '0' or '-'
 * @args: its arguments
 *
 * Most events' formats are simple.
 *
 * Return: the length of the text, without a NUL; -1 if the format is not simple, or @room does
 * not do with TRACE_TEXT_SPARE characters more than the text, and @to has to be written again.
 */
int trace_text_format(char *to, unsigned int room, const struct trace_text_parsed *kept,
		      const char *format, va_list args)
{
	struct text_args copy;
	int len;

	va_copy(copy.list, args);
	len = kept ? put_format(to, room, true, kept, NULL, false, &copy) :
		     put_format(to, room, false, NULL, format, false, &copy);
	va_end(copy.list);
	return len;
}

/**
 * trace_text_binary - write as bstr_printf() does, if the format is simple
 * @to: where to
 * @room: the characters at @to
 * @format: the format
 * @binary: its arguments, as vbin_printf() has written them
 *
 * Return: as trace_text_format().
 */
int trace_text_binary(char *to, unsigned int room, const char *format, const u32 *binary)
{
	struct text_args args = { .binary = (const char *)binary };

	return put_format(to, room, false, NULL, format, true, &args);
}
