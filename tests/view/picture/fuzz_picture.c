/* Any bytes as a trace (short_trace.h says how), drawn: what the picture's header promises
 * holds, its SVG is printable text with a tag closed for each one opened, and it can be painted. */
#include "runtime/base/buffer.h"
#include "runtime/base/utf8.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/picture/paint/svg_text.h"
#include "runtime/view/picture/picture.h"
#include "runtime/view/walk/source_lines.h"
#include "tests/fuzz/claim.h"
#include "tests/fuzz/short_trace.h"
#include "tests/view/picture/leaks.h"

#include <math.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct slice text)
{
    claim(utf8_find_invalid(text) == text.size);
    for (size_t i = 0; i < text.size;) {
        uint32_t code = 0;

        i += utf8_read(text, i, &code);
        claim(utf8_is_printable(code));
    }
}

static void check_items(const struct picture *picture)
{
    long depth = 0;

    for (size_t i = 0; i < picture->item_count; i++) {
        const struct picture_item *item = &picture->items[i];

        claim(isfinite(item->x) && isfinite(item->y));
        claim(isfinite(item->width) && item->width >= 0);
        claim(isfinite(item->height) && item->height >= 0);
        check_text(item->text);
        check_text(item->title);
        depth += item->kind == PICTURE_GROUP_BEGIN;
        depth -= item->kind == PICTURE_GROUP_END;
        claim(depth >= 0);
        if (item->kind == PICTURE_CURVE) {
            claim(item->point_count % 3 == 1);
            claim(item->point_count <= picture->point_count);
            claim(item->first_point <= picture->point_count - item->point_count);
        }
    }
    claim(depth == 0);
}

static void check_picture(const struct picture *picture)
{
    claim(picture->width > 0 && isfinite(picture->width));
    claim(picture->height > 0 && isfinite(picture->height));
    claim(picture->page_count > 0);
    for (size_t i = 0; i < picture->page_count; i++) {
        claim(picture->pages[i].width > 0 && picture->pages[i].height > 0);
    }
    check_items(picture);
}

/* Markup in texts is escaped, so that each `<` belongs to a tag. */
static void check_svg(const struct picture *picture)
{
    struct buffer svg = BUFFER_INIT;
    long depth = 0;

    claim(svg_text_add(&svg, picture));
    claim(utf8_find_invalid(buffer_slice(&svg)) == svg.size);
    for (size_t i = 0; i + 1 < svg.size; i++) {
        unsigned char byte = (unsigned char)svg.bytes[i];

        claim(byte == '\n' || (byte >= ' ' && byte != 0x7F));
        if (byte == '<' && svg.bytes[i + 1] != '?' && svg.bytes[i + 1] != '!') {
            depth += svg.bytes[i + 1] == '/' ? -1 : 1;
        }
        depth -= byte == '/' && svg.bytes[i + 1] == '>';
        claim(depth >= 0);
    }
    claim(depth == 0);
    buffer_release(&svg);
}

static void paint(const struct picture *picture)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    claim(cairo_paint_pdf(picture, 595, 842, &bytes, &error));
    bytes.size = 0;
    if (picture->width * picture->height < 4e6) {
        claim(cairo_paint_png(picture, 36, &bytes, &error));
    }
    buffer_release(&bytes);
}

static void draw(struct log_reader *reader,
                 enum flow_fold fold,
                 const struct picture_options *options)
{
    struct flow_options flow = {.fold = fold, .has_scalars = true, .max_nodes = 50};
    struct source_lines sources;
    struct error error = ERROR_INIT;
    struct flow_graph graph;
    struct picture picture;

    log_reader_rewind(reader);
    source_lines_init(&sources, reader, NULL);
    flow_graph_init(&graph);
    picture_init(&picture);
    claim(flow_graph_build(&graph, reader, &sources, &flow, &error));
    if (graph.node_count > 0) {
        claim(picture_draw(&picture, &graph, options, &error));
        check_picture(&picture);
        check_svg(&picture);
        paint(&picture);
    }
    picture_release(&picture);
    flow_graph_release(&graph);
    source_lines_release(&sources);
}

static void draw_all(struct log_reader *reader)
{
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;

    draw(reader, FLOW_FOLD_AUTO, &options);
    options.has_pages = true;
    options.theme = PICTURE_DARK;
    options.title = SLICE("a & <b>");
    options.proportion = 0;
    options.max_vector = 3;
    options.max_matrix = 1;
    options.max_slices = 1;
    draw(reader, FLOW_FOLD_NONE, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    short_trace_read(data, size, draw_all);
    return 0;
}
