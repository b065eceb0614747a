/* A table's rows as an Arrow array, and its columns as a schema. */
#include "runtime/view/arrow/array.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdio.h>

#define BUFFERS_MOST 3
#define NAME_SIZE    64

/* ---- arrays ---- */

/* An array's private data. Children and the dictionary may be moved away by whoever has the array: they
 * are empty then. */
struct array_hold {
    void *blocks[BUFFERS_MOST]; /* owned */
    const void *buffers[BUFFERS_MOST];
    struct ArrowArray dictionary;
    struct ArrowArray **pointers; /* owned; to the children */
    struct ArrowArray *children;  /* owned */
};

static void array_release(struct ArrowArray *array)
{
    struct array_hold *hold = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL) {
        array->dictionary->release(array->dictionary);
    }
    for (int i = 0; i < BUFFERS_MOST; i++) {
        memory_free(hold->blocks[i]);
    }
    memory_free(hold->pointers);
    memory_free(hold->children);
    memory_free(hold);
    array->release = NULL;
}

/* An array that has no buffers yet; its children are empty. */
static bool array_init(struct ArrowArray *array,
                       size_t length,
                       int buffer_count,
                       size_t child_count)
{
    struct array_hold *hold = memory_allocate_zeroed(1, sizeof *hold);

    *array = (struct ArrowArray){.release = NULL};
    if (hold == NULL) {
        return false;
    }
    hold->pointers = memory_allocate(child_count, sizeof(struct ArrowArray *));
    hold->children = memory_allocate_zeroed(child_count, sizeof *hold->children);
    if (hold->pointers == NULL || hold->children == NULL) {
        memory_free(hold->pointers);
        memory_free(hold->children);
        memory_free(hold);
        return false;
    }
    for (size_t i = 0; i < child_count; i++) {
        hold->pointers[i] = &hold->children[i];
    }
    *array = (struct ArrowArray){
        .length = (int64_t)length,
        .n_buffers = buffer_count,
        .n_children = (int64_t)child_count,
        .buffers = hold->buffers,
        .children = hold->pointers,
        .release = array_release,
        .private_data = hold,
    };
    return true;
}

/* Gives the array a block that is ours. There is always one: readers may follow a null pointer even to
 * no bytes. */
static bool give_block(struct ArrowArray *array, int index, void *block)
{
    struct array_hold *hold = array->private_data;

    assert(index < array->n_buffers && hold->blocks[index] == NULL);
    if (block == NULL) {
        block = memory_allocate_zeroed(1, sizeof(int64_t));
    }
    hold->blocks[index] = block;
    hold->buffers[index] = block;
    return block != NULL;
}

static bool give_texts(struct ArrowArray *array, int32_t *offsets, void *bytes)
{
    bool is_given = give_block(array, 1, offsets);

    return give_block(array, 2, bytes) && is_given;
}

static bool make_dictionary(struct ArrowArray *array, const struct text_codes *codes)
{
    int32_t *offsets = memory_allocate(codes->count + 1, sizeof *offsets);
    char *bytes = memory_allocate(codes->size, 1);
    char *at = bytes;

    if (offsets == NULL || bytes == NULL || codes->size > INT32_MAX ||
        !array_init(array, codes->count, 3, 0)) {
        memory_free(offsets);
        memory_free(bytes);
        return false;
    }
    offsets[0] = 0;
    for (size_t i = 0; i < codes->count; i++) {
        slice_put(&at, codes->texts[i]);
        offsets[i + 1] = (int32_t)(at - bytes);
    }
    return give_texts(array, offsets, bytes);
}

static bool move_dictionary(struct ArrowArray *array, const struct arrow_column *column)
{
    struct array_hold *hold = array->private_data;

    array->dictionary = &hold->dictionary;
    return make_dictionary(&hold->dictionary, &column->codes);
}

static bool move_numbers(struct ArrowArray *array, struct arrow_column *column)
{
    int64_t *numbers = column->numbers;

    if (!array_init(array->children[0], column->number_count, 2, 0)) {
        return false;
    }
    column->numbers = NULL;
    return give_block(array->children[0], 1, numbers);
}

static bool move_list_texts(struct ArrowArray *array, struct arrow_column *column)
{
    int32_t *offsets = memory_allocate(column->text_count + 1, sizeof *offsets);
    void *bytes = column->text.bytes;

    if (offsets == NULL || !array_init(array->children[0], column->text_count, 3, 0)) {
        memory_free(offsets);
        return false;
    }
    offsets[0] = 0;
    for (size_t i = 0; i < column->text_count; i++) {
        offsets[i + 1] = column->ends[i];
    }
    column->text = BUFFER_INIT;
    return give_texts(array->children[0], offsets, bytes);
}

/* From a byte a row to a bit, in place: what is written was read before. */
static void pack(uint8_t *flags, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        unsigned bits = 0;

        for (size_t k = 0; k < 8 && i + k < count; k++) {
            bits |= (unsigned)flags[i + k] << k;
        }
        flags[i / 8] = (uint8_t)bits;
    }
}

