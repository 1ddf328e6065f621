// SPDX-License-Identifier: GPL-2.0
/*
 * schedules: the write side of the ring buffer, interrupted anywhere, at random.
 *
 *	schedules [NUMBER [SEED]]
 *	schedules -3 [-a]
 *
 * Each schedule is a ring of 2 to 7 pages, overwriting or not, and a few events of all kinds. Each
 * access to memory of the write side may be interrupted, and so may accesses of the interrupt; or
 * the reader on another CPU goes on there: the compiler puts a call before each access, as it would
 * for the thread sanitizer. The clock ticks, stands or goes back, or 73 minutes pass.
 *
 * It ends at the first schedule that is wrong, and tells its seed: "schedules 1 SEED" does the
 * same again.
 *
 * With -3 there are three interrupts, at all of these accesses: one after the other, one within
 * another, or both. The ring is the smallest, and about to go to its next page. Without -a it
 * begins with fewer states of the ring, and ends within a minute.
 */
#include "ring.h"

/* For functions that are not to be interrupted themselves. */
#define no_points	__attribute__((no_sanitize("thread")))

static u64 random_state;
/* How many points of the write side to go until the next interrupt; and whether it is that. */
static unsigned int countdown;
static bool armed;
/* Of this schedule: how rare interrupts are, and how many there may be. */
static unsigned int rareness, interrupts_left;
static const char *acts;

#define PLANNED		3

/* Or interrupts that are planned: the steps of each, and after how many points since the last. */
static const char *const *plan;
static unsigned int gaps[PLANNED], planned_done;

static no_points unsigned int dice(unsigned int sides)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % sides;
}

static no_points void interrupts_on(void)
{
	armed = true;
}

static no_points void interrupts_off(void)
{
	armed = false;
}

static no_points void rewind_countdown(void)
{
	countdown = 1 + dice(dice(4) ? rareness : 1 + rareness / 8);
}

/* A gap of 0: at once when the last has ended. */
static no_points void planned_interrupts(void)
{
	unsigned int preempt = st.preempt_count;
	int level = st.level;
	const char *c;

	armed = false;
	st.level = level + 1;
	st.preempt_count = preempt + level_count[st.level];
	do {
		c = plan[planned_done++];
		countdown = planned_done < PLANNED && gaps[planned_done] ? gaps[planned_done] : -1;
		for (; *c; c++)
			act(*c);
	} while (planned_done < PLANNED && !gaps[planned_done]);
	st.level = level;
	st.preempt_count = preempt;
	armed = true;
}

static noinline no_points void interrupt(void)
{
	unsigned int preempt = st.preempt_count;
	int level = st.level;

	if (plan) {
		planned_interrupts();
		return;
	}
	rewind_countdown();
	if (!interrupts_left)
		return;
	interrupts_left--;
	armed = false;
	if (!dice(4)) {
		act(dice(3) ? 's' : 'r');
	} else if (level + 1 < MAX_LEVELS) {
		st.level = level + 1 + dice(MAX_LEVELS - 1 - level);
		st.preempt_count = preempt + level_count[st.level];
		for (unsigned int n = dice(8) ? 1 + dice(3) : 1 + dice(24); n; n--)
			act(acts[dice(strlen(acts))]);
		st.level = level;
		st.preempt_count = preempt;
	}
	armed = true;
}

no_points void shim_point(void)
{
	if (armed && !--countdown)
		interrupt();
}

/* The functions that the compiler calls. */
#define POINT(name)	void name(void *p); no_points void name(void *p) { shim_point(); }

POINT(__tsan_read1)
POINT(__tsan_read2)
POINT(__tsan_read4)
POINT(__tsan_read8)
POINT(__tsan_read16)
POINT(__tsan_write1)
POINT(__tsan_write2)
POINT(__tsan_write4)
POINT(__tsan_write8)
POINT(__tsan_write16)
POINT(__tsan_unaligned_read2)
POINT(__tsan_unaligned_read4)
POINT(__tsan_unaligned_read8)
POINT(__tsan_unaligned_write2)
POINT(__tsan_unaligned_write4)
POINT(__tsan_unaligned_write8)

void __tsan_init(void);
void __tsan_init(void) { }
void __tsan_func_entry(void *p);
void __tsan_func_entry(void *p) { }
void __tsan_func_exit(void *p);
void __tsan_func_exit(void *p) { }

