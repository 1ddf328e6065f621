// SPDX-License-Identifier: GPL-2.0
/*
 * The output: a file beside the wanted one, which takes its name at the end. A link stays.
 *
 * An error, a signal or a fault before that removes it. Devices, pipes
 * and standard output are written to directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "signals.h"
#include "util.h"

static struct {
	const char *path;
	/* NULL if the output is written to directly. */
	char *temporary;
	char *target;
	int fd;
	size_t len;
	char data[1 << 16];
} output = { .fd = STDOUT_FILENO };

/**
 * output_remove - take away an output that is not complete
 *
 * May be called from a signal's handler.
 */
void output_remove(void)
{
	if (output.temporary)
		unlink(output.temporary);
}

static void end_by_signal(int sig)
{
	output_remove();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void problem(const char *verb)
{
	int err = errno;

	/* Readers such as head(1) go away when they have enough. */
	if (err == EPIPE)
		exit(error_status);
	die("%s cannot be %s: %s", output.path ? output.path : "standard output", verb,
	    strerror(err));
}

static void open_temporary(void)
{
	output.target = file_target(output.path);
	output.fd = file_beside(output.target, &output.temporary);
	if (output.fd < 0)
		problem("made");
	atexit(output_remove);
}

/**
 * output_open - begin the output
 * @path: its file; NULL for standard output
 */
void output_open(const char *path)
{
	struct stat st;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	output.path = path;
	if (!path)
		return;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		output.fd = open(path, O_WRONLY | O_CLOEXEC);
		if (output.fd < 0)
			problem("opened");
		return;
	}
	/* One that the shell has told us to ignore stays ignored. */
	for (int i = 1; i < NSIG; i++) {
		if (signal_ends(i) && signal(i, end_by_signal) == SIG_IGN)
			signal(i, SIG_IGN);
	}
	open_temporary();
}

static void flush(void)
{
	size_t done = 0;

	while (done < output.len) {
		ssize_t n = write(output.fd, output.data + done, output.len - done);

		if (n < 0 && errno != EINTR)
			problem("written");
		done += n > 0 ? n : 0;
	}
	output.len = 0;
}

/**
 * output_write - write bytes
 * @data: the bytes
 * @len: how many
 */
void output_write(const void *data, size_t len)
{
	while (len > sizeof(output.data) - output.len) {
		size_t part = sizeof(output.data) - output.len;

		memcpy(output.data + output.len, data, part);
		output.len += part;
		data = (const char *)data + part;
		len -= part;
		flush();
	}
	memcpy(output.data + output.len, data, len);
	output.len += len;
}

/**
 * output_text - write a text
 * @text: the text
 */
void output_text(const char *text)
{
	output_write(text, strlen(text));
}

/**
 * output_number - write a number
 * @n: the number
 */
void output_number(uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = '0' + n % 10;
	} while (n /= 10);
	output_write(p, digits + sizeof(digits) - p);
}

/**
 * output_decimal - write a number with a point in it
 * @n: the number without its point
 * @places: how many digits come after it, at most 9; zeros at the end are left out
 */
void output_decimal(uint64_t n, unsigned int places)
{
	uint64_t unit = 1;
	char digits[9];
	unsigned int len = places;

	for (unsigned int i = 0; i < places; i++)
		unit *= 10;
	output_number(n / unit);
	n %= unit;
	if (!n)
		return;
	for (unsigned int i = places; i--; n /= 10)
		digits[i] = '0' + n % 10;
	while (digits[len - 1] == '0')
		len--;
	output_write(".", 1);
	output_write(digits, len);
}

/**
 * output_json - write a string as JSON has it
 * @clean: the text, without control characters, as text_clean() makes it
 */
void output_json(const char *clean)
{
	output_write("\"", 1);
	while (*clean) {
		size_t len = strcspn(clean, "\"\\");

		output_write(clean, len);
		clean += len;
		if (*clean) {
			output_write("\\", 1);
			output_write(clean++, 1);
		}
	}
	output_write("\"", 1);
}

/**
 * output_close - give the output its name: it is complete
 */
void output_close(void)
{
	flush();
	if (output.fd != STDOUT_FILENO && close(output.fd))
		problem("written");
	if (!output.temporary)
		return;
	if (rename(output.temporary, output.target))
		problem("made");
	free(output.target);
	free(output.temporary);
	output.temporary = NULL;
}
