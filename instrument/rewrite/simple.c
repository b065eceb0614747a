/* Simple statements, by kind: assignments, calls whose result is not used, and the values that
 * the record after each passes to the hook. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

/* The maximum size, in bytes, of a constant that is passed to a record as text. */
#define CONSTANT_SIZE_LIMIT 80

struct passing {
    struct slice arguments[WRITES_LIMIT];
    uint32_t argument_count;
    struct slice spy_names[WRITES_LIMIT];
    uint32_t spy_count;
    bool is_recorded;   /* insertions are wanted, not only the count of sites */
    bool has_temporary; /* `_mt_t` holds a value of this statement */
    bool
        may_suspend; /* contains a yield or await, during which no temporary may be visible */
    bool is_all_changed; /* each target so far is an item of an object: x[i] */
};

static void
passing_reach(struct rewriter *rewriter, struct passing *passing, uint32_t call);
static void rewrite_call(struct rewriter *rewriter,
                         uint32_t statement,
                         uint32_t call,
                         bool is_last);

static bool may_suspend(const struct rewriter *rewriter, uint32_t statement)
{
    for (uint32_t i = statement; i < node_at(rewriter, statement)->next; i++) {
        if (node_at(rewriter, i)->kind == KIND_YIELD ||
            node_at(rewriter, i)->kind == KIND_AWAIT) {
            return true;
        }
    }
    return false;
}

/* Starts with no arguments for `statement`. */
static void passing_init(struct passing *passing,
                         const struct rewriter *rewriter,
                         uint32_t statement)
{
    passing->argument_count = 0;
    passing->spy_count = 0;
    passing->is_recorded = is_recorded(rewriter, statement);
    passing->has_temporary = false;
    passing->may_suspend = may_suspend(rewriter, statement);
    passing->is_all_changed = true;
}

/* Adds a written name to the draft, and the argument with its value. */
static void passing_add(struct rewriter *rewriter,
                        struct passing *passing,
                        struct slice name,
                        enum site_source source,
                        struct slice argument)
{
    if (draft_write(&rewriter->draft, name, source) && source != SITE_SOURCE_NONE) {
        passing->arguments[passing->argument_count++] = argument;
    }
}

/* An attribute's name in tables: `self.x`, or `.x` if its object has no name. */
static struct slice attribute_name(const struct rewriter *rewriter, uint32_t attribute)
{
    struct slice text = text_of(rewriter, attribute);
    uint32_t last = node_at(rewriter, attribute)->next - 1;
    size_t size;

    if (reads_is_dotted(&rewriter->syntax, attribute)) {
        return text;
    }
    size = text_of(rewriter, last).size;
    if (size < text.size && text.bytes[text.size - size - 1] == '.') {
        size++;
    }
    return slice_part(text, text.size - size, text.size);
}

/* Passes the object at the root of `a.b.c`, from which the recorder finds the rest. */
static void
passing_peek(struct rewriter *rewriter, struct passing *passing, uint32_t attribute)
{
    uint32_t root = reads_root(&rewriter->syntax, attribute);

    if (root != 0 && reads_is_dotted(&rewriter->syntax, attribute)) {
        passing_add(rewriter, passing, text_of(rewriter, attribute), SITE_SOURCE_PEEK,
                    text_of(rewriter, root));
    } else {
        passing_add(rewriter, passing, attribute_name(rewriter, attribute),
                    SITE_SOURCE_NONE, (struct slice){NULL, 0});
    }
}

static bool can_use_temporary(const struct rewriter *rewriter,
                              const struct passing *passing)
{
    return !passing->has_temporary && !passing->may_suspend &&
           !rewriter->place->is_names_only;
}

/* Keeps the value of an attribute in a temporary: `(_mt_t := self.b)[i] = v`, `self.x: T =
 * (_mt_t := e)`. Passes a peek if no temporary can be used. */
