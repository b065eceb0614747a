/* What diff finds, as a picture and as a page: findings are made up here. */
#include "runtime/view/diff/report/picture.h"

#include "runtime/base/memory.h"
#include "tests/view/flow/flow_program.h"

/* `y += self.scale` of the second turn, see flow_program.h: two events, then six a turn and a
 * loop's. */
#define OWN_EVENT 14

static const char hostile[] =
    "<script>alert('\x1b[2J')</script>&\"\xff\xE2\x80\xAE\x01";

static struct log_item item_of(uint64_t event, enum value_kind kind)
{
    return (struct log_item){.kind = LOG_EVENT,
                             .event = {.number = event, .kind = kind}};
}

static bool find(struct diff_notes *notes,
                 uint64_t event,
                 uint32_t line,
                 enum value_kind kind,
                 enum diff_class class_,
                 bool is_only_a)
{
    struct log_item item = item_of(event, kind);
    struct diff_finding finding = {
        .items = {&item, is_only_a ? NULL : &item},
        .cause = DIFF_CAUSE_VALUES,
        .class_ = class_,
        .is_first = event == OWN_EVENT,
        .lines = {line, line},
        .name = slice_of(hostile),
        .words = SLICE("values at [1, 2] 0.5, A has 1 & <more>"),
        .text = event == OWN_EVENT
                    ? SLICE("\033[1;31munit.py:5\033[0m: first divergence: y: <b>\n"
                            "    5| \033[36my += 1\033[0m\n")
                    : SLICE(""),
    };

    return diff_notes_found(notes, &finding);
}

static bool find_all(struct diff_notes *notes)
{
    bool is_done = diff_notes_init(notes) &&
                   find(notes, OWN_EVENT, 5, VALUE_TENSOR, DIFF_OWN, false);

    for (uint64_t i = OWN_EVENT + 1; i < 24 && is_done; i++) {
        is_done = find(notes, i, (uint32_t)i % 2, VALUE_TENSOR, DIFF_INHERITED, false);
    }
    return is_done && find(notes, 3, 3, VALUE_INT, DIFF_ONLY, true) &&
           find(notes, 23, 4, VALUE_TENSOR, DIFF_ONLY, false);
}

static const struct diff_result result = {
    .event_counts = {25, 24}, .equal = 14, .own = 1, .inherited = 8, .only = {1, 1}};

static struct diff_picture_options options_for(const struct flow_trace *trace,
                                               const char *output)
{
    struct diff_picture_options options = {
        .paths = {"a <b>.mtrace", trace->path},
        .verdict = {SLICE("unit.py:5: first divergence: y: <b>"),
                    SLICE("24 events in both: 14 equal, 1 own difference")},
        .render = {.picture = PICTURE_OPTIONS_DEFAULT}};
    struct error error = ERROR_INIT;

    CHECK(diff_picture_format(slice_of(output), &options, &error));
    if (options.is_page) { /* which reads both traces */
        options.paths[0] = trace->path;
    }
    return options;
}

static bool has(const struct buffer *text, const char *wanted)
{
    return slice_find(buffer_slice(text), slice_of(wanted), 0) < text->size;
}

static size_t count(const struct buffer *text, const char *wanted)
{
    struct slice whole = buffer_slice(text);
    size_t found = 0;

    for (size_t at = slice_find(whole, slice_of(wanted), 0); at < whole.size;
         at = slice_find(whole, slice_of(wanted), at + 1)) {
        found++;
    }
    return found;
}

static void make_trace(struct flow_trace *trace, uint32_t turns)
{
    struct begun begun = begin(trace);

    loop(trace, &begun, turns, false);
    flow_trace_end(trace);
}

/* ---- formats ---- */