static bool
move_column(struct ArrowArray *array, struct arrow_column *column, size_t row_count)
{
    bool is_list = column->type == ARROW_NUMBERS || column->type == ARROW_TEXTS;
    void *items = column->items;
    void *valid = column->valid;

    if (!array_init(array, row_count, 2, is_list)) {
        return false;
    }
    column->items = NULL;
    if (!give_block(array, 1, items)) {
        return false;
    }
    array->null_count = (int64_t)column->null_count;
    if (column->null_count > 0) {
        column->valid = NULL;
        give_block(array, 0, valid);
    }
    switch (column->type) {
    case ARROW_FLAG:
        pack(items, row_count);
        return true;
    case ARROW_TEXT:
        return move_dictionary(array, column);
    case ARROW_NUMBERS:
        return move_numbers(array, column);
    case ARROW_TEXTS:
        return move_list_texts(array, column);
    default:
        return true;
    }
}

bool arrow_array_move(struct ArrowArray *array, struct arrow_table *table)
{
    bool is_done = array_init(array, table->row_count, 1, table->column_count);

    for (size_t i = 0; is_done && i < table->column_count; i++) {
        is_done = move_column(array->children[i], &table->columns[i], table->row_count);
    }
    if (!is_done && array->release != NULL) {
        array->release(array);
    }
    arrow_table_clear(table);
    return is_done;
}

/* ---- schemas ---- */

struct schema_hold {
    char name[NAME_SIZE];
    struct ArrowSchema dictionary;
    struct ArrowSchema **pointers; /* owned */
    struct ArrowSchema *children;  /* owned */
};

static void schema_release(struct ArrowSchema *schema)
{
    struct schema_hold *hold = schema->private_data;

    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
    }
    if (schema->dictionary != NULL && schema->dictionary->release != NULL) {
        schema->dictionary->release(schema->dictionary);
    }
    memory_free(hold->pointers);
    memory_free(hold->children);
    memory_free(hold);
    schema->release = NULL;
}

/* `format` is static; the name is copied. */
static bool schema_init(struct ArrowSchema *schema,
                        const char *format,
                        const char *name,
                        const char *ending,
                        size_t child_count)
{
    struct schema_hold *hold = memory_allocate_zeroed(1, sizeof *hold);

    *schema = (struct ArrowSchema){.release = NULL};
    if (hold == NULL) {
        return false;
    }
    hold->pointers = memory_allocate(child_count, sizeof(struct ArrowSchema *));
    hold->children = memory_allocate_zeroed(child_count, sizeof *hold->children);
    if (hold->pointers == NULL || hold->children == NULL) {
        memory_free(hold->pointers);
        memory_free(hold->children);
        memory_free(hold);
        return false;
    }
    for (size_t i = 0; i < child_count; i++) {
        hold->pointers[i] = &hold->children[i];
    }
    snprintf(hold->name, sizeof hold->name, "%s%s", name, ending);
    *schema = (struct ArrowSchema){
        .format = format,
        .name = hold->name,
        .flags = ARROW_FLAG_NULLABLE,
        .n_children = (int64_t)child_count,
        .children = hold->pointers,
        .release = schema_release,
        .private_data = hold,
    };
    return true;
}

static bool make_column(struct ArrowSchema *schema, const struct arrow_column *column)
{
    static const char *const formats[] = {
        [ARROW_INTEGER] = "l",  [ARROW_FLAG] = "b",   [ARROW_TIME] = "tDn",
        [ARROW_REAL] = "g",     [ARROW_HASH] = "L",   [ARROW_TEXT] = "i",
        [ARROW_NUMBERS] = "+l", [ARROW_TEXTS] = "+l",
    };
    bool is_list = column->type == ARROW_NUMBERS || column->type == ARROW_TEXTS;
    const char *ending = column->is_value_text ? "_text" : "";
    struct schema_hold *hold;

    if (!schema_init(schema, formats[column->type], column->rule->name, ending,
                     is_list)) {
        return false;
    }
    if (is_list) {
        return schema_init(schema->children[0],
                           column->type == ARROW_NUMBERS ? "l" : "u", "item", "", 0);
    }
    if (column->type != ARROW_TEXT) {
        return true;
    }
    hold = schema->private_data;
    schema->dictionary = &hold->dictionary;
    return schema_init(&hold->dictionary, "u", "", "", 0);
}

bool arrow_schema_make(struct ArrowSchema *schema, const struct arrow_table *table)
{
    bool is_done = schema_init(schema, "+s", "", "", table->column_count);

    if (is_done) {
        schema->flags = 0; /* a row is never null */
    }
    for (size_t i = 0; is_done && i < table->column_count; i++) {
        is_done = make_column(schema->children[i], &table->columns[i]);
    }
    if (!is_done && schema->release != NULL) {
        schema->release(schema);
    }
    return is_done;
}
