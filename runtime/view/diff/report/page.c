/* A page that tells what differs between two traces: words, tables, and the picture in both
 * themes. It needs nothing but itself: no script, no other file, no network. It is well-formed
 * XML, too, so that a mistake in it is found. */
#include "runtime/view/diff/report/picture.h"

#include "runtime/view/picture/sheet.h"
#include "runtime/view/words/markup_text.h"

static const char style[] =
    ":root{color-scheme:light dark;--text:#1b2430;--faint:#5b6672;--line:#d5dae1;"
    "--back:#fff;--code:#f1f4f7;--own:#c8102e;--own-back:#ffe4e6;--inherited:#8a4c00;"
    "--inherited-back:#fff3dc;--only:#4a31b8;--only-back:#efecfd}\n"
    "@media(prefers-color-scheme:dark){:root{--text:#e8ecf1;--faint:#98a4b2;"
    "--line:#39424d;--back:#14181d;--code:#2a323b;--own:#ff7a88;--own-back:#431a20;"
    "--inherited:#f2b04a;--inherited-back:#362a16;--only:#b3a1ff;"
    "--only-back:#272142}}\n"
    "body{margin:0 auto;padding:24px;max-width:1200px;background:var(--back);"
    "color:var(--text);font:15px/1.5 system-ui,\"DejaVu Sans\",Verdana,sans-serif}\n"
    "h1{font-size:20px;line-height:1.35;margin:0 0 8px}\n"
    "h2,summary{font-size:16px;font-weight:bold;margin:24px 0 8px}\n"
    "summary{cursor:pointer}\n"
    "p{margin:4px 0}\n"
    "pre,code{font:13px/1.45 ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,"
    "monospace;background:var(--code);border-radius:4px}\n"
    "pre{padding:10px 14px;overflow-x:auto}\n"
    "code{padding:1px 5px;white-space:pre-wrap}\n"
    ".faint{color:var(--faint)}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:6px 12px 6px 8px;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
    "td *,h1,p,pre{unicode-bidi:isolate}\n"
    "th{color:var(--faint);font-weight:normal;font-size:13px}\n"
    "td:first-child{white-space:nowrap}\n"
    ".mark{display:inline-block;padding:0 8px;border-radius:9px;font-size:12px;"
    "font-weight:bold;white-space:nowrap}\n"
    ".own .mark{color:var(--own);background:var(--own-back)}\n"
    ".inherited .mark{color:var(--inherited);background:var(--inherited-back)}\n"
    ".only .mark{color:var(--only);background:var(--only-back)}\n"
    "tr.first td{border-top:2px solid var(--own)}\n"
    ".picture{overflow:auto;border:1px solid var(--line);border-radius:6px}\n"
    ".picture svg{display:block}\n"
    ".dark{display:none}\n"
    "@media(prefers-color-scheme:dark){.dark{display:block}.light{display:none}}\n"
    "@media print{.dark{display:none}.light{display:block}}\n";

/* ---- texts that are not ours ---- */

