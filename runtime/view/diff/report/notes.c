/* Notes: findings of diff, kept for a page or a picture of it. */
#include "runtime/view/diff/report/notes.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/words/paint.h"

/* Most rows of a list, and most different words of marks, that are kept. */
#define ROW_MAX  500
#define WORD_MAX 10000
/* Most calls of a stack that are shown. */
#define CALL_MAX 6

/* A value of `marks` is a mark and its words' number; the mark has this many bits. */
#define MARK_BITS 3

bool diff_notes_init(struct diff_notes *notes)
{
    *notes = (struct diff_notes){.headline = {"", 0},
                                 .text = {"", 0},
                                 .first_words = {"", 0},
                                 .first_event = DIFF_EVENT_NONE};
    arena_init(&notes->arena);
    number_map_init(&notes->marks);
    number_map_init(&notes->others);
    return text_table_init(&notes->words);
}

void diff_notes_release(struct diff_notes *notes)
{
    for (int i = 0; i < DIFF_LIST_COUNT; i++) {
        memory_free(notes->lists[i].rows);
        number_map_release(&notes->lists[i].index);
    }
    number_map_release(&notes->marks);
    number_map_release(&notes->others);
    text_table_release(&notes->words);
    buffer_release(&notes->scratch);
    arena_release(&notes->arena);
}

void diff_notes_begun(void *context,
                      struct log_reader *const *readers,
                      struct source_lines *const *sources)
{
    struct diff_notes *notes = context;

    for (int side = 0; side < 2; side++) {
        notes->readers[side] = readers[side];
        notes->sources[side] = sources[side];
    }
}

/* ---- texts ---- */

static struct slice keep(struct diff_notes *notes, struct slice text)
{
    struct slice kept = {"", 0};

    if (text.size > 0) {
        kept = arena_copy(&notes->arena, text);
    }
    return kept.bytes == NULL ? SLICE("") : kept;
}

/* Keeps a text without its colours for a terminal. */
static struct slice keep_plain(struct diff_notes *notes, struct slice text)
{
    notes->scratch.size = 0;
    paint_strip(&notes->scratch, text);
    return keep(notes, buffer_slice(&notes->scratch));
}

static struct slice path_of(const struct diff_notes *notes, int side, uint32_t number)
{
    const struct log_module *module =
        notes->readers[side] == NULL ? NULL
                                     : log_reader_module(notes->readers[side], number);

    return module == NULL ? SLICE("") : module->table.path;
}

/* Adds the name of a call: the nn.Module's path, or the function. */
static void add_call(struct buffer *text,
                     const struct open_call *call,
                     const struct log_reader *reader)
{
    const struct site_function *function = open_call_function(call, reader);

    if (call->path.size > 0) {
        buffer_add(text, call->path);
    } else {
        buffer_add(text, function == NULL ? SLICE("?") : function->name);
    }
}

/* Returns `… → train → Model.forward  #4`: from the outermost call to the innermost. */
static struct slice
call_of(struct diff_notes *notes, const struct open_call *call, int side)
{
    const struct open_call *chain[CALL_MAX];
    struct buffer *text = &notes->scratch;
    const struct open_call *above = call;
    size_t count = 0;

    if (call == NULL || notes->readers[side] == NULL) {
        return SLICE("");
    }
    while (above != NULL && count < CALL_MAX) {
        chain[count++] = above;
        above = above->parent;
    }
    text->size = 0;
    if (above != NULL) {
        buffer_add(text, SLICE("\xE2\x80\xA6 \xE2\x86\x92 "));
    }
    while (count-- > 0) {
        add_call(text, chain[count], notes->readers[side]);
        buffer_add(text, count > 0 ? SLICE(" \xE2\x86\x92 ") : SLICE("  #"));
    }
    buffer_add_number(text, call->shown_number);
    return keep(notes, buffer_slice(text));
}

/* ---- rows ---- */

static enum diff_list list_of(const struct diff_finding *finding)
{
    if (finding->class_ == DIFF_INHERITED) {
        return DIFF_LIST_INHERITED;
    }
    if (finding->class_ == DIFF_OWN) {
        return DIFF_LIST_OWN;
    }
    return finding->items[1] == NULL ? DIFF_LIST_ONLY_A : DIFF_LIST_ONLY_B;
}

/* Returns the side that is shown: B, if it has an item. */
static int side_of(const struct diff_finding *finding)
{
    return finding->items[1] != NULL || finding->items[0] == NULL;
}

static void fill_row(struct diff_notes *notes,
                     const struct diff_finding *finding,
                     struct diff_row *row)
{
    int side = side_of(finding);
    uint32_t module = finding->modules[side];
    uint32_t line = finding->lines[side];
    bool is_elsewhere = side == 1 && finding->lines[0] > 0;

    *row = (struct diff_row){
        .path = keep(notes, line > 0 ? path_of(notes, side, module) : SLICE("")),
        .line = line,
        .other_path = {"", 0},
        .code = {"", 0},
        .name = keep(notes, finding->name),
        .words = keep(notes, finding->words),
        .call = call_of(notes, finding->calls[side], side),
        .module = module,
        .side = (uint32_t)side,
        .event = finding->items[1] != NULL && finding->items[1]->kind == LOG_EVENT
                     ? finding->items[1]->event.number
                     : DIFF_EVENT_NONE,
    };
    if (line > 0 && notes->sources[side] != NULL) {
        row->code = keep(notes, source_lines_get(notes->sources[side], module, line));
    }
    if (is_elsewhere) {
        struct slice path = path_of(notes, 0, finding->modules[0]);

        if (finding->lines[0] != line || !slice_equal(path, row->path)) {
            row->other_path = keep(notes, path);
            row->other_line = finding->lines[0];
        }
    }
}

