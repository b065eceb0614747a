/* The ranking of suspects: the lines and weights that may have made B leave A. Each line that made
 * a content of the region is a suspect, and so is each weight that it used. The scores of the
 * evidence for each are added up; docs/internals/diff.md has the table. */
#include "runtime/base/hash/hash.h"
#include "runtime/view/diff/match/ranking.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ---- */

static uint32_t match_find_sibling(struct ranking *ranking, uint32_t number);

enum match_order match_order_of_value(const struct ranking *ranking, uint32_t value)
{
    const struct match *match = ranking->match;
    const struct match_value *b = &match->runs[1].values[value];
    uint32_t partner = match->contents[1].items[b->content].partner;
    enum match_order found = MATCH_ORDER_UNKNOWN;
    unsigned tried = 0;

    assert(value < match->runs[1].value_count);
    for (uint32_t a = match->contents[0].items[partner].first;
         a != MATCH_NONE && tried < 4 * VALUES_MAX;
         a = match->contents[0].next[a], tried++) {
        enum match_order order =
            match_order_of(&match->runs[0], &match->runs[0].values[a], &match->runs[1],
                           b, match->tolerance);

        if (order == MATCH_ORDER_SAME) {
            return order;
        }
        found = order != MATCH_ORDER_UNKNOWN ? order : found;
    }
    return found;
}

/* Whether all inputs of the content have their elements in A's order. */
static bool are_inputs_in_order(const struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    bool has_any = false;

    assert(content < contents->count);
    for (uint32_t i = contents->in.first[content]; i < contents->in.first[content + 1];
         i++) {
        const struct match_content *source = &contents->items[contents->in.items[i]];

        if (source->is_weak) {
            continue;
        }
        has_any |= source->partner != MATCH_NONE;
        if (source->partner != MATCH_NONE &&
            match_order_of_value(ranking, source->last) != MATCH_ORDER_SAME) {
            return false;
        }
    }
    return has_any;
}

/* Blames the lines after the last value in A's order that laid the content out as no value of A
 * is. The score is low, because nothing shows whether they are right. */
static void blame_reshaped(struct ranking *ranking, uint32_t content, uint32_t same)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    uint32_t last = contents->items[content].last;
    unsigned tried = 0;

    assert(content < contents->count);
    if (same == last || match_order_of_value(ranking, last) != MATCH_ORDER_UNKNOWN) {
        return;
    }
    for (uint32_t i = same == MATCH_NONE
                          ? contents->next[contents->items[content].first]
                          : contents->next[same];
         i != MATCH_NONE && tried < VALUES_MAX; i = contents->next[i], tried++) {
        if (!contents->run->values[i].is_weight &&
            !contents->run->values[i].is_argument) {
            match_blame(match_add_line(ranking, i), MATCH_REASON_ORDER,
                        SCORE_REORDERED);
        }
    }
}

/* Blames the line from which on the content has another order than in A. */
static void judge_order(struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    uint32_t same = MATCH_NONE, other = MATCH_NONE,
             first = contents->items[content].first;
    unsigned tried = 0;

    assert(content < contents->count);
    for (uint32_t i = first; i != MATCH_NONE && tried < 4 * VALUES_MAX;
         i = contents->next[i], tried++) {
        enum match_order order = match_order_of_value(ranking, i);

        if (order == MATCH_ORDER_SAME) {
            same = i;
            other = MATCH_NONE;
        } else if (order == MATCH_ORDER_OTHER && other == MATCH_NONE) {
            other = i;
        }
    }
    if (other != MATCH_NONE && same != MATCH_NONE) {
        match_blame(match_add_line(ranking, other), MATCH_REASON_ORDER, SCORE_ORDER);
    } else if (other != MATCH_NONE && are_inputs_in_order(ranking, content)) {
        match_blame(match_add_line(ranking, other), MATCH_REASON_ORDER,
                    SCORE_ORDER / 2);
    } else if (other == MATCH_NONE) {
        blame_reshaped(ranking, content, same);
    }
}

/* ---- weights ---- */

static uint32_t newest_weight(const struct match_contents *contents, uint32_t content)
{
    assert(content < contents->count);

    uint32_t found = contents->items[content].first;

    for (uint32_t i = found; i != MATCH_NONE; i = contents->next[i]) {
        found = contents->run->values[i].is_weight ? i : found;
    }
    return found;
}

