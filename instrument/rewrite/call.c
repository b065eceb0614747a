/* Calls that stand alone: what they may have changed. */
#include "instrument/rewrite/passing.h"

/* A name that another function may delete cannot be passed after a call. */
static bool may_vanish(const struct rewriter *rewriter, uint32_t identifier)
{
    uint32_t name = rewriter->names.of_node[identifier];

    return name == NAME_NONE || (rewriter->names.items[name].is_deleted &&
                                 (rewriter->names.items[name].is_global ||
                                  rewriter->names.items[name].is_nonlocal));
}

static bool is_imported(const struct rewriter *rewriter, uint32_t identifier)
{
    uint32_t name = rewriter->names.of_node[identifier];

    return name != NAME_NONE && rewriter->foreign.imports[name].size > 0;
}

/* Something that a call may have changed: its receiver or an argument. */
static void pass_candidate(struct rewriter *rewriter,
                           struct passing *passing,
                           uint32_t node,
                           bool is_surely_changed)
{
    uint32_t base = subscript_base(rewriter, node);
    uint32_t root = reads_root(&rewriter->syntax, base);
    struct slice text = text_of(rewriter, base);

    if (root == 0 || may_vanish(rewriter, root) || is_imported(rewriter, root)) {
        return;
    }
    if (node_at(rewriter, base)->kind == KIND_IDENTIFIER) {
        if (!slice_equal(text, rewriter->place->self)) {
            passing_add(rewriter, passing, text, SITE_SOURCE_VALUE, text);
        }
    } else if (is_surely_changed) {
        passing_catch(rewriter, passing, base, base);
    } else if (reads_is_dotted(&rewriter->syntax, base)) {
        passing_peek(rewriter, passing, base);
    }
}

/* `add_`, `zero_`: torch's mark of a method that changes its object. */
static bool is_in_place(struct slice method)
{
    return slice_ends(method, SLICE("_")) && !slice_ends(method, SLICE("__"));
}

/* The object of a method; of `a.mul_(b).add_(c)` it is `a`, which both have changed. */
static void
pass_receiver(struct rewriter *rewriter, struct passing *passing, uint32_t callee)
{
    bool is_changed =
        is_in_place(text_of(rewriter, node_at(rewriter, callee)->next - 1));
    uint32_t object = callee + 1;

    while (node_at(rewriter, object)->kind == KIND_CALL &&
           node_at(rewriter, object + 1)->kind == KIND_ATTRIBUTE) {
        uint32_t inner = object + 1;

        if (!is_in_place(text_of(rewriter, node_at(rewriter, inner)->next - 1))) {
            return;
        }
        is_changed = true;
        object = inner + 1;
    }
    pass_candidate(rewriter, passing, object, is_changed);
}

/* `out=(values, indices)` */
static void
pass_items(struct rewriter *rewriter, struct passing *passing, uint32_t tuple)
{
    for (uint32_t i = syntax_child(&rewriter->syntax, tuple); i != 0;
         i = syntax_sibling(&rewriter->syntax, tuple, i)) {
        pass_candidate(rewriter, passing, i, false);
    }
}

static void
pass_arguments(struct rewriter *rewriter, struct passing *passing, uint32_t arguments)
{
    for (uint32_t i = syntax_child(&rewriter->syntax, arguments); i != 0;
         i = syntax_sibling(&rewriter->syntax, arguments, i)) {
        if (node_at(rewriter, i)->kind == KIND_KEYWORD_ARGUMENT) {
            uint32_t value = syntax_last(&rewriter->syntax, i);
            bool is_output = slice_equal(text_of(rewriter, i + 1), SLICE("out"));

            if (is_output && node_at(rewriter, value)->kind == KIND_TUPLE) {
                pass_items(rewriter, passing, value);
            } else {
                pass_candidate(rewriter, passing, value, is_output);
            }
        } else {
            pass_candidate(rewriter, passing, i, false);
        }
    }
}

void passing_reach(struct rewriter *rewriter, struct passing *passing, uint32_t call)
{
    uint32_t object = call;
    uint32_t innermost = call;

    while (node_at(rewriter, object)->kind == KIND_CALL) {
        innermost = object;
        object = subscript_base(rewriter, object + 1);
        if (node_at(rewriter, object)->kind == KIND_ATTRIBUTE) {
            object = subscript_base(rewriter, object + 1);
        }
    }
    if (node_at(rewriter, innermost + 1)->kind == KIND_ATTRIBUTE) {
        pass_candidate(rewriter, passing, object, false);
    }
    if (passing->argument_count == 0) {
        uint32_t arguments =
            syntax_find(&rewriter->syntax, innermost, KIND_ARGUMENT_LIST);

        if (arguments != 0) {
            pass_arguments(rewriter, passing, arguments);
        }
    }
}

/* A call that stands alone may change what it is given. */
void rewrite_call(struct rewriter *rewriter,
                  uint32_t statement,
                  uint32_t call,
                  bool is_last)
{
    uint32_t callee = call + 1;
    uint32_t arguments = syntax_find(&rewriter->syntax, call, KIND_ARGUMENT_LIST);
    struct passing passing;

    passing_init(&passing, rewriter, statement);
    draft_init(&rewriter->draft, SITE_MUTATE, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, call,
              node_at(rewriter, call)->next);
    if (node_at(rewriter, callee)->kind == KIND_ATTRIBUTE) {
        pass_receiver(rewriter, &passing, callee);
    } else if (slice_equal(text_of(rewriter, callee), SLICE("spy_save"))) {
        rewriter->draft.kind = SITE_SPY;
    }
    if (arguments != 0) {
        pass_arguments(rewriter, &passing, arguments);
    }
    passing_finish(rewriter, &passing, statement, is_last);
}