/* Returns the row of the finding's line and name, or NULL. Sets its key. */
static struct diff_row *find_row(const struct diff_rows *list,
                                 const struct diff_finding *finding,
                                 uint64_t *key)
{
    uint32_t side = (uint32_t)side_of(finding);
    uint32_t place;
    struct diff_row *row;

    *key = hash_64(finding->name) ^
           number_map_key(finding->modules[side] * 2 + side, finding->lines[side]);
    place = number_map_get(&list->index, *key);
    if (place == NUMBER_MAP_NONE) {
        return NULL;
    }
    row = &list->rows[place];
    return row->side == side && row->module == finding->modules[side] &&
                   row->line == finding->lines[side] &&
                   slice_equal(row->name, finding->name)
               ? row
               : NULL;
}

static struct diff_row *new_row(struct diff_notes *notes,
                                struct diff_rows *list,
                                const struct diff_finding *finding,
                                uint64_t key)
{
    void *rows = list->rows;

    if (!memory_grow(&rows, &list->capacity, (size_t)list->count + 1,
                     sizeof *list->rows)) {
        return NULL;
    }
    list->rows = rows;
    if (!number_map_put(&list->index, key, list->count)) {
        return NULL;
    }
    fill_row(notes, finding, &list->rows[list->count]);
    return &list->rows[list->count++];
}

static bool add_row(struct diff_notes *notes, const struct diff_finding *finding)
{
    struct diff_rows *list = &notes->lists[list_of(finding)];
    uint64_t key;
    struct diff_row *row = find_row(list, finding, &key);

    list->total++;
    if (row == NULL && list->count >= ROW_MAX && !finding->is_first) {
        return true;
    }
    if (row == NULL) {
        row = new_row(notes, list, finding, key);
    }
    if (row == NULL || notes->arena.has_failed || notes->scratch.has_failed) {
        return false;
    }
    row->count++;
    list->shown++;
    row->is_first |= finding->is_first;
    return true;
}

/* ---- marks ---- */

static enum flow_mark mark_of(const struct diff_finding *finding)
{
    switch (list_of(finding)) {
    case DIFF_LIST_OWN:
        return FLOW_MARK_OWN;
    case DIFF_LIST_INHERITED:
        return FLOW_MARK_INHERITED;
    default:
        return FLOW_MARK_ONLY;
    }
}

static bool add_mark(struct diff_notes *notes, const struct diff_finding *finding)
{
    const struct log_item *item = finding->items[1];
    const struct log_item *other = finding->items[0];
    enum flow_mark mark = mark_of(finding);
    uint32_t number = 0;

    if (item == NULL || item->kind != LOG_EVENT) {
        return true;
    }
    /* A value in B alone needs no words: its mark shows that. */
    if (mark != FLOW_MARK_ONLY && notes->words.count < WORD_MAX &&
        !text_table_add(&notes->words, finding->words, &number)) {
        return false;
    }
    if (other != NULL && other->kind == LOG_EVENT && other->event.number < UINT32_MAX &&
        !number_map_put(&notes->others, item->event.number,
                        (uint32_t)other->event.number)) {
        return false;
    }
    notes->has_scalars |= mark == FLOW_MARK_OWN && item->event.kind != VALUE_TENSOR;
    return number_map_put(&notes->marks, item->event.number,
                          number << MARK_BITS | (uint32_t)mark);
}

bool diff_notes_found(void *context, const struct diff_finding *finding)
{
    struct diff_notes *notes = context;
    const struct log_item *item = finding->items[1];

    if (finding->class_ == DIFF_STEP) {
        return true;
    }
    if (finding->is_first) {
        notes->first_words = keep(notes, finding->words);
        notes->text = keep_plain(notes, finding->text);
        notes->headline =
            slice_part(notes->text, 0, slice_find(notes->text, SLICE("\n"), 0));
        if (item != NULL && item->kind == LOG_EVENT) {
            notes->first_event = item->event.number;
        }
    }
    return add_row(notes, finding) && add_mark(notes, finding);
}

enum flow_mark diff_notes_mark(void *context, uint64_t event)
{
    const struct diff_notes *notes = context;
    uint32_t known = number_map_get(&notes->marks, event);

    return known == NUMBER_MAP_NONE ? FLOW_MARK_EQUAL
                                    : (enum flow_mark)(known & ((1u << MARK_BITS) - 1));
}

struct slice diff_notes_remark(void *context, uint64_t event)
{
    const struct diff_notes *notes = context;
    uint32_t known = number_map_get(&notes->marks, event);

    return known == NUMBER_MAP_NONE ? SLICE("")
                                    : notes->words.texts[known >> MARK_BITS];
}

uint64_t diff_notes_other(void *context, uint64_t event)
{
    const struct diff_notes *notes = context;
    uint32_t other = number_map_get(&notes->others, event);

    return other == NUMBER_MAP_NONE ? DIFF_EVENT_NONE : other;
}
