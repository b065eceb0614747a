/* Blocks and the module: how records that wait find a statement that carries them. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

/* --every-line: a site for each statement that has none, and for the headers of compound ones. */

static bool wants_line(const struct rewriter *rewriter)
{
    return rewriter->choice.selection->every_line &&
           rewriter->place->kind != SCOPE_CLASS;
}

/* A site is known by the text of its statement or header, from its `first` node up to `end`. */
static struct record
line_make(struct rewriter *rewriter, uint32_t node, uint32_t first, uint32_t end)
{
    draft_init(&rewriter->draft, SITE_LINE, rewriter->place->function, node);
    draft_condition(&rewriter->draft,
                    slice_part(rewriter->syntax.text, node_at(rewriter, first)->start,
                               node_at(rewriter, end - 1)->end));
    return record_make(rewriter, NULL, 0);
}

/* Statements after it are not reached. */
static bool is_leaving(enum kind kind)
{
    return kind == KIND_RAISE_STATEMENT || kind == KIND_BREAK_STATEMENT ||
           kind == KIND_CONTINUE_STATEMENT;
}

/* Before a statement that is left: raise, break, continue. */
static void line_before_simple(struct rewriter *rewriter, uint32_t statement)
{
    struct pending pending = {.count = 0};
    struct record record;

    if (wants_line(rewriter) &&
        is_leaving((enum kind)node_at(rewriter, statement)->kind)) {
        record = line_make(rewriter, statement, statement,
                           node_at(rewriter, statement)->next);
        pending_add(&pending, &record);
        insert_before(rewriter, statement, &pending);
    }
}

/* Behind another one, which has got no site. */
static void
line_after_simple(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    struct record record;

    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;

    /* Nothing may precede another `from __future__ import`. */
    if (!wants_line(rewriter) || is_leaving(kind) ||
        kind == KIND_FUTURE_IMPORT_STATEMENT) {
        return;
    }
    record =
        line_make(rewriter, statement, statement, node_at(rewriter, statement)->next);
    if (rewriter->place->later != NULL) {
        pending_add(rewriter->place->later, &record);
    } else {
        insert_after(rewriter, statement, is_last, &record, 1, NULL, 0, false);
    }
}

void line_in_header(struct rewriter *rewriter, uint32_t node, struct pending *pending)
{
    uint32_t first = first_child(rewriter, node);
    uint32_t block = child_of_kind(rewriter, node, KIND_BLOCK);
    struct record record;

    if (wants_line(rewriter) && first != 0 && first < block) {
        record = line_make(rewriter, node, first, block);
        pending_add(pending, &record);
    }
}

bool is_definition(enum kind kind)
{
    return kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION ||
           kind == KIND_DECORATED_DEFINITION;
}

/* A string literal whose prefix does not make it bytes or a format. */
static bool is_plain_string(struct slice text)
{
    for (size_t i = 0; i < text.size && text.bytes[i] != '"' && text.bytes[i] != '\'';
         i++) {
        if (strchr("bBfFtT", text.bytes[i]) != NULL) {
            return false;
        }
    }
    return true;
}

/* The strings of a concatenation are not in the flat tree: their quotes are looked for. A
 * concatenation with a format or bytes in it counts as no documentation only where its first string
 * says so; that only moves a record. */
bool is_docstring(const struct rewriter *rewriter, uint32_t statement)
{
    uint32_t string;

    if (node_at(rewriter, statement)->kind != KIND_EXPRESSION_STATEMENT ||
        syntax_child(&rewriter->syntax, statement) == 0 ||
        node_at(rewriter, statement + 1)->next != node_at(rewriter, statement)->next) {
        return false;
    }
    string = syntax_unwrap(&rewriter->syntax, statement + 1);
    return (node_at(rewriter, string)->kind == KIND_STRING ||
            node_at(rewriter, string)->kind == KIND_CONCATENATED_STRING) &&
           is_plain_string(text_of(rewriter, string));
}

bool block_can_carry(const struct rewriter *rewriter, uint32_t block)
{
    for (uint32_t i = syntax_child(&rewriter->syntax, block); i != 0;
         i = syntax_sibling(&rewriter->syntax, block, i)) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;

        if (kind == KIND_ERROR) {
            continue;
        }
        if (kind == KIND_TRY_STATEMENT) {
            uint32_t body = syntax_find(&rewriter->syntax, i, KIND_BLOCK);

            return body != 0 && block_can_carry(rewriter, body);
        }
        if (!is_definition(kind) || definition_can_carry(rewriter, i)) {
            return true;
        }
    }
    return false;
}

