/* Rewrites blocks, the module, functions and classes: finds for each pending record a statement
 * that carries it. */
#include "instrument/rewrite/rewrite.h"

#include <string.h>

/* ---- code that is left unchanged: the parser could not read it, or it is nested too deep ---- */

static bool is_definition(enum kind kind);

/* The first place below `node`, outside nested functions, that the parser could not read. 0:
 * none. */
static uint32_t find_damage(const struct rewriter *rewriter, uint32_t node)
{
    uint32_t end = node_at(rewriter, node)->next;

    for (uint32_t i = node + 1; i < end;) {
        if (node_at(rewriter, i)->kind == KIND_ERROR) {
            return i;
        }
        if (!node_at(rewriter, i)->has_error ||
            node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION) {
            i = node_at(rewriter, i)->next;
        } else {
            i++;
        }
    }
    return 0;
}

/* Counts the functions at and below `node`. */
static size_t count_functions(const struct rewriter *rewriter, uint32_t node)
{
    size_t count = 0;

    for (uint32_t i = node; i < node_at(rewriter, node)->next; i++) {
        count += node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION;
    }
    return count;
}

/* Leaves everything below `node` unchanged, and adds a note at `deep`, the node that is nested
 * too deep. `name`: that of the function; empty for a statement of the module. */
static void
skip_deep(struct rewriter *rewriter, uint32_t node, uint32_t deep, struct slice name)
{
    size_t count = count_functions(rewriter, node);

    rewriter->result->function_count += count;
    rewriter->result->skipped_count += count;
    note_add(rewriter, NOTE_WARNING, deep,
             "%s%.*s%s stays as it is: CPython could not compile its nesting with "
             "inserted calls",
             name.size > 0 ? "function '" : "the statement", (int)name.size, name.bytes,
             name.size > 0 ? "'" : "");
}

/* Leaves everything below `node` unchanged, and adds a note at `damage`. */
static void skip_damaged(struct rewriter *rewriter,
                         uint32_t node,
                         uint32_t damage,
                         struct slice name)
{
    size_t count = count_functions(rewriter, node);

    rewriter->result->function_count += count;
    rewriter->result->skipped_count += count;
    if (name.size > 0) {
        note_add(rewriter, NOTE_WARNING, damage,
                 "function '%.*s' stays as it is: the parser cannot read this place",
                 (int)name.size, name.bytes);
    } else {
        note_add(rewriter, NOTE_WARNING, damage,
                 "the parser cannot read this place: it stays as it is");
    }
}

/* The definition below decorators, or the node itself. */
static uint32_t definition_of(const struct rewriter *rewriter, uint32_t node)
{
    return node_at(rewriter, node)->kind == KIND_DECORATED_DEFINITION
               ? syntax_last(&rewriter->syntax, node)
               : node;
}

/* Whether the class can have a record. A class without type parameters gets `*((record) or ())`
 * among its bases. */
static bool class_can_carry(const struct rewriter *rewriter, uint32_t definition)
{
    return node_at(rewriter, definition)->kind == KIND_CLASS_DEFINITION &&
           syntax_find(&rewriter->syntax, definition, KIND_TYPE_PARAMETER) == 0 &&
           syntax_find(&rewriter->syntax, definition, KIND_IDENTIFIER) != 0;
}

/* Whether a definition's header has a place for a record: a decorator, or a class's bases. */
static bool definition_can_carry(const struct rewriter *rewriter, uint32_t node)
{
    if (node_at(rewriter, node)->kind == KIND_DECORATED_DEFINITION) {
        uint32_t decorator = syntax_child(&rewriter->syntax, node);

        return syntax_child(&rewriter->syntax, decorator) != 0 &&
               !node_at(rewriter, decorator)->has_error;
    }
    return class_can_carry(rewriter, node);
}

