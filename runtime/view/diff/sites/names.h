/* Names of the one program as the other one writes them. */
#ifndef MONITORCH_VIEW_DIFF_SITES_NAMES_H
#define MONITORCH_VIEW_DIFF_SITES_NAMES_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"
#include "runtime/view/diff/align/align.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_names {
    const struct diff_rename *renames; /* borrowed */
    size_t count;
    struct buffer text; /* owned: the name made last; has_failed: memory ran out */
};

void diff_names_init(struct diff_names *names,
                     const struct diff_rename *renames,
                     size_t count);
void diff_names_release(struct diff_names *names);

/* The same number for what is the same name; `side` is the program that `name` is of. */
uint64_t diff_names_hash(struct diff_names *names, unsigned side, struct slice name);

/* Whether file `a` of A is renamed, and that `b` of B is what it is called there: whole, or by
 * last parts. */
bool diff_names_map_file(const struct diff_names *names,
                         struct slice a,
                         struct slice b);

/* Two numbers as one, so that each bit depends on all of both. */
static inline uint64_t diff_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    x = (x ^ (b >> 32) ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32);
}

#endif