static void text_add(struct buffer *page, struct slice text)
{
    struct buffer plain = BUFFER_INIT;

    buffer_add_printable(&plain, text);
    markup_text_add(page, buffer_slice(&plain));
    page->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

/* Lines stay lines. */
static void lines_add(struct buffer *page, struct slice text)
{
    while (text.size > 0) {
        size_t end = slice_find(text, SLICE("\n"), 0);

        text_add(page, slice_part(text, 0, end));
        buffer_add_byte(page, '\n');
        text = slice_part(text, end < text.size ? end + 1 : end, text.size);
    }
}

/* The file's name and the line; the whole path where the pointer rests. */
static void place_add(struct buffer *page, struct slice path, uint32_t line)
{
    buffer_add(page, SLICE("<span title=\""));
    text_add(page, path);
    buffer_add(page, SLICE("\">"));
    text_add(page, path_last_part(path));
    buffer_add_format(page, ":%u</span>", (unsigned)line);
}

/* ---- tables ---- */

static const struct {
    const char *class;
    const char *mark;
    const char *title;
    bool is_open;
} lists[DIFF_LIST_COUNT] = {
    [DIFF_LIST_OWN] = {"own", "differs here", "Differences of their own", true},
    [DIFF_LIST_INHERITED] = {"inherited", "inherited", "Inherited differences", false},
    [DIFF_LIST_ONLY_A] = {"only", "only in A", "Only in A", false},
    [DIFF_LIST_ONLY_B] = {"only", "only in B", "Only in B", false},
};

static void where_add(struct buffer *page, const struct diff_row *row)
{
    if (row->line > 0) {
        place_add(page, row->path, row->line);
    } else {
        buffer_add(page, SLICE("<span class=\"faint\">unknown</span>"));
    }
    if (row->other_line > 0) {
        buffer_add(page, SLICE("<br/><span class=\"faint\">A: "));
        place_add(page, row->other_path, row->other_line);
        buffer_add(page, SLICE("</span>"));
    }
}

static void
row_add(struct buffer *page, const struct diff_row *row, enum diff_list list)
{
    buffer_add(page, SLICE("<tr class=\""));
    buffer_add(page, slice_of(lists[list].class));
    buffer_add(page, row->is_first ? SLICE(" first\"><td>") : SLICE("\"><td>"));
    where_add(page, row);
    buffer_add(page, SLICE("</td><td><b>"));
    text_add(page, row->name);
    buffer_add(page, SLICE("</b> <span class=\"mark\">"));
    buffer_add(page, slice_of(lists[list].mark));
    buffer_add(page, SLICE("</span>"));
    if (row->count > 1) {
        buffer_add_format(page, " <span class=\"faint\">%llu times, first:</span>",
                          (unsigned long long)row->count);
    }
    buffer_add(page, SLICE("<br/><span>"));
    text_add(page, row->words);
    buffer_add(page, SLICE("</span>"));
    if (row->code.size > 0) {
        buffer_add(page, SLICE("<br/><code>"));
        text_add(page, row->code);
        buffer_add(page, SLICE("</code>"));
    }
    buffer_add(page, SLICE("</td><td><span class=\"faint\">"));
    text_add(page, row->call);
    buffer_add(page, SLICE("</span></td></tr>\n"));
}

static void
table_add(struct buffer *page, const struct diff_rows *rows, enum diff_list list)
{
    buffer_add(page,
               SLICE("<div class=\"scroll\"><table>\n"
                     "<tr><th>Line</th><th>What</th><th>In the call</th></tr>\n"));
    for (uint32_t i = 0; i < rows->count; i++) {
        row_add(page, &rows->rows[i], list);
    }
    buffer_add(page, SLICE("</table></div>\n"));
    if (rows->total > rows->shown) {
        buffer_add(page, SLICE("<p class=\"faint\">and "));
        buffer_add_number(page, rows->total - rows->shown);
        buffer_add(page, SLICE(" more, of other lines</p>\n"));
    }
}

/* What somebody reads first is open; the rest opens when it is asked for. */
static void
list_add(struct buffer *page, const struct diff_rows *rows, enum diff_list list)
{
    if (rows->total == 0) {
        return;
    }
    buffer_add(page, lists[list].is_open ? SLICE("<details open=\"\"><summary>")
                                         : SLICE("<details><summary>"));
    buffer_add(page, slice_of(lists[list].title));
    buffer_add_format(page, " (%llu)</summary>\n", (unsigned long long)rows->total);
    table_add(page, rows, list);
    buffer_add(page, SLICE("</details>\n"));
}

/* ---- the picture ---- */

/* Inside a page an SVG has no declaration of its own. */
static bool svg_add(struct buffer *page,
                    const struct flow_graph *graph,
                    const struct diff_picture_options *options,
                    enum picture_theme theme,
                    struct error *error)
{
    struct render_options render = options->render;
    struct buffer svg = BUFFER_INIT;
    struct slice text;
    bool is_done;

    render.format = RENDER_SVG;
    render.picture.theme = theme;
    is_done = render_graph(graph, &render, &svg, error);
    if (is_done) {
        text = buffer_slice(&svg);
        buffer_add(page, theme == PICTURE_DARK
                             ? SLICE("<div class=\"picture dark\">\n")
                             : SLICE("<div class=\"picture light\">\n"));
        buffer_add(page,
                   slice_part(text, slice_find(text, SLICE("<svg"), 0), text.size));
        buffer_add(page, SLICE("</div>\n"));
    }
    buffer_release(&svg);
    return is_done;
}

static bool picture_add(struct buffer *page,
                        const struct flow_graph *graph,
                        const struct diff_picture_options *options,
                        struct error *error)
{
    if (graph->node_count == 0) {
        buffer_add(page, SLICE("<p class=\"faint\">B has no tensors or arrays to "
                               "draw.</p>\n"));
        return true;
    }
    buffer_add(page, SLICE("<h2>Which value was made from which, in B</h2>\n"));
    return svg_add(page, graph, options, PICTURE_LIGHT, error) &&
           svg_add(page, graph, options, PICTURE_DARK, error);
}

/* ---- the page ---- */

static void lines_under(struct buffer *page, struct slice title, struct slice lines)
{
    if (lines.size > 0) {
        buffer_add(page, SLICE("<p>"));
        buffer_add(page, title);
        buffer_add(page, SLICE("</p>\n"
                               "<pre>"));
        lines_add(page, lines);
        buffer_add(page, SLICE("</pre>\n"));
    }
}

static void head_add(struct buffer *page,
                     const struct diff_notes *notes,
                     const struct diff_sentences *sentences,
                     const struct diff_picture_options *options)
{
    /* Whatever is in the traces: nothing is loaded and nothing runs. */
    buffer_add(page,
               SLICE("<!DOCTYPE html>\n"
                     "<html lang=\"en\">\n"
                     "<head>\n"
                     "<meta charset=\"utf-8\"/>\n"
                     "<meta http-equiv=\"Content-Security-Policy\" "
                     "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
                     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                     "<title>"));
    text_add(page, sentences->sentences[0]);
    buffer_add(page, SLICE("</title>\n"
                           "<style>\n"));
    buffer_add(page, slice_of(style));
    buffer_add(page, SLICE("</style>\n"
                           "</head>\n"
                           "<body>\n"
                           "<h1>"));
    text_add(page, sentences->sentences[0]);
    buffer_add(page, SLICE("</h1>\n"));
    if (notes->text.size > notes->headline.size + 1) {
        buffer_add(page, SLICE("<pre>"));
        lines_add(page,
                  slice_part(notes->text, notes->headline.size + 1, notes->text.size));
        buffer_add(page, SLICE("</pre>\n"));
    }
    for (size_t i = 1; i < sentences->count; i++) {
        buffer_add(page, i == 1 ? SLICE("<p>") : SLICE("<p class=\"faint\">"));
        text_add(page, sentences->sentences[i]);
        buffer_add(page, SLICE("</p>\n"));
    }
    lines_under(page, SLICE("Settings of the runs that differ:"), options->settings);
    lines_under(page, SLICE("Lines of code that differ:"), options->changed);
}

bool diff_page_add(const struct diff_notes *notes,
                   const struct diff_sentences *sentences,
                   const struct flow_graph *graph,
                   const struct diff_picture_options *options,
                   struct buffer *bytes,
                   struct error *error)
{
    head_add(bytes, notes, sentences, options);
    for (int i = 0; i < DIFF_LIST_COUNT; i++) {
        list_add(bytes, &notes->lists[i], (enum diff_list)i);
    }
    if (!picture_add(bytes, graph, options, error)) {
        return false;
    }
    buffer_add(bytes, SLICE("</body>\n"
                            "</html>\n"));
    if (bytes->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
