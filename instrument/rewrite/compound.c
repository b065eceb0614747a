/* Compound statements: which way they went, and what their headers bind. */
#include "instrument/rewrite/compound.h"

#include "instrument/rewrite/rewrite.h"

void flow_add(struct rewriter *rewriter, struct flow *flow)
{
    struct scope *scope = &rewriter->place->scope;

    if (flow->has_arm) {
        scope_join(scope, &flow->merged);
    }
    flow->merged = scope_save(scope);
    flow->has_arm = true;
}

/* Puts pending records into a header. */
static void
carry_in_header(struct rewriter *rewriter, uint32_t statement, struct pending *pending)
{
    uint32_t start;
    uint32_t end;

    if (pending->count > 0 && header_range(rewriter, statement, &start, &end)) {
        insert_header(rewriter, start, end, pending);
        pending->count = 0;
    }
}

/* A header that is read once on the way; the turns of loops are recorded as they are. */
static void
mark_header(struct rewriter *rewriter, uint32_t statement, struct pending *pending)
{
    uint32_t start;
    uint32_t end;

    if (header_range(rewriter, statement, &start, &end)) {
        line_in_header(rewriter, statement, pending);
    }
}

/* Drafts the site of an arm that is named by a condition's text. */
static void draft_arm(struct rewriter *rewriter,
                      uint32_t node,
                      uint32_t arm,
                      uint32_t first,
                      uint32_t end)
{
    draft_init(&rewriter->draft, SITE_BRANCH, rewriter->place->function, node);
    rewriter->draft.arm = arm;
    draft_condition(&rewriter->draft,
                    slice_part(rewriter->syntax.text, node_at(rewriter, first)->start,
                               node_at(rewriter, end - 1)->end));
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, first, end);
}

void insert_turn(struct rewriter *rewriter,
                 uint32_t condition,
                 const struct record *taken,
                 const struct record *other)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t start = node_at(rewriter, condition)->start;
    uint32_t end = node_at(rewriter, condition)->end;
    size_t begin = edits_begin(rewriter->edits);

    if (taken->site == SITE_NONE && other->site == SITE_NONE) {
        return;
    }
    buffer_add_byte(text, '(');
    edits_end_open(rewriter->edits, begin, start, end, 2);
    begin = edits_begin(rewriter->edits);
    buffer_add_byte(text, ')');
    if (taken->site != SITE_NONE) {
        buffer_add(text, SLICE(" and "));
        forms_quiet(&rewriter->forms, taken, text);
    }
    if (other->site != SITE_NONE) {
        buffer_add(text, SLICE(" or "));
        forms_record(&rewriter->forms, other, text);
    }
    edits_end_close(rewriter->edits, begin, start, end, 2);
    if (rewriter->place->kind != SCOPE_FUNCTION &&
        start < rewriter->first_module_edit) {
        rewriter->first_module_edit = start;
    }
}

void rewrite_arm(struct rewriter *rewriter,
                 uint32_t block,
                 const struct record *record,
                 struct record *in_header)
{
    struct pending pending = {.count = 0};

    if (record->site != SITE_NONE && in_header != NULL &&
        !block_can_carry(rewriter, block)) {
        *in_header = *record;
    } else {
        pending_add(&pending, record);
    }
    rewrite_block(rewriter, block, &pending, false);
}

/* An `elif` that is asked gives its line an event of its own. */
static void mark_elif(struct rewriter *rewriter, uint32_t clause, uint32_t condition)
{
    struct pending pending = {.count = 0};

    if (!node_at(rewriter, condition)->has_error) {
        line_in_header(rewriter, clause, &pending);
        insert_header(rewriter, node_at(rewriter, condition)->start,
                      node_at(rewriter, condition)->end, &pending);
    }
}

/* One `if` or `elif`, and the `else` behind it. Returns the next `elif`, or 0. */
static uint32_t rewrite_condition(struct rewriter *rewriter,
                                  uint32_t statement,
                                  uint32_t clause,
                                  uint32_t arm,
                                  struct flow *flow)
{
    const struct record nothing = {.site = SITE_NONE};
    uint32_t condition = first_child(rewriter, clause);
    uint32_t block = child_of_kind(rewriter, clause, KIND_BLOCK);
    uint32_t next;
    struct record taken_in_header = nothing;
    struct record other_in_header = nothing;
    struct record record;
    struct scope_state before;

