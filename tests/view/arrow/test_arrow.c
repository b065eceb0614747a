/* Arrow streams: who releases what, and failing allocations. */
#include "runtime/base/memory.h"
#include "runtime/view/arrow/arrow.h"
#include "tests/trace/test_log.h"

#include <errno.h>
#include <string.h>

#define PATH  "arrow.mtrace"
#define SEED  7
#define COUNT 3000

static const enum event_column columns[] = {
    EVENT_COLUMN_trace, EVENT_COLUMN_seq,   EVENT_COLUMN_time,
    EVENT_COLUMN_name,  EVENT_COLUMN_shape, EVENT_COLUMN_requires_grad,
    EVENT_COLUMN_value, EVENT_COLUMN_hash,
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)
/* `value` is two of them. */
#define FIELD_COUNT (COLUMN_COUNT + 1)

static const char *const paths[] = {PATH, PATH};

static struct arrow_request request_of(size_t path_count, const struct sql_rows *rows)
{
    return (struct arrow_request){
        .paths = paths,
        .path_count = path_count,
        .rows = rows,
        .columns = columns,
        .column_count = COLUMN_COUNT,
    };
}

/* Reads the rest. -1: it failed. */
static int64_t count_rows(struct ArrowArrayStream *stream)
{
    int64_t count = 0;

    for (;;) {
        struct ArrowArray array;

        if (stream->get_next(stream, &array) != 0) {
            CHECK(array.release == NULL);
            return -1;
        }
        if (array.release == NULL) {
            return count;
        }
        CHECK(array.n_children == 0 || array.children[0]->length == array.length);
        count += array.length;
        array.release(&array);
        CHECK(array.release == NULL);
    }
}

static void test_all_rows(void)
{
    struct arrow_request request = request_of(2, NULL);
    struct ArrowArrayStream stream;
    struct error error = ERROR_INIT;
    uint64_t events = count_events_before(SEED, COUNT);

    CHECK(arrow_stream_make(&stream, &request, &error));
    CHECK(count_rows(&stream) == (int64_t)(2 * events));
    CHECK(count_rows(&stream) == 0); /* the end stays the end */
    CHECK(stream.get_last_error(&stream) == NULL);
    stream.release(&stream);
    CHECK(stream.release == NULL);
}

static void test_schema(void)
{
    static const char *const formats[] = {"i", "l", "tDn", "i", "+l",
                                          "b", "g", "i",   "L"};
    struct arrow_request request = request_of(1, NULL);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema, moved;
    struct error error = ERROR_INIT;

    CHECK(arrow_stream_make(&stream, &request, &error));
    CHECK(stream.get_schema(&stream, &schema) == 0);
    stream.release(&stream);
    CHECK(strcmp(schema.format, "+s") == 0 && schema.n_children == FIELD_COUNT);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        CHECK(strcmp(schema.children[i]->format, formats[i]) == 0);
        CHECK((schema.children[i]->dictionary != NULL) == (formats[i][0] == 'i'));
    }
    CHECK(strcmp(schema.children[7]->name, "value_text") == 0);
    CHECK(strcmp(schema.children[4]->children[0]->format, "l") == 0);
    /* A child that was moved away outlives its parent. */
    moved = *schema.children[7];
    schema.children[7]->release = NULL;
    schema.release(&schema);
    CHECK(strcmp(moved.name, "value_text") == 0);
    moved.release(&moved);
}

/* A stream may be released before its end, and what it gave lives on. */
static void test_early_release(void)
{
    struct arrow_request request = request_of(1, NULL);
    struct ArrowArrayStream stream;
    struct ArrowArray array, moved;
    struct error error = ERROR_INIT;
    const int64_t *numbers;

    CHECK(arrow_stream_make(&stream, &request, &error));
    stream.release(&stream); /* before anything was read */

    CHECK(arrow_stream_make(&stream, &request, &error));
    CHECK(stream.get_next(&stream, &array) == 0 && array.release != NULL);
    stream.release(&stream);
    moved = *array.children[1];
    array.children[1]->release = NULL;
    array.release(&array);
    numbers = moved.buffers[1];
    CHECK(numbers[0] == 0 && numbers[moved.length - 1] == moved.length - 1);
    moved.release(&moved);
}

