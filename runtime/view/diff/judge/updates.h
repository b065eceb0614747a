/* Updates of two traces: gradients of values and parameters, and values that optimizers' steps and
 * functions such as clip_grad_norm_ wrote. Each is paired with the other trace's, and compared.
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
    DIFF_UPDATE_PARAMETER, /* a parameter's gradient, as a backward left it */
    DIFF_UPDATE_TENSOR,    /* a parameter, its .grad or the optimizer's state */
    DIFF_UPDATE_SETTING,   /* a number such as `SGD.lr` */
};

enum diff_update_state {
    DIFF_UPDATE_UNKNOWN, /* it has no partner in the other trace */
    DIFF_UPDATE_EQUAL,
    DIFF_UPDATE_CLOSE, /* within tolerance, not bitwise equal */
    DIFF_UPDATE_DIFFERS,
    DIFF_UPDATE_ALONE, /* the other trace should have a partner, but has none */
};

struct diff_update {
    struct log_place place; /* place in its trace */
    uint64_t event;         /* event of the value whose gradient it is; else its own */
    uint64_t hash;
    uint32_t step;    /* index in the side's steps; NONE: before the first */
    uint32_t name;    /* of a parameter or a setting: index in `names` */
    uint32_t partner; /* of gradients: index in the other side's items */
    float largest;    /* largest magnitude of its elements; 0: fewer than two */
    uint8_t what;
    uint8_t state;
    bool is_read : 1; /* recorded because a line or a step read it */
    bool has_hash : 1;
};

struct diff_update_step {
    enum log_step_tag tag;
    uint32_t number;  /* in the trace */
    uint32_t name;    /* in `names` */
    uint32_t partner; /* index of the other side's step; NONE */
    struct slice file;
    uint32_t line;
    uint64_t next_event; /* number of the first event after its start */
    float unit;          /* B: largest element of the newest backward's gradients */
};

struct diff_update_side {
    struct log_reader *reader; /* owned; shows parameters */
    struct diff_update *items; /* owned; in the order of the trace */
    size_t count, capacity;
    struct diff_update_step *steps; /* owned */
    size_t step_count, step_capacity;
    uint32_t *newest; /* owned: by name: index of its newest tensor or number */
    size_t newest_capacity;
    struct number_map gradients; /* by events of values, or by parameters */
    bool has_gradients;
};

/* A pair of updates that differ. Pairs are in the order of B. */
struct diff_update_pair {
    uint32_t items[2]; /* NONE on the side that has none */
    uint32_t step;     /* step of B in which it differs */
    bool is_before;    /* it differed before the step started */
    bool is_clean; /* of a step: the parameter's earlier records are bitwise equal */
};

struct diff_updates {
    struct arena arena; /* owned */
    struct text_table names;
    struct diff_update_side sides[2];
    struct diff_update_pair *pairs; /* owned */
    size_t pair_count, pair_capacity;
    uint64_t equal,
        close; /* equal pairs; those of them that are within tolerance only */
    struct diff_compare *compare; /* owned */
};

bool diff_updates_init(
    struct diff_updates *updates); /* returns false if memory ran out */
void diff_updates_release(struct diff_updates *updates);

/* Reads the updates of both traces. Returns false if a trace cannot be read or memory runs out;
 * `error` says why. */
bool diff_updates_read(struct diff_updates *updates,
                       const char *const paths[2],
                       struct error *error);

/* Compares the updates; values are paired like their facts. Returns false if memory ran out. */
bool diff_updates_compare(struct diff_updates *updates,
                          struct diff_facts facts[2],
                          const struct diff_tolerance *tolerance,
                          struct error *error);

/* Loads an update from its trace; `item` is valid until the next call for that side. Returns
 * false if it is lost. */
bool diff_update_load(struct diff_updates *updates,
                      unsigned side,
                      uint32_t number,
                      struct log_item *item);

/* Compares two updates, which were loaded, in that step of B. */
void diff_update_compare(struct diff_updates *updates,
                         const struct diff_update *update,
                         uint32_t step,
                         const struct log_item items[2],
                         struct diff_comparison *comparison);

/* Returns the number of B's first event after the pair. */
uint64_t diff_update_due(const struct diff_updates *updates,
                         const struct diff_update_pair *pair);

/* Returns the index of B's item at or after which the pair is in the order of B. */
uint32_t diff_update_rank(const struct diff_updates *updates,
                          const struct diff_update_pair *pair);

static inline struct slice diff_update_name(const struct diff_updates *updates,
                                            uint32_t name)
{
    return updates->names.texts[name];
}

#endif
