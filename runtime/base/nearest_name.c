/* The name that a mistyped one was meant to be. */
#include "runtime/base/nearest_name.h"

#include <stddef.h>
#include <string.h>

/* How many letters must be added, taken away, changed or swapped to make one the other. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][NEAREST_NAME_MAX_SIZE + 1];

    for (size_t k = 0; k <= b_size; k++) {
        rows[0][k] = k;
    }
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t k = 1; k <= b_size; k++) {
            size_t best = above[k - 1] + (a[i - 1] != b[k - 1]);

            best = above[k] + 1 < best ? above[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                two_above[k - 2] + 1 < best) {
                best = two_above[k - 2] + 1;
            }
            row[k] = best;
        }
    }
    return rows[a_size % 3][b_size];
}

const char *nearest_name(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    size_t size = strlen(word);
    size_t nearest_distance = (size + 2) / 3 + 1; /* further off is a guess */

    for (int i = 0; size <= NEAREST_NAME_MAX_SIZE && i < count; i++) {
        size_t name_size = strlen(names[i]);
        size_t distance;

        if (name_size > NEAREST_NAME_MAX_SIZE) {
            continue;
        }
        distance = edit_distance(word, size, names[i], name_size);
        if (distance < nearest_distance && distance < size && distance < name_size) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
