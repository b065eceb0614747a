/* Columns of events in memory, filled row by row without Python. */
#include "runtime/python/view/columns.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <math.h>

/* ---- texts ---- */

static bool add_text(struct text_codes *codes, struct slice text, uint64_t hash)
{
    void *items = codes->texts;
    struct slice kept;

    if (codes->count >= INT32_MAX ||
        !memory_grow(&items, &codes->capacity, codes->count + 1,
                     sizeof *codes->texts)) {
        return false;
    }
    codes->texts = items;
    kept = arena_copy(&codes->arena, text);
    if (kept.bytes == NULL ||
        !number_map_add(&codes->numbers, hash, (uint32_t)codes->count)) {
        return false;
    }
    codes->texts[codes->count] = kept;
    codes->last = (uint32_t)codes->count++;
    return true;
}

/* Makes the text the last one. */
static bool find_text(struct text_codes *codes, struct slice text)
{
    struct number_map_search search;
    uint64_t hash;

    if (codes->count > 0 && slice_equal(codes->texts[codes->last], text)) {
        return true;
    }
    hash = hash_64(text);
    search = number_map_search(&codes->numbers, hash);
    while (number_map_next(&search)) {
        if (slice_equal(codes->texts[search.number], text)) {
            codes->last = search.number;
            return true;
        }
    }
    return add_text(codes, text, hash);
}

/* ---- columns ---- */

static enum column_form column_form_of(enum event_column column)
{
    if (column == EVENT_COLUMN_hash) {
        return COLUMN_FORM_HASHES;
    }
    switch (event_columns[column].type) {
    case COLUMN_INTEGER:
        return COLUMN_FORM_INTEGERS;
    case COLUMN_REAL:
        return COLUMN_FORM_REALS;
    default:
        return COLUMN_FORM_CODES;
    }
}

size_t column_form_size(enum column_form form)
{
    return form == COLUMN_FORM_CODES ? sizeof(int32_t) : sizeof(int64_t);
}

void loaded_column_init(struct loaded_column *loaded, enum event_column column)
{
    *loaded = (struct loaded_column){.column = column, .form = column_form_of(column)};
    arena_init(&loaded->texts.arena);
}

void loaded_column_release(struct loaded_column *loaded)
{
    memory_free(loaded->texts.texts);
    number_map_release(&loaded->texts.numbers);
    arena_release(&loaded->texts.arena);
}

/* A number beyond 2^63 comes as a real one. */
static int64_t integer_of(const struct column_value *value)
{
    if (value->is_empty) {
        return -1;
    }
    return value->type == COLUMN_REAL ? INT64_MAX : value->integer;
}

static double real_of(const struct column_value *value)
{
    if (value->is_empty || value->type == COLUMN_TEXT) {
        return NAN;
    }
    return value->type == COLUMN_INTEGER ? (double)value->integer : value->real;
}

static bool
set_code(struct loaded_column *loaded, int32_t *code, const struct column_value *value)
{
    if (value->is_empty || value->type != COLUMN_TEXT) {
        *code = -1;
        return true;
    }
    if (!find_text(&loaded->texts, value->text)) {
        return false;
    }
    *code = (int32_t)loaded->texts.last;
    return true;
}

bool loaded_column_set(struct loaded_column *loaded,
                       size_t row,
                       const struct log_event_view *event,
                       const struct open_call *call,
                       struct slice trace,
                       struct buffer *scratch)
{
    struct column_value value;

    if (loaded->form == COLUMN_FORM_HASHES) {
        ((uint64_t *)loaded->items)[row] = event->has_hash ? event->hash : 0;
        return true;
    }
    event_column_get(loaded->column, event, call, trace, scratch, &value);
    switch (loaded->form) {
    case COLUMN_FORM_INTEGERS:
        ((int64_t *)loaded->items)[row] = integer_of(&value);
        break;
    case COLUMN_FORM_REALS:
        ((double *)loaded->items)[row] = real_of(&value);
        break;
    default:
        return set_code(loaded, (int32_t *)loaded->items + row, &value) &&
               !scratch->has_failed;
    }
    return loaded->codes == NULL ||
           (set_code(loaded, loaded->codes + row, &value) && !scratch->has_failed);
}
