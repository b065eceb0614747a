/* Positions of instrumented text, and CPython's location tables. The position map belongs to
 * the extension module, which is in no library that a test could link. */
#include "runtime/python/compile/position_map.c"

#include "tests/unit/check.h"

/* A text with its insertions, in the order given. */
struct sample {
    struct insertion insertions[8];
    size_t count;
    struct position_map map;
};

static void sample_insert(struct sample *sample, uint32_t offset, uint32_t size)
{
    sample->insertions[sample->count++] =
        (struct insertion){.offset = offset, .size = size};
}

static void sample_insert_anchored(
    struct sample *sample, uint32_t offset, uint32_t size, uint32_t start, uint32_t end)
{
    sample->insertions[sample->count++] = (struct insertion){
        .offset = offset, .size = size, .anchor_start = start, .anchor_end = end};
}

static void sample_start(struct sample *sample, struct slice original)
{
    struct error error = ERROR_INIT;

    CHECK(position_map_init(&sample->map, original, sample->insertions, sample->count,
                            &error));
}

static bool maps_lines(const struct sample *sample,
                       struct position_range from,
                       struct position_range to)
{
    position_map_range(&sample->map, &from);
    if (memcmp(&from, &to, sizeof to) != 0) {
        printf("  got %d-%d, columns %d-%d\n", from.line, from.end_line, from.column,
               from.end_column);
        return false;
    }
    return true;
}

static bool maps(const struct sample *sample,
                 int32_t line,
                 int32_t column,
                 int32_t end_column,
                 int32_t to_column,
                 int32_t to_end_column)
{
    return maps_lines(sample, (struct position_range){line, line, column, end_column},
                      (struct position_range){line, line, to_column, to_end_column});
}

static void test_text_without_insertions(void)
{
    struct sample sample = {0};

    sample_start(&sample, SLICE("a = b\nc = d\n"));
    CHECK(sample.map.line_count == 3);
    CHECK(maps(&sample, 1, 0, 5, 0, 5));
    CHECK(maps(&sample, 2, 4, 5, 4, 5));
    position_map_release(&sample.map);
}

static void test_statement_with_record_behind(void)
{
    struct sample sample = {0};

    /* `a = b; _mt and _mt(1, a)`: 20 bytes behind offset 5. */
    sample_insert(&sample, 5, 20);
    sample_start(&sample, SLICE("a = b\nc = d\n"));
    CHECK(maps(&sample, 1, 0, 5, 0, 5));
    CHECK(maps(&sample, 1, 4, 5, 4, 5));
    CHECK(maps(&sample, 1, 7, 25, -1, -1)); /* inserted code has no columns */
    CHECK(maps(&sample, 1, 5, 25, -1, -1));
    CHECK(maps(&sample, 2, 0, 5, 0, 5)); /* other lines stay */
    position_map_release(&sample.map);
}

static void test_condition_with_record_before(void)
{
    struct sample sample = {0};

    /* `if (_mt and _mt(1, a)) or (x + y): z`, 24 bytes before x and 1 behind y. */
    sample_insert(&sample, 3, 24);
    sample_insert(&sample, 8, 1);
    sample_start(&sample, SLICE("if x + y: z\n"));
    CHECK(maps(&sample, 1, 3, 33, 3, 8));    /* the whole condition */
    CHECK(maps(&sample, 1, 26, 33, 3, 8));   /* the parenthesis around the old one */
    CHECK(maps(&sample, 1, 27, 32, 3, 8));   /* x + y */
    CHECK(maps(&sample, 1, 27, 28, 3, 4));   /* x */
    CHECK(maps(&sample, 1, 31, 32, 7, 8));   /* y */
    CHECK(maps(&sample, 1, 4, 7, -1, -1));   /* _mt */
    CHECK(maps(&sample, 1, 35, 36, 10, 11)); /* z */
    CHECK(maps(&sample, 1, 0, 36, 0, 11));
    position_map_release(&sample.map);
}

static void test_neighbours_at_one_offset(void)
{
    struct sample sample = {0};

    sample_insert(&sample, 2, 3);
    sample_insert(&sample, 2, 4);
    sample_start(&sample, SLICE("ab+cd"));
    CHECK(maps(&sample, 1, 0, 2, 0, 2));
    CHECK(maps(&sample, 1, 2, 9, -1, -1));
    CHECK(maps(&sample, 1, 3, 7, -1, -1));
    CHECK(maps(&sample, 1, 5, 9, -1, -1));
    CHECK(maps(&sample, 1, 9, 12, 2, 5));
    CHECK(maps(&sample, 1, 10, 12, 3, 5));
    CHECK(maps(&sample, 1, 0, 7, 0, 2));
    CHECK(maps(&sample, 1, 6, 12, 2, 5));
    position_map_release(&sample.map);
}