    if (condition == 0 || block == 0) {
        return 0;
    }
    if (clause != statement) {
        mark_elif(rewriter, clause, condition);
    }
    rewrite_walruses(rewriter, condition, node_at(rewriter, condition)->next);
    before = scope_save(&rewriter->place->scope);
    draft_arm(rewriter, clause, arm, condition, node_at(rewriter, condition)->next);
    record = record_make(rewriter, NULL, 0);
    rewrite_arm(rewriter, block, &record, &taken_in_header);
    flow_add(rewriter, flow);
    scope_restore(&rewriter->place->scope, &before);
    next = syntax_sibling(&rewriter->syntax, statement,
                          clause == statement ? block : clause);
    if (next == 0) {
        flow_add(rewriter, flow);
    } else if (node_at(rewriter, next)->kind == KIND_ELSE_CLAUSE) {
        uint32_t else_block = child_of_kind(rewriter, next, KIND_BLOCK);

        draft_arm(rewriter, next, arm + 1, condition,
                  node_at(rewriter, condition)->next);
        record = record_make(rewriter, NULL, 0);
        if (else_block != 0) {
            rewrite_arm(rewriter, else_block, &record, &other_in_header);
        }
        flow_add(rewriter, flow);
    }
    insert_turn(rewriter, condition, &taken_in_header, &other_in_header);
    return next != 0 && node_at(rewriter, next)->kind == KIND_ELIF_CLAUSE ? next : 0;
}

/* Clause by clause, not clause in clause: a chain may be longer than the stack is deep. */
static void rewrite_if(struct rewriter *rewriter, uint32_t statement)
{
    struct flow flow = {.has_arm = false};
    uint32_t clause = statement;

    for (uint32_t arm = 0; clause != 0; arm++) {
        clause = rewrite_condition(rewriter, statement, clause, arm, &flow);
    }
    if (flow.has_arm) {
        scope_restore(&rewriter->place->scope, &flow.merged);
    }
}

void rewrite_else(struct rewriter *rewriter, uint32_t statement, struct slice condition)
{
    uint32_t clause = child_of_kind(rewriter, statement, KIND_ELSE_CLAUSE);
    uint32_t block = clause == 0 ? 0 : child_of_kind(rewriter, clause, KIND_BLOCK);
    struct record record;

    if (block == 0) {
        return;
    }
    draft_init(&rewriter->draft, SITE_BRANCH, rewriter->place->function, clause);
    rewriter->draft.arm = 1;
    draft_condition(&rewriter->draft, condition);
    record = record_make_in(rewriter, block, NULL, 0);
    rewrite_arm(rewriter, block, &record, NULL);
}

static void rewrite_handler(struct rewriter *rewriter, uint32_t clause, uint32_t arm)
{
    uint32_t block = child_of_kind(rewriter, clause, KIND_BLOCK);
    struct slice arguments[WRITES_LIMIT];
    struct record record;
    uint32_t count = 0;
    uint32_t value;

    if (block == 0) {
        return;
    }
    value = first_child(rewriter, clause);
    if (value == block) {
        draft_init(&rewriter->draft, SITE_BRANCH, rewriter->place->function, clause);
        rewriter->draft.arm = arm;
        draft_condition(&rewriter->draft, SLICE("except"));
    } else {
        rewrite_walruses(rewriter, value, node_at(rewriter, value)->next);
        draft_arm(rewriter, clause, arm, value, block);
        for (uint32_t i = value; i < block; i++) {
            if (node_at(rewriter, i)->kind == KIND_AS_PATTERN_TARGET) {
                count = draft_targets(rewriter, arguments, count, i,
                                      node_at(rewriter, i)->next);
            }
        }
    }
    record = record_make_in(rewriter, block, arguments, count);
    bind_aliases(rewriter, clause, block, record.site);
    rewrite_arm(rewriter, block, &record, NULL);
    scope_forget(&rewriter->place->scope, clause, block);
}

