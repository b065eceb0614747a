/* Simple statements, kind by kind. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

/* Inserts a record before the statement itself. */
static void insert_own_before(struct rewriter *rewriter,
                              uint32_t statement,
                              const struct record *record)
{
    struct pending pending = {.count = 0};

    pending_add(&pending, record);
    insert_before(rewriter, statement, &pending);
}

/* `return e` becomes `return (_mt_v := (e)) is not _mt and _mt and _mt(i, _mt_v) or _mt_v`. */
static void insert_return(struct rewriter *rewriter,
                          uint32_t statement,
                          uint32_t value,
                          const struct record *record)
{
    const struct forms *forms = &rewriter->forms;
    struct buffer *text = &rewriter->edits->text;
    uint32_t keyword_end =
        node_at(rewriter, statement)->start + (uint32_t)strlen("return");
    uint32_t end = node_at(rewriter, value)->end;
    size_t begin = edits_begin(rewriter->edits);

    buffer_add(text, SLICE(" ("));
    buffer_add(text, forms->value);
    buffer_add(text, SLICE(" := ("));
    edits_end_open(rewriter->edits, begin, keyword_end, end, 0);
    begin = edits_begin(rewriter->edits);
    buffer_add(text, SLICE(")) is not "));
    buffer_add(text, forms->hook);
    buffer_add(text, SLICE(" and "));
    forms_record(forms, record, text);
    buffer_add(text, SLICE(" or "));
    buffer_add(text, forms->value);
    edits_end_close(rewriter->edits, begin, keyword_end, end, 0);
    if (is_on_several_lines(rewriter, statement)) {
        edits_anchor(rewriter->edits, node_at(rewriter, statement)->start, end);
    }
}

static void rewrite_return(struct rewriter *rewriter, uint32_t statement)
{
    uint32_t value = syntax_child(&rewriter->syntax, statement);
    bool is_name = value != 0 && node_at(rewriter, value)->kind == KIND_IDENTIFIER;
    bool is_direct = is_name || (value != 0 && is_short_constant(rewriter, value));
    bool is_before = value == 0 || is_direct || is_constant(rewriter, value) ||
                     rewriter->place->is_names_only;
    struct slice argument =
        is_direct ? text_of(rewriter, value) : rewriter->forms.value;
    struct record record;

    rewrite_walruses(rewriter, statement, node_at(rewriter, statement)->next);
    draft_init(&rewriter->draft, SITE_RETURN, rewriter->place->function, statement);
    if (value != 0) {
        reads_add(&rewriter->draft.reads, &rewriter->place->scope, value,
                  node_at(rewriter, value)->next);
    }
    draft_write(&rewriter->draft, SLICE("return"),
                is_direct || !is_before ? SITE_SOURCE_VALUE : SITE_SOURCE_NONE);
    record = record_make(rewriter, &argument, is_direct || !is_before);
    if (record.site == SITE_NONE) {
        return;
    }
    if (!is_before) {
        insert_return(rewriter, statement, value, &record);
        return;
    }
    insert_own_before(rewriter, statement, &record);
    if (is_name) {
        edits_anchor(rewriter->edits, node_at(rewriter, value)->start,
                     node_at(rewriter, value)->end);
    }
}

bool is_sound(const struct rewriter *rewriter, uint32_t statement)
{
    struct slice text = rewriter->syntax.text;
    uint32_t at = node_at(rewriter, statement)->end;

    if (node_at(rewriter, statement)->has_error) {
        return false;
    }
    while (at < text.size && (text.bytes[at] == ' ' || text.bytes[at] == '\t' ||
                              text.bytes[at] == '\f')) {
        at++;
    }
    return at >= text.size ||
           (text.bytes[at] != '\0' && strchr("\n\r;#\\", text.bytes[at]) != NULL);
}

static void
rewrite_expression(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t expression = statement + 1;

    if (syntax_sibling(&rewriter->syntax, statement, expression) == 0) {
        if (node_at(rewriter, expression)->kind == KIND_AWAIT) {
            expression++;
        }
        if (node_at(rewriter, expression)->kind == KIND_CALL) {
            rewrite_walruses(rewriter, statement, node_at(rewriter, statement)->next);
            rewrite_call(rewriter, statement, expression, is_last);
            return;
        }
    }
    rewrite_walruses(rewriter, statement, node_at(rewriter, statement)->next);
}

void rewrite_simple(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    uint32_t end = node_at(rewriter, statement)->next;
    uint32_t child = syntax_child(&rewriter->syntax, statement);
    struct scope *scope = &rewriter->place->scope;

    switch (node_at(rewriter, statement)->kind) {
    case KIND_EXPRESSION_STATEMENT:
        if (child == 0) {
            break;
        }
        if (node_at(rewriter, child)->kind == KIND_AUGMENTED_ASSIGNMENT) {
            rewrite_augmented(rewriter, statement, is_last);
        } else if (node_at(rewriter, child)->kind != KIND_ASSIGNMENT) {
            rewrite_expression(rewriter, statement, is_last);
        } else if (syntax_find(&rewriter->syntax, child, KIND_TYPE) != 0) {
            rewrite_annotated(rewriter, statement, is_last);
        } else {
            rewrite_assignment(rewriter, statement, is_last);
        }
        break;
    case KIND_RETURN_STATEMENT:
        rewrite_return(rewriter, statement);
        scope->is_reachable = false;
        break;
    case KIND_RAISE_STATEMENT:
        rewrite_walruses(rewriter, statement, end);
        scope->is_reachable = false;
        break;
    case KIND_BREAK_STATEMENT:
    case KIND_CONTINUE_STATEMENT:
        scope->is_reachable = false;
        break;
    case KIND_ASSERT_STATEMENT: /* gone under -O */
        rewrite_walruses(rewriter, statement, end);
        scope_forget(scope, statement, end);
        break;
    case KIND_DELETE_STATEMENT:
        rewrite_walruses(rewriter, statement, end);
        bind_targets(rewriter, statement + 1, end, SCOPE_UNBOUND);
        break;
    case KIND_IMPORT_STATEMENT:
    case KIND_IMPORT_FROM_STATEMENT:
        scope_forget(scope, statement, end);
        if (child_of_kind(rewriter, statement, KIND_WILDCARD_IMPORT) != 0) {
            scope_forget_all(scope);
        }
        break;
    default:
        break;
    }
}