static void test_empty_range_at_an_insertion(void)
{
    struct sample sample = {0};

    /* A function's first instruction stands at column 0, with no width. */
    sample_insert(&sample, 0, 9);
    sample_start(&sample, SLICE("x = 1\n"));
    CHECK(maps(&sample, 1, 0, 0, 0, 0));
    CHECK(maps(&sample, 1, 9, 14, 0, 5));
    position_map_release(&sample.map);
}

static void test_anchors(void)
{
    struct sample sample = {0};

    /* `return (v := (x +\n y)) is ...`: 13 bytes before x, 20 behind y, anchored at x + y. */
    sample_insert_anchored(&sample, 7, 13, 7, 12);
    sample_insert_anchored(&sample, 12, 20, 7, 12);
    sample_start(&sample, SLICE("return x +\ny\n"));
    CHECK(maps(&sample, 2, 0, 1, 0, 1));
    CHECK(maps_lines(&sample, (struct position_range){1, 1, 8, 9},
                     (struct position_range){1, 2, 7, 1}));
    CHECK(maps_lines(&sample, (struct position_range){2, 2, 6, 9},
                     (struct position_range){1, 2, 7, 1}));
    CHECK(maps_lines(&sample, (struct position_range){1, 2, 7, 21},
                     (struct position_range){1, 2, 7, 1}));
    CHECK(maps_lines(&sample, (struct position_range){1, 2, 0, 21},
                     (struct position_range){1, 2, 0, 1}));
    position_map_release(&sample.map);
}

/* `return  x`: what is inserted behind the keyword wraps the value, not the blanks. */
static void test_blanks_behind_an_insertion(void)
{
    struct sample sample = {0};

    sample_insert(&sample, 6, 10);
    sample_insert(&sample, 9, 5);
    sample_start(&sample, SLICE("return  x\n"));
    CHECK(maps(&sample, 1, 7, 20, 8, 9));
    CHECK(maps(&sample, 1, 18, 19, 8, 9));
    CHECK(maps(&sample, 1, 0, 24, 0, 9));
    position_map_release(&sample.map);
}

static void test_line_ends(void)
{
    struct sample sample = {0};

    sample_insert(&sample, 3, 5);
    sample_insert(&sample, 6, 7);
    sample_insert(&sample, 9, 2);
    sample_insert(&sample, 11, 4);
    sample_start(&sample, SLICE("a\r\nb\rc\nd\n\fe"));
    CHECK(sample.map.line_count == 5);
    CHECK(maps(&sample, 1, 0, 1, 0, 1));
    CHECK(maps(&sample, 2, 5, 6, 0, 1));
    CHECK(maps(&sample, 3, 0, 1, 0, 1));
    CHECK(maps(&sample, 4, 0, 1, 0, 1));
    CHECK(maps(&sample, 5, 2, 4, 0, 2)); /* a form feed ends no line */
    CHECK(maps(&sample, 5, 4, 8, -1, -1));
    position_map_release(&sample.map);
}

static void test_places_that_the_text_lacks(void)
{
    struct sample sample = {0};

    sample_insert(&sample, 0, 4);
    sample_start(&sample, SLICE("x"));
    CHECK(maps_lines(&sample, (struct position_range){0, 1, 0, 0},
                     (struct position_range){0, 1, 0, 0}));
    CHECK(maps(&sample, 7, 4, 9, 4, 9));
    CHECK(maps(&sample, 1, 4, INT32_MAX, 0, INT32_MAX - 4));
    CHECK(maps(&sample, 1, -1, 9, -1, 9));
    position_map_release(&sample.map);
}

static bool
table_maps_to(const struct sample *sample, struct slice from, struct slice to)
{
    struct buffer output = BUFFER_INIT;
    struct error error = ERROR_INIT;
    bool is_equal = position_map_table(&sample->map, from, 1, &output, &error) &&
                    slice_equal(buffer_slice(&output), to);

    buffer_release(&output);
    return is_equal;
}

static void test_table_forms(void)
{
    struct sample sample = {0};
    /* Short twice, one line, no columns, long, long without columns, none. */
    struct slice valid = SLICE("\x80\x02\x99\x7f\xd1\x05\x7f\xe9\x42\x03"
                               "\xf2\x04\x02\x52\x02\x05\xf0\x05\x01\x00\x00\xff");

    sample_start(&sample, SLICE("nothing"));
    CHECK(table_maps_to(&sample, valid, valid));
    CHECK(table_maps_to(&sample, SLICE(""), SLICE("")));
    position_map_release(&sample.map);
}

static void test_table_changes(void)
{
    struct sample sample = {0};

    /* 100 bytes before `a`, 4 behind it. */
    sample_insert(&sample, 0, 100);
    sample_insert(&sample, 1, 4);
    sample_start(&sample, SLICE("a + b\n"));
    /* a: one line form, columns 100 to 101, becomes short 0 to 1. */
    CHECK(table_maps_to(&sample, SLICE("\xd0\x64\x65"), SLICE("\x80\x01")));
    /* inserted: loses its columns. */
    CHECK(table_maps_to(&sample, SLICE("\x81\x05"), SLICE("\xe9\x00")));
    /* b: long form, column 108 to 109, becomes short 4 to 5. */
    CHECK(table_maps_to(&sample, SLICE("\xf0\x00\x00\x6d\x01\x6e\x01"),
                        SLICE("\x80\x41")));
    position_map_release(&sample.map);
}

