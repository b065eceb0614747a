/* Where the bootstrap of a file can stand. */
#include "instrument/output/bootstrap_slot.h"

#include "instrument/rewrite/rewrite.h"

/* So many bytes of tables are repeated, no more. */
#define REPEATED_TABLES_LIMIT ((size_t)16 << 10)

uint32_t sibling(const struct rewriter *rewriter, uint32_t parent, uint32_t node)
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

/* A statement before which nothing may be inserted where an ERROR may have eaten its start. */
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

/* The first default value among a function's parameters runs where the function is defined. */
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

struct slot find_slot_at(const struct rewriter *rewriter, uint32_t statement)
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
    struct slice line =
        slice_part(rewriter->syntax.text, rewriter->syntax.row_starts[row],
                   rewriter->syntax.row_starts[row + 1]);

    return slice_find(line, SLICE("coding"), 0) < line.size;
}

/* Lines 1 and 2 may name the interpreter or the encoding; the second counts only where the
 * first is blank or a comment, and stays so. */
static bool is_reserved_line(const struct rewriter *rewriter, uint32_t row)
{
    if (row == 0 && (slice_starts(rewriter->syntax.text, SLICE("#!")) ||
                     (rewriter->syntax.row_count > 1 && names_encoding(rewriter, 1)))) {
        return true;
    }
    return row < 2 && names_encoding(rewriter, row);
}

/* Whether the line before an offset goes on behind it. */
static bool follows_continuation(const struct rewriter *rewriter, uint32_t start)
{
    const char *bytes = rewriter->syntax.text.bytes;

    while (start > 0 && (bytes[start - 1] == '\n' || bytes[start - 1] == '\r')) {
        start--;
    }
    return start > 0 && bytes[start - 1] == '\\';
}

/* A blank or comment line that begins in column 0, all of it between two offsets. */
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

/* A try statement in which nothing is recorded: in its body the bootstrap would fall to the
 * file's own `except ImportError` where monitorch is missing. */
static bool is_plain_try(const struct rewriter *rewriter, uint32_t statement)
{
    return node_at(rewriter, statement)->kind == KIND_TRY_STATEMENT &&
           rewriter->first_module_edit >= node_at(rewriter, statement)->end;
}

/* Definitions in which nothing that is recorded runs before they are called. A generic class
 * has no room for the bootstrap; its body seldom calls what it defines. */
static bool may_precede(const struct rewriter *rewriter, uint32_t statement)
{
    return node_at(rewriter, statement)->kind == KIND_FUNCTION_DEFINITION ||
           node_at(rewriter, statement)->kind == KIND_CLASS_DEFINITION ||
           is_plain_try(rewriter, statement) ||
           is_dunder_assignment(rewriter, statement);
}

struct slot find_slot(const struct rewriter *rewriter, uint32_t *next)
{
    struct slot slot = {.kind = SLOT_NONE};
    struct slot worst = {.kind = SLOT_NONE}; /* where there is no better place */
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
            slot = blank; /* a visible import stands best on a line of its own */
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

bool find_end_slot(const struct rewriter *rewriter,
                   struct slice table,
                   struct slot *slot)
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

/* Whether nothing that is recorded is defined before an offset. */
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

struct slot find_table_slot(const struct rewriter *rewriter,
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