static bool is_missing(const struct match_content *item)
{
    return item->is_weight && !item->is_weak && item->keys > 0 && item->holders == 0;
}

/* A weight of A with as many elements that B does not have, or the first of several of equal
 * size that have as many together. MATCH_NONE: none. */
static uint32_t find_missing(const struct ranking *ranking, uint64_t count)
{
    const struct match_contents *contents = &ranking->match->contents[0];

    for (uint32_t i = 0; i < contents->count; i++) {
        uint64_t own = match_count_of(contents, i), all = 0;

        if (!is_missing(&contents->items[i]) || own == 0 || count % own != 0) {
            continue;
        }
        for (uint32_t k = i; k < contents->count && all < count; k++) {
            all += is_missing(&contents->items[k]) && match_count_of(contents, k) == own
                       ? own
                       : 0;
        }
        if (all == count) {
            return i;
        }
    }
    return MATCH_NONE;
}

/* Whether the value is a matrix that is square, or one that is not. The shape of the latter
 * shows whether it is transposed. Axes with one element are ignored. */
static bool is_matrix(const struct match_value *value, bool is_square)
{
    const struct log_shape *shape = value->shape;
    int64_t sizes[2];
    uint32_t count = 0;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (shape->shape[i] != 1 && count++ < 2) {
            sizes[count - 1] = shape->shape[i];
        }
    }
    return count == 2 && (sizes[0] == sizes[1]) == is_square;
}

static const struct match_value *first_piece(const struct ranking *ranking,
                                             const struct match_pack *pack)
{
    const struct match_contents *a = &ranking->match->contents[0];

    return &a->run->values[a->items[pack->pieces[0]].first];
}

static void count_orders(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    for (uint32_t i = 0; i < contents->count; i++) {
        if (contents->items[i].partner != MATCH_NONE && contents->items[i].keys > 0) {
            const struct match_contents *a = &ranking->match->contents[0];
            uint32_t value = newest_weight(contents, i);

            if (is_matrix(&contents->run->values[value], false) &&
                is_matrix(&a->run->values[a->items[contents->items[i].partner].first],
                          false)) {
                ranking->orders[match_order_of_value(ranking, value)]++;
            }
        }
    }
    for (size_t i = 0; i < ranking->match->packs.count; i++) {
        const struct match_pack *pack = &ranking->match->packs.items[i];

        if (pack->side == 1) {
            ranking->pack_orders[pack->order] +=
                is_matrix(first_piece(ranking, pack), false);
            ranking->permutations[pack->is_permuted] += pack->is_ordered;
        }
    }
}

/* Whether the weight is transposed and most others are not, or the reverse. */
static bool is_unlike(const unsigned orders[4], enum match_order order)
{
    return (order == MATCH_ORDER_SAME &&
            orders[MATCH_ORDER_TRANSPOSED] > orders[MATCH_ORDER_SAME]) ||
           (order == MATCH_ORDER_TRANSPOSED &&
            orders[MATCH_ORDER_SAME] > orders[MATCH_ORDER_TRANSPOSED]);
}

static bool is_order_known(enum match_order order)
{
    return order == MATCH_ORDER_SAME || order == MATCH_ORDER_TRANSPOSED;
}

bool match_is_like_others(const struct ranking *ranking, uint32_t value)
{
    return !is_unlike(ranking->orders, match_order_of_value(ranking, value)) &&
           ranking->orders[MATCH_ORDER_SAME] != ranking->orders[MATCH_ORDER_TRANSPOSED];
}

static void judge_weight_order(struct ranking *ranking, uint32_t value)
{
    const struct match_contents *contents = ranking->match->contents;
    const struct match_value *weight = &contents[1].run->values[value];
    enum match_order order = match_order_of_value(ranking, value);
    uint32_t other =
        newest_weight(&contents[0], contents[1].items[weight->content].partner);

    ranking->has_unproved |= !is_order_known(order);
    if (is_matrix(weight, true) && is_unlike(ranking->orders, order)) {
        match_blame(match_add_weight(ranking, value, other), MATCH_REASON_ORDER,
                    SCORE_UNLIKE);
        match_blame(match_add_weight(ranking, value, other), MATCH_REASON_TURNED, 0);
    } else if (order == MATCH_ORDER_OTHER) {
        match_blame(match_add_weight(ranking, value, other), MATCH_REASON_ORDER,
                    SCORE_ORDER_PERHAPS);
    }
}

