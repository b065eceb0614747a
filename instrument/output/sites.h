/* Sites of one file: collects and numbers them. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_SITES_H
#define MONITORCH_INSTRUMENT_OUTPUT_SITES_H

#include "instrument/tree/reads.h"
#include "instrument/tree/syntax.h"
#include "instrument/tree/terms.h"
#include "runtime/base/number_map.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

/* The maximum number of names of one statement that are recorded. */
#define WRITES_LIMIT 250

/* A site before it has an id. */
struct site_draft {
    enum site_kind kind;
    uint32_t function;
    uint32_t node; /* the site's statement or expression */
    uint32_t arm;
    bool repeats;
    bool has_condition;
    uint32_t condition;
    struct site_write writes[WRITES_LIMIT];
    uint32_t write_count;
    struct reads reads;
    struct terms terms; /* of its value; empty if not known */
};

/* A function, and its new index after functions without sites were removed. */
struct function_draft {
    struct site_function function;
    uint64_t
        name_hash; /* functions with the same qualified name share their ordinals */
    bool is_used;
    uint32_t new_index;
};

struct sites {
    const struct syntax *syntax; /* borrowed */
    struct arena *arena;         /* borrowed */
    struct site *items;          /* owned until sites_release */
    size_t capacity;
    uint32_t count;
    struct function_draft *functions; /* owned until sites_release */
    size_t function_capacity;
    uint32_t function_count;
    struct number_map key_counts; /* number of sites with a key, by the key's hash */
    bool has_failed;
};

void sites_init(struct sites *sites, const struct syntax *syntax, struct arena *arena);
void sites_release(struct sites *sites);

/* Returns the function's index. The name is borrowed and must live in the arena. */
uint32_t sites_add_function(struct sites *sites, struct slice name, uint32_t line);

/* Counts the draft among those of its key. If `is_selected`, gives it an id too. Returns
 * SITE_NONE if it is not selected or out of memory (then sets has_failed). */
uint32_t
sites_add(struct sites *sites, const struct site_draft *draft, bool is_selected);

void draft_init(struct site_draft *draft,
                enum site_kind kind,
                uint32_t function,
                uint32_t node);

/* Adds a written name. Returns false if the draft has it already or is full. */
bool draft_write(struct site_draft *draft, struct slice name, enum site_source source);

/* Sets the condition's text without blanks, which names a branch. */
void draft_condition(struct site_draft *draft, struct slice text);

#endif
