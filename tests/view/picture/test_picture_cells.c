/* The cells of tables: every dtype, and how numbers are written beside each other. */
#include "runtime/base/memory.h"

#include "runtime/view/picture/box/table.h"
#include "tests/unit/check.h"
#include "tests/view/picture/picture_graphs.h"

struct fixture {
    struct picture picture;
    struct sheet sheet;
    struct table_cell cells[64];
};

static void fixture_init(struct fixture *fixture)
{
    picture_init(&fixture->picture);
    sheet_init(&fixture->sheet, &fixture->picture, PICTURE_LIGHT);
}

static void fixture_release(struct fixture *fixture)
{
    sheet_release(&fixture->sheet);
    picture_release(&fixture->picture);
}

/* The cells of `count` elements that lie behind each other. */
static void
fill(struct fixture *fixture, enum dtype dtype, const void *bytes, size_t count)
{
    const char *values[64];

    for (size_t i = 0; i < count; i++) {
        values[i] = (const char *)bytes + i * dtype_size(dtype);
    }
    cells_fill(&fixture->sheet, dtype, values, fixture->cells, count);
    CHECK(!sheet_has_failed(&fixture->sheet));
}

static void check_cell(enum dtype dtype, const void *bytes, const char *wanted)
{
    struct fixture fixture;

    fixture_init(&fixture);
    fill(&fixture, dtype, bytes, 1);
    if (!CHECK_TEXT(fixture.cells[0].text, wanted)) {
        printf("  %s\n", dtype_text(dtype));
    }
    fixture_release(&fixture);
}