/* A's weight that the item of B's state dict equals or begins with. MATCH_NONE: none. */
static uint32_t weight_of_a(const struct match_contents *b, uint32_t value)
{
    const struct match_content *item = &b->items[b->run->values[value].content];

    return item->partner != MATCH_NONE ? item->partner : item->whole;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The extra score of one of two equal weights of B. Both state dicts are in the order of the
 * modules, so the wrong one is beside weights nearer to A's missing one than to its own. */
static double nearness(const struct ranking *ranking, uint32_t value, uint32_t missing)
{
    const struct match_contents *b = &ranking->match->contents[1];
    const struct match_run *run = b->run;
    uint32_t own = weight_of_a(b, value);

    assert(value < run->value_count);
    for (unsigned i = 0; i < 2 && own != MATCH_NONE; i++) {
        uint32_t beside = i == 0 ? value - 1 : value + 1, found;

        if (beside >= run->value_count ||
            !match_is_beside(&run->values[beside], &run->values[value])) {
            continue;
        }
        found = weight_of_a(b, beside);
        if (found != MATCH_NONE && found != own &&
            distance(found, missing) < distance(found, own)) {
            return SCORE_STEP;
        }
    }
    return 0;
}

/* Judges a weight that packs several of A's. It is suspect if B has one of the pieces twice, or
 * if the pieces are transposed or ordered unlike those of other packed weights. */
static void
judge_pack(struct ranking *ranking, uint32_t value, const struct match_pack *pack)
{
    const struct match_contents *a = &ranking->match->contents[0];

    for (uint32_t i = 0; i < pack->count; i++) {
        const struct match_content *piece = &a->items[pack->pieces[i]];
        uint32_t missing = find_missing(ranking, match_count_of(a, pack->pieces[i]));

        if (piece->holders > piece->keys) {
            match_blame(
                match_add_weight(ranking, value,
                                 missing == MATCH_NONE ? MATCH_NONE
                                                       : newest_weight(a, missing)),
                MATCH_REASON_TWICE,
                missing != MATCH_NONE ? SCORE_TWICE + nearness(ranking, value, missing)
                                      : SCORE_TWICE - SCORE_STEP);
            return;
        }
    }
    if ((pack->is_ordered && ranking->permutations[pack->is_permuted] <
                                 ranking->permutations[!pack->is_permuted]) ||
        (is_matrix(first_piece(ranking, pack), true) &&
         is_unlike(ranking->pack_orders, pack->order))) {
        match_blame(match_add_weight(ranking, value, newest_weight(a, pack->pieces[0])),
                    MATCH_REASON_ORDER, SCORE_UNLIKE);
    }
    ranking->has_unproved |= !pack->is_ordered;
}

static void judge_weight(struct ranking *ranking, uint32_t value)
{
    const struct match_contents *contents = ranking->match->contents;
    uint32_t content = contents[1].run->values[value].content;
    uint32_t partner = contents[1].items[content].partner;
    uint32_t newest = match_newest_dict(contents[1].run);
    const struct match_pack *pack = match_packs_of(&ranking->match->packs, content);
    uint32_t missing = find_missing(ranking, match_count_of(&contents[1], content));
    uint32_t other =
        missing == MATCH_NONE ? MATCH_NONE : newest_weight(&contents[0], missing);

    if (!match_is_beside(&contents[1].run->values[value],
                         &contents[1].run->values[newest])) {
        /* The weight is an item of a checkpoint, while another copy is used, or an argument. */
        ranking->has_unproved |= partner == MATCH_NONE ||
                                 !is_order_known(match_order_of_value(ranking, value));
        return;
    }
    if (pack != NULL) {
        judge_pack(ranking, value, pack);
        return;
    }
    ranking->has_unproved |= partner == MATCH_NONE;
    if (contents[1].items[content].whole != MATCH_NONE) {
        return; /* layout.c compares the rows */
    }
    if (partner == MATCH_NONE) {
        match_blame(match_add_weight(ranking, value, other), MATCH_REASON_UNKNOWN,
                    missing != MATCH_NONE ? SCORE_UNKNOWN : SCORE_ORDER_PERHAPS);
    } else if (missing != MATCH_NONE &&
               contents[0].items[partner].holders > contents[0].items[partner].keys &&
               contents[0].items[partner].keys > 0) {
        match_blame(match_add_weight(ranking, value, other), MATCH_REASON_TWICE,
                    SCORE_TWICE + nearness(ranking, value, missing));
    } else {
        judge_weight_order(ranking, value);
    }
}

/* Judges the weights that the statements of the content's values used. */
static void
judge_weights_of(struct ranking *ranking, uint32_t content, bool is_first_alone)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    unsigned tried = 0;

    assert(content < contents->count);
    for (uint32_t i = contents->items[content].first;
         i != MATCH_NONE && tried < 4 * VALUES_MAX;
         i = is_first_alone ? MATCH_NONE : contents->next[i], tried++) {
        for (uint32_t k = run->in.first[i]; k < run->in.first[i + 1]; k++) {
            if (run->values[run->in.items[k]].is_weight) {
                judge_weight(ranking, run->in.items[k]);
            }
        }
    }
}

