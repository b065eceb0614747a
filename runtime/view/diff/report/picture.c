/* Picture and page of the differences between two traces. */
#include "runtime/view/diff/report/picture.h"

#include "runtime/base/memory.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/page/page.h"

/* The page of two traces: B's sources with a mark on each value that differs, and lists of the
 * differences. */

struct diff_page {
    struct log_reader *reader;   /* owned: of B */
    struct log_reader *other;    /* owned: of A */
    struct source_lines sources; /* owned */
    struct graph graph;          /* owned */
    struct page_list lists[DIFF_LIST_COUNT];
    struct page_row *rows;     /* owned: rows of all lists */
    struct buffer text;        /* owned */
    struct buffer pictures[2]; /* owned */
};

/* ---- lists ---- */

static bool fill_lists(struct diff_page *diff, const struct diff_notes *notes)
{
    static const enum page_list_kind kinds[DIFF_LIST_COUNT] = {
        [DIFF_LIST_OWN] = PAGE_OWN,
        [DIFF_LIST_INHERITED] = PAGE_INHERITED,
        [DIFF_LIST_ONLY_A] = PAGE_ONLY_A,
        [DIFF_LIST_ONLY_B] = PAGE_ONLY_B,
    };
    size_t count = 0;

    for (int i = 0; i < DIFF_LIST_COUNT; i++) {
        count += notes->lists[i].count;
    }
    diff->rows = memory_allocate(count, sizeof *diff->rows);
    if (diff->rows == NULL) {
        return false;
    }
    count = 0;
    for (int i = 0; i < DIFF_LIST_COUNT; i++) {
        const struct diff_rows *list = &notes->lists[i];

        diff->lists[i] =
            (struct page_list){kinds[i], &diff->rows[count], list->count, list->total};
        for (uint32_t k = 0; k < list->count; k++) {
            const struct diff_row *row = &list->rows[k];

            diff->rows[count++] = (struct page_row){
                .file = row->path,
                .line = row->line,
                .event = row->event,
                .name = row->name,
                .words = row->words,
                .code = row->code,
                .call = row->call,
                .count = row->count,
            };
        }
    }
    return true;
}

/* ---- the text under the verdict ---- */

static void add_lines(struct buffer *text, struct slice title, struct slice lines)
{
    if (lines.size > 0) {
        buffer_add(text, SLICE("\n\n"));
        buffer_add(text, title);
        buffer_add_byte(text, '\n');
        buffer_add(text, lines);
    }
}

static void add_text(struct buffer *text,
                     const struct diff_notes *notes,
                     const struct diff_sentences *sentences,
                     const struct diff_picture_options *options)
{
    if (notes->text.size > notes->headline.size + 1) {
        buffer_add(text,
                   slice_part(notes->text, notes->headline.size + 1, notes->text.size));
    }
    for (size_t i = 1; i < sentences->count; i++) {
        buffer_add(text, sentences->sentences[i]);
        buffer_add_byte(text, '\n');
    }
    add_lines(text, SLICE("Settings of the runs that differ:"), options->settings);
    add_lines(text, SLICE("Lines of code that differ:"), options->changed);
}

/* ---- the page ---- */

static bool open_b(struct diff_page *diff,
                   const struct diff_picture_options *options,
                   struct error *error)
{
    const struct graph_build_options build = {.progress = NULL};

    diff->reader = log_reader_new(options->paths[1], error);
    if (diff->reader == NULL) {
        return false;
    }
    source_lines_init(&diff->sources, diff->reader, options->render.strip);
    diff->other = log_reader_new(options->paths[0], error);
    return diff->other != NULL &&
           graph_build(&diff->graph, diff->reader, &build, error);
}

static bool draw_pictures(struct diff_page *diff,
                          const struct flow_graph *graph,
                          const struct diff_picture_options *options,
                          struct error *error)
{
    struct render_options render = options->render;

    render.format = RENDER_SVG;
    render.dark = &diff->pictures[1];
    render.picture.has_chips = true;
    render.picture.tables = PICTURE_TABLES_NONE;
    return render_graph(graph, &render, &diff->pictures[0], error);
}

static bool write_page(struct diff_page *diff,
                       struct diff_notes *notes,
                       const struct diff_sentences *sentences,
                       const struct diff_picture_options *options,
                       struct buffer *bytes,
                       struct error *error)
{
    struct page_result result;
    struct page page = {
        .paths = {options->paths[0], options->paths[1]},
        .reader = diff->reader,
        .sources = &diff->sources,
        .graph = &diff->graph,
        .state = options->is_equal ? PAGE_FINE : PAGE_BAD,
        .title = sentences->sentences[0],
        .text = buffer_slice(&diff->text),
        .lists = diff->lists,
        .list_count = DIFF_LIST_COUNT,
        .pictures = {buffer_slice(&diff->pictures[0]),
                     buffer_slice(&diff->pictures[1])},
        .focus = notes->first_event,
        .max_size = options->max_size,
        .is_strict = options->max_size > 0,
    };

