/* Columns that grow row by row. */
#include "runtime/view/arrow/column.h"

#include "runtime/base/json_read.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>

#define ROWS_FIRST 1024

static enum arrow_type type_of(enum column_form form)
{
    switch (form) {
    case COLUMN_FORM_INTEGER:
        return ARROW_INTEGER;
    case COLUMN_FORM_FLAG:
        return ARROW_FLAG;
    case COLUMN_FORM_TIME:
        return ARROW_TIME;
    case COLUMN_FORM_REAL:
    case COLUMN_FORM_VALUE:
        return ARROW_REAL;
    case COLUMN_FORM_NUMBERS:
        return ARROW_NUMBERS;
    case COLUMN_FORM_TEXTS:
        return ARROW_TEXTS;
    case COLUMN_FORM_HASH:
        return ARROW_HASH;
    default:
        return ARROW_TEXT;
    }
}

static size_t item_size(enum arrow_type type)
{
    switch (type) {
    case ARROW_FLAG:
        return 1;
    case ARROW_TEXT:
    case ARROW_NUMBERS:
    case ARROW_TEXTS:
        return sizeof(int32_t);
    default:
        return sizeof(int64_t);
    }
}

/* ---- lifetime ---- */

void arrow_table_init(struct arrow_table *table)
{
    *table = (struct arrow_table){.columns = NULL};
}

static void column_clear(struct arrow_column *column)
{
    memory_free(column->valid);
    memory_free(column->items);
    memory_free(column->numbers);
    memory_free(column->ends);
    buffer_release(&column->text);
    column->valid = NULL;
    column->items = NULL;
    column->numbers = NULL;
    column->ends = NULL;
    column->text = BUFFER_INIT;
    column->null_count = 0;
    column->number_count = column->number_capacity = 0;
    column->text_count = column->text_capacity = 0;
    text_codes_reset(&column->codes);
}

void arrow_table_clear(struct arrow_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        column_clear(&table->columns[i]);
    }
    table->row_count = 0;
    table->row_capacity = 0;
}

void arrow_table_release(struct arrow_table *table)
{
    arrow_table_clear(table);
    for (size_t i = 0; i < table->column_count; i++) {
        text_codes_release(&table->columns[i].codes);
    }
    memory_free(table->columns);
    arrow_table_init(table);
}

static bool add_column(struct arrow_table *table,
                       const struct column_rule *rule,
                       int number,
                       bool is_value_text)
{
    void *items =
        memory_resize(table->columns, table->column_count + 1, sizeof *table->columns);
    struct arrow_column *column;

    if (items == NULL) {
        return false;
    }
    table->columns = items;
    column = &table->columns[table->column_count++];
    *column = (struct arrow_column){
        .rule = rule,
        .number = number,
        .type = is_value_text ? ARROW_TEXT : type_of(rule->form),
        .is_value_text = is_value_text,
    };
    text_codes_init(&column->codes);
    return true;
}

bool arrow_table_add(struct arrow_table *table,
                     const struct column_rule *rule,
                     int number)
{
    assert(table->row_count == 0);
    return add_column(table, rule, number, false) &&
           (rule->form != COLUMN_FORM_VALUE || add_column(table, rule, number, true));
}

/* ---- rows ---- */

/* Makes room for `capacity` rows, and one item more for the offsets of lists. Returns false if
 * memory runs out. */
static bool reserve(struct arrow_column *column, size_t capacity)
{
    bool is_new = column->items == NULL;
    void *items = memory_resize(column->items, capacity + 1, item_size(column->type));
    void *valid;

    if (items == NULL) {
        return false;
    }
    column->items = items;
    valid = memory_resize(column->valid, capacity / 8 + 1, 1);
    if (valid == NULL) {
        return false;
    }
    column->valid = valid;
    if (is_new) {
        memset(items, 0, item_size(column->type));
    }
    return true;
}

bool arrow_table_begin_row(struct arrow_table *table)
{
    size_t capacity = table->row_capacity == 0 ? ROWS_FIRST : 2 * table->row_capacity;

    if (table->row_count < table->row_capacity) {
        return true;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        if (!reserve(&table->columns[i], capacity)) {
            return false;
        }
    }
    table->row_capacity = capacity;
    return true;
}

void arrow_table_end_row(struct arrow_table *table)
{
    assert(table->row_count < table->row_capacity);
    table->row_count++;
}

static void set_valid(struct arrow_column *column, size_t row, bool is_valid)
{
    uint8_t bit = (uint8_t)(1U << row % 8);

    if (row % 8 == 0) {
        column->valid[row / 8] = 0;
    }
    column->valid[row / 8] |= is_valid ? bit : 0;
    column->null_count += !is_valid;
}