struct weights {
    uint32_t dict; /* an item of the state dict whose weights are collected */
    uint32_t items[VALUES_MAX];
    size_t count;
};

/* Collects the weights among the inputs of the value, and of its inputs down to `depth`. */
static void collect_weights(const struct match_contents *contents,
                            uint32_t value,
                            unsigned depth,
                            struct weights *weights)
{
    const struct match_run *run = contents->run;

    for (uint32_t k = run->in.first[value]; k < run->in.first[value + 1]; k++) {
        uint32_t source = run->in.items[k];
        const struct match_value *item = &run->values[source];

        if (item->is_weight) {
            if (weights->count < VALUES_MAX &&
                match_is_beside(item, &run->values[weights->dict])) {
                weights->items[weights->count++] = source;
            }
        } else if (item->content != MATCH_NONE && depth > 0) {
            collect_weights(contents, contents->items[item->content].first, depth - 1,
                            weights);
        }
    }
}

/* The weight of the sibling that corresponds to `weight`: one of the same shape, or else of the
 * same rank. NULL: none. */
static const struct match_value *find_like(const struct match_run *run,
                                           const struct weights *weights,
                                           const struct match_value *weight)
{
    const struct match_value *found = NULL;

    for (size_t i = 0; i < weights->count; i++) {
        const struct match_value *other = &run->values[weights->items[i]];

        if (other->shape->dimension_count != weight->shape->dimension_count ||
            other == weight) {
            continue;
        }
        if (memcmp(other->shape->shape, weight->shape->shape,
                   other->shape->dimension_count * sizeof *other->shape->shape) == 0) {
            return other;
        }
        found = found == NULL ? other : found;
    }
    return found;
}

/* Compares the weights of a line with those of its sibling, a line that does the same and made a
 * value of A. The weights of the two should have the same order. */
static void judge_siblings(struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    uint32_t value = contents->items[content].first,
             sibling = match_find_sibling(ranking, value);
    struct weights own = {.dict = match_newest_dict(run)}, others = own;

    assert(content < contents->count);
    if (sibling == MATCH_NONE || own.dict == MATCH_NONE) {
        return;
    }
    collect_weights(contents, value, 1, &own);
    collect_weights(contents, sibling, 1, &others);
    for (size_t i = 0; i < own.count; i++) {
        const struct match_value *weight = &run->values[own.items[i]];
        uint32_t partner = contents->items[weight->content].partner;
        const struct match_value *other = find_like(run, &others, weight);
        enum match_order order;

        if (other == NULL || partner == MATCH_NONE ||
            contents->items[other->content].partner == MATCH_NONE) {
            continue;
        }
        order = match_order_of_value(ranking, own.items[i]);
        if (order != match_order_of_value(ranking, (uint32_t)(other - run->values)) ||
            order == MATCH_ORDER_OTHER) {
            match_blame(
                match_add_weight(ranking, own.items[i],
                                 newest_weight(&ranking->match->contents[0], partner)),
                MATCH_REASON_ORDER, SCORE_OF_INNOCENT + SCORE_STEP);
        }
    }
}

