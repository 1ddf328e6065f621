// SPDX-License-Identifier: GPL-2.0
/*
 * Culprits for ftrace-overhead bisect: functions that fail, are slow or reset the machine while
 * they are traced. Each parameter is a test, which is run by reading it.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/reboot.h>

#define PLANTED(name)				\
static noinline void planted_##name(void)	\
{						\
	barrier();				\
}

PLANTED(fails)
PLANTED(slow)
PLANTED(crash)
PLANTED(one)
PLANTED(other)

/* Whether the site of a function, which may follow an ENDBR64, is a call now. */
static bool notrace is_traced(void (*function)(void))
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const u8 *site = (const u8 *)function;

	if (!memcmp(site, endbr, sizeof(endbr)))
		site += sizeof(endbr);
	return READ_ONCE(*site) == 0xe8;
}

static int notrace get_fails(char *buffer, const struct kernel_param *kp)
{
	planted_fails();
	return is_traced(planted_fails) ? -EIO : sprintf(buffer, "fine\n");
}

static int notrace get_slow(char *buffer, const struct kernel_param *kp)
{
	planted_slow();
	if (is_traced(planted_slow))
		msleep(1500);
	return sprintf(buffer, "fine\n");
}

static int notrace get_crash(char *buffer, const struct kernel_param *kp)
{
	planted_crash();
	if (is_traced(planted_crash))
		emergency_restart();
	return sprintf(buffer, "fine\n");
}

static int notrace get_both(char *buffer, const struct kernel_param *kp)
{
	planted_one();
	planted_other();
	return is_traced(planted_one) && is_traced(planted_other) ? -EIO :
								    sprintf(buffer, "fine\n");
}

#define TEST(name)							\
static const struct kernel_param_ops name##_ops = { .get = get_##name };	\
module_param_cb(name, &name##_ops, NULL, 0400)

TEST(fails);
TEST(slow);
TEST(crash);
TEST(both);

MODULE_DESCRIPTION("Functions that misbehave while they are traced");
MODULE_LICENSE("GPL");
