/* The tree log fed with items that are made up here: which thread a line belongs to, what stays in
 * memory, sums, and that each failing allocation is told. The lines' forms are held by golden
 * texts (tests/trace). */
#include "runtime/base/memory.h"
#include "runtime/view/tracklog/tracklog.h"
#include "runtime/view/tracklog/value.h"
#include "runtime/view/tracklog/wish.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- a module: f(x) with an assignment to h, a line and a return ---- */

enum { ENTER, ASSIGN, RETURN };

static struct site_write write_x = {.name = {"x", 1}};
static struct site_write write_h = {.name = {"h", 1}};
static struct site sites[] = {
    [ENTER] = {.kind = SITE_ENTER, .line = 2, .writes = &write_x, .write_count = 1},
    [ASSIGN] = {.kind = SITE_ASSIGN, .line = 3, .writes = &write_h, .write_count = 1},
    [RETURN] = {.kind = SITE_RETURN, .line = 4},
};
static struct site_function functions[] = {{{"f", 1}, 2}};
static const struct log_module module = {
    .table = {.path = {"/a/b/model.py", 13},
              .functions = functions,
              .function_count = 1,
              .sites = sites,
              .site_count = 3},
    .source = {"one\ntwo\n  three\nfour\n", 21},
    .source_tag = LOG_SOURCE_ORIGINAL,
};

static struct log_item begin(uint32_t call, uint32_t parent, uint16_t thread)
{
    return (struct log_item){.kind = LOG_CALL,
                             .call = {.call = call,
                                      .parent = parent,
                                      .module = &module,
                                      .function = &functions[0],
                                      .line = parent == 0 ? 0 : 3,
                                      .thread = thread,
                                      .path = SLICE(""),
                                      .class_name = SLICE("")}};
}

static struct log_item track(uint32_t call, const char *wish)
{
    return (struct log_item){.kind = LOG_TRACKED,
                             .tracked = {.call = call,
                                         .wish = slice_of(wish),
                                         .callers = SLICE("g:7 (g.py:7)")}};
}

static struct log_item end(uint32_t call, const char *error)
{
    return (struct log_item){.kind = LOG_END,
                             .end = {.time = 1500000,
                                     .call = call,
                                     .how = LOG_END_RETURNED,
                                     .error = slice_of(error)}};
}

static struct log_item
number(uint32_t call, uint16_t thread, int site, int64_t value, struct slice name)
{
    return (struct log_item){
        .kind = LOG_EVENT,
        .event = {.module = &module,
                  .site = &sites[site],
                  .site_number = (uint32_t)site,
                  .call = call,
                  .thread = thread,
                  .kind = VALUE_INT,
                  .change = value == 0 ? CHANGE_NEW : CHANGE_REBOUND,
                  .difference = value == 0 ? 0 : LOG_DIFFERS_VALUES,
                  .name = name,
                  .path = SLICE(""),
                  .integer = value}};
}

static struct track_log *log_new(void)
{
    struct track_options options = {.labels = track_labels_of(SLICE("C"))};

    return track_log_new(&options);
}

/* Feeds it and compares the lines and the thread. */
static void check_lines(struct track_log *log,
                        struct log_item item,
                        uint16_t thread,
                        const char *wanted)
{
    struct buffer text = BUFFER_INIT;
    uint16_t got = UINT16_MAX;

    track_log_add(log, &item, &text, &got);
    CHECK(got == thread);
    CHECK_TEXT(buffer_slice(&text), wanted);
    buffer_release(&text);
}

static void test_lines_and_threads(void)
{
    struct track_log *log = log_new();
    struct slice h = SLICE("h");
    struct slice x = SLICE("x");

    check_lines(log, begin(1, 0, 0), 0, "");
    check_lines(log, track(1, ""), 0,
                "┌── [model.py:2] function [f] called from g:7 (g.py:7)\n");
    check_lines(log, begin(2, 0, 5), 5, "");
    check_lines(log, track(2, "--lines"), 5,
                "┌── [model.py:2] function [f] called from g:7 (g.py:7)\n");
    check_lines(log, number(1, 0, ENTER, 0, x), 0, "├─ input [Var] x@0 value: 0\n");
    check_lines(log, number(2, 5, ASSIGN, 0, h), 5,
                "│   ├─ 3| three\n│   ├─ [Var] h@3 value: 0\n");
    check_lines(log, number(1, 0, ASSIGN, 0, h), 0, "│   ├─ [Var] h@3 value: 0\n");
    /* A call that nobody tracks, and one in it that is. */
    check_lines(log, begin(3, 1, 0), 0, "");
    check_lines(log, number(3, 0, ASSIGN, 0, h), 0, "");
    check_lines(log, begin(4, 3, 0), 0, "");
    check_lines(log, track(4, ""), 0,
                "│   ┌── [model.py:2] function [f] called from g:7 (g.py:7)\n");
    check_lines(log, end(4, "builtins.KeyError"), 0,
                "│   │   └─ raised KeyError\n│   │   └─ elapsed 0.0015s\n");
    check_lines(log, end(3, ""), 0, "");
    check_lines(log, number(1, 0, RETURN, 7, SLICE("")), 0, "│   └─ output value: 7\n");
    check_lines(log, end(1, ""), 0, "│   └─ elapsed 0.0015s\n");
    check_lines(log, end(2, ""), 5, "│   └─ elapsed 0.0015s\n");
    check_lines(log, end(2, ""), 0, ""); /* it is not known any more */
    CHECK(!track_log_has_failed(log));
    track_log_free(log);
}