/* A record that only the statements of `block` can carry: no site is made where none can. */
struct record record_make_in(struct rewriter *rewriter,
                             uint32_t block,
                             const struct slice *arguments,
                             uint32_t argument_count)
{
    if (block_can_carry(rewriter, block)) {
        return record_make(rewriter, arguments, argument_count);
    }
    sites_add(&rewriter->sites, &rewriter->draft, false);
    return (struct record){.site = SITE_NONE};
}

bool is_dunder_assignment(const struct rewriter *rewriter, uint32_t statement)
{
    uint32_t child = first_child(rewriter, statement);
    struct slice name;

    if (node_at(rewriter, statement)->kind != KIND_EXPRESSION_STATEMENT || child == 0 ||
        (node_at(rewriter, child)->kind != KIND_ASSIGNMENT &&
         node_at(rewriter, child)->kind != KIND_AUGMENTED_ASSIGNMENT) ||
        node_at(rewriter, child + 1)->kind != KIND_IDENTIFIER) {
        return false;
    }
    name = text_of(rewriter, child + 1);
    return slice_starts(name, SLICE("__")) && slice_ends(name, SLICE("__"));
}

bool is_damaged(const struct rewriter *rewriter, uint32_t statement)
{
    if (!node_at(rewriter, statement)->has_error) {
        return false;
    }
    for (uint32_t i = first_child(rewriter, statement); i != 0;
         i = syntax_sibling(&rewriter->syntax, statement, i)) {
        switch (node_at(rewriter, i)->kind) {
        case KIND_BLOCK:
            break;
        case KIND_ELIF_CLAUSE:
        case KIND_ELSE_CLAUSE:
        case KIND_EXCEPT_CLAUSE:
        case KIND_FINALLY_CLAUSE:
            if (is_damaged(rewriter, i)) {
                return true;
            }
            break;
        default:
            if (node_at(rewriter, i)->has_error) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a node that the parser could not read touches the statement: it may have eaten a
 * part of it. */
static bool is_beside_damage(const struct rewriter *rewriter,
                             uint32_t block,
                             uint32_t statement,
                             uint32_t previous)
{
    uint32_t next = syntax_sibling(&rewriter->syntax, block, statement);

    return (next != 0 && node_at(rewriter, next)->kind == KIND_ERROR) ||
           (previous != 0 && node_at(rewriter, previous)->kind == KIND_ERROR);
}

/* A statement for which CPython makes no code: a record before it would give its line an event
 * that it does not have. */
static bool has_no_code(const struct rewriter *rewriter, uint32_t statement)
{
    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;
    uint32_t child = syntax_child(&rewriter->syntax, statement);

    if (kind == KIND_GLOBAL_STATEMENT || kind == KIND_NONLOCAL_STATEMENT) {
        return true;
    }
    if (kind != KIND_EXPRESSION_STATEMENT || child == 0 ||
        node_at(rewriter, child)->next != node_at(rewriter, statement)->next) {
        return false;
    }
    if (node_at(rewriter, child)->kind == KIND_ASSIGNMENT) {
        return rewriter->place->kind == SCOPE_FUNCTION &&
               node_at(rewriter, child + 1)->kind == KIND_IDENTIFIER &&
               node_at(rewriter, syntax_last(&rewriter->syntax, child))->kind ==
                   KIND_TYPE;
    }
    return is_constant(rewriter, child);
}

/* Whether the next statement can carry what is recorded after one that ends on a later line than it
 * starts: there the record would give the last line an event of its own. */
static bool can_carry_over(const struct rewriter *rewriter, uint32_t next)
{
    enum kind kind;

    if (next == 0) {
        return false;
    }
    kind = (enum kind)node_at(rewriter, next)->kind;
    if (node_at(rewriter, next)->has_error || is_definition(kind) ||
        kind == KIND_WHILE_STATEMENT || kind == KIND_TRY_STATEMENT ||
        (rewriter->place->kind == SCOPE_MODULE &&
         is_dunder_assignment(rewriter, next))) {
        return false;
    }
    return is_compound(kind) ||
           (is_sound(rewriter, next) && !has_no_code(rewriter, next));
}

/* Rewrites a simple statement; where every line is wanted and it has no site, it gets one. */
static void
rewrite_and_mark(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t count = rewriter->place->emitted_count;

    line_before_simple(rewriter, statement);
    rewrite_simple(rewriter, statement, is_last);
    if (rewriter->place->emitted_count == count && !has_no_code(rewriter, statement)) {
        line_after_simple(rewriter, statement, is_last);
    }
}

/* Whether a statement of the module is left as it is, because it is nested too deep; of a function,
 * the whole is left. */
static bool is_left_deep(struct rewriter *rewriter, uint32_t statement)
{
    uint32_t deep = rewriter->place->kind != SCOPE_MODULE
                        ? 0
                        : depth_find(&rewriter->depth, 0, statement,
                                     node_at(rewriter, statement)->next);

    if (deep == 0 || (!is_recorded(rewriter, statement) &&
                      !choice_has_statement(&rewriter->choice, statement,
                                            rewriter->place->is_selected))) {
        return false;
    }
    skip_deep(rewriter, statement, deep, (struct slice){NULL, 0});
    return true;
}

/* Rewrites one statement that is no definition. */
static void rewrite_statement(struct rewriter *rewriter,
                              uint32_t block,
                              uint32_t statement,
                              struct pending *pending)
{
    uint32_t next = syntax_sibling(&rewriter->syntax, block, statement);

    if (is_left_deep(rewriter, statement)) {
        return; /* what waits is passed to the next statement */
    }
    if (is_compound((enum kind)node_at(rewriter, statement)->kind)) {
        rewrite_compound(rewriter, statement, pending);
    } else if (rewriter->place->kind == SCOPE_MODULE &&
               is_dunder_assignment(rewriter, statement)) {
        return; /* what waits is passed to the next statement */
    } else if (is_sound(rewriter, statement)) {
        if (next == 0 || !has_no_code(rewriter, statement)) {
            insert_before(rewriter, statement, pending);
            pending->count = 0;
        }
        if (is_on_several_lines(rewriter, statement) &&
            can_carry_over(rewriter, next)) {
            rewriter->place->later = pending;
        }
        rewrite_and_mark(rewriter, statement, next == 0);
        rewriter->place->later = NULL;
    }
}

/* A docstring makes no code, so its line has no event: what waits is passed to the next statement,
 * where that can carry it. */
static void carry_past_docstring(struct rewriter *rewriter,
                                 uint32_t block,
                                 uint32_t docstring,
                                 struct pending *pending)
{
    uint32_t next = syntax_sibling(&rewriter->syntax, block, docstring);

    if (!can_carry_over(rewriter, next)) {
        insert_after(rewriter, docstring, next == 0, pending->items, pending->count,
                     NULL, 0, false);
        pending->count = 0;
    }
}

void rewrite_block(struct rewriter *rewriter,
                   uint32_t block,
                   struct pending *pending,
                   bool has_docstring)
{
    uint32_t previous = 0;

    for (uint32_t i = syntax_child(&rewriter->syntax, block); i != 0;
         previous = i, i = syntax_sibling(&rewriter->syntax, block, i)) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;
        bool has_damage = node_at(rewriter, block)->has_error &&
                          is_beside_damage(rewriter, block, i, previous);

        if (has_docstring && previous == 0 && is_docstring(rewriter, i)) {
            carry_past_docstring(rewriter, block, i, pending);
        } else if (kind == KIND_ERROR || is_damaged(rewriter, i)) {
            if (!is_definition(kind)) {
                skip_damaged(rewriter, i, i, (struct slice){NULL, 0});
            } else {
                rewrite_definition(rewriter, i, pending, true);
            }
        } else if (is_definition(kind)) {
            rewrite_definition(rewriter, i, pending, has_damage);
        } else if (!has_damage) {
            rewrite_statement(rewriter, block, i, pending);
        }
    }
    pending->count = 0;
}

void rewrite_module(struct rewriter *rewriter)
{
    struct place place = {
        .kind = SCOPE_MODULE,
        .is_selected = rewriter->choice.selection->everything,
    };
    struct pending pending = {.count = 0};

    rewriter->has_walrus =
        slice_find(rewriter->syntax.text, SLICE(":="), 0) < rewriter->syntax.text.size;
    if (!scope_open(&place.scope, NULL, SCOPE_MODULE, 0, &rewriter->syntax,
                    &rewriter->names, rewriter->arena) ||
        !inspection_init(&rewriter->inspection, &rewriter->syntax, &rewriter->names,
                         rewriter->arena)) {
        rewriter->has_failed = true;
        return;
    }
    inspection_visit(&rewriter->inspection, &place.scope, 0);
    place.function = sites_add_function(&rewriter->sites, SLICE("<module>"), 1);
    rewriter->place = &place;
    rewrite_block(rewriter, 0, &pending, false);
    rewriter->place = NULL;
}
