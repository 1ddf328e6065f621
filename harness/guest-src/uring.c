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
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *map(int fd, size_t len, off_t what)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

	if (p == MAP_FAILED) {
		perror("uring: mmap");
		exit(1);
	}
	return p;
}

int main(int argc, char **argv)
{
	struct io_uring_params params = { 0 };
	struct io_uring_sqe *sqes;
	unsigned int *tail, *array, *cq_head, mask;
	struct io_uring_cqe *cqes;
	uint8_t *sq, *cq, c;
	int fd, ring;

	if (argc != 3) {
		fputs("usage: uring FILE COUNT\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	ring = syscall(SYS_io_uring_setup, 1, &params);
	if (fd < 0 || ring < 0) {
		perror("uring");
		return 1;
	}
	sq = map(ring, params.sq_off.array + params.sq_entries * sizeof(*array),
		 IORING_OFF_SQ_RING);
	cq = map(ring, params.cq_off.cqes + params.cq_entries * sizeof(*cqes),
		 IORING_OFF_CQ_RING);
	sqes = map(ring, params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	tail = (unsigned int *)(sq + params.sq_off.tail);
	array = (unsigned int *)(sq + params.sq_off.array);
	cq_head = (unsigned int *)(cq + params.cq_off.head);
	mask = *(unsigned int *)(cq + params.cq_off.ring_mask);
	cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);

	for (int i = 0; i < atoi(argv[2]); i++) {
		sqes[0] = (struct io_uring_sqe) {
			.opcode	= IORING_OP_READ,
			.flags	= IOSQE_ASYNC,
			.fd	= fd,
			.addr	= (uintptr_t)&c,
			.len	= 1,
		};
		array[0] = 0;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL,
			    0) != 1) {
			perror("uring: io_uring_enter");
			return 1;
		}
		if (cqes[*cq_head & mask].res < 0) {
			fprintf(stderr, "uring: %s\n", strerror(-cqes[*cq_head & mask].res));
			return 1;
		}
		__atomic_store_n(cq_head, *cq_head + 1, __ATOMIC_RELEASE);
	}
	return 0;
}
