// SPDX-License-Identifier: GPL-2.0
/*
 * The build-time pass over sites. A site is a compiler-made call to __fentry__
 * (or mcount) at the head of a function.
 *
 * Object mode is run by kbuild on each object: it adds a section that names the
 * object's sites, and can make NOPs of them. Image mode is run once on the
 * linked vmlinux: it makes the gathered entries the sorted table that boot uses.
 *
 * Invariants:
 *  1. A file is replaced as a whole, by rename, or it stays as it was. Nothing
 *     to do, and done already, are success and leave it as it was.
 *  2. A failure is exit 1 and one line on standard error that names the file,
 *     the section or symbol, and the fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modes.h"

/* The latter two are the values that getopt_long() returns for their options. */
enum mode {
	MODE_OBJECT,
	MODE_IMAGE,
	MODE_LIST,
};

struct options {
	enum mode mode;
	enum site_action action;
	bool warn;
};

static int file_read(struct elf_file *f, mode_t *mode)
{
	FILE *from = fopen(f->path, "r");
	struct stat st;
	int ret = 0;

	if (!from)
		return fail(f, "cannot open: %s", strerror(errno));
	if (fstat(fileno(from), &st) || !S_ISREG(st.st_mode)) {
		ret = fail(f, "not a regular file");
	} else {
		*mode = st.st_mode & 07777;
		f->size = st.st_size;
		f->base = mem_resize(f, NULL, f->size);
		if (fread(f->base, 1, f->size, from) != f->size)
			ret = fail(f, "cannot read all of it");
	}
	fclose(from);
	return ret;
}

/* Returns 0, or an error number. */
static int file_write(const struct elf_file *f, int fd, mode_t mode)
{
	size_t at = 0;
	ssize_t done;

	for (; at < f->size; at += done) {
		done = write(fd, f->base + at, f->size - at);
		if (done <= 0)
			return done ? errno : EIO;
	}
	return fchmod(fd, mode) ? errno : 0;
}

static int file_replace_by(struct elf_file *f, char *temp, mode_t mode)
{
	int fd = mkstemp(temp), error;

	if (fd < 0)
		return fail(f, "cannot create %s: %s", temp, strerror(errno));
	error = file_write(f, fd, mode);
	if (close(fd) && !error)
		error = errno;
	if (!error && !rename(temp, f->path))
		return 0;
	error = error ? error : errno;
	unlink(temp);
	return fail(f, "cannot write %s: %s", temp, strerror(error));
}

/* Interrupted in here, make would leave the temporary file where it is. */
static int file_replace(struct elf_file *f, mode_t mode)
{
	char *temp = mem_resize(f, NULL, strlen(f->path) + sizeof(".XXXXXX"));
	sigset_t all, old;
	int ret;

	strcpy(stpcpy(temp, f->path), ".XXXXXX");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	ret = file_replace_by(f, temp, mode);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(temp);
	return ret;
}

static int file_work(struct elf_file *f, const struct options *opt)
{
	if (elf_file_load(f))
		return VERDICT_FAILED;
	if (opt->mode == MODE_OBJECT)
		return object_record(f, opt->action);
	if (opt->mode == MODE_IMAGE)
		return image_finish(f);
	return f->type == ET_REL ? object_list(f, stdout) : image_list(f, stdout);
}

static int file_process(const char *path, const struct options *opt)
{
	struct elf_file f = { .path = path, .warn = opt->warn };
	mode_t mode = 0;
	int verdict = file_read(&f, &mode);

	if (!verdict)
		verdict = file_work(&f, opt);
	if (verdict == VERDICT_CHANGED)
		verdict = file_replace(&f, mode);
	if (verdict == VERDICT_FAILED)
		fprintf(stderr, "sitetable: %s: %s\n", path, f.error);
	elf_file_free(&f);
	return verdict;
}

static int usage_print(void)
{
	fputs("usage: sitetable [--nop] [-w] OBJECT...   record the sites\n"
	      "       sitetable --image VMLINUX          finish the linked table\n"
	      "       sitetable --list OBJECT|VMLINUX    print the sites\n"
	      "  --nop  make each site a NOP\n"
	      "  -w     say which calls are ignored\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "nop", no_argument, NULL, 'n' },
		{ "image", no_argument, NULL, MODE_IMAGE },
		{ "list", no_argument, NULL, MODE_LIST },
		{ }
	};
	struct options opt = { .mode = MODE_OBJECT, .action = SITE_RECORD };
	int c, failed = 0, modes = 0;

	while ((c = getopt_long(argc, argv, "w", long_options, NULL)) != -1) {
		switch (c) {
		case 'n':
			opt.action = SITE_RECORD_AND_NOP;
			break;
		case 'w':
			opt.warn = true;
			break;
		case MODE_IMAGE:
		case MODE_LIST:
			opt.mode = c;
			modes++;
			break;
		default:
			return usage_print();
		}
	}
	if (optind == argc || modes > 1 ||
	    (modes && (argc - optind > 1 || opt.action != SITE_RECORD)))
		return usage_print();
	for (; optind < argc; optind++)
		failed |= file_process(argv[optind], &opt) == VERDICT_FAILED;
	return failed;
}
