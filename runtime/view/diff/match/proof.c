/* Evidence from formulas: the first value of B whose formula is nowhere in A, though the
 * formulas of its inputs are. If another value in the place of an input gives a formula of A,
 * that input is wrong. */
#include "runtime/view/diff/match/proof.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool match_proof_is_open(const struct match_contents *contents, uint32_t i)
{
    assert(i < contents->count);

    const struct match_content *content = &contents->items[i];

    return content->partner == MATCH_NONE && !content->is_back && !content->is_weight;
}

enum formula_place match_proof_find_in_a(const struct proof *proof,
                                         const struct formula *formula)
{
    return match_proof_find(proof, formula, proof->meanings[0].part_count);
}

bool match_proof_is_constant(const struct proof *proof, uint32_t i)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(i < b->count);
    return b->in.first[i] == b->in.first[i + 1];
}

static bool
reads_unknown_weight(const struct match_contents *contents, uint32_t i, unsigned depth)
{
    assert(i < contents->count);
    for (uint32_t k = contents->in.first[i]; k < contents->in.first[i + 1]; k++) {
        const struct match_content *source = &contents->items[contents->in.items[k]];

        if (source->partner == MATCH_NONE && source->whole == MATCH_NONE &&
            (source->is_weight ||
             (depth > 0 &&
              reads_unknown_weight(contents, contents->in.items[k], depth - 1)))) {
            return true;
        }
    }
    return false;
}

uint32_t match_proof_equal(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_value *value =
        &contents[1].run->values[contents[1].items[content].first];
    struct formula own = match_meaning_of(&proof->meanings[1], content);

    assert(content < contents[1].count);
    for (uint32_t a = 0; a < contents[0].count && a < PROOF_CONTENTS_MAX; a++) {
        const struct match_value *other =
            &contents[0].run->values[contents[0].items[a].first];
        struct formula formula;

        if (contents[0].items[a].partner != MATCH_NONE ||
            contents[0].items[a].is_weight ||
            other->statistics->count != value->statistics->count ||
            dtype_class(other->shape->dtype) != dtype_class(value->shape->dtype)) {
            continue;
        }
        formula = match_meaning_of(&proof->meanings[0], a);
        if (formula_find(&own, &formula) == FORMULA_WHOLE) {
            return a;
        }
    }
    return MATCH_NONE;
}

/* Whether all formulas are known of what A makes from the value and B does not have. */
static bool are_readers_understood(struct proof *proof, uint32_t of_a)
{
    const struct match_contents *a = &proof->ranking->match->contents[0];

    assert(of_a < a->count);
    for (uint32_t o = a->out.first[of_a]; o < a->out.first[of_a + 1]; o++) {
        uint32_t next = a->out.items[o];

        if (a->items[next].is_weight) {
            continue;
        }
        if (a->items[next].partner == MATCH_NONE
                ? !match_meaning_of(&proof->meanings[0], next).is_known
                : proof->is_hidden &&
                      !match_meaning_of_statement(&proof->meanings[0], next).is_known) {
            return false;
        }
    }
    return true;
}

/* Whether all formulas are known of what A makes from the values that the content was made from. */
static bool is_understood(struct proof *proof, uint32_t content, unsigned depth)
{
    const struct match_contents *contents = proof->ranking->match->contents;

    assert(content < contents[1].count);
    for (uint32_t k = contents[1].in.first[content];
         k < contents[1].in.first[content + 1]; k++) {
        uint32_t input = contents[1].in.items[k];
        uint32_t partner = contents[1].items[input].partner;

        if (contents[1].items[input].is_weak) {
            continue; /* indices, numbers */
        }
        if (partner == MATCH_NONE && !contents[1].items[input].is_weight) {
            partner = match_proof_equal(proof, input);
            if (depth > 0 && !is_understood(proof, input, depth - 1)) {
                return false;
            }
        }
        if (partner != MATCH_NONE && !are_readers_understood(proof, partner)) {
            return false;
        }
    }
    return true;
}

/* ---- the whole ---- */

/* Computes the formulas of the contents that only A has: first of those that B lost, then of
 * steps whose results B has. */
static void read_a(struct proof *proof)
{
    const struct match_contents *a = &proof->ranking->match->contents[0];

    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < a->count && i < PROOF_CONTENTS_MAX; i++) {
            if (a->items[i].partner == MATCH_NONE && !a->items[i].is_weight &&
                a->items[i].is_back == (pass == 1)) {
                match_meaning_of(&proof->meanings[0], i);
            }
        }
        if (pass == 0) {
            proof->lost_parts = proof->meanings[0].part_count;
            proof->lost_steps = proof->meanings[0].step_count;
        }
    }
}

static void clear_line(struct proof *proof, uint32_t content)
{
    assert(content < proof->ranking->match->contents[1].count);
    if (match_is_suspect(proof->ranking, content)) {
        match_blame(
            match_add_line(proof->ranking,
                           proof->ranking->match->contents[1].items[content].first),
            MATCH_REASON_PROVED, SCORE_INNOCENT);
    }
}