static void test_formats(void)
{
    struct diff_picture_options options = {.is_page = false};
    struct error error = ERROR_INIT;

    CHECK(diff_picture_format(SLICE("x/out.html"), &options, &error));
    CHECK(options.is_page);
    CHECK(diff_picture_format(SLICE("out.PDF"), &options, &error));
    CHECK(!options.is_page && options.render.format == RENDER_PDF);
    CHECK(!diff_picture_format(SLICE("out.txt"), &options, &error));
    CHECK(error.kind == ERROR_USAGE);
    CHECK(strstr(error.text, "out.txt: ") != NULL &&
          strstr(error.text, ".html") != NULL && strstr(error.text, ".svg") != NULL);
    CHECK(!diff_picture_format(SLICE(".html.d/out"), &options, &error));
}

/* ---- the picture, the page ---- */

/* What is made of the findings of a trace. */
struct output {
    struct flow_trace trace;
    struct diff_notes notes;
    struct buffer bytes;
};

static bool output_make(struct output *output,
                        uint32_t turns,
                        const char *name,
                        bool (*fill)(struct diff_notes *notes),
                        const struct diff_result *found)
{
    struct diff_picture_options options;
    struct error error = ERROR_INIT;

    output->bytes = (struct buffer)BUFFER_INIT;
    make_trace(&output->trace, turns);
    options = options_for(&output->trace, name);
    return CHECK(fill(&output->notes)) &&
           CHECK(diff_picture_add(&output->notes, found, &options, &output->bytes,
                                  &error));
}

static void output_release(struct output *output)
{
    buffer_release(&output->bytes);
    diff_notes_release(&output->notes);
    flow_trace_remove(&output->trace);
}

static void test_picture(void)
{
    struct output output;

    if (output_make(&output, 3, "out.svg", find_all, &result)) {
        const struct buffer *svg = &output.bytes;

        CHECK(has(svg, ">unit.py:5: first divergence: y: &lt;b&gt;<"));
        CHECK(has(svg, ">24 events in both: 14 equal, 1 own difference<"));
        CHECK(has(svg, ">A: a &lt;b&gt;.mtrace, 25 events<"));
        /* In the box, and in the legend. */
        CHECK(count(svg, ">\xE2\x89\xA0 differs here<") == 1);
        CHECK(count(svg, ">\xE2\x89\xA0 differs here: its") == 1);
        CHECK(count(svg, ">+ only in B<") == 2);
        CHECK(has(svg, ">values at [1, 2] 0.5, A has 1 &amp; &lt;more&gt;<"));
        CHECK(has(svg, ">= equal<"));
    }
    output_release(&output);
}

static void test_page(void)
{
    struct output output;

    if (output_make(&output, 3, "out.html", find_all, &result)) {
        const struct buffer *page = &output.bytes;

        CHECK(slice_starts(buffer_slice(page), SLICE("<!DOCTYPE html>\n")));
        CHECK(has(page, "<h1>unit.py:5: first divergence: y: &lt;b&gt;</h1>"));
        CHECK(has(page, "<pre tabindex=\"0\">    5| y += 1\n"));
        CHECK(has(page, "{\"kind\":\"own\",\"total\":1,"));
        CHECK(has(page, "{\"kind\":\"inherited\",\"total\":9,"));
        CHECK(has(page, "{\"kind\":\"only_a\",\"total\":1,"));
        CHECK(has(page, "{\"kind\":\"only_b\",\"total\":1,"));
        CHECK(count(page, "<svg ") == 2 && count(page, "<?xml") == 0);
        /* What a name says stays a name. */
        CHECK(count(page, "<script") == 2);
        CHECK(has(page, "\\u003cscript>alert('\\u001b[2J')"));
        CHECK(!has(page, "\x1b") && !has(page, "\xE2\x80\xAE") && !has(page, "\xff"));
    }
    output_release(&output);
}

/* What was compared with nothing is not called equal. */
static void test_other_program(void)
{
    const struct diff_result other = {.event_counts = {3, 9}, .is_other_program = true};
    struct output output;

    if (output_make(&output, 1, "out.html", diff_notes_init, &other)) {
        const struct buffer *page = &output.bytes;

        CHECK(has(page, "<h1>unit.py:5: "));
        CHECK(!has(page, ">= equal<"));
    }
    output_release(&output);
}

