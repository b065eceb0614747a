/* The blame of a content of B whose formula is nowhere in A: finds the line or the weight to
 * name. Each candidate is a change that would turn the formula into one of A's: another number,
 * value or weight, or an added step. */
#include "runtime/view/diff/match/proof.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Whether the value's site made a value of A in another call made by the same line, or, if
 * `call` is MATCH_NONE, in any other call. */
static bool
is_right_elsewhere(const struct proof *proof, uint32_t number, uint32_t call)
{
    const struct match_contents *contents = &proof->ranking->match->contents[1];
    const struct match_run *run = contents->run;
    const struct match_value *value = &run->values[number];

    for (size_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->site != value->site || other->content == MATCH_NONE ||
            other->content == value->content || other->call == value->call) {
            continue;
        }
        if (call != MATCH_NONE) {
            /* compares at the same depth below a call of the same line */
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

/* Adds the line that made the value as a suspect. If that line is right elsewhere, adds the
 * nearest calling line that is not. */
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

/* The suspect with the highest score among settings and numbers that the line uses and A does
 * not have. NULL: none. */
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

/* The value at the line that bound it to a name. For an argument this is a value of a calling
 * line. */
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

/* The weight in the input's statement to blame: one that A does not have, or one whose
 * replacement by a weight of A gives the formula of A's `other`. MATCH_NONE: none. */
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

/* Blames the weights of B that are rows of A's weight `whole`: one of them has the rows of
 * another. */
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

/* Blames the weight `weight` among the inputs of the content's statement. */
static void
blame_weight(struct proof *proof, uint32_t content, uint32_t weight, uint32_t other)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *run = contents[1].run;
    uint32_t first = contents[1].items[content].first;

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

/* The value of content `input` that the content's statement reads. MATCH_NONE: none. */
static uint32_t
find_read(const struct match_contents *b, uint32_t content, uint32_t input)
{
    const struct match_run *run = b->run;
    uint32_t first = b->items[content].first;

    for (uint32_t k = run->in.first[first]; k < run->in.first[first + 1]; k++) {
        if (run->values[run->in.items[k]].content == input) {
            return run->in.items[k];
        }
    }
    return MATCH_NONE;
}

/* Whether the call has a value of the content before value `before`. */
static bool is_at_hand(const struct match_contents *b,
                       uint32_t call,
                       uint32_t content,
                       uint32_t before)
{
    for (uint32_t i = content == MATCH_NONE ? content : b->items[content].first;
         i != MATCH_NONE && i < before; i = b->next[i]) {
        if (b->run->values[i].call == call) {
            return true;
        }
    }
    return false;
}

/* Adds the line that chose the input although A's value was available in its call: the content's
 * own statement, or a calling line that passed the input as an argument. NULL: none. */
static struct match_suspect *
add_chooser(struct proof *proof, uint32_t content, uint32_t input, uint32_t other)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    const struct match_run *run = b->run;
    uint32_t right = proof->ranking->match->contents[0].items[other].partner;
    uint32_t value = b->items[content].first, read = find_read(b, content, input);
    struct match_suspect *suspect;

    while (!is_at_hand(b, run->values[value].call, right, value)) {
        const struct match_value *passed =
            read == MATCH_NONE ? NULL : &run->values[read];
        uint32_t source = MATCH_NONE;

        if (passed == NULL || !passed->is_argument || read >= value) {
            return NULL;
        }
        for (uint32_t k = run->in.first[read]; k < run->in.first[read + 1]; k++) {
            if (run->values[run->in.items[k]].content == input &&
                run->in.items[k] < read) {
                source = run->in.items[k];
            }
        }
        if (source == MATCH_NONE ||
            run->values[source].call != run->calls[passed->call].parent) {
            return NULL;
        }
        /* continue with the caller's statement, which made the argument */
        value = read;
        read = source;
        if (is_at_hand(b, run->values[source].call, right, value)) {
            break;
        }
    }
    suspect = value == b->items[content].first ? add_responsible(proof, value)
                                               : match_add_line(proof->ranking, value);
    if (suspect != NULL) {
        suspect->is_chosen = true;
    }
    return suspect;
}

/* Blames an input that differs from A's: the weight itself, the wrong weight that the input was
 * made with, or the line that reads the wrong value. */
static void
blame_input(struct proof *proof, uint32_t content, uint32_t input, uint32_t other)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    struct match_suspect *chooser;
    uint32_t weight;

    if (contents[1].items[input].is_weight) {
        blame_weight(proof, content, input, other);
        return;
    }
    weight = find_wrong_weight(proof, input, other);
    if (weight != MATCH_NONE) {
        blame_weight(proof, input, weight, MATCH_NONE);
        return;
    }
    chooser = add_chooser(proof, content, input, other);
    match_blame(chooser != NULL
                    ? chooser
                    : add_responsible(proof, contents[1].items[content].first),
                MATCH_REASON_INPUT, SCORE_PROVED);
}

