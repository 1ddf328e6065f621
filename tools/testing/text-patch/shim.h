/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names that arch/x86/kernel/text-patch.c and the headers that it shares with the kernel need
 * beside tools/include, for a user-space program. A thread stands for a CPU, SIGTRAP for the
 * breakpoint exception, membarrier() for the sync.
 */
#ifndef SHIM_H
#define SHIM_H

#include <asm/barrier.h>
#include <asm/processor-flags.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The registers of a signal's context that the handler may change. */
struct pt_regs {
	unsigned long	ip;
	unsigned long	sp;
	unsigned long	flags;
};

#define __ro_after_init
#define __no_sanitize_or_inline	__always_inline
#ifndef __aligned
#define __aligned(n)		__attribute__((__aligned__(n)))
#endif
#define pte_t			unsigned long
typedef int (*cmp_func_t)(const void *a, const void *b);
#define spinlock_t		int
#undef noinstr
#define noinstr			noinline

/* That of tools/include takes no expressions. */
#undef min_t
#define min_t(type, a, b)	min((type)(a), (type)(b))

#define smp_cond_load_acquire(ptr, cond)				\
	({								\
		typeof(*(ptr)) VAL;					\
		while (VAL = smp_load_acquire(ptr), !(cond))		\
			asm volatile("pause");				\
		VAL;							\
	})

/* Threads, by the number that each has taken. */
#define SHIM_THREADS		64
extern __thread int shim_thread;

#define DEFINE_PER_CPU(type, name)	typeof(type) name[SHIM_THREADS]
#define per_cpu_ptr(var, cpu)		(&(*(var))[cpu])
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < SHIM_THREADS; (cpu)++)
/* One instruction, as a signal may come in between. */
#define this_cpu_inc(name)	asm volatile("incl %0" : "+m" ((name)[shim_thread]))
#define this_cpu_dec(name)	asm volatile("decl %0" : "+m" ((name)[shim_thread]))

#define lockdep_assert_held(lock)
#define lockdep_assert_cpus_held()
#define cond_resched()
#define lass_stac()
#define lass_clac()
#define user_mode(regs)			false
#define perf_event_text_poke_wanted()	false
#define perf_event_text_poke(addr, old, old_len, new, new_len)	((void)(old))

struct kernel_param;
struct kernel_param_ops {
	int	(*set)(const char *val, const struct kernel_param *kp);
	int	(*get)(char *buffer, const struct kernel_param *kp);
};

#define module_param_cb(name, ops, arg, mode)	\
	static const void *const shim_param_##name[] __maybe_unused = { ops, arg }
#define param_set_uint_minmax(val, kp, low, high)	0
#define param_get_uint		NULL

#endif /* SHIM_H */
