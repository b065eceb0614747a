/* Which tensor of one folder is which of another. */
#include "runtime/view/diff/saved/match.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/names.h"

#include <stdlib.h>

/* A tensor of one side, by what it is known by on both. */
struct place {
    uint64_t name; /* of the full name in B's terms */
    uint64_t call;
    size_t index;
};

void diff_saved_match_release(struct diff_saved_match *match)
{
    memory_free(match->mates[0]);
    memory_free(match->mates[1]);
}

/* The leaf of a container stands behind its name: `cache[0]['k']`. It is no part of a path, and
 * stays when the name is another. */
static uint64_t
hash_name(struct diff_names *names, unsigned side, struct slice full_name)
{
    size_t end = slice_find(full_name, SLICE("["), 0);
    struct slice leaf = slice_part(full_name, end, full_name.size);

    return diff_mix(diff_names_hash(names, side, slice_part(full_name, 0, end)),
                    hash_64(leaf));
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The places of a side, sorted; NULL: out of memory. */
static struct place *
make_places(const struct saved_folder *folder, unsigned side, struct diff_names *names)
{
    size_t count = saved_folder_count(folder);
    struct place *places = memory_allocate(count, sizeof *places);
    struct buffer text = BUFFER_INIT;
    bool has_failed;

    if (places == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct saved_key *key = &saved_folder_entry(folder, i)->tensor.key;

        text.size = 0;
        saved_key_add_full_name(key, &text);
        places[i] =
            (struct place){hash_name(names, side, buffer_slice(&text)), key->call, i};
    }
    has_failed = text.has_failed || names->text.has_failed;
    buffer_release(&text);
    if (has_failed) {
        memory_free(places);
        return NULL;
    }
    qsort(places, count, sizeof *places, compare_places);
    return places;
}

/* Where the tensors of the same name end. */
static size_t
find_end(const struct place *places, size_t count, size_t start, uint64_t name)
{
    size_t end = start;

    while (end < count && places[end].name == name) {
        end++;
    }
    return end;
}

/* All tensors of one name. */
static void match_name(struct diff_saved_match *match,
                       struct place *const places[2],
                       const size_t starts[2],
                       const size_t ends[2])
{
    size_t next = starts[0];

    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = starts[side]; i < ends[side]; i++) {
            match->mates[side][places[side][i].index] = (struct diff_saved_mate){
                DIFF_SAVED_ALONE, {ends[0] - starts[0], ends[1] - starts[1]}};
        }
    }
    for (size_t i = starts[1]; i < ends[1]; i++) {
        const struct place *b = &places[1][i];

        while (next < ends[0] && places[0][next].call < b->call) {
            next++;
        }
        if (next < ends[0] && places[0][next].call == b->call) {
            const struct place *a = &places[0][next++];

            match->mates[0][a->index].index = b->index;
            match->mates[1][b->index].index = a->index;
        }
    }
}

static void match_places(struct diff_saved_match *match, struct place *const places[2])
{
    size_t starts[2] = {0, 0};

    while (starts[0] < match->counts[0] || starts[1] < match->counts[1]) {
        size_t ends[2];
        uint64_t name = UINT64_MAX;

        for (unsigned side = 0; side < 2; side++) {
            if (starts[side] < match->counts[side] &&
                places[side][starts[side]].name < name) {
                name = places[side][starts[side]].name;
            }
        }
        for (unsigned side = 0; side < 2; side++) {
            ends[side] =
                find_end(places[side], match->counts[side], starts[side], name);
        }
        match_name(match, places, starts, ends);
        starts[0] = ends[0];
        starts[1] = ends[1];
    }
}

bool diff_saved_match_init(struct diff_saved_match *match,
                           const struct saved_folder *const folders[2],
                           const struct diff_rename *renames,
                           size_t rename_count)
{
    struct place *places[2] = {NULL, NULL};
    struct diff_names names;
    bool is_done = true;

    *match = (struct diff_saved_match){.counts = {0, 0}};
    diff_names_init(&names, renames, rename_count);
    for (unsigned side = 0; side < 2; side++) {
        match->counts[side] = saved_folder_count(folders[side]);
        match->mates[side] =
            memory_allocate(match->counts[side], sizeof *match->mates[side]);
        places[side] = make_places(folders[side], side, &names);
        is_done = is_done && match->mates[side] != NULL && places[side] != NULL;
    }
    if (is_done) {
        match_places(match, places);
    }
    memory_free(places[0]);
    memory_free(places[1]);
    diff_names_release(&names);
    return is_done;
}
