/* Evidence from formulas: the first value of B whose formula is nowhere in A, though those of its inputs
 * are. If another value in the place of an input gives a formula that A has, the fault is in that input. */
#include "runtime/view/diff/match/proof.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_open(const struct match_contents *contents, uint32_t i)
{
    assert(i < contents->count);

    const struct match_content *content = &contents->items[i];

    return content->partner == MATCH_NONE && !content->is_back && !content->is_weight;
}

/* Where in A the formula is. */
static enum formula_place find_in_a(const struct proof *proof,
                                    const struct formula *formula)
{
    return match_proof_find(proof, formula, proof->meanings[0].part_count);
}

/* Numbers, ranges: made from no value. */
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

/* The value that only A has, with as many elements and the same formula; MATCH_NONE: none. */
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
            other->statistics.count != value->statistics.count ||
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

/* Whether everything that only A has and that is made from its value is understood. */
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

/* Whether all that A makes from the values that the content was made from is understood. */
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

/* ---- suspects ---- */

/* Whether the value's site made a value of A in another call that the same line made, or in any call
 * where `call` is none. */
static bool
is_right_elsewhere(const struct proof *proof, uint32_t number, uint32_t call)
{
    const struct match_contents *contents = &proof->ranking->match->contents[1];
    const struct match_run *run = contents->run;
    const struct match_value *value = &run->values[number];

    assert(number < run->value_count);
    for (size_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->site != value->site || other->content == MATCH_NONE ||
            other->content == value->content || other->call == value->call) {
            continue;
        }
        if (call != MATCH_NONE) {
            /* The same depth below a call of the same line. */
            uint32_t above = other->call, own = value->call;

            while (own != call && own != MATCH_NONE && above != MATCH_NONE) {
                own = run->calls[own].parent;
                above = run->calls[above].parent;
            }
            if (above == MATCH_NONE || above == call ||
                run->calls[above].line != run->calls[call].line ||
                run->calls[above].function != run->calls[call].function) {
                continue;
            }
        }
        if (!contents->items[other->content].is_weak &&
            (contents->items[other->content].partner != MATCH_NONE ||
             contents->items[other->content].is_back)) {
            return true;
        }
    }
    return false;
}

/* The line that made the value; if it is right elsewhere, the nearest line above that called it and is
 * not. */
static struct match_suspect *add_responsible(struct proof *proof, uint32_t number)
{
    const struct match_run *run = &proof->ranking->match->runs[1];
    struct match_suspect suspect = {
        .value = number, .other = MATCH_NONE, .number = NAN};
    uint32_t call = run->values[number].call;

    if (!is_right_elsewhere(proof, number, MATCH_NONE)) {
        return match_add_line(proof->ranking, number);
    }
    while (call != MATCH_NONE && run->calls[call].parent != MATCH_NONE &&
           run->calls[call].line != 0) {
        if (!is_right_elsewhere(proof, number, call)) {
            suspect.module = run->calls[run->calls[call].parent].module;
            suspect.line = run->calls[call].line;
            return match_add_suspect(proof->ranking, &suspect);
        }
        call = run->calls[call].parent;
    }
    return match_add_line(proof->ranking, number);
}

/* A setting or a number that the line uses, and that A does not have; NULL: none. */
static struct match_suspect *find_setting(struct proof *proof, uint32_t number)
{
    struct match_leave *leave = proof->ranking->leave;
    const struct match_run *run = &proof->ranking->match->runs[1];
    struct match_suspect *best = NULL;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        struct match_suspect *suspect = &leave->suspects[i];
        bool is_own =
            (suspect->reasons & MATCH_REASON_SETTING) != 0 && suspect->value == number;

        for (uint32_t k = run->in.first[number]; k < run->in.first[number + 1]; k++) {
            is_own |= (suspect->reasons & MATCH_REASON_NUMBER) != 0 &&
                      suspect->value == run->in.items[k];
        }
        if (is_own && (best == NULL || suspect->score > best->score)) {
            best = suspect;
        }
    }
    return best;
}

/* The line that bound the value to a name: of an argument, the line above that has it. */
static uint32_t find_binding(const struct match_run *run, uint32_t number)
{
    assert(number < run->value_count);
    for (unsigned steps = 0; run->values[number].is_argument && steps < 64; steps++) {
        uint32_t before = number;

        for (uint32_t k = run->in.first[number]; k < run->in.first[number + 1]; k++) {
            uint32_t source = run->in.items[k];

            if (run->values[source].content == run->values[number].content &&
                source < number && !run->values[source].is_weight) {
                before = source;
            }
        }
        if (before == number) {
            break;
        }
        number = before;
    }
    return number;
}

