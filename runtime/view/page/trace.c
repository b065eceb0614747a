/* The page of one trace. */
#include "runtime/view/page/trace.h"

#include "runtime/base/arena.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/why/why.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The number of steps from a value back towards its cause. */
#define DEPTH     8
#define CHAIN_MAX 24
_Static_assert(WHY_PRODUCERS_MAX <= CHAIN_MAX, "each producer has a row");
/* A picture of more boxes is left out: it would be most of the page. */
#define NODES_MAX 1000
/* Above this number of values, edges are left out: their graph needs about 500 bytes per value. */
#define GRAPH_MAX 500000

struct trace_page {
    const struct page_trace_options *options; /* borrowed */
    struct why why;                           /* owned */
    struct graph graph;                       /* owned: the graph, if `why` made none */
    struct buffer title, text, pictures[2];   /* owned */
    struct page_row rows[CHAIN_MAX];
    struct page_list chain;
    size_t place; /* index among the traces of the page */
    struct page page;
    struct error *error;
};

/* ---- the verdict ---- */

static bool has_answer(const struct trace_page *trace)
{
    return trace->why.target != FLOW_NONE;
}

/* Whether there is a cause to show. If every infinity is intended, nothing is wrong, and the
 * page shows only the run. */
static bool has_cause(const struct trace_page *trace)
{
    return has_answer(trace) && !trace->why.is_soft;
}

/* Adds the output of `why`, with its first line as the title. */
static void add_answer(struct trace_page *trace)
{
    struct buffer whole = BUFFER_INIT;
    struct slice text;
    size_t end;

    if (trace->why.is_soft) {
        buffer_add(
            &trace->title,
            SLICE("ok: no NaN, and no Inf except those that lines write by name"));
    }
    why_text_add(&trace->why, &whole);
    text = buffer_slice(&whole);
    end = slice_find(text, SLICE("\n"), 0);
    if (!trace->why.is_soft) {
        buffer_add(&trace->title, slice_part(text, 0, end));
        end = end < text.size ? end + 1 : end;
    } else {
        end = 0;
    }
    buffer_add(&trace->text, slice_part(text, end, text.size));
    trace->text.has_failed |= whole.has_failed;
    buffer_release(&whole);
}

static void add_count(struct trace_page *trace, const char *start)
{
    buffer_add(&trace->title, slice_of(start));
    buffer_add_number(&trace->title, trace->why.event_count);
    buffer_add(&trace->title,
               trace->why.event_count == 1 ? SLICE(" event") : SLICE(" events"));
}

static void find_verdict(struct trace_page *trace)
{
    struct page *page = &trace->page;

    page->focus = PAGE_EVENT_NONE;
    if (trace->why.event_count == 0) {
        page->state = PAGE_PLAIN;
        buffer_add(&trace->title, SLICE("the trace has no events"));
    } else if (!has_answer(trace)) {
        page->state = PAGE_FINE;
        add_count(trace, "ok: no NaN or Inf in ");
    } else {
        page->state = why_is_bad(&trace->why) ? PAGE_BAD : PAGE_FINE;
        page->focus = why_focus(&trace->why);
        add_answer(trace);
    }
}

/* Asks `why` for a verdict, which needs a graph of the whole trace. If that exceeds the memory
 * limit, the page shows everything else. */
static bool ask_why(struct trace_page *trace)
{
    const struct page_trace_options *options = trace->options;
    struct why_ask ask = options->ask;

    ask.depth = DEPTH;
    ask.wants_texts = true;
    ask.has_color = false;
    if (why_find(&trace->why, options->path, &ask, trace->error)) {
        find_verdict(trace);
        return true;
    }
    if (trace->why.reader == NULL || trace->error->kind == ERROR_MEMORY ||
        options->ask.event.size > 0 || trace->error->kind == ERROR_SYSTEM) {
        return false;
    }
    trace->page.focus = PAGE_EVENT_NONE;
    trace->page.state = PAGE_PLAIN;
    buffer_add(&trace->title, SLICE("no verdict: "));
    buffer_add(&trace->title, slice_of(trace->error->text));
    *trace->error = ERROR_INIT;
    return true;
}

/* ---- the chain of causes ---- */

static struct page_row *add_row(struct trace_page *trace, uint32_t node)
{
    const struct why_value *one = why_value(&trace->why, node);
    struct page_row *row;

    assert(trace->chain.count < CHAIN_MAX);
    row = &trace->rows[trace->chain.count++];

    *row = (struct page_row){
        .file = one->file,
        .line = one->line,
        .event = one->event,
        .name = one->name,
        .words = SLICE(""),
        .code = one->code,
        .call = one->function,
        .count = 1,
    };
    return row;
}

