// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as text, for the lines of a trace: see trace_text.h.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/hex.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <asm/page.h>

#include "trace_text.h"

/* All numbers of two digits */
const char trace_text_pairs[200] = {
	'0', '0', '0', '1', '0', '2', '0', '3', '0', '4', '0', '5', '0', '6', '0', '7', '0', '8',
	'0', '9', '1', '0', '1', '1', '1', '2', '1', '3', '1', '4', '1', '5', '1', '6', '1', '7',
	'1', '8', '1', '9', '2', '0', '2', '1', '2', '2', '2', '3', '2', '4', '2', '5', '2', '6',
	'2', '7', '2', '8', '2', '9', '3', '0', '3', '1', '3', '2', '3', '3', '3', '4', '3', '5',
	'3', '6', '3', '7', '3', '8', '3', '9', '4', '0', '4', '1', '4', '2', '4', '3', '4', '4',
	'4', '5', '4', '6', '4', '7', '4', '8', '4', '9', '5', '0', '5', '1', '5', '2', '5', '3',
	'5', '4', '5', '5', '5', '6', '5', '7', '5', '8', '5', '9', '6', '0', '6', '1', '6', '2',
	'6', '3', '6', '4', '6', '5', '6', '6', '6', '7', '6', '8', '6', '9', '7', '0', '7', '1',
	'7', '2', '7', '3', '7', '4', '7', '5', '7', '6', '7', '7', '7', '8', '7', '9', '8', '0',
	'8', '1', '8', '2', '8', '3', '8', '4', '8', '5', '8', '6', '8', '7', '8', '8', '8', '9',
	'9', '0', '9', '1', '9', '2', '9', '3', '9', '4', '9', '5', '9', '6', '9', '7', '9', '8',
	'9', '9',
};

/* Writes the digits of a value in front of a pointer. Return: the first of them. */
static char *digits_before(char *end, u64 value)
{
	unsigned int low;

	/* From here on, divisions of 32 bits do. */
	while (value > U32_MAX) {
		low = do_div(value, 100);
		end -= 2;
		trace_text_pair(end, low);
	}
	for (low = value; low >= 100; low /= 100) {
		end -= 2;
		trace_text_pair(end, low % 100);
	}
	if (low >= 10) {
		end -= 2;
		trace_text_pair(end, low);
	} else {
		*--end = '0' + low;
	}
	return end;
}

/* Copies the end of a buffer to @to, behind as many of @pad as the width asks for. */
static char *put_right(char *to, const char *from, const char *end, unsigned int width, char pad)
{
	unsigned int len = end - from;

	for (; width > len; width--)
		*to++ = pad;
	while (from < end)
		*to++ = *from++;
	return to;
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
	char buf[TRACE_TEXT_DEC_MAX], *end = buf + sizeof(buf);

	return put_right(to, digits_before(end, value), end, width, pad);
}

/* As put_right(), but in front of the spaces. */
static char *put_left(char *to, const char *from, const char *end, unsigned int width)
{
	char *stop = to + width;

	to = put_right(to, from, end, 0, ' ');
	while (to < stop)
		*to++ = ' ';
	return to;
}

static char *hex_before(char *end, u64 value)
{
	do {
		*--end = hex_asc_lo(value);
		value >>= 4;
	} while (value);
	return end;
}

static char *int_before(char *end, int value)
{
	char *from = digits_before(end, value < 0 ? -(u32)value : value);

	if (value < 0)
		*--from = '-';
	return from;
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
	char buf[TRACE_TEXT_DEC_MAX], *end = buf + sizeof(buf);

	return put_right(to, int_before(end, value), end, width, ' ');
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
	char buf[TRACE_TEXT_DEC_MAX], *end = buf + sizeof(buf);

	return put_left(to, int_before(end, value), end, width);
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
	char buf[TRACE_TEXT_HEX_MAX], *end = buf + sizeof(buf);

	return put_right(to, hex_before(end, value), end, width, '0');
}

