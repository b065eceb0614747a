/* What brings `_mt` and `spy_save` into a file: before anything that calls them, on lines that
 * are there already. */
#include "instrument/output/bootstrap_slot.h"
#include "instrument/rewrite/rewrite.h"

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

/* `_mt = …` with the table, or `_mt_t = …` to be called with it on a later line. */
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

/* The expressions `(_mt := …) and ()`, all false, joined by or. */
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
        buffer_add_byte(text, ';'); /* tells it from a line that a person wrote */
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

/* `'_mt' in globals() or globals().__setitem__('_mt', …)`: for files of functions alone, where
 * no place at the module's level is free, each function asks when it begins. */
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

/* Where the first statement of the block that can carry it runs; false where there is none. */
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

/* Each function asks for itself; one that has no statement to ask in leaves it to the functions
 * in it. */
static void insert_lazily(struct rewriter *rewriter, uint32_t node, struct slice table)
{
    for (uint32_t i = node + 1; i < node_at(rewriter, node)->next;) {
        uint32_t block = 0;

        if (node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION) {
            if (node_at(rewriter, i)->has_error) {
                i = node_at(rewriter, i)->next; /* was left as it is */
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
