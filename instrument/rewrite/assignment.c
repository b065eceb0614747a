/* Assignments of every shape. */
#include "instrument/rewrite/passing.h"

/* `o.x = e`: the value is a name that stands there already, or is caught by one more target,
 * the last: nothing is kept where setting the attribute fails. */
static void pass_attribute(struct rewriter *rewriter,
                           struct passing *passing,
                           uint32_t attribute,
                           struct slice direct,
                           uint32_t value)
{
    const struct syntax_node *node = node_at(rewriter, value);
    struct slice name = attribute_name(rewriter, attribute);

    passing->is_all_changed = false;
    if (direct.size > 0) {
        passing_add(rewriter, passing, name, SITE_SOURCE_VALUE, direct);
    } else if (node->kind == KIND_IDENTIFIER) {
        passing_add(rewriter, passing, name, SITE_SOURCE_VALUE,
                    text_of(rewriter, value));
    } else if (is_short_constant(rewriter, value)) {
        passing_add(rewriter, passing, name, SITE_SOURCE_VALUE,
                    text_of(rewriter, value));
    } else if (passing->has_temporary) {
        passing_add(rewriter, passing, name, SITE_SOURCE_VALUE,
                    rewriter->forms.temporary);
    } else if (rewriter->place->is_names_only) {
        passing_peek(rewriter, passing, attribute);
    } else {
        passing_add(rewriter, passing, name, SITE_SOURCE_VALUE,
                    rewriter->forms.temporary);
        passing->has_temporary = true;
        if (passing->is_recorded) {
            size_t begin = edits_begin(rewriter->edits);

            buffer_add(&rewriter->edits->text, rewriter->forms.temporary);
            buffer_add(&rewriter->edits->text, SLICE(" = "));
            edits_end(rewriter->edits, begin, node->start, EDIT_BEFORE);
        }
    }
}

void bind_targets(struct rewriter *rewriter,
                  uint32_t first,
                  uint32_t end,
                  uint32_t site)
{
    for (uint32_t i = scope_next_target(&rewriter->syntax, first, end); i < end;
         i = scope_next_target(&rewriter->syntax, i + 1, end)) {
        scope_bind(&rewriter->place->scope, rewriter->names.of_node[i], site);
    }
}

/* Reads in a target: the index of a subscript, the object of an attribute. */
static void read_target(struct rewriter *rewriter, uint32_t target)
{
    struct reads *reads = &rewriter->draft.reads;
    uint32_t end = node_at(rewriter, target)->next;

    for (uint32_t i = target; i < end;) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;

        if (kind == KIND_SUBSCRIPT) {
            reads_add(reads, &rewriter->place->scope, i, node_at(rewriter, i)->next);
            i = node_at(rewriter, i)->next;
        } else if (kind == KIND_ATTRIBUTE) {
            reads_add(reads, &rewriter->place->scope, i + 1,
                      node_at(rewriter, i + 1)->next);
            i = node_at(rewriter, i)->next;
        } else {
            i++;
        }
    }
}

/* The direct name among the targets of `a = o.x = e`, which has the value too. */
static struct slice direct_name(const struct rewriter *rewriter, uint32_t assignment)
{
    while (node_at(rewriter, assignment)->kind == KIND_ASSIGNMENT) {
        uint32_t left = assignment + 1;

        if (node_at(rewriter, left)->kind == KIND_IDENTIFIER) {
            return text_of(rewriter, left);
        }
        assignment = syntax_last(&rewriter->syntax, assignment);
    }
    return (struct slice){NULL, 0};
}

/* `a = o.x = b[i], c = value`: returns the value's node, 0 where there is none. */
static uint32_t value_of(const struct rewriter *rewriter, uint32_t assignment)
{
    while (node_at(rewriter, assignment)->kind == KIND_ASSIGNMENT) {
        uint32_t last = syntax_last(&rewriter->syntax, assignment);

        if (last == assignment + 1 || node_at(rewriter, last)->kind == KIND_TYPE) {
            return 0;
        }
        assignment = last;
    }
    return assignment;
}

