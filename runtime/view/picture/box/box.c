/* What stands in the box of a node, and where. */
#include "runtime/view/picture/box/words.h"
#include "runtime/view/picture/marks.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/tensor_text.h"

#include <math.h>

#define PADDING_LEFT   11.0
#define PADDING_RIGHT  8.0
#define PADDING_TOP    6.0
#define PADDING_BOTTOM 7.0
#define WIDTH_LEAST    64.0
/* Texts alone make a box no wider; a table may. */
#define TEXT_WIDTH_MAX 232.0
#define FIGURES_WIDTH  216.0
#define NAME_SIZE      10.0
#define NAME_HEIGHT    13.0
#define PLACE_SIZE     6.5
#define PLACE_GAP      10.0
#define FORM_SIZE      7.5
#define FORM_HEIGHT    11.0
#define NOTE_SIZE      7.0
#define NOTE_HEIGHT    10.0
#define CODE_SIZE      7.0
#define CODE_HEIGHT    13.0
#define CODE_PADDING   4.0
#define GAP            4.0

/* All texts of a box, measured, before anything is drawn. */
struct content {
    struct slice name;
    struct slice place;
    struct slice form;
    struct slice note;
    struct slice code;
    struct pill times; /* `× 50`; width 0: not folded */
    struct pill alarm; /* `3 NaN, 1 +Inf`; width 0: all are finite */
    struct pills pills;
    struct remark remark;
    struct table table;
    struct figures figures;
    double width; /* without padding */
    double height;
};

struct text_style box_style(const struct sheet *sheet, enum style_kind kind)
{
    const struct picture_palette *palette = sheet->palette;

    switch (kind) {
    case STYLE_NAME:
        return (struct text_style){PICTURE_SANS_BOLD, NAME_SIZE, palette->text};
    case STYLE_PLACE:
        return (struct text_style){PICTURE_SANS, PLACE_SIZE, palette->faint};
    case STYLE_FORM:
        return (struct text_style){PICTURE_SANS, FORM_SIZE, palette->text};
    case STYLE_NOTE:
        return (struct text_style){PICTURE_SANS, NOTE_SIZE, palette->faint};
    case STYLE_CODE:
        break;
    }
    return (struct text_style){PICTURE_MONO, CODE_SIZE, palette->code};
}

/* ---- texts ---- */

/* ---- measuring ---- */

static void content_texts(struct content *content,
                          struct sheet *sheet,
                          const struct flow_node *node,
                          const struct box_options *options)
{
    bool is_long = options->detail != BOX_SHORT;
    /* What is equal is there to find one's way: its values are of no interest. */
    bool is_quiet = node->mark == FLOW_MARK_EQUAL;

    content->name = sheet_clean(sheet, node->name);
    content->place = box_place(sheet, node, options);
    content->form = box_form(sheet, node);
    content->times = box_times(sheet, node->count);
    content->alarm = box_alarm(sheet, node);
    pill_of_mark(&content->pills, sheet, node->mark);
    if (is_long || (node->flags & FLOW_NODE_GUESSED) != 0) {
        pills_of_node(&content->pills, sheet, node);
    }
    remark_prepare(&content->remark, sheet, node, TEXT_WIDTH_MAX);
    if (is_long) {
        content->note = box_note(sheet, node);
        content->code = sheet_clean(sheet, node->code);
    }
    if (is_long && !is_quiet) {
        figures_prepare(&content->figures, sheet, node, FIGURES_WIDTH);
    }
    if (options->detail == BOX_FULL && !is_quiet) {
        table_prepare(&content->table, sheet, node, &options->limits);
    }
}

static double times_width(const struct content *content)
{
    return content->times.width > 0 ? content->times.width + PILL_GAP : 0;
}

static double place_width(const struct content *content, const struct sheet *sheet)
{
    return content->place.size > 0
               ? PLACE_GAP + style_width(box_style(sheet, STYLE_PLACE), content->place)
               : 0;
}

/* The box is as wide as its widest part, but texts are shortened rather than make it wide. */
static void content_width(struct content *content, struct sheet *sheet)
{
    double width = WIDTH_LEAST;
    double most = fmax(TEXT_WIDTH_MAX, content->table.width);
    double beside = times_width(content) + place_width(content, sheet);
    const struct slice texts[] = {content->form, content->note};
    const enum style_kind kinds[] = {STYLE_FORM, STYLE_NOTE};

    width =
        fmax(width, style_width(box_style(sheet, STYLE_NAME), content->name) + beside);
    width = fmax(width, style_width(box_style(sheet, STYLE_CODE), content->code) +
                            2 * CODE_PADDING);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        width = fmax(width, style_width(box_style(sheet, kinds[i]), texts[i]));
    }
    width = fmax(width, pills_width(&content->pills, TEXT_WIDTH_MAX));
    width = fmax(width, remark_width(&content->remark, sheet));
    width = fmax(width, content->alarm.width);
    width = fmin(width, most);
    width = fmax(width, content->table.width);
    content->width = ceil(fmax(width, content->figures.width));
    content->name = sheet_shorten(sheet, box_style(sheet, STYLE_NAME), content->name,
                                  content->width - beside, SHORTEN_MIDDLE);
    content->form = sheet_shorten(sheet, box_style(sheet, STYLE_FORM), content->form,
                                  content->width, SHORTEN_MIDDLE);
    content->note = sheet_shorten(sheet, box_style(sheet, STYLE_NOTE), content->note,
                                  content->width, SHORTEN_MIDDLE);
    content->code = sheet_shorten(sheet, box_style(sheet, STYLE_CODE), content->code,
                                  content->width - 2 * CODE_PADDING, SHORTEN_MIDDLE);
}

