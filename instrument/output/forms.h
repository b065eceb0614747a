/* Forms: the texts that are inserted. strip.c recognises them. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_FORMS_H
#define MONITORCH_INSTRUMENT_OUTPUT_FORMS_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* The inserted names: `_mt` or another name with which no word of the file begins. */
struct forms {
    struct slice hook;      /* `_mt` */
    struct slice value;     /* `_mt_v` */
    struct slice temporary; /* `_mt_t` */
};

/* One call of the hook: `_mt and _mt(site, arguments…)`. */
struct record {
    uint32_t site;           /* SITE_NONE: nothing is inserted */
    struct slice *arguments; /* borrowed from the arena */
    uint32_t argument_count;
};

/* The start of a text that every instrumented file contains and that no person writes. */
#define FORM_IMPORT "__import__('monitorch' or '"
#define FORM_IMPORT_HELP                                                               \
    "this file was instrumented: install monitorch, or remove the inserted calls "     \
    "with "                                                                            \
    "monitorch-instrument --strip"
#define FORM_IMPORT_END "')._instrumented"
#define FORM_TABLE      "(globals(), '"
#define FORM_TABLE_END  "')"
#define FORM_SPY_IMPORT "from monitorch.spy import spy_save"
#define FORM_SPY_VALUE  "__import__('monitorch.spy').spy.spy_save"

/* Whether the text is a valid prefix: `_mt`, or `_mt`, digits and `x`. */
bool forms_is_prefix(struct slice prefix);

/* Chooses the names. Returns false if out of memory. */
bool forms_choose(struct forms *forms, struct slice text, struct arena *arena);

/* Sets the names for a given hook. */
bool forms_name(struct forms *forms, struct slice hook, struct arena *arena);

/* Adds `_mt and _mt(3, a, b)`. */
void forms_record(const struct forms *forms,
                  const struct record *record,
                  struct buffer *text);

/* Adds `not (_mt and _mt(3, a, b))`, the form without a line event of its own. */
void forms_quiet(const struct forms *forms,
                 const struct record *record,
                 struct buffer *text);

#endif
