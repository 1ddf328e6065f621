/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words that fuzz.c writes: of each kind of file, most of them right or nearly so, by chance.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

enum {
	NAMES_MAX = 4096,
	OPTIONS_MAX = 128,
	TEXT_MAX = 12000,
};

/* Chance */
static uint64_t rnd_state;

static void rnd_seed(uint64_t seed, unsigned int who)
{
	rnd_state = (seed + 1) * 0x9e3779b97f4a7c15ull + (who + 1) * 0xbf58476d1ce4e5b9ull;
}

static unsigned int rnd(unsigned int below)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return (rnd_state * 0x2545f4914f6cdd1dull >> 33) % below;
}

static bool one_in(unsigned int n)
{
	return !rnd(n);
}

#define pick(array) ((array)[rnd(ARRAY_SIZE(array))])

/* Text that grows, and is cut where the room ends */
struct text {
	size_t len;
	char s[TEXT_MAX];
};

static void add_bytes(struct text *t, const char *s, size_t len)
{
	if (len > sizeof(t->s) - t->len)
		len = sizeof(t->s) - t->len;
	memcpy(t->s + t->len, s, len);
	t->len += len;
}

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	char s[512];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(s, sizeof(s), fmt, args);
	va_end(args);
	add_bytes(t, s, len < (int)sizeof(s) ? len : (int)sizeof(s) - 1);
}

/* The words */
static char *names[NAMES_MAX];
static unsigned int nr_names;
static char *options[OPTIONS_MAX];
static unsigned int nr_options;
static char **modules;
static int nr_modules;

static const char *name(void)
{
	return one_in(40) ? "no_such_function" : names[rnd(nr_names)];
}

static void add_number(struct text *t)
{
	static const char * const odd[] = {
		"0", "1", "2", "-1", "+1", "01", "0x10", "4294967295", "4294967296", "99999999",
		"18446744073709551616", "1e3", "", " ", "1 2",
	};

	if (one_in(3))
		add(t, "%s", pick(odd));
	else
		add(t, "%u", rnd(one_in(4) ? 100000 : 400));
}

/* A name of which some is left out. Few functions match most of them: many take their time. */
static void add_glob(struct text *t)
{
	static const char * const wide[] = {
		"*", "vfs_*", "*lock*", "*_read", "k*", "[a-f]*", "ksys_*", "***", "?*?",
	};
	const char *s = name();
	int len = strlen(s), at = rnd(len + 1);

	switch (rnd(8)) {
	case 0:
		add(t, "%.*s*", len - rnd(len / 2 + 1), s);
		break;
	case 1:
		add(t, "*%s", s + rnd(len / 2 + 1));
		break;
	case 2:
		add(t, "*%.*s*", len - 1, s + rnd(2));
		break;
	case 3:
		add(t, "%.*s*%s", at, s, s + at);
		break;
	case 4:
		add(t, "%.*s?%s", at, s, at < len ? s + at + 1 : "");
		break;
	case 5:
		add(t, "%.*s[%c-%c]%s", at, s, 'a' + rnd(26), 'a' + rnd(26),
		    at < len ? s + at + 1 : "");
		break;
	case 6:
		add(t, "%s", s);
		break;
	default:
		add(t, "%s", one_in(3) ? pick(wide) : s);
	}
}

static void add_module(struct text *t)
{
	static const char * const odd[] = { "*", "", "never", "!", "*d*", "ext4", "%" };

	if (nr_modules && !one_in(3)) {
		const char *s = modules[rnd(nr_modules)];
		const char *base = strrchr(s, '/') ? strrchr(s, '/') + 1 : s;

		/* In the kernel a name has no hyphen. */
		for (; *base && *base != '.'; base++)
			add(t, "%c", *base == '-' ? '_' : *base);
	} else {
		add(t, "%s", pick(odd));
	}
}

/*
 * A command that prints the whole trace to the console is for a function without callers; a stack
 * each time is for one function, and few times, and a snapshot each time for one function:
 * otherwise the guest does nothing else.
 */
static void add_command(struct text *t)
{
	static const char * const commands[] = {
		"traceon", "traceoff", "enable_event:sched:sched_switch",
		"disable_event:sched:sched_switch", "enable_event:", "no_such_command", "", "trace",
		"traceoff:", "mod",
	};

	if (one_in(6)) {
		add(t, "%s:stacktrace:%u", name(), rnd(4));
		return;
	}
	if (one_in(8)) {
		add(t, "gen_fn_000002:%s", one_in(2) ? "dump" : "cpudump");
		return;
	}
	if (one_in(10)) {
		add(t, "%s:snapshot", name());
	} else {
		add_glob(t);
		add(t, ":%s", pick(commands));
	}
	if (one_in(2)) {
		add(t, ":");
		add_number(t);
	}
}

