// SPDX-License-Identifier: GPL-2.0
/*
 * bpf: puts BPF programs that do nothing on functions of the kernel.
 *
 *	bpf KIND FUNCTION,... COMMAND...   on each a program of its own, while the command runs
 *	bpf KIND COUNT                     one program on the first COUNT functions at a time; it
 *	                                   comes between two marks (mark.c), and goes between two
 *
 * KIND is fentry, fexit, fentry.multi, kprobe.multi or kretprobe.multi; COUNT is for a multi. Both
 * kinds of multi take the same functions: those with types (BTF) and a name that no other symbol
 * has. The second form prints "count multi.functions N", how many of COUNT there were.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/* Of BPF_LINK_CREATE. The C library's headers may be older than the kernel. */
struct multi {
	__u32 prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			__u64 ids, cookies;
			__u32 cnt;
		} tracing;
		struct {
			__u32 flags, cnt;
			__u64 syms, addrs, cookies;
		} kprobe;
	};
};

/* BPF_TRACE_FENTRY_MULTI; and how many arguments are in registers. */
enum { FENTRY_MULTI = 59, MOST_ARGUMENTS = 6 };

static const struct kind {
	const char *name;
	__u32 type, attach, flags;
} kinds[] = {
	{ "fentry",		BPF_PROG_TYPE_TRACING,	BPF_TRACE_FENTRY },
	{ "fexit",		BPF_PROG_TYPE_TRACING,	BPF_TRACE_FEXIT },
	{ "fentry.multi",	BPF_PROG_TYPE_TRACING,	FENTRY_MULTI },
	{ "kprobe.multi",	BPF_PROG_TYPE_KPROBE,	BPF_TRACE_KPROBE_MULTI },
	{ "kretprobe.multi",	BPF_PROG_TYPE_KPROBE,	BPF_TRACE_KPROBE_MULTI,
				BPF_F_KPROBE_MULTI_RETURN },
};

/* Sorted by their names. */
static struct function {
	unsigned long addr;
	unsigned int symbols;
	__u32 id;
	char name[128];
} *functions;
static size_t nr_functions;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static struct function *find(const char *name)
{
	struct function key;

	snprintf(key.name, sizeof(key.name), "%s", name);
	return bsearch(&key, functions, nr_functions, sizeof(key), compare);
}

/* No program may be on some of these, and BPF itself calls others. */
static bool denied(const char *name)
{
	static const char * const parts[] = {
		"rcu_", "migrate_", "preempt_count_", "_idle", "bpf_"
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static void add_function(const char *line)
{
	struct function f = { 0 };

	/* A module's has a third word. */
	if (strchr(line, '[') || sscanf(line, "%lx %127s", &f.addr, f.name) != 2 || denied(f.name))
		return;
	if (!(nr_functions & (nr_functions - 1)))
		functions = realloc(functions, sizeof(f) * 2 * (nr_functions ?: 1));
	if (!functions)
		die("memory");
	functions[nr_functions++] = f;
}

static void add_symbol(const char *line)
{
	struct function *f;
	char name[512];

	f = sscanf(line, "%*s %*s %511s", name) == 1 ? find(name) : NULL;
	if (f)
		f->symbols++;
}

static void read_lines(const char *path, void (*add)(const char *line))
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die(path);
	while (getline(&line, &size, file) > 0)
		add(line);
	fclose(file);
	free(line);
}

static void *read_all(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY);
	char *data = NULL;
	ssize_t n = 1;

	if (fd < 0)
		die(path);
	for (*len = 0; n > 0; *len += n) {
		data = realloc(data, *len + (1 << 20));
		n = data ? read(fd, data + *len, 1 << 20) : -1;
		if (n < 0)
			die(path);
	}
	close(fd);
	return data;
}

static const struct btf_type **types;

static size_t type_size(const struct btf_type *t)
{
	size_t nr = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + nr * sizeof(struct btf_param);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return sizeof(*t) + nr * sizeof(struct btf_member);
	default:
		return sizeof(*t);
	}
}