/**
 * struct text_spec - one conversion of a format
 * @width: how many characters, at least
 * @zero: pad with zeros
 * @left: pad on the right
 * @longs: how many times "l"
 * @type: the letter
 */
struct text_spec {
	unsigned int	width;
	bool		zero;
	bool		left;
	u8		longs;
	char		type;
};

/* Return: the end of the conversion that begins behind a '%'. */
static const char *parse_spec(const char *format, struct text_spec *spec)
{
	*spec = (struct text_spec) { };
	for (;; format++) {
		if (*format == '0')
			spec->zero = true;
		else if (*format == '-')
			spec->left = true;
		else
			break;
	}
	/* A longer width than this has no room to be written, and is left to vsnprintf(). */
	for (; isdigit(*format) && spec->width < 100; format++)
		spec->width = 10 * spec->width + *format - '0';
	for (; *format == 'l' && spec->longs < 2; format++)
		spec->longs++;
	spec->type = *format;
	return *format ? format + 1 : format;
}

/* Return: the end of the text; NULL where it is too long, or not one of ours to print. */
static char *put_string(char *to, char *end, const char *text, const struct text_spec *spec)
{
	unsigned int len;

	if ((unsigned long)text < PAGE_SIZE || IS_ERR_VALUE(text) || spec->zero || spec->longs)
		return NULL;
	len = strlen(text);
	if (max(len, spec->width) > end - to)
		return NULL;
	return spec->left ? put_left(to, text, text + len, spec->width) :
			    put_right(to, text, text + len, spec->width, ' ');
}

/* The same, of a number without its sign. */
static char *put_number(char *to, char *end, u64 value, bool negative,
			const struct text_spec *spec)
{
	char buf[TRACE_TEXT_DEC_MAX + 1], *from, *stop = buf + sizeof(buf);
	unsigned int len;

	from = spec->type == 'x' ? hex_before(stop, value) : digits_before(stop, value);
	if (negative) {
		/* The zeros would be behind the sign. */
		if (spec->zero)
			return NULL;
		*--from = '-';
	}
	len = stop - from;
	if (max(len, spec->width) > end - to)
		return NULL;
	return spec->left ? put_left(to, from, stop, spec->width) :
			    put_right(to, from, stop, spec->width, spec->zero ? '0' : ' ');
}

/**
 * trace_text_format - write as vsnprintf() does, if the format is simple
 * @to: where to
 * @room: the characters at @to
 * @format: the format; simple ones have %d, %i, %u, %x, %s, %c and %%, with "l" or "ll",
 *	a width, '0' or '-'
 * @args: its arguments
 *
 * Most events' formats are simple.
 *
 * Return: the length of the text, without a NUL; -1 if @room does not do, or the format
 * is not simple, and @to has to be written again.
 */
int trace_text_format(char *to, unsigned int room, const char *format, va_list args)
{
	char *start = to, *end = to + room;
	struct text_spec spec;
	s64 value;

	while (*format) {
		if (*format != '%') {
			if (to == end)
				return -1;
			*to++ = *format++;
			continue;
		}
		format = parse_spec(format + 1, &spec);
		switch (spec.type) {
		case 's':
			to = put_string(to, end, va_arg(args, const char *), &spec);
			break;
		case 'd':
		case 'i':
			value = spec.longs == 2 ? va_arg(args, long long) :
				spec.longs ? va_arg(args, long) : va_arg(args, int);
			to = put_number(to, end, value < 0 ? -(u64)value : value, value < 0, &spec);
			break;
		case 'u':
		case 'x':
			value = spec.longs == 2 ? va_arg(args, unsigned long long) :
				spec.longs ? va_arg(args, unsigned long) :
				va_arg(args, unsigned int);
			to = put_number(to, end, value, false, &spec);
			break;
		case 'c':
		case '%':
			if (to == end || spec.width || spec.longs || spec.left || spec.zero)
				return -1;
			*to++ = spec.type == '%' ? '%' : (char)va_arg(args, int);
			break;
		default:
			return -1;
		}
		if (!to)
			return -1;
	}
	return to - start;
}