/* Judges the packed weights of B from which the region reads a piece that equals a weight of A. */
static void judge_pieces_of(struct ranking *ranking, uint32_t content)
{
    const struct match *match = ranking->match;
    const struct match_contents *b = &match->contents[1];

    assert(content < b->count);
    for (uint32_t k = b->in.first[content]; k < b->in.first[content + 1]; k++) {
        const struct match_content *input = &b->items[b->in.items[k]];
        const struct match_pack *pack =
            input->partner == MATCH_NONE || input->is_weight
                ? NULL
                : match_packs_with(&match->packs, input->partner);

        for (size_t i = 0; pack != NULL && i < match->packs.count; i++) {
            const struct match_pack *other = &match->packs.items[i];
            uint32_t weight = other->side == 1 && other->pieces[0] == pack->pieces[0]
                                  ? match_find_weight(match, other->whole)
                                  : MATCH_NONE;

            if (weight != MATCH_NONE) {
                judge_pack(ranking, weight, other);
            }
        }
    }
}

static void match_judge_weights(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    count_orders(ranking);
    for (uint32_t i = 0; i < contents->count; i++) {
        if (match_is_suspect(ranking, i)) {
            judge_siblings(ranking, i);
            judge_weights_of(ranking, i, true);
            judge_pieces_of(ranking, i);
        }
    }
    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        uint32_t input = ranking->inputs[1][i];

        if (!contents->items[input].is_weight) {
            judge_order(ranking, input);
            judge_weights_of(ranking, input, false);
        }
    }
}

/* The weight among the inputs of the content's values, preferably of the newest state dict
 * rather than of a checkpoint. MATCH_NONE: the weight is read by another name. */
static uint32_t find_read_weight(const struct match_contents *contents,
                                 uint32_t content,
                                 uint32_t input)
{
    const struct match_run *run = contents->run;
    uint32_t newest = match_newest_dict(run), found = MATCH_NONE;

    assert(content < contents->count);
    for (uint32_t i = contents->items[content].first; i != MATCH_NONE;
         i = contents->next[i]) {
        for (uint32_t k = run->in.first[i]; k < run->in.first[i + 1]; k++) {
            const struct match_value *value = &run->values[run->in.items[k]];

            if (value->content == input && value->is_weight &&
                (found == MATCH_NONE || match_is_beside(value, &run->values[newest]))) {
                found = run->in.items[k];
            }
        }
    }
    return found;
}

uint32_t match_find_in_order(struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    uint32_t same = MATCH_NONE;

    assert(content < contents->count);
    for (uint32_t i = contents->items[content].first; i != MATCH_NONE;
         i = contents->next[i]) {
        if (match_order_of_value(ranking, i) == MATCH_ORDER_SAME) {
            same = i;
        }
    }
    return same;
}

bool match_blame_order(struct ranking *ranking, uint32_t content, uint32_t input)
{
    const struct match_contents *contents = ranking->match->contents;
    uint32_t same = MATCH_NONE, weight = find_read_weight(&contents[1], content, input);
    enum match_order order;

    assert(input < contents[1].count);
    if (weight != MATCH_NONE) {
        uint32_t newest = match_newest_dict(contents[1].run);

        if (!match_is_beside(&contents[1].run->values[weight],
                             &contents[1].run->values[newest])) {
            return false; /* of a checkpoint */
        }
        order = match_order_of_value(ranking, weight);
        if (order == MATCH_ORDER_OTHER ||
            (is_matrix(&contents[1].run->values[weight], true) &&
             is_unlike(ranking->orders, order))) {
            match_prove(
                match_add_weight(
                    ranking, weight,
                    newest_weight(&contents[0], contents[1].items[input].partner)),
                MATCH_REASON_ORDER);
            return true;
        }
        return false;
    }
    for (uint32_t i = contents[1].items[input].first; i != MATCH_NONE;
         i = contents[1].next[i]) {
        const struct match_value *value = &contents[1].run->values[i];

        order = match_order_of_value(ranking, i);
        if (order == MATCH_ORDER_SAME) {
            same = i;
        } else if (order == MATCH_ORDER_OTHER && same != MATCH_NONE &&
                   !value->is_weight && !value->is_argument) {
            match_blame(match_add_line(ranking, i), MATCH_REASON_ORDER, SCORE_PROVED);
            return true;
        }
    }
    return false;
}

uint64_t match_count_of(const struct match_contents *contents, uint32_t content)
{
    assert(content < contents->count);
    return contents->run->values[contents->items[content].first].statistics->count;
}

