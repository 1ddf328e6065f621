// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the read-only files: when they can be read, and the text of their lines.
 */
#include "kunit.h"

/* Enough for a line */
#define FILES_KUNIT_BUF		512

struct files_kunit {
	struct file	file;
	struct seq_file	seq;
	char		buf[FILES_KUNIT_BUF];
};

static struct files_kunit *files_kunit_new(struct kunit *test)
{
	struct files_kunit *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->seq.buf = f->buf;
	f->seq.size = sizeof(f->buf) - 1;
	return f;
}

struct files_kunit_file {
	const char			*name;
	const struct file_operations	*fops;
	enum files_list			list;
};

static const struct files_kunit_file files_kunit_file[] = {
	{ "available_filter_functions", &files_list_fops, FILES_AVAILABLE },
	{ "available_filter_functions_addrs", &files_list_fops, FILES_AVAILABLE_ADDRS },
	{ "enabled_functions", &files_list_fops, FILES_ENABLED },
	{ "touched_functions", &files_list_fops, FILES_TOUCHED },
	{ "callsets", &files_callsets_fops },
};

KUNIT_ARRAY_PARAM_DESC(files_kunit_file, files_kunit_file, name);

static void files_kunit_read(struct kunit *test, struct files_kunit *f)
{
	struct seq_file *m = f->file.private_data;
	loff_t pos = 0;
	void *v;

	f->seq.private = m->private;
	v = m->op->start(&f->seq, &pos);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, v);
	if (!IS_ERR_OR_NULL(v))
		KUNIT_EXPECT_EQ(test, m->op->show(&f->seq, v), 0);
	m->op->stop(&f->seq, v);
	KUNIT_EXPECT_GT(test, f->seq.count, 0);
}

static void files_are_read(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ftrace_stub };
	const struct files_kunit_file *row = test->param_value;
	struct files_kunit *f = files_kunit_new(test);
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_private = (void *)(unsigned long)row->list;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, kunit_site(0), 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	ret = row->fops->open(inode, &f->file);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		files_kunit_read(test, f);
		row->fops->release(inode, &f->file);
	}
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

#ifdef CONFIG_MODULES
/* A module's site that no symbol is for has the name that stock has for those. */
static void files_site_without_symbol(struct kunit *test)
{
	struct files_kunit *f = files_kunit_new(test);
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	u8 *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct files_reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct ftrace_record rec = { .offset = 8 };
	struct ftrace_table table = {
		.base = (unsigned long)text, .start = (unsigned long)text,
		.end = (unsigned long)text + PAGE_SIZE, .recs = &rec, .nr = 1, .mod = mod,
	};

	KUNIT_ASSERT_TRUE(test, mod && text && r);
	strscpy(mod->name, "files_kunit");
	mod->core_kallsyms.num_symtab = 0;
	RCU_INIT_POINTER(mod->kallsyms, &mod->core_kallsyms);
	r->list = FILES_AVAILABLE;
	f->seq.private = r;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, files_reader_set_table(r, &table), 0);
	KUNIT_EXPECT_EQ(test, files_seq_show(&f->seq, r), 0);
	KUNIT_EXPECT_STREQ(test, f->buf, FTRACE_INVALID_FUNCTION "_0 [files_kunit]\n");
	ftrace_names_end(&r->names);
}
#endif

static struct kunit_case files_kunit_cases[] = {
	KUNIT_CASE_PARAM(files_are_read, files_kunit_file_gen_params),
#ifdef CONFIG_MODULES
	KUNIT_CASE(files_site_without_symbol),
#endif
	{ }
};

static struct kunit_suite files_kunit_suite = {
	.name		= "ftrace_files",
	.test_cases	= files_kunit_cases,
};

kunit_test_suite(files_kunit_suite);
