/* Placing records into the text. */
#include "instrument/rewrite/rewrite.h"

#include "runtime/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool is_recorded(const struct rewriter *rewriter, uint32_t node)
{
    const struct place *place = rewriter->place;

    return place->kind != SCOPE_CLASS &&
           choice_has_row(&rewriter->choice, rewriter->syntax.nodes[node].row,
                          place->is_selected);
}

/* Two calls in a row of one function are told apart by its enter site: where anything in a
 * function is recorded, so is that. */
static bool is_draft_recorded(const struct rewriter *rewriter)
{
    const struct site_draft *draft = &rewriter->draft;

    return is_recorded(rewriter, draft->node) ||
           (draft->kind == SITE_ENTER &&
            choice_has_statement(
                &rewriter->choice,
                syntax_find(&rewriter->syntax, draft->node, KIND_BLOCK),
                rewriter->place->is_selected));
}

/* What an assignment expression binds in the statement that reads it may be read before or
 * after. */
static void doubt_walruses(struct rewriter *rewriter)
{
    struct reads *reads = &rewriter->draft.reads;

    for (uint32_t i = rewriter->draft.node;
         rewriter->has_walrus && i < node_at(rewriter, rewriter->draft.node)->next;
         i++) {
        struct slice name;

        if (node_at(rewriter, i)->kind != KIND_NAMED_EXPRESSION) {
            continue;
        }
        name = text_of(rewriter, i + 1);
        for (uint32_t j = 0; j < reads->count; j++) {
            if (slice_equal(reads->items[j].name, name)) {
                reads->items[j].site = SITE_NONE;
            }
        }
    }
}

struct record record_make(struct rewriter *rewriter,
                          const struct slice *arguments,
                          uint32_t argument_count)
{
    struct record record = {.site = SITE_NONE};

    if (rewriter->place->kind == SCOPE_CLASS) {
        return record;
    }
    doubt_walruses(rewriter);
    record.site =
        sites_add(&rewriter->sites, &rewriter->draft, is_draft_recorded(rewriter));
    if (record.site == SITE_NONE) {
        return record;
    }
    rewriter->has_record = true;
    rewriter->place->emitted_count++;
    if (argument_count > 0) {
        record.arguments =
            arena_allocate(rewriter->arena, argument_count, sizeof *record.arguments);
        if (record.arguments == NULL) {
            rewriter->has_failed = true;
            return record;
        }
        memcpy(record.arguments, arguments, argument_count * sizeof *arguments);
        record.argument_count = argument_count;
    }
    return record;
}

void pending_add(struct pending *pending, const struct record *record)
{
    if (record->site != SITE_NONE && pending->count < PENDING_LIMIT) {
        pending->items[pending->count++] = *record;
    }
}

/* Whether nothing but blanks and a comment follows on the line. */
static bool is_last_on_line(struct slice text, uint32_t offset)
{
    while (offset < text.size && strchr(" \t\f", text.bytes[offset]) != NULL &&
           text.bytes[offset] != '\0') {
        offset++;
    }
    return offset >= text.size || text.bytes[offset] == '\n' ||
           text.bytes[offset] == '\r' || text.bytes[offset] == '#';
}

bool is_on_several_lines(const struct rewriter *rewriter, uint32_t node)
{
    const struct syntax_node *item = &rewriter->syntax.nodes[node];
    uint32_t row = item->row;

    return row + 1 < rewriter->syntax.row_count &&
           item->end > rewriter->syntax.row_starts[row + 1];
}

/* Whether the module has `from … import spy_save` at its own level. */
static bool imports_spy(const struct rewriter *rewriter)
{
    for (uint32_t i = first_child(rewriter, 0); i != 0;
         i = syntax_sibling(&rewriter->syntax, 0, i)) {
        struct slice text = text_of(rewriter, i);

        if (node_at(rewriter, i)->kind == KIND_IMPORT_FROM_STATEMENT &&
            slice_find(text, SLICE("spy_save"), 0) < text.size) {
            return true;
        }
    }
    return false;
}