/* The weight of the input's statement with which A makes `other` of the same; MATCH_NONE: none. */
static uint32_t find_wrong_weight(struct proof *proof, uint32_t input, uint32_t other)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    struct match_meanings *b = &proof->meanings[1];
    struct formula of_a = match_meaning_of_statement(&proof->meanings[0], other);

    assert(input < contents[1].count);
    for (uint32_t k = contents[1].in.first[input]; k < contents[1].in.first[input + 1];
         k++) {
        uint32_t weight = contents[1].in.items[k];

        if (contents[1].items[weight].is_weight &&
            contents[1].items[weight].partner == MATCH_NONE &&
            match_packs_of(&proof->ranking->match->packs, weight) == NULL) {
            return weight; /* or rows of a packed one */
        }
        for (uint32_t a = 0;
             contents[1].items[weight].is_weight && a < contents[0].count; a++) {
            struct formula again;

            if (!contents[0].items[a].is_weight ||
                match_count_of(&contents[0], a) !=
                    match_count_of(&contents[1], weight)) {
                continue;
            }
            b->replaced = weight;
            b->replacement = match_meaning_of_common(b, a);
            again = match_meaning_of_statement(b, input);
            b->replaced = MATCH_NONE;
            if (formula_find(&again, &of_a) == FORMULA_WHOLE &&
                a != contents[1].items[weight].partner) {
                return weight;
            }
        }
    }
    return MATCH_NONE;
}

/* Weights of B that are rows of A's: one of them has another's rows. */
static void blame_rows(struct proof *proof, uint32_t whole)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *run = contents[1].run;
    uint32_t newest = match_newest_dict(run);

    for (uint32_t i = 0; newest != MATCH_NONE && i < run->value_count; i++) {
        const struct match_value *value = &run->values[i];

        if (match_is_beside(value, &run->values[newest]) &&
            contents[1].items[value->content].whole == whole) {
            match_blame(
                match_add_weight(proof->ranking, i, contents[0].items[whole].first),
                MATCH_REASON_ORDER, SCORE_PROVED);
        }
    }
}

/* The weight among the inputs of the content's statement. */
static void
blame_weight(struct proof *proof, uint32_t content, uint32_t weight, uint32_t other)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *run = contents[1].run;
    uint32_t first = contents[1].items[content].first;

    assert(content < contents[1].count);
    assert(weight < contents[1].count);
    for (uint32_t k = run->in.first[first]; k < run->in.first[first + 1]; k++) {
        uint32_t source = run->in.items[k];

        if (run->values[source].content != weight) {
            continue;
        }
        if (run->values[source].is_weight &&
            contents[1].items[weight].whole != MATCH_NONE) {
            blame_rows(proof, contents[1].items[weight].whole);
        } else if (run->values[source].is_weight) {
            match_blame(match_add_weight(proof->ranking, source,
                                         other == MATCH_NONE
                                             ? MATCH_NONE
                                             : contents[0].items[other].first),
                        other == MATCH_NONE ? MATCH_REASON_UNKNOWN : MATCH_REASON_ORDER,
                        SCORE_PROVED);
        } else {
            match_blame(is_right_elsewhere(proof, first, MATCH_NONE)
                            ? add_responsible(proof, first)
                            : match_add_line(proof->ranking, find_binding(run, source)),
                        MATCH_REASON_INPUT, SCORE_PROVED);
        }
        return;
    }
}

/* The input is another one than A's: a weight, a value made with a wrong weight, or the line reads a wrong
 * value. */
static void
blame_input(struct proof *proof, uint32_t content, uint32_t input, uint32_t other)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    uint32_t weight;

    assert(content < contents[1].count);
    assert(input < contents[1].count);
    if (contents[1].items[input].is_weight) {
        blame_weight(proof, content, input, other);
        return;
    }
    weight = find_wrong_weight(proof, input, other);
    if (weight != MATCH_NONE) {
        blame_weight(proof, input, weight, MATCH_NONE);
        return;
    }
    match_blame(add_responsible(proof, contents[1].items[content].first),
                MATCH_REASON_INPUT, SCORE_PROVED);
}

/* The content that is masked with that share of the statement's inputs; MATCH_NONE: none. */
static uint32_t find_mask(const struct match_run *run, uint32_t number, double share)
{
    for (uint32_t k = run->in.first[number]; k < run->in.first[number + 1]; k++) {
        const struct match_value *value = &run->values[run->in.items[k]];

        double own = value->shape == NULL || value->statistics.count == 0
                         ? NAN
                         : (double)value->statistics.zero_count /
                               (double)value->statistics.count;

        if ((fabs(own - share) < 1e-9 || fabs(1 - own - share) < 1e-9) &&
            (value->shape->dtype == DTYPE_BOOL || match_is_mask(value))) {
            return run->in.items[k];
        }
    }
    return MATCH_NONE;
}

