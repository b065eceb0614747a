#include "runtime/base/nearest_name.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* The first limit of the distance, which it must stay below: a third of the letters, rounded up,
 * plus one. */
static size_t first_limit(size_t letter_count)
{
    return (letter_count + 2) / 3 + 1;
}

/* The cost of a cell, from the cells above and to the left of it. */
static unsigned
cell(char letter, char other, const uint16_t *above, const uint16_t *row)
{
    unsigned best;

    if (letter == '*') { /* matches nothing, or one more letter */
        return above[1] < row[0] ? above[1] : row[0];
    }
    best = above[0] + (letter != other && letter != '?');
    best = above[1] + 1u < best ? above[1] + 1u : best;
    return row[0] + 1u < best ? row[0] + 1u : best;
}

/* The number of letters that must be added, removed, changed or swapped so that the glob matches
 * the name. This is the usual table of edit distances, row by row, in which a `*` costs nothing. */
static size_t edit_distance(struct slice glob, struct slice name)
{
    uint16_t rows[3][NEAREST_NAME_MAX_SIZE + 1];

    assert(glob.size <= NEAREST_NAME_MAX_SIZE && name.size <= NEAREST_NAME_MAX_SIZE);
    for (size_t k = 0; k <= name.size; k++) {
        rows[0][k] = (uint16_t)k;
    }
    for (size_t i = 1; i <= glob.size; i++) {
        uint16_t *row = rows[i % 3];
        const uint16_t *above = rows[(i + 2) % 3];
        const uint16_t *two_above = rows[(i + 1) % 3];
        const char *letter = glob.bytes + i - 1;

        row[0] = (uint16_t)(above[0] + (*letter != '*'));
        for (size_t k = 1; k <= name.size; k++) {
            const char *other = name.bytes + k - 1;
            unsigned best = cell(*letter, *other, above + k - 1, row + k - 1);

            if (i > 1 && k > 1 && letter[0] == other[-1] && letter[-1] == other[0] &&
                two_above[k - 2] + 1u < best) {
                best = two_above[k - 2] + 1u;
            }
            row[k] = (uint16_t)best;
        }
    }
    return rows[glob.size % 3][name.size];
}

void nearest_init(struct nearest *nearest, struct slice word)
{
    *nearest = (struct nearest){.word = word};
    for (size_t i = 0; i < word.size; i++) {
        nearest->letter_count += word.bytes[i] != '*' && word.bytes[i] != '?';
    }
    nearest->distance = first_limit(nearest->letter_count);
}

static bool has_name(const struct nearest *nearest, struct slice name)
{
    for (size_t i = 0; i < nearest->count; i++) {
        if (slice_equal(nearest->names[i], name)) {
            return true;
        }
    }
    return false;
}

void nearest_add(struct nearest *nearest, struct slice name)
{
    size_t distance;

    if (nearest->word.size > NEAREST_NAME_MAX_SIZE ||
        name.size > NEAREST_NAME_MAX_SIZE ||
        nearest->letter_count > name.size + nearest->distance) {
        return;
    }
    distance = edit_distance(nearest->word, name);
    if (distance >= nearest->letter_count || distance >= name.size ||
        distance > nearest->distance) {
        return;
    }
    if (distance == nearest->distance && nearest->count == 0) {
        return; /* the first limit itself is too far */
    }
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->count = 0;
    }
    if (nearest->count < NEAREST_NAME_MAX && !has_name(nearest, name)) {
        nearest->names[nearest->count++] = name;
    }
}

void nearest_write(const struct nearest *nearest, struct buffer *text)
{
    for (size_t i = 0; i < nearest->count; i++) {
        buffer_add(text, i == 0                   ? SLICE("; did you mean ")
                         : i + 1 < nearest->count ? SLICE(", ")
                                                  : SLICE(" or "));
        buffer_add(text, nearest->names[i]);
    }
    if (nearest->count > 0) {
        buffer_add_byte(text, '?');
    }
}

const char *nearest_name(const char *word, const char *const *names, int count)
{
    struct nearest nearest;

    nearest_init(&nearest, slice_of(word));
    for (int i = 0; i < count; i++) {
        nearest_add(&nearest, slice_of(names[i]));
    }
    for (int i = 0; nearest.count > 0 && i < count; i++) {
        if (nearest.names[0].bytes == names[i]) {
            return names[i];
        }
    }
    return NULL;
}
