/* The bootstrap of a file: code that defines `_mt` and `spy_save` before their first use, on
 * lines that exist already. */
#include "instrument/rewrite/rewrite.h"

#include <assert.h>

enum slot_kind {
    SLOT_NONE,
    SLOT_AFTER,      /* after a simple statement: a docstring or a __future__ import */
    SLOT_BEFORE,     /* before a simple statement */
    SLOT_HEADER,     /* around an expression in a header, decorator or default */
    SLOT_CLASS,      /* among a class's bases */
    SLOT_BLANK_LINE, /* on a blank or comment line between statements */
    SLOT_END,        /* after the text's last line end */
};

struct slot {
    enum slot_kind kind;
    uint32_t node;  /* the statement or class */
    uint32_t start; /* of the expression or line */
    uint32_t end;   /* of the expression */
};

/* The maximum size of all copies of the table in one file. */
#define REPEATED_TABLES_LIMIT ((size_t)16 << 10)

/* The node that follows this one below its parent. 0: it is the last. */
static uint32_t sibling(const struct rewriter *rewriter, uint32_t parent, uint32_t node)
{
    return syntax_sibling(&rewriter->syntax, parent, node);
}

static bool is_simple(const struct rewriter *rewriter, uint32_t node)
{
    enum kind kind = (enum kind)node_at(rewriter, node)->kind;

    return kind >= KIND_EXPRESSION_STATEMENT && kind <= KIND_TYPE_ALIAS_STATEMENT &&
           kind != KIND_ASSIGNMENT && kind != KIND_AUGMENTED_ASSIGNMENT &&
           is_sound(rewriter, node);
}

/* Whether an ERROR node precedes the statement. It may contain the statement's start, so nothing
 * may be inserted there. */
static bool follows_error(const struct rewriter *rewriter, uint32_t node)
{
    if (!node_at(rewriter, 0)->has_error) {
        return false;
    }
    for (uint32_t i = syntax_child(&rewriter->syntax, 0); i != 0 && i < node;
         i = sibling(rewriter, 0, i)) {
        if (node_at(rewriter, i)->kind == KIND_ERROR &&
            node_at(rewriter, i)->next == node) {
            return true;
        }
    }
    return false;
}

static struct slot header_slot(uint32_t start, uint32_t end)
{
    return (struct slot){.kind = SLOT_HEADER, .start = start, .end = end};
}

/* A slot at the first default value of a function's parameters, which runs where the function is
 * defined. */
static struct slot default_slot(const struct rewriter *rewriter, uint32_t definition)
{
    uint32_t parameters = syntax_find(&rewriter->syntax, definition, KIND_PARAMETERS);

    if (parameters == 0 || node_at(rewriter, parameters)->has_error ||
        syntax_find(&rewriter->syntax, definition, KIND_TYPE_PARAMETER) != 0) {
        return (struct slot){.kind = SLOT_NONE};
    }
    for (uint32_t i = syntax_child(&rewriter->syntax, parameters); i != 0;
         i = sibling(rewriter, parameters, i)) {
        if (node_at(rewriter, i)->kind == KIND_DEFAULT_PARAMETER ||
            node_at(rewriter, i)->kind == KIND_TYPED_DEFAULT_PARAMETER) {
            uint32_t value = syntax_last(&rewriter->syntax, i);

            return header_slot(node_at(rewriter, value)->start,
                               node_at(rewriter, value)->end);
        }
    }
    return (struct slot){.kind = SLOT_NONE};
}

/* The slot at that statement, or SLOT_NONE. */
static struct slot find_slot_at(const struct rewriter *rewriter, uint32_t statement)
{
    enum kind kind = (enum kind)node_at(rewriter, statement)->kind;
    uint32_t start;
    uint32_t end;

    if (follows_error(rewriter, statement)) {
        return (struct slot){.kind = SLOT_NONE};
    }
    if (is_simple(rewriter, statement)) {
        return (struct slot){.kind = SLOT_BEFORE, .node = statement};
    }
    if (kind == KIND_TRY_STATEMENT) {
        uint32_t block = syntax_find(&rewriter->syntax, statement, KIND_BLOCK);
        uint32_t first = block == 0 ? 0 : syntax_child(&rewriter->syntax, block);

        return first == 0 ? (struct slot){.kind = SLOT_NONE}
                          : find_slot_at(rewriter, first);
    }
    if (kind == KIND_CLASS_DEFINITION && !node_at(rewriter, statement)->has_error &&
        syntax_find(&rewriter->syntax, statement, KIND_TYPE_PARAMETER) == 0) {
        return (struct slot){.kind = SLOT_CLASS, .node = statement};
    }
    if (kind == KIND_DECORATED_DEFINITION) {
        uint32_t expression = syntax_child(&rewriter->syntax, statement) + 1;

        return node_at(rewriter, expression)->has_error
                   ? (struct slot){.kind = SLOT_NONE}
                   : header_slot(node_at(rewriter, expression)->start,
                                 node_at(rewriter, expression)->end);
    }
    if (kind == KIND_FUNCTION_DEFINITION) {
        return default_slot(rewriter, statement);
    }
    return header_range(rewriter, statement, &start, &end)
               ? header_slot(start, end)
               : (struct slot){.kind = SLOT_NONE};
}

