/* Faces: the sites of two functions with the fields that are compared: written names, read
 * names, lines. */
#ifndef MONITORCH_VIEW_DIFF_SITES_FACES_H
#define MONITORCH_VIEW_DIFF_SITES_FACES_H

#include "runtime/view/diff/sites/sites.h"

#include <stdbool.h>
#include <stdint.h>

/* The compared fields of a site. */
struct diff_face {
    uint32_t site;
    enum site_kind kind;
    uint32_t arm;
    uint32_t column;
    uint64_t names; /* hash of all written names, or the branch's condition; 0: none */
    uint64_t reads;
    uint64_t text; /* hash of the line; 0: not known */
    struct slice line;
    /* Borrowed from the module, which may change them: keys of written names, then of read ones. */
    const uint64_t *name_keys;
    uint32_t write_count, read_count;
};

struct diff_faces {
    struct diff_face *items[2]; /* owned */
    uint64_t *keys[2];          /* owned: keys, the same for equal faces */
    uint32_t counts[2];
    bool has_text; /* both sides have sources */
};

/* Makes the faces of the function with that number, in the module with that number, of A and of
 * B. Returns false if memory ran out. */
bool diff_faces_init(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2]);
void diff_faces_release(struct diff_faces *faces);

/* Fills the faces again, with the current keys of the sites' names. */
void diff_faces_fill(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2]);

/* Returns a key that equal faces share. */
uint64_t diff_face_key(const struct diff_face *face);

/* Returns how well the a-th face of A and the b-th of B match; 0: not at all. `context` is the
 * struct diff_faces. For struct diff_sequence. */
uint32_t diff_face_score(const void *context, uint32_t a, uint32_t b);

#endif
