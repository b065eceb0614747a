/* --every-line: a site for each statement that has none, and for the headers of compound ones. */
#include "instrument/rewrite/rewrite.h"

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

/* What comes after it on its way is not reached. */
static bool is_leaving(enum kind kind)
{
    return kind == KIND_RAISE_STATEMENT || kind == KIND_BREAK_STATEMENT ||
           kind == KIND_CONTINUE_STATEMENT;
}

void line_before_simple(struct rewriter *rewriter, uint32_t statement)
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

void line_after_simple(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    struct record record;

    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;

    /* Nothing may stand before another `from __future__ import`. */
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