static void insert_class_header(struct rewriter *rewriter,
                                uint32_t definition,
                                const struct pending *pending)
{
    struct buffer *text = &rewriter->edits->text;
    size_t begin = edits_begin(rewriter->edits);

    for (uint32_t i = 0; i < pending->count; i++) {
        buffer_add_byte(text, '(');
        forms_record(&rewriter->forms, &pending->items[i], text);
        buffer_add(text, SLICE(") or "));
    }
    insert_base(rewriter, definition, begin, EDIT_BEFORE);
}

/* Removes from the pending records the name that a definition rebinds: a record after the
 * definition would pass its new value. */
static void
pending_drop(struct rewriter *rewriter, struct pending *pending, struct slice name)
{
    for (uint32_t i = 0; i < pending->count; i++) {
        struct record *record = &pending->items[i];
        struct site *site = &rewriter->sites.items[record->site];
        uint32_t argument = 0;

        for (uint32_t j = 0; j < site->write_count; j++) {
            if (site->writes[j].source == SITE_SOURCE_NONE) {
                continue;
            }
            if (!slice_equal(record->arguments[argument], name)) {
                argument++;
                continue;
            }
            site->writes[j].source = SITE_SOURCE_NONE;
            memmove(record->arguments + argument, record->arguments + argument + 1,
                    (record->argument_count - argument - 1) *
                        sizeof *record->arguments);
            record->argument_count--;
        }
    }
}

/* Keeps pending records past a definition whose header cannot carry them. */
static void carry_past_definition(struct rewriter *rewriter,
                                  uint32_t definition,
                                  struct pending *pending)
{
    uint32_t name = syntax_find(&rewriter->syntax, definition, KIND_IDENTIFIER);

    if (name != 0) {
        pending_drop(rewriter, pending, text_of(rewriter, name));
    }
}

/* Inserts pending records into a definition's header, or keeps them for the statement after it. */
static void
carry_to_definition(struct rewriter *rewriter, uint32_t node, struct pending *pending)
{
    uint32_t definition = definition_of(rewriter, node);

    if (pending->count == 0) {
        return;
    }
    if (!definition_can_carry(rewriter, node)) {
        carry_past_definition(rewriter, definition, pending);
        return;
    }
    if (node != definition) {
        uint32_t expression = syntax_child(&rewriter->syntax, node) + 1;

        insert_header(rewriter, node_at(rewriter, expression)->start,
                      node_at(rewriter, expression)->end, pending);
    } else {
        insert_class_header(rewriter, definition, pending);
    }
    pending->count = 0;
}

/* The qualified name of a definition in the current place: `Outer.inner`, `f.<locals>.inner`. If
 * out of memory, sets has_failed. */
static struct slice qualified_name(struct rewriter *rewriter, struct slice name)
{
    const struct place *place = rewriter->place;
    struct slice middle =
        place->kind == SCOPE_FUNCTION ? SLICE(".<locals>.") : SLICE(".");
    char *bytes;

    if (place->name.size == 0) {
        return name;
    }
    bytes =
        arena_allocate(rewriter->arena, place->name.size + middle.size + name.size, 1);
    if (bytes == NULL) {
        rewriter->has_failed = true;
        return name;
    }
    memcpy(bytes, place->name.bytes, place->name.size);
    memcpy(bytes + place->name.size, middle.bytes, middle.size);
    memcpy(bytes + place->name.size + middle.size, name.bytes, name.size);
    return (struct slice){bytes, place->name.size + middle.size + name.size};
}

/* The identifier of a parameter. 0 for `*` and `/`. */
static uint32_t parameter_name(const struct rewriter *rewriter, uint32_t parameter)
{
    while (node_at(rewriter, parameter)->kind != KIND_IDENTIFIER) {
        parameter = syntax_child(&rewriter->syntax, parameter);
        if (parameter == 0) {
            return 0;
        }
    }
    return parameter;
}

static bool
has_decorator(const struct rewriter *rewriter, uint32_t node, struct slice name)
{
    if (node_at(rewriter, node)->kind != KIND_DECORATED_DEFINITION) {
        return false;
    }
    for (uint32_t i = syntax_child(&rewriter->syntax, node); i != 0;
         i = syntax_sibling(&rewriter->syntax, node, i)) {
        if (node_at(rewriter, i)->kind == KIND_DECORATOR &&
            slice_equal(text_of(rewriter, i + 1), name)) {
            return true;
        }
    }
    return false;
}