static void test_dtypes(void)
{
    check_cell(DTYPE_BOOL, &(uint8_t){1}, "True");
    check_cell(DTYPE_BOOL, &(uint8_t){0}, "False");
    check_cell(DTYPE_UINT8, &(uint8_t){255}, "255");
    check_cell(DTYPE_INT8, &(int8_t){-128}, "-128");
    check_cell(DTYPE_UINT16, &(uint16_t){65535}, "65535");
    check_cell(DTYPE_INT16, &(int16_t){-32768}, "-32768");
    check_cell(DTYPE_UINT32, &(uint32_t){UINT32_MAX}, "4294967295");
    check_cell(DTYPE_INT32, &(int32_t){INT32_MIN}, "-2147483648");
    check_cell(DTYPE_UINT64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    check_cell(DTYPE_INT64, &(int64_t){INT64_MIN}, "-9223372036854775808");
    check_cell(DTYPE_INT64, &(int64_t){9007199254740993}, "9007199254740993");
    check_cell(DTYPE_FLOAT16, &(uint16_t){0x3E00}, "1.50");
    check_cell(DTYPE_FLOAT16, &(uint16_t){0x7C00}, "+Inf");
    check_cell(DTYPE_BFLOAT16, &(uint16_t){0xC040}, "-3");
    check_cell(DTYPE_BFLOAT16, &(uint16_t){0x7FC0}, "NaN");
    check_cell(DTYPE_FLOAT32, &(float){0.1f}, "0.100");
    check_cell(DTYPE_FLOAT64, &(double){-1e300}, "-1e300");
    check_cell(DTYPE_FLOAT64, &(double){-0.0}, "-0");
    check_cell(DTYPE_COMPLEX32, &(uint16_t[]){0x3C00, 0xC000}, "1-2j");
    check_cell(DTYPE_COMPLEX64, &(float[]){0.5f, 0.25f}, "0.500+0.250j");
    check_cell(DTYPE_COMPLEX64, &(float[]){NAN, -1}, "NaN-1j");
    check_cell(DTYPE_COMPLEX64, &(float[]){1, INFINITY}, "1+Infj");
    check_cell(DTYPE_COMPLEX128, &(double[]){1.5e308, -1.5e308}, "1.5e308-1.5e308j");
    check_cell(DTYPE_FLOAT8_E4M3FN, &(uint8_t){0x3C}, "1.50");
    check_cell(DTYPE_FLOAT8_E4M3FN, &(uint8_t){0x7F}, "NaN");
    check_cell(DTYPE_FLOAT8_E5M2, &(uint8_t){0x7C}, "+Inf");
    check_cell(DTYPE_FLOAT8_E4M3FNUZ, &(uint8_t){0x80}, "NaN");
    check_cell(DTYPE_FLOAT8_E5M2FNUZ, &(uint8_t){0x80}, "NaN");
    check_cell(DTYPE_FLOAT8_E8M0FNU, &(uint8_t){128}, "2");
}

/* Each byte pattern of each dtype gives some text, and no number is marked as none. */
static void test_all_bytes(void)
{
    struct fixture fixture;

    fixture_init(&fixture);
    for (int dtype = 1; dtype < DTYPE_COUNT; dtype++) {
        if (dtype_class((enum dtype)dtype) == DTYPE_CLASS_OPAQUE) {
            continue;
        }
        for (int byte = 0; byte < 256; byte++) {
            unsigned char bytes[16];
            struct dtype_value value;
            const struct table_cell *cell = &fixture.cells[0];
            bool is_finite;

            memset(bytes, byte, sizeof bytes);
            value = dtype_read((enum dtype)dtype, bytes);
            is_finite = isfinite(value.real) && isfinite(value.imaginary);
            fill(&fixture, (enum dtype)dtype, bytes, 1);
            CHECK(cell->text.size > 0 && cell->text.size < 40);
            CHECK((cell->mark == TABLE_NUMBER) == is_finite);
        }
    }
    fixture_release(&fixture);
}

static void test_forms(void)
{
    struct fixture fixture;
    const float even[] = {0.1234f, -2.5f, 0, 0.0001f, NAN, 1.0f};
    const float small[] = {1e-6f, -2.5e-7f, 0};
    const float large[] = {123456, 7.5f};
    const float whole[] = {1, -20, 0, 300};
    const float rounded[] = {9.996f, 0.5f};

    fixture_init(&fixture);
    /* Digits behind the point are alike, so that points stand below each other. */
    fill(&fixture, DTYPE_FLOAT32, even, 6);
    CHECK_TEXT(fixture.cells[0].text, "0.12");
    CHECK_TEXT(fixture.cells[1].text, "-2.50");
    CHECK_TEXT(fixture.cells[2].text, "0");
    CHECK_TEXT(fixture.cells[3].text, "0.0001"); /* not 0.00 */
    CHECK_TEXT(fixture.cells[4].text, "NaN");
    CHECK_TEXT(fixture.cells[5].text, "1.00");
    CHECK(fixture.cells[1].part == -1 && fixture.cells[2].part == 0);
    CHECK(fixture.cells[4].mark == TABLE_NAN && fixture.cells[4].part == 0);
    CHECK(fixture.cells[5].part > 0.39 && fixture.cells[5].part < 0.41);
    fill(&fixture, DTYPE_FLOAT32, small, 3);
    CHECK_TEXT(fixture.cells[0].text, "1e-6");
    CHECK_TEXT(fixture.cells[1].text, "-2.5e-7");
    CHECK_TEXT(fixture.cells[2].text, "0");
    fill(&fixture, DTYPE_FLOAT32, large, 2);
    CHECK_TEXT(fixture.cells[0].text, "123456");
    CHECK_TEXT(fixture.cells[1].text, "7.5");
    fill(&fixture, DTYPE_FLOAT32, whole, 4);
    CHECK_TEXT(fixture.cells[0].text, "1");
    CHECK_TEXT(fixture.cells[1].text, "-20");
    CHECK_TEXT(fixture.cells[3].text, "300");
    fill(&fixture, DTYPE_FLOAT32, rounded, 2);
    CHECK_TEXT(fixture.cells[0].text, "10.00");
    CHECK_TEXT(fixture.cells[1].text, "0.50");
    fixture_release(&fixture);
}

/* ---- which values ---- */

/* A graph of one tensor; it is to be released, as the fixture is. */
static struct flow_node *tensor_init(struct fixture *fixture,
                                     struct flow_graph *graph,
                                     uint32_t dimension_count,
                                     const int64_t *shape)
{
    struct flow_node *node;

    fixture_init(fixture);
    hand_graph_init(graph, 1, 1, 1);
    node = hand_node(graph, "x", 1, "", FLOW_NONE);
    hand_random_tensor(graph, node, dimension_count, shape);
    return node;
}

static void check_table(uint32_t dimension_count,
                        const int64_t *shape,
                        uint32_t blocks,
                        uint32_t rows,
                        uint32_t columns,
                        const char *caption,
                        const char *last_label)
{
    struct fixture fixture;
    struct flow_graph graph;
    struct flow_node *node;
    struct table table;

    node = tensor_init(&fixture, &graph, dimension_count, shape);
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 8, 6});
    CHECK(table.block_count == blocks);
    if (table.block_count == blocks && blocks > 0) {
        CHECK(table.blocks[0].rows == rows && table.blocks[0].columns == columns);
        CHECK_TEXT(table.caption, caption);
        CHECK_TEXT(table.blocks[blocks - 1].label, last_label);
        CHECK(table.width > 0 && table.height > 0);
    }
    hand_graph_release(&graph);
    fixture_release(&fixture);
}