static void add_spy(struct rewriter *rewriter, struct slice name)
{
    struct buffer *text = &rewriter->edits->text;

    buffer_add(text, SLICE("spy_save(\""));
    buffer_add(text, name);
    buffer_add(text, SLICE("\", "));
    buffer_add(text, name);
    buffer_add(text, SLICE(", "));
    buffer_add(text, rewriter->place->self);
    buffer_add_byte(text, ')');
    rewriter->needs_spy_import = rewriter->needs_spy_import || !imports_spy(rewriter);
    rewriter->place->emitted_count++;
}

/* The temporary goes at once, so that it keeps nothing alive. A module's stays, as None: a loop
 * over globals() must not see names come and go. */
static void add_cleaning(struct rewriter *rewriter)
{
    struct buffer *text = &rewriter->edits->text;

    if (rewriter->place->kind == SCOPE_MODULE) {
        buffer_add(text, SLICE("; "));
        buffer_add(text, rewriter->forms.temporary);
        buffer_add(text, SLICE(" = None"));
        rewriter->uses_module_temporary = true;
    } else {
        buffer_add(text, SLICE("; del "));
        buffer_add(text, rewriter->forms.temporary);
    }
}

static void note_module_edit(struct rewriter *rewriter, uint32_t offset)
{
    if (rewriter->place != NULL && rewriter->place->kind != SCOPE_FUNCTION &&
        offset < rewriter->first_module_edit) {
        rewriter->first_module_edit = offset;
    }
}

void insert_after(struct rewriter *rewriter,
                  uint32_t statement,
                  bool is_last_in_block,
                  const struct record *records,
                  uint32_t record_count,
                  const struct slice *spy_names,
                  uint32_t spy_count,
                  bool has_temporary)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t end = rewriter->syntax.nodes[statement].end;
    bool is_plain = !is_last_in_block && is_last_on_line(rewriter->syntax.text, end) &&
                    !has_temporary && spy_count == 0;
    size_t begin = edits_begin(rewriter->edits);

    for (uint32_t i = 0; i < record_count; i++) {
        if (records[i].site == SITE_NONE) {
            continue;
        }
        buffer_add(text, SLICE("; "));
        if (is_plain && i + 1 == record_count) {
            forms_record(&rewriter->forms, &records[i], text);
        } else {
            forms_quiet(&rewriter->forms, &records[i], text);
        }
    }
    if (has_temporary) {
        add_cleaning(rewriter);
    }
    for (uint32_t i = 0; i < spy_count; i++) {
        buffer_add(text, SLICE("; "));
        add_spy(rewriter, spy_names[i]);
    }
    if (text->size > begin) {
        note_module_edit(rewriter, end);
        edits_end(rewriter->edits, begin, end, EDIT_AFTER);
        if (is_on_several_lines(rewriter, statement)) {
            edits_anchor(rewriter->edits, rewriter->syntax.nodes[statement].start, end);
        }
    }
}

void insert_before(struct rewriter *rewriter,
                   uint32_t statement,
                   const struct pending *pending)
{
    struct buffer *text = &rewriter->edits->text;
    uint32_t start = rewriter->syntax.nodes[statement].start;
    size_t begin = edits_begin(rewriter->edits);

    for (uint32_t i = 0; i < pending->count; i++) {
        forms_quiet(&rewriter->forms, &pending->items[i], text);
        buffer_add(text, SLICE("; "));
    }
    if (text->size > begin) {
        note_module_edit(rewriter, start);
        edits_end(rewriter->edits, begin, start, EDIT_BEFORE);
    }
}

/* Where an expression in parentheses has its first code: behind parentheses, blanks, comments. */
static uint32_t first_code(struct slice text, uint32_t start, uint32_t end)
{
    bool is_comment = false;

    while (start < end) {
        char byte = text.bytes[start];

        is_comment = byte == '#' || (is_comment && byte != '\n' && byte != '\r');
        if (!is_comment && (byte == '\0' || strchr("( \t\r\n\f\\", byte) == NULL)) {
            break;
        }
        start++;
    }
    return start;
}