/* ---- drawing, from top to bottom ---- */

static double head_draw(const struct content *content, struct sheet *sheet, double y)
{
    struct text_style place = box_style(sheet, STYLE_PLACE);
    double right = PADDING_LEFT + content->width;
    double x = PADDING_LEFT;

    x += sheet_text(sheet, box_style(sheet, STYLE_NAME), x, y + NAME_SIZE - 0.5,
                    content->name);
    if (content->times.width > 0) {
        pill_draw(sheet, &content->times, x + PILL_GAP, y + 0.5);
    }
    sheet_text(sheet, place, right - style_width(place, content->place),
               y + NAME_SIZE - 0.5, content->place);
    return y + NAME_HEIGHT;
}

static double line_draw(struct sheet *sheet,
                        enum style_kind kind,
                        struct slice text,
                        double y,
                        double height)
{
    if (text.size == 0) {
        return y;
    }
    sheet_text(sheet, box_style(sheet, kind), PADDING_LEFT, y + height - 3, text);
    return y + height;
}

static void code_draw(const struct content *content, struct sheet *sheet, double y)
{
    struct picture_item *item =
        sheet_rectangle(sheet, PADDING_LEFT, y, content->width, CODE_HEIGHT);

    item->radius = 2.5;
    item->fill = sheet->palette->code_fill;
    sheet_text(sheet, box_style(sheet, STYLE_CODE), PADDING_LEFT + CODE_PADDING,
               y + CODE_HEIGHT - 4.0, content->code);
}

static double content_height(const struct content *content)
{
    double y = PADDING_TOP + NAME_HEIGHT;

    y += content->form.size > 0 ? FORM_HEIGHT : 0;
    y += content->pills.count > 0 ? pills_height(&content->pills, content->width) + GAP
                                  : 0;
    y += remark_height(&content->remark);
    y += content->note.size > 0 ? NOTE_HEIGHT : 0;
    y += content->table.block_count > 0 ? content->table.height + GAP : 0;
    y += content->figures.count > 0 ? content->figures.height : 0;
    y += content->alarm.width > 0 ? PILL_HEIGHT + GAP : 0;
    y += content->code.size > 0 ? CODE_HEIGHT + GAP : 0;
    return y + PADDING_BOTTOM;
}

static void content_draw(const struct content *content, struct sheet *sheet)
{
    double y = head_draw(content, sheet, PADDING_TOP);

    y = line_draw(sheet, STYLE_FORM, content->form, y, FORM_HEIGHT);
    if (content->pills.count > 0) {
        pills_draw(&content->pills, sheet, PADDING_LEFT, y + GAP / 2, content->width);
        y += pills_height(&content->pills, content->width) + GAP;
    }
    remark_draw(&content->remark, sheet, PADDING_LEFT, y);
    y += remark_height(&content->remark);
    y = line_draw(sheet, STYLE_NOTE, content->note, y, NOTE_HEIGHT);
    if (content->table.block_count > 0) {
        table_draw(&content->table, sheet, PADDING_LEFT, y + GAP / 2);
        y += content->table.height + GAP;
    }
    if (content->figures.count > 0) {
        figures_draw(&content->figures, sheet, PADDING_LEFT, y);
        y += content->figures.height;
    }
    if (content->alarm.width > 0) {
        pill_draw(sheet, &content->alarm, PADDING_LEFT, y + GAP / 2);
        y += PILL_HEIGHT + GAP;
    }
    if (content->code.size > 0) {
        code_draw(content, sheet, y + GAP);
    }
}

/* `y  line 5`, and all that is said of a marked one. */
static struct slice title_of(const struct content *content,
                             struct sheet *sheet,
                             const struct flow_node *node)
{
    struct buffer *text = &sheet->scratch;
    struct slice remark = sheet_clean(sheet, node->remark);

    text->size = 0;
    buffer_add(text, content->name);
    buffer_add(text, SLICE("  "));
    buffer_add(text, content->place);
    if (node->mark != FLOW_MARK_NONE) {
        buffer_add(text, SLICE("  "));
        buffer_add(text, mark_word(node->mark));
    }
    if (remark.size > 0) {
        buffer_add(text, SLICE(": "));
        buffer_add(text, remark);
    }
    return sheet_keep(sheet);
}

void box_draw(struct box *box,
              struct sheet *sheet,
              const struct flow_node *node,
              const struct box_options *options)
{
    struct content content = {.width = 0};
    struct card card = {.role = role_of(node), .mark = node->mark};

    content_texts(&content, sheet, node, options);
    content_width(&content, sheet);
    box->width = content.width + PADDING_LEFT + PADDING_RIGHT;
    box->height = content_height(&content);
    card.is_alarming = content.alarm.width > 0;
    box->first_item = sheet->picture->item_count;
    sheet_begin(sheet, "node", title_of(&content, sheet, node));
    card_draw(sheet, &card, 0, 0, box->width, box->height);
    content_draw(&content, sheet);
    sheet_end(sheet);
    box->item_count = sheet->picture->item_count - box->first_item;
}

void box_move(const struct box *box, struct picture *picture, double x, double y)
{
    for (size_t i = 0; i < box->item_count; i++) {
        picture->items[box->first_item + i].x += x;
        picture->items[box->first_item + i].y += y;
    }
}
