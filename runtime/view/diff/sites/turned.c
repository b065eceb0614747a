/* An `if` whose arms were turned round: `if not a: y else: x` for `if a: x else: y`. */
#include "runtime/view/diff/sites/faces.h"
#include "runtime/view/diff/sites/sequence.h"

/* An `if` with an `else`: indices of faces. */
struct halves {
    uint32_t head;   /* the `if`, its block behind it */
    uint32_t middle; /* the `else` */
    uint32_t end;    /* of its block */
};

static bool find_halves(const struct diff_faces *faces,
                        unsigned side,
                        uint32_t head,
                        struct halves *halves)
{
    const struct diff_face *items = faces->items[side];
    uint32_t count = faces->counts[side];

    *halves = (struct halves){head, head + 1, 0};
    while (halves->middle < count &&
           items[halves->middle].column > items[head].column) {
        halves->middle++;
    }
    if (halves->middle >= count || items[halves->middle].kind != SITE_BRANCH ||
        items[halves->middle].arm != 1 ||
        items[halves->middle].column != items[head].column) {
        return false;
    }
    halves->end = halves->middle + 1;
    while (halves->end < count && items[halves->end].column > items[head].column) {
        halves->end++;
    }
    return halves->end == count || items[halves->end].kind != SITE_BRANCH ||
           items[halves->end].arm < 2;
}

/* Whether the lines behind `a` up to `a_end` are those behind `b`. */
static bool are_same_lines(const struct diff_faces *faces,
                           uint32_t a,
                           uint32_t a_end,
                           uint32_t b,
                           uint32_t b_end)
{
    bool is_same = a_end - a == b_end - b;

    while (is_same && ++a < a_end) {
        is_same = faces->keys[0][a] == faces->keys[1][++b];
    }
    return is_same;
}

/* `if a: x else: y` that became `if not a: y else: x`: its lines are where they went. */
static void
pair_turned(const struct diff_faces *faces, uint32_t *partners, uint32_t head)
{
    struct halves a, b;

    if (!find_halves(faces, 0, head, &a) ||
        !find_halves(faces, 1, partners[head], &b) || partners[a.middle] != b.middle ||
        faces->items[0][a.head].text == faces->items[1][b.head].text ||
        are_same_lines(faces, a.head, a.middle, b.head, b.middle) ||
        !are_same_lines(faces, a.head, a.middle, b.middle, b.end) ||
        !are_same_lines(faces, a.middle, a.end, b.head, b.middle)) {
        return;
    }
    for (uint32_t i = 0; i < faces->counts[0]; i++) {
        if (partners[i] > b.head && partners[i] < b.end && partners[i] != b.middle) {
            partners[i] = DIFF_SEQUENCE_NONE;
        }
    }
    for (uint32_t i = 1; i < a.middle - a.head; i++) {
        partners[a.head + i] = b.middle + i;
    }
    for (uint32_t i = 1; i < a.end - a.middle; i++) {
        partners[a.middle + i] = b.head + i;
    }
}

void diff_turned_pair(const struct diff_faces *faces, uint32_t *partners)
{
    for (uint32_t i = 0; faces->has_text && i < faces->counts[0]; i++) {
        const struct diff_face *face = &faces->items[0][i];

        if (face->kind == SITE_BRANCH && face->arm == 0 &&
            partners[i] != DIFF_SEQUENCE_NONE) {
            pair_turned(faces, partners, i);
        }
    }
}