void insert_header(struct rewriter *rewriter,
                   uint32_t start,
                   uint32_t end,
                   const struct pending *pending)
{
    struct buffer *text = &rewriter->edits->text;
    size_t begin = edits_begin(rewriter->edits);

    if (pending->count == 0) {
        return;
    }
    for (uint32_t i = 0; i < pending->count; i++) {
        buffer_add_byte(text, '(');
        forms_record(&rewriter->forms, &pending->items[i], text);
        buffer_add(text, SLICE(") or "));
    }
    buffer_add_byte(text, '(');
    edits_end_open(rewriter->edits, begin, start, end, 1);
    if (first_code(rewriter->syntax.text, start, end) != start) {
        edits_anchor(rewriter->edits, first_code(rewriter->syntax.text, start, end),
                     end);
    }
    begin = edits_begin(rewriter->edits);
    buffer_add_byte(text, ')');
    edits_end_close(rewriter->edits, begin, start, end, 1);
    note_module_edit(rewriter, start);
}

/* Whether the class that begins its bases at `offset` has got an inserted one already. */
static bool has_base(const struct edits *edits, uint32_t offset)
{
    for (size_t i = edits->count; i-- > 0;) {
        if (edits->items[i].insertion.offset == offset &&
            edits_rank(&edits->items[i]) == EDIT_BASE) {
            return true;
        }
    }
    return false;
}

/* Empty parentheses get a comma too, which tells them from ones that were inserted. A class is
 * given records once; only the bootstrap, which comes last, may meet a base there. */
void insert_base(struct rewriter *rewriter,
                 uint32_t definition,
                 size_t begin,
                 enum edit_rank rank)
{
    uint32_t bases = syntax_find(&rewriter->syntax, definition, KIND_ARGUMENT_LIST);
    uint32_t name = syntax_find(&rewriter->syntax, definition, KIND_IDENTIFIER);
    uint32_t offset = bases == 0 ? rewriter->syntax.nodes[name].end
                                 : rewriter->syntax.nodes[bases].start + 1;

    edits_end(rewriter->edits, begin, offset, rank);
    if (rank != EDIT_BOOT || !has_base(rewriter->edits, offset)) {
        edits_add(rewriter->edits, offset, EDIT_BASE,
                  bases == 0 ? SLICE("(*(") : SLICE("*("));
        edits_add(rewriter->edits, offset, EDIT_OPEN,
                  bases == 0 ? SLICE("()))") : SLICE("()), "));
    }
    note_module_edit(rewriter, offset);
}

void note_add(struct rewriter *rewriter,
              enum note_kind kind,
              uint32_t node,
              const char *format,
              ...)
{
    struct instrumented *result = rewriter->result;
    char text[512];
    va_list arguments;
    struct note note = {
        .kind = kind,
        .line = rewriter->syntax.nodes[node].row + 1,
        .column = rewriter->syntax.nodes[node].column,
    };

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note.text = slice_of(text);
    note.text.size = utf8_cut(note.text, sizeof text - 2);
    note.text = arena_copy(rewriter->arena, note.text);
    if (note.text.bytes == NULL) {
        rewriter->has_failed = true;
        return;
    }
    if (result->note_count == rewriter->note_capacity) {
        size_t capacity =
            rewriter->note_capacity == 0 ? 8 : 2 * rewriter->note_capacity;
        struct note *notes = arena_allocate(rewriter->arena, capacity, sizeof *notes);

        if (notes == NULL) {
            rewriter->has_failed = true;
            return;
        }
        if (result->note_count > 0) {
            memcpy(notes, result->notes, result->note_count * sizeof *notes);
        }
        result->notes = notes;
        rewriter->note_capacity = capacity;
    }
    result->notes[result->note_count++] = note;
}
