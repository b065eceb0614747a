/* The attributes of `self` that a site's statement uses, called ones too: `self.wq` of
 * `q = self.wq(x)`. Found once a site. */
#ifndef MONITORCH_VIEW_DIFF_MATCH_ATTRIBUTES_H
#define MONITORCH_VIEW_DIFF_MATCH_ATTRIBUTES_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/number_map.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_attribute {
    struct slice name; /* `self.wq`, `self.act.gelu`; in the arena */
    bool is_called;
    struct match_attribute *next; /* of the same statement; NULL: none */
};

struct match_attributes {
    struct source_lines *sources;    /* borrowed */
    struct number_map places;        /* module and line -> firsts */
    struct match_attribute **firsts; /* owned */
    size_t count, capacity;
    struct arena arena;
    struct buffer text; /* owned */
};

void match_attributes_init(struct match_attributes *attributes,
                           struct source_lines *sources);
void match_attributes_release(struct match_attributes *attributes);

/* Those of the statement that begins at the line. false: out of memory. */
bool match_attributes_find(struct match_attributes *attributes,
                           uint32_t module,
                           uint32_t line,
                           const struct match_attribute **first);

/* The statement that begins at the line, on one line. */
void match_statement_add(struct source_lines *sources,
                         uint32_t module,
                         uint32_t line,
                         struct buffer *text);

#endif