static void passing_catch(struct rewriter *rewriter,
                          struct passing *passing,
                          uint32_t attribute,
                          uint32_t expression)
{
    const struct syntax_node *node = node_at(rewriter, expression);

    if (!can_use_temporary(rewriter, passing)) {
        passing_peek(rewriter, passing, attribute);
        return;
    }
    passing_add(rewriter, passing, attribute_name(rewriter, attribute),
                SITE_SOURCE_VALUE, rewriter->forms.temporary);
    passing->has_temporary = true;
    if (passing->is_recorded) {
        struct buffer *text = &rewriter->edits->text;
        size_t begin = edits_begin(rewriter->edits);

        buffer_add_byte(text, '(');
        buffer_add(text, rewriter->forms.temporary);
        buffer_add(text, SLICE(" := "));
        edits_end_open(rewriter->edits, begin, node->start, node->end, 9);
        begin = edits_begin(rewriter->edits);
        buffer_add_byte(text, ')');
        edits_end_close(rewriter->edits, begin, node->start, node->end, 9);
    }
}

bool is_constant(const struct rewriter *rewriter, uint32_t node)
{
    struct slice text = text_of(rewriter, node);

    switch (node_at(rewriter, node)->kind) {
    case KIND_INTEGER:
    case KIND_FLOAT:
    case KIND_TRUE:
    case KIND_FALSE:
    case KIND_NONE:
    case KIND_ELLIPSIS:
        return true;
    case KIND_STRING: /* unless it is a format string */
        for (size_t i = 0;
             i < text.size && text.bytes[i] != '"' && text.bytes[i] != '\''; i++) {
            if (strchr("fFtT", text.bytes[i]) != NULL) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

static bool is_short_constant(const struct rewriter *rewriter, uint32_t node)
{
    struct slice text = text_of(rewriter, node);

    if (text.size > CONSTANT_SIZE_LIMIT || !is_constant(rewriter, node)) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] == '\\' || text.bytes[i] == '\n' || text.bytes[i] == '\r') {
            return false; /* Python may warn of an escape, and must not do so twice */
        }
    }
    return true;
}

/* The object that contains the item `x[i]` or `x[i][j]`. */
static uint32_t subscript_base(const struct rewriter *rewriter, uint32_t node)
{
    while (node_at(rewriter, node)->kind == KIND_SUBSCRIPT) {
        node++;
    }
    return node;
}

/* Passes the object that an assignment to an item changes: x for `x[i] = v`, self.b for
 * `self.b[i] = v`, perhaps x for `x.numpy()[i] = v`. `is_alone`: the only target. */
static void passing_change(struct rewriter *rewriter,
                           struct passing *passing,
                           uint32_t subscript,
                           bool is_alone)
{
    uint32_t base = subscript_base(rewriter, subscript);

    if (node_at(rewriter, base)->kind == KIND_IDENTIFIER) {
        passing_add(rewriter, passing, text_of(rewriter, base), SITE_SOURCE_VALUE,
                    text_of(rewriter, base));
    } else if (node_at(rewriter, base)->kind == KIND_ATTRIBUTE) {
        if (is_alone) {
            passing_catch(rewriter, passing, base, base);
        } else {
            passing_peek(rewriter, passing, base);
        }
    } else if (node_at(rewriter, base)->kind == KIND_CALL) {
        passing_reach(rewriter, passing, base);
    }
}

static bool wants_spy(const struct rewriter *rewriter, struct slice name)
{
    return rewriter->choice.selection->spy_count > 0 &&
           rewriter->place->kind == SCOPE_FUNCTION && rewriter->place->self.size > 0 &&
           choice_has_spy(&rewriter->choice, name);
}

static void
add_name(struct rewriter *rewriter, struct passing *passing, uint32_t identifier)
{
    struct slice name = text_of(rewriter, identifier);

    passing_add(rewriter, passing, name, SITE_SOURCE_VALUE, name);
    passing->is_all_changed = false;
    if (wants_spy(rewriter, name) && passing->spy_count < WRITES_LIMIT) {
        for (uint32_t i = 0; i < passing->spy_count; i++) {
            if (slice_equal(passing->spy_names[i], name)) {
                return;
            }
        }
        passing->spy_names[passing->spy_count++] = name;
    }
}

