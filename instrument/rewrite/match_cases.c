/* `match`: which of its cases was taken, and what its patterns bind. */
#include "instrument/rewrite/compound.h"
#include "instrument/rewrite/rewrite.h"

static void rewrite_case(struct rewriter *rewriter,
                         uint32_t clause,
                         uint32_t arm,
                         uint32_t subject,
                         uint32_t subject_end)
{
    uint32_t block = child_of_kind(rewriter, clause, KIND_BLOCK);
    uint32_t guard = child_of_kind(rewriter, clause, KIND_IF_CLAUSE);
    struct slice arguments[WRITES_LIMIT];
    struct record record;
    uint32_t count = 0;

    if (block == 0) {
        return;
    }
    if (guard != 0) {
        scope_forget(&rewriter->place->scope, clause, guard); /* captures come first */
        rewrite_walruses(rewriter, guard, node_at(rewriter, guard)->next);
    }
    draft_init(&rewriter->draft, SITE_BRANCH, rewriter->place->function, clause);
    rewriter->draft.arm = arm;
    draft_condition(&rewriter->draft,
                    slice_part(rewriter->syntax.text, node_at(rewriter, clause)->start,
                               node_at(rewriter, block - 1)->end));
    for (uint32_t i = first_child(rewriter, clause); i != 0 && i < block;
         i = syntax_sibling(&rewriter->syntax, clause, i)) {
        if (node_at(rewriter, i)->kind == KIND_CASE_PATTERN) {
            count = draft_captures(rewriter, arguments, count, i,
                                   node_at(rewriter, i)->next);
        }
    }
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, subject, subject_end);
    if (guard != 0) {
        reads_add(&rewriter->draft.reads, &rewriter->place->scope, guard,
                  node_at(rewriter, guard)->next);
    }
    record = record_make_in(rewriter, block, arguments, count);
    for (uint32_t i = first_child(rewriter, clause); i != 0 && i < block;
         i = syntax_sibling(&rewriter->syntax, clause, i)) {
        if (node_at(rewriter, i)->kind == KIND_CASE_PATTERN) {
            bind_range(rewriter, i, node_at(rewriter, i)->next, record.site);
        }
    }
    rewrite_arm(rewriter, block, &record, NULL);
}

void rewrite_match(struct rewriter *rewriter, uint32_t statement)
{
    struct scope *scope = &rewriter->place->scope;
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    uint32_t first = first_child(rewriter, statement);
    struct flow flow = {.has_arm = false};
    struct scope_state before;
    uint32_t arm = 0;

    if (block == 0 || first == block) {
        return;
    }
    rewrite_walruses(rewriter, first, block);
    before = scope_save(scope);
    for (uint32_t i = first_child(rewriter, block); i != 0;
         i = syntax_sibling(&rewriter->syntax, block, i)) {
        uint32_t body = child_of_kind(rewriter, i, KIND_BLOCK);

        if (node_at(rewriter, i)->kind != KIND_CASE_CLAUSE || body == 0 ||
            is_damaged(rewriter, i)) {
            continue;
        }
        rewrite_case(rewriter, i, arm++, first, block);
        flow_add(rewriter, &flow);
        scope_restore(scope, &before);
        scope_forget(scope, i, body); /* its captures stay where its guard fails */
        before = scope_save(scope);
    }
    flow_add(rewriter, &flow);
    scope_restore(scope, &flow.merged);
}
