/* Compound statements: records the branches that ran, and the names that headers bind. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

/* ---- the expression that a compound statement's header evaluates first ---- */

static bool has_splat(const struct rewriter *rewriter, uint32_t node)
{
    return child_of_kind(rewriter, node, KIND_LIST_SPLAT) != 0 ||
           child_of_kind(rewriter, node, KIND_NAMED_EXPRESSION) != 0;
}

/* The expression that a with statement evaluates first. If the grammar parsed the items'
 * parentheses as a tuple, it is inside the tuple. */
static uint32_t first_context(const struct rewriter *rewriter, uint32_t clause)
{
    uint32_t node = first_child(rewriter, clause);
    uint32_t inner;

    if (node == 0 || first_child(rewriter, node) == 0) {
        return 0;
    }
    node = first_child(rewriter, node); /* below the with_item */
    for (;;) {
        enum kind kind = (enum kind)node_at(rewriter, node)->kind;

        inner = first_child(rewriter, node);
        if (inner == 0) {
            return node;
        }
        if (kind == KIND_AS_PATTERN) {
            node = inner;
        } else if ((kind == KIND_TUPLE || kind == KIND_PARENTHESIZED_EXPRESSION) &&
                   node_at(rewriter, node)->end == node_at(rewriter, clause)->end &&
                   node_at(rewriter, inner)->kind != KIND_YIELD &&
                   !has_splat(rewriter, node)) {
            node = inner;
        } else {
            return node;
        }
    }
}

/* The end of the subject, including a trailing comma, which makes the subject a tuple. */
static uint32_t after_comma(struct slice text, uint32_t end)
{
    uint32_t at = end;

    while (at < text.size && text.bytes[at] != '\0' &&
           strchr(" \t\f\\\r\n", text.bytes[at]) != NULL) {
        at++;
    }
    return at < text.size && text.bytes[at] == ',' ? at + 1 : end;
}

/* The end of the expression in `with a if b else c as d`. The grammar attaches `as d` to `c`, so
 * the expression ends before it. */
static uint32_t context_end(const struct rewriter *rewriter, uint32_t context)
{
    uint32_t end = node_at(rewriter, context)->end;

    for (uint32_t i = context; i < node_at(rewriter, context)->next; i++) {
        if (node_at(rewriter, i)->kind == KIND_AS_PATTERN &&
            node_at(rewriter, i)->end == end) {
            return node_at(rewriter, i + 1)->end;
        }
    }
    return end;
}

/* Whether the parentheses hold a tuple rather than items: only a tuple may hold a starred or an
 * assignment expression beside others. */
static bool is_tuple(const struct rewriter *rewriter, uint32_t clause)
{
    for (uint32_t i = first_child(rewriter, clause); i != 0;
         i = syntax_sibling(&rewriter->syntax, clause, i)) {
        enum kind kind = (enum kind)node_at(rewriter, i + 1)->kind;

        if (node_at(rewriter, i)->kind == KIND_WITH_ITEM &&
            (kind == KIND_LIST_SPLAT || kind == KIND_NAMED_EXPRESSION)) {
            return true;
        }
    }
    return false;
}

static bool with_range(const struct rewriter *rewriter,
                       uint32_t statement,
                       uint32_t *start,
                       uint32_t *end)
{
    uint32_t clause = child_of_kind(rewriter, statement, KIND_WITH_CLAUSE);
    uint32_t first = clause == 0 ? 0 : first_context(rewriter, clause);

    if (first == 0) {
        return false;
    }
    if (is_tuple(rewriter, clause)) {
        *start = node_at(rewriter, clause)->start;
        *end = node_at(rewriter, clause)->end;
        return true;
    }
    *start = node_at(rewriter, first)->start;
    *end = context_end(rewriter, first);
    return true;
}

static bool match_range(const struct rewriter *rewriter,
                        uint32_t statement,
                        uint32_t *start,
                        uint32_t *end)
{
    uint32_t block = child_of_kind(rewriter, statement, KIND_BLOCK);
    uint32_t first = first_child(rewriter, statement);
    uint32_t last = first;

    if (block == 0 || first == block) {
        return false;
    }
    for (uint32_t i = first; i != block;
         i = syntax_sibling(&rewriter->syntax, statement, i)) {
        last = i;
    }
    *start = node_at(rewriter, first)->start;
    *end = after_comma(rewriter->syntax.text, node_at(rewriter, last)->end);
    return true;
}