struct match_suspect *match_add_suspect(struct ranking *ranking,
                                        const struct match_suspect *suspect)
{
    struct match_leave *leave = ranking->leave;

    for (size_t i = 0; i < leave->suspect_count; i++) {
        struct match_suspect *other = &leave->suspects[i];

        if (suspect->is_weight
                ? other->is_weight && other->value == suspect->value
                : !other->is_weight && other->module == suspect->module &&
                      other->line == suspect->line) {
            return other;
        }
    }
    if (leave->suspect_count == MATCH_SUSPECTS_MAX) {
        return NULL;
    }
    leave->suspects[leave->suspect_count] = *suspect;
    return &leave->suspects[leave->suspect_count++];
}

void match_blame(struct match_suspect *suspect, enum match_reason reason, double score)
{
    if (suspect != NULL) {
        suspect->score += (suspect->reasons & reason) != 0 ? 0 : score;
        suspect->reasons |= reason;
    }
}

void match_prove(struct match_suspect *suspect, enum match_reason reason)
{
    if (suspect != NULL) {
        suspect->score += SCORE_PROVED;
        suspect->reasons |= reason;
    }
}

uint32_t match_find_weight(const struct match *match, uint32_t content)
{
    const struct match_run *run = &match->runs[1];
    uint32_t newest = match_newest_dict(run);

    for (uint32_t i = 0; newest != MATCH_NONE && i < run->value_count; i++) {
        if (run->values[i].content == content &&
            match_is_beside(&run->values[i], &run->values[newest])) {
            return i;
        }
    }
    return MATCH_NONE;
}

struct match_suspect *match_add_line(struct ranking *ranking, uint32_t value)
{
    const struct match_run *run = &ranking->match->runs[1];
    struct match_suspect suspect = {.value = value, .other = MATCH_NONE, .number = NAN};

    match_place(run, &run->values[value], &suspect.module, &suspect.line);
    return match_add_suspect(ranking, &suspect);
}

/* The first value with the weight's key and numbers: it has the line that stored the weight. */
static uint32_t find_written(const struct match_run *run, uint32_t value)
{
    assert(value < run->value_count);

    const struct match_value *weight = &run->values[value];

    for (uint32_t i = 0; i < value; i++) {
        const struct match_value *other = &run->values[i];

        if (other->is_weight && !other->is_argument && other->has_hash &&
            weight->has_hash && other->hash == weight->hash &&
            slice_equal(other->path, weight->path)) {
            return i;
        }
    }
    return value;
}

struct match_suspect *
match_add_weight(struct ranking *ranking, uint32_t value, uint32_t other)
{
    const struct match_run *run = &ranking->match->runs[1];
    uint32_t written = find_written(run, value);
    struct match_suspect suspect = {.is_weight = true,
                                    .value = value,
                                    .other = other,
                                    .module = run->values[written].module,
                                    .line = run->values[written].line,
                                    .number = NAN};

    return match_add_suspect(ranking, &suspect);
}

/* ---- lines of the region ---- */

bool match_is_suspect(const struct ranking *ranking, uint32_t content)
{
    assert(content < ranking->match->contents[1].count);
    return ranking->region->is_in[1][content] &&
           !ranking->match->contents[1].items[content].is_weight;
}

bool match_is_innocent(const struct ranking *ranking, const struct match_value *value)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;

    for (size_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->site == value->site && other->content != MATCH_NONE &&
            other->content != value->content) {
            const struct match_content *content = &contents->items[other->content];

            if (!content->is_weak &&
                (content->partner != MATCH_NONE ||
                 (content->is_back && !ranking->region->is_in[1][other->content]))) {
                return true;
            }
        }
    }
    return false;
}

/* A hash of the statement without its names: the operations, not their operands. 0: the
 * statement has too few operations to be compared. */
static uint64_t form_of(struct ranking *ranking, const struct match_value *value)
{
    struct slice text;
    struct buffer form = BUFFER_INIT;
    unsigned operations = 0;
    uint32_t module, line;
    uint64_t hash;

    match_place(&ranking->match->runs[1], value, &module, &line);
    match_statement_add(&ranking->match->runs[1].sources, module, line, &ranking->text);
    text = buffer_slice(&ranking->text);
    for (size_t i = 0; i < text.size;) {
        size_t end = i;

        while (end < text.size && (isalnum((unsigned char)text.bytes[end]) ||
                                   text.bytes[end] == '_' || text.bytes[end] == '.')) {
            end++;
        }
        if (end == i || isdigit((unsigned char)text.bytes[i])) {
            end = end == i ? i + 1 : end;
            operations += slice_find(SLICE("(*+@/"), slice_part(text, i, end), 0) < 5;
            buffer_add(&form, slice_part(text, i, end));
        } else if (end < text.size && text.bytes[end] == '(' &&
                   !slice_starts(slice_part(text, i, end), SLICE("self."))) {
            buffer_add(&form, slice_part(text, i, end));
        } else {
            buffer_add_byte(&form, 'n');
        }
        i = end;
    }
    hash = operations < 2 ? 0 : hash_64(buffer_slice(&form));
    buffer_release(&form);
    return hash;
}

