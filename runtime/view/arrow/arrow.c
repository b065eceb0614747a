/* Arrow streams of the tables of traces. */
#include "runtime/view/arrow/arrow.h"

#include "runtime/base/memory.h"
#include "runtime/view/arrow/column.h"
#include "runtime/view/arrow/interface.h"
#include "runtime/view/walk/event_rows.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* ---- a table's rows as an Arrow array, and its columns as a schema ---- */

#define BUFFERS_MOST 3
#define NAME_SIZE    64

/* ---- arrays ---- */

/* The private data of an array. Its owner may move the children and the dictionary away, which
 * leaves them empty. */
struct array_hold {
    void *blocks[BUFFERS_MOST]; /* owned */
    const void *buffers[BUFFERS_MOST];
    struct ArrowArray dictionary;
    struct ArrowArray **pointers; /* owned; point to the children */
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

/* Makes an array without buffers; its children are empty. Returns false if memory runs out. */
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

/* Hands a block over to the array. A NULL block is replaced, because readers may use a pointer
 * even for a size of 0. Returns false if memory runs out. */
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

/* Packs one byte per row into one bit per row, in place: each byte is read before it is
 * overwritten. */
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

/* Moves the rows to the array, and empties the table. If memory runs out, returns false; the
 * array is empty then, and the rows are lost. */
static bool arrow_array_move(struct ArrowArray *array, struct arrow_table *table)
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

/* `format` must be static; the name is copied. Returns false if memory runs out. */
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

static bool arrow_schema_make(struct ArrowSchema *schema,
                              const struct arrow_table *table)
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

/* A batch ends at this size of its texts and lists, because their offsets have 31 bits. */
#define BATCH_SIZE (256 * 1024 * 1024)

/* The private data of a stream. */
struct arrow_stream {
    struct arena arena; /* holds the texts of the request */
    const char **paths; /* owned; the texts are in the arena */
    size_t path_count;
    const struct sql_rows *rows; /* NULL: the table of events */
    source_strip strip;
    void (*report)(const char *path, const char *damage);
    struct event_filter filter;
    struct arrow_table table;
    struct buffer scratch;
    size_t trace; /* index of the present or next trace */
    bool is_open; /* the present trace is being read */
    /* For events. */
    struct log_reader *reader; /* owned */
    struct event_rows events;
    /* For other tables. */
    struct sql_traces traces; /* the present trace only */
    size_t row;
    struct error error;
};

/* ---- lifetime ---- */

static void close_trace(struct arrow_stream *stream)
{
    if (!stream->is_open) {
        return;
    }
    if (stream->rows != NULL) {
        sql_traces_release(&stream->traces);
    } else {
        event_rows_release(&stream->events);
        log_reader_free(stream->reader);
    }
    stream->is_open = false;
}

static void stream_free(struct arrow_stream *stream)
{
    close_trace(stream);
    arrow_table_release(&stream->table);
    event_filter_release(&stream->filter);
    buffer_release(&stream->scratch);
    memory_free(stream->paths);
    arena_release(&stream->arena);
    memory_free(stream);
}

static bool open_trace(struct arrow_stream *stream)
{
    const char *path = stream->paths[stream->trace];

    if (stream->rows != NULL) {
        if (!sql_traces_init(&stream->traces, &path, 1, stream->strip,
                             &stream->error)) {
            return false;
        }
        stream->is_open = true;
        stream->row = 0;
        return stream->rows->prepare == NULL ||
               stream->rows->prepare(&stream->traces, stream->traces.traces);
    }
    stream->reader = log_reader_new(path, &stream->error);
    if (stream->reader == NULL) {
        return false;
    }
    event_rows_init(&stream->events, stream->reader, &stream->filter);
    stream->is_open = true;
    return true;
}

/* ---- rows ---- */

static bool set_event(struct arrow_stream *stream, struct arrow_column *column)
{
    const struct log_event_view *event = &stream->events.item.event;
    enum event_column number = (enum event_column)column->number;
    size_t row = stream->table.row_count;
    const int64_t *numbers = NULL;
    uint32_t count = 0;
    struct column_value value;

    switch (column->type) {
    case ARROW_NUMBERS:
        /* The shape of a scalar has no numbers, but is not null. */
        if (!event_column_numbers(number, event, &numbers, &count)) {
            return arrow_column_set_numbers(column, row, NULL, 0);
        }
        return arrow_column_set_numbers(column, row,
                                        count == 0 ? &(int64_t){0} : numbers, count);
    case ARROW_HASH:
        arrow_column_set_hash(column, row, event->has_hash, event->hash);
        return true;
    default:
        event_column_get(number, event, stream->events.call,
                         slice_of(stream->paths[stream->trace]), &stream->scratch,
                         &value);
        return !stream->scratch.has_failed && arrow_column_set(column, row, &value);
    }
}

static bool set_row(struct arrow_stream *stream, struct arrow_column *column)
{
    struct sql_trace *trace = stream->traces.traces;
    struct column_value value = {.is_empty = true};

    stream->scratch.size = 0;
    if (column->number == 0) {
        sql_value_set_text(&value, trace->name);
    } else {
        stream->rows->get(trace, stream->row, column->number, &stream->scratch, &value);
    }
    return !stream->scratch.has_failed &&
           arrow_column_set(column, stream->table.row_count, &value);
}

static bool add_row(struct arrow_stream *stream)
{
    struct arrow_table *table = &stream->table;

    if (!arrow_table_begin_row(table)) {
        return false;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        struct arrow_column *column = &table->columns[i];

        if (stream->rows == NULL ? !set_event(stream, column)
                                 : !set_row(stream, column)) {
            return false;
        }
    }
    arrow_table_end_row(table);
    return true;
}

/* Whether the present trace has another row. Moves to it if it is an event. */
static bool has_row(struct arrow_stream *stream)
{
    if (stream->rows == NULL) {
        return event_rows_next(&stream->events);
    }
    return stream->row < stream->rows->count(stream->traces.traces);
}

static const struct log_reader *present_reader(const struct arrow_stream *stream)
{
    return stream->rows == NULL ? stream->reader
                                : stream->traces.traces->readers->reader;
}

/* Ends the present trace. Returns false if its reader ran out of memory, which it reports as
 * damage. */
static bool end_trace(struct arrow_stream *stream)
{
    const struct log_reader *reader = present_reader(stream);

    if (!event_rows_has_memory(reader) ||
        (stream->rows == NULL && stream->events.has_failed)) {
        return false;
    }
    if (stream->report != NULL && log_reader_damage_count(reader) > 0) {
        stream->report(stream->paths[stream->trace], log_reader_damage(reader, 0));
    }
    close_trace(stream);
    stream->trace++;
    return true;
}

static bool is_full(const struct arrow_table *table)
{
    return table->row_count == ARROW_BATCH_ROWS ||
           (table->row_count % 64 == 0 && arrow_table_size(table) > BATCH_SIZE);
}

/* Adds rows until the batch is full or no rows are left. Returns false on failure. */
static bool fill(struct arrow_stream *stream)
{
    while (!is_full(&stream->table) && stream->trace < stream->path_count) {
        if (!stream->is_open && !open_trace(stream)) {
            return false;
        }
        if (!has_row(stream)) {
            if (!end_trace(stream)) {
                return false;
            }
            continue;
        }
        if (!add_row(stream)) {
            return false;
        }
        stream->row++;
    }
    return true;
}

/* ---- the stream interface ---- */

/* Sets the error and closes the stream. Returns a code of errno. */
static int fail(struct arrow_stream *stream)
{
    if (stream->is_open && stream->rows != NULL &&
        stream->traces.error.kind != ERROR_NONE) {
        stream->error = stream->traces.error;
    }
    if (stream->error.kind == ERROR_NONE) {
        error_set_memory(&stream->error);
    }
    close_trace(stream);
    arrow_table_clear(&stream->table);
    stream->trace = stream->path_count;
    return stream->error.kind == ERROR_MEMORY ? ENOMEM : EIO;
}

static int stream_get_schema(struct ArrowArrayStream *stream,
                             struct ArrowSchema *schema)
{
    struct arrow_stream *own = stream->private_data;

