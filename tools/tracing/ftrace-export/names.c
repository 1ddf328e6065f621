// SPDX-License-Identifier: GPL-2.0
/*
 * Names: a table of texts, and a hash over it with open addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "util.h"

/* The replacement character, U+FFFD. */
#define REPLACEMENT	"\xef\xbf\xbd"

static struct {
	char **text;
	uint32_t nr, room;
	uint32_t *hash;
	size_t hash_size;
} names;

/**
 * text_clean - copy a text as valid UTF-8 in one line
 * @to: room for @most * CLEAN_BYTES + 1 bytes
 * @from: the text, which may end before @most bytes with a 0
 * @most: how many bytes to read
 *
 * Returns: the length of the copy.
 */
size_t text_clean(char *to, const char *from, size_t most)
{
	const unsigned char *s = (const unsigned char *)from;
	const unsigned char *end = s + strnlen(from, most);
	char *begin = to;

	while (s < end) {
		size_t len = utf8_length(s, end - s);

		if (!len) {
			memcpy(to, REPLACEMENT, CLEAN_BYTES);
			to += CLEAN_BYTES;
			s++;
		} else if (*s < 0x20 || *s == 0x7f) {
			*to++ = ' ';
			s++;
		} else {
			memcpy(to, s, len);
			to += len;
			s += len;
		}
	}
	*to = '\0';
	return to - begin;
}

static size_t hash_of(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h ^ h >> 32;
}

/* Where a text is, or is to be. */
static uint32_t *place_of(const char *text)
{
	size_t i = hash_of(text) & (names.hash_size - 1);

	while (names.hash[i] && strcmp(names.text[names.hash[i] - 1], text))
		i = (i + 1) & (names.hash_size - 1);
	return &names.hash[i];
}

static void make_room(void)
{
	if (names.nr < names.room)
		return;
	names.room = names.room ? 2 * names.room : 1024;
	names.text = grow(names.text, names.room, sizeof(*names.text));
	free(names.hash);
	names.hash_size = 2 * (size_t)names.room;
	names.hash = alloc(names.hash_size, sizeof(*names.hash));
	for (uint32_t i = 0; i < names.nr; i++)
		*place_of(names.text[i]) = i + 1;
}

/**
 * name_of_part - the number of a name that may have no 0 at its end
 * @text: the name
 * @most: its length at most
 *
 * Returns: the number, which stays the same.
 */
uint32_t name_of_part(const char *text, size_t most)
{
	size_t len = strnlen(text, most);
	char here[256], *clean = len * CLEAN_BYTES < sizeof(here) ? here :
				 alloc(len * CLEAN_BYTES + 1, 1);
	uint32_t *place, number;

	text_clean(clean, text, len);
	make_room();
	place = place_of(clean);
	if (!*place) {
		names.text[names.nr++] = copy_string(clean);
		*place = names.nr;
	}
	number = *place;
	if (clean != here)
		free(clean);
	return number;
}

/**
 * name_of - the number of a name
 * @text: the name
 *
 * Returns: the number, which stays the same.
 */
uint32_t name_of(const char *text)
{
	return name_of_part(text, SIZE_MAX);
}

/**
 * name_text - the name of a number
 * @name: a number that name_of() has returned
 *
 * Returns: the name, which stays where it is.
 */
const char *name_text(uint32_t name)
{
	return names.text[name - 1];
}

/**
 * names_count - how many names there are
 *
 * Returns: the highest number.
 */
uint32_t names_count(void)
{
	return names.nr;
}