static void find_chain(struct trace_page *trace)
{
    const struct why *why = &trace->why;

    trace->chain = (struct page_list){.kind = PAGE_CHAIN, .rows = trace->rows};
    if (!has_cause(trace)) {
        return;
    }
    for (uint32_t i = 0; i < why->producer_count; i++) {
        /* The order is that of the report: the main producer first. */
        uint32_t at = i == 0 ? why->main : i <= why->main ? i - 1 : i;
        const struct why_producer *producer = &why->producers[at];
        struct page_row *row = add_row(trace, producer->node);

        row->file = producer->file;
        row->line = producer->line;
        row->code = producer->statement;
        row->words = producer->reason;
    }
    for (uint32_t i = 0; i < why->row_count && trace->chain.count < CHAIN_MAX; i++) {
        if (why->facts[why->rows[i].node].holds != 0 &&
            why->facts[why->rows[i].node].made == 0) {
            struct page_row *row = add_row(trace, why->rows[i].node);

            row->words = SLICE("passes it on");
            row->count = why->rows[i].count;
        }
    }
    trace->chain.total = trace->chain.count;
    trace->page.lists = &trace->chain;
    trace->page.list_count = 1;
}

/* ---- pictures ---- */

static bool draw_causes(struct trace_page *trace)
{
    struct render_options render = {.format = RENDER_SVG,
                                    .box_limit = WHY_BOXES,
                                    .picture = PICTURE_OPTIONS_DEFAULT};

    render.dark = &trace->pictures[1];
    return why_picture_add(&trace->why, &render, &trace->pictures[0], trace->error);
}

static bool draw_trace(struct trace_page *trace)
{
    struct render_options render = {.is_fitted = true,
                                    .strip = trace->options->ask.strip,
                                    .node_limit = NODES_MAX,
                                    .flow.has_nan_marks = true,
                                    .flow.has_updates = true,
                                    .picture = PICTURE_OPTIONS_DEFAULT};
    struct render_result result;

    if (trace->options->render != NULL) {
        render = *trace->options->render;
    }
    render.format = RENDER_SVG;
    render.dark = &trace->pictures[1];
    if (!render_trace(trace->options->path, &render, &trace->pictures[0], &result,
                      trace->error)) {
        trace->page.has_large_picture =
            trace->options->render == NULL && trace->error->kind == ERROR_USAGE;
        *trace->error = trace->page.has_large_picture ? ERROR_INIT : *trace->error;
        return trace->page.has_large_picture;
    }
    return true;
}

/* ---- the graph, for edges ---- */

static bool find_graph(struct trace_page *trace)
{
    struct why *why = &trace->why;
    struct graph_build_options options = {
        .progress = trace->options->ask.progress,
        .progress_context = trace->options->ask.progress_context,
    };

    if (why->graph.node_count > 0) {
        trace->page.graph = &why->graph;
        return true;
    }
    if (why->value_count > GRAPH_MAX) {
        return true;
    }
    log_reader_rewind(why->reader);
    trace->page.graph = &trace->graph;
    return graph_build(&trace->graph, why->reader, &options, trace->error);
}

/* ---- the whole page ---- */

/* Copies the caller's verdict to the page. */
static void use_verdict(struct trace_page *trace, const struct page *verdict)
{
    struct page *page = &trace->page;

    page->state = verdict->state;
    page->title = verdict->title;
    page->text = verdict->text;
    page->lists = verdict->lists;
    page->list_count = verdict->list_count;
    page->focus = verdict->focus;
}

/* The mark of an event. Equal values have none. */
static enum flow_mark mark_of(void *why, uint64_t event)
{
    enum flow_mark mark = why_mark(why, event);

    return mark == FLOW_MARK_EQUAL ? FLOW_MARK_NONE : mark;
}

static bool write_page(struct trace_page *trace,
                       struct buffer *bytes,
                       struct page_trace_result *result)
{
    struct page *page = &trace->page;

    page->paths[0] = trace->options->path;
    page->command = trace->options->command;
    page->reader = trace->why.reader;
    page->sources = &trace->why.sources;
    page->max_size =
        page_part_size(trace->options->max_size, trace->options->other_count + 1);
    page->is_strict = trace->options->max_size > 0;
    page->value_count = trace->why.value_count;
    if (has_cause(trace)) {
        enum why_how how = trace->why.producers[trace->why.main].how;

        page->is_cause = page->state == PAGE_BAD && trace->why.producer_count > 0 &&
                         (how == WHY_MADE || how == WHY_BACKWARD);
        page->mark = mark_of;
        page->remark = why_remark;
        page->mark_context = &trace->why;
    }
    page->title = buffer_slice(&trace->title);
    page->text = buffer_slice(&trace->text);
    page->pictures[0] = buffer_slice(&trace->pictures[0]);
    page->pictures[1] = buffer_slice(&trace->pictures[1]);
    if (trace->options->verdict != NULL) {
        use_verdict(trace, trace->options->verdict);
    }
    return trace->options->is_json
               ? page_json_add(page, bytes, &result->page, trace->error)
               : page_part_add(page, trace->place, bytes, &result->page, trace->error);
}