bool header_range(const struct rewriter *rewriter,
                  uint32_t statement,
                  uint32_t *start,
                  uint32_t *end)
{
    uint32_t node = first_child(rewriter, statement);

    switch (node_at(rewriter, statement)->kind) {
    case KIND_IF_STATEMENT:
    case KIND_WHILE_STATEMENT:
        break;
    case KIND_FOR_STATEMENT:
        node = node == 0 ? 0 : syntax_sibling(&rewriter->syntax, statement, node);
        break;
    case KIND_WITH_STATEMENT:
        return with_range(rewriter, statement, start, end);
    case KIND_MATCH_STATEMENT:
        return match_range(rewriter, statement, start, end);
    default:
        return false;
    }
    if (node == 0 || node_at(rewriter, node)->kind == KIND_BLOCK ||
        node_at(rewriter, node)->has_error) {
        return false;
    }
    *start = node_at(rewriter, node)->start;
    *end = node_at(rewriter, node)->end;
    return true;
}

/* The states at the ends of the arms so far, joined. */
struct flow {
    struct scope_state merged;
    bool has_arm;
};

/* The functions below add to the draft the names between two nodes, and their arguments after
 * the first `count`. They return the new number of arguments. */

/* ---- names that headers bind: targets of `for` and `with`, captures of patterns, aliases ---- */

/* Adds one written name to the draft, and its argument. */
static uint32_t draft_name(struct rewriter *rewriter,
                           struct slice *arguments,
                           uint32_t count,
                           uint32_t identifier)
{
    struct slice name = text_of(rewriter, identifier);

    if (name_is_known(names_of(&rewriter->names, identifier)) &&
        !slice_equal(name, SLICE("_")) &&
        draft_write(&rewriter->draft, name, SITE_SOURCE_VALUE)) {
        arguments[count++] = name;
    }
    return count;
}

/* Adds what targets bind: names, attributes to read at run time, objects whose items are set. */
static uint32_t draft_targets(struct rewriter *rewriter,
                              struct slice *arguments,
                              uint32_t count,
                              uint32_t first,
                              uint32_t end)
{
    for (uint32_t i = first; i < end;) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;
        uint32_t base = i;

        if (kind != KIND_ATTRIBUTE && kind != KIND_SUBSCRIPT) {
            count = kind == KIND_IDENTIFIER ? draft_name(rewriter, arguments, count, i)
                                            : count;
            i++;
            continue;
        }
        while (node_at(rewriter, base)->kind == KIND_SUBSCRIPT) {
            base++;
        }
        if (reads_is_dotted(&rewriter->syntax, base)) {
            if (draft_write(&rewriter->draft, text_of(rewriter, base),
                            SITE_SOURCE_PEEK)) {
                arguments[count++] =
                    text_of(rewriter, reads_root(&rewriter->syntax, base));
            }
        } else if (node_at(rewriter, base)->kind == KIND_IDENTIFIER) {
            count = draft_name(rewriter, arguments, count, base);
        }
        i = node_at(rewriter, i)->next;
    }
    return count;
}

/* Adds the captures of a pattern. */
static uint32_t draft_captures(struct rewriter *rewriter,
                               struct slice *arguments,
                               uint32_t count,
                               uint32_t first,
                               uint32_t end)
{
    for (uint32_t i = scope_next_capture(&rewriter->syntax, first, end); i < end;
         i = scope_next_capture(&rewriter->syntax, i + 1, end)) {
        count = draft_name(rewriter, arguments, count, i);
    }
    return count;
}

static void
bind_range(struct rewriter *rewriter, uint32_t first, uint32_t end, uint32_t site)
{
    struct scope *scope = &rewriter->place->scope;

    for (uint32_t i = first; i < end; i++) {
        if (rewriter->names.is_binding[i]) {
            scope_bind(scope, names_of(&rewriter->names, i), site);
        }
    }
}

/* Binds the names of targets, and of those after `as`, to the site that wrote them. */
static void
bind_aliases(struct rewriter *rewriter, uint32_t first, uint32_t end, uint32_t site)
{
    for (uint32_t i = first; i < end; i++) {
        if (node_at(rewriter, i)->kind == KIND_AS_PATTERN_TARGET) {
            bind_range(rewriter, i, node_at(rewriter, i)->next, site);
        }
    }
}

static void rewrite_match(struct rewriter *rewriter, uint32_t statement);

static void rewrite_while(struct rewriter *rewriter, uint32_t statement);
static void rewrite_for(struct rewriter *rewriter, uint32_t statement);

/* Adds the end of another path through the statement. */
static void flow_add(struct rewriter *rewriter, struct flow *flow)
{
    struct scope *scope = &rewriter->place->scope;

    if (flow->has_arm) {
        scope_join(scope, &flow->merged);
    }
    flow->merged = scope_save(scope);
    flow->has_arm = true;
}

/* Inserts pending records into a header. */
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

/* Marks a header that runs once. The turns of loops have records of their own. */
static void
mark_header(struct rewriter *rewriter, uint32_t statement, struct pending *pending)
{
    uint32_t start;
    uint32_t end;

    if (header_range(rewriter, statement, &start, &end)) {
        line_in_header(rewriter, statement, pending);
    }
}

