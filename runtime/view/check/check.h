/* Checks of a trace: values and their forms that must not occur. One pass; memory grows with the
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

/* Of each kind: its option on the command line, and what it checks in one line. */
extern const char *const check_options[CHECK_KIND_COUNT];
extern const char *const check_summaries[CHECK_KIND_COUNT];

#define CHECK_DIMENSIONS_MAX 64
#define CHECK_LETTERS_MAX    64

enum check_dimension_kind {
    CHECK_DIMENSION_SIZE,   /* a number */
    CHECK_DIMENSION_ANY,    /* `_` */
    CHECK_DIMENSION_REST,   /* `...`: any number of them, none too */
    CHECK_DIMENSION_LETTER, /* a word: the same size wherever it stands */
};

struct check_dimension {
    enum check_dimension_kind kind;
    int64_t size;    /* SIZE */
    uint32_t letter; /* LETTER: index into the rules' letters */
};

/* `name=2,_,64` */
struct check_shape {
    struct slice name; /* a glob */
    struct slice text; /* behind the `=` */
    struct check_dimension *dimensions;
    uint32_t dimension_count;
};

/* What is to be checked. Texts are borrowed from the caller. */
struct check_rules {
    struct arena arena;
    bool is_wanted[CHECK_KIND_COUNT];
    bool lets_meant; /* infinities that lines write by name: docs/reference/check.md */
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

/* The offenders of one kind, of one name at one site. */
struct check_group {
    enum check_kind kind;
    uint32_t module;
    uint32_t line;
    struct slice name;     /* "" where it is about a line */
    struct slice words;    /* of the first: "holds 3 NaN of 12" */
    struct slice function; /* qualified */
    uint64_t count;        /* of its events */
    uint64_t event;        /* the first's, and where it was */
    uint32_t call;
    uint32_t visit;
};

/* Of each array's name at each site: whether it was ever anything but zeros. */
struct check_zero {
    uint32_t module;
    uint32_t site; /* of the table */
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
    uint32_t site;  /* of the table */
    uint32_t name;  /* text */
    uint32_t older; /* another one of this name; CHECK_GRADIENT_NONE: there is none */
    bool is_parameter;
    bool is_alive;     /* one of its gradients was not zero */
    bool is_new;       /* it has a gradient that no optimizer has used */
    double square_sum; /* of the elements of that; infinite where it is not finite */
    uint64_t object;
    uint64_t count; /* of its gradients */
    uint64_t event; /* the first's, and where it was */
    uint64_t newest_event;
    uint32_t call;
    uint32_t visit;
};
#define CHECK_GRADIENT_NONE UINT32_MAX

/* The first gradient of a backward that is not finite. */
struct check_bad_gradient {
    uint32_t step; /* the backward's number */
    uint32_t module;
    uint32_t line;
    uint32_t name; /* text */
    struct slice function;
    struct slice value; /* as `show` prints it */
    uint64_t nan_count, inf_count, element_count;
    uint64_t next_event; /* that is recorded after it */
    uint64_t event;
    uint32_t call;
    uint32_t visit;
};

struct check_gradients {
    struct backwards backwards; /* owned */
    struct number_map
        index; /* the newest item, by site and name; parameters have none */
    struct check_gradient *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct check_bad_gradient *bad; /* owned */
    size_t bad_capacity;
    uint32_t bad_count;
    uint64_t gradient_count;        /* all */
    uint64_t training_step;         /* of the newest */
    bool is_unscaling;              /* a GradScaler writes gradients */
    struct number_map wanted_calls; /* 0: the filter leaves its events out */
    struct buffer value;            /* owned: scratch */
};

struct check_letter {
    bool is_bound;
    int64_t size;
    uint32_t line; /* where it was */
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
    uint64_t *shape_counts; /* in the arena: values that each shape is about */
    uint64_t event_count;   /* all */
    uint64_t matched_count; /* that the filter let through */
    uint64_t checked[CHECK_KIND_COUNT]; /* values that were judged */
    uint64_t offender_count;            /* events */
    bool has_meant;                     /* a line wrote -Inf by name */
    bool has_meant_number;              /* a line wrote a number by name that is Inf */
    uint64_t meant_count;               /* events that were let pass for it */
    uint64_t first_event;               /* the trace's first */
    struct buffer first; /* owned: value and calls of the first offender */
    bool has_failed;
};

bool check_init(struct check *check,
                const struct check_rules *rules,
                struct log_reader *reader,
                struct source_lines *sources,
                struct error *error);
void check_release(struct check *check);
bool check_visit(struct check *check, const struct log_item *item, struct error *error);
/* The checks that need the whole trace. */
bool check_finish(struct check *check, struct error *error);

/* Says what was asked for and could not be checked: appends a line for each; gives how many. */
uint32_t check_add_unchecked(const struct check *check, struct buffer *text);

void check_text_add(const struct check *check, struct buffer *text);
void check_json_add(const struct check *check, struct slice trace, struct buffer *text);

/* ---- for its own files ---- */

/* false where the array's shape is not the rule's: words then tell what is wrong. */
bool check_shape_fits(struct check *check,
                      const struct check_shape *rule,
                      const struct log_event_view *event,
                      struct buffer *words);
/* One more of that kind. `words` are kept where it is the first of its group; they are emptied. */
bool check_found(struct check *check, struct check_group *group, struct buffer *words);

/* gradients.c */
void check_gradients_init(struct check_gradients *gradients);
void check_gradients_release(struct check_gradients *gradients);
/* An event of a parameter, its gradient or an optimizer's setting. False: out of memory. */
bool check_gradients_add_parameter(struct check *check,
                                   const struct log_event_view *event);
/* Any other item. */
bool check_gradients_add(struct check *check, const struct log_item *item);
bool check_gradients_finish(struct check *check);
/* check.c: false where memory runs out; `is_bad` is set where something was found. */
bool check_values(struct check *check,
                  const struct log_event_view *event,
                  struct open_call *call,
                  struct buffer *words,
                  bool *is_bad);
#endif