static void blame_number(struct proof *proof, uint32_t content, double number)
{
    assert(content < proof->ranking->match->contents[1].count);

    const struct match_run *run = &proof->ranking->match->runs[1];
    uint32_t first = proof->ranking->match->contents[1].items[content].first;
    uint32_t mask = find_mask(run, first, number);
    struct match_suspect *setting = find_setting(proof, first);

    if (mask != MATCH_NONE) {
        match_blame(match_add_line(proof->ranking, find_binding(run, mask)),
                    MATCH_REASON_FORM, SCORE_PROVED);
        return;
    }
    for (uint32_t k = run->in.first[first];
         setting == NULL && k < run->in.first[first + 1]; k++) {
        const struct match_value *value = &run->values[run->in.items[k]];

        if (value->shape == NULL && value->number == number) {
            struct match_suspect suspect = {.value = run->in.items[k],
                                            .other = MATCH_NONE,
                                            .module = value->module,
                                            .number = number};

            suspect.line = match_find_literal(proof->ranking, value->module, number);
            setting = suspect.line != 0
                          ? match_add_suspect(proof->ranking, &suspect)
                          : match_add_line(proof->ranking, run->in.items[k]);
        }
    }
    match_blame(setting != NULL ? setting : add_responsible(proof, first),
                MATCH_REASON_FORM, SCORE_PROVED);
}

static bool has_number(const struct match_meanings *a, double number)
{
    for (size_t i = 0; i < a->number_count; i++) {
        if (number != 1 && fabs(a->numbers[i] - number) <= 1e-9 * fabs(number)) {
            return true;
        }
    }
    return false;
}

/* The number of the statement that another number of A repairs; NaN: none. */
static double find_wrong_number(struct proof *proof, uint32_t content)
{
    const struct match_meanings *a = &proof->meanings[0];
    struct match_meanings *b = &proof->meanings[1];
    double numbers[8], found = NAN;
    size_t count;

    b->number_count = 0;
    match_meaning_of_statement(b, content);
    count = b->number_count < 8 ? b->number_count : 8;
    memcpy(numbers, b->numbers, count * sizeof *numbers);
    for (size_t i = 0; i < count && isnan(found); i++) {
        if (has_number(a, numbers[i])) {
            continue;
        }
        b->number = numbers[i];
        for (size_t k = 0; k < a->number_count && isnan(found); k++) {
            b->other_number = a->numbers[k];
            if (b->other_number != b->number &&
                match_proof_is_repaired(proof, content, MATCH_NONE,
                                        formula_unknown())) {
                found = numbers[i];
            }
        }
    }
    b->number = NAN;
    return found;
}

/* The line that stopped a step before A's: where it returned the value, if A's step is in a return. */
static void blame_stop(struct proof *proof, uint32_t content, uint32_t of_a)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *b = contents[1].run;
    uint32_t first = contents[1].items[content].first, best = first;
    const struct site *site = match_run_site(
        contents[0].run, &contents[0].run->values[contents[0].items[of_a].first]);
    bool is_return = site != NULL && site->kind == SITE_RETURN, is_right = true;

    assert(content < contents[1].count);
    assert(of_a < contents[0].count);
    for (uint32_t i = first; i != MATCH_NONE; i = contents[1].next[i]) {
        const struct site *own = match_run_site(b, &b->values[i]);

        if (b->values[i].is_argument || b->values[i].is_weight || own == NULL) {
            continue;
        }
        if (is_right && !match_is_innocent(proof->ranking, &b->values[i])) {
            best = i; /* not what a helper returns that is right elsewhere */
            is_right = false;
        }
        if (is_return && own->kind == SITE_RETURN &&
            b->values[i].call == b->values[best].call) {
            best = i;
        }
    }
    match_blame(match_add_line(proof->ranking, best), MATCH_REASON_FORM_MISSING,
                SCORE_PROVED);
}

static bool blame_above(struct proof *proof, uint32_t content)
{
    uint32_t of_a, above;

    proof->content = content;
    proof->tried = 0;
    above = match_proof_missing_above(proof, content, 12, &of_a);
    if (above == MATCH_NONE) {
        return false;
    }
    blame_stop(proof, above, of_a);
    return true;
}

