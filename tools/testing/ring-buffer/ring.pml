/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A writer and a reader of the ring buffer, on two CPUs, for spin: each read and write of shared
 * memory is a step of its own. nesting.c looks at writers that interrupt each other; here an
 * interrupt's events are those that the writer claims before it publishes.
 *
 * Abstracted:
 *  - memory is sequentially consistent: barriers are not modelled;
 *  - a page has room for CAPACITY events, and an event is its number;
 *  - a page's word is its index;
 *  - there is no waiting, resizing or resetting.
 *
 *	spin -search -DOVERWRITE=1 ring.pml
 *
 * With -DLATE_LOOK the writer asks whether the reader's page has the commit after it has looked at
 * the link to the next page: it takes a ring for full that was read meanwhile. With -DOLD_ORDER
 * the reader asks whether the writer has left its page after it has compared the events read with
 * those published, and not again: events are lost.
 */
#ifndef OVERWRITE
#define OVERWRITE	0
#endif
#define RING		3
#define PAGES		4
#define CAPACITY	2
#define EVENTS		9
#define BURST		3

#define NORMAL		0
#define HEAD		1
#define UPDATE		2

/* The ring is pages 0 to 2; page 3 is the reader's. */
byte next[PAGES], prev[PAGES], flag[PAGES];
byte written[PAGES], committed[PAGES];
byte event[8];
byte tail = 0, commit_page = 0, reader_page = 3, head_page = 0;
byte claimed, lost, overrun, seen, last;
bool done;

#define EVENT(page, i)	event[(page) * CAPACITY + (i)]

inline publish()
{
	page = commit_page;
	do
	:: true ->
		to = tail;
		count = written[page];
		committed[page] = count;
		if
		:: page == to -> break
		:: else
		fi;
		page = next[page];
		commit_page = page
	od
}

/* Sets got if the head was moved, or had moved. */
inline push_head()
{
	after = next[to];
	count = committed[to];
	atomic {
		was = flag[page];
		if
		:: next[page] != to -> was = NORMAL
		:: else -> if :: was == HEAD -> flag[page] = UPDATE :: else fi
		fi
	};
	got = was != NORMAL;
	if
	:: was == HEAD ->
		overrun = overrun + count;
		atomic { if :: next[to] == after && flag[to] == NORMAL -> flag[to] = HEAD :: else fi };
		atomic {
			assert(next[page] == to && flag[page] == UPDATE);
			flag[page] = NORMAL
		}
	:: else
	fi
}

/* Claims an event, or counts it as lost. */
inline claim()
{
	claimed++;
	do
	:: true ->
		page = tail;
		if
		:: written[page] < CAPACITY ->
			EVENT(page, written[page]) = claimed;
			written[page]++;
			break
		:: else
		fi;
		/* Complete events need not keep pages. Then all is looked at again. */
		if
		:: !burst && commit_page != page -> publish(); page = tail
		:: else
		fi;
		/* Does the reader's page have the commit? It then stays so, and so does the link. */
#ifndef LATE_LOOK
		readers = next[prev[commit_page]] != commit_page;
#endif
		to = next[page];
		if
		:: to == commit_page -> lost++; break
		:: else
		fi;
		got = true;
		atomic { was = flag[page]; if :: next[page] != to -> got = false :: else fi };
		if
		:: got && was != NORMAL ->
#ifdef LATE_LOOK
			readers = next[prev[commit_page]] != commit_page;
#endif
			if
			:: readers -> assert(commit_page != page); lost++; break
			:: else
				if
				:: OVERWRITE -> push_head()
				:: else -> lost++; break
				fi
			fi
		:: else
		fi;
		if
		:: got ->
			committed[to] = 0;
			written[to] = 0;
			tail = to
		:: else
		fi
	od
}

proctype writer()
{
	byte page, to, after, count, was, burst;
	bool got, readers;

	do
	:: claimed < EVENTS ->
		burst = 0;
		claim();
		/* Interrupts claim as well, before the outermost writer publishes. */
		do
		:: burst < BURST - 1 && claimed < EVENTS -> burst++; claim()
		:: break
		od;
		publish()
	:: else -> break
	od;
	done = true
}

inline read_events()
{
	do
	:: at < committed[reader_page] ->
		got = EVENT(reader_page, at);
		assert(got > last);
		last = got;
		seen++;
		at++
	:: else -> break
	od
}

/* Sets the flag if there is no other page to be had. */
inline next_page()
{
	none = false;
	if
	:: commit_page == reader_page -> none = true
	:: else
	fi;
#ifndef OLD_ORDER
	if
	:: !none -> read_events()
	:: else
	fi;
#endif
	if
	:: !none ->
		written[reader_page] = 0;
		committed[reader_page] = 0;
		at = 0;
		do
		:: true ->
			/* From the last head that was seen on; not one that a writer is moving. */
			head = head_page;
			do
			:: true ->
				got = prev[head];
				if
				:: next[got] == head && flag[got] == HEAD && flag[prev[got]] != UPDATE -> break
				:: else -> head = next[head]
				fi
			od;
			head_page = head;
			next[reader_page] = next[head];
			flag[reader_page] = HEAD;
			prev[reader_page] = prev[head];
			got = prev[head];
			atomic {
				if
				:: next[got] == head && flag[got] == HEAD ->
					next[got] = reader_page;
					flag[got] = NORMAL;
					swapped = true
				:: else -> swapped = false
				fi
			};
			if
			:: swapped ->
				prev[next[head]] = reader_page;
				head_page = next[head];
				reader_page = head;
				break
			:: else
			fi
		od
	:: else
	fi
}

proctype reader()
{
	byte at, head, got;
	bool none, swapped, last_time;

	do
	:: true ->
		last_time = done;
		read_events();
		next_page();
		if
		:: none && last_time -> break
		:: else
		fi
	od;
	/* Every event is read, or counted once. */
	assert(seen + overrun + lost == claimed)
}

init {
	byte i;

	atomic {
		for (i : 0 .. RING - 1) {
			next[i] = (i + 1) % RING;
			prev[i] = (i + RING - 1) % RING
		};
		flag[RING - 1] = HEAD;
		run writer();
		run reader()
	}
}