/* The mask among the statement's inputs whose share of zero or non-zero elements is `share`.
 * MATCH_NONE: none. */
static uint32_t find_mask(const struct match_run *run, uint32_t number, double share)
{
    for (uint32_t k = run->in.first[number]; k < run->in.first[number + 1]; k++) {
        const struct match_value *value = &run->values[run->in.items[k]];

        double own = value->shape == NULL || value->statistics->count == 0
                         ? NAN
                         : (double)value->statistics->zero_count /
                               (double)value->statistics->count;

        if ((fabs(own - share) < 1e-9 || fabs(1 - own - share) < 1e-9) &&
            (value->shape->dtype == DTYPE_BOOL || match_is_mask(value))) {
            return run->in.items[k];
        }
    }
    return MATCH_NONE;
}

static void blame_number(struct proof *proof, uint32_t content, double number)
{
    const struct match_run *run = &proof->ranking->match->runs[1];
    uint32_t first = proof->ranking->match->contents[1].items[content].first;
    uint32_t mask = find_mask(run, first, number);
    struct match_suspect *setting = find_setting(proof, first);
    uint32_t module,
        line = match_find_made_with(proof->ranking, first, number, &module);

    if (mask == MATCH_NONE && line != 0) {
        struct match_suspect suspect = {.value = first,
                                        .other = MATCH_NONE,
                                        .module = module,
                                        .line = line,
                                        .number = number};

        match_blame(match_add_suspect(proof->ranking, &suspect), MATCH_REASON_FORM,
                    SCORE_PROVED);
        return;
    }
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

/* A number in the statement of `above` that is wrong: replacing it by a number of A gives the
 * content, which was made from `above`, a formula of A. NaN: none. */
static double find_wrong_number(struct proof *proof, uint32_t content, uint32_t above)
{
    const struct match_meanings *a = &proof->meanings[0];
    struct match_meanings *b = &proof->meanings[1];
    double numbers[8], found = NAN;
    size_t count;

    b->number_count = 0;
    match_meaning_of_statement(b, above);
    count = b->number_count < 8 ? b->number_count : 8;
    memcpy(numbers, b->numbers, count * sizeof *numbers);
    for (size_t i = 0; i < count && isnan(found); i++) {
        if (has_number(a, numbers[i])) {
            continue;
        }
        b->number = numbers[i];
        for (size_t k = 0; k < a->number_count && isnan(found); k++) {
            b->other_number = a->numbers[k];
            if (above != content) {
                match_meanings_forget(b, above, content);
            }
            if (b->other_number != b->number &&
                match_proof_repair(proof, content, MATCH_NONE, formula_unknown()) >=
                    (above == content ? FORMULA_INSIDE : FORMULA_WHOLE)) {
                found = numbers[i];
            }
        }
    }
    b->number = NAN;
    if (above != content) {
        match_meanings_forget(b, above, content);
    }
    return found;
}

/* Whether the content is an argument of a call of the run. */
static bool is_passed(const struct match_contents *contents, uint32_t content)
{
    for (uint32_t i = contents->items[content].first; i != MATCH_NONE;
         i = contents->next[i]) {
        if (contents->run->values[i].is_argument) {
            return true;
        }
    }
    return false;
}

/* Counts the tensors that were passed both to A's call and to B's call. */
static unsigned
count_common_arguments(const struct proof *proof, uint32_t of_a, uint32_t of_b)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *a = contents[0].run, *b = contents[1].run;
    unsigned count = 0;

    for (uint32_t i = 0; i < b->value_count; i++) {
        uint32_t partner = b->values[i].call == of_b && b->values[i].is_argument &&
                                   b->values[i].content != MATCH_NONE
                               ? contents[1].items[b->values[i].content].partner
                               : MATCH_NONE;

        for (uint32_t k = partner == MATCH_NONE ? partner
                                                : contents[0].items[partner].first;
             k != MATCH_NONE; k = contents[0].next[k]) {
            if (a->values[k].call == of_a && a->values[k].is_argument) {
                count++;
                break;
            }
        }
    }
    return count;
}