/* Passes the names, attributes and items in a target, which may be a tuple or list. */
static void
passing_targets(struct rewriter *rewriter, struct passing *passing, uint32_t target)
{
    uint32_t end = node_at(rewriter, target)->next;

    for (uint32_t i = target; i < end;) {
        switch (node_at(rewriter, i)->kind) {
        case KIND_IDENTIFIER:
            add_name(rewriter, passing, i);
            i++;
            break;
        case KIND_ATTRIBUTE:
            passing_peek(rewriter, passing, i);
            passing->is_all_changed = false;
            i = node_at(rewriter, i)->next;
            break;
        case KIND_SUBSCRIPT:
            passing_change(rewriter, passing, i, false);
            i = node_at(rewriter, i)->next;
            break;
        default:
            i++;
        }
    }
}

/* Whether the source already has `spy_save("name"` after the statement. */
static bool
has_own_spy(const struct rewriter *rewriter, uint32_t statement, struct slice name)
{
    struct slice text = rewriter->syntax.text;
    struct slice call = SLICE("spy_save(\"");
    size_t at = node_at(rewriter, statement)->end;

    while (at < text.size && text.bytes[at] != '\0' &&
           strchr("; \t\r\n", text.bytes[at]) != NULL) {
        at++;
    }
    if (!slice_starts(slice_part(text, at, text.size), call)) {
        return false;
    }
    at += call.size;
    return slice_starts(slice_part(text, at, text.size), name) &&
           at + name.size < text.size && text.bytes[at + name.size] == '"';
}

/* Removes the names that have a spy_save call already. */
static void drop_own_spies(const struct rewriter *rewriter,
                           struct passing *passing,
                           uint32_t statement)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < passing->spy_count; i++) {
        if (!has_own_spy(rewriter, statement, passing->spy_names[i])) {
            passing->spy_names[kept++] = passing->spy_names[i];
        }
    }
    passing->spy_count = kept;
}

/* Makes a site for each visible call, so that listings show it. */
static void make_spy_sites(struct rewriter *rewriter,
                           const struct passing *passing,
                           uint32_t statement)
{
    for (uint32_t i = 0; i < passing->spy_count; i++) {
        draft_init(&rewriter->draft, SITE_SPY, rewriter->place->function, statement);
        draft_write(&rewriter->draft, passing->spy_names[i], SITE_SOURCE_NONE);
        sites_add(&rewriter->sites, &rewriter->draft, true);
    }
}

/* Makes the site of the drafted statement and inserts its record and spy calls. Returns the
 * site, or SITE_NONE if it is not recorded. */
static uint32_t passing_finish(struct rewriter *rewriter,
                               struct passing *passing,
                               uint32_t statement,
                               bool is_last)
{
    struct record record = {.site = SITE_NONE};

    if (rewriter->draft.write_count > 0) {
        record = record_make(rewriter, passing->arguments, passing->argument_count);
    }
    drop_own_spies(rewriter, passing, statement);
    make_spy_sites(rewriter, passing, statement);
    if (rewriter->place->later != NULL && record.site != SITE_NONE &&
        !passing->has_temporary && passing->spy_count == 0) {
        pending_add(rewriter->place->later, &record);
    } else {
        insert_after(rewriter, statement, is_last, &record, 1, passing->spy_names,
                     passing->spy_count,
                     passing->has_temporary && passing->is_recorded);
    }
    return record.site;
}

/* ---- assignments of all forms ---- */

/* Passes the value of `o.x = e`: an existing name, or one more target, which is the last, so
 * that nothing is kept if setting the attribute fails. */
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

/* Binds the names of the targets between two nodes to `site`. */
static void
bind_targets(struct rewriter *rewriter, uint32_t first, uint32_t end, uint32_t site)
{
    for (uint32_t i = scope_next_target(&rewriter->syntax, first, end); i < end;
         i = scope_next_target(&rewriter->syntax, i + 1, end)) {
        scope_bind(&rewriter->place->scope, names_of(&rewriter->names, i), site);
    }
}

/* Adds the reads in a target: the index of a subscript, the object of an attribute. */
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

