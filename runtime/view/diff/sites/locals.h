/* Names that a function writes and that B's version of it calls otherwise: told by lines that are
 * the same but for them. */
#ifndef MONITORCH_VIEW_DIFF_SITES_LOCALS_H
#define MONITORCH_VIEW_DIFF_SITES_LOCALS_H

#include "runtime/base/buffer.h"
#include "runtime/view/diff/sites/faces.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_keys {
    uint64_t *items; /* owned, sorted */
    size_t count;
};

/* The function's own names on both sides. */
struct diff_locals {
    const struct diff_faces *faces; /* borrowed */
    struct diff_sites *sites;       /* borrowed */
    uint32_t modules[2];
    uint32_t functions[2];
    struct diff_keys written[2]; /* names that it writes */
    struct diff_keys all[2];     /* and those that it reads */
    struct diff_local *renamed;  /* owned */
    size_t renamed_count;
    size_t renamed_capacity;
    struct buffer line; /* owned: the line that was looked at last */
};

/* false: out of memory. */
bool diff_locals_init(struct diff_locals *locals,
                      struct diff_sites *sites,
                      const struct diff_faces *faces,
                      const uint32_t modules[2],
                      const uint32_t functions[2]);
void diff_locals_release(struct diff_locals *locals);

/* A number that lines share which differ in nothing but their function's own names, which
 * are as often the same in both; 0: the line is not known. */
uint64_t diff_locals_shape(struct diff_locals *locals, unsigned side, uint32_t face);

/* Looks through the faces that `partners` leaves without one. Where a name has become another one,
 * the sites of B's function have the keys of A's names from now on, and its faces their texts.
 * false: out of memory. */
bool diff_locals_rename(struct diff_locals *locals,
                        struct diff_faces *faces,
                        const uint32_t *partners,
                        bool *has_renamed);

#endif
