/* What the two regions read: values that one of them reads alone, and steps of A that B leaves out. */
#include "runtime/view/diff/match/ranking.h"

static void add_input(struct ranking *ranking, unsigned side, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[side]; i++) {
        if (ranking->inputs[side][i] == content) {
            return;
        }
    }
    if (ranking->input_counts[side] < INPUTS_MAX) {
        ranking->inputs[side][ranking->input_counts[side]++] = content;
    }
}

void match_collect_inputs(struct ranking *ranking, unsigned side)
{
    const struct match_contents *contents = &ranking->match->contents[side];

    for (uint32_t i = 0; i < contents->count; i++) {
        if (!ranking->region->is_in[side][i]) {
            continue;
        }
        for (uint32_t k = contents->in.first[i]; k < contents->in.first[i + 1]; k++) {
            uint32_t source = contents->in.items[k];

            if (contents->items[source].partner != MATCH_NONE) {
                add_input(ranking, side, source);
            }
        }
    }
}

/* The lines of the region that read the content. */
static void blame_readers(struct ranking *ranking,
                          uint32_t content,
                          enum match_reason reason,
                          double score)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    for (uint32_t i = contents->out.first[content];
         i < contents->out.first[content + 1]; i++) {
        uint32_t reader = contents->out.items[i];

        if (match_is_suspect(ranking, reader)) {
            match_blame(match_add_line(ranking, contents->items[reader].first), reason,
                        score);
        }
    }
}

static bool has_input(const struct ranking *ranking, unsigned side, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[side]; i++) {
        if (ranking->inputs[side][i] == content) {
            return true;
        }
    }
    return false;
}

/* Whether the region of `side` reads the content, and the other one's does not read its partner. */
static bool
is_read_alone(const struct ranking *ranking, unsigned side, uint32_t content)
{
    const struct match_contents *contents = ranking->match->contents;
    const struct match_content *item = &contents[side].items[content];

    if (item->is_weak || item->is_weight) {
        return false;
    }
    if (side == 1) {
        return !has_input(ranking, 0, item->partner);
    }
    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        if (contents[1].items[ranking->inputs[1][i]].partner == content) {
            return false;
        }
    }
    return true;
}

/* The content that A's region reads where B's reads `input`; MATCH_NONE: none. */
static uint32_t find_replaced(const struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = ranking->match->contents;

    for (size_t i = 0; i < ranking->input_counts[0]; i++) {
        uint32_t other = ranking->inputs[0][i];

        if (is_read_alone(ranking, 0, other) &&
            match_count_of(&contents[0], other) ==
                match_count_of(&contents[1], input)) {
            return other;
        }
    }
    return MATCH_NONE;
}

/* The weight with the highest score among the inputs of the content; NULL: none. */
static struct match_suspect *find_weight_above(struct ranking *ranking,
                                               uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    struct match_suspect *worst = NULL;

    for (uint32_t i = contents->in.first[content]; i < contents->in.first[content + 1];
         i++) {
        for (size_t k = 0; k < ranking->leave->suspect_count; k++) {
            struct match_suspect *suspect = &ranking->leave->suspects[k];

            if (suspect->is_weight &&
                (worst == NULL || suspect->score > worst->score) &&
                contents->run->values[suspect->value].content ==
                    contents->in.items[i]) {
                worst = suspect;
            }
        }
    }
    return worst;
}

/* Whether weights of B's region that A does not have may be parts of A's weight: q of packed q, k and v. */
static bool is_split(const struct ranking *ranking, uint32_t content)
{
    const struct match_contents *contents = &ranking->match->contents[1];

    uint64_t whole = match_count_of(&ranking->match->contents[0], content), parts = 0;

    for (uint32_t i = 0; i < contents->count; i++) {
        if (ranking->region->is_in[1][i] && contents->items[i].is_weight &&
            match_count_of(contents, i) > 0 &&
            whole % match_count_of(contents, i) == 0) {
            parts++;
        }
    }
    return parts > 0 && ranking->match->contents[0].items[content].is_weight;
}

/* Whether no content of B's region reads the partner of A's content. */
static bool is_unread(const struct ranking *ranking, uint32_t content)
{
    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        if (ranking->match->contents[1].items[ranking->inputs[1][i]].partner ==
            content) {
            return false;
        }
    }
    return !is_split(ranking, content);
}

/* Whether A makes `later` from `content` in one step. */
bool match_is_step(const struct match_contents *contents,
                   uint32_t content,
                   uint32_t later)
{
    for (uint32_t i = contents->out.first[content];
         i < contents->out.first[content + 1]; i++) {
        if (contents->out.items[i] == later) {
            return true;
        }
    }
    return false;
}