/* Drafts the site of an arm whose name is the text of a condition. */
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
    if (node_at(rewriter, first)->next == end) {
        draft_value(rewriter, first);
    }
}

/* Inserts `(c) and not (_mt and _mt(1))`, and ` or _mt and _mt(2)` for the other arm. The
 * condition's truth is evaluated once. */
static void insert_turn(struct rewriter *rewriter,
                        uint32_t condition,
                        const struct record *carried,
                        const struct record *other)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t start = node_at(rewriter, condition)->start;
    uint32_t end = node_at(rewriter, condition)->end;
    size_t begin = edits_begin(rewriter->edits);

    if (carried->site == SITE_NONE && other->site == SITE_NONE) {
        return;
    }
    buffer_add_byte(text, '(');
    edits_end_open(rewriter->edits, begin, start, end, 2);
    begin = edits_begin(rewriter->edits);
    buffer_add_byte(text, ')');
    if (carried->site != SITE_NONE) {
        buffer_add(text, SLICE(" and "));
        forms_quiet(&rewriter->forms, carried, text);
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

/* Rewrites an arm's block, with the record at its start. If nothing in the block can carry the
 * record, returns it in `in_header`. */
static void rewrite_arm(struct rewriter *rewriter,
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

/* --every-line: records an `elif` in its condition, whose evaluation is an event of its line. */
static void mark_elif(struct rewriter *rewriter, uint32_t clause, uint32_t condition)
{
    struct pending pending = {.count = 0};

    if (!node_at(rewriter, condition)->has_error) {
        line_in_header(rewriter, clause, &pending);
        insert_header(rewriter, node_at(rewriter, condition)->start,
                      node_at(rewriter, condition)->end, &pending);
    }
}

/* Rewrites one `if` or `elif`, and the `else` after it. Returns the next `elif`, or 0. */
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
    struct record carried_in_header = nothing;
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
    rewrite_arm(rewriter, block, &record, &carried_in_header);
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
    insert_turn(rewriter, condition, &carried_in_header, &other_in_header);
    return next != 0 && node_at(rewriter, next)->kind == KIND_ELIF_CLAUSE ? next : 0;
}

/* Rewrites an if statement clause by clause, without recursion: a chain may be longer than the
 * stack is deep. */
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

/* Rewrites the else block of a loop or a try. */
static void
rewrite_else(struct rewriter *rewriter, uint32_t statement, struct slice condition)
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
    bool is_single; /* one context: entering cannot fail after it has bound a name */

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
    if (is_single) {
        draft_value(rewriter, clause);
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
    scope->is_reachable =
        true; /* the with statement may swallow the exception of a raise */
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

/* ---- loops: their turns, and the names that their headers bind ---- */

/* Marks the names that a loop bound as uncertain, after the loop. */
static void leave_loop(struct rewriter *rewriter,
                       uint32_t statement,
                       const struct scope_state *before)
{
    scope_restore(&rewriter->place->scope, before);
    scope_forget(&rewriter->place->scope, statement,
                 node_at(rewriter, statement)->next);
}

/* Whether a `while True` stays an endless loop, for which CPython makes no test. Its turns are
 * then recorded in its body, unless that would repeat them in the header of another loop. */
static bool
is_endless(const struct rewriter *rewriter, uint32_t condition, uint32_t block)
{
    uint32_t first = first_child(rewriter, block);

    return is_constant(rewriter, condition) && block_can_carry(rewriter, block) &&
           node_at(rewriter, first)->kind != KIND_WHILE_STATEMENT;
}

static void rewrite_while(struct rewriter *rewriter, uint32_t statement)
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
    draft_value(rewriter, condition);
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
static void rewrite_for(struct rewriter *rewriter, uint32_t statement)
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
    draft_value_item(rewriter, right);
    draft_parts(rewriter, left);
    record = record_make_in(rewriter, block, arguments, count);
    scope_forget(scope, statement, node_at(rewriter, statement)->next);
    before = scope_save(scope);
    bind_range(rewriter, left, node_at(rewriter, left)->next, record.site);
    rewrite_arm(rewriter, block, &record, NULL);
    leave_loop(rewriter, statement, &before);
    rewrite_else(rewriter, statement, text_of(rewriter, right));
    leave_loop(rewriter, statement, &before);
}

/* ---- `match`: the case that ran, and the names that its patterns bind ---- */

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
        scope_forget(&rewriter->place->scope, clause, guard); /* captures precede it */
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

static void rewrite_match(struct rewriter *rewriter, uint32_t statement)
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
        scope_forget(scope, i, body); /* its captures stay bound if its guard fails */
        before = scope_save(scope);
    }
    flow_add(rewriter, &flow);
    scope_restore(scope, &flow.merged);
}
