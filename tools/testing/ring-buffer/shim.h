/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names that kernel/trace/ring_buffer_write.c and its headers need of the kernel, for a
 * user-space program that stands for one CPU. A signal stands for an interrupt.
 */
#ifndef SHIM_H
#define SHIM_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef int64_t s64;

#define U64_MAX			UINT64_MAX
#define PAGE_SIZE		4096UL
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define fls(x)			((x) ? 32 - __builtin_clz(x) : 0)
#define sign_extend64(x, n)	((s64)((x) << (63 - (n))) >> (63 - (n)))
#define size_add(a, b)		((a) + (b))
#define size_mul(a, b)		((a) * (b))
#define struct_size(p, member, n)	offsetof(typeof(*(p)), member[n])
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define __aligned(n)		__attribute__((aligned(n)))
#define __counted_by(member)
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define noinline		__attribute__((noinline))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))
#define list_entry(ptr, type, member)	container_of(ptr, type, member)

/* Of the configuration, nothing is off that x86-64 has. */
#define CONFIG_RING_BUFFER			1
#define CONFIG_RING_BUFFER_ALLOW_SWAP		1
#define CONFIG_RING_BUFFER_VALIDATE_TIME_DELTAS	1
#define CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG	1
#define CONFIG_GENERIC_ATOMIC64			0
#define CONFIG_MITIGATION_RETPOLINE		0
#define IS_ENABLED(option)			(option)

/*
 * Memory. With SHIM_INTERRUPT, shim_point() is called before each access that is one in assembly;
 * the compiler has it called before the others.
 */

#ifdef SHIM_INTERRUPT
void shim_point(void);
#else
#define shim_point()		((void)0)
#endif

#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))
#define smp_wmb()		barrier()
#define smp_store_release(p, v)	do { barrier(); WRITE_ONCE(*(p), v); } while (0)

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct rcu_head {
	void (*func)(struct rcu_head *head);
};

typedef struct { int counter; } atomic_t;
typedef struct { long a; } local_t;
typedef struct { s64 a; } local64_t;

#define atomic_read(v)		READ_ONCE((v)->counter)
#define atomic_inc(v)		asm volatile("lock incl %0" : "+m" ((v)->counter))

#define local_read(l)		READ_ONCE((l)->a)
#define local_set(l, v)		WRITE_ONCE((l)->a, v)
#define local_op(op, i, l)						\
	do {								\
		shim_point();						\
		asm volatile(op " %1,%0" : "+m" ((l)->a) : "er" ((long)(i)));	\
	} while (0)
#define local_add(i, l)		local_op("addq", i, l)
#define local_sub(i, l)		local_op("subq", i, l)
#define local_inc(l)		local_add(1, l)
#define local_dec(l)		local_sub(1, l)

/* One instruction, as local_cmpxchg() is; the lock of the others does not matter here. */
static __always_inline bool shim_try_cmpxchg(void *p, void *old, u64 new)
{
	bool done;

	shim_point();
	asm volatile("cmpxchgq %3,%1"
		     : "=@ccz" (done), "+m" (*(u64 *)p), "+a" (*(u64 *)old)
		     : "r" (new) : "memory");
	return done;
}

/* Of an int, as there is no other. */
static __always_inline int shim_xchg(int *p, int v)
{
	shim_point();
	asm volatile("xchgl %0,%1" : "+r" (v), "+m" (*p) : : "memory");
	return v;
}

#define xchg(p, v)			shim_xchg(p, v)
#define try_cmpxchg(p, old, new)	shim_try_cmpxchg(p, old, (u64)(new))
#define cmpxchg(p, old, new)						\
	({								\
		typeof(*(p)) was = (old);				\
		shim_try_cmpxchg(p, &was, (u64)(new));			\
		was;							\
	})
#define local_cmpxchg(l, old, new)	cmpxchg(&(l)->a, old, new)
#define local64_read(l)			local_read(l)
#define local64_cmpxchg(l, old, new)	cmpxchg(&(l)->a, old, new)
#define local64_try_cmpxchg(l, old, new) shim_try_cmpxchg(&(l)->a, old, new)

/* Contexts: as the test says */

#define __LITTLE_ENDIAN_BITFIELD

#define SOFTIRQ_OFFSET		(1U << 8)
#define SOFTIRQ_MASK		(0xffU << 8)
#define HARDIRQ_DISABLE_OFFSET	(1U << 16)
#define HARDIRQ_OFFSET		(1U << 24)
#define HARDIRQ_MASK		(0xfU << 24)
#define NMI_OFFSET		(1U << 28)
#define NMI_MASK		(0xfU << 28)

unsigned int preempt_count(void);

#define preempt_disable_notrace()	barrier()
#define preempt_enable_notrace()	barrier()
#define in_nmi()			(preempt_count() & NMI_MASK)
#define raw_smp_processor_id()		0

/* Types that are only part of a struct, and functions that are only called. */

struct lock_class_key { };
struct irq_work { int queued; };
struct hrtimer { };
struct mutex { };
struct completion { };
struct work_struct { };
struct notifier_block { };
struct seq_file;
struct vm_area_struct;
struct file;
typedef struct { } wait_queue_head_t, raw_spinlock_t, arch_spinlock_t, poll_table;
typedef struct { unsigned long bits; } cpumask_var_t[1];
typedef unsigned int __poll_t, gfp_t;

u64 trace_clock_local(void);
#define trace_clock_local_inline	trace_clock_local
#define trace_clock_local_fast(ns)	({ *(ns) = trace_clock_local(); true; })
void shim_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define WARN(cond, fmt, ...)	shim_warn(fmt, ##__VA_ARGS__)
#define ftrace_test_recursion_trylock(ip, parent_ip)	0
#define ftrace_test_recursion_unlock(bit)		barrier()
#define EXPORT_SYMBOL_GPL(sym)
#define DEFINE_GUARD(name, type, lock, unlock)

#endif /* SHIM_H */
