/* Rows of a report of `monitorch diff`. */
#include "runtime/command/diff/rows.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/command/diff/text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void report_rows_release(struct report_rows *rows)
{
    memory_free(rows->rows);
    number_map_release(&rows->numbers);
    buffer_release(&rows->texts);
}

static struct slice text_at(const struct report_rows *rows, size_t start, size_t size)
{
    return slice_part(buffer_slice(&rows->texts), start, start + size);
}

static uint64_t hash_of(const struct report_row_key *key, struct slice name)
{
    return hash_64(name) ^ hash_64((struct slice){(const char *)key, sizeof *key});
}

struct report_row *report_rows_find(struct report_rows *rows,
                                    const struct report_row_key *key,
                                    struct slice name)
{
    uint64_t hash = hash_of(key, name);
    struct number_map_search search = number_map_search(&rows->numbers, hash);

    while (number_map_next(&search)) {
        struct report_row *row = &rows->rows[search.number];

        if (row->hash == hash && memcmp(&row->key, key, sizeof *key) == 0 &&
            slice_equal(text_at(rows, row->start + row->place_size, row->name_size),
                        name)) {
            return row;
        }
    }
    return NULL;
}

struct report_row *report_rows_add(struct report_rows *rows,
                                   const struct report_row_key *key,
                                   struct slice name)
{
    void *items = rows->rows;
    uint64_t hash = hash_of(key, name);

    if (!memory_grow(&items, &rows->capacity, rows->count + 1, sizeof *rows->rows)) {
        return NULL;
    }
    rows->rows = items;
    if (!number_map_add(&rows->numbers, hash, (uint32_t)rows->count)) {
        return NULL;
    }
    rows->rows[rows->count] = (struct report_row){
        .hash = hash, .key = *key, .start = rows->texts.size, .max_abs = -1};
    return &rows->rows[rows->count++];
}

size_t report_rows_count(const struct report_rows *rows, uint32_t list)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        count += rows->rows[i].key.list == list;
    }
    return count;
}

static void add_row(const struct report_rows *rows,
                    const struct report_row *row,
                    const size_t widths[2],
                    bool has_places,
                    struct buffer *text)
{
    size_t name = row->start + row->place_size;

    buffer_add(text, SLICE("    "));
    if (has_places) {
        diff_text_add_column(text, text_at(rows, row->start, row->place_size),
                             widths[0]);
    }
    diff_text_add_column(text, text_at(rows, name, row->name_size), widths[1]);
    text_add_shortened(text, text_at(rows, name + row->name_size, row->words_size),
                       DIFF_WORDS_LIMIT);
    if (row->count > 1) {
        buffer_add(text, row->words_size > 0 ? SLICE("  (") : SLICE("("));
        buffer_add_number(text, row->count);
        buffer_add(text, SLICE(" times"));
        if (row->max_abs >= 0 && isfinite(row->max_abs)) {
            buffer_add(text, SLICE(", up to "));
            real_add_short(text, row->max_abs, 4);
        }
        buffer_add_byte(text, ')');
    }
    text_end_line(text);
}

static size_t wider(size_t width, size_t size)
{
    return size > width && size <= DIFF_COLUMN_MOST ? size : width;
}

void report_rows_print(const struct report_rows *rows,
                       uint32_t list,
                       const char *heading,
                       const char *noun,
                       size_t limit,
                       struct buffer *text)
{
    size_t count = report_rows_count(rows, list);
    size_t shown = count < limit ? count : limit;
    size_t widths[2] = {0, 0};
    bool has_places = false;
    const struct report_row *row = rows->rows;

    if (count == 0) {
        return;
    }
    for (size_t seen = 0; seen < shown; row++) {
        if (row->key.list == list) {
            has_places = has_places || row->place_size > 0;
            widths[0] = wider(widths[0], row->place_size);
            widths[1] = wider(widths[1], row->name_size);
            seen++;
        }
    }
    buffer_add(text, SLICE("  "));
    buffer_add(text, slice_of(heading));
    buffer_add(text, SLICE(":\n"));
    for (const struct report_row *next = rows->rows; next < row; next++) {
        if (next->key.list == list) {
            add_row(rows, next, widths, has_places, text);
        }
    }
    if (shown < count) {
        diff_text_add_more(text, count - shown, noun);
    }
}
