/* Insertions: collected, sorted, and applied to the text. */
#include "instrument/output/edits.h"

#include "instrument/rewrite/rewrite.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RANK_SHIFT  60
#define LEVEL_SHIFT 16

void edits_init(struct edits *edits)
{
    *edits = (struct edits){.text = BUFFER_INIT};
}

void edits_release(struct edits *edits)
{
    memory_free(edits->items);
    buffer_release(&edits->text);
    edits_init(edits);
}

size_t edits_begin(const struct edits *edits)
{
    return edits->text.size;
}

static void add(struct edits *edits, size_t begin, uint32_t offset, uint64_t order)
{
    void *items = edits->items;

    if (edits->text.size > INSTRUMENT_INSERTED_LIMIT) {
        edits->text.size = begin;
        edits->is_too_large = true;
        return;
    }
    if (!memory_grow(&items, &edits->capacity, edits->count + 1,
                     sizeof *edits->items)) {
        edits->has_failed = true;
        return;
    }
    edits->items = items;
    assert(begin <= edits->text.size);
    edits->items[edits->count++] = (struct edit){
        order,
        {.offset = offset,
         .text = (uint32_t)begin,
         .size = (uint32_t)(edits->text.size - begin)},
    };
}

static enum edit_rank edits_rank(const struct edit *edit)
{
    return (enum edit_rank)(edit->order >> RANK_SHIFT);
}

void edits_end(struct edits *edits, size_t begin, uint32_t offset, enum edit_rank rank)
{
    add(edits, begin, offset, (uint64_t)rank << RANK_SHIFT | edits->count);
}

/* Adds a whole insertion. */
static void
edits_add(struct edits *edits, uint32_t offset, enum edit_rank rank, struct slice text)
{
    size_t begin = edits_begin(edits);

    buffer_add(&edits->text, text);
    edits_end(edits, begin, offset, rank);
}

/* Outer ranges end later, so they open first. */
void edits_end_open(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level)
{
    add(edits, begin, start,
        (uint64_t)EDIT_OPEN << RANK_SHIFT |
            (uint64_t)(UINT32_MAX - end) << LEVEL_SHIFT | level);
}

/* Inner ranges start later, so they close first. */
void edits_end_close(
    struct edits *edits, size_t begin, uint32_t start, uint32_t end, uint32_t level)
{
    add(edits, begin, end,
        (uint64_t)EDIT_CLOSE << RANK_SHIFT |
            (uint64_t)(UINT32_MAX - start) << LEVEL_SHIFT | (UINT16_MAX - level));
}

void edits_anchor(struct edits *edits, uint32_t start, uint32_t end)
{
    if (edits->count > 0) {
        edits->items[edits->count - 1].insertion.anchor_start = start;
        edits->items[edits->count - 1].insertion.anchor_end = end;
    }
}

static bool is_after(const struct edit *a, const struct edit *b)
{
    if (a->insertion.offset != b->insertion.offset) {
        return a->insertion.offset > b->insertion.offset;
    }
    return a->order > b->order;
}

static void merge(
    const struct edit *from, struct edit *to, size_t left, size_t middle, size_t right)
{
    size_t a = left;
    size_t b = middle;

    for (size_t i = left; i < right; i++) {
        if (a < middle && (b >= right || !is_after(&from[a], &from[b]))) {
            to[i] = from[a++];
        } else {
            to[i] = from[b++];
        }
    }
}

/* Merge sort that starts with runs of eight. It is stable and has no slow inputs. Most runs are
 * sorted already, because statements are visited in the order of the text. */
bool edits_sort(struct edits *edits)
{
    const size_t run = 8;
    struct edit *from = edits->items;
    struct edit *to;
    struct edit *spare;

    if (edits->has_failed || edits->text.has_failed) {
        return false;
    }
    if (edits->count == 0) {
        return true;
    }
    spare = memory_allocate(edits->count, sizeof *spare);
    if (spare == NULL) {
        return false;
    }
    for (size_t i = 1; i < edits->count; i++) {
        struct edit item = from[i];
        size_t at = i;

        while (at % run != 0 && is_after(&from[at - 1], &item)) {
            from[at] = from[at - 1];
            at--;
        }
        from[at] = item;
    }
    to = spare;
    for (size_t width = run; width < edits->count; width *= 2) {
        struct edit *swap = from;

        for (size_t left = 0; left < edits->count; left += 2 * width) {
            size_t middle = left + width < edits->count ? left + width : edits->count;
            size_t right =
                left + 2 * width < edits->count ? left + 2 * width : edits->count;

            merge(from, to, left, middle, right);
        }
        from = to;
        to = swap;
    }
    if (from != edits->items) {
        memcpy(edits->items, from, edits->count * sizeof *from);
    }
    memory_free(spare);
    return true;
}

bool edits_apply(const struct edits *edits, struct slice text, struct buffer *output)
{
    size_t done = 0;

    if (!buffer_reserve(output, text.size + edits->text.size)) {
        return false;
    }
    for (size_t i = 0; i < edits->count; i++) {
        const struct insertion *insertion = &edits->items[i].insertion;

        assert(i == 0 || !is_after(&edits->items[i - 1], &edits->items[i]));
        assert(done <= insertion->offset && insertion->offset <= text.size);
        assert(insertion->text <= edits->text.size &&
               insertion->size <= edits->text.size - insertion->text);
        buffer_add_bytes(output, text.bytes + done, insertion->offset - done);
        buffer_add_bytes(output, edits->text.bytes + insertion->text, insertion->size);
        done = insertion->offset;
    }
    buffer_add_bytes(output, text.bytes + done, text.size - done);
    return !output->has_failed;
}

/* ---- placing records in the text ---- */

bool is_recorded(const struct rewriter *rewriter, uint32_t node)
{
    const struct place *place = rewriter->place;

    assert(node < rewriter->syntax.count);
    return place->kind != SCOPE_CLASS &&
           choice_has_row(&rewriter->choice, rewriter->syntax.nodes[node].row,
                          place->is_selected);
}

/* Whether the drafted site is recorded. The enter site of a function is recorded if anything in
 * the function is: it separates two consecutive calls. */
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

/* Marks the reads of names that an assignment expression in the same statement binds: it is not
 * known which binding they read. */
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
    assert(record.site < rewriter->sites.count);
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
    assert(pending->count <= PENDING_LIMIT);
    assert(record->site == SITE_NONE || pending->count < PENDING_LIMIT);
    if (record->site != SITE_NONE && pending->count < PENDING_LIMIT) {
        pending->items[pending->count++] = *record;
    }
}

/* Whether the rest of the line is blank or a comment. */
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
    assert(node < rewriter->syntax.count);

    const struct syntax_node *item = &rewriter->syntax.nodes[node];
    uint32_t row = item->row;

    return row + 1 < rewriter->syntax.row_count &&
           item->end > rewriter->syntax.row_starts[row + 1];
}

/* Whether the module has `from … import spy_save` at module level. */
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

/* Deletes the temporary at once, so that it keeps nothing alive. In a module it is set to None
 * instead: a loop over globals() must not see names appear and disappear. */
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
    assert(statement < rewriter->syntax.count);

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
    assert(statement < rewriter->syntax.count);

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

/* The first code inside the parentheses of an expression, after parentheses, blanks and
 * comments. */
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

/* Whether the class whose bases begin at `offset` has an inserted base already. */
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

/* Empty parentheses get a comma too, which distinguishes them from inserted ones. Records are
 * added to a class once, so only the bootstrap, which is added last, may find a base there. */
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

    assert(node < rewriter->syntax.count);
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
