/* Checks of a trace: values and forms that must not occur. One pass; memory grows with the
 * program's lines, not with the events. docs/reference/check.md has the rules.
 *
 *     check_init(&check, &rules, reader, sources);
 *     while (log_reader_next(reader, &item)) { if (!check_visit(&check, &item, &error)) … }
 *     check_finish(&check, &error);
 *     … check.groups …
 *     check_release(&check);
 */
#ifndef MONITORCH_VIEW_CHECK_CHECK_H
#define MONITORCH_VIEW_CHECK_CHECK_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"
#include "runtime/view/gradient/gradient.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"
#include "runtime/view/walk/uninitialised_names.h"

#include <stdbool.h>
#include <stdint.h>

enum check_kind {
#define CHECK(name, option, summary) CHECK_##name,
#include "runtime/view/check/kinds.def"
#undef CHECK
    CHECK_KIND_COUNT
};

/* By kind: its option on the command line, and a one-line summary. */
extern const char *const check_options[CHECK_KIND_COUNT];
extern const char *const check_summaries[CHECK_KIND_COUNT];

#define CHECK_DIMENSIONS_MAX 64
#define CHECK_LETTERS_MAX    64

enum check_dimension_kind {
    CHECK_DIMENSION_SIZE,   /* a number */
    CHECK_DIMENSION_ANY,    /* `_` */
    CHECK_DIMENSION_REST,   /* `...`: any number of dimensions, also none */
    CHECK_DIMENSION_LETTER, /* a word: the same size wherever it occurs */
};

struct check_dimension {
    enum check_dimension_kind kind;
    int64_t size;    /* SIZE */
    uint32_t letter; /* LETTER: index into the rules' letters */
};

/* `name=2,_,64` */
struct check_shape {
    struct slice name; /* a glob */
    struct slice text; /* the part after `=` */
    struct check_dimension *dimensions;
    uint32_t dimension_count;
};

/* The rules of a command. Texts are borrowed from the caller. */
struct check_rules {
    struct arena arena;
    bool is_wanted[CHECK_KIND_COUNT];
    bool
        lets_meant; /* allows infinities that lines write by name: docs/reference/check.md */
    double max_abs;
    double max_grad_norm;
    enum dtype dtypes[DTYPE_COUNT];
    uint32_t dtype_count;
    struct check_shape *shapes;
    uint32_t shape_count;
    struct slice letters[CHECK_LETTERS_MAX];
    uint32_t letter_count;
    struct event_filter filter;
};

void check_rules_init(struct check_rules *rules);
void check_rules_release(struct check_rules *rules);
bool check_rules_add_dtype(struct check_rules *rules,
                           struct slice text,
                           struct error *error);
bool check_rules_add_shape(struct check_rules *rules,
                           struct slice text,
                           struct error *error);

/* The offenders of one kind: one name at one site. */
struct check_group {
    enum check_kind kind;
    uint32_t module;
    uint32_t line;
    struct slice name;     /* "": the finding is about a line */
    struct slice words;    /* of the first one: "holds 3 NaN of 12" */
    struct slice function; /* qualified name */
    uint64_t count;        /* number of its events */
    uint64_t event;        /* event, call and visit are those of the first one */
    uint32_t call;
    uint32_t visit;
};

/* Whether an array, identified by its name and site, ever had another value than zeros. */
struct check_zero {
    uint32_t module;
    uint32_t site; /* index in the site table */
    uint32_t name; /* text */
    bool is_alive;
    uint64_t count;
    uint64_t event;
    uint32_t call;
    uint32_t visit;
};

/* A parameter, or a name at a site whose values have gradients. */
struct check_gradient {
    uint32_t module;
    uint32_t site;  /* index in the site table */
    uint32_t name;  /* text */
    uint32_t older; /* an older item of this name; CHECK_GRADIENT_NONE: none */
    bool is_parameter;
    bool is_alive;     /* one of its gradients was not zero */
    bool is_new;       /* has a gradient that no optimizer has used yet */
    double square_sum; /* of that gradient's elements; infinite if one is not finite */
    uint64_t object;
    uint64_t count; /* number of its gradients */
    uint64_t event; /* event, call and visit are those of the first one */
    uint64_t newest_event;
    uint32_t call;
    uint32_t visit;
};
#define CHECK_GRADIENT_NONE UINT32_MAX