/* Adds the term of a `*args` or `**rest`: the remaining arguments, or those with other names. */
static void draft_rest(struct rewriter *rewriter, uint32_t parameter, uint32_t write)
{
    struct terms *terms = &rewriter->draft.terms;
    struct slice text = text_of(rewriter, parameter);

    if (!slice_starts(text, SLICE("*"))) {
        return;
    }
    if (terms->size == 0) {
        terms_add_text(terms, "k");
    }
    terms_add_text(terms, "@");
    terms_add_number(terms, write);
    terms_add_text(terms, slice_starts(text, SLICE("**")) ? "**" : "*");
}

/* Drafts the enter site, with every parameter's value. */
static void
make_enter(struct rewriter *rewriter, uint32_t definition, struct pending *pending)
{
    uint32_t parameters = syntax_find(&rewriter->syntax, definition, KIND_PARAMETERS);
    struct slice arguments[WRITES_LIMIT];
    uint32_t count = 0;
    struct record record;
    uint32_t block;

    draft_init(&rewriter->draft, SITE_ENTER, rewriter->place->function, definition);
    for (uint32_t i = parameters == 0 ? 0 : syntax_child(&rewriter->syntax, parameters);
         i != 0; i = syntax_sibling(&rewriter->syntax, parameters, i)) {
        uint32_t name = parameter_name(rewriter, i);

        if (name != 0 &&
            draft_write(&rewriter->draft, text_of(rewriter, name), SITE_SOURCE_VALUE)) {
            draft_rest(rewriter, i, count);
            arguments[count++] = text_of(rewriter, name);
        }
    }
    block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);
    record = is_docstring(rewriter, syntax_child(&rewriter->syntax, block))
                 ? record_make(rewriter, arguments, count)
                 : record_make_in(rewriter, block, arguments, count);
    for (uint32_t i = parameters;
         parameters != 0 && i < node_at(rewriter, parameters)->next; i++) {
        if (rewriter->names.is_binding[i]) {
            scope_bind(&rewriter->place->scope, names_of(&rewriter->names, i),
                       record.site);
        }
    }
    pending_add(pending, &record);
}

static void open_function(struct rewriter *rewriter,
                          struct place *place,
                          uint32_t node,
                          uint32_t definition)
{
    uint32_t parameters = syntax_find(&rewriter->syntax, definition, KIND_PARAMETERS);
    uint32_t first = parameters == 0 ? 0 : syntax_child(&rewriter->syntax, parameters);
    bool is_method = place->outer->kind == SCOPE_CLASS;

    place->is_selected =
        (place->outer->kind == SCOPE_FUNCTION && place->outer->is_selected) ||
        choice_has_function(&rewriter->choice, place->name, is_method);
    place->is_names_only =
        inspection_visit(&rewriter->inspection, &place->scope, definition);
    if (is_method && first != 0 &&
        !has_decorator(rewriter, node, SLICE("staticmethod"))) {
        first = parameter_name(rewriter, first);
        place->self = first == 0 ? (struct slice){NULL, 0} : text_of(rewriter, first);
    }
    place->function = sites_add_function(&rewriter->sites, place->name,
                                         node_at(rewriter, definition)->row + 1);
}

static void rewrite_function(struct rewriter *rewriter,
                             uint32_t node,
                             uint32_t definition,
                             struct slice name)
{
    uint32_t block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);
    struct place place = {
        .outer = rewriter->place,
        .kind = SCOPE_FUNCTION,
        .name = name,
    };
    struct pending pending = {.count = 0};

    rewriter->result->function_count++;
    if (block == 0 ||
        !scope_open(&place.scope, &rewriter->place->scope, SCOPE_FUNCTION, definition,
                    &rewriter->syntax, &rewriter->names, rewriter->arena)) {
        rewriter->has_failed |= block != 0;
        return;
    }
    open_function(rewriter, &place, node, definition);
    rewriter->place = &place;
    make_enter(rewriter, definition, &pending);
    rewrite_block(rewriter, block, &pending, true);
    rewriter->place = place.outer;
    rewriter->result->selected_count += place.emitted_count > 0;
}