/* Whether A makes anything of both. */
static bool
is_used_with(const struct match_contents *a, uint32_t value, uint32_t weight)
{
    assert(value < a->count);
    for (uint32_t o = a->out.first[value]; o < a->out.first[value + 1]; o++) {
        if (match_is_step(a, weight, a->out.items[o])) {
            return true;
        }
    }
    return false;
}

/* Several weights of the statement, and A uses none of them on its input: another module was called. */
static bool blame_module(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *b = &contents[1];
    const struct match_value *first = &b->run->values[b->items[content].first];
    const struct match_call *call = &b->run->calls[first->call];
    struct match_suspect suspect = {
        .value = b->items[content].first, .other = MATCH_NONE, .number = NAN};
    unsigned weights = 0;
    uint32_t value = MATCH_NONE;

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        const struct match_content *input = &b->items[b->in.items[k]];

        if (!input->is_weight && !input->is_weak) {
            value = value == MATCH_NONE ? input->partner : MATCH_NONE;
        }
    }
    for (uint32_t k = b->in.first[content];
         value != MATCH_NONE && k < b->in.first[content + 1]; k++) {
        const struct match_content *input = &b->items[b->in.items[k]];

        if (input->is_weight && input->partner != MATCH_NONE) {
            weights++;
            value =
                is_used_with(&contents[0], value, input->partner) ? MATCH_NONE : value;
        }
    }
    if (value == MATCH_NONE || weights < 2 || call->parent == MATCH_NONE ||
        call->line == 0) {
        return false;
    }
    suspect.module = b->run->calls[call->parent].module;
    suspect.line = call->line;
    match_blame(match_add_suspect(proof->ranking, &suspect), MATCH_REASON_FORM,
                SCORE_PROVED);
    return true;
}

/* Two inputs of the content that are each other's in A. */
static bool blame_exchanged(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    struct match_meanings *meanings = &proof->meanings[1];

    assert(content < b->count);
    for (uint32_t i = b->in.first[content]; i < b->in.first[content + 1]; i++) {
        for (uint32_t k = i + 1; k < b->in.first[content + 1]; k++) {
            uint32_t x = b->in.items[i], y = b->in.items[k];
            bool is_right;

            if (b->items[x].partner == MATCH_NONE ||
                b->items[y].partner == MATCH_NONE ||
                match_count_of(b, x) != match_count_of(b, y)) {
                continue;
            }
            meanings->exchanged = y;
            meanings->other = match_meaning_of_common(meanings, b->items[x].partner);
            is_right = match_proof_is_repaired(
                proof, content, x,
                match_meaning_of_common(meanings, b->items[y].partner));
            meanings->exchanged = MATCH_NONE;
            if (is_right) {
                blame_input(proof, content, x, b->items[y].partner);
                blame_input(proof, content, y, b->items[x].partner);
                return true;
            }
        }
    }
    return false;
}

/* Whether the call that made the value has another one, bound to a name before it, that nothing reads. */
static bool has_idle_value(const struct proof *proof, uint32_t number)
{
    const struct match_run *run = &proof->ranking->match->runs[1];

    for (uint32_t i = number; i-- > 0;) {
        const struct match_value *value = &run->values[i];

        if (value->call == run->values[number].call && value->shape != NULL &&
            !value->is_argument && !value->is_weight &&
            run->out.first[i] == run->out.first[i + 1]) {
            return true;
        }
    }
    return false;
}

/* Positions and indices among the inputs, whose formula is nowhere in A; all programs count from 0. */
static bool blame_position(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k];
        struct formula formula, range;

        if (!b->items[input].is_weak || b->items[input].is_weight) {
            continue;
        }
        formula = match_meaning_of_statement(&proof->meanings[1], input);
        range = formula_function(&proof->meanings[1].arena, SLICE("range"), NULL, 0);
        if (formula.is_known && formula.term_count > 0 &&
            formula_find(&range, &formula) != FORMULA_NOWHERE &&
            formula_find(&formula, &range) != FORMULA_WHOLE &&
            find_in_a(proof, &formula) == FORMULA_NOWHERE) {
            match_blame(match_add_line(proof->ranking, b->items[input].first),
                        MATCH_REASON_FORM, SCORE_PROVED);
            return true;
        }
    }
    return false;
}