/* The lines that made the input and gave it its names, but for those that made A's values elsewhere. */
void match_blame_makers(struct ranking *ranking,
                        uint32_t input,
                        enum match_reason reason,
                        double score)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;
    unsigned count = 0;

    for (uint32_t i = contents->items[input].first; i != MATCH_NONE && count < 2;
         i = contents->next[i]) {
        const struct match_value *value = &run->values[i];

        if (!value->is_argument && !value->is_weight &&
            (i == contents->items[input].last || !match_is_innocent(ranking, value))) {
            match_blame(match_add_line(ranking, i), reason,
                        count++ == 0 ? score : score - SCORE_STEP / 4);
        }
    }
}

/* The line that gave the input the name by which the region reads it, where that is not the line that made
 * it: `residual = hidden`. */
static void blame_alias(struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = &ranking->match->contents[1];
    const struct match_run *run = contents->run;

    for (uint32_t i = contents->next[contents->items[input].first]; i != MATCH_NONE;
         i = contents->next[i]) {
        for (uint32_t k = run->out.first[i]; k < run->out.first[i + 1]; k++) {
            uint32_t reader = run->values[run->out.items[k]].content;

            if (reader != MATCH_NONE && match_is_suspect(ranking, reader) &&
                !run->values[i].is_argument) {
                match_blame(match_add_line(ranking, i), MATCH_REASON_INPUT,
                            SCORE_INPUT + 3 * SCORE_STEP);
            }
        }
    }
}

/* Another input of A's step, which B's region does not read; MATCH_NONE: none. */
static uint32_t
find_beside(const struct ranking *ranking, uint32_t step, uint32_t partner)
{
    const struct match_contents *contents = &ranking->match->contents[0];

    for (uint32_t k = contents->in.first[step]; k < contents->in.first[step + 1]; k++) {
        uint32_t beside = contents->in.items[k];

        if (beside != partner && contents->items[beside].partner != MATCH_NONE &&
            !contents->items[beside].is_weak && is_unread(ranking, beside)) {
            return beside;
        }
    }
    return MATCH_NONE;
}

/* A makes something of the input together with a value that B's region does not read: a step that B leaves
 * out, such as a residual or a gain. It may be missing where the input was made, or where it is read. */
static void judge_step(struct ranking *ranking, uint32_t input)
{
    const struct match_contents *contents = ranking->match->contents;
    uint32_t partner = contents[1].items[input].partner, beside = MATCH_NONE,
             step = MATCH_NONE;

    if (contents[1].items[input].is_weak || contents[1].items[input].is_weight) {
        return;
    }
    for (uint32_t i = contents[0].out.first[partner];
         beside == MATCH_NONE && i < contents[0].out.first[partner + 1]; i++) {
        step = contents[0].out.items[i];
        if (ranking->region->is_in[0][step] && !contents[0].items[step].is_weight) {
            beside = find_beside(ranking, step, partner);
        }
    }
    if (beside == MATCH_NONE) {
        return;
    }
    if (step == ranking->region->ends[0]) {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_REORDERED);
    } else if (contents[0].items[beside].is_weight) {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING,
                           SCORE_INPUT + SCORE_STEP);
        blame_readers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_STEP);
    } else {
        match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_INPUT);
        blame_readers(ranking, input, MATCH_REASON_INPUT_MISSING, SCORE_INPUT);
    }
}

/* A value that the region reads where A's reads another one: the weight that made it so, the line that
 * stopped a step before A's, or the lines that read it. */
void match_judge_inputs(struct ranking *ranking)
{
    const struct match_contents *contents = ranking->match->contents;

    for (size_t i = 0; i < ranking->input_counts[1]; i++) {
        uint32_t input = ranking->inputs[1][i];
        uint32_t replaced = is_read_alone(ranking, 1, input)
                                ? find_replaced(ranking, input)
                                : MATCH_NONE;
        struct match_suspect *weight = find_weight_above(ranking, input);

        judge_step(ranking, input);
        if (replaced == MATCH_NONE) {
            continue;
        }
        if (weight != NULL && weight->score >= SCORE_OF_INNOCENT) {
            match_blame(weight, MATCH_REASON_INPUT, SCORE_INPUT);
        } else if (match_is_step(&contents[0], contents[1].items[input].partner,
                                 replaced)) {
            match_blame_makers(ranking, input, MATCH_REASON_INPUT_MISSING,
                               SCORE_INPUT + 2 * SCORE_STEP);
        } else {
            blame_readers(ranking, input, MATCH_REASON_INPUT, SCORE_INPUT);
            blame_alias(ranking, input);
        }
    }
}