/* Inserted code moves to its anchor's line and back from there. */
static void test_table_moves_to_anchors(void)
{
    struct sample sample = {0};

    /* `x = (\n1); _mt and _mt(1)\n2`, the record anchored at the statement. */
    sample_insert_anchored(&sample, 8, 15, 0, 8);
    sample_start(&sample, SLICE("x = (\n1)\n2\n"));
    CHECK(table_maps_to(&sample, SLICE("\x80\x01\xd9\x06\x0a\xd8\x00\x01"),
                        SLICE("\x80\x01\xf1\x00\x01\x01\x03\xe0\x00\x01")));
    position_map_release(&sample.map);
}

/* Every damaged table is refused or read; none is read past its end. */
static void test_table_damage(void)
{
    struct sample sample = {0};
    struct buffer output = BUFFER_INIT;
    struct error error = ERROR_INIT;
    static const struct slice damaged[] = {
        {"\x80", 1},
        {"\x00\x02", 2},
        {"\x80\x02\x02", 3},
        {"\xd0\x05", 2},
        {"\xd0\x05\x85", 3},
        {"\xe8\x43", 2},
        {"\xe8\x41\x83", 3},
        {"\xf0\x00\x00\x01", 4},
        {"\xe8\x03", 2}, /* a line before the first */
        {"\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x01", 8},
        {"\xf0\x00\x7e\x7f\x7f\x7f\x7f\x03\x01\x01", 10},
        {"\xf0\x00\x00\x40\x40\x40\x40\x40\x02\x01", 10}, /* the least column */
    };

    sample_start(&sample, SLICE("a\nb\n"));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        error = ERROR_INIT;
        CHECK(!position_map_table(&sample.map, damaged[i], 0, &output, &error));
        CHECK(error.kind == ERROR_INPUT);
    }
    CHECK(!position_map_table(&sample.map, SLICE(""), -1, &output, &error));
    buffer_release(&output);
    position_map_release(&sample.map);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Each table stands at the end of a block of its own size, so that reading past it is seen
 * where a sanitizer looks. What can be read can be read again after it was written. */
static void test_table_of_random_bytes(void)
{
    struct sample sample = {0};
    uint32_t state = 1;
    size_t read_count = 0;

    sample_insert(&sample, 2, 30);
    sample_insert_anchored(&sample, 6, 9, 6, 8);
    sample_start(&sample, SLICE("ab\ncdefgh\nij"));
    for (int turn = 0; turn < 200000; turn++) {
        size_t size = next_random(&state) % 12;
        char *bytes = memory_allocate(size, 1);
        struct buffer once = BUFFER_INIT;
        struct buffer twice = BUFFER_INIT;
        struct error error = ERROR_INIT;

        for (size_t i = 0; i < size; i++) {
            uint32_t random = next_random(&state);
            bytes[i] = (char)(random & 0x100 ? random & 0xff : random & 0x3f);
        }
        if (position_map_table(&sample.map, (struct slice){bytes, size}, 1, &once,
                               &error)) {
            read_count++;
            if (!position_map_table(&sample.map, buffer_slice(&once), 1, &twice,
                                    &error)) {
                CHECK(!"what was written is read");
            }
        }
        buffer_release(&once);
        buffer_release(&twice);
        memory_free(bytes);
    }
    CHECK(read_count > 1000);
    position_map_release(&sample.map);
}

static void test_no_memory(void)
{
    struct sample sample = {0};
    struct buffer output = BUFFER_INIT;
    struct error error = ERROR_INIT;

    sample_insert(&sample, 1, 4);
    for (size_t countdown = 1; countdown <= 2; countdown++) {
        memory_fail_after(countdown, false);
        CHECK(!position_map_init(&sample.map, SLICE("a\n"), sample.insertions, 1,
                                 &error));
        CHECK(error.kind == ERROR_MEMORY);
    }
    memory_fail_after(0, false);
    sample_start(&sample, SLICE("a\n"));
    error = ERROR_INIT;
    memory_fail_after(1, true);
    CHECK(!position_map_table(&sample.map, SLICE("\x80\x02"), 1, &output, &error));
    CHECK(error.kind == ERROR_MEMORY);
    memory_fail_after(0, false);
    buffer_release(&output);
    position_map_release(&sample.map);
}

int main(void)
{
    test_text_without_insertions();
    test_statement_with_record_behind();
    test_condition_with_record_before();
    test_neighbours_at_one_offset();
    test_empty_range_at_an_insertion();
    test_anchors();
    test_blanks_behind_an_insertion();
    test_line_ends();
    test_places_that_the_text_lacks();
    test_table_forms();
    test_table_changes();
    test_table_moves_to_anchors();
    test_table_damage();
    test_table_of_random_bytes();
    test_no_memory();
    return check_finish();
}
