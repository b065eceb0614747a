/* The orientation of weights: two programs that sum along different axes of a matrix must hold
 * it transposed. */
#include "runtime/view/diff/match/proof.h"

/* Whether the value is a matrix with as many rows as columns. The shape of any other matrix
 * shows whether it is transposed. */
static bool is_square(const struct match_value *value)
{
    int64_t sizes[2] = {0, 0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < value->shape->dimension_count; i++) {
        if (value->shape->shape[i] != 1 && count++ < 2) {
            sizes[count - 1] = value->shape->shape[i];
        }
    }
    return count == 2 && sizes[0] == sizes[1];
}

/* Whether the weight has the orientation that B's statement needs, which sums along `axis`. */
static enum match_fit
fit_of(struct proof *proof, struct match_axis axis, uint32_t weight)
{
    const struct match *match = proof->ranking->match;
    const struct match_contents *a = &match->contents[0], *b = &match->contents[1];
    uint32_t partner = axis.axis < 0 ? MATCH_NONE : b->items[weight].partner;

    for (uint32_t o = partner == MATCH_NONE ? 0 : a->out.first[partner];
         partner != MATCH_NONE && o < a->out.first[partner + 1]; o++) {
        struct match_axis of_a =
            match_meaning_weight_axis(&proof->meanings[0], a->out.items[o], partner);
        enum match_order order;

        if (of_a.axis < 0 || !is_square(&a->run->values[of_a.value]) ||
            !is_square(&b->run->values[axis.value])) {
            continue;
        }
        order = match_order_of(a->run, &a->run->values[of_a.value], b->run,
                               &b->run->values[axis.value], match->tolerance);
        if (order == MATCH_ORDER_SAME || order == MATCH_ORDER_TRANSPOSED) {
            return (order == MATCH_ORDER_SAME) == (axis.axis == of_a.axis)
                       ? MATCH_FIT_RIGHT
                       : MATCH_FIT_WRONG;
        }
    }
    return MATCH_FIT_UNKNOWN;
}

/* Removes the weights from the suspects that were blamed for their orientation only, and have
 * the one that their statements need. */
void match_proof_clear_weights(struct proof *proof)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    struct match_leave *leave = proof->ranking->leave;
    size_t kept = 0;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        struct match_suspect *suspect = &leave->suspects[i];
        uint32_t content = b->run->values[suspect->value].content;
        enum match_fit fit = MATCH_FIT_UNKNOWN;

        if (suspect->is_weight &&
            suspect->reasons == (MATCH_REASON_ORDER | MATCH_REASON_TURNED)) {
            for (uint32_t o = b->out.first[content];
                 fit == MATCH_FIT_UNKNOWN && o < b->out.first[content + 1]; o++) {
                fit = fit_of(proof,
                             match_meaning_weight_axis(&proof->meanings[1],
                                                       b->out.items[o], content),
                             content);
            }
        }
        if (fit != MATCH_FIT_RIGHT) {
            leave->suspects[kept++] = *suspect;
        }
    }
    leave->suspect_count = kept;
}

/* Blames a weight of the content's statement with the wrong orientation. If the statement names
 * the axes itself, and the other weights have the same orientation, blames the statement too.
 * Returns whether it blamed any. */
bool match_proof_blame_orientation(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *b = &contents[1];

    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t weight = b->in.items[k], value;
        struct match_axis axis;

        if (!b->items[weight].is_weight || b->items[weight].partner == MATCH_NONE) {
            continue;
        }
        axis = match_meaning_weight_axis(&proof->meanings[1], content, weight);
        if (fit_of(proof, axis, weight) != MATCH_FIT_WRONG) {
            continue;
        }
        value = match_find_weight(proof->ranking->match, weight);
        if (value == MATCH_NONE ||
            (!axis.is_module && match_is_like_others(proof->ranking, value))) {
            match_blame(match_add_line(proof->ranking, b->items[content].first),
                        MATCH_REASON_LAYOUT, SCORE_PROVED);
        }
        if (value != MATCH_NONE) {
            match_prove(
                match_add_weight(proof->ranking, value,
                                 contents[0].items[b->items[weight].partner].first),
                MATCH_REASON_ORDER);
        }
        return true;
    }
    return false;
}
