// SPDX-License-Identifier: GPL-2.0
/*
 * uring: reads a file through io_uring's workers.
 *
 *	uring FILE COUNT
 *
 * COUNT one-byte reads, each by a worker of this task's (IOSQE_ASYNC): the calls in the
 * kernel are the worker's, a thread that io_uring makes and no fork.
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_one(struct io_uring *ring, int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	char c;
	int ret;

	io_uring_prep_read(sqe, fd, &c, 1, 0);
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	ret = io_uring_submit(ring);
	if (ret == 1)
		ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret < 0 ? ret : 0;
}

int main(int argc, char **argv)
{
	struct io_uring ring;
	int fd, ret;

	if (argc != 3) {
		fputs("usage: uring FILE COUNT\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	ret = io_uring_queue_init(1, &ring, 0);
	for (int i = 0; !ret && i < atoi(argv[2]); i++)
		ret = read_one(&ring, fd);
	if (ret)
		fprintf(stderr, "uring: %s\n", strerror(-ret));
	return !!ret;
}
