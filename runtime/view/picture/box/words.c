/* What is written in the box of a node. */
#include "runtime/view/picture/box/words.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/tensor_text.h"

#define DIMENSION_LIMIT 12 /* of longer shapes the ends are shown */

struct slice box_place(struct sheet *sheet,
                       const struct flow_node *node,
                       const struct box_options *options)
{
    struct buffer *text = &sheet->scratch;
    struct slice file = path_last_part(node->file);

    text->size = 0;
    if (options->has_files && file.size > 0) {
        buffer_add(text, sheet_shorten(sheet, box_style(sheet, STYLE_PLACE),
                                       sheet_clean(sheet, file), 110, SHORTEN_START));
        buffer_add_byte(text, ':');
    } else if (node->line > 0) {
        buffer_add(text, SLICE("line "));
    }
    if (node->line > 0) {
        buffer_add_number(text, node->line);
    }
    return sheet_keep(sheet);
}

static void add_dimensions(struct buffer *text, const int64_t *shape, uint32_t count)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (count > DIMENSION_LIMIT && i == DIMENSION_LIMIT / 2) {
            buffer_add(text, SLICE(", \xE2\x80\xA6"));
            i = count - DIMENSION_LIMIT / 2;
        }
        if (i > 0) {
            buffer_add(text, SLICE(", "));
        }
        integer_add(text, shape[i]);
    }
    buffer_add_byte(text, ']');
}

static void add_part(struct buffer *text, struct slice part)
{
    if (part.size == 0) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE("  "));
    }
    buffer_add_bytes(text, part.bytes, part.size < 80 ? part.size : 80);
}

struct slice box_form(struct sheet *sheet, const struct flow_node *node)
{
    struct buffer *text = &sheet->scratch;
    bool is_scalar = slice_equal(node->type, node->dtype_text);

    text->size = 0;
    if (node->kind != VALUE_TENSOR) {
        return sheet_clean(sheet, node->text);
    }
    if (node->takes.size > 0) {
        add_part(text, node->takes);
        buffer_add(text, SLICE(" \xE2\x86\x92"));
    }
    if (node->type.size > 0 && !is_scalar) {
        add_part(text, type_without_main(node->type));
    } else if ((node->flags & FLOW_NODE_PARAMETER) != 0) {
        add_part(text, SLICE("Parameter"));
    }
    add_part(text, node->dtype_text);
    buffer_add_byte(text, ' ');
    add_dimensions(text, node->shape, node->dimension_count);
    if (!slice_equal(node->layout, SLICE("strided"))) {
        add_part(text, node->layout);
    }
    if (!slice_equal(node->device, SLICE("cpu"))) {
        add_part(text, node->device);
    }
    if (node->requires_grad) {
        add_part(text, SLICE("grad"));
    }
    return sheet_keep(sheet);
}

static bool is_empty(const struct flow_node *node)
{
    for (uint32_t i = 0; i < node->dimension_count; i++) {
        if (node->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

struct slice box_note(struct sheet *sheet, const struct flow_node *node)
{
    if ((node->flags & FLOW_NODE_CALL) != 0) {
        return sheet_clean(sheet, node->inside);
    }
    if (node->kind != VALUE_TENSOR) {
        return SLICE("");
    }
    if (node->note.size > 0) {
        return sheet_clean(sheet, node->note);
    }
    if (is_empty(node)) {
        return SLICE("empty: no values");
    }
    return node->has_statistics && statistics_finite_count(&node->statistics) == 0
               ? SLICE("no finite value")
               : SLICE("");
}

static void add_count(struct buffer *text, uint64_t count, struct slice noun)
{
    if (count == 0) {
        return;
    }
    if (text->size > 0) {
        buffer_add(text, SLICE(", "));
    }
    buffer_add_number(text, count);
    buffer_add(text, noun);
}

struct pill box_alarm(struct sheet *sheet, const struct flow_node *node)
{
    struct buffer *text = &sheet->scratch;
    struct pills pills = {.count = 0};
    bool has_all = node->count > 1;
    const struct statistics *one = &node->statistics;

    text->size = 0;
    if (has_all || node->has_statistics) {
        add_count(text, has_all ? node->nan_count : one->nan_count, SLICE(" NaN"));
        add_count(text, has_all ? node->posinf_count : one->posinf_count,
                  SLICE(" +Inf"));
        add_count(text, has_all ? node->neginf_count : one->neginf_count,
                  SLICE(" -Inf"));
    }
    if (text->size > 0 && !has_all) {
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, one->count);
    }
    if (text->size == 0 && (node->flags & FLOW_NODE_NONFINITE) != 0) {
        buffer_add(text, (node->flags & FLOW_NODE_CALL) != 0 ? SLICE("NaN inside")
                                                             : SLICE("not finite"));
    }
    pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->alarm,
             sheet->palette->on_alarm);
    return pills.count > 0 ? pills.pills[0] : (struct pill){.width = 0};
}

struct pill box_times(struct sheet *sheet, uint64_t count)
{
    struct pills pills = {.count = 0};

    if (count < 2) {
        return (struct pill){.width = 0};
    }
    sheet->scratch.size = 0;
    buffer_add(&sheet->scratch, SLICE("\xC3\x97 "));
    buffer_add_number(&sheet->scratch, count);
    pill_add(&pills, sheet, sheet_keep(sheet), sheet->palette->source,
             sheet->palette->card);
    return pills.pills[0];
}
