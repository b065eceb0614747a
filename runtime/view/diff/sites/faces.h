/* The sites of two functions, as they are compared: what they write and read, and their lines. */
#ifndef MONITORCH_VIEW_DIFF_SITES_FACES_H
#define MONITORCH_VIEW_DIFF_SITES_FACES_H

#include "runtime/view/diff/sites/sites.h"

#include <stdbool.h>
#include <stdint.h>

/* A site as it is compared. */
struct diff_face {
    uint32_t site;
    enum site_kind kind;
    uint32_t arm;
    uint32_t column;
    uint64_t names; /* all that are written, or the branch's condition; 0: none */
    uint64_t reads;
    uint64_t text; /* of the line; 0: not known */
    struct slice line;
    /* Borrowed from the module, as they are when they are asked for: written, then read. */
    const uint64_t *name_keys;
    uint32_t write_count, read_count;
};

struct diff_faces {
    struct diff_face *items[2]; /* owned */
    uint64_t *keys[2];          /* owned: equal where all of a face is equal */
    uint32_t counts[2];
    bool has_text; /* on both sides */
};

/* Of the function with that number in the module with that number, for A and B. false: out of
 * memory. */
bool diff_faces_init(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2]);
void diff_faces_release(struct diff_faces *faces);

/* The same again, with the keys that the sites' names have by now. */
void diff_faces_fill(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2]);

/* Equal for faces of which all is equal. */
uint64_t diff_face_key(const struct diff_face *face);

/* How well the a-th of A and the b-th of B go together, 0: not at all. `context` are the faces:
 * as struct diff_sequence asks for it. */
uint32_t diff_face_score(const void *context, uint32_t a, uint32_t b);

#endif