/* Whether the evidence against a weight is sufficient without formulas. */
static bool has_wrong_weight(const struct proof *proof)
{
    const struct match_leave *leave = proof->ranking->leave;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        if (leave->suspects[i].is_weight && leave->suspects[i].score >= SCORE_UNKNOWN) {
            return true;
        }
    }
    return false;
}

/* Whether a mask was added to the value. Such values are not judged: programs use different
 * numbers for masked places. */
static bool has_mask(const struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    const struct match_value *value = &b->run->values[b->items[content].first];

    return value->statistics->neginf_count > 0 ||
           statistics_bound_real(value->shape->dtype, value->statistics->min) < -1e3;
}

static bool is_trivial(const struct formula *formula)
{
    return formula->term_count == 0 || !isnan(formula_constant(formula));
}

/* Whether the content is the run's result and lacks a later step of A. Nothing reads it, so a
 * later line left out the step. */
static bool
is_cut_short(struct proof *proof, uint32_t content, enum formula_place place)
{
    const struct match *match = proof->ranking->match;
    const struct match_contents *b = &match->contents[1];

    return match->last != MATCH_NONE &&
           match->runs[1].values[match->last].content == content &&
           place != FORMULA_NOWHERE &&
           match_proof_equal(proof, content) == MATCH_NONE &&
           b->out.first[content] == b->out.first[content + 1] &&
           content == proof->ranking->region->ends[1];
}

/* Blames a step before the content whose formula is not A's, although its result agrees within
 * the tolerance. Returns whether there is one. */
static bool blame_hidden(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *b = &contents[1];

    proof->is_hidden = true;
    for (uint32_t i = 0; i < contents[0].count && i < PROOF_CONTENTS_MAX; i++) {
        match_meaning_of_statement(&proof->meanings[0], i);
    }
    for (uint32_t i = 0; i < content; i++) {
        struct formula formula;

        if (b->items[i].partner != MATCH_NONE || !b->items[i].is_back ||
            b->items[i].is_weak || b->items[i].is_weight ||
            match_proof_is_constant(proof, i)) {
            continue;
        }
        formula = match_meaning_of(&proof->meanings[1], i);
        if (formula.is_known && !has_mask(proof, i) &&
            match_proof_find_in_a(proof, &formula) == FORMULA_NOWHERE &&
            is_understood(proof, i, 8)) {
            match_proof_blame(proof, i);
            return true;
        }
    }
    return false;
}

/* Whether the content is computed indices. Such are not judged: programs count and sort
 * differently. */
static bool is_index(const struct match_contents *b, uint32_t content)
{
    return !diff_is_inexact(b->run->values[b->items[content].first].shape->dtype) &&
           b->in.first[content] < b->in.first[content + 1];
}

/* Judges a content that B lost. Returns true if this found the place of the fault. */
static bool judge_content(struct proof *proof, uint32_t i)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    struct formula formula;
    enum formula_place place;

    if (match_proof_blame_orientation(proof, i)) {
        return true;
    }
    formula = match_meaning_of(&proof->meanings[1], i);
    if (!formula.is_known) {
        return false;
    }
    place = match_proof_find_in_a(proof, &formula);
    if (place == FORMULA_WHOLE && !b->items[i].is_weak &&
        !match_proof_is_constant(proof, i) && !has_mask(proof, i) &&
        match_proof_equal(proof, i) != MATCH_NONE) {
        if (!blame_hidden(proof, i)) {
            match_proof_blame_layout(proof, i);
        }
        return true;
    }
    if (is_cut_short(proof, i, place)) {
        match_blame(match_add_line(proof->ranking, b->items[i].first),
                    MATCH_REASON_FORM_MISSING, SCORE_PROVED);
        return true;
    }
    if (place != FORMULA_NOWHERE || (match_proof_is_constant(proof, i) &&
                                     (b->items[i].is_weak || is_trivial(&formula)))) {
        clear_line(proof, i);
        return false;
    }
    if (is_index(b, i) || reads_unknown_weight(b, i, 16) ||
        !is_understood(proof, i, 8)) {
        return false;
    }
    match_proof_blame(proof, i);
    return true;
}

static void judge(struct proof *proof)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    read_a(proof);
    for (uint32_t i = 0; i < b->count && i < PROOF_CONTENTS_MAX; i++) {
        if (match_proof_is_open(b, i) && judge_content(proof, i)) {
            return;
        }
    }
}

void match_judge_formulas(struct ranking *ranking)
{
    struct proof proof = {.ranking = ranking};
    bool is_done = match_meanings_init(&proof.meanings[0], ranking->match, 0);

    is_done = match_meanings_init(&proof.meanings[1], ranking->match, 1) && is_done;
    if (is_done) {
        match_proof_clear_weights(&proof);
    }
    if (is_done && !has_wrong_weight(&proof)) {
        judge(&proof);
    }
    ranking->text.has_failed = ranking->text.has_failed || !is_done ||
                               proof.meanings[0].has_failed ||
                               proof.meanings[1].has_failed;
    match_meanings_release(&proof.meanings[0]);
    match_meanings_release(&proof.meanings[1]);
}
