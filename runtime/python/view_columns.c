/* Columns of events in memory, filled row by row without Python. */
#include "runtime/python/view_columns.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

#include <math.h>

#define FIRST_BUCKET_COUNT 64

/* ---- texts ---- */

static bool grow_buckets(struct text_codes *codes)
{
    size_t count =
        codes->bucket_count == 0 ? FIRST_BUCKET_COUNT : codes->bucket_count * 4;
    uint32_t *buckets = memory_allocate_zeroed(count, sizeof *buckets);

    if (buckets == NULL) {
        return false;
    }
    for (size_t i = 0; i < codes->count; i++) {
        size_t place = hash_64(codes->texts[i]) & (count - 1);

        while (buckets[place] != 0) {
            place = (place + 1) & (count - 1);
        }
        buckets[place] = (uint32_t)i + 1;
    }
    memory_free(codes->buckets);
    codes->buckets = buckets;
    codes->bucket_count = count;
    return true;
}

static bool add_text(struct text_codes *codes, struct slice text, uint32_t *bucket)
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
    if (kept.bytes == NULL) {
        return false;
    }
    codes->texts[codes->count++] = kept;
    *bucket = (uint32_t)codes->count;
    return true;
}

static bool find_code(struct text_codes *codes, struct slice text, int32_t *code)
{
    size_t place;

    if (codes->count > 0 && slice_equal(codes->texts[codes->last], text)) {
        *code = (int32_t)codes->last;
        return true;
    }
    if (codes->count * 2 >= codes->bucket_count && !grow_buckets(codes)) {
        return false;
    }
    place = hash_64(text) & (codes->bucket_count - 1);
    while (codes->buckets[place] != 0 &&
           !slice_equal(codes->texts[codes->buckets[place] - 1], text)) {
        place = (place + 1) & (codes->bucket_count - 1);
    }
    if (codes->buckets[place] == 0 && !add_text(codes, text, &codes->buckets[place])) {
        return false;
    }
    codes->last = codes->buckets[place] - 1;
    *code = (int32_t)codes->last;
    return true;
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
    memory_free(loaded->texts.buckets);
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
    return find_code(&loaded->texts, value->text, code);
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