static void
rewrite_try(struct rewriter *rewriter, uint32_t statement, struct pending *pending)
{
    struct scope *scope = &rewriter->place->scope;
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    struct flow flow = {.has_arm = false};
    struct scope_state before;
    uint32_t arm = 0;
    uint32_t finally;

    if (block == 0) {
        return;
    }
    before = scope_save(scope);
    rewrite_block(rewriter, block, pending, false);
    rewrite_else(rewriter, statement, SLICE("try"));
    flow_add(rewriter, &flow);
    for (uint32_t i = first_child(rewriter, statement); i != 0;
         i = syntax_sibling(&rewriter->syntax, statement, i)) {
        if (node_at(rewriter, i)->kind == KIND_EXCEPT_CLAUSE) {
            scope_restore(scope, &before);
            scope_forget(scope, block, i);
            rewrite_handler(rewriter, i, arm++);
            flow_add(rewriter, &flow);
        }
    }
    scope_restore(scope, &flow.merged);
    finally = child_of_kind(rewriter, statement, KIND_FINALLY_CLAUSE);
    if (finally != 0 && child_of_kind(rewriter, finally, KIND_BLOCK) != 0) {
        struct pending nothing = {.count = 0};
        bool is_reachable = scope->is_reachable;

        scope_forget(scope, statement, finally);
        scope->is_reachable = true;
        rewrite_block(rewriter, child_of_kind(rewriter, finally, KIND_BLOCK), &nothing,
                      false);
        scope->is_reachable = scope->is_reachable && is_reachable;
    }
}

static void rewrite_with(struct rewriter *rewriter, uint32_t statement)
{
    struct scope *scope = &rewriter->place->scope;
    uint32_t clause = child_of_kind(rewriter, statement, KIND_WITH_CLAUSE);
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    struct slice arguments[WRITES_LIMIT];
    struct scope_state before;
    struct record record = {.site = SITE_NONE};
    uint32_t count = 0;
    bool is_single; /* entering cannot fail after it has bound something */

    if (clause == 0 || block == 0) {
        return;
    }
    is_single = node_at(rewriter, clause + 1)->next == node_at(rewriter, clause)->next;
    rewrite_walruses(rewriter, clause, node_at(rewriter, clause)->next);
    draft_init(&rewriter->draft, SITE_ASSIGN, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, scope, clause, node_at(rewriter, clause)->next);
    for (uint32_t i = clause; i < node_at(rewriter, clause)->next; i++) {
        if (node_at(rewriter, i)->kind == KIND_AS_PATTERN_TARGET) {
            count = draft_targets(rewriter, arguments, count, i,
                                  node_at(rewriter, i)->next);
        }
    }
    if (count > 0) {
        record = record_make_in(rewriter, block, arguments, count);
    }
    before = scope_save(scope);
    bind_aliases(rewriter, clause, block, record.site);
    if (is_single) {
        before = scope_save(scope);
    }
    rewrite_arm(rewriter, block, &record, NULL);
    scope->is_reachable = true; /* the exception of a raise may be swallowed */
    scope_leave(scope, &before, is_single ? block : clause,
                node_at(rewriter, block)->next);
}

bool is_compound(enum kind kind)
{
    switch (kind) {
    case KIND_IF_STATEMENT:
    case KIND_WHILE_STATEMENT:
    case KIND_FOR_STATEMENT:
    case KIND_TRY_STATEMENT:
    case KIND_WITH_STATEMENT:
    case KIND_MATCH_STATEMENT:
        return true;
    default:
        return false;
    }
}

void rewrite_compound(struct rewriter *rewriter,
                      uint32_t statement,
                      struct pending *pending)
{
    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;

    if (kind == KIND_TRY_STATEMENT) {
        rewrite_try(rewriter, statement, pending);
        return;
    }
    for (uint32_t i = 0; kind == KIND_WHILE_STATEMENT && i < pending->count; i++) {
        rewriter->sites.items[pending->items[i].site].repeats = true;
    }
    if (kind != KIND_WHILE_STATEMENT && kind != KIND_FOR_STATEMENT) {
        mark_header(rewriter, statement, pending);
    }
    carry_in_header(rewriter, statement, pending);
    switch (kind) {
    case KIND_IF_STATEMENT:
        rewrite_if(rewriter, statement);
        break;
    case KIND_WHILE_STATEMENT:
        rewrite_while(rewriter, statement);
        break;
    case KIND_FOR_STATEMENT:
        rewrite_for(rewriter, statement);
        break;
    case KIND_WITH_STATEMENT:
        rewrite_with(rewriter, statement);
        break;
    case KIND_MATCH_STATEMENT:
        rewrite_match(rewriter, statement);
        break;
    default:
        break;
    }
}
