/* The calls of a statement that were recorded: which expression of its text each one is. What a
 * call returned is known then, and was not made inside of it. */
#include "runtime/view/why/reason/range.h"

static struct slice own_name(struct slice qualified)
{
    return slice_last_part(qualified, '.');
}

/* Whether the recorded function runs where an object is called: `self.norm(x)`. */
static bool is_of_object(struct slice name)
{
    return slice_equal(name, SLICE("forward")) || slice_equal(name, SLICE("__call__"));
}

/* Whether the expression may call that function. */
static bool may_call(const struct expression *item, const struct why_input *result)
{
    struct slice name = own_name(result->callee);

    if (item->kind != EXPRESSION_CALL) {
        return false;
    }
    if (slice_equal(item->word, name)) {
        return true;
    }
    return is_of_object(name) && !item->is_library &&
           (result->path.size == 0 || item->word.size == 0 ||
            slice_equal(own_name(result->path), item->word));
}

static bool is_first_of_call(const struct why_question *question, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (question->inputs[i].is_result &&
            question->inputs[i].call == question->inputs[index].call) {
            return false;
        }
    }
    return question->inputs[index].is_result;
}

static bool is_same_function(const struct why_input *a, const struct why_input *b)
{
    return slice_equal(a->callee, b->callee) && slice_equal(a->path, b->path);
}

/* How many recorded calls are of that one's function. */
static uint32_t count_calls(const struct why_question *question, uint32_t index)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < question->input_count; i++) {
        count += is_first_of_call(question, i) &&
                 is_same_function(&question->inputs[i], &question->inputs[index]);
    }
    return count;
}

static uint32_t count_places(const struct expressions *all,
                             const struct why_input *result)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        count += may_call(&all->items[i], result);
    }
    return count;
}

/* The place of a call among those of its function, in the order in which they returned. */
static uint32_t rank_of(const struct why_question *question, uint32_t index)
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i < index; i++) {
        rank += is_first_of_call(question, i) &&
                is_same_function(&question->inputs[i], &question->inputs[index]);
    }
    return rank;
}

/* Expressions stand in the order in which they end, and so are calls evaluated: where there are as
 * many places as recorded calls, the first is the first. */
void calls_match(struct reasoner *reasoner)
{
    const struct why_question *question = reasoner->question;
    struct expressions *all = &reasoner->expressions;

    for (uint32_t i = 0; i < question->input_count; i++) {
        const struct why_input *result = &question->inputs[i];
        uint32_t rank;

        if (!is_first_of_call(question, i) ||
            count_places(all, result) != count_calls(question, i)) {
            continue;
        }
        rank = rank_of(question, i);
        for (uint32_t k = 0; k < all->count; k++) {
            if (may_call(&all->items[k], result) && rank-- == 0) {
                all->items[k].result = i;
                break;
            }
        }
    }
}

/* ---- arguments ---- */

/* Whether the expression makes an object of that class: `Norm(8)` calls `Norm.__init__`. */
static bool may_make(const struct expression *item, const struct why_question *question)
{
    struct slice class = question->callee;

    if (item->kind != EXPRESSION_CALL || !slice_ends(class, SLICE(".__init__"))) {
        return false;
    }
    class = own_name(slice_part(class, 0, class.size - strlen(".__init__")));
    return slice_equal(item->word, class) ||
           (question->class_name.size > 0 &&
            slice_equal(item->word, question->class_name));
}

/* The one expression that calls the function whose argument is asked for; NONE: none or several. */
static uint32_t find_callee(const struct reasoner *reasoner)
{
    const struct why_question *question = reasoner->question;
    struct why_input callee = {.callee = question->callee,
                               .path = question->callee_path};
    uint32_t found = EXPRESSION_NONE;

    for (uint32_t i = 0; i < reasoner->expressions.count; i++) {
        const struct expression *item = &reasoner->expressions.items[i];

        if (!may_make(item, question) && !may_call(item, &callee)) {
            continue;
        }
        if (found != EXPRESSION_NONE) {
            return EXPRESSION_NONE;
        }
        found = i;
    }
    return found;
}

enum call_given calls_find_argument(struct reasoner *reasoner, uint32_t *argument)
{
    const struct why_question *question = reasoner->question;
    const struct expressions *all = &reasoner->expressions;
    uint32_t callee = find_callee(reasoner);
    uint32_t place = 0;
    bool has_rest = false;

    if (callee == EXPRESSION_NONE) {
        return CALL_GIVEN_UNKNOWN;
    }
    reasoner->callee = callee;
    for (uint32_t i = all->items[callee].first; i != EXPRESSION_NONE;
         i = all->items[i].next) {
        const struct expression *item = &all->items[i];

        if (item->kind == EXPRESSION_REST) {
            has_rest = true;
        } else if (item->key.size > 0 ? slice_equal(item->key, question->parameter)
                                      : !has_rest && place++ == question->position) {
            *argument = i;
            return CALL_GIVEN;
        }
    }
    return has_rest ? CALL_GIVEN_UNKNOWN : CALL_GIVEN_NOT;
}