/* A value of A that another line of the same call made with the same operations on other values.
 * MATCH_NONE: none. */
static uint32_t match_find_sibling(struct ranking *ranking, uint32_t number)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    const struct match_value *value = &run->values[number];
    uint64_t form = form_of(ranking, value);

    assert(number < run->value_count);
    if (form == 0) {
        return MATCH_NONE;
    }
    for (uint32_t i = 0; i < run->value_count; i++) {
        const struct match_value *other = &run->values[i];

        if (other->content != MATCH_NONE && other->call == value->call &&
            other->site != value->site && !other->is_argument &&
            contents->items[other->content].partner != MATCH_NONE &&
            !contents->items[other->content].is_weak &&
            form_of(ranking, other) == form) {
            return i;
        }
    }
    return MATCH_NONE;
}

static bool has_innocent_form(struct ranking *ranking, uint32_t number)
{
    return match_find_sibling(ranking, number) != MATCH_NONE;
}

static void add_lines(struct ranking *ranking)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    for (uint32_t i = 0; i < contents->count; i++) {
        if (match_is_suspect(ranking, i)) {
            uint32_t first = contents->items[i].first;
            struct match_suspect *suspect = match_add_line(ranking, first);
            bool is_new = suspect != NULL && suspect->reasons == 0;

            match_blame(suspect, MATCH_REASON_STEP,
                        contents->in.first[i] < contents->in.first[i + 1]
                            ? SCORE_STEP
                            : SCORE_CONSTANT);
            ranking->line_count += is_new;
            if (is_new && (match_is_innocent(ranking, &contents->run->values[first]) ||
                           has_innocent_form(ranking, first))) {
                suspect->score += SCORE_INNOCENT;
            }
        }
    }
}

/* ---- the whole ---- */

