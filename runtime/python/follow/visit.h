/* The visits of a followed frame, for the recorder: the same visits as inserted calls make. */
#ifndef MONITORCH_PYTHON_FOLLOW_VISIT_H
#define MONITORCH_PYTHON_FOLLOW_VISIT_H

#include "runtime/python/follow/follow.h"

/* A frame of this thread that is followed. It is known by its address for as long as it runs; where
 * another frame has its address now, its first instruction shows that. */
struct followed_frame {
    const void *frame;
    const struct follow_plan *plan; /* borrowed; only compared */
    uint32_t last;           /* number of the instruction that it was seen at last */
    bool has_wished_opcodes; /* somebody else asked for events of its instructions */
};

/* It has returned, or rests. */
void followed_frame_leave(const void *frame, const struct follow_plan *plan);

/* A call begins. */
void visit_enter(struct follow_plan *plan, PyObject *frame);

/* The instruction at `offset` is about to run. */
void visit_step(struct follow_plan *plan, PyObject *frame, long offset);

/* It returns `value` by the instruction at `offset`. */
void visit_return(struct follow_plan *plan,
                  PyObject *frame,
                  long offset,
                  PyObject *value);

#endif