static void
rewrite_class(struct rewriter *rewriter, uint32_t definition, struct slice name)
{
    uint32_t block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);
    struct place place = {
        .outer = rewriter->place,
        .kind = SCOPE_CLASS,
        .function = rewriter->place->function,
        .name = name,
        .is_selected = rewriter->place->is_selected,
    };
    struct pending pending = {.count = 0};

    if (block == 0) {
        return;
    }
    if (!scope_open(&place.scope, &rewriter->place->scope, SCOPE_CLASS, definition,
                    &rewriter->syntax, &rewriter->names, rewriter->arena)) {
        rewriter->has_failed = true;
        return;
    }
    rewriter->place = &place;
    rewrite_block(rewriter, block, &pending, true);
    rewriter->place = place.outer;
}

/* Whether a decorator, a base or a default is nested too deep. */
static bool
is_deep_header(const struct rewriter *rewriter, uint32_t node, uint32_t definition)
{
    uint32_t block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);

    return depth_find_any(&rewriter->depth, node,
                          block != 0 ? block : node_at(rewriter, definition)->next) !=
           0;
}

/* Rewrites assignment expressions in decorators, bases and defaults, which run where the
 * definition does. */
static void rewrite_definition_header(struct rewriter *rewriter,
                                      uint32_t node,
                                      uint32_t definition,
                                      struct pending *pending)
{
    uint32_t block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);
    bool is_generic =
        syntax_find(&rewriter->syntax, definition, KIND_TYPE_PARAMETER) != 0;

    if (is_deep_header(rewriter, node, definition)) {
        carry_past_definition(rewriter, definition, pending);
        return;
    }
    carry_to_definition(rewriter, node, pending);
    if (node != definition) {
        rewrite_walruses(rewriter, node, definition);
    }
    if (block != 0 && !is_generic) {
        rewrite_walruses(rewriter, definition, block);
    }
}

/* A node that is nested too deep in a function, if anything in the function is to be recorded.
 * 0: none. */
static uint32_t
find_deep(const struct rewriter *rewriter, uint32_t definition, struct slice name)
{
    uint32_t block = syntax_find(&rewriter->syntax, definition, KIND_BLOCK);
    const struct place *outer = rewriter->place;
    uint32_t deep = depth_find(&rewriter->depth, definition, definition,
                               node_at(rewriter, definition)->next);
    bool is_selected =
        (outer->kind == SCOPE_FUNCTION && outer->is_selected) ||
        choice_has_function(&rewriter->choice, name, outer->kind == SCOPE_CLASS);

    return deep != 0 && choice_has_statement(&rewriter->choice, block, is_selected)
               ? deep
               : 0;
}

/* Rewrites a function or class, decorated or not. `is_before_damage`: the parser could not read
 * the code after it, which may be a part of it. */
static void rewrite_definition(struct rewriter *rewriter,
                               uint32_t node,
                               struct pending *pending,
                               bool is_before_damage)
{
    uint32_t definition = definition_of(rewriter, node);
    uint32_t identifier = syntax_find(&rewriter->syntax, definition, KIND_IDENTIFIER);
    bool is_function = node_at(rewriter, definition)->kind == KIND_FUNCTION_DEFINITION;
    struct slice compiler;
    struct slice name;
    uint32_t damage;
    uint32_t deep;

    if (identifier == 0 ||
        !is_definition((enum kind)node_at(rewriter, definition)->kind)) {
        skip_damaged(rewriter, node, node, (struct slice){NULL, 0});
        return;
    }
    name = qualified_name(rewriter, text_of(rewriter, identifier));
    scope_bind(&rewriter->place->scope, names_of(&rewriter->names, identifier),
               SITE_NONE);
    damage = is_function ? find_damage(rewriter, definition) : 0;
    if (is_function && (damage != 0 || is_before_damage)) {
        skip_damaged(rewriter, node, damage != 0 ? damage : definition, name);
        return;
    }
    compiler =
        foreign_compiler(&rewriter->foreign, definition, node == definition ? 0 : node);
    if (compiler.size > 0) {
        rewriter->result->function_count += count_functions(rewriter, node);
        note_add(rewriter, NOTE_REMARK, definition,
                 "'%.*s' stays as it is: %.*s reads its source", (int)name.size,
                 name.bytes, (int)compiler.size, compiler.bytes);
        carry_to_definition(rewriter, definition, pending);
        return;
    }
    rewrite_definition_header(rewriter, node, definition, pending);
    deep = is_function ? find_deep(rewriter, definition, name) : 0;
    if (deep != 0) {
        skip_deep(rewriter, definition, deep, name);
    } else if (is_function) {
        rewrite_function(rewriter, node, definition, name);
    } else {
        rewrite_class(rewriter, definition, name);
    }
}

