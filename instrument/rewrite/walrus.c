/* Assignment expressions, recorded in place. */
#include "instrument/rewrite/rewrite.h"

/* Whether the binding inside an expression may be skipped at run time. */
static bool
is_conditional(const struct rewriter *rewriter, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;

        if (kind == KIND_BOOLEAN_OPERATOR || kind == KIND_CONDITIONAL_EXPRESSION ||
            kind == KIND_COMPARISON_OPERATOR) {
            return true;
        }
    }
    return false;
}

/* `n := e` becomes `((n := e) is not _mt and _mt and _mt(i, n) or n)`. */
static void insert_walrus(struct rewriter *rewriter,
                          uint32_t node,
                          struct slice name,
                          const struct record *record)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t start = node_at(rewriter, node)->start;
    uint32_t end = node_at(rewriter, node)->end;
    size_t begin = edits_begin(rewriter->edits);

    buffer_add(text, SLICE("(("));
    edits_end_open(rewriter->edits, begin, start, end, 10);
    begin = edits_begin(rewriter->edits);
    buffer_add(text, SLICE(") is not "));
    buffer_add(text, rewriter->forms.hook);
    buffer_add(text, SLICE(" and "));
    forms_record(&rewriter->forms, record, text);
    buffer_add(text, SLICE(" or "));
    buffer_add(text, name);
    buffer_add_byte(text, ')');
    edits_end_close(rewriter->edits, begin, start, end, 10);
    if (rewriter->place->kind == SCOPE_MODULE && start < rewriter->first_module_edit) {
        rewriter->first_module_edit = start;
    }
}

static void rewrite_walrus(struct rewriter *rewriter, uint32_t node, bool is_certain)
{
    uint32_t target = node + 1;
    struct slice name = text_of(rewriter, target);
    struct record record;

    draft_init(&rewriter->draft, SITE_ASSIGN, rewriter->place->function, node);
    draft_write(&rewriter->draft, name, SITE_SOURCE_VALUE);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope,
              node_at(rewriter, target)->next, node_at(rewriter, node)->next);
    draft_value(rewriter, syntax_last(&rewriter->syntax, node));
    record = record_make(rewriter, &name, 1);
    scope_bind(&rewriter->place->scope, names_of(&rewriter->names, target),
               is_certain ? record.site : SITE_NONE);
    if (record.site != SITE_NONE) {
        insert_walrus(rewriter, node, name, &record);
    }
}

void rewrite_walruses(struct rewriter *rewriter, uint32_t first, uint32_t end)
{
    bool is_certain = false;
    bool is_known = false;

    if (rewriter->place->kind == SCOPE_CLASS) {
        return;
    }
    for (uint32_t i = first; i < end;) {
        switch (node_at(rewriter, i)->kind) {
        case KIND_LAMBDA:
        case KIND_LIST_COMPREHENSION:
        case KIND_SET_COMPREHENSION:
        case KIND_DICTIONARY_COMPREHENSION:
        case KIND_GENERATOR_EXPRESSION:
            i = node_at(rewriter, i)->next;
            break;
        case KIND_NAMED_EXPRESSION:
            if (!is_known) {
                is_certain = !is_conditional(rewriter, first, end);
                is_known = true;
            }
            rewrite_walrus(rewriter, i, is_certain);
            i++;
            break;
        default:
            i++;
        }
    }
}