static bool names_encoding(const struct rewriter *rewriter, uint32_t row)
{
    assert(row < rewriter->syntax.row_count + 1);

    struct slice line =
        slice_part(rewriter->syntax.text, rewriter->syntax.row_starts[row],
                   rewriter->syntax.row_starts[row + 1]);

    return slice_find(line, SLICE("coding"), 0) < line.size;
}

/* Whether the line may name the interpreter or the encoding. Only lines 1 and 2 do; line 2
 * counts only if line 1 is and stays blank or a comment. */
static bool is_reserved_line(const struct rewriter *rewriter, uint32_t row)
{
    if (row == 0 && (slice_starts(rewriter->syntax.text, SLICE("#!")) ||
                     (rewriter->syntax.row_count > 1 && names_encoding(rewriter, 1)))) {
        return true;
    }
    return row < 2 && names_encoding(rewriter, row);
}

/* Whether the line that begins at `start` continues the line before. */
static bool follows_continuation(const struct rewriter *rewriter, uint32_t start)
{
    const char *bytes = rewriter->syntax.text.bytes;

    while (start > 0 && (bytes[start - 1] == '\n' || bytes[start - 1] == '\r')) {
        start--;
    }
    return start > 0 && bytes[start - 1] == '\\';
}

/* A slot on a blank or comment line between the two offsets that begins in column 0. */
static struct slot
find_blank_line(const struct rewriter *rewriter, uint32_t from, uint32_t to)
{
    const struct syntax *syntax = &rewriter->syntax;

    for (uint32_t row = syntax_row(syntax, from);
         row < syntax->row_count && syntax->row_starts[row] < to; row++) {
        uint32_t start = syntax->row_starts[row];
        uint32_t end = syntax->row_starts[row + 1];
        struct slice line = slice_part(syntax->text, start, end);

        if (start < from || end > to || line.size == 0 ||
            is_reserved_line(rewriter, row) || follows_continuation(rewriter, start)) {
            continue;
        }
        if (line.bytes[0] == '#' || line.bytes[0] == '\n' || line.bytes[0] == '\r') {
            return (struct slot){.kind = SLOT_BLANK_LINE, .start = start};
        }
    }
    return (struct slot){.kind = SLOT_NONE};
}

static bool is_future_import(const struct rewriter *rewriter, uint32_t statement)
{
    return node_at(rewriter, statement)->kind == KIND_FUTURE_IMPORT_STATEMENT;
}

/* Whether it is a try statement without records. The bootstrap does not go into its body: if
 * monitorch is missing, the file's own `except ImportError` would catch the failure. */
static bool is_plain_try(const struct rewriter *rewriter, uint32_t statement)
{
    return node_at(rewriter, statement)->kind == KIND_TRY_STATEMENT &&
           rewriter->first_module_edit >= node_at(rewriter, statement)->end;
}

/* Whether the bootstrap may follow the statement: no recorded code of it runs before it is
 * called. A generic class has no slot for the bootstrap, and its body rarely calls what it
 * defines. */
static bool may_precede(const struct rewriter *rewriter, uint32_t statement)
{
    return node_at(rewriter, statement)->kind == KIND_FUNCTION_DEFINITION ||
           node_at(rewriter, statement)->kind == KIND_CLASS_DEFINITION ||
           is_plain_try(rewriter, statement) ||
           is_dunder_assignment(rewriter, statement);
}

/* Finds the first slot in the order of execution. Plain functions may precede it, because they
 * are not called yet. `next` is the statement after the slot, or 0. */
static struct slot find_slot(const struct rewriter *rewriter, uint32_t *next)
{
    struct slot slot = {.kind = SLOT_NONE};
    struct slot worst = {.kind = SLOT_NONE}; /* used if there is no better slot */
    uint32_t size = (uint32_t)rewriter->syntax.text.size;
    uint32_t statement = syntax_child(&rewriter->syntax, 0);
    uint32_t previous_end = 0;