/* Whether the missing step belongs to the call that made B's value rather than to the call
 * `read` that reads it: the call of A that makes the step has at least as many arguments in
 * common with the former. */
static bool is_made_there(const struct proof *proof, uint32_t content, uint32_t read)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *a = &contents[0], *b = &contents[1];
    uint32_t partner = b->items[content].partner,
             made = b->run->values[b->items[content].first].call;

    for (uint32_t o = a->out.first[partner]; o < a->out.first[partner + 1]; o++) {
        uint32_t step = a->out.items[o];
        uint32_t call = a->run->values[a->items[step].first].call;

        if (a->items[step].partner == MATCH_NONE && !a->items[step].is_weight) {
            unsigned common = count_common_arguments(proof, call, made);

            return made != read && common > 0 &&
                   common >= count_common_arguments(proof, call, read);
        }
    }
    return false;
}

/* Blames the reader of a content that both programs have, because the step is missing where the
 * content is read: the first such line, or the line that passes the content to a function if A
 * passes it to none. */
static bool blame_reader(struct proof *proof, uint32_t content)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_contents *b = &contents[1];
    const struct match_run *run = b->run;
    uint32_t partner = b->items[content].partner;

    for (uint32_t o = b->out.first[content];
         partner != MATCH_NONE && o < b->out.first[content + 1]; o++) {
        uint32_t reader = b->out.items[o], read = find_read(b, reader, content);
        bool is_passing;

        if (!match_proof_is_open(b, reader) || read == MATCH_NONE) {
            continue;
        }
        is_passing = run->values[read].is_argument && !is_passed(&contents[0], partner);
        read = is_passing ? read : b->items[reader].first;
        if (is_made_there(proof, content,
                          is_passing ? run->calls[run->values[read].call].parent
                                     : run->values[read].call)) {
            return false;
        }
        match_blame(match_add_line(proof->ranking, read), MATCH_REASON_FORM_MISSING,
                    SCORE_PROVED);
        return true;
    }
    return false;
}

/* Blames the line that stopped one step before A's. If A's step is in a return, this is the line
 * that returned the value. */
static void blame_stop(struct proof *proof, uint32_t content, uint32_t of_a)
{
    const struct match_contents *contents = proof->ranking->match->contents;
    const struct match_run *b = contents[1].run;
    uint32_t first = contents[1].items[content].first, best = first;
    const struct site *site =
        of_a == MATCH_NONE
            ? NULL
            : match_run_site(contents[0].run,
                             &contents[0].run->values[contents[0].items[of_a].first]);
    bool is_return = site != NULL && site->kind == SITE_RETURN, is_right = true;

    if (blame_reader(proof, content)) {
        return;
    }
    assert(of_a < contents[0].count);
    for (uint32_t i = first; i != MATCH_NONE; i = contents[1].next[i]) {
        const struct site *own = match_run_site(b, &b->values[i]);

        if (b->values[i].is_argument || b->values[i].is_weight || own == NULL) {
            continue;
        }
        if (is_right && !match_is_innocent(proof->ranking, &b->values[i])) {
            best = i; /* skips what a helper returns that is right elsewhere */
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

/* Whether A makes some content from both. */
static bool
is_used_with(const struct match_contents *a, uint32_t value, uint32_t weight)
{
    for (uint32_t o = a->out.first[value]; o < a->out.first[value + 1]; o++) {
        if (match_is_step(a, weight, a->out.items[o])) {
            return true;
        }
    }
    return false;
}

/* Blames the call if its statement uses several weights and A uses none of them on the same
 * input: another module was called. */
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

/* Blames two inputs of the content if exchanging them gives a formula of A. */
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

/* Whether the call that made the value has an earlier tensor that nothing reads. */
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

/* Blames an input made of positions or indices whose formula is nowhere in A. Positions can be
 * compared because all programs count from 0. */
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
            match_proof_find_in_a(proof, &formula) == FORMULA_NOWHERE) {
            match_blame(match_add_line(proof->ranking, b->items[input].first),
                        MATCH_REASON_FORM, SCORE_PROVED);
            return true;
        }
    }
    return false;
}

