/* Why a statement made a NaN or an infinity: its expression is followed with the ranges of what
 * went in, each step that can have made one is noted, and here it is said which it was. */
#include "runtime/view/why/reason/reason.h"

#include "runtime/view/why/reason/range.h"

#include <math.h>

#define REPORTED_MAX 3

/* A cast that stands in no text: what was assigned into has a narrower dtype. */
static void judge_result(struct reasoner *reasoner, struct range *result)
{
    const struct why_question *question = reasoner->question;

    if (dtype_class(question->dtype) == DTYPE_CLASS_FLOATING &&
        result->dtype != question->dtype && result->is_bounded) {
        result->dtype = question->dtype;
        result->is_tensor = true;
        range_overflow(reasoner, result);
    }
}

static bool is_wanted(const struct cause *cause, unsigned made, bool is_certain)
{
    return (cause->makes & made) != 0 && cause->is_certain == is_certain;
}

/* Of what went in infinite, only what makes one of many counts. */
static void keep_absorbing(struct reasoner *reasoner)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < reasoner->count; i++) {
        if (reasoner->causes[i].is_absorbing) {
            reasoner->causes[kept++] = reasoner->causes[i];
        }
    }
    reasoner->count = kept;
}

static uint32_t
count_wanted(const struct reasoner *reasoner, unsigned made, bool is_certain)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reasoner->count; i++) {
        count += is_wanted(&reasoner->causes[i], made, is_certain);
    }
    return count;
}

static void add_causes(const struct reasoner *reasoner,
                       unsigned made,
                       bool is_certain,
                       struct slice separator,
                       struct buffer *text,
                       struct why_answer *answer)
{
    uint32_t reported = 0;

    answer->is_written = true;
    for (uint32_t i = 0; i < reasoner->count && reported < REPORTED_MAX; i++) {
        const struct cause *cause = &reasoner->causes[i];

        if (is_wanted(cause, made, is_certain)) {
            buffer_add(text, reported++ > 0 ? separator : SLICE(""));
            buffer_add(text, slice_part(buffer_slice(&reasoner->words), cause->start,
                                        cause->end));
            answer->is_written = answer->is_written && cause->is_written;
            answer->is_outside = answer->is_outside || cause->is_outside;
        }
    }
    answer->is_written = answer->is_written && reported > 0;
    answer->is_reported = reported > 0;
}

static bool makes_certainly(const struct reasoner *reasoner, unsigned made)
{
    return count_wanted(reasoner, made, true) > 0;
}

/* Of a NaN, steps that made an infinity on the way to it belong to the tale. */
static unsigned widen(const struct reasoner *reasoner, unsigned made)
{
    if ((made & WHY_NAN) == 0) {
        return made;
    }
    return makes_certainly(reasoner, made) ? made : made | WHY_INF;
}

/* How a NaN came of infinities that were made in the same statement. */
static void add_way(const struct reasoner *reasoner, unsigned made, struct buffer *text)
{
    struct why_answer ignored = {0};

    if ((made & WHY_NAN) != 0 && !makes_certainly(reasoner, WHY_NAN) &&
        count_wanted(reasoner, WHY_NAN, false) == 1) {
        buffer_add(text, SLICE("; then "));
        add_causes(reasoner, WHY_NAN, false, SLICE(""), text, &ignored);
    }
}

/* The name that a part is of: `batch` of `batch['x'][0]`. */
static const struct expression *base_of(const struct expressions *all, uint32_t index)
{
    while (all->items[index].kind == EXPRESSION_INDEX ||
           all->items[index].kind == EXPRESSION_ATTRIBUTE) {
        if (all->items[index].left == EXPRESSION_NONE) {
            break;
        }
        index = all->items[index].left;
    }
    return &all->items[index];
}

/* Whether the expression does no more than to hand over what was there, of which nothing is
 * recorded: a name, an attribute, an item, `getattr(value, name)`. */
static bool is_handed_over(struct reasoner *reasoner, uint32_t root)
{
    const struct expression *base = base_of(&reasoner->expressions, root);

    if (base->kind == EXPRESSION_CALL) {
        return base->result == EXPRESSION_NONE && range_hands_over(base);
    }
    return base->kind == EXPRESSION_NAME && !range_is_known(reasoner, base->text);
}

/* Whether the statement is a loop over `for x in …`. */
static bool is_loop(struct slice statement)
{
    return slice_starts(statement, SLICE("for ")) ||
           slice_starts(statement, SLICE("async for "));
}

/* What a loop goes through, of which no recorded line made the items: a call that is not known, a name
 * of which nothing is recorded. EXPRESSION_NONE: there is none. */
static uint32_t find_items(struct reasoner *reasoner, uint32_t index)
{
    const struct expression *item = &reasoner->expressions.items[index];
    uint32_t found = EXPRESSION_NONE;

    if (item->kind == EXPRESSION_NAME) {
        return range_is_known(reasoner, item->text) ? EXPRESSION_NONE : index;
    }
    if (item->kind != EXPRESSION_CALL || item->result != EXPRESSION_NONE) {
        return EXPRESSION_NONE;
    }
    if (!range_gives_items(item->word)) {
        return item->left == EXPRESSION_NONE && !item->is_library &&
                       !range_is_function(item->word)
                   ? index
                   : EXPRESSION_NONE;
    }
    if (item->left != EXPRESSION_NONE) {
        return find_items(reasoner, item->left);
    }
    for (uint32_t i = item->first; i != EXPRESSION_NONE && found == EXPRESSION_NONE;
         i = reasoner->expressions.items[i].next) {
        found = find_items(reasoner, i);
    }
    return found;
}

