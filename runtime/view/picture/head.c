/* The head above the picture: its title, the file, the counts, and what was left out. */
#include "runtime/view/picture/parts.h"

#include <math.h>

#define TITLE_SIZE     15.0
#define LINE_SIZE      8.0
#define LINE_HEIGHT    11.5
#define TITLE_HEIGHT   21.0
#define VERDICT_SIZE   9.0
#define VERDICT_HEIGHT 13.0
#define LINE_MAX       (sizeof((struct head *)0)->lines / sizeof(struct slice))
#define VERDICT_MAX    (sizeof((struct head *)0)->verdict / sizeof(struct slice))
/* Limit of one verdict, so that it does not fill the page. */
#define VERDICT_LINES 3

static struct text_style title_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS_BOLD, TITLE_SIZE, sheet->palette->text};
}

static struct text_style line_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, LINE_SIZE, sheet->palette->faint};
}

/* The style of a verdict's sentence. The first is the verdict itself, in bold; the others
 * explain it. */
static struct text_style verdict_style(const struct sheet *sheet, bool is_first)
{
    return (struct text_style){is_first ? PICTURE_SANS_BOLD : PICTURE_SANS,
                               VERDICT_SIZE, sheet->palette->text};
}

static void
add_counted(struct buffer *text, uint64_t count, const char *one, const char *many)
{
    buffer_add_number(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(count == 1 ? one : many));
}

/* Adds a sentence or a part of one. It is not broken. */
static void head_add(struct head *head, struct sheet *sheet, double width)
{
    struct text_style style = line_style(sheet);
    struct slice part = sheet_keep(sheet);
    struct slice *last =
        head->line_count > 0 ? &head->lines[head->line_count - 1] : NULL;

    part = sheet_shorten(sheet, style, part, width, SHORTEN_MIDDLE);
    if (last != NULL) {
        buffer_add(&sheet->scratch, *last);
        buffer_add(&sheet->scratch, SLICE("  \xC2\xB7  "));
        buffer_add(&sheet->scratch, part);
        if (style_width(style, buffer_slice(&sheet->scratch)) <= width) {
            *last = sheet_keep(sheet);
            return;
        }
        sheet->scratch.size = 0;
    }
    if (head->line_count < LINE_MAX) {
        head->lines[head->line_count++] = part;
    }
}

static void add_counts(struct head *head,
                       struct sheet *sheet,
                       const struct flow_graph *graph,
                       double width)
{
    struct buffer *text = &sheet->scratch;

    text->size = 0;
    if (graph->node_count == graph->event_count) {
        add_counted(text, graph->node_count, "value", "values");
    } else {
        add_counted(text, graph->node_count, "box for ", "boxes for ");
        add_counted(text, graph->event_count, "value", "values");
    }
    head_add(head, sheet, width);
    if (graph->file_count > 1) {
        add_counted(text, graph->file_count, "file", "files");
        head_add(head, sheet, width);
    }
}

/* `step 1 of 20: a turn of the loop that calls GPT, call #3` */
static void add_step(struct head *head,
                     struct sheet *sheet,
                     const struct flow_graph *graph,
                     double width)
{
    const struct flow_step *step = &graph->step;
    struct buffer *text = &sheet->scratch;

    if (step->number > 0) {
        buffer_add(text, SLICE("step "));
        buffer_add_number(text, step->number);
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, step->count);
        buffer_add(text, step->is_turn ? SLICE(": a turn of the loop that calls ")
                                       : SLICE(": a call of "));
        buffer_add(text, sheet_clean(sheet, step->name));
        buffer_add(text, SLICE(", call #"));
        buffer_add_number(text, step->call);
        head_add(head, sheet, width);
    }
    if (step->closed_count > 0) {
        add_counted(text, step->closed_count, "call is one box, without what is inside",
                    "calls are one box each, without what is inside");
        head_add(head, sheet, width);
    }
}

