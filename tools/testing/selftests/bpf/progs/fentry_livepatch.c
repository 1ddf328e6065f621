// SPDX-License-Identifier: GPL-2.0
/* Counts the calls of a function that samples/livepatch replaces, at its entry and at its exit. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

int caller;
int entries;
int exits;

static bool called_by_test(void)
{
	return (int)(bpf_get_current_pid_tgid() >> 32) == caller;
}

SEC("fentry/cmdline_proc_show")
int BPF_PROG(count_entry)
{
	entries += called_by_test();
	return 0;
}

SEC("fexit/cmdline_proc_show")
int BPF_PROG(count_exit)
{
	exits += called_by_test();
	return 0;
}
