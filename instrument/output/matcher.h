/* Recognises the texts that forms.h says are inserted. Each function looks at an offset; where
 * the form stands there, it moves the offset behind it and returns true. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_MATCHER_H
#define MONITORCH_INSTRUMENT_OUTPUT_MATCHER_H

#include "instrument/output/forms.h"

#include <stdbool.h>
#include <stddef.h>

struct matcher {
    struct slice text; /* borrowed */
    struct forms forms;
    bool has_hook;  /* there are calls of the hook */
    bool takes_spy; /* visible spy_save calls and their import were inserted too */
};

/* The literal text. */
bool matcher_take(const struct matcher *matcher, size_t *at, struct slice expected);

/* `_mt and _mt(3, a, b)` */
bool matcher_take_record(const struct matcher *matcher, size_t *at);

/* `not (_mt and _mt(3, a, b))` */
bool matcher_take_quiet(const struct matcher *matcher, size_t *at);

/* `_mt_t = None` or `del _mt_t` */
bool matcher_take_cleaning(const struct matcher *matcher, size_t *at);

/* `spy_save("q", q, self)` where both names are one. */
bool matcher_take_spy(const struct matcher *matcher, size_t *at);

/* The statements that bring the hook or spy_save in, joined by `; `. */
bool matcher_take_boot_statements(const struct matcher *matcher, size_t *at);

/* The same as a statement: `not (…)` */
bool matcher_take_quiet_lazy(const struct matcher *matcher, size_t *at);

/* Expressions that are always false, each in parentheses and with ` or ` behind it. */
bool matcher_take_false_expressions(const struct matcher *matcher, size_t *at);

/* `*(false expressions ())` among a class's bases; `, ` behind it where there are more. */
bool matcher_take_class_base(const struct matcher *matcher, size_t *at);

/* ` is not _mt and _mt and _mt(i, n) or n` */
bool matcher_take_value_tail(const struct matcher *matcher, size_t *at);

/* ` and not (_mt and _mt(1))`, ` or _mt and _mt(2)`, or both */
bool matcher_take_turn_tail(const struct matcher *matcher, size_t *at);

#endif
