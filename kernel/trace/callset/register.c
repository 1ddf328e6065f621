// SPDX-License-Identifier: GPL-2.0
/*
 * Checks an ops, and has it attached to its sites or detached from them. Where an
 * ops may have to agree on that with others, share.c calls these functions.
 *
 * ftrace_lock covers all of it.
 */
#include <linux/ftrace.h>
#include <linux/lockdep.h>

#include "attach.h"
#include "ops.h"
#include "register.h"

static int ftrace_ops_check(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	if (!ops->func)
		return -EINVAL;
	if ((ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_enabled)
		return -EBUSY;

	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED &&
	    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return -EINVAL;

	/* No ops can say where all functions go on. */
	if ((ops->flags & FTRACE_OPS_FL_IPMODIFY) && ftrace_ops_is_everywhere(ops))
		return -EINVAL;
	return 0;
}

/**
 * ftrace_ops_register - check an ops and attach it
 * @ops: the ops, as for register_ftrace_function()
 *
 * Context: process context, sleeps; ftrace_lock is held, after ftrace_retired_wait(). An ops
 * that is direct or has FTRACE_OPS_FL_IPMODIFY comes here through direct.c or share.c,
 * which hold ftrace_share_mutex.
 * Return: as for register_ftrace_function().
 */
int ftrace_ops_register(struct ftrace_ops *ops)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	ftrace_ops_init(ops);
	ret = ftrace_ops_check(ops);
	if (ret)
		return ret;
	return ftrace_attach(ops);
}

/**
 * ftrace_ops_unregister - detach an ops
 * @ops: the ops
 *
 * Context: process context, sleeps; ftrace_lock is held. Does not wait for tasks
 * that are inside of @ops.
 * Return: as unregister_ftrace_function().
 */
int ftrace_ops_unregister(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;
	ftrace_detach(ops);
	return 0;
}
