/* Why a statement made a NaN or an infinity of what went in: what its text says, where the
 * figures of what it read agree. */
#ifndef MONITORCH_VIEW_WHY_REASON_REASON_H
#define MONITORCH_VIEW_WHY_REASON_REASON_H

#include "runtime/array/dtype.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum why_hold {
    WHY_NAN = 1,
    WHY_POSINF = 2,
    WHY_NEGINF = 4,
    WHY_INF = WHY_POSINF | WHY_NEGINF,
};

/* A value that the statement read, or that a call which it made returned. */
struct why_input {
    struct slice
        name; /* as the text spells it; of results where in the value: "", `[0]` */
    bool is_result;
    bool is_mask;        /* its least value is one that a line wrote into a mask */
    uint32_t call;       /* of results: the call's number */
    struct slice callee; /* of results: the function, `Norm.forward` */
    struct slice path;   /* and the nn.Module's path, `blocks.0.norm`; "" */
    bool is_number;      /* `number` is it */
    bool has_statistics;
    double number;
    enum dtype dtype; /* DTYPE_OTHER of numbers */
    struct statistics statistics;
    const int64_t *shape; /* may be NULL */
    uint32_t dimension_count;
};

/* An object of a class of torch.nn that the statement may call. */
struct why_object {
    struct slice name; /* as the statement spells it: `loss_fct`, `self.criterion` */
    struct slice class_name; /* `CrossEntropyLoss`; "": not known */
    struct slice maker;      /* the statement that made it; "": not known */
};

struct why_question {
    struct slice statement; /* without comments and line ends */
    const struct why_object *objects;
    uint32_t object_count;
    const struct why_input *inputs;
    uint32_t input_count;
    bool is_cut; /* there were more inputs */
    /* Where an argument is asked for, which the statement made for a call: the function, its
     * class and path, the parameter, and its place among arguments without a keyword. */
    struct slice callee, class_name, callee_path, parameter;
    uint32_t position;
    enum dtype dtype; /* of what was made */
    unsigned made;    /* enum why_hold, combined: what it holds and no input does */
    /* What it holds went in: asked is whether one number was made of infinities among many, which
     * no mask means: a sum, a mean, a norm, a loss. */
    bool is_absorbed;
};

struct why_answer {
    bool is_reported;   /* a reason was found: it was appended to the text */
    bool is_certain;    /* the figures prove it; else it is the only step that can */
    bool is_written;    /* an infinity or NaN that stands in the text by its name */
    bool is_outside;    /* a gradient: what made it is not recorded */
    bool is_impossible; /* the statement cannot make it of values such as went in */
    bool
        is_handed; /* the statement only hands over what was there: `getattr(value, name)` */
    bool is_item;       /* where handed: an item of what a loop goes through */
    bool is_collective; /* where handed: what other ranks sent */
    bool is_default;    /* an argument that the call does not name: the default */
    struct slice text;  /* where handed: the expression, borrowed from the statement */
};

/* The class of torch.nn of that full name, `torch.nn.modules.loss.CrossEntropyLoss`, where calls of its
 * objects are known: its own name. "" where they are not. */
struct slice why_class_of(struct slice type);

/* Whether the statement writes that number where a mask says: `masked_fill(m, -1e9)`,
 * `where(keep, 0.0, -1e9)`, `m * -1e9`, `m[0] = -1e9`. */
bool why_writes_mask(struct slice statement, double number);

/* A line whose backward made a gradient that is not finite. */
struct why_backward {
    const struct why_question *question; /* the statement, and what went in forward */
    struct why_input
        given;        /* the gradient that arrived at the line's value; named for it */
    enum dtype dtype; /* of the gradient that it made */
    struct slice functions; /* autograd's that ran there, the last one first; "" */
    bool is_infinite;       /* it holds infinities and no NaN */
};
/* Appends why to `text`: where a derivative is not finite, for what went in. Where nothing is found
 * the functions are named, and the answer has no reason. */
struct why_answer why_backward_add(struct buffer *text,
                                   const struct why_backward *backward);

/* Appends autograd's functions, of which the first are named and the others counted. */
void why_functions_add(struct buffer *text, struct slice functions);

/* Appends a reason to `text`, or nothing. */
struct why_answer why_reason_add(struct buffer *text,
                                 const struct why_question *question);

#endif
