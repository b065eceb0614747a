/* What the compiler knows of one source file: its functions, and its sites in the order of
 * their ids. Every traced file carries its table as text; this module is that text's codec. */
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

/* How the value of a written name reaches the recorder. */
enum site_source {
    SITE_SOURCE_VALUE, /* the argument is the value */
    SITE_SOURCE_PEEK, /* the argument is the object at the root of a dotted name: look the
                          rest up in __dict__, _parameters, _buffers, _modules; run no code */
    SITE_SOURCE_NONE, /* no argument: the name alone is known */
};

struct site_write {
    struct slice name; /* `x`, or dotted: `self.scale` */
    enum site_source source;
};

/* Where a read name lives. */
enum site_scope {
    SITE_SCOPE_LOCAL,  /* this function's */
    SITE_SCOPE_FREE,   /* an enclosing function's */
    SITE_SCOPE_GLOBAL, /* the module's, or a builtin */
};

struct site_read {
    struct slice name; /* `x`, or dotted: `self.scale` */
    enum site_scope scope;
    uint32_t site; /* the site that bound it where that is certain, else SITE_NONE */
};

struct site {
    enum site_kind kind;
    uint32_t line;     /* from 1 */
    uint32_t column;   /* from 1, in characters */
    uint32_t function; /* index into functions; 0 is the module */
    /* Among the function's sites of equal kind and name, selected or not. */
    uint32_t ordinal;
    uint32_t arm;       /* BRANCH: which arm of its statement, from 0 */
    bool repeats;       /* is in a while header: seen again on each turn of that loop */
    bool has_condition; /* BRANCH: condition holds a hash of the condition's text */
    uint32_t condition;
    struct site_write *writes; /* borrowed from the table's arena */
    uint32_t write_count;
    struct site_read *reads; /* borrowed from the table's arena */
    uint32_t read_count;
    /* What its value is made of, as site/term.h reads it; "" where that is not known. Borrowed from
     * the table's arena. */
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
    struct slice path;    /* the source file as it was named to the compiler */
    struct slice prefix;  /* of the inserted names: "_mt" unless the file uses that */
    struct slice options; /* the selection that made the table, as command line words */
    /* XXH3, 128 bits, low half first, of the source file's bytes. */
    uint64_t source_hash[2];
};

/* The options of a table whose values this package measured or saved: no line of the program made them. */
#define SITE_TABLE_REPORTED SLICE("reported")

static inline bool site_table_is_reported(const struct site_table *table)
{
    return slice_equal(table->options, SITE_TABLE_REPORTED);
}

const char *site_kind_text(enum site_kind kind);

/* The place of a name among the site's writes; SITE_NONE: it does not write the name. */
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

/* Whether a function's entry has `self` or `cls` as its first parameter: an argument of the call is
 * the parameter behind it. */
static inline bool site_has_self(const struct site *site)
{
    return site->write_count > 0 && (slice_equal(site->writes[0].name, SLICE("self")) ||
                                     slice_equal(site->writes[0].name, SLICE("cls")));
}

/* `path:function:kind:name:ordinal`, the key that stays when unrelated lines are added. */
void site_add_key(const struct site_table *table,
                  const struct site *site,
                  struct buffer *text);

/* Whether every index in the table is one of its functions and sites, for asserts. */
bool site_table_is_sound(const struct site_table *table);

/* Appends the table as text without quotes, backslashes or line ends: it fits into any Python
 * string literal. */
void site_table_write(const struct site_table *table, struct buffer *text);

/* Reads such a text, which may be damaged or hostile. Everything in the table is borrowed
 * from `text` and `arena`. */
bool site_table_read(struct site_table *table,
                     struct slice text,
                     struct arena *arena,
                     struct error *error);

#endif