static void add_left_out(struct head *head,
                         struct sheet *sheet,
                         const struct flow_graph *graph,
                         const struct picture_options *options,
                         enum box_detail detail,
                         double width)
{
    const struct flow_left_out *left_out = &graph->left_out;
    const struct {
        uint64_t count;
        const char *one;
        const char *many;
    } parts[] = {
        {left_out->older_nodes, "older value is not shown",
         "older values are not shown"},
        {left_out->between_nodes, "value in the middle is not shown",
         "values in the middle are not shown (--max-nodes 0 shows them)"},
        {left_out->beside, "other value is not shown", "other values are not shown"},
        {left_out->scalars, "value that is no tensor is not shown",
         "values that are no tensors are not shown"},
        {left_out->filtered, "value was filtered out", "values were filtered out"},
        {left_out->in_part, "list or dict is shown in part",
         "lists and dicts are shown in part"},
        {left_out->lost_events, "value was not kept in the trace",
         "values were not kept in the trace"},
    };
    struct buffer *text = &sheet->scratch;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count > 0) {
            add_counted(text, parts[i].count, parts[i].one, parts[i].many);
            head_add(head, sheet, width);
        }
    }
    if (detail != BOX_FULL && options->tables != PICTURE_TABLES_NONE) {
        buffer_add(text, detail == BOX_WITHOUT_TABLE
                             ? SLICE("so many boxes have no tables of values")
                             : SLICE("so many boxes show name and shape alone"));
        head_add(head, sheet, width);
    }
}

static void add_verdict(struct head *head,
                        struct sheet *sheet,
                        const struct picture_options *options,
                        double width)
{
    for (size_t i = 0; i < options->verdict_count; i++) {
        uint32_t left = (uint32_t)VERDICT_MAX - head->verdict_count;

        head->verdict_count += sheet_wrap(sheet, verdict_style(sheet, i == 0),
                                          sheet_clean(sheet, options->verdict[i]),
                                          width, &head->verdict[head->verdict_count],
                                          left < VERDICT_LINES ? left : VERDICT_LINES);
        head->first_count = i == 0 ? head->verdict_count : head->first_count;
    }
}

static double body_height(const struct head *head)
{
    return head->line_count * LINE_HEIGHT + head->verdict_count * VERDICT_HEIGHT;
}

void head_prepare(struct head *head,
                  struct sheet *sheet,
                  const struct flow_graph *graph,
                  const struct picture_options *options,
                  enum box_detail detail,
                  double width)
{
    struct slice file = path_last_part(graph->file);
    struct slice title = options->title.size > 0 ? options->title
                         : file.size > 0         ? file
                                                 : SLICE("monitorch");

    *head = (struct head){.line_count = 0};
    add_verdict(head, sheet, options, width);
    title = sheet_clean(sheet, title);
    sheet->picture->title = title;
    head->title =
        sheet_shorten(sheet, title_style(sheet), title, width, SHORTEN_MIDDLE);
    sheet->scratch.size = 0;
    if (graph->file.size > 0 && !slice_equal(title, graph->file)) {
        struct slice path = sheet_clean(sheet, graph->file);

        buffer_add(&sheet->scratch,
                   sheet_shorten(sheet, line_style(sheet), path, width, SHORTEN_START));
        head_add(head, sheet, width);
    }
    add_counts(head, sheet, graph, width);
    add_step(head, sheet, graph, width);
    add_left_out(head, sheet, graph, options, detail, width);
    if (options->how.size > 0) {
        buffer_add(&sheet->scratch, options->how);
        head_add(head, sheet, width);
    }
    head->width = style_width(title_style(sheet), head->title);
    for (uint32_t i = 0; i < head->line_count; i++) {
        head->width = fmax(head->width, style_width(line_style(sheet), head->lines[i]));
    }
    for (uint32_t i = 0; i < head->verdict_count; i++) {
        head->width =
            fmax(head->width, style_width(verdict_style(sheet, i < head->first_count),
                                          head->verdict[i]));
    }
    head->height = TITLE_HEIGHT + body_height(head) + HEAD_GAP;
}

void head_draw(const struct head *head, struct sheet *sheet, double x, double y)
{
    sheet_begin(sheet, "head", SLICE(""));
    sheet_text(sheet, title_style(sheet), x, y + TITLE_SIZE - 1, head->title);
    y += TITLE_HEIGHT;
    for (uint32_t i = 0; i < head->verdict_count; i++) {
        sheet_text(sheet, verdict_style(sheet, i < head->first_count), x,
                   y + VERDICT_SIZE, head->verdict[i]);
        y += VERDICT_HEIGHT;
    }
    for (uint32_t i = 0; i < head->line_count; i++) {
        sheet_text(sheet, line_style(sheet), x, y + i * LINE_HEIGHT + LINE_SIZE - 1,
                   head->lines[i]);
    }
    sheet_end(sheet);
}
