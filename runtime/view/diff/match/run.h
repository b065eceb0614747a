/* The values of one trace in compact arrays: one entry for each tensor or number, and links from
 * each value to those made from it. Texts and shapes are borrowed from the reader, which lives as long.
 *
 *     struct match_run run;
 *
 *     if (match_run_read(&run, path, strip, &error)) { … }
 *     match_run_release(&run); */
#ifndef MONITORCH_VIEW_DIFF_MATCH_RUN_H
#define MONITORCH_VIEW_DIFF_MATCH_RUN_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The attributes of `self` that a site's statement uses or calls: `self.wq` of `q = self.wq(x)`;
 * and its subscripts with computed keys. Found once for each site. */

struct match_attribute {
    struct slice name; /* `self.wq`, `self.act.gelu`; in the arena */
    struct slice
        key; /* `prefix + "q"` of `w[prefix + "q"]`, named `w`; "" for an attribute */
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
/* Finds the attributes of the statement that begins at the line. Returns false if out of memory. */
bool match_attributes_find(struct match_attributes *attributes,
                           uint32_t module,
                           uint32_t line,
                           const struct match_attribute **first);

/* Writes the statement that begins at the line, joined to one line. */
void match_statement_add(struct source_lines *sources,
                         uint32_t module,
                         uint32_t line,
                         struct buffer *text);

#define MATCH_NONE UINT32_MAX

struct match_value {
    uint64_t event;
    union {
        uint64_t hash; /* if has_hash */
        double number; /* if shape is NULL */
    };
    const struct log_shape *shape;       /* NULL: a number */
    const struct statistics *statistics; /* in run.arena, shared with others */
    struct slice name, path;
    uint32_t site;    /* of the trace */
    uint32_t module;  /* of the trace */
    uint32_t line;    /* of the site */
    uint32_t call;    /* index of a call */
    uint32_t visit;   /* of the site in its call */
    uint32_t content; /* see contents.h */
    bool has_hash;
    bool has_sample;
    bool is_argument; /* written at the entry of its call */
    bool is_integer;  /* a number that is whole by its type */
    bool is_weight;   /* an item of a container under a dotted key: a state dict's */
};

/* A text that a name was bound to. */
struct match_text {
    struct slice name, text;
    uint32_t call;  /* index */
    uint32_t value; /* number of values before it */
};

struct match_call {
    uint32_t number, parent; /* parent: index, or MATCH_NONE */
    uint32_t module, function;
    uint32_t line; /* of the caller; 0: not known */
    struct slice path;
};

/* Links between values: those of value `i` are items[first[i]] up to items[first[i + 1]]. */
struct match_links {
    uint32_t *first; /* owned */
    uint32_t *items; /* owned */
};

struct match_samples {
    struct arena arena;
    struct number_map places; /* of values in items */
    const void **items;       /* owned; in the arena */
    size_t count, capacity;
};

#define MATCH_RECENT 1024

struct match_run {
    struct log_reader *reader;   /* owned */
    struct source_lines sources; /* owned */
    struct match_attributes attributes;
    struct match_value *values; /* owned; in the order of their events */
    size_t value_count, value_capacity;
    struct match_call *calls; /* owned */
    size_t call_count, call_capacity;
    struct number_map call_places;
    struct match_text *texts; /* owned; in their order */
    size_t text_count, text_capacity;
    struct match_links in, out; /* of values */
    uint64_t event_count;
    size_t tensor_count;
    struct arena arena;
    struct match_samples *samples; /* owned: the samples that were read */
    uint32_t recent[MATCH_RECENT]; /* by hash, the newest value with such a hash */
};

bool match_run_read(struct match_run *run,
                    const char *path,
                    source_strip strip,
                    struct error *error);
void match_run_release(struct match_run *run);

/* The sample's elements. Requires a call of match_run_grid before. NULL: there is no sample. */
const void *match_run_sample(const struct match_run *run,
                             const struct match_value *value);
/* The grid of the value's sample, with count 0 if there is none. The first call reads the sample
 * from the trace. */
struct sample_grid match_run_grid(const struct match_run *run,
                                  const struct match_value *value);

/* Writes the value that the key's expression has in the call, before the value: texts, names,
 * f-strings and their sums. Returns false if it is another expression or a name is not known.
 * keys.c */
bool match_key_add(const struct match_run *run,
                   struct slice expression,
                   uint32_t call,
                   uint32_t value,
                   struct buffer *key);

/* Finds the line that made the value. For an argument, this is the line that passes it. */
void match_place(const struct match_run *run,
                 const struct match_value *value,
                 uint32_t *module,
                 uint32_t *line);

const struct site *match_run_site(const struct match_run *run,
                                  const struct match_value *value);

/* An item of the newest state dict. MATCH_NONE: there is none. */
uint32_t match_newest_dict(const struct match_run *run);
/* Whether the two are items of the same container in the same recording of it. */
bool match_is_beside(const struct match_value *value, const struct match_value *other);

/* A link between two values or two contents, by their numbers. */
struct match_link {
    uint32_t source, target;
};

/* Makes both directions of `links`, for `count` items. Returns false if out of memory. */
bool match_links_make(struct match_links *in,
                      struct match_links *out,
                      const struct match_link *links,
                      size_t link_count,
                      size_t count);
void match_links_release(struct match_links *links);

#endif