void rewrite_assignment(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t assignment = statement + 1;
    uint32_t value = value_of(rewriter, assignment);
    struct slice direct = direct_name(rewriter, assignment);
    bool is_chain;
    uint32_t site;
    struct passing passing;

    if (value == 0) {
        return;
    }
    rewrite_walruses(rewriter, statement, node_at(rewriter, statement)->next);
    is_chain = syntax_last(&rewriter->syntax, assignment) != value;
    passing_init(&passing, rewriter, statement);
    draft_init(&rewriter->draft, SITE_ASSIGN, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, value,
              node_at(rewriter, value)->next);
    for (uint32_t i = assignment; i != value; i = syntax_last(&rewriter->syntax, i)) {
        uint32_t target = i + 1;

        read_target(rewriter, target);
        switch (node_at(rewriter, target)->kind) {
        case KIND_ATTRIBUTE:
            pass_attribute(rewriter, &passing, target, direct, value);
            break;
        case KIND_SUBSCRIPT:
            passing_change(rewriter, &passing, target, !is_chain);
            break;
        default:
            passing_targets(rewriter, &passing, target);
        }
    }
    if (passing.is_all_changed) {
        rewriter->draft.kind = SITE_MUTATE;
    }
    site = passing_finish(rewriter, &passing, statement, is_last);
    for (uint32_t i = assignment; i != value; i = syntax_last(&rewriter->syntax, i)) {
        bind_targets(rewriter, i + 1, node_at(rewriter, i + 1)->next, site);
    }
}

/* A value that needs parentheses to stand inside an expression: `a, b`, `yield a`. */
static bool is_list(const struct rewriter *rewriter, uint32_t value)
{
    switch (node_at(rewriter, value)->kind) {
    case KIND_EXPRESSION_LIST:
    case KIND_PATTERN_LIST:
    case KIND_LIST_SPLAT:
    case KIND_YIELD:
        return true;
    default:
        return false;
    }
}

/* `self.x: T = e` has no room for one more target: the value is caught in place. */
void rewrite_annotated(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t target = statement + 2;
    uint32_t value = value_of(rewriter, statement + 1);
    const struct syntax_node *node = node_at(rewriter, value);
    struct passing passing;

    if (value == 0) {
        return;
    }
    rewrite_walruses(rewriter, value, node->next);
    passing_init(&passing, rewriter, statement);
    draft_init(&rewriter->draft, SITE_ASSIGN, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, value, node->next);
    read_target(rewriter, target);
    if (node_at(rewriter, target)->kind == KIND_SUBSCRIPT) {
        rewriter->draft.kind = SITE_MUTATE;
        passing_change(rewriter, &passing, target, false);
    } else if (node_at(rewriter, target)->kind != KIND_ATTRIBUTE) {
        passing_targets(rewriter, &passing, target);
    } else if (node->kind == KIND_IDENTIFIER || is_short_constant(rewriter, value) ||
               rewriter->place->is_names_only) {
        pass_attribute(rewriter, &passing, target, (struct slice){NULL, 0}, value);
    } else if (is_list(rewriter, value)) {
        passing_peek(rewriter, &passing, target);
    } else {
        passing_catch(rewriter, &passing, target, value);
    }
    bind_targets(rewriter, target, node_at(rewriter, target)->next,
                 passing_finish(rewriter, &passing, statement, is_last));
}

void rewrite_augmented(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t target = statement + 2;
    struct passing passing;

    rewrite_walruses(rewriter, statement, node_at(rewriter, statement)->next);
    passing_init(&passing, rewriter, statement);
    draft_init(&rewriter->draft, SITE_ASSIGN, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, target,
              node_at(rewriter, statement)->next);
    switch (node_at(rewriter, target)->kind) {
    case KIND_SUBSCRIPT:
        rewriter->draft.kind = SITE_MUTATE;
        passing_change(rewriter, &passing, target, true);
        break;
    default:
        passing_targets(rewriter, &passing, target);
    }
    bind_targets(rewriter, target, node_at(rewriter, target)->next,
                 passing_finish(rewriter, &passing, statement, is_last));
}