    own->error = ERROR_INIT;
    if (!arrow_schema_make(schema, &own->table)) {
        error_set_memory(&own->error);
        return ENOMEM;
    }
    return 0;
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct arrow_stream *own = stream->private_data;

    *array = (struct ArrowArray){.release = NULL};
    own->error = ERROR_INIT;
    if (!fill(own)) {
        return fail(own);
    }
    if (own->table.row_count > 0 && !arrow_array_move(array, &own->table)) {
        return fail(own);
    }
    return 0;
}

static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
    struct arrow_stream *own = stream->private_data;

    return own->error.kind == ERROR_NONE ? NULL : own->error.text;
}

static void stream_release(struct ArrowArrayStream *stream)
{
    stream_free(stream->private_data);
    stream->private_data = NULL;
    stream->release = NULL;
}

/* ---- construction ---- */

static const char *copy_text(struct arrow_stream *stream, const char *text)
{
    return arena_copy(&stream->arena, slice_of(text)).bytes;
}

static bool add_paths(struct arrow_stream *stream, const struct arrow_request *request)
{
    stream->paths = memory_allocate(request->path_count, sizeof *stream->paths);
    if (stream->paths == NULL) {
        return false;
    }
    for (size_t i = 0; i < request->path_count; i++) {
        stream->paths[i] = copy_text(stream, request->paths[i]);
        if (stream->paths[i] == NULL) {
            return false;
        }
    }
    stream->path_count = request->path_count;
    return true;
}

