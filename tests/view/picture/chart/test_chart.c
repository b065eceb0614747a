/* Charts: axes and their ticks, the drawn parts of a line, and memory that runs out.
 * tests/python/monitor/test_plot.py tests whole pictures. */
#include "runtime/base/memory.h"
#include "runtime/view/picture/chart/parts.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- axes ---- */

static void check_tick(const struct axis *axis, size_t i, const char *wanted)
{
    struct buffer text = BUFFER_INIT;

    if (CHECK(i < axis->tick_count)) {
        axis_add_number(axis, &text, axis->ticks[i].value);
        CHECK_TEXT(buffer_slice(&text), wanted);
    }
    buffer_release(&text);
}

static struct axis axis_of(double low, double high, bool is_log)
{
    struct axis axis;

    axis_fit(&axis, low, high, is_log, false);
    axis_lay(&axis, 100, 400, 50, false);
    return axis;
}

static void test_linear(void)
{
    struct axis axis = axis_of(0, 1, false);

    CHECK(axis.tick_count == 6);
    check_tick(&axis, 0, "0");
    check_tick(&axis, 1, "0.2");
    check_tick(&axis, 5, "1.0");
    CHECK(axis_place(&axis, 0) == 100 && axis_place(&axis, 1) == 400);
    CHECK(fabs(axis_place(&axis, 0.25) - 175) < 1e-9);
    axis = axis_of(-1500, 500, false);
    check_tick(&axis, 0,
               "\xE2\x88\x92"
               "1500");
    axis = axis_of(0, 3e6, false);
    check_tick(&axis, 1, "0.5M");
    axis = axis_of(0, 50000, false);
    check_tick(&axis, 1, "10k");
    axis = axis_of(0, 3e-5, false);
    check_tick(&axis, 1,
               "0.5\xC2\xB7"
               "10\xE2\x81\xBB\xE2\x81\xB5");
}

static void test_logarithmic(void)
{
    struct axis axis = axis_of(1e-5, 1e5, true);

    CHECK(axis.tick_count >= 5);
    check_tick(&axis, 0, "10\xE2\x81\xBB\xE2\x81\xB4");
    axis = axis_of(0.5, 700, true);
    CHECK(axis.tick_count >= 3);
    CHECK(fabs(axis_place(&axis, 10) - axis_place(&axis, 1) -
               (axis_place(&axis, 100) - axis_place(&axis, 10))) < 1e-9);
    axis = axis_of(3, 8, true); /* less than a decade */
    CHECK(axis.tick_count >= 3);
    check_tick(&axis, 0, "3");
}

/* Ticks ascend, lie on the axis, and are few, whatever the range. */
static void test_any_range(void)
{
    static const double values[] = {-INFINITY, -1e308, -1e300, -1e9, -7,   -1e-300,
                                    -5e-324,   0,      5e-324, 1e-9, 0.1,  1,
                                    1.0000001, 3,      1e9,    1e22, 1e308};
    size_t count = sizeof values / sizeof *values;

    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j < count; j++) {
            for (int is_log = 0; is_log <= (values[i] > 0); is_log++) {
                struct axis axis;

                axis_fit(&axis, values[i], values[j], is_log, true);
                axis_lay(&axis, 300, 10, 40, false);
                CHECK(axis.low < axis.high);
                CHECK(axis.tick_count <= AXIS_TICK_MAX);
                for (size_t k = 0; k < axis.tick_count; k++) {
                    CHECK(isfinite(axis.ticks[k].value));
                    CHECK(axis.ticks[k].place < 301 && axis.ticks[k].place > 9);
                    CHECK(k == 0 || axis.ticks[k].value > axis.ticks[k - 1].value);
                }
            }
        }
    }
}

/* ---- lines ---- */

static size_t count_items(const struct picture *picture, enum picture_item_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < picture->item_count; i++) {
        count += picture->items[i].kind == kind;
    }
    return count;
}

static void test_lines(void)
{
    static const double steps[] = {0, 1, 2, 3, 4, 5};
    static const double values[] = {1, 2, NAN, 2, 1, INFINITY};
    const struct chart_line lines[] = {{SLICE("a"), steps, values, 6},
                                       {SLICE("b"), steps, values, 2}};
    struct chart_options options = {.theme = PICTURE_DARK};
    struct picture picture;
    struct error error = ERROR_INIT;

    picture_init(&picture);
    CHECK(chart_draw(&picture, lines, 2, &options, &error));
    CHECK(count_items(&picture, PICTURE_POLYLINE) == 3);
    CHECK(picture.page_count == 1 && picture.width == 640);
    CHECK(chart_draw(&picture, lines, 1, &options, &error));
    CHECK(count_items(&picture, PICTURE_POLYLINE) == 2);
    picture_release(&picture);
}

/* The axis' numbers are wider than the page: two values that differ in their twelfth digit. */
static void test_wide_numbers(void)
{
    static const double steps[] = {0, 1};
    static const double values[] = {-8.333333333333e-83, -8.333333333384e-83};
    const struct chart_line line = {SLICE(""), steps, values, 2};
    struct chart_options options = {.width = CHART_SIDE_LEAST,
                                    .height = CHART_SIDE_LEAST};
    struct picture picture;
    struct error error = ERROR_INIT;

    picture_init(&picture);
    CHECK(chart_draw(&picture, &line, 1, &options, &error));
    CHECK(picture.point_count == 2);
    for (size_t i = 0; i < picture.point_count; i++) {
        CHECK(picture.points[i].x >= 0 && picture.points[i].x <= picture.width);
    }
    picture_release(&picture);
}

static void test_formats(void)
{
    static const double steps[] = {0, 1};
    static const double values[] = {1, 2};
    const struct chart_line line = {SLICE("a"), steps, values, 2};
    struct chart_options options = {.scale = CHART_LOG};
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    buffer_add(&bytes, SLICE("kept"));
    CHECK(!chart_render(&line, 1, &options, RENDER_DOT, 96, &bytes, &error));
    CHECK_TEXT(buffer_slice(&bytes), "kept");
    CHECK_TEXT(slice_of(error.text), "a chart is no graph: expected png, svg or pdf");
    CHECK(chart_render(&line, 1, &options, RENDER_SVG, 96, &bytes, &error));
    CHECK(slice_starts(buffer_slice(&bytes), SLICE("kept<?xml")));
    buffer_release(&bytes);
}

/* Each allocation fails once: an error, and nothing is left. */
static void test_failing_memory(void)
{
    static const double steps[] = {0, 1, 2};
    static const double values[] = {1, NAN, 2};
    struct chart_line lines[30];
    struct chart_options options = {.title = SLICE("t\xC3\xA4\x01")};
    bool is_done = false;

    for (size_t i = 0; i < 30; i++) {
        lines[i] = (struct chart_line){SLICE("name/\xE4\xB8\xAD"), steps, values, 3};
    }
    for (size_t countdown = 1; !is_done && countdown < 500; countdown++) {
        struct buffer bytes = BUFFER_INIT;
        struct error error = ERROR_INIT;

        memory_fail_after(countdown, false);
        is_done = chart_render(lines, 30, &options, RENDER_SVG, 96, &bytes, &error);
        memory_fail_after(0, false);
        CHECK(is_done || error.kind == ERROR_MEMORY);
        CHECK(is_done || bytes.size == 0);
        buffer_release(&bytes);
    }
    CHECK(is_done);
}

int main(void)
{
    test_linear();
    test_logarithmic();
    test_any_range();
    test_lines();
    test_wide_numbers();
    test_formats();
    test_failing_memory();
    return check_finish();
}
