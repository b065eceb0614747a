/* Groups: titled boxes around the boxes of a call or a loop. */
#include "runtime/view/picture/parts.h"

#define TITLE_SIZE       8.0
#define DETAIL_SIZE      6.5
#define TITLE_HEIGHT     15.0
#define PADDING          9.0
#define PART_GAP         6.0
#define NAME_WIDTH_MAX   200.0
#define DETAIL_WIDTH_MAX 180.0

static struct text_style name_style(const struct sheet *sheet, bool is_code)
{
    return (struct text_style){is_code ? PICTURE_MONO : PICTURE_SANS_BOLD,
                               is_code ? TITLE_SIZE - 0.5 : TITLE_SIZE,
                               sheet->palette->code};
}

static struct text_style detail_style(const struct sheet *sheet)
{
    return (struct text_style){PICTURE_SANS, DETAIL_SIZE, sheet->palette->faint};
}

static void
add_line(struct buffer *text, const struct flow_group *group, bool has_files)
{
    struct slice file = path_last_part(group->file);

    if (group->line == 0) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE("  "));
    }
    if (has_files && file.size > 0) {
        buffer_add(text, file);
        buffer_add_byte(text, ':');
    } else {
        buffer_add(text, SLICE("line "));
    }
    buffer_add_number(text, group->line);
}

/* The name of a class without its module. */
static struct slice last_name(struct slice path)
{
    size_t start = path.size;

    while (start > 0 && path.bytes[start - 1] != '.') {
        start--;
    }
    return slice_part(path, start, path.size);
}

static struct slice detail_of(struct sheet *sheet,
                              const struct flow_group *group,
                              const struct group_options *options)
{
    struct buffer *text = &sheet->scratch;
    struct slice class_name = last_name(group->class_name);

    text->size = 0;
    if (group->kind == FLOW_GROUP_CALL && group->path.size > 0) {
        buffer_add(text, group->function);
    }
    /* `Attention.forward` names the class already; an inherited forward does not. */
    if (class_name.size > 0 && !slice_starts(group->function, class_name)) {
        buffer_add(text, text->size > 0 ? SLICE("  of ") : SLICE("of "));
        buffer_add(text, class_name);
    }
    add_line(text, group, options->has_files);
    if (options->has_threads && group->parent == FLOW_NONE) {
        buffer_add(text, SLICE("  thread "));
        buffer_add_number(text, group->thread);
    }
    if (group->is_recursive) {
        buffer_add(text, SLICE("  recursive"));
    }
    return sheet_keep(sheet);
}

void group_measure(struct group_title *title,
                   struct layout_group *place,
                   struct sheet *sheet,
                   const struct flow_group *group,
                   const struct group_options *options)
{
    struct pills pills = {.count = 0};
    struct slice name = group->kind == FLOW_GROUP_LOOP ? group->code
                        : group->path.size > 0         ? group->path
                                                       : group->function;

    *title = (struct group_title){.is_code = group->kind == FLOW_GROUP_LOOP};
    title->name =
        sheet_shorten(sheet, name_style(sheet, title->is_code),
                      sheet_clean(sheet, name), NAME_WIDTH_MAX, SHORTEN_MIDDLE);
    title->detail =
        sheet_shorten(sheet, detail_style(sheet), detail_of(sheet, group, options),
                      DETAIL_WIDTH_MAX, SHORTEN_MIDDLE);
    title->width = style_width(name_style(sheet, title->is_code), title->name);
    if (group->count > 1) {
        sheet->scratch.size = 0;
        buffer_add(&sheet->scratch, SLICE("\xC3\x97 "));
        buffer_add_number(&sheet->scratch, group->count);
        pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->source,
                 sheet->palette->card);
        title->times = pills.pills[0];
        title->width += PART_GAP + title->times.width;
    }
    if (title->detail.size > 0) {
        title->width += PART_GAP + style_width(detail_style(sheet), title->detail);
    }
    place->title_width = title->width;
    place->title_height = title->width > 0 ? TITLE_HEIGHT : 0;
    place->padding = PADDING;
}

uint32_t group_color(const struct picture_palette *palette, unsigned depth)
{
    /* Deep groups alternate between two tints, so that each differs from the one around it and
     * none is dark. */
    static const double parts[] = {0.05, 0.09, 0.13};
    unsigned index = depth < 3 ? depth : 1 + (depth + 1) % 2;

    return color_mix(palette->background, palette->group_tint, parts[index]);
}

void group_draw(struct sheet *sheet,
                const struct flow_group *group,
                const struct group_title *title,
                const struct layout_group *place,
                double x,
                double y)
{
    bool is_loop = group->kind == FLOW_GROUP_LOOP;
    struct picture_item *item;
    double baseline = y + place->y + PADDING + TITLE_SIZE - 1.5;
    double at = x + place->x + PADDING;

    sheet_begin(sheet, is_loop ? "group loop" : "group call", title->name);
    item =
        sheet_rectangle(sheet, x + place->x, y + place->y, place->width, place->height);
    item->radius = 6.0;
    item->fill = group_color(sheet->palette, title->depth);
    item->stroke = sheet->palette->group_border;
    item->stroke_width = 0.75;
    item->dash = is_loop ? 4.0 : 0.0;
    at +=
        sheet_text(sheet, name_style(sheet, title->is_code), at, baseline, title->name);
    if (title->times.width > 0) {
        pill_draw(sheet, &title->times, at + PART_GAP, baseline - 8.0);
        at += PART_GAP + title->times.width;
    }
    sheet_text(sheet, detail_style(sheet), at + PART_GAP, baseline, title->detail);
    sheet_end(sheet);
}
