/* Updates of two traces: gradients of values and parameters, and what optimizers' steps and functions
 * such as clip_grad_norm_ wrote. Each is paired with the other trace's, and compared.
 *
 *     diff_updates_init(&updates);
 *     if (diff_updates_read(&updates, paths, &error) &&
 *         diff_updates_compare(&updates, facts, tolerance, &error)) { … updates.sides[1].items … }
 *     diff_updates_release(&updates); */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_UPDATES_H
#define MONITORCH_VIEW_DIFF_JUDGE_UPDATES_H

#include "runtime/base/arena.h"
#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/judge/facts.h"
#include "runtime/view/diff/values/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_UPDATE_NONE UINT32_MAX

enum diff_update_what {
    DIFF_UPDATE_GRADIENT,  /* of a value */
    DIFF_UPDATE_PARAMETER, /* the gradient of a parameter, as a backward left it */
    DIFF_UPDATE_TENSOR,    /* a parameter, its .grad or the optimizer's state */
    DIFF_UPDATE_SETTING,   /* a number such as `SGD.lr` */
};

enum diff_update_state {
    DIFF_UPDATE_UNKNOWN, /* nothing of the other trace belongs to it */
    DIFF_UPDATE_EQUAL,
    DIFF_UPDATE_CLOSE, /* within tolerance, not the same to the bit */
    DIFF_UPDATE_DIFFERS,
    DIFF_UPDATE_ALONE, /* the other trace should have one, and has none */
};

struct diff_update {
    struct log_place place; /* where its trace has it */
    uint64_t event;         /* that of the value whose gradient it is; else its own */
    uint64_t hash;
    uint32_t step;    /* in the side's steps; NONE: before the first */
    uint32_t name;    /* of a parameter or a setting, in `names` */
    uint32_t partner; /* of gradients */
    float largest;    /* magnitude of the elements, if there are several; else 0 */
    uint8_t what;
    uint8_t state;
    bool is_read : 1; /* recorded because a line or a step read it */
    bool has_hash : 1;
};

struct diff_update_step {
    enum log_step_tag tag;
    uint32_t number;  /* in the trace */
    uint32_t name;    /* in `names` */
    uint32_t partner; /* step of the other side; NONE */
    struct slice file;
    uint32_t line;
    uint64_t next_event; /* the number of the first event after it has begun */
    float unit;          /* B: the largest element of the newest backward's gradients */
};

struct diff_update_side {
    struct log_reader *reader; /* owned; shows parameters */
    struct diff_update *items; /* owned; in the order of the trace */
    size_t count, capacity;
    struct diff_update_step *steps; /* owned */
    size_t step_count, step_capacity;
    uint32_t *newest; /* owned: by name; the record of its newest tensor or number */
    size_t newest_capacity;
    struct number_map gradients; /* by their values' events, or parameters */
    bool has_gradients;
};

/* What differs, in the order of B. */
struct diff_update_pair {
    uint32_t items[2]; /* NONE on the side that has none */
    uint32_t step;     /* of B, in which it differs */
    bool is_before;    /* it differed before the step began */
    bool
        is_clean; /* a step's: all that was recorded of the parameter before is the same to the bit */
};

struct diff_updates {
    struct arena arena; /* owned */
    struct text_table names;
    struct diff_update_side sides[2];
    struct diff_update_pair *pairs; /* owned */
    size_t pair_count, pair_capacity;
    uint64_t equal, close;        /* pairs that are equal; of these within tolerance */
    struct diff_compare *compare; /* owned */
};

bool diff_updates_init(struct diff_updates *updates); /* false: out of memory */
void diff_updates_release(struct diff_updates *updates);

/* Reads what the traces have of updates. Fails where one cannot be read or memory runs out. */
bool diff_updates_read(struct diff_updates *updates,
                       const char *const paths[2],
                       struct error *error);

/* Compares them; values are paired as the facts are. Fails where memory runs out. */
bool diff_updates_compare(struct diff_updates *updates,
                          struct diff_facts facts[2],
                          const struct diff_tolerance *tolerance,
                          struct error *error);

/* The record as its trace has it, valid until the next call for that side; false: it is lost. */
bool diff_update_load(struct diff_updates *updates,
                      unsigned side,
                      uint32_t number,
                      struct log_item *item);

/* How the two differ, in that step of B; both were loaded. */
void diff_update_compare(struct diff_updates *updates,
                         const struct diff_update *update,
                         uint32_t step,
                         const struct log_item items[2],
                         struct diff_comparison *comparison);

/* The number of B's first event after the pair. */
uint64_t diff_update_due(const struct diff_updates *updates,
                         const struct diff_update_pair *pair);

/* The item of B at or behind which the pair is in the order of B. */
uint32_t diff_update_rank(const struct diff_updates *updates,
                          const struct diff_update_pair *pair);

static inline struct slice diff_update_name(const struct diff_updates *updates,
                                            uint32_t name)
{
    return updates->names.texts[name];
}

#endif