static void report_result(const struct trace_page *trace,
                          struct page_trace_result *result)
{
    const struct log_reader *reader = trace->why.reader;

    result->state = trace->page.state;
    result->is_cause = trace->page.is_cause;
    result->is_recording = log_reader_header(reader)->is_closed == 0;
    result->damage_count = log_reader_damage_count(reader);
    result->damage[0] = '\0';
    if (result->damage_count > 0) {
        snprintf(result->damage, sizeof result->damage, "%s",
                 log_reader_damage(reader, 0));
    }
}

static bool make_pictures(struct trace_page *trace)
{
    if (trace->options->is_json || trace->why.event_count == 0) {
        return true;
    }
    return has_cause(trace) && !trace->options->is_own_picture ? draw_causes(trace)
                                                               : draw_trace(trace);
}

/* Adds the part of one trace; writes its title to `title`. */
static bool add_part(const struct page_trace_options *options,
                     size_t place,
                     struct buffer *bytes,
                     struct buffer *title,
                     struct page_trace_result *result,
                     struct error *error)
{
    struct trace_page trace = {.options = options, .place = place, .error = error};
    bool is_done;

    why_init(&trace.why);
    graph_init(&trace.graph);
    is_done = ask_why(&trace);
    if (is_done) {
        find_chain(&trace);
    }
    is_done = is_done && make_pictures(&trace) && find_graph(&trace) &&
              write_page(&trace, bytes, result);
    if (is_done && (trace.title.has_failed || trace.text.has_failed)) {
        is_done = error_set_memory(error);
    }
    if (is_done) {
        report_result(&trace, result);
        buffer_add(title, trace.page.title);
    }
    buffer_release(&trace.title);
    buffer_release(&trace.text);
    buffer_release(&trace.pictures[0]);
    buffer_release(&trace.pictures[1]);
    graph_release(&trace.graph);
    why_release(&trace.why);
    return is_done;
}

static void merge_result(struct page_trace_result *all,
                         const struct page_trace_result *one)
{
    all->page.event_count += one->page.event_count;
    all->page.kept_count += one->page.kept_count;
    all->is_cause |= one->is_cause;
    all->state = one->state == PAGE_BAD ? PAGE_BAD : all->state;
    all->is_recording |= one->is_recording;
    if (all->damage_count == 0) {
        memcpy(all->damage, one->damage, sizeof all->damage);
    }
    all->damage_count += one->damage_count;
}

/* The weight of a trace's title: the file gets the title of a trace with the cause, else of a
 * bad one, else of the first. */
static int weight_of(const struct page_trace_result *result)
{
    return result->is_cause ? 2 : result->state == PAGE_BAD;
}

/* Adds all parts, and finds the file's title. */
static bool add_parts(const struct page_trace_options *options,
                      struct buffer *bytes,
                      struct buffer *title,
                      struct page_trace_result *result,
                      struct error *error)
{
    struct buffer other = BUFFER_INIT;
    bool is_done = true;

    for (size_t i = 0; is_done && i <= options->other_count; i++) {
        struct page_trace_options part = *options;
        struct page_trace_result one;

        part.path = i == 0 ? options->path : options->others[i - 1];
        other.size = 0;
        is_done = add_part(&part, i, bytes, i == 0 ? title : &other,
                           i == 0 ? result : &one, error);
        if (is_done && i > 0) {
            if (weight_of(&one) > weight_of(result)) {
                title->size = 0;
                buffer_add(title, buffer_slice(&other));
            }
            merge_result(result, &one);
        }
    }
    buffer_release(&other);
    return is_done;
}

bool page_trace_add(const struct page_trace_options *options,
                    struct buffer *bytes,
                    struct page_trace_result *result,
                    struct error *error)
{
    struct buffer parts = BUFFER_INIT;
    struct buffer title = BUFFER_INIT;
    size_t start = bytes->size;
    bool is_done = add_parts(options, &parts, &title, result, error);

    if (is_done && !options->is_json) {
        page_begin(buffer_slice(&title), bytes);
    }
    if (is_done) {
        buffer_add(bytes, buffer_slice(&parts));
        bytes->has_failed |= parts.has_failed || title.has_failed;
        is_done = options->is_json ? !bytes->has_failed || error_set_memory(error)
                                   : page_end(bytes, error);
    }
    if (!is_done) {
        bytes->size = start;
    }
    buffer_release(&parts);
    buffer_release(&title);
    return is_done;
}
