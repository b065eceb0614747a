/* Terms: the composition of the value of a site's statement. format.h has the grammar. */
#ifndef MONITORCH_SITE_TERM_H
#define MONITORCH_SITE_TERM_H

#include "runtime/base/arena.h"
#include "runtime/base/slice.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* The letters of the grammar. */
enum term_kind {
    TERM_READ = 'r',
    TERM_CONSTANT = 'k',
    TERM_TEXT = 'q',
    TERM_NUMBER = 'z',
    TERM_FROM_END = 'v',
    TERM_FORM = 'f',
    TERM_ITEM = 'i',
    TERM_LAST = 'j',
    TERM_KEY = 't',
    TERM_NAMED = 'n',
    TERM_CHOSEN = 's',
    TERM_ATTRIBUTE = 'a',
    TERM_ANY = 'e',
    TERM_EACH = 'g',
    TERM_SOME = 'h',
    TERM_AT_PLACE = 'w',
    TERM_ALL = 'u',
    TERM_SUM = 'p',
    TERM_ONE = 'o',
    TERM_LIST = 'l',
    TERM_DICT = 'd',
    TERM_CALL = 'c',
    TERM_METHOD = 'm',
};

/* The way in which a term is passed to the one around it. */
enum term_mark {
    TERM_PLAIN = 0,
    TERM_KEYWORD = '=', /* by the keyword `given` */
    TERM_STAR = 'x',
    TERM_DOUBLE_STAR = 'y',
    TERM_COMPUTED = '?', /* by a key that is unknown */
};

/* Nodes in the order of the text: a term, then the terms in it. */
struct term_node {
    uint8_t kind; /* enum term_kind */
    uint8_t mark; /* enum term_mark */
    uint32_t number;
    uint32_t next;      /* index after the last term in it */
    struct slice key;   /* of an attribute, item or call; the text of TERM_TEXT */
    struct slice given; /* TERM_KEYWORD: the name */
};

enum term_step { TERM_STEP_ITEM = '.', TERM_STEP_LAST = '-', TERM_STEP_REST = '*' };

/* The part of the value that is assigned to a write. A write without one gets the whole value. */
#define TERM_STEPS_LIMIT 9
struct term_part {
    uint32_t write;
    uint8_t kinds[TERM_STEPS_LIMIT]; /* enum term_step */
    uint32_t numbers[TERM_STEPS_LIMIT];
    uint32_t step_count;
    bool is_put; /* the value was put into the written object */
};

struct term {
    struct term_node *nodes; /* borrowed from the arena; the first is the value */
    uint32_t node_count;
    struct term_part *parts; /* borrowed from the arena */
    uint32_t part_count;
};

/* Reads the term of a site that has `read_count` reads. A text that is empty or damaged gives a
 * term without nodes. Returns false if memory runs out. */
bool term_read(struct term *term,
               struct slice text,
               uint32_t read_count,
               struct arena *arena);

/* The part of the value for a write. NULL: the whole. */
const struct term_part *term_find_part(const struct term *term, uint32_t write);

/* The first term in a node, and the next one after `child`. 0: there is none. */
static inline uint32_t term_child(const struct term *term, uint32_t node)
{
    assert(node < term->node_count);
    return term->nodes[node].next > node + 1 ? node + 1 : 0;
}

static inline uint32_t
term_sibling(const struct term *term, uint32_t parent, uint32_t child)
{
    assert(child < term->node_count);

    uint32_t next = term->nodes[child].next;

    assert(parent < term->node_count);
    return next < term->nodes[parent].next ? next : 0;
}

#endif