    /* Two programs that have nothing in common were not compared. */
    if (options->has_marks) {
        page.mark = diff_notes_mark;
        page.remark = diff_notes_remark;
        page.mark_context = notes;
        page.other = diff_notes_other;
        page.other_reader = diff->other;
    }
    return options->is_json ? page_json_add(&page, bytes, &result, error)
                            : page_add(&page, bytes, &result, error);
}

/* Appends a page around the graph's pictures in both themes. */
static bool diff_page_add(struct diff_notes *notes,
                          const struct diff_sentences *sentences,
                          const struct flow_graph *graph,
                          const struct diff_picture_options *options,
                          struct buffer *bytes,
                          struct error *error)
{
    struct diff_page diff = {.reader = NULL};
    bool is_done;

    graph_init(&diff.graph);
    add_text(&diff.text, notes, sentences, options);
    is_done =
        (fill_lists(&diff, notes) && !diff.text.has_failed) || error_set_memory(error);
    is_done = is_done && open_b(&diff, options, error) &&
              draw_pictures(&diff, graph, options, error) &&
              write_page(&diff, notes, sentences, options, bytes, error);
    buffer_release(&diff.text);
    buffer_release(&diff.pictures[0]);
    buffer_release(&diff.pictures[1]);
    memory_free(diff.rows);
    graph_release(&diff.graph);
    if (diff.reader != NULL) {
        source_lines_release(&diff.sources);
    }
    log_reader_free(diff.reader);
    log_reader_free(diff.other);
    return is_done;
}

/* ---- the picture ---- */

/* A picture with more boxes is too large to read: it shows a window around the first divergence. */
#define BOX_MAX    60
#define WINDOW_MAX 40
/* Most boxes of a picture on a page, next to the page's lines. */
#define PAGE_BOX_MAX 16

bool diff_picture_format(struct slice path,
                         struct diff_picture_options *options,
                         struct error *error)
{
    size_t shown = path.size < 200 ? path.size : 200;
    struct error ignored = ERROR_INIT;

    options->is_page = slice_ends(path, SLICE(".html")) ||
                       slice_ends(path, SLICE(".htm")) ||
                       slice_ends(path, SLICE(".HTML"));
    options->is_json = slice_ends(path, SLICE(".json"));
    options->is_page = options->is_page || options->is_json;
    if (options->is_page || render_format_of(path, &options->render.format, &ignored)) {
        return true;
    }
    error_set(error, ERROR_USAGE,
              "%.*s: the name must end in .html, .json, .svg, .png, .pdf or .dot",
              (int)shown, path.bytes);
    return false;
}

/* ---- the sentences ---- */

static void add_trace(struct buffer *text,
                      const char *path,
                      const struct diff_result *result,
                      int side)
{
    buffer_add(text, side == 0 ? SLICE("A: ") : SLICE("B: "));
    buffer_add(text, slice_of(path));
    buffer_add(text, SLICE(", "));
    buffer_add_number(text, result->event_counts[side]);
    buffer_add(text,
               result->event_counts[side] == 1 ? SLICE(" event") : SLICE(" events"));
    if (result->damage_counts[side] > 0) {
        buffer_add(text, SLICE(", damaged: the readable part"));
    } else if (result->is_unfinished[side]) {
        buffer_add(text, SLICE(", unfinished: the events so far"));
    }
}

/* Ends a sentence. Stores its end, not its address, since the text moves when it grows. */
static void sentences_end(struct diff_sentences *sentences, size_t *ends)
{
    ends[sentences->count++] = sentences->text.size;
}

static bool sentences_make(struct diff_sentences *sentences,
                           const struct diff_result *result,
                           const struct diff_picture_options *options)
{
    size_t ends[DIFF_SENTENCE_MAX];
    size_t start = 0;

    *sentences = (struct diff_sentences){.count = 0};
    for (size_t i = 0; i < sizeof options->verdict / sizeof *options->verdict; i++) {
        if (options->verdict[i].size > 0) {
            buffer_add(&sentences->text, options->verdict[i]);
            sentences_end(sentences, ends);
        }
    }
    for (int side = 0; side < 2; side++) {
        add_trace(&sentences->text, options->paths[side], result, side);
        sentences_end(sentences, ends);
    }
    for (size_t i = 0; i < sentences->count; i++) {
        sentences->sentences[i] =
            slice_part(buffer_slice(&sentences->text), start, ends[i]);
        start = ends[i];
    }
    return !sentences->text.has_failed;
}

/* ---- the graph ---- */

static bool is_worse(const struct flow_node *node)
{
    return node->mark > FLOW_MARK_EQUAL;
}

/* Drops numbers and texts that are equal. Scalars are shown only for those that differ. */
static bool drop_equal_scalars(struct flow_graph *graph, struct error *error)
{
    bool *kept = memory_allocate(graph->node_count, sizeof *kept);
    bool is_done;

    if (kept == NULL) {
        return error_set_memory(error);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct flow_node *node = &graph->nodes[i];

        kept[i] = node->kind == VALUE_TENSOR || is_worse(node);
        graph->left_out.scalars += kept[i] ? 0 : node->count;
    }
    is_done = flow_graph_keep(graph, kept, error);
    graph->left_out.beside = 0;
    memory_free(kept);
    return is_done;
}