/* A plain name among the targets of `a = o.x = e`, which has the value too. */
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

/* The node of the value in `a = o.x = b[i], c = value`. 0: none. */
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

static void
rewrite_assignment(struct rewriter *rewriter, uint32_t statement, bool is_last)
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
    draft_value(rewriter, value);
    for (uint32_t i = assignment; i != value; i = syntax_last(&rewriter->syntax, i)) {
        draft_parts(rewriter, i + 1);
    }
    site = passing_finish(rewriter, &passing, statement, is_last);
    for (uint32_t i = assignment; i != value; i = syntax_last(&rewriter->syntax, i)) {
        bind_targets(rewriter, i + 1, node_at(rewriter, i + 1)->next, site);
    }
}

/* Whether the value needs parentheses inside an expression: `a, b`, `yield a`. */
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

/* Rewrites `self.x: T = e`. It can have no additional target, so the value is kept where it is
 * computed. */
static void
rewrite_annotated(struct rewriter *rewriter, uint32_t statement, bool is_last)
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
    draft_value(rewriter, value);
    draft_parts(rewriter, target);
    bind_targets(rewriter, target, node_at(rewriter, target)->next,
                 passing_finish(rewriter, &passing, statement, is_last));
}

static void
rewrite_augmented(struct rewriter *rewriter, uint32_t statement, bool is_last)
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
    terms_add_text(&rewriter->draft.terms, "p");
    draft_value(rewriter, target);
    draft_value(rewriter, syntax_last(&rewriter->syntax, statement + 1));
    terms_add_text(&rewriter->draft.terms, ".");
    draft_parts(rewriter, target);
    bind_targets(rewriter, target, node_at(rewriter, target)->next,
                 passing_finish(rewriter, &passing, statement, is_last));
}

/* ---- simple statements, by kind ---- */

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
        draft_value(rewriter, value);
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
    case KIND_ASSERT_STATEMENT: /* removed by -O */
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

/* ---- calls whose result is not used: the objects that they may change ---- */

/* Whether another function may delete the name. Such a name cannot be passed after a call. */
static bool may_vanish(const struct rewriter *rewriter, uint32_t identifier)
{
    struct name_id name = names_of(&rewriter->names, identifier);

    return !name_is_known(name) || (names_get(&rewriter->names, name)->is_deleted &&
                                    (names_get(&rewriter->names, name)->is_global ||
                                     names_get(&rewriter->names, name)->is_nonlocal));
}

static bool is_imported(const struct rewriter *rewriter, uint32_t identifier)
{
    struct name_id name = names_of(&rewriter->names, identifier);

    return name_is_known(name) && rewriter->foreign.imports[name.number].size > 0;
}

/* Passes an object that a call may have changed: its receiver or an argument. */
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

/* Whether torch's naming marks the method as one that changes its object: `add_`, `zero_`. */
static bool is_in_place(struct slice method)
{
    return slice_ends(method, SLICE("_")) && !slice_ends(method, SLICE("__"));
}

/* Passes the object of a method. For `a.mul_(b).add_(c)` it is `a`, which both have changed. */
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

/* Passes the tensors of `out=(values, indices)`. */
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

/* Passes the objects of which the result of a call may be a view: the object of the method (in a
 * chain of calls, of the innermost one), or the arguments of a function. */
static void
passing_reach(struct rewriter *rewriter, struct passing *passing, uint32_t call)
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

/* Rewrites a call whose result is not used. It may change its arguments. */
static void
rewrite_call(struct rewriter *rewriter, uint32_t statement, uint32_t call, bool is_last)
{
    uint32_t callee = call + 1;
    uint32_t arguments = syntax_find(&rewriter->syntax, call, KIND_ARGUMENT_LIST);
    struct passing passing;

    passing_init(&passing, rewriter, statement);
    draft_init(&rewriter->draft, SITE_MUTATE, rewriter->place->function, statement);
    reads_add(&rewriter->draft.reads, &rewriter->place->scope, call,
              node_at(rewriter, call)->next);
    draft_value(rewriter, call);
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