    *next = 0;
    if (statement != 0 && is_docstring(rewriter, statement) &&
        is_sound(rewriter, statement)) {
        slot = (struct slot){.kind = SLOT_AFTER, .node = statement};
        statement = sibling(rewriter, 0, statement);
    }
    while (statement != 0 && is_future_import(rewriter, statement)) {
        slot = is_sound(rewriter, statement)
                   ? (struct slot){.kind = SLOT_AFTER, .node = statement}
                   : (struct slot){.kind = SLOT_NONE};
        statement = sibling(rewriter, 0, statement);
    }
    *next = statement;
    for (; slot.kind == SLOT_NONE && statement != 0;
         statement = sibling(rewriter, 0, statement)) {
        struct slot blank = find_blank_line(rewriter, previous_end,
                                            node_at(rewriter, statement)->start);

        slot = find_slot_at(rewriter, statement);
        *next = sibling(rewriter, 0, statement);
        if (is_plain_try(rewriter, statement) ||
            is_dunder_assignment(rewriter, statement)) {
            worst = worst.kind == SLOT_NONE ? slot : worst;
            slot = blank;
        }
        if (slot.kind == SLOT_NONE ||
            (rewriter->needs_spy_import && slot.kind != SLOT_BEFORE &&
             blank.kind != SLOT_NONE)) {
            slot = blank; /* a visible import gets a line of its own if possible */
        }
        if (slot.kind == SLOT_NONE && !may_precede(rewriter, statement)) {
            return slot;
        }
        previous_end = node_at(rewriter, statement)->end;
    }
    if (slot.kind == SLOT_NONE) {
        slot = find_blank_line(rewriter, previous_end, size);
    }
    if (slot.kind == SLOT_NONE) {
        *next = 0;
        slot = worst;
    }
    return slot;
}

/* Finds a slot after the text's last line end. Used for files with many functions and no other
 * slot, where each function would hold a copy of the table. Returns false if it does not apply. */
static bool
find_end_slot(const struct rewriter *rewriter, struct slice table, struct slot *slot)
{
    struct slice text = rewriter->syntax.text;
    uint32_t size = (uint32_t)text.size;

    if (rewriter->result->function_count * table.size < REPEATED_TABLES_LIMIT ||
        size == 0 || (text.bytes[size - 1] != '\n' && text.bytes[size - 1] != '\r') ||
        follows_continuation(rewriter, size)) {
        return false;
    }
    *slot = (struct slot){.kind = SLOT_END, .start = size};
    return true;
}

/* Whether no recorded code is defined before the offset. */
static bool is_first_code(const struct rewriter *rewriter, uint32_t start)
{
    for (uint32_t i = syntax_child(&rewriter->syntax, 0);
         i != 0 && node_at(rewriter, i)->start < start; i = sibling(rewriter, 0, i)) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;

        if (kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION ||
            kind == KIND_TRY_STATEMENT) {
            return false;
        }
    }
    return true;
}

/* Finds a slot for the table at the next simple statement on another line, before any record.
 * The line that fails if monitorch is missing is then short. SLOT_NONE if the lines between may
 * call functions that were defined before. */
static struct slot find_table_slot(const struct rewriter *rewriter,
                                   const struct slot *first,
                                   uint32_t next)
{
    struct slot none = {.kind = SLOT_NONE};
    uint32_t row;

    if ((first->kind != SLOT_AFTER && first->kind != SLOT_BEFORE) ||
        !is_first_code(rewriter, node_at(rewriter, first->node)->start)) {
        return none;
    }
    row = syntax_row(&rewriter->syntax, first->kind == SLOT_AFTER
                                            ? node_at(rewriter, first->node)->end
                                            : node_at(rewriter, first->node)->start);
    for (uint32_t i = next; i != 0; i = sibling(rewriter, 0, i)) {
        if (!is_simple(rewriter, i) || follows_error(rewriter, i) ||
            node_at(rewriter, i)->start > rewriter->first_module_edit) {
            return none;
        }
        if (node_at(rewriter, i)->row > row && !is_dunder_assignment(rewriter, i)) {
            return (struct slot){.kind = SLOT_BEFORE, .node = i};
        }
    }
    return none;
}

static void add_import(struct buffer *text)
{
    buffer_add(text, SLICE(FORM_IMPORT));
    buffer_add(text, SLICE(FORM_IMPORT_HELP));
    buffer_add(text, SLICE(FORM_IMPORT_END));
}