/* The content of B that equals what A adds. MATCH_NONE: none. */
static uint32_t find_added(struct proof *proof)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    for (uint32_t i = 0; i < b->count && i < PROOF_CONTENTS_MAX; i++) {
        struct formula own;

        if (b->items[i].is_weight || b->items[i].is_weak) {
            continue;
        }
        own = match_meaning_of(&proof->meanings[1], i);
        if (formula_find(&own, &proof->added) == FORMULA_WHOLE) {
            return i;
        }
    }
    return MATCH_NONE;
}

/* Blames the last line that bound the content to a name in a call where the value that A adds
 * was available. */
static void blame_last_maker(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    uint32_t last = b->items[content].first, added = find_added(proof);

    for (uint32_t i = last; i != MATCH_NONE; i = b->next[i]) {
        const struct site *site = match_run_site(b->run, &b->run->values[i]);
        bool is_name = site != NULL && site->kind != SITE_RETURN;

        if (is_name && !b->run->values[i].is_argument && !b->run->values[i].is_weight &&
            (added == MATCH_NONE || is_at_hand(b, b->run->values[i].call, added, i))) {
            last = i;
        }
    }
    match_blame(match_add_line(proof->ranking, last), MATCH_REASON_FORM_MISSING,
                SCORE_PROVED);
}

/* Blames a missing step of A between an input and the content. If the call made a value and
 * never read it, the content's line left it out. If a sum is missing, the last line that bound
 * the input did. If a function is missing, the lines that made the input did. */
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
        bool is_idle = missing == MISSING_VALUE && has_idle_value(proof, first);

        if (missing == MISSING_NOTHING) {
            continue;
        }
        if (missing == MISSING_VALUE && !is_idle) {
            blame_last_maker(proof, input);
        } else if (is_idle || !blame_reader(proof, input)) {
            match_blame_makers(proof->ranking, input, MATCH_REASON_FORM_MISSING,
                               is_idle ? SCORE_PROVED / 2 : SCORE_PROVED);
        }
        match_blame(match_add_line(proof->ranking, first), MATCH_REASON_FORM,
                    is_idle ? SCORE_PROVED : SCORE_PROVED / 2);
        return true;
    }
    return false;
}

/* Blames an input if another value that both runs have gives a formula of A in its place. With
 * `is_common`, tries only inputs that both runs have, and weights. */
static bool blame_other_value(struct proof *proof, uint32_t content, bool is_common)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        uint32_t input = b->in.items[k], other;

        if (is_common && b->items[input].partner == MATCH_NONE &&
            !b->items[input].is_weight) {
            continue;
        }
        other = match_proof_other_value(proof, content, input);
        if (other != MATCH_NONE) {
            blame_input(proof, content, input, other);
            return true;
        }
    }
    return false;
}

/* Blames a number that A does not have, in a line that made an input. */
static bool blame_number_above(struct proof *proof,
                               uint32_t content,
                               uint32_t above,
                               unsigned depth)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];

    for (uint32_t k = b->in.first[above]; k < b->in.first[above + 1]; k++) {
        uint32_t input = b->in.items[k];
        double number;

        if (b->items[input].partner != MATCH_NONE || b->items[input].is_weight) {
            continue;
        }
        number = find_wrong_number(proof, content, input);
        if (!isnan(number)) {
            blame_number(proof, input, number);
            return true;
        }
        if (depth > 0 && blame_number_above(proof, content, input, depth - 1)) {
            return true;
        }
    }
    return false;
}

void match_proof_blame(struct proof *proof, uint32_t content)
{
    const struct match_contents *b = &proof->ranking->match->contents[1];
    uint32_t first = b->items[content].first;
    struct match_suspect *setting = find_setting(proof, first);
    double number = find_wrong_number(proof, content, content);

    if (!isnan(number)) {
        blame_number(proof, content, number);
        return;
    }
    if (blame_position(proof, content) || blame_other_value(proof, content, true) ||
        blame_above(proof, content) || blame_missing(proof, content) ||
        blame_module(proof, content) || blame_exchanged(proof, content) ||
        blame_number_above(proof, content, content, 3) ||
        blame_other_value(proof, content, false)) {
        return;
    }
    match_blame(setting != NULL ? setting : add_responsible(proof, first),
                MATCH_REASON_FORM, SCORE_PROVED);
}