/* ---- --every-line: a site for each statement without one, and for headers of compound
 * statements ---- */

static bool wants_line(const struct rewriter *rewriter)
{
    return rewriter->choice.selection->every_line &&
           rewriter->place->kind != SCOPE_CLASS;
}

/* Makes a site that is identified by the text of its statement or header, from the node `first`
 * up to `end`. */
static struct record
line_make(struct rewriter *rewriter, uint32_t node, uint32_t first, uint32_t end)
{
    draft_init(&rewriter->draft, SITE_LINE, rewriter->place->function, node);
    draft_condition(&rewriter->draft,
                    slice_part(rewriter->syntax.text, node_at(rewriter, first)->start,
                               node_at(rewriter, end - 1)->end));
    return record_make(rewriter, NULL, 0);
}

/* Whether statements after it are not reached. */
static bool is_leaving(enum kind kind)
{
    return kind == KIND_RAISE_STATEMENT || kind == KIND_BREAK_STATEMENT ||
           kind == KIND_CONTINUE_STATEMENT;
}

/* Inserts a record before a statement that leaves the block: raise, break, continue. */
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

/* Inserts a record after another statement, which has no site. */
static void
line_after_simple(struct rewriter *rewriter, uint32_t statement, bool is_last)
{
    struct record record;

    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;

    /* nothing may precede another `from __future__ import` */
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

static bool is_definition(enum kind kind)
{
    return kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION ||
           kind == KIND_DECORATED_DEFINITION;
}

/* Whether the prefix of a string literal makes it neither bytes nor a format string. */
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

/* The strings of a concatenation are not in the flat tree, so their quotes are searched in the
 * text. A concatenation with a format string or bytes is recognised only if its first string is
 * one; a mistake only moves a record. */
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

/* Whether a node that the parser could not read is next to the statement. It may contain a part
 * of it. */
static bool is_beside_damage(const struct rewriter *rewriter,
                             uint32_t block,
                             uint32_t statement,
                             uint32_t previous)
{
    uint32_t next = syntax_sibling(&rewriter->syntax, block, statement);

    return (next != 0 && node_at(rewriter, next)->kind == KIND_ERROR) ||
           (previous != 0 && node_at(rewriter, previous)->kind == KIND_ERROR);
}

/* Whether CPython makes no code for the statement. A record before it would add a line event. */
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

/* Whether the next statement can carry the records of a statement that ends on a later line than
 * it starts. After such a statement they would add an event for its last line. */
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

/* Rewrites a simple statement. If every line is wanted and the statement has no site, adds one. */
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

/* Whether a statement of the module is left unchanged because it is nested too deep. Of a
 * function, the whole is left unchanged. */
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
        return; /* pending records are passed to the next statement */
    }
    if (is_compound((enum kind)node_at(rewriter, statement)->kind)) {
        rewrite_compound(rewriter, statement, pending);
    } else if (rewriter->place->kind == SCOPE_MODULE &&
               is_dunder_assignment(rewriter, statement)) {
        return; /* pending records are passed to the next statement */
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

/* Passes pending records to the statement after a docstring, if it can carry them. A docstring
 * makes no code, so its line has no event. */
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