/* A module that has moved is found again with each item. */
static void test_modules_move(void)
{
    struct track_log *log = log_new();

    for (int turn = 0; turn < 3; turn++) {
        struct log_module *moved = malloc(sizeof *moved);
        struct log_item item = begin(1, 0, 0);

        *moved = module;
        item.call.module = moved;
        check_lines(log, item, 0, "");
        free(moved);
    }
    check_lines(log, track(1, "--lines"), 0,
                "┌── [model.py:2] function [f] called from g:7 (g.py:7)\n");
    check_lines(log, end(1, ""), 0, "│   └─ elapsed 0.0015s\n");
    track_log_free(log);
}

/* ---- memory ---- */

static void feed(struct track_log *log, struct log_item item, struct buffer *text)
{
    uint16_t thread;

    track_log_add(log, &item, text, &thread);
}

/* A call with names that are never the same again, others within it that end. */
static void run_long(struct track_log *log, uint32_t first, uint32_t count)
{
    struct buffer text = BUFFER_INIT;

    for (uint32_t i = first; i < first + count; i++) {
        char name[24];
        struct slice unique = {name, (size_t)snprintf(name, sizeof name, "n%u", i)};

        feed(log, begin(i + 2, 1, 0), &text);
        feed(log, track(i + 2, i % 2 == 0 ? "--when=nan" : "--depth=3"), &text);
        feed(log, number(i + 2, 0, ASSIGN, 0, SLICE("h")), &text);
        feed(log, number(1, 0, ASSIGN, 0, unique), &text);
        feed(log, end(i + 2, ""), &text);
        text.size = 0;
    }
    buffer_release(&text);
}

/* The allocations that are left to a log that has seen so much: with a limit on what it may still
 * take, a longer run needs no more. */
static void test_memory_is_bounded(void)
{
    struct track_log *log = log_new();
    struct buffer text = BUFFER_INIT;

    feed(log, begin(1, 0, 0), &text);
    feed(log, track(1, "--when=nan"), &text);
    run_long(log, 0, 20000); /* names and waiting lines are at their limits now */
    for (uint32_t i = 0; i < 100; i++) {
        feed(log, number(1, 0, ASSIGN, 0, SLICE("h")), &text);
    }
    CHECK(text.size == 0);
    /* No allocation at all may be needed for more of the same in the outer call. */
    memory_fail_after(1, true);
    for (uint32_t i = 0; i < 1000; i++) {
        feed(log, number(1, 0, ASSIGN, 1, SLICE("h")), &text);
    }
    memory_fail_after(0, false);
    CHECK(!track_log_has_failed(log) && text.size == 0);
    buffer_release(&text);
    track_log_free(log);
}

static void feed_all(struct track_log *log, struct buffer *text)
{
    feed(log, begin(1, 0, 3), text);
    feed(log, track(1, "--depth=2 --when=changed --lines --labels=zh"), text);
    feed(log, number(1, 3, ENTER, 0, SLICE("x")), text);
    feed(log, begin(2, 1, 3), text);
    feed(log, number(2, 3, ASSIGN, 0, SLICE("h")), text);
    feed(log, number(2, 3, ASSIGN, 1, SLICE("h")), text);
    feed(log, end(2, ""), text);
    feed(log, number(1, 3, ASSIGN, 1, SLICE("x")), text);
    feed(log, end(1, "builtins.ValueError"), text);
}

static void test_memory_runs_out(void)
{
    struct buffer whole = BUFFER_INIT;
    struct track_log *log = log_new();
    size_t failed = 0;
    bool has_passed = false;

    feed_all(log, &whole);
    track_log_free(log);
    CHECK(whole.size > 400);
    for (size_t n = 1; n < 200; n++) {
        for (int keep = 0; keep < 2; keep++) {
            struct buffer text = BUFFER_INIT;
            bool is_reported;

            memory_fail_after(n, keep == 1);
            log = log_new();
            if (log != NULL) {
                feed_all(log, &text);
            }
            memory_fail_after(0, false);
            is_reported = log == NULL || text.has_failed || track_log_has_failed(log);
            failed += is_reported;
            has_passed = !is_reported;
            if (!is_reported) {
                CHECK(slice_equal(buffer_slice(&text), buffer_slice(&whole)));
            }
            buffer_release(&text);
            track_log_free(log);
        }
    }
    CHECK(failed > 10 && has_passed);
    buffer_release(&whole);
}