#define SHAPE(...)                                                                     \
    (sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[])                                \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

static void test_shapes(void)
{
    check_table(0, NULL, 1, 1, 1, "", "");
    check_table(SHAPE(5), 1, 1, 5, "", "");
    check_table(SHAPE(20), 3, 1, 7, "", "");
    check_table(SHAPE(1000), 4, 1, 8, "32 of 1000 values", "");
    check_table(SHAPE(3, 4), 1, 3, 4, "", "");
    check_table(SHAPE(100, 4), 1, 8, 4, "8 of 100 rows", "");
    check_table(SHAPE(4, 100), 1, 4, 8, "8 of 100 columns", "");
    check_table(SHAPE(2, 3, 4), 2, 3, 4, "", "[1]");
    check_table(SHAPE(50, 3, 4), 6, 3, 4, "6 of 50 slices", "[49]");
    check_table(SHAPE(50, 9, 9), 6, 4, 4, "4 of 9 rows, 4 of 9 columns, 6 of 50 slices",
                "[49]");
    check_table(SHAPE(2, 2, 3, 3), 4, 3, 3, "", "[1,1]");
    check_table(SHAPE(9, 1, 3, 3), 6, 3, 3, "6 of 9 slices", "[8,0]");
    check_table(SHAPE(5, 1, 1, 2, 2), 1, 2, 2, "the middle of the first dimension",
                "[2,0,0]");
    check_table(SHAPE(5, 7, 1, 1, 2, 9), 1, 2, 8,
                "8 of 9 columns; the middle of the first 2 dimensions", "[2,3,0,0]");
    check_table(SHAPE(0, 3), 0, 0, 0, "", "");
}

/* What the recorder sampled may be more than is asked for here. */
static void test_limits(void)
{
    struct fixture fixture;
    struct flow_graph graph;
    struct flow_node *node;
    struct table table;

    node = tensor_init(&fixture, &graph, 2, (int64_t[]){8, 8});
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 3, 6});
    CHECK(table.blocks[0].rows == 3 && table.blocks[0].columns == 3);
    /* The first and the last are always there. */
    CHECK(table.row_index[0] == 0 && table.row_index[2] == 7);
    CHECK_TEXT(table.caption, "3 of 8 rows, 3 of 8 columns");
    /* A grid that does not fit the sample is not believed. */
    node->grid.count++;
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 8, 6});
    CHECK(table.block_count == 0);
    node->grid.count--;
    node->grid.counts[0] = 0;
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 8, 6});
    CHECK(table.block_count == 0);
    node->grid.dimension_count = 1000;
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 8, 6});
    CHECK(table.block_count == 0);
    hand_graph_release(&graph);
    fixture_release(&fixture);
}

/* Long numbers in many columns: fewer of them. */
static void test_wide(void)
{
    struct fixture fixture;
    struct flow_graph graph;
    struct flow_node *node;
    struct table table;
    int64_t values[64];

    fixture_init(&fixture);
    hand_graph_init(&graph, 1, 1, 1);
    node = hand_node(&graph, "x", 1, "", FLOW_NONE);
    hand_tensor(&graph, node, 2, (int64_t[]){8, 8});
    node->dtype = DTYPE_INT64;
    for (int i = 0; i < 64; i++) {
        values[i] = INT64_MIN + i;
    }
    hand_measure(&graph, node, values);
    table_prepare(&table, &fixture.sheet, node, &(struct table_limits){32, 8, 6});
    CHECK(table.width < 600 && table.blocks[0].columns == 4);
    CHECK_TEXT(table.blocks[0].cells[0].text, "-9223372036854775808");
    CHECK_TEXT(table.caption, "4 of 8 columns");
    hand_graph_release(&graph);
    fixture_release(&fixture);
}

int main(void)
{
    test_dtypes();
    test_all_bytes();
    test_forms();
    test_shapes();
    test_limits();
    test_wide();
    return check_finish();
}
