/* Loops: their turns, and what their headers bind. */
#include "instrument/rewrite/compound.h"
#include "instrument/rewrite/rewrite.h"

/* After a loop, what was bound in it is uncertain. */
static void leave_loop(struct rewriter *rewriter,
                       uint32_t statement,
                       const struct scope_state *before)
{
    scope_restore(&rewriter->place->scope, before);
    scope_forget(&rewriter->place->scope, statement,
                 node_at(rewriter, statement)->next);
}

/* `while True` stays a loop without an end, for which CPython makes no test: its turns are
 * recorded in its body, unless that would repeat them in another loop's header. */
static bool
is_endless(const struct rewriter *rewriter, uint32_t condition, uint32_t block)
{
    uint32_t first = first_child(rewriter, block);

    return is_constant(rewriter, condition) && block_can_carry(rewriter, block) &&
           node_at(rewriter, first)->kind != KIND_WHILE_STATEMENT;
}

void rewrite_while(struct rewriter *rewriter, uint32_t statement)
{
    const struct record nothing = {.site = SITE_NONE};
    struct scope *scope = &rewriter->place->scope;
    uint32_t condition = first_child(rewriter, statement);
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    struct pending inner = {.count = 0};
    struct scope_state before;
    struct record record;

    if (condition == 0 || block == 0) {
        return;
    }
    scope_forget(scope, statement, node_at(rewriter, statement)->next);
    before = scope_save(scope);
    rewrite_walruses(rewriter, condition, node_at(rewriter, condition)->next);
    draft_init(&rewriter->draft, SITE_LOOP, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, scope, condition,
              node_at(rewriter, condition)->next);
    record = record_make(rewriter, NULL, 0);
    if (is_endless(rewriter, condition, block)) {
        pending_add(&inner, &record);
    } else {
        insert_turn(rewriter, condition, &record, &nothing);
    }
    rewrite_block(rewriter, block, &inner, false);
    leave_loop(rewriter, statement, &before);
    rewrite_else(rewriter, statement, text_of(rewriter, condition));
    leave_loop(rewriter, statement, &before);
}
void rewrite_for(struct rewriter *rewriter, uint32_t statement)
{
    struct scope *scope = &rewriter->place->scope;
    uint32_t left = first_child(rewriter, statement);
    uint32_t right = left == 0 ? 0 : syntax_sibling(&rewriter->syntax, statement, left);
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    struct slice arguments[WRITES_LIMIT];
    struct scope_state before;
    struct record record;
    uint32_t count;

    if (right == 0 || block == 0 || block == right) {
        return;
    }
    rewrite_walruses(rewriter, right, node_at(rewriter, right)->next);
    draft_init(&rewriter->draft, SITE_LOOP, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, scope, right, node_at(rewriter, right)->next);
    count = draft_targets(rewriter, arguments, 0, left, node_at(rewriter, left)->next);
    record = record_make_in(rewriter, block, arguments, count);
    scope_forget(scope, statement, node_at(rewriter, statement)->next);
    before = scope_save(scope);
    bind_range(rewriter, left, node_at(rewriter, left)->next, record.site);
    rewrite_arm(rewriter, block, &record, NULL);
    leave_loop(rewriter, statement, &before);
    rewrite_else(rewriter, statement, text_of(rewriter, right));
    leave_loop(rewriter, statement, &before);
}
