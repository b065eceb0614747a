/* The blame of layouts: the order of elements, and the axis of a statement, which no formula
 * shows. Blames lines and weights where a formula is A's and its numbers are not. */
#include "runtime/view/diff/match/proof.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The blindness of a transpose, as operations.c counts it. */
#define BLINDNESS_LAYOUT 2

/* The search for the cause of another layout: of the lines after the values in A's order, the
 * one that does most that no formula shows. */
struct layout {
    struct proof *proof;
    uint32_t best; /* value */
    unsigned blindness;
    bool is_weight; /* a weight was blamed */
};

/* Compares the axis of the value's statement with A's. -1: they differ, 1: they are equal, 0:
 * not known. */
static int compare_axes(struct proof *proof, uint32_t value)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_value *b = &contents[1].run->values[value];
    uint32_t other = contents[1].items[b->content].partner == MATCH_NONE
                         ? match_proof_equal(proof, b->content)
                         : MATCH_NONE;
    const struct match_value *a;
    double own, of_a;

    if (other == MATCH_NONE) {
        return 0;
    }
    a = &contents[0].run->values[contents[0].items[other].first];
    own = match_meaning_axis(&proof->meanings[1], value);
    of_a = match_meaning_axis(&proof->meanings[0], contents[0].items[other].first);
    if (isnan(own) || isnan(of_a) ||
        a->shape->dimension_count != b->shape->dimension_count ||
        memcmp(a->shape->shape, b->shape->shape,
               a->shape->dimension_count * sizeof *a->shape->shape) != 0) {
        return 0;
    }
    return own == of_a ? 1 : -1;
}

/* Whether the call changed the layout of the argument, compared with the value that was passed. */
static bool is_laid_by_call(const struct match_contents *b, uint32_t value)
{
    const struct match_run *run = b->run;
    const struct match_value *argument = &run->values[value];

    assert(value < run->value_count);
    for (uint32_t k = run->in.first[value];
         argument->is_argument && k < run->in.first[value + 1]; k++) {
        const struct match_value *source = &run->values[run->in.items[k]];

        if (source->content == argument->content) {
            return source->has_hash && argument->has_hash &&
                   source->hash != argument->hash;
        }
    }
    return false;
}

static void add_blind(struct layout *layout, uint32_t value)
{
    const struct match_contents *b = &layout->proof->ranking->match->contents[1];
    unsigned blindness = match_meaning_blindness(&layout->proof->meanings[1], value);
    int axes = compare_axes(layout->proof, value);

    if (is_laid_by_call(b, value) && blindness < BLINDNESS_LAYOUT) {
        blindness = BLINDNESS_LAYOUT;
    }
    if (axes != 0) {
        blindness = axes < 0 ? 9 : blindness > 2 ? blindness - 2 : 0;
    }

    if (blindness >= layout->blindness) {
        layout->blindness = blindness;
        layout->best = value;
    }
}

/* Adds the values of the content after the last one in A's order. If there is none, continues
 * with the inputs. */
static void add_relaid(struct layout *layout, uint32_t content, unsigned depth)
{
    const struct match_contents *b = &layout->proof->ranking->match->contents[1];
    uint32_t same = match_find_in_order(layout->proof->ranking, content);
    uint32_t i = same == MATCH_NONE ? b->items[content].first : b->next[same];

    assert(content < b->count);
    for (; i != MATCH_NONE; i = b->next[i]) {
        if (!b->run->values[i].is_weight &&
            (!b->run->values[i].is_argument || is_laid_by_call(b, i))) {
            add_blind(layout, i);
        }
    }
    for (uint32_t k = b->in.first[content];
         same == MATCH_NONE && depth > 0 && k < b->in.first[content + 1]; k++) {
        if (b->items[b->in.items[k]].partner != MATCH_NONE &&
            !b->items[b->in.items[k]].is_weight) {
            add_relaid(layout, b->in.items[k], depth - 1);
        }
    }
}

/* Adds indices that A does not have, made from values that it has. */
static void add_indices(struct layout *layout, uint32_t content, unsigned depth)
{
    const struct match_contents *b = &layout->proof->ranking->match->contents[1];
    bool is_made_here = true;

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k];

        if (depth > 0 && b->items[input].partner == MATCH_NONE &&
            b->items[input].is_weak && !b->items[input].is_weight) {
            add_indices(layout, input, depth - 1);
            is_made_here = false;
        }
    }
    if (is_made_here && !match_proof_is_constant(layout->proof, content) &&
        layout->blindness < 4 &&
        b->run->values[b->items[content].first].shape->dtype != DTYPE_BOOL) {
        layout->blindness = 4;
        layout->best = b->items[content].first;
    }
}

static void add_layout(struct layout *layout, uint32_t content, unsigned depth)
{
    const struct match_contents *b = &layout->proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k];

        if (b->items[input].whole != MATCH_NONE) {
            continue;
        }
        if (b->items[input].partner == MATCH_NONE) {
            if (b->items[input].is_weak) {
                add_indices(layout, input, 8);
            } else if (depth > 0 && !b->items[input].is_weight) {
                add_layout(layout, input, depth - 1);
            }
        } else if (b->items[input].is_weight) {
            layout->is_weight |=
                match_blame_order(layout->proof->ranking, content, input);
        } else if (!b->items[input].is_weak) {
            add_relaid(layout, input, 4);
        }
    }
    add_blind(layout, b->items[content].first);
}