/* ---- values ---- */

static bool
set_real(struct arrow_column *column, size_t row, const struct column_value *value)
{
    double *items = column->items;
    bool is_number = !value->is_empty && value->type != COLUMN_TEXT;

    items[row] = !is_number                      ? NAN
                 : value->type == COLUMN_INTEGER ? (double)value->integer
                                                 : value->real;
    set_valid(column, row, is_number);
    return true;
}

/* The integer of a value. Numbers above 2^63 - 1 arrive as real numbers, and become INT64_MAX. */
static int64_t integer_of(const struct column_value *value)
{
    if (value->is_empty) {
        return 0;
    }
    return value->type == COLUMN_REAL ? INT64_MAX : value->integer;
}

static bool
set_text(struct arrow_column *column, size_t row, const struct column_value *value)
{
    int32_t *items = column->items;
    bool is_text = !value->is_empty && value->type == COLUMN_TEXT;

    items[row] = 0;
    set_valid(column, row, is_text);
    return !is_text || text_codes_find(&column->codes, value->text, &items[row]);
}

static bool
end_list(struct arrow_column *column, size_t row, size_t count, bool is_valid)
{
    set_valid(column, row, is_valid);
    ((int32_t *)column->items)[row + 1] = (int32_t)count;
    return count <= INT32_MAX;
}

static bool add_list_text(struct arrow_column *column, struct slice text)
{
    void *ends = column->ends;

    if (!memory_grow(&ends, &column->text_capacity, column->text_count + 1,
                     sizeof *column->ends)) {
        return false;
    }
    column->ends = ends;
    buffer_add(&column->text, text);
    column->ends[column->text_count++] = (int32_t)column->text.size;
    return !column->text.has_failed && column->text.size <= INT32_MAX;
}

/* Sets a list of texts from JSON, which is the form of the SQL tables. */
static bool
set_texts(struct arrow_column *column, size_t row, const struct column_value *value)
{
    struct json_reader reader;
    struct arena arena;
    struct slice text;
    bool is_done = true;

    if (value->is_empty) {
        return end_list(column, row, column->text_count, false);
    }
    arena_init(&arena);
    json_reader_init(&reader, value->text, &arena);
    json_reader_begin_array(&reader);
    while (is_done && json_reader_next_item(&reader) &&
           json_reader_text(&reader, &text)) {
        is_done = add_list_text(column, text);
    }
    is_done = is_done && json_reader_finish(&reader);
    arena_release(&arena);
    return is_done && end_list(column, row, column->text_count, true);
}

bool arrow_column_set(struct arrow_column *column,
                      size_t row,
                      const struct column_value *value)
{
    switch (column->type) {
    case ARROW_INTEGER:
    case ARROW_TIME:
        ((int64_t *)column->items)[row] = integer_of(value);
        break;
    case ARROW_FLAG:
        ((uint8_t *)column->items)[row] = integer_of(value) != 0;
        break;
    case ARROW_REAL:
        return set_real(column, row, value);
    case ARROW_TEXT:
        return set_text(column, row, value);
    case ARROW_TEXTS:
        return set_texts(column, row, value);
    default: /* NUMBERS and HASH have functions of their own */
        assert(false);
        return false;
    }
    set_valid(column, row, !value->is_empty);
    return true;
}

bool arrow_column_set_numbers(struct arrow_column *column,
                              size_t row,
                              const int64_t *numbers,
                              uint32_t count)
{
    void *items = column->numbers;

    assert(column->type == ARROW_NUMBERS);
    if (numbers == NULL) {
        return end_list(column, row, column->number_count, false);
    }
    if (!memory_grow(&items, &column->number_capacity, column->number_count + count,
                     sizeof *column->numbers)) {
        return false;
    }
    column->numbers = items;
    for (uint32_t i = 0; i < count; i++) {
        column->numbers[column->number_count++] = numbers[i];
    }
    return end_list(column, row, column->number_count, true);
}

void arrow_column_set_hash(struct arrow_column *column,
                           size_t row,
                           bool has_hash,
                           uint64_t hash)
{
    assert(column->type == ARROW_HASH);
    ((uint64_t *)column->items)[row] = has_hash ? hash : 0;
    set_valid(column, row, has_hash);
}

size_t arrow_table_size(const struct arrow_table *table)
{
    size_t size = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const struct arrow_column *column = &table->columns[i];

        size += column->codes.size + column->text.size +
                column->number_count * sizeof *column->numbers;
    }
    return size;
}