/* Paths, columns and conditions are copied; the file is opened when it is reached. */
static void test_it_owns_what_it_needs(void)
{
    char path[] = PATH;
    char text[] = "assign";
    const char *const own_paths[] = {path};
    struct arrow_condition conditions[] = {{"kind", text}};
    struct arrow_request request = request_of(1, NULL);
    struct ArrowArrayStream stream;
    struct error error = ERROR_INIT;
    int64_t count;

    request.paths = own_paths;
    request.conditions = conditions;
    request.condition_count = 1;
    CHECK(arrow_stream_make(&stream, &request, &error));
    memset(path, 'x', sizeof path - 1);
    memset(text, 'x', sizeof text - 1);
    count = count_rows(&stream);
    CHECK(count > 0 && count < (int64_t)count_events_before(SEED, COUNT));
    stream.release(&stream);

    conditions[0].text = "nonsense";
    CHECK(!arrow_stream_make(&stream, &request, &error));
    CHECK(error.kind == ERROR_USAGE && stream.release == NULL);
}

static void test_no_such_file(void)
{
    static const char *const missing[] = {PATH, "missing.mtrace"};
    struct arrow_request request = request_of(2, NULL);
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    struct error error = ERROR_INIT;
    const char *message;

    request.paths = missing;
    CHECK(arrow_stream_make(&stream, &request, &error));
    CHECK(stream.get_next(&stream, &array) == EIO && array.release == NULL);
    message = stream.get_last_error(&stream);
    CHECK(message != NULL && strstr(message, "missing.mtrace") != NULL);
    CHECK(count_rows(&stream) <= 0); /* nothing more, and no crash */
    stream.release(&stream);
}

static void test_other_tables(void)
{
    static const struct sql_rows *const tables[] = {&sql_sites_rows, &sql_calls_rows,
                                                    &sql_edges_rows};

    for (size_t i = 0; i < 3; i++) {
        struct arrow_request request = request_of(2, tables[i]);
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        struct error error = ERROR_INIT;
        int64_t count;

        CHECK(arrow_stream_make(&stream, &request, &error));
        CHECK(stream.get_schema(&stream, &schema) == 0);
        CHECK(schema.n_children == tables[i]->table.column_count);
        schema.release(&schema);
        count = count_rows(&stream);
        CHECK(i == 0 ? count == 2 * SITE_COUNT : count >= 0);
        stream.release(&stream);
    }
}

/* Makes the n-th allocation fail, for each n: an error with a message, and nothing lost. */
static bool try_failing(size_t countdown, const struct sql_rows *rows, int64_t wanted)
{
    struct arrow_request request = request_of(2, rows);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct error error = ERROR_INIT;
    int64_t count;
    bool is_whole = true;

    memory_fail_after(countdown, false);
    if (!arrow_stream_make(&stream, &request, &error)) {
        memory_fail_after(0, false);
        CHECK(error.kind == ERROR_MEMORY && stream.release == NULL);
        return false;
    }
    if (stream.get_schema(&stream, &schema) == 0) {
        schema.release(&schema);
    } else {
        CHECK(stream.get_last_error(&stream) != NULL);
        is_whole = false;
    }
    count = count_rows(&stream);
    memory_fail_after(0, false);
    if (count < 0) {
        CHECK(stream.get_last_error(&stream) != NULL);
        is_whole = false;
    }
    /* Never fewer rows without a failure. */
    CHECK(count < 0 || count == wanted);
    stream.release(&stream);
    return is_whole;
}

static int64_t rows_of(const struct sql_rows *rows)
{
    struct arrow_request request = request_of(2, rows);
    struct ArrowArrayStream stream;
    struct error error = ERROR_INIT;
    int64_t count;

    CHECK(arrow_stream_make(&stream, &request, &error));
    count = count_rows(&stream);
    stream.release(&stream);
    return count;
}

static void test_failing_allocations(void)
{
    static const struct sql_rows *const tables[] = {NULL, &sql_sites_rows,
                                                    &sql_calls_rows};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        int64_t wanted = rows_of(tables[i]);
        size_t failures = 0;

        for (size_t n = 1; n < 100000; n += n < 300 ? 1 : 37) {
            if (try_failing(n, tables[i], wanted)) {
                break;
            }
            failures++;
        }
        CHECK(failures > 20);
    }
}

int main(void)
{
    struct log_options options = {.sample = SAMPLE};

    CHECK(write_trace(PATH, &options, SEED, COUNT));
    test_all_rows();
    test_schema();
    test_early_release();
    test_it_owns_what_it_needs();
    test_no_such_file();
    test_other_tables();
    test_failing_allocations();
    remove(PATH);
    return check_finish();
}