static void add_table(struct buffer *text, struct slice table)
{
    buffer_add(text, SLICE(FORM_TABLE));
    buffer_add(text, table);
    buffer_add(text, SLICE(FORM_TABLE_END));
}

/* Adds `_mt = …` with the table, or `_mt_t = …`, which a later line calls with the table. */
static void add_statements(const struct rewriter *rewriter,
                           struct buffer *text,
                           struct slice table,
                           bool has_table)
{
    const struct forms *forms = &rewriter->forms;

    if (rewriter->has_record) {
        buffer_add(text, has_table ? forms->hook : forms->temporary);
        buffer_add(text, SLICE(" = "));
        add_import(text);
        if (has_table) {
            add_table(text, table);
            if (rewriter->uses_module_temporary) {
                buffer_add(text, SLICE("; "));
                buffer_add(text, forms->temporary);
                buffer_add(text, SLICE(" = None"));
            }
        }
    }
    if (rewriter->needs_spy_import) {
        buffer_add(text, rewriter->has_record ? SLICE("; ") : SLICE(""));
        buffer_add(text, SLICE(FORM_SPY_IMPORT));
    }
}

static void
insert_table(struct rewriter *rewriter, const struct slot *slot, struct slice table)
{
    struct buffer *text = &rewriter->edits->text;
    size_t begin = edits_begin(rewriter->edits);

    buffer_add(text, rewriter->forms.hook);
    buffer_add(text, SLICE(" = "));
    buffer_add(text, rewriter->forms.temporary);
    add_table(text, table);
    buffer_add(text, SLICE("; "));
    buffer_add(text, rewriter->forms.temporary);
    buffer_add(text, SLICE(" = None; "));
    edits_end(rewriter->edits, begin, node_at(rewriter, slot->node)->start, EDIT_BOOT);
}

/* Adds the expressions `(_mt := …) and ()`, all false, joined by `or`. */
static void add_expressions(const struct rewriter *rewriter,
                            struct buffer *text,
                            struct slice table)
{
    const struct forms *forms = &rewriter->forms;

    if (rewriter->has_record) {
        buffer_add_byte(text, '(');
        buffer_add(text, forms->hook);
        buffer_add(text, SLICE(" := "));
        add_import(text);
        add_table(text, table);
        buffer_add(text, SLICE(") and () or "));
        if (rewriter->uses_module_temporary) {
            buffer_add_byte(text, '(');
            buffer_add(text, forms->temporary);
            buffer_add(text, SLICE(" := None) or "));
        }
    }
    if (rewriter->needs_spy_import) {
        buffer_add(text, SLICE("(spy_save := " FORM_SPY_VALUE ") and () or "));
    }
}

static void insert_header_slot(struct rewriter *rewriter,
                               const struct slot *slot,
                               struct slice table)
{
    struct buffer *text = &rewriter->edits->text;
    size_t begin = edits_begin(rewriter->edits);

    add_expressions(rewriter, text, table);
    buffer_add_byte(text, '(');
    edits_end_open(rewriter->edits, begin, slot->start, slot->end, 0);
    begin = edits_begin(rewriter->edits);
    buffer_add_byte(text, ')');
    edits_end_close(rewriter->edits, begin, slot->start, slot->end, 0);
}

static void insert_slot(struct rewriter *rewriter,
                        const struct slot *slot,
                        struct slice table,
                        bool has_table)
{
    struct buffer *text = &rewriter->edits->text;
    size_t begin = edits_begin(rewriter->edits);

    switch (slot->kind) {
    case SLOT_AFTER:
        buffer_add(text, SLICE("; "));
        add_statements(rewriter, text, table, has_table);
        edits_end(rewriter->edits, begin, node_at(rewriter, slot->node)->end,
                  EDIT_BOOT);
        break;
    case SLOT_BEFORE:
        add_statements(rewriter, text, table, has_table);
        buffer_add(text, SLICE("; "));
        edits_end(rewriter->edits, begin, node_at(rewriter, slot->node)->start,
                  EDIT_BOOT);
        break;
    case SLOT_BLANK_LINE:
    case SLOT_END:
        add_statements(rewriter, text, table, has_table);
        /* distinguishes the line from one that a person wrote */
        buffer_add_byte(text, ';');
        if (slot->kind == SLOT_BLANK_LINE &&
            rewriter->syntax.text.bytes[slot->start] == '#') {
            buffer_add(text, SLICE("  "));
        }
        edits_end(rewriter->edits, begin, slot->start, EDIT_BOOT);
        break;
    case SLOT_HEADER:
        insert_header_slot(rewriter, slot, table);
        break;
    case SLOT_CLASS:
        add_expressions(rewriter, text, table);
        insert_base(rewriter, slot->node, begin, EDIT_BOOT);
        break;
    default:
        break;
    }
}