/* One schedule. Returns false if it is wrong. */
static bool try_one(u64 seed)
{
	static const char *const kinds[] = {
		"w", "wWe", "wwdD", "wWedDnN", "wWedDnNrst", "wWetTs", "wWedDnNtTb013rs",
		"wWedDnNtTbB013rs", "W0w", "wN0r", "0w", "0wr", "wWiI", "wWedDnNtTiI",
		"wWem", "wWedDnNtTmbB013rs",
	};
	static const unsigned int capacities[] = { 40, 44, 48, 60, 100 };

	random_state = seed * 0x9e3779b97f4a7c15 + 1;
	for (int i = 0; i < 4; i++)
		dice(2);
	ring_make(2 + dice(6), capacities[dice(5)], dice(2) ? RB_FL_OVERWRITE : 0);
	acts = kinds[dice(ARRAY_SIZE(kinds))];
	/* Iterators cannot do with a clock that stands. */
	st.tick = "\3\1\0"[dice(strchr(acts, 'i') ? 2 : 3)];
	interrupts_left = 0;
	countdown = -1;
	for (unsigned int n = dice(30); n; n--)
		act(acts[dice(strlen(acts))]);

	rareness = 1 << (2 + dice(7));
	interrupts_left = 1 + dice(12);
	rewind_countdown();
	for (unsigned int n = 1 + dice(10); n && !complaint[0]; n--)
		act(acts[dice(strlen(acts))]);
	check();
	return !complaint[0];
}

/* Three interrupts at all places. Returns false at the first that is wrong. */
static bool try_three(const char *before, const char *outer, unsigned int flags,
		      unsigned long *runs)
{
	for (unsigned int i = 0; i < PLANNED; i++)
		gaps[i] = !i;
	for (;;) {
		ring_make(2, 40, flags);
		countdown = -1;
		for (const char *c = before; *c; c++)
			act(*c);
		planned_done = 0;
		countdown = gaps[0];
		for (const char *c = outer; *c; c++)
			act(*c);
		check();
		if (complaint[0])
			return false;
		++*runs;
		/* The last that has come comes one point later, and those after it at once. */
		if (!planned_done)
			return true;
		for (unsigned int i = planned_done; i < PLANNED; i++)
			gaps[i] = 0;
		gaps[planned_done - 1]++;
	}
}

static int three(bool all)
{
	/* Of small events a page has three, of others one. */
	static const char *const befores[] = { "wwwwww", "www", "wrwwwww", "0www", "Wd" };
	static const char *const outers[] = { "w", "W", "d", "n", "e" };
	static const char *const plans[][PLANNED] = {
		{ "w", "w", "w" }, { "W", "W", "W" }, { "W", "s", "w" }, { "W", "d", "W" },
		{ "I", "W", "I" }, { "s", "W", "s" }, { "WW", "WW", "WW" }, { "s", "w", "WW" },
		{ "tw", "W", "w" }, { "D", "W", "s" }, { "Bw", "W", "bw" }, { "WWW", "s", "s" },
	};
	unsigned int failed = 0, nr = 0;

	for (unsigned int o = 0; o < (all ? ARRAY_SIZE(outers) : 2); o++) {
		for (unsigned int p = 0; p < (all ? ARRAY_SIZE(plans) : 5); p++) {
			unsigned long runs = 0;
			bool ok = true;

			plan = plans[p];
			for (unsigned int b = 0; ok && b < (all ? ARRAY_SIZE(befores) : 1); b++) {
				ok = try_three(befores[b], outers[o], RB_FL_OVERWRITE, &runs) &&
				     try_three(befores[b], outers[o], 0, &runs);
			}
			/* Each of both modes has many more. */
			if (ok && runs < 100) {
				snprintf(complaint, sizeof(complaint), "interrupts do not come");
				ok = false;
			}
			failed += !ok;
			printf("%s %u - \"%s\" and \"%s\", \"%s\", \"%s\" (%lu runs)\n",
			       ok ? "ok" : "not ok", ++nr, outers[o], plan[0], plan[1], plan[2],
			       runs);
			if (!ok)
				printf("# at points %u, %u, %u: %s\n", gaps[0], gaps[1], gaps[2],
				       complaint);
			fflush(stdout);
		}
	}
	return !!failed;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "-3"))
		return three(argc > 2);

	unsigned long number = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

	for (unsigned long i = 0; i < number; i++, seed++) {
		if (try_one(seed))
			continue;
		printf("not ok 1 - schedule %lu\n# %s\n", seed, complaint);
		return 1;
	}
	printf("ok 1 - %lu random schedules\n", number);
	return 0;
}
