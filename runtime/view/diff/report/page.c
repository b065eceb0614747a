/* The page of two traces: B's sources with a mark on each value that differs, and lists of the
 * differences. */
#include "runtime/view/page/page.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/report/picture.h"

struct diff_page {
    struct log_reader *reader;   /* owned: of B */
    struct source_lines sources; /* owned */
    struct flow_graph graph;     /* owned: each event a node */
    struct page_list lists[DIFF_LIST_COUNT];
    struct page_row *rows;     /* owned: of all lists */
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

/* ---- what is said under the verdict ---- */

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
    const struct flow_options flow = {.fold = FLOW_FOLD_NONE, .has_scalars = true};

    diff->reader = log_reader_new(options->paths[1], error);
    if (diff->reader == NULL) {
        return false;
    }
    source_lines_init(&diff->sources, diff->reader, options->render.strip);
    return flow_graph_build(&diff->graph, diff->reader, &diff->sources, &flow, error);
}

static bool draw(struct diff_page *diff,
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

static bool write(struct diff_page *diff,
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
        .max_size = options->max_size > 0 ? options->max_size : PAGE_SIZE_DEFAULT,
    };

    /* Two programs that have nothing in common were not compared. */
    if (options->has_marks) {
        page.mark = diff_notes_mark;
        page.remark = diff_notes_remark;
        page.mark_context = notes;
    }
    return options->is_json ? page_json_add(&page, bytes, &result, error)
                            : page_add(&page, bytes, &result, error);
}

bool diff_page_add(struct diff_notes *notes,
                   const struct diff_sentences *sentences,
                   const struct flow_graph *graph,
                   const struct diff_picture_options *options,
                   struct buffer *bytes,
                   struct error *error)
{
    struct diff_page diff = {.reader = NULL};
    bool is_done;

    flow_graph_init(&diff.graph);
    add_text(&diff.text, notes, sentences, options);
    is_done =
        (fill_lists(&diff, notes) && !diff.text.has_failed) || error_set_memory(error);
    is_done = is_done && open_b(&diff, options, error) &&
              draw(&diff, graph, options, error) &&
              write(&diff, notes, sentences, options, bytes, error);
    buffer_release(&diff.text);
    buffer_release(&diff.pictures[0]);
    buffer_release(&diff.pictures[1]);
    memory_free(diff.rows);
    flow_graph_release(&diff.graph);
    if (diff.reader != NULL) {
        source_lines_release(&diff.sources);
    }
    log_reader_free(diff.reader);
    return is_done;
}