/* ---- windows ---- */

static void test_window(void)
{
    struct flow_trace trace;
    struct diff_picture_options options;
    struct diff_notes notes;
    struct error error = ERROR_INIT;
    const struct {
        bool has_limit;
        uint32_t limit;
        size_t boxes;
    } wanted[] = {{false, 0, 18}, {true, 0, 202}, {true, 7, 7}};

    /* Two values, and five of each turn: nine differ, and nine more are what these were made
     * from. */
    make_trace(&trace, 40);
    options = options_for(&trace, "out.svg");
    options.render.flow.fold = FLOW_FOLD_NONE;
    if (CHECK(find_all(&notes))) {
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            struct buffer svg = BUFFER_INIT;

            options.has_box_limit = wanted[i].has_limit;
            options.box_limit = wanted[i].limit;
            CHECK(diff_picture_add(&notes, &result, &options, &svg, &error));
            CHECK(count(&svg, "<g class=\"node\">") == wanted[i].boxes);
            CHECK(has(&svg, ">\xE2\x89\xA0 differs here<"));
            buffer_release(&svg);
        }
    }
    diff_notes_release(&notes);
    flow_trace_remove(&trace);
}

/* ---- rows ---- */

/* Thousands of them: so many lines are told, all differences are counted, and the first
 * divergence is there. */
static void test_many_rows(void)
{
    struct diff_notes notes;
    bool is_done = CHECK(diff_notes_init(&notes));

    for (uint32_t i = 0; i < 30000 && is_done; i++) {
        is_done = CHECK(find(&notes, 100 + i, i % 1000, VALUE_TENSOR, DIFF_OWN, false));
    }
    is_done =
        is_done && CHECK(find(&notes, OWN_EVENT, 2000, VALUE_INT, DIFF_OWN, false));
    if (is_done) {
        const struct diff_rows *own = &notes.lists[DIFF_LIST_OWN];

        CHECK(own->total == 30001 && own->count == 501 && own->shown == 15001);
        CHECK(own->rows[500].is_first && !own->rows[0].is_first);
        CHECK(own->rows[0].count == 30 && own->rows[500].count == 1);
        CHECK(diff_notes_mark(&notes, 30099) == FLOW_MARK_OWN);
        CHECK(diff_notes_mark(&notes, 30100) == FLOW_MARK_EQUAL);
        CHECK(notes.has_scalars && notes.first_event == OWN_EVENT);
    }
    diff_notes_release(&notes);
}

static void test_failing_allocations(void)
{
    static const char *const outputs[] = {"out.html", "out.dot"};

    for (int k = 0; k < 2; k++) {
        struct flow_trace trace;
        struct diff_picture_options options;
        uint32_t failed = 0;
        bool is_done = false;

        make_trace(&trace, 3);
        options = options_for(&trace, outputs[k]);
        for (size_t i = 1; i < 30000 && !is_done; i++) {
            struct error error = ERROR_INIT;
            struct buffer bytes = BUFFER_INIT;
            struct diff_notes notes;

            memory_fail_after(i, i % 2 == 0);
            is_done = find_all(&notes);
            if (!is_done) {
                error_set_memory(&error);
            }
            is_done =
                is_done && diff_picture_add(&notes, &result, &options, &bytes, &error);
            memory_fail_after(0, false);
            failed += !is_done;
            CHECK(is_done ? bytes.size > 1000
                          : bytes.size == 0 && (error.kind == ERROR_MEMORY ||
                                                error.kind == ERROR_SYSTEM));
            buffer_release(&bytes);
            diff_notes_release(&notes);
        }
        CHECK(is_done && failed > 50);
        flow_trace_remove(&trace);
    }
}

int main(void)
{
    test_formats();
    test_picture();
    test_page();
    test_other_program();
    test_window();
    test_many_rows();
    test_failing_allocations();
    return check_finish();
}
