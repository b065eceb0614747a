/* Repairs: values that, in the place of an input, give a statement of B a formula of A. */
#include "runtime/view/diff/match/proof.h"

#include <assert.h>

/* The maximum number of A's formulas that are tried in the place of an input. */
#define REPAIRS_MAX 400
/* The maximum number of contents above, and of values of A tried for each. */
#define ABOVE_MAX 24
/* The maximum number of terms that one step adds. */
#define STEP_TERMS_MAX 2

enum formula_place
match_proof_find(const struct proof *proof, const struct formula *formula, size_t count)
{
    const struct match_meanings *a = &proof->meanings[0];
    enum formula_place found = FORMULA_NOWHERE;

    for (size_t i = 0; i < count && found < FORMULA_WHOLE; i++) {
        enum formula_place place = formula_find(formula, &a->parts[i]);

        found = place > found ? place : found;
    }
    return found;
}

enum formula_place match_proof_repair(struct proof *proof,
                                      uint32_t content,
                                      uint32_t input,
                                      struct formula formula)
{
    struct match_meanings *b = &proof->meanings[1];
    struct formula again;

    assert(content < proof->ranking->match->contents[1].count);
    b->replaced = input; /* MATCH_NONE: only a number is replaced */
    b->replacement = formula;
    again = match_meaning_of_statement(b, content);
    b->replaced = MATCH_NONE;
    return again.is_known
               ? match_proof_find(proof, &again,
                                  proof->is_hidden ? proof->meanings[0].part_count
                                                   : proof->lost_parts)
               : FORMULA_NOWHERE;
}

bool match_proof_is_repaired(struct proof *proof,
                             uint32_t content,
                             uint32_t input,
                             struct formula formula)
{
    return match_proof_repair(proof, content, input, formula) != FORMULA_NOWHERE;
}

/* Whether B makes a value from A's weight, up to the content to explain. True if B does not have
 * the weight. */
static bool is_used(const struct proof *proof, uint32_t of_a)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    uint32_t weight = contents[0].items[of_a].partner;

    for (uint32_t o = weight == MATCH_NONE ? 0 : contents[1].out.first[weight];
         weight != MATCH_NONE && o < contents[1].out.first[weight + 1]; o++) {
        uint32_t content = contents[1].out.items[o];

        if (content <= proof->content && !contents[1].items[content].is_weight) {
            return true;
        }
    }
    return weight == MATCH_NONE;
}

/* Whether the difference between the whole and the part is a weight, or is made from a weight
 * that B does not use. */
static bool adds_weight(const struct proof *proof,
                        const struct formula *part,
                        const struct formula *whole)
{
    const struct match_contents *a = &proof->ranking->match->contents[0];
    struct arena *arena = (struct arena *)&proof->meanings[0].arena;
    struct formula more = formula_add(arena, whole, part, -1);

    for (uint32_t i = 0; more.is_known && i < a->count; i++) {
        struct formula base;

        if (!a->items[i].is_weight) {
            continue;
        }
        base = match_meaning_of_common((struct match_meanings *)&proof->meanings[0], i);
        for (uint32_t k = 0; base.is_known && k < more.term_count; k++) {
            enum formula_place place = formula_find(
                &base, &(struct formula){
                           .is_known = true, .term_count = 1, .terms = &more.terms[k]});

            if (place == FORMULA_WHOLE ||
                (place != FORMULA_NOWHERE && !is_used(proof, i))) {
                return true;
            }
        }
    }
    return false;
}

static enum missing
missing_of(struct proof *proof, const struct formula *part, const struct formula *whole)
{
    struct formula more =
        formula_add((struct arena *)&proof->meanings[0].arena, whole, part, -1);

    proof->added = more;
    return more.is_known && part->term_count + more.term_count == whole->term_count &&
                   !adds_weight(proof, part, whole)
               ? MISSING_VALUE
               : MISSING_STEP;
}

enum missing match_proof_missing(struct proof *proof, uint32_t content, uint32_t input)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_meanings *a = &proof->meanings[0];
    struct formula own = match_meaning_of(&proof->meanings[1], input);
    uint64_t hash = formula_hash(&own);
    uint32_t partner = contents[1].items[input].partner;

    assert(input < contents[1].count);
    for (size_t i = 0; own.is_known && i < proof->lost_steps; i++) {
        if (a->steps[i].argument == hash &&
            match_proof_is_repaired(proof, content, input, a->steps[i].result)) {
            return MISSING_STEP;
        }
    }
    for (size_t i = 0; i < proof->lost_parts && i < REPAIRS_MAX; i++) {
        enum formula_place place = formula_find(&own, &a->parts[i]);

        if (a->parts[i].term_count <= own.term_count + STEP_TERMS_MAX &&
            place != FORMULA_NOWHERE && place != FORMULA_WHOLE &&
            match_proof_is_repaired(proof, content, input, a->parts[i])) {
            return missing_of(proof, &own, &a->parts[i]);
        }
    }
    for (uint32_t i = partner == MATCH_NONE ? 0 : contents[0].out.first[partner];
         partner != MATCH_NONE && i < contents[0].out.first[partner + 1]; i++) {
        uint32_t next = contents[0].out.items[i];
        struct formula formula = match_meaning_of(&proof->meanings[0], next);

        if (formula.is_known && !contents[0].items[next].is_weight &&
            match_proof_is_repaired(proof, content, input, formula)) {
            return missing_of(proof, &own, &formula);
        }
    }
    return MISSING_NOTHING;
}