/* What a register holds. */
static bool in_register(__u32 id)
{
	for (;;) {
		switch (BTF_INFO_KIND(types[id]->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = types[id]->type;
			if (!id)
				return false;
			continue;
		case BTF_KIND_INT:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			return types[id]->size <= sizeof(long);
		case BTF_KIND_PTR:
			return true;
		default:
			return false;
		}
	}
}

static bool is_simple(const struct btf_type *proto)
{
	const struct btf_param *params = (const void *)(proto + 1);

	unsigned int nr = BTF_INFO_VLEN(proto->info);

	if (nr > MOST_ARGUMENTS || (proto->type && !in_register(proto->type)))
		return false;
	for (unsigned int i = 0; i < nr; i++)
		/* The last of a variable number has no type. */
		if (!params[i].type || !in_register(params[i].type))
			return false;
	return true;
}

static void read_types(void)
{
	const struct btf_header *btf;
	const char *strings, *at, *end;
	struct function *f;
	__u32 nr = 1;
	size_t len;

	btf = read_all("/sys/kernel/btf/vmlinux", &len);
	at = (const char *)btf + btf->hdr_len + btf->type_off;
	end = at + btf->type_len;
	strings = (const char *)btf + btf->hdr_len + btf->str_off;
	types = calloc(btf->type_len / sizeof(**types) + 1, sizeof(*types));
	if (!types)
		die("memory");
	for (; at < end; at += len) {
		types[nr++] = (const void *)at;
		len = type_size((const void *)at);
	}
	for (__u32 id = 1; id < nr; id++) {
		if (BTF_INFO_KIND(types[id]->info) != BTF_KIND_FUNC)
			continue;
		f = find(strings + types[id]->name_off);
		if (f && is_simple(types[types[id]->type]))
			f->id = id;
	}
}

static void read_functions(void)
{
	size_t kept = 0;

	read_lines("/sys/kernel/tracing/available_filter_functions_addrs", add_function);
	qsort(functions, nr_functions, sizeof(*functions), compare);
	read_lines("/proc/kallsyms", add_symbol);
	read_types();
	for (size_t i = 0; i < nr_functions; i++)
		if (functions[i].symbols == 1 && functions[i].id)
			functions[kept++] = functions[i];
	nr_functions = kept;
}

static int load(const struct kind *kind, __u32 id)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = kind->type,
		.expected_attach_type = kind->attach,
		.insns = (unsigned long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (unsigned long)"GPL",
	};
	int fd;

	if (kind->attach == BPF_TRACE_FENTRY || kind->attach == BPF_TRACE_FEXIT)
		attr.attach_btf_id = id;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		die("load");
	return fd;
}

/* Ready for one system call: it may be all that a window has. */
static struct multi link_to(const struct kind *kind, const struct function *of, unsigned int nr)
{
	struct multi attr = { .prog_fd = load(kind, of->id), .attach_type = kind->attach };
	__u64 *addrs = calloc(nr, sizeof(*addrs));
	__u32 *ids = calloc(nr, sizeof(*ids));

	if (!addrs || !ids)
		die("memory");
	for (unsigned int i = 0; i < nr; i++) {
		addrs[i] = of[i].addr;
		ids[i] = of[i].id;
	}
	if (kind->type == BPF_PROG_TYPE_KPROBE) {
		attr.kprobe.flags = kind->flags;
		attr.kprobe.cnt = nr;
		attr.kprobe.addrs = (unsigned long)addrs;
	} else if (kind->attach == FENTRY_MULTI) {
		attr.tracing.cnt = nr;
		attr.tracing.ids = (unsigned long)ids;
	}
	return attr;
}

static int attach(const struct multi *attr)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
}

/* The kernel puts off some of the work of programs that come or go: it is not to be in a window. */
static void settle(void)
{
	sleep(1);
}

static int while_command(const struct kind *kind, char *names, char **command)
{
	int status;

	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		struct function *f = find(name);
		struct multi attr;

		if (!f) {
			fprintf(stderr, "bpf: no program can be put on %s\n", name);
			return 1;
		}
		attr = link_to(kind, f, 1);
		if (attach(&attr) < 0)
			die(name);
	}
	/* The programs stay for as long as this task has their files open. */
	settle();
	if (!fork()) {
		execvp(command[0], command);
		die(command[0]);
	}
	return wait(&status) < 0 || status;
}

static int many(const struct kind *kind, size_t count)
{
	struct multi attr;
	int link;

	if (count > nr_functions)
		count = nr_functions;
	attr = link_to(kind, functions, count);
	settle();
	getpgid(0);
	link = attach(&attr);
	getpgid(0);
	if (link < 0)
		die(kind->name);
	settle();
	getpgid(0);
	close(link);
	getpgid(0);
	printf("count multi.functions %zu\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;

	for (size_t i = 0; argc > 2 && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind || (argc == 3 && !(atoi(argv[2]) > 0 && strstr(kind->name, ".multi")))) {
		fputs("usage: bpf KIND FUNCTION,... COMMAND... | KIND COUNT\n", stderr);
		return 2;
	}
	read_functions();
	return argc == 3 ? many(kind, atoi(argv[2])) : while_command(kind, argv[2], argv + 3);
}