/* Returns the node of the first divergence, or the differing node with the earliest event. */
static uint32_t find_first(const struct flow_graph *graph, uint64_t event)
{
    uint32_t found = FLOW_NONE;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct flow_node *node = &graph->nodes[i];

        if (!is_worse(node)) {
            continue;
        }
        if (node->marked == event) {
            return i;
        }
        if (found == FLOW_NONE || node->marked < graph->nodes[found].marked) {
            found = i;
        }
    }
    return found == FLOW_NONE ? 0 : found;
}

/* Adds the words of the first divergence to its node. Control flow has no box: the first value
 * that it caused gets the words. */
static void report_first(struct flow_graph *graph, const struct diff_notes *notes)
{
    struct flow_node *node;

    if (graph->node_count == 0 || notes->first_words.size == 0) {
        return;
    }
    node = &graph->nodes[find_first(graph, notes->first_event)];
    if (is_worse(node) && node->remark.size == 0) {
        node->remark = notes->first_words;
    }
}

static uint32_t find_limit(const struct flow_graph *graph,
                           const struct diff_picture_options *options)
{
    if (options->has_box_limit) {
        return options->box_limit == 0 ? UINT32_MAX : options->box_limit;
    }
    if (options->is_page) {
        return PAGE_BOX_MAX;
    }
    return graph->node_count > BOX_MAX ? WINDOW_MAX : BOX_MAX;
}

static bool keep_window(struct flow_graph *graph,
                        uint64_t event,
                        uint32_t limit,
                        struct error *error)
{
    bool *kept;
    bool is_done;

    if (graph->node_count <= limit) {
        return true;
    }
    kept = memory_allocate(graph->node_count, sizeof *kept);
    if (kept == NULL) {
        return error_set_memory(error);
    }
    is_done = flow_graph_near(graph, find_first(graph, event), limit, kept, error) &&
              flow_graph_keep(graph, kept, error);
    memory_free(kept);
    return is_done;
}

static bool build(struct flow_graph *graph,
                  struct diff_notes *notes,
                  const struct diff_result *result,
                  const struct diff_picture_options *options,
                  struct error *error)
{
    struct flow_options flow = options->render.flow;
    struct log_reader *reader = log_reader_new(options->paths[1], error);
    struct source_lines sources;
    bool is_done;

    if (reader == NULL) {
        return false;
    }
    /* Two programs that have nothing in common were not compared. */
    if (!result->is_other_program) {
        flow.mark = diff_notes_mark;
        flow.remark = diff_notes_remark;
        flow.mark_context = notes;
    }
    flow.has_scalars = flow.has_scalars || notes->has_scalars;
    source_lines_init(&sources, reader, options->render.strip);
    is_done = flow_graph_build(graph, reader, &sources, &flow, error);
    /* Damage that was not there before means that memory ran out. */
    if (is_done && (sources.has_failed ||
                    log_reader_damage_count(reader) > result->damage_counts[1])) {
        error_set_memory(error);
        is_done = false;
    }
    source_lines_release(&sources);
    log_reader_free(reader);
    if (is_done) {
        report_first(graph, notes);
    }
    return is_done && (!flow.has_scalars || drop_equal_scalars(graph, error)) &&
           keep_window(graph, notes->first_event, find_limit(graph, options), error);
}

static bool draw(struct diff_notes *notes,
                 const struct diff_sentences *sentences,
                 const struct diff_result *result,
                 const struct flow_graph *graph,
                 const struct diff_picture_options *options,
                 struct buffer *bytes,
                 struct error *error)
{
    struct render_options render = options->render;
    struct diff_picture_options page = *options;

    if (options->is_page) {
        page.has_marks = !result->is_other_program;
        page.is_equal = page.has_marks && diff_result_is_equal(result);
        return diff_page_add(notes, sentences, graph, &page, bytes, error);
    }
    render.picture.verdict = sentences->sentences;
    render.picture.verdict_count = sentences->count;
    return render_graph(graph, &render, bytes, error);
}

bool diff_picture_add(struct diff_notes *notes,
                      const struct diff_result *result,
                      const struct diff_picture_options *options,
                      struct buffer *bytes,
                      struct error *error)
{
    struct diff_sentences sentences;
    struct flow_graph graph;
    size_t start = bytes->size;
    bool is_done;

    flow_graph_init(&graph);
    is_done = sentences_make(&sentences, result, options);
    if (!is_done) {
        error_set_memory(error);
    }
    is_done = is_done && build(&graph, notes, result, options, error) &&
              draw(notes, &sentences, result, &graph, options, bytes, error);
    if (!is_done) {
        bytes->size = start;
    }
    flow_graph_release(&graph);
    buffer_release(&sentences.text);
    return is_done;
}