/* ---- values ---- */

static void check_sum(enum dtype dtype, uint64_t count, double mean, const char *wanted)
{
    int64_t shape[] = {(int64_t)count};
    struct log_shape form = {.dtype = dtype,
                             .dtype_text = slice_of(dtype_text(dtype)),
                             .dimension_count = 1,
                             .shape = shape,
                             .type = SLICE(""),
                             .device = SLICE("cpu"),
                             .layout = SLICE("strided"),
                             .note = SLICE("")};
    struct log_event_view event = {.kind = VALUE_TENSOR,
                                   .shape = &form,
                                   .has_statistics = true,
                                   .statistics = {.count = count, .mean = mean}};
    struct buffer text = BUFFER_INIT;
    struct slice got;
    size_t start;

    track_value_add(&text, &event, false);
    got = buffer_slice(&text);
    start = slice_find(got, SLICE("sum="), 0);
    CHECK(start < got.size);
    got = slice_part(got, start, slice_find(got, SLICE(" |"), start));
    CHECK_TEXT(got, wanted);
    buffer_release(&text);
}

/* The sums of integers from 0, and of others, as their means tell them. */
static void test_sums(void)
{
    check_sum(DTYPE_INT64, 100, 49.5, "sum=4950");
    check_sum(DTYPE_INT32, 3, 1.0 / 3, "sum=1");
    check_sum(DTYPE_INT64, 7, -1.0 / 7, "sum=-1");
    check_sum(DTYPE_UINT8, 3000000007, 254.99999999, "sum=765000001755");
    check_sum(DTYPE_INT64, 94906267, 47453133, "sum=4503599710484511");
    check_sum(DTYPE_INT64, 4000000000, 4e15, "sum=1.6e25");
    check_sum(DTYPE_FLOAT32, 100, 0.25, "sum=25.0");
    check_sum(DTYPE_BFLOAT16, 100, -0.001, "sum=-0.1");
    check_sum(DTYPE_FLOAT8_E4M3FN, 100, 1, "sum=100.0");
    check_sum(DTYPE_FLOAT64, 100, 1e308, "sum=inf");
    for (uint64_t count = 26; count < 200000; count = count * 3 + 1) {
        char wanted[40];

        snprintf(wanted, sizeof wanted, "sum=%llu",
                 (unsigned long long)(count * (count - 1) / 2));
        check_sum(DTYPE_INT64, count, (double)(count - 1) / 2, wanted);
    }
}

static void test_wish_is_written_as_read(void)
{
    static const char *const wishes[] = {
        "",
        "--calls",
        "--names=h*,self.state",
        "--calls --names=a --lines --stack --bare --depth=3 --when=changed --labels=zh",
        "--when=nan --labels=input:in%20it",
    };

    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct buffer text = BUFFER_INIT;
        struct track_wish wish = track_wish_read(slice_of(wishes[i]));

        track_wish_write(&wish, &text);
        CHECK_TEXT(buffer_slice(&text), wishes[i]);
        buffer_release(&text);
    }
    struct track_wish wish =
        track_wish_read(SLICE("--depth=99999999999 --x --names=h*,self"));
    CHECK(wish.depth > 1000 && track_wish_names(&wish, SLICE("hidden"), SLICE("")));
    CHECK(track_wish_names(&wish, SLICE("self.state"), SLICE("['a']")));
    CHECK(!track_wish_names(&wish, SLICE("selfish"), SLICE("")));
    wish = track_wish_read(SLICE("--names=state?'a'?"));
    CHECK(track_wish_names(&wish, SLICE("state"), SLICE("['a']")));
    CHECK(!track_wish_names(&wish, SLICE("state"), SLICE("['b']")));
}

static void test_languages(void)
{
    static const struct {
        const char *locale;
        const char *input;
    } all[] = {{"zh", "输入"},       {"zh_CN.UTF-8", "输入"}, {"zh-Hans", "输入"},
               {"zh.UTF-8", "输入"}, {"zhx", "input"},        {"en_US.UTF-8", "input"},
               {"C", "input"},       {"", "input"},           {"z", "input"}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct track_labels labels = track_labels_of(slice_of(all[i].locale));

        CHECK_TEXT(labels.texts[TRACK_LABEL_INPUT], all[i].input);
    }
}

int main(void)
{
    test_lines_and_threads();
    test_modules_move();
    test_memory_is_bounded();
    test_memory_runs_out();
    test_sums();
    test_wish_is_written_as_read();
    test_languages();
    return check_finish();
}
