/* The block of labelled lines under a verdict. */
#include "runtime/view/words/verdict_text.h"

#include "runtime/view/words/paint.h"

#include <stdio.h>
#include <string.h>

#define SOURCE_LIMIT 400

void verdict_label_add(struct buffer *text, const char *label, bool has_color)
{
    size_t size = strlen(label);

    buffer_add(text, SLICE("  "));
    paint_start(text, has_color, PAINT_PLACE);
    buffer_add_bytes(text, label, size);
    paint_end(text, has_color);
    text_add_blanks(text, size < VERDICT_LABEL_WIDTH ? VERDICT_LABEL_WIDTH - size : 1);
}

void verdict_source_add(struct buffer *text,
                        uint32_t line,
                        struct slice source,
                        bool has_color)
{
    char label[24];

    if (source.size > 0) {
        snprintf(label, sizeof label, "%lu |", (unsigned long)line);
        verdict_label_add(text, label, has_color);
        text_add_shortened(text, source, SOURCE_LIMIT);
        buffer_add_byte(text, '\n');
    }
}

void verdict_lines_add(struct buffer *text,
                       const char *label,
                       struct slice lines,
                       bool has_color)
{
    size_t start = 0;

    while (start < lines.size) {
        size_t end = slice_find(lines, SLICE("\n"), start);

        verdict_label_add(text, label, has_color);
        buffer_add(text, slice_part(lines, start, end));
        buffer_add_byte(text, '\n');
        label = "";
        start = end + 1;
    }
}