/* `dist.all_reduce(x)`: the call whose result other ranks had a part in. */
static bool is_collective(const struct reasoner *reasoner, uint32_t index)
{
    static const char *const words[] = {"all_reduce",
                                        "broadcast",
                                        "reduce",
                                        "recv",
                                        "irecv",
                                        "all_gather",
                                        "reduce_scatter",
                                        "scatter",
                                        "all_to_all",
                                        "gather",
                                        "all_gather_into_tensor",
                                        "reduce_scatter_tensor",
                                        "all_to_all_single"};
    const struct expression *call = &reasoner->expressions.items[index];
    struct slice of;

    if (call->kind != EXPRESSION_CALL) {
        return false;
    }
    of = call->left == EXPRESSION_NONE ? call->text
                                       : reasoner->expressions.items[call->left].text;
    if (!slice_equal(of, SLICE("dist")) &&
        slice_find(of, SLICE("distributed"), 0) == of.size) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(call->word, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether the value is no more than handed over by the statement; what it came with is in `answer`. */
static bool
find_handed(struct reasoner *reasoner, uint32_t root, struct why_answer *answer)
{
    const struct why_question *question = reasoner->question;
    uint32_t found = root;

    if (question->callee.size == 0 && is_loop(question->statement)) {
        found = find_items(reasoner, root);
        answer->is_item = answer->is_handed = found != EXPRESSION_NONE;
    } else if (is_collective(reasoner, root)) {
        answer->is_collective = answer->is_handed = true;
    } else {
        answer->is_handed = is_handed_over(reasoner, root);
    }
    if (answer->is_handed) {
        answer->text = reasoner->expressions.items[found].text;
    }
    return answer->is_handed;
}

/* The part of the statement that made the value; NONE: none, and the answer is complete. */
static uint32_t find_root(struct reasoner *reasoner, struct why_answer *answer)
{
    const struct why_question *question = reasoner->question;
    uint32_t root = expression_read(&reasoner->expressions, question->statement);
    uint32_t argument = EXPRESSION_NONE;

    reasoner->callee = EXPRESSION_NONE;
    if (root == EXPRESSION_NONE || reasoner->expressions.has_failed) {
        return EXPRESSION_NONE;
    }
    if (question->callee.size > 0) {
        switch (calls_find_argument(reasoner, &argument)) {
        case CALL_GIVEN:
            root = argument;
            break;
        case CALL_GIVEN_NOT:
            answer->is_default = true;
            return EXPRESSION_NONE;
        default:
            break;
        }
    }
    calls_match(reasoner);
    return find_handed(reasoner, root, answer) ? EXPRESSION_NONE : root;
}

uint32_t reasoner_read(struct reasoner *reasoner)
{
    uint32_t root =
        expression_read(&reasoner->expressions, reasoner->question->statement);

    reasoner->callee = EXPRESSION_NONE;
    if (root == EXPRESSION_NONE || reasoner->expressions.has_failed) {
        return EXPRESSION_NONE;
    }
    calls_match(reasoner);
    return root;
}

bool why_writes_mask(struct slice statement, double number)
{
    static const char *const words[] = {"masked_fill", "masked_fill_", "where", "full",
                                        "full_like",   "new_full",     "fill_"};
    struct expressions all;
    bool has_number = false;
    bool has_mask = slice_find(statement, SLICE("] = -"), 0) < statement.size;

    if (expression_read(&all, statement) == EXPRESSION_NONE) {
        return false;
    }
    for (uint32_t i = 0; i < all.count; i++) {
        const struct expression *item = &all.items[i];

        has_number = has_number ||
                     (item->kind == EXPRESSION_NUMBER && item->number == fabs(number));
        has_mask = has_mask || (item->kind == EXPRESSION_BINARY &&
                                slice_equal(item->word, SLICE("*")));
        for (size_t k = 0; k < sizeof words / sizeof *words && !has_mask; k++) {
            has_mask = item->kind == EXPRESSION_CALL &&
                       slice_equal(item->word, slice_of(words[k]));
        }
    }
    return has_number && has_mask;
}

struct why_answer why_reason_add(struct buffer *text,
                                 const struct why_question *question)
{
    struct reasoner reasoner = {.question = question, .words = BUFFER_INIT};
    struct why_answer answer = {.text = {"", 0}};
    uint32_t root = find_root(&reasoner, &answer);
    unsigned made = question->made;
    struct range result;
    uint32_t certain;
    uint32_t possible;

    if (root != EXPRESSION_NONE) {
        result = range_evaluate(&reasoner, root);
        judge_result(&reasoner, &result);
        if (question->is_absorbed) {
            keep_absorbing(&reasoner);
        }
        made = widen(&reasoner, made);
        certain = count_wanted(&reasoner, made, true);
        possible = count_wanted(&reasoner, made, false);
        if (certain > 0) {
            answer.is_certain = true;
            add_causes(&reasoner, made, true, SLICE("; "), text, &answer);
            add_way(&reasoner, question->made, text);
        } else if (possible > 0 && possible <= REPORTED_MAX) {
            add_causes(&reasoner, made, false, SLICE("; or "), text, &answer);
        } else if (possible == 0) {
            answer.is_impossible = result.is_bounded && range_is_finite(&result);
        }
    }
    text->has_failed = text->has_failed || reasoner.words.has_failed;
    buffer_release(&reasoner.words);
    return answer;
}