/* Blames rows of packed weights that do not belong together, as the first third of the weight
 * and the second of the bias. Returns false if all have the same place. */
static bool blame_rows(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *b = &contents[1];
    const struct match_run *run = b->run;
    uint32_t first = b->items[content].first, before = MATCH_NONE;
    double share = -1;

    for (uint32_t k = run->in.first[first]; k < run->in.first[first + 1]; k++) {
        uint32_t source = run->in.items[k];
        const struct match_content *item = run->values[source].content == MATCH_NONE
                                               ? NULL
                                               : &b->items[run->values[source].content];
        double own;

        if (item == NULL || item->whole == MATCH_NONE || item->row < 0 ||
            !run->values[source].is_weight) {
            continue;
        }
        own = (double)item->row / (double)contents[0]
                                      .run->values[contents[0].items[item->whole].first]
                                      .shape->shape[0];
        if (share >= 0 && own != share) {
            uint32_t other = run->values[before].content;

            match_blame(match_add_weight(proof->ranking, source,
                                         contents[0].items[item->whole].first),
                        MATCH_REASON_ORDER, SCORE_PROVED);
            match_blame(
                match_add_weight(proof->ranking, before,
                                 contents[0].items[b->items[other].whole].first),
                MATCH_REASON_ORDER, SCORE_PROVED - SCORE_STEP);
            return true; /* it is one of the two, and nothing shows which */
        }
        share = own;
        before = source;
    }
    return false;
}

/* Whether A makes `content` from `source` in a few steps. */
static bool is_made_from(const struct match_contents *a,
                         uint32_t content,
                         uint32_t source,
                         unsigned depth)
{
    assert(content < a->count);
    for (uint32_t k = a->in.first[content]; k < a->in.first[content + 1]; k++) {
        uint32_t input = a->in.items[k];

        if (input == source || (depth > 0 && !a->items[input].is_weight &&
                                a->items[input].partner == MATCH_NONE &&
                                is_made_from(a, input, source, depth - 1))) {
            return true;
        }
    }
    return false;
}

/* Blames a packed weight of B if the content is made from one of its pieces and A's value is
 * not: another piece is in its place. The formula does not show this, because all pieces share
 * one base. */
static bool
blame_piece(struct proof *proof, uint32_t content, uint32_t of_a, unsigned depth)
{
    const struct match *match = proof->ranking->match;
    const struct match_contents *b = &match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k], partner = b->items[input].partner;
        const struct match_pack *pack =
            partner == MATCH_NONE ? NULL : match_packs_with(&match->packs, partner);

        if (pack != NULL && !is_made_from(&match->contents[0], of_a, partner, 8)) {
            uint32_t weight = match_find_weight(match, pack->whole);

            match_prove(weight == MATCH_NONE
                            ? NULL
                            : match_add_weight(proof->ranking, weight,
                                               match->contents[0].items[partner].first),
                        MATCH_REASON_ORDER);
            return true;
        }
        if (partner == MATCH_NONE && depth > 0 && !b->items[input].is_weight &&
            blame_piece(proof, input, of_a, depth - 1)) {
            return true;
        }
    }
    return false;
}

/* Raises the score of weights whose order differs from that of the weight in a line that does
 * the same. Returns whether there is one. */
static bool boost_weights(struct match_leave *leave)
{
    bool is_found = false;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        struct match_suspect *suspect = &leave->suspects[i];

        if (suspect->is_weight && (suspect->reasons & MATCH_REASON_ORDER) != 0 &&
            suspect->score >= SCORE_OF_INNOCENT + SCORE_STEP) {
            suspect->score += SCORE_LAYOUT;
            is_found = true;
        }
    }
    return is_found;
}

/* Whether the content was made from a value or weight in another order than A's. Then an earlier
 * line may have caused it. */
static bool reads_otherwise(const struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        const struct match_content *input = &b->items[b->in.items[k]];
        uint32_t value = input->is_weight
                             ? match_find_weight(proof->ranking->match, b->in.items[k])
                             : input->last;

        if (input->partner != MATCH_NONE && value != MATCH_NONE && !input->is_weak &&
            match_order_of_value(proof->ranking, value) != MATCH_ORDER_SAME) {
            return true;
        }
    }
    return false;
}

void match_proof_blame_layout(struct proof *proof, uint32_t content)
{
    assert(content < proof->ranking->match->contents[1].count);

    struct layout layout = {.proof = proof, .best = MATCH_NONE};
    uint32_t first = proof->ranking->match->contents[1].items[content].first;

    if (boost_weights(proof->ranking->leave) ||
        blame_piece(proof, content, match_proof_equal(proof, content), 8)) {
        return;
    }
    if (blame_rows(proof, content)) {
        return;
    }
    add_layout(&layout, content, 8);
    if (layout.best != MATCH_NONE && !layout.is_weight) {
        match_blame(match_add_line(proof->ranking, layout.best), MATCH_REASON_LAYOUT,
                    SCORE_PROVED);
    }
    if (layout.best == MATCH_NONE ||
        proof->ranking->match->runs[1].values[layout.best].content == content) {
        proof->ranking->has_doubt = reads_otherwise(proof, content);
    }
    match_blame(match_add_line(proof->ranking, first), MATCH_REASON_LAYOUT,
                SCORE_LAYOUT);
}