/* The first non-finite gradient of a backward pass. */
struct check_bad_gradient {
    uint32_t step; /* number of the backward pass */
    uint32_t module;
    uint32_t line;
    uint32_t name; /* text */
    struct slice function;
    struct slice value; /* in the form that `show` prints */
    uint64_t nan_count, inf_count, element_count;
    uint64_t next_event; /* the next event recorded after it */
    uint64_t event;
    uint32_t call;
    uint32_t visit;
};

struct check_gradients {
    struct backwards backwards; /* owned */
    struct number_map
        index; /* by site (none for parameters) and name: the newest item */
    struct check_gradient *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct check_bad_gradient *bad; /* owned */
    size_t bad_capacity;
    uint32_t bad_count;
    uint64_t gradient_count;        /* number of all gradients */
    uint64_t training_step;         /* of the newest gradient */
    bool is_unscaling;              /* a GradScaler is writing gradients */
    struct number_map wanted_calls; /* by call; 0: the filter excludes its events */
    struct buffer value;            /* owned: scratch */
};

struct check_letter {
    bool is_bound;
    int64_t size;
    uint32_t line; /* where the size was first seen */
    struct slice name;
};

struct check {
    const struct check_rules *rules; /* borrowed */
    struct log_reader *reader;       /* borrowed */
    struct source_lines *sources;    /* borrowed */
    bool has_color;
    struct arena arena; /* owned */
    struct open_calls calls;
    struct text_table texts;
    struct number_map group_index;
    struct check_group *groups; /* owned */
    size_t group_capacity;
    uint32_t group_count;
    struct number_map zero_index;
    struct check_zero *zeros; /* owned */
    size_t zero_capacity;
    uint32_t zero_count;
    struct uninitialised_names uninitialised;
    struct check_gradients gradients;
    struct check_letter letters[CHECK_LETTERS_MAX];
    uint64_t *
        shape_counts; /* in the arena: by shape rule, the number of values it applies to */
    uint64_t event_count;               /* number of all events */
    uint64_t matched_count;             /* events that passed the filter */
    uint64_t checked[CHECK_KIND_COUNT]; /* number of values checked */
    uint64_t offender_count;            /* number of offending events */
    bool has_meant;                     /* a line wrote -Inf by name */
    bool has_meant_number;              /* a line named a number that is Inf */
    uint64_t meant_count;               /* events that were allowed for this reason */
    uint64_t first_event;               /* first event of the trace */
    struct buffer first; /* owned: value and calls of the first offender, as text */
    bool has_failed;
};

bool check_init(struct check *check,
                const struct check_rules *rules,
                struct log_reader *reader,
                struct source_lines *sources,
                struct error *error);
void check_release(struct check *check);
bool check_visit(struct check *check, const struct log_item *item, struct error *error);
/* Runs the checks that need the whole trace. */
bool check_finish(struct check *check, struct error *error);

/* Appends a line for each requested check that had nothing to check. Returns their number. */
uint32_t check_add_unchecked(const struct check *check, struct buffer *text);

void check_text_add(const struct check *check, struct buffer *text);
void check_json_add(const struct check *check, struct slice trace, struct buffer *text);

/* ---- private to this folder ---- */

/* Returns false if the array's shape does not match the rule; `words` then says why. */
bool check_shape_fits(struct check *check,
                      const struct check_shape *rule,
                      const struct log_event_view *event,
                      struct buffer *words);
/* Adds an offender to its group. The first of a group stores `words`. Empties `words` in any
 * case. Returns false if memory runs out. */
bool check_found(struct check *check, struct check_group *group, struct buffer *words);

/* gradients.c */
void check_gradients_init(struct check_gradients *gradients);
void check_gradients_release(struct check_gradients *gradients);
/* Adds an event of a parameter, its gradient or an optimizer's setting. Returns false if memory
 * runs out. */
bool check_gradients_add_parameter(struct check *check,
                                   const struct log_event_view *event);
/* Adds any other item. */
bool check_gradients_add(struct check *check, const struct log_item *item);
bool check_gradients_finish(struct check *check);
/* check.c: sets `is_bad` if it finds an offender. Returns false if memory runs out. */
bool check_values(struct check *check,
                  const struct log_event_view *event,
                  struct open_call *call,
                  struct buffer *words,
                  bool *is_bad);
#endif
