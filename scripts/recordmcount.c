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
 *     the section or symbol, and what was wrong there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recordmcount-elf.h"

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

static int file_map(struct elf_file *f, struct stat *st)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return fail(f, "cannot open: %s", strerror(errno));
	if (fstat(fd, st) || !S_ISREG(st->st_mode)) {
		close(fd);
		return fail(f, "not a regular file");
	}
	f->size = st->st_size;
	if (!f->size) {
		close(fd);
		return fail(f, "empty file");
	}
	map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return fail(f, "cannot map: %s", strerror(errno));
	f->base = map;
	return 0;
}

static int bytes_write(int fd, const u8 *from, size_t len)
{
	ssize_t done;

	while (len) {
		done = write(fd, from, len < 1UL << 30 ? len : 1UL << 30);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		from += done;
		len -= done;
	}
	return 0;
}

/* The usual case is one call; whatever it leaves is written piece by piece. */
static int result_write(const struct elf_file *f, int fd)
{
	struct iovec piece[2] = {
		{ f->base, f->keep },
		{ f->tail.data, f->tail.len },
	};
	ssize_t done = writev(fd, piece, f->tail.len ? 2 : 1);
	size_t n = done < 0 ? 0 : done;

	if (n < f->keep) {
		if (bytes_write(fd, f->base + n, f->keep - n))
			return -1;
		n = f->keep;
	}
	n -= f->keep;
	return bytes_write(fd, f->tail.data + n, f->tail.len - n);
}

/* Interrupted in here, make would leave the temporary file behind. */
static void signals_hold(sigset_t *old)
{
	sigset_t hold;

	sigemptyset(&hold);
	sigaddset(&hold, SIGINT);
	sigaddset(&hold, SIGTERM);
	sigaddset(&hold, SIGHUP);
	sigprocmask(SIG_BLOCK, &hold, old);
}

static int file_replace_held(struct elf_file *f, char *temp, mode_t mode)
{
	int fd = mkstemp(temp), error;

	if (fd < 0)
		return fail(f, "cannot create %s: %s", temp, strerror(errno));
	error = result_write(f, fd) || fchmod(fd, mode & 07777) ? errno : 0;
	if (close(fd) && !error)
		error = errno;
	if (!error && rename(temp, f->path))
		error = errno;
	if (!error)
		return 0;
	unlink(temp);
	return fail(f, "cannot write %s: %s", temp, strerror(error));
}

static int file_replace(struct elf_file *f, mode_t mode)
{
	sigset_t old;
	char *temp;
	int ret;

	if (asprintf(&temp, "%s.XXXXXX", f->path) < 0)
		return fail_memory(f);
	signals_hold(&old);
	ret = file_replace_held(f, temp, mode);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(temp);
	return ret;
}

/* The type lies at the same place in both classes; loading checks all the rest. */
static bool file_is_object(const struct elf_file *f)
{
	const size_t type = offsetof(Elf64_Ehdr, e_type);

	return f->size > type && f->base[type] == ET_REL;
}

static int file_work(struct elf_file *f, const struct options *opt)
{
	switch (opt->mode) {
	case MODE_OBJECT:
		return object_record(f, opt->action);
	case MODE_IMAGE:
		return image_finish(f);
	case MODE_LIST:
		break;
	}
	return file_is_object(f) ? object_list(f, stdout) : image_list(f, stdout);
}

static int file_process(const char *path, const struct options *opt)
{
	struct elf_file f = { .path = path, .warn = opt->warn };
	struct stat st;
	int verdict = file_map(&f, &st);

	if (!verdict)
		verdict = file_work(&f, opt);
	if (verdict == VERDICT_CHANGED && file_replace(&f, st.st_mode))
		verdict = VERDICT_FAILED;
	if (verdict == VERDICT_FAILED)
		fprintf(stderr, "recordmcount: %s: %s\n", path, f.error);
	elf_file_free(&f);
	if (f.base)
		munmap(f.base, f.size);
	return verdict;
}

static int usage_print(void)
{
	fputs("usage: recordmcount [--nop] [-w] OBJECT...   record the sites\n"
	      "       recordmcount --image VMLINUX          finish the linked table\n"
	      "       recordmcount --list OBJECT|VMLINUX    print the sites\n"
	      "  --nop  make each site a NOP\n"
	      "  -w     say which calls are ignored\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "nop", no_argument, NULL, 'n' },
		{ "image", no_argument, NULL, 'i' },
		{ "list", no_argument, NULL, 'l' },
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
		case 'i':
			opt.mode = MODE_IMAGE;
			modes++;
			break;
		case 'l':
			opt.mode = MODE_LIST;
			modes++;
			break;
		default:
			return usage_print();
		}
	}
	if (optind == argc || modes > 1 || (opt.mode != MODE_OBJECT && argc - optind > 1) ||
	    (opt.mode != MODE_OBJECT && opt.action != SITE_RECORD))
		return usage_print();
	for (; optind < argc; optind++)
		failed |= file_process(argv[optind], &opt) == VERDICT_FAILED;
	return failed;
}