/* Adds `'_mt' in globals() or globals().__setitem__('_mt', …)`. Used in files of functions
 * without a slot at module level: each function runs it at its start. */
static void
add_lazy(const struct rewriter *rewriter, struct buffer *text, struct slice table)
{
    struct slice name = rewriter->has_record ? rewriter->forms.hook : SLICE("spy_save");

    buffer_add_byte(text, '\'');
    buffer_add(text, name);
    buffer_add(text, SLICE("' in globals() or globals().__setitem__('"));
    buffer_add(text, name);
    buffer_add(text, SLICE("', "));
    if (rewriter->has_record) {
        add_import(text);
        add_table(text, table);
    } else {
        buffer_add(text, SLICE(FORM_SPY_VALUE));
    }
    buffer_add_byte(text, ')');
}

/* Inserts the lazy bootstrap at the first statement of the block that can carry it. Returns
 * false if there is none. */
static bool
insert_in_block(struct rewriter *rewriter, uint32_t block, struct slice table)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t statement = syntax_child(&rewriter->syntax, block);
    size_t begin = edits_begin(rewriter->edits);
    struct slot slot = {.kind = SLOT_NONE};

    if (statement != 0 && is_docstring(rewriter, statement)) {
        buffer_add(text, SLICE("; not ("));
        add_lazy(rewriter, text, table);
        buffer_add_byte(text, ')');
        edits_end(rewriter->edits, begin, node_at(rewriter, statement)->end, EDIT_BOOT);
        return true;
    }
    for (; statement != 0 && slot.kind == SLOT_NONE;
         statement = sibling(rewriter, block, statement)) {
        slot = find_slot_at(rewriter, statement);
    }
    switch (slot.kind) {
    case SLOT_BEFORE:
        buffer_add(text, SLICE("not ("));
        add_lazy(rewriter, text, table);
        buffer_add(text, SLICE("); "));
        edits_end(rewriter->edits, begin, node_at(rewriter, slot.node)->start,
                  EDIT_BOOT);
        return true;
    case SLOT_CLASS:
        buffer_add_byte(text, '(');
        add_lazy(rewriter, text, table);
        buffer_add(text, SLICE(") and () or "));
        insert_base(rewriter, slot.node, begin, EDIT_BOOT);
        return true;
    case SLOT_HEADER:
        buffer_add_byte(text, '(');
        add_lazy(rewriter, text, table);
        buffer_add(text, SLICE(") and () or ("));
        edits_end_open(rewriter->edits, begin, slot.start, slot.end, 0);
        begin = edits_begin(rewriter->edits);
        buffer_add_byte(text, ')');
        edits_end_close(rewriter->edits, begin, slot.start, slot.end, 0);
        return true;
    default:
        return false;
    }
}

/* Inserts the lazy bootstrap into each function. If a function has no statement that can carry
 * it, inserts it into the functions inside. */
static void insert_lazily(struct rewriter *rewriter, uint32_t node, struct slice table)
{
    for (uint32_t i = node + 1; i < node_at(rewriter, node)->next;) {
        uint32_t block = 0;

        if (node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION) {
            if (node_at(rewriter, i)->has_error) {
                i = node_at(rewriter, i)->next; /* left unchanged */
                continue;
            }
            block = syntax_find(&rewriter->syntax, i, KIND_BLOCK);
        }
        if (block != 0 && insert_in_block(rewriter, block, table)) {
            i = node_at(rewriter, i)->next;
        } else {
            i++;
        }
    }
}

void insert_bootstrap(struct rewriter *rewriter, struct slice table)
{
    uint32_t next;
    struct slot slot = find_slot(rewriter, &next);
    struct slot table_slot;

    if (slot.kind == SLOT_NONE && !find_end_slot(rewriter, table, &slot)) {
        insert_lazily(rewriter, 0, table);
        return;
    }
    table_slot = find_table_slot(rewriter, &slot, next);
    insert_slot(rewriter, &slot, table,
                table_slot.kind == SLOT_NONE || !rewriter->has_record);
    if (table_slot.kind != SLOT_NONE && rewriter->has_record) {
        insert_table(rewriter, &table_slot, table);
    }
}
