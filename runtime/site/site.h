/* Site tables: the compiler's data on one source file, its functions and its sites in the order
 * of their ids. Every instrumented file carries its table as text, which this module writes and
 * reads. */
#ifndef MONITORCH_SITE_SITE_H
#define MONITORCH_SITE_SITE_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum site_kind {
#define SITE_KIND(name, letter, text) SITE_##name,
#include "runtime/site/kinds.def"
#undef SITE_KIND
    SITE_KIND_COUNT
};

#define SITE_NONE UINT32_MAX

/* The way in which the value of a written name reaches the recorder. */
enum site_source {
    SITE_SOURCE_VALUE, /* the argument is the value */
    SITE_SOURCE_PEEK, /* the argument is the object at the root of a dotted name; the rest is
                         looked up in __dict__, _parameters, _buffers and _modules without
                         running code */
    SITE_SOURCE_NONE, /* no argument: only the name is known */
};

struct site_write {
    struct slice name; /* `x`, or dotted: `self.scale` */
    enum site_source source;
};

/* The scope of a read name. */
enum site_scope {
    SITE_SCOPE_LOCAL,  /* this function's */
    SITE_SCOPE_FREE,   /* an enclosing function's */
    SITE_SCOPE_GLOBAL, /* the module's, or a builtin */
};

struct site_read {
    struct slice name; /* `x`, or dotted: `self.scale` */
    enum site_scope scope;
    uint32_t site; /* the site that bound it if that is certain, else SITE_NONE */
};

struct site {
    enum site_kind kind;
    uint32_t line;     /* from 1 */
    uint32_t column;   /* from 1, in characters */
    uint32_t function; /* index into functions; 0 is the module */
    /* Index among the function's sites of the same kind and name, selected or not. */
    uint32_t ordinal;
    uint32_t arm; /* BRANCH: index of the arm in its statement */
    bool repeats; /* in a while header: visited again at each iteration of that loop */
    bool has_condition; /* BRANCH: condition holds a hash of the condition's text */
    uint32_t condition;
    struct site_write *writes; /* borrowed from the table's arena */
    uint32_t write_count;
    struct site_read *reads; /* borrowed from the table's arena */
    uint32_t read_count;
    /* The composition of its value, which site/term.h reads; "" if not known. Borrowed from the
     * table's arena. */
    struct slice term;
};

struct site_function {
    /* Qualified: `Attention.forward`, `f.<locals>.g`; "<module>" for 0. */
    struct slice name;
    uint32_t line; /* of its `def`; 1 for the module */
};

struct site_table {
    struct site *sites;              /* borrowed from the arena */
    struct site_function *functions; /* borrowed from the arena */
    uint32_t site_count, function_count;
    struct slice path; /* the source file as named to the compiler */
    /* The prefix of inserted names: "_mt" unless the file uses it itself. */
    struct slice prefix;
    /* The selection that made the table, as words of a command line. */
    struct slice options;
    /* XXH3, 128 bits, low half first, of the source file's bytes. */
    uint64_t source_hash[2];
};

/* The options of a table whose values were measured or saved by this package, not computed by a
 * line of the program. */
#define SITE_TABLE_REPORTED SLICE("reported")

static inline bool site_table_is_reported(const struct site_table *table)
{
    return slice_equal(table->options, SITE_TABLE_REPORTED);
}

const char *site_kind_text(enum site_kind kind);

/* The index of a name among the site's writes. SITE_NONE: the site does not write it. */
static inline uint32_t site_find_write(const struct site *site, struct slice name)
{
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (slice_equal(site->writes[i].name, name)) {
            return i;
        }
    }
    return SITE_NONE;
}

static inline bool site_writes(const struct site *site, struct slice name)
{
    return site_find_write(site, name) != SITE_NONE;
}

/* Whether the first parameter of a function's enter site is `self` or `cls`. Argument i of a
 * call is then parameter i + 1. */
static inline bool site_has_self(const struct site *site)
{
    return site->write_count > 0 && (slice_equal(site->writes[0].name, SLICE("self")) ||
                                     slice_equal(site->writes[0].name, SLICE("cls")));
}

/* Adds the key `path:function:kind:name:ordinal`, which stays the same when unrelated lines are
 * added. */
void site_add_key(const struct site_table *table,
                  const struct site *site,
                  struct buffer *text);

/* Whether all indices of functions and sites in the table are valid; for asserts. */
bool site_table_is_sound(const struct site_table *table);

/* Appends the table as text without quotes, backslashes or line ends, so that it fits into any
 * Python string literal. */
void site_table_write(const struct site_table *table, struct buffer *text);

/* Reads the text of a table, which may be damaged or hostile. The table borrows from `text` and
 * `arena`. */
bool site_table_read(struct site_table *table,
                     struct slice text,
                     struct arena *arena,
                     struct error *error);

#endif