static void one_filter_word(struct text *t)
{
	if (one_in(4))
		add(t, "!");
	switch (rnd(8)) {
	case 0:
		add_number(t);
		break;
	case 1:
		add_command(t);
		break;
	case 2:
		add_glob(t);
		add(t, ":mod:");
		add_module(t);
		break;
	case 3:
		add(t, "%s", name());
		break;
	default:
		add_glob(t);
	}
}

static void filter_words(struct text *t)
{
	static const char * const gaps[] = { " ", " ", " ", "\n", "\t", "\n\n", "" };
	unsigned int n = one_in(10) ? 1 + rnd(200) : 1 + rnd(4);

	while (n--) {
		one_filter_word(t);
		add(t, "%s", pick(gaps));
	}
}

static void pid_words(struct text *t)
{
	unsigned int n = 1 + rnd(one_in(10) ? 60 : 3);

	while (n--) {
		if (one_in(10))
			add(t, "!");
		if (one_in(3))
			add(t, "%d", getpid());
		else
			add_number(t);
		add(t, one_in(4) ? "\n" : " ");
	}
}

/* The job makes some of them. */
static void cgroup_words(struct text *t)
{
	static const char *const paths[] = {
		"/", "/fz0", "/fz0/b", "/fz1", "//fz2/", "/fz3/cgroup.procs", "/no_such", "fz0",
		"/fz0/..", "1",
	};
	unsigned int n = 1 + rnd(one_in(10) ? 60 : 3);

	while (n--) {
		if (one_in(4))
			add_number(t);
		else
			add(t, "%s", pick(paths));
		add(t, one_in(4) ? "\n" : " ");
	}
}

/* 0 is the writer itself. */
static void move_words(struct text *t)
{
	add(t, "%d", one_in(2) ? 0 : getppid());
}

static void number_words(struct text *t)
{
	add_number(t);
	if (one_in(2))
		add(t, "\n");
}

static void percent_words(struct text *t)
{
	add(t, "%u", rnd(one_in(8) ? 200 : 100));
}

static void switch_words(struct text *t)
{
	static const char * const words[] = {
		"0", "1", "0\n", "1\n", "1", "0", "2", "-1", "y", "", "\n", "00", "1 ",
	};

	add(t, "%s", pick(words));
}

static void option_words(struct text *t)
{
	if (nr_options)
		add(t, "%s%s", one_in(2) ? "no" : "", options[rnd(nr_options)]);
}

static void clock_words(struct text *t)
{
	static const char * const clocks[] = {
		"local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai",
		"x86-tsc", "locals", "",
	};

	add(t, "%s", pick(clocks));
}

/* Of buffers, which are to stay small. */
static void size_words(struct text *t)
{
	add(t, "%u", one_in(8) ? rnd(1000) : 4u << rnd(6));
}

static void tracer_words(struct text *t)
{
	static const char * const tracers[] = {
		"function", "function_graph", "nop", "function", "function_graph", "count", "nop",
		"irqsoff", "preemptirqsoff", "wakeup", "wakeup_rt",
		"function ", "func", "functions", "",
		" nop", "nop\n\n", "\n",
	};

	add(t, "%s", pick(tracers));
}

static void one_probe(struct text *t)
{
	static const char * const kinds[] = {
		"p", "p", "r", "r", "f", "f", "f", "r3", "t", "x", "",
	};
	static const char * const tails[] = {
		"", "", "", "", "", "", "", "", "%return", "%return", "+0", "+4", " $stack0",
		" $retval", " a=$comm:string", " $arg1", "-1", " %ax",
	};

	if (one_in(3))
		add(t, "-:fz/e%u", rnd(8));
	else
		add(t, "%s:fz/e%u %s%s", pick(kinds), rnd(8), name(), pick(tails));
	add(t, one_in(8) ? ";" : "\n");
}

static void probe_words(struct text *t)
{
	unsigned int n = 1 + rnd(3);

	while (n--)
		one_probe(t);
}

static void no_words(struct text *t)
{
	add(t, one_in(2) ? "" : "\n");
}

/* Makes a right word wrong: a byte more, less or other, half of it, very much of it, or nothing. */
static void spoil(struct text *t)
{
	size_t at = t->len ? rnd(t->len) : 0, n;

	switch (rnd(7)) {
	case 0:
		t->s[at] = rnd(256);
		t->len += !t->len;
		break;
	case 1:
		t->len = at;
		break;
	case 2:
		for (n = 100 + rnd(TEXT_MAX); n; n--)
			add_bytes(t, &"abc_*!: "[one_in(50) ? rnd(8) : 0], 1);
		break;
	case 3:
		for (n = 1 + rnd(300); n; n--)
			add(t, "%c", rnd(256));
		break;
	case 4:
		memmove(t->s, t->s + at, t->len - at);
		t->len -= at;
		break;
	case 5:
		t->len = 0;
		break;
	default:
		n = t->len;
		for (at = rnd(20); at && n && t->len + n <= TEXT_MAX; at--)
			add_bytes(t, t->s, n);
	}
}
