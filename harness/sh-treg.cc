// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for Debian 12's gcc for sh4, which loses comparisons: its pass sh_treg_combine takes the load of a
 * value for one of the T bit, and drops the TST of the value before the branch. The pass is for speed alone; here
 * it is left out.
 */
#include <gcc-plugin.h>
#include <context.h>
#include <tree-pass.h>
#include <string.h>

int plugin_is_GPL_compatible;

static void treg_gate(void *run, void *data)
{
	if (current_pass && !strncmp(current_pass->name, "sh_treg_combine", strlen("sh_treg_combine")))
		*(bool *)run = false;
}

int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *version)
{
	register_callback(info->base_name, PLUGIN_OVERRIDE_GATE, treg_gate, NULL);
	return 0;
}