static bool add_conditions(struct arrow_stream *stream,
                           const struct arrow_request *request,
                           struct error *error)
{
    for (size_t i = 0; i < request->condition_count; i++) {
        const struct arrow_condition *condition = &request->conditions[i];
        const char *text = copy_text(stream, condition->text);
        bool is_used = false;

        if (text == NULL) {
            return error_set_memory(error);
        }
        if (!event_filter_process(&stream->filter, condition->option, text, &is_used,
                                  error)) {
            return false;
        }
        assert(is_used);
    }
    return true;
}

static bool add_columns(struct arrow_stream *stream,
                        const struct arrow_request *request)
{
    size_t count = request->rows == NULL ? request->column_count
                                         : (size_t)request->rows->table.column_count;

    for (size_t i = 0; i < count; i++) {
        int number = request->rows == NULL ? (int)request->columns[i] : (int)i;
        const struct column_rule *rule = request->rows == NULL
                                             ? &event_columns[number]
                                             : &request->rows->table.columns[number];

        if (!arrow_table_add(&stream->table, rule, number)) {
            return false;
        }
    }
    return true;
}

bool arrow_stream_make(struct ArrowArrayStream *stream,
                       const struct arrow_request *request,
                       struct error *error)
{
    struct arrow_stream *own = memory_allocate_zeroed(1, sizeof *own);

    *stream = (struct ArrowArrayStream){.release = NULL};
    if (own == NULL) {
        return error_set_memory(error);
    }
    arena_init(&own->arena);
    event_filter_init(&own->filter);
    arrow_table_init(&own->table);
    own->rows = request->rows;
    own->strip = request->strip;
    own->report = request->report;
    if (!add_paths(own, request) || !add_columns(own, request)) {
        stream_free(own);
        return error_set_memory(error);
    }
    if (!add_conditions(own, request, error)) {
        stream_free(own);
        return false;
    }
    *stream = (struct ArrowArrayStream){
        .get_schema = stream_get_schema,
        .get_next = stream_get_next,
        .get_last_error = stream_get_last_error,
        .release = stream_release,
        .private_data = own,
    };
    return true;
}