/* A step of A between an input and the content. */
static bool blame_missing(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    uint32_t first = b->items[content].first;

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k];
        enum missing missing = b->items[input].is_weight
                                   ? MISSING_NOTHING
                                   : match_proof_missing(proof, content, input);

        if (missing == MISSING_VALUE && !has_idle_value(proof, first)) {
            missing = MISSING_STEP;
        }
        if (missing != MISSING_NOTHING) {
            match_blame_makers(proof->ranking, input, MATCH_REASON_FORM_MISSING,
                               missing == MISSING_STEP ? SCORE_PROVED
                                                       : SCORE_PROVED / 2);
            match_blame(match_add_line(proof->ranking, first), MATCH_REASON_FORM,
                        missing == MISSING_STEP ? SCORE_PROVED / 2 : SCORE_PROVED);
            return true;
        }
    }
    return false;
}

/* Another common value in the place of an input. */
static bool blame_other_value(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t other = match_proof_other_value(proof, content, b->in.items[k]);

        if (other != MATCH_NONE) {
            blame_input(proof, content, b->in.items[k], other);
            return true;
        }
    }
    return false;
}

static void blame(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    uint32_t first = b->items[content].first;
    struct match_suspect *setting = find_setting(proof, first);
    double number = find_wrong_number(proof, content);

    if (!isnan(number)) {
        blame_number(proof, content, number);
        return;
    }
    if (blame_position(proof, content) || blame_other_value(proof, content) ||
        blame_above(proof, content) || blame_missing(proof, content) ||
        blame_module(proof, content)) {
        return;
    }
    if (blame_exchanged(proof, content)) {
        return;
    }
    match_blame(setting != NULL ? setting : add_responsible(proof, first),
                MATCH_REASON_FORM, SCORE_PROVED);
}

/* ---- the whole ---- */

/* The formulas of what A has alone: first of what B does not have, then of its own steps. */
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

/* Whether a weight is surely wrong, whatever formulas say. */
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

/* Values that a mask was added to: which number stands for nothing is a matter of taste. */
static bool has_mask(const struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    const struct match_value *value = &b->run->values[b->items[content].first];

    return value->statistics.neginf_count > 0 ||
           statistics_bound_real(value->shape->dtype, value->statistics.min) < -1e3;
}

static bool is_trivial(const struct formula *formula)
{
    return formula->term_count == 0 || !isnan(formula_constant(formula));
}

/* A result that lacks what A adds to it. */
static bool
is_cut_short(struct proof *proof, uint32_t content, enum formula_place place)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    return place != FORMULA_NOWHERE &&
           match_proof_equal(proof, content) == MATCH_NONE &&
           b->out.first[content] == b->out.first[content + 1] &&
           content == proof->ranking->region->ends[1];
}

/* Blames a step before the content that came back within the tolerance, and is none of A's. */
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
            find_in_a(proof, &formula) == FORMULA_NOWHERE &&
            is_understood(proof, i, 8)) {
            blame(proof, i);
            return true;
        }
    }
    return false;
}

static void judge(struct proof *proof)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    read_a(proof);
    for (uint32_t i = 0; i < b->count && i < PROOF_CONTENTS_MAX; i++) {
        struct formula formula;
        enum formula_place place;

        if (!is_open(b, i)) {
            continue;
        }
        formula = match_meaning_of(&proof->meanings[1], i);
        if (!formula.is_known) {
            continue;
        }
        place = find_in_a(proof, &formula);
        if (place == FORMULA_WHOLE && !b->items[i].is_weak &&
            !match_proof_is_constant(proof, i) && !has_mask(proof, i) &&
            match_proof_equal(proof, i) != MATCH_NONE) {
            if (!blame_hidden(proof, i)) {
                match_proof_blame_layout(proof, i);
            }
            return;
        }
        if (is_cut_short(proof, i, place)) {
            match_blame(match_add_line(proof->ranking, b->items[i].first),
                        MATCH_REASON_FORM_MISSING, SCORE_PROVED);
            return;
        }
        if (place != FORMULA_NOWHERE ||
            (match_proof_is_constant(proof, i) &&
             (b->items[i].is_weak || is_trivial(&formula)))) {
            clear_line(proof, i);
        } else if (!reads_unknown_weight(b, i, 16) && is_understood(proof, i, 8)) {
            blame(proof, i);
            return;
        }
    }
}

void match_judge_formulas(struct ranking *ranking)
{
    struct proof proof = {.ranking = ranking};
    bool is_done = match_meanings_init(&proof.meanings[0], ranking->match, 0);

    is_done = match_meanings_init(&proof.meanings[1], ranking->match, 1) && is_done;
    if (is_done && !has_wrong_weight(&proof)) {
        judge(&proof);
    }
    ranking->text.has_failed = ranking->text.has_failed || !is_done ||
                               proof.meanings[0].has_failed ||
                               proof.meanings[1].has_failed;
    match_meanings_release(&proof.meanings[0]);
    match_meanings_release(&proof.meanings[1]);
}