/* Whether the content has a formula of A if the content `above` has the formula `formula`. */
static bool is_repaired_from(struct proof *proof,
                             uint32_t content,
                             uint32_t above,
                             struct formula formula)
{
    struct match_meanings *b = &proof->meanings[1];
    bool is_right;

    match_meanings_forget(b, 0, content);
    is_right = match_proof_is_repaired(proof, content, above, formula);
    match_meanings_forget(b, 0, content);
    return is_right;
}

/* Whether a function of A, whose result no line bound to a name, repairs the content when it is
 * applied to `above`. */
static bool is_step_above(struct proof *proof, uint32_t content, uint32_t above)
{
    const struct match_meanings *a = &proof->meanings[0];
    struct formula own = match_meaning_of(&proof->meanings[1], above);
    uint64_t hash = formula_hash(&own);

    for (size_t i = 0; own.is_known && i < proof->lost_steps; i++) {
        if (a->steps[i].argument == hash &&
            is_repaired_from(proof, content, above, a->steps[i].result)) {
            return true;
        }
    }
    return false;
}

/* The value of A that `above` should be: it has as many elements and is one step further.
 * MATCH_NONE: none. */
static uint32_t find_step_above(struct proof *proof, uint32_t content, uint32_t above)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    struct formula own = match_meaning_of(&proof->meanings[1], above);
    uint64_t hash = formula_hash(&own);
    uint32_t tried = 0;

    for (uint32_t a = 0; own.is_known && a < contents[0].count && tried < ABOVE_MAX;
         a++) {
        struct formula formula;
        enum formula_place place;
        bool is_step = false;

        if (contents[0].items[a].partner != MATCH_NONE ||
            contents[0].items[a].is_weight ||
            match_count_of(&contents[0], a) != match_count_of(&contents[1], above)) {
            continue;
        }
        formula = match_meaning_of(&proof->meanings[0], a);
        place = formula.term_count > own.term_count + STEP_TERMS_MAX
                    ? FORMULA_NOWHERE /* more than one step */
                    : formula_find(&own, &formula);
        for (size_t i = 0; i < proof->lost_steps; i++) {
            is_step |= proof->meanings[0].steps[i].argument == hash &&
                       formula_find(&proof->meanings[0].steps[i].result, &formula) ==
                           FORMULA_WHOLE;
        }
        if (!is_step && (place == FORMULA_NOWHERE || place == FORMULA_WHOLE)) {
            continue;
        }
        tried++;
        if ((is_step || missing_of(proof, &own, &formula) == MISSING_STEP) &&
            is_repaired_from(proof, content, above, formula)) {
            return a;
        }
    }
    return MATCH_NONE;
}

uint32_t match_proof_missing_above(struct proof *proof,
                                   uint32_t content,
                                   unsigned depth,
                                   uint32_t *of_a)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k], found = MATCH_NONE;

        if (b->items[input].is_weight || b->items[input].is_weak) {
            continue;
        }
        if (depth > 0 && b->items[input].partner == MATCH_NONE) {
            found = match_proof_missing_above(proof, input, depth - 1, of_a);
        }
        if (found != MATCH_NONE) {
            return found;
        }
        proof->tried++;
        if (proof->tried >= ABOVE_MAX) {
            continue;
        }
        *of_a = find_step_above(proof, proof->content, input);
        if (*of_a != MATCH_NONE || is_step_above(proof, proof->content, input)) {
            return input;
        }
    }
    return MATCH_NONE;
}

uint32_t match_proof_other_value(struct proof *proof, uint32_t content, uint32_t input)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    uint64_t count = match_count_of(&contents[1], input);
    unsigned tried = 0;

    assert(input < contents[1].count);
    for (uint32_t a = 0; a < contents[0].count && tried < REPAIRS_MAX; a++) {
        if (a == contents[1].items[input].partner ||
            contents[0].items[a].partner == MATCH_NONE ||
            match_count_of(&contents[0], a) != count ||
            contents[0].items[a].is_weight != contents[1].items[input].is_weight) {
            continue;
        }
        tried++;
        if (match_proof_is_repaired(proof, content, input,
                                    match_meaning_of_common(&proof->meanings[0], a))) {
            return a;
        }
    }
    return MATCH_NONE;
}
