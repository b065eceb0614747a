/* What the files that make a plan share. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_PLAN_PARTS_H
#define MONITORCH_INSTRUMENT_COMMAND_PLAN_PARTS_H

#include "instrument/command/plan.h"
#include "runtime/base/buffer.h"

/* ---- plan.c ---- */

/* Memory that ran out shows in the arena: it is checked once, when the plan is made. */
const char *plan_copy(struct plan *plan, const struct buffer *text);

/* The item cannot be done: `PATH:1:1: WHAT OTHER`. */
void plan_refuse(struct plan *plan,
                 struct item *item,
                 const char *path,
                 const char *what,
                 const char *other);

/* Appends the path without what could lead out of the folder it is put in. */
void plan_add_below(struct buffer *text, const char *path);

/* ---- plan_conflicts.c ---- */

/* Refuses them in the items that come later. False where memory ran out, if it is not the
 * arena's. */
bool plan_check_conflicts(struct plan *plan, const struct options *options);

#endif