static int compare_suspects(const void *left, const void *right)
{
    const struct match_suspect *a = left, *b = right;

    if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Adds to the score of the only line of the region, unless there is other evidence against
 * another suspect. */
static void blame_alone(struct ranking *ranking)
{
    struct match_suspect *alone = NULL;

    for (size_t i = 0; i < ranking->leave->suspect_count; i++) {
        struct match_suspect *suspect = &ranking->leave->suspects[i];

        if ((suspect->reasons & MATCH_REASON_STEP) != 0) {
            alone = suspect;
        } else if (suspect->score > SCORE_REORDERED) {
            return;
        }
    }
    if (ranking->line_count == 1 && alone != NULL) {
        alone->score += SCORE_ALONE;
    }
}

/* The score without the evidence from words. Words rank suspects, but do not make one certain. */
static double sure_score(const struct match_suspect *suspect)
{
    double score = suspect->score;

    score -= (suspect->reasons & MATCH_REASON_OPERATION) != 0 ? SCORE_OPERATION : 0;
    score -= (suspect->reasons & MATCH_REASON_MISSING) != 0 ? SCORE_MISSING : 0;
    return score;
}

/* The maximum number of lines in the region for which a number is strong evidence. In a larger
 * region a line may have a number where A has an operation: the 0.5 of a GELU. */
#define NUMBER_LINES_MAX 4

/* Whether there is more evidence than a value that A does not have. A step of A may be two steps
 * of B, with the mistake in the second. */
static bool is_strong(const struct ranking *ranking,
                      const struct match_suspect *suspect)
{
    unsigned reasons = MATCH_REASON_ORDER | MATCH_REASON_UNKNOWN | MATCH_REASON_TWICE |
                       MATCH_REASON_INPUT;

    reasons |= ranking->line_count <= NUMBER_LINES_MAX ? MATCH_REASON_NUMBER : 0;
    return (suspect->reasons & reasons) != 0 && sure_score(suspect) >= CERTAIN_STRONG;
}

/* Whether the only line of the region has the same operations and numbers as A's line. */
static bool is_same_statement(const struct ranking *ranking)
{
    const struct match_words *words = ranking->words;

    return ranking->line_count == 1 && !ranking->has_unproved &&
           match_words_count_common(&words[0], &words[1]) > 0 &&
           match_words_count_foreign(&words[0], &words[1]) == 0 &&
           match_words_count_foreign(&words[1], &words[0]) == 0;
}

/* Whether the line is blamed for a value that was passed to its call. Then the caller's line may
 * be the cause. */
static bool is_of_argument(const struct ranking *ranking,
                           const struct match_suspect *suspect)
{
    const struct match_run *run = &ranking->match->runs[1];

    if (suspect->is_weight || suspect->is_chosen ||
        (suspect->reasons & MATCH_REASON_INPUT) == 0) {
        return false;
    }
    for (uint32_t k = run->in.first[suspect->value];
         k < run->in.first[suspect->value + 1]; k++) {
        const struct match_value *source = &run->values[run->in.items[k]];

        if (source->is_argument && source->shape != NULL &&
            run->calls[source->call].line != 0) {
            return true;
        }
    }
    return false;
}

static bool is_certain(const struct ranking *ranking)
{
    const struct match_leave *leave = ranking->leave;
    const struct match_suspect *first = &leave->suspects[0];

    if (leave->suspect_count == 0 || ranking->has_doubt ||
        is_of_argument(ranking, first) ||
        !(is_strong(ranking, first) ||
          ((first->reasons & MATCH_REASON_STEP) != 0 && is_same_statement(ranking)))) {
        return false;
    }
    return sure_score(first) >= CERTAIN_LEAST &&
           (leave->suspect_count == 1 ||
            sure_score(first) >= leave->suspects[1].score + CERTAIN_MORE);
}

static void settle(struct ranking *ranking)
{
    struct match_leave *leave = ranking->leave;
    const struct match_contents *a = &ranking->match->contents[0];

    blame_alone(ranking);
    if (leave->suspect_count > 1) {
        qsort(leave->suspects, leave->suspect_count, sizeof *leave->suspects,
              compare_suspects);
    }
    leave->is_certain = is_certain(ranking);
    for (size_t i = 0; i < ranking->input_counts[1] && leave->input_count < 4; i++) {
        if (!ranking->match->contents[1].items[ranking->inputs[1][i]].is_weight) {
            leave->inputs[leave->input_count++] = ranking->inputs[1][i];
        }
    }
    if (leave->counterpart != MATCH_NONE) {
        match_place(a->run, &a->run->values[a->items[leave->counterpart].first],
                    &leave->a_module, &leave->a_line);
    }
}

bool match_rank_suspects(struct match *match, const struct match_region *region)
{
    struct ranking ranking = {
        .match = match, .region = region, .leave = &match->leave, .text = BUFFER_INIT};
    bool is_done;

    add_lines(&ranking);
    match_collect_words(&ranking);
    match_collect_inputs(&ranking, 0);
    match_collect_inputs(&ranking, 1);
    match_judge_words(&ranking);
    match_judge_missing(&ranking);
    match_judge_weights(&ranking);
    match_judge_inputs(&ranking);
    match_judge_formulas(&ranking);
    settle(&ranking);
    is_done = !ranking.text.has_failed;
    buffer_release(&ranking.text);
    return is_done;
}

void match_rank_result(struct match *match, uint32_t a, uint32_t b)
{
    assert(b < match->runs[1].value_count);

    struct ranking ranking = {.match = match, .leave = &match->leave};
    const struct match_contents *contents = &match->contents[1];
    uint32_t content = match->runs[1].values[b].content;
    struct match_suspect *suspect;

    count_orders(&ranking);
    for (uint32_t k = content == MATCH_NONE ? 0 : contents->in.first[content];
         content != MATCH_NONE && k < contents->in.first[content + 1]; k++) {
        uint32_t input = contents->in.items[k];

        if (contents->items[input].is_weight &&
            contents->items[input].partner != MATCH_NONE) {
            match_blame_order(&ranking, content, input);
        }
    }
    suspect = match_add_line(&ranking, b);
    suspect->other = a;
    suspect->reasons |= MATCH_REASON_RESULT;
    assert(match->leave.suspect_count > 0);
}
