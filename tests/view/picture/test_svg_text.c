/* Pictures as SVG. With the argument `-` a graph is drawn whose names are what standard input
 * holds, separated by NUL bytes, and the SVG is written: for tests/view/picture/test_svg.py. */
#include "runtime/base/memory.h"
#include "runtime/view/picture/paint/svg_text.h"
#include "tests/unit/check.h"
#include "tests/view/picture/picture_graphs.h"

#include <unistd.h>

#define INPUT_LIMIT ((size_t)1 << 22)

static bool svg_of(struct buffer *text,
                   const struct flow_graph *graph,
                   const struct picture_options *options)
{
    struct picture picture;
    struct error error = ERROR_INIT;
    bool is_done;

    picture_init(&picture);
    is_done =
        picture_draw(&picture, graph, options, &error) && svg_text_add(text, &picture);
    picture_release(&picture);
    return is_done;
}

/* ---- from standard input ---- */

static struct slice read_input(void)
{
    char *bytes = malloc(INPUT_LIMIT);
    size_t size = 0;
    ssize_t got;

    while (bytes != NULL && size < INPUT_LIMIT &&
           (got = read(0, bytes + size, INPUT_LIMIT - size)) > 0) {
        size += (size_t)got;
    }
    return (struct slice){bytes, bytes == NULL ? 0 : size};
}

static struct slice next_name(struct slice *input)
{
    const char *end = memchr(input->bytes, '\0', input->size);
    size_t size = end == NULL ? input->size : (size_t)(end - input->bytes);
    struct slice name = {input->bytes, size};

    size += end != NULL;
    input->bytes += size;
    input->size -= size;
    return name;
}

/* Each name is used in every place that a trace's texts come to. */
static int draw_names(void)
{
    struct slice input = read_input();
    char *bytes = (char *)(uintptr_t)input.bytes;
    struct flow_graph graph;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct buffer text = BUFFER_INIT;
    bool is_done;

    hand_graph_init(&graph, 64, 64, 1);
    hand_group(&graph, FLOW_GROUP_CALL, FLOW_NONE)->function = SLICE("f");
    while (input.size > 0 && graph.node_count < 64) {
        struct slice name = next_name(&input);
        struct flow_node *node = hand_node(&graph, "", 1, "", 0);

        hand_random_tensor(&graph, node, 1, (int64_t[]){3});
        node->name = node->code = node->file = node->note = node->device = name;
        node->type = node->guess = node->changed_by = node->dtype_text = name;
        node->flags = FLOW_NODE_GUESSED | FLOW_NODE_ALIAS;
        graph.file = options.title = name;
        graph.groups[0].path = graph.groups[0].class_name = name;
        if (graph.node_count > 1) {
            hand_edge(&graph, GRAPH_VALUE, graph.node_count - 2, graph.node_count - 1);
        }
    }
    is_done = svg_of(&text, &graph, &options) &&
              fwrite(text.bytes, 1, text.size, stdout) == text.size;
    buffer_release(&text);
    hand_graph_release(&graph);
    free(bytes);
    return is_done ? 0 : 1;
}

/* ---- one item ---- */

static void check_item(struct picture_item item, const char *wanted)
{
    struct picture_point points[] = {{0, 0}, {0, 10}, {0, 20}, {0, 30.129}};
    struct picture picture = {.scale = 1,
                              .width = 10,
                              .height = 20.5,
                              .items = &item,
                              .item_count = 1,
                              .points = points,
                              .point_count = 4};
    struct buffer text = BUFFER_INIT;
    size_t start;

    CHECK(svg_text_add(&text, &picture));
    start = slice_find(buffer_slice(&text), SLICE("role=\"img\">\n"), 0) + 12;
    if (CHECK(start < text.size)) {
        CHECK_TEXT(slice_part(buffer_slice(&text), start, text.size - 7), wanted);
    }
    CHECK(slice_starts(buffer_slice(&text), SLICE("<?xml version=\"1.0\"")));
    CHECK(slice_ends(buffer_slice(&text), SLICE("</svg>\n")));
    CHECK(slice_find(buffer_slice(&text),
                     SLICE("width=\"10pt\" height=\"20.5pt\" viewBox=\"0 0 10 20.5\""),
                     0) < text.size);
    buffer_release(&text);
}

static void test_items(void)
{
    check_item((struct picture_item){.kind = PICTURE_RECTANGLE,
                                     .x = -0.5,
                                     .y = 1.005,
                                     .width = 3,
                                     .height = 0.25,
                                     .radius = 2,
                                     .fill = 0x0A0B0CFF,
                                     .stroke = 0xFF000080,
                                     .stroke_width = 0.75,
                                     .dash = 4},
               "<rect x=\"-.5\" y=\"1\" width=\"3\" height=\".25\" rx=\"2\" "
               "fill=\"#0a0b0c\" stroke=\"#ff0000\" stroke-opacity=\".5\" "
               "stroke-width=\".75\" stroke-dasharray=\"4\"/>\n");
    check_item((struct picture_item){.kind = PICTURE_RECTANGLE, .x = NAN, .y = 1e300},
               "<rect x=\"0\" y=\"0\" width=\"0\" height=\"0\" fill=\"none\"/>\n");
    check_item((struct picture_item){.kind = PICTURE_TEXT,
                                     .width = 12.345,
                                     .size = 7,
                                     .fill = 0x000000FF,
                                     .text = SLICE("a<b>&\"c\"\x01\xFF\xEF\xBF\xBF")},
               "<text x=\"0\" y=\"0\" font-size=\"7\" fill=\"#000000\" "
               "textLength=\"12.35\" lengthAdjust=\"spacingAndGlyphs\">a&lt;b&gt;&amp;"
               "&quot;c&quot;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD</text>\n");
    check_item((struct picture_item){.kind = PICTURE_TEXT,
                                     .width = 5,
                                     .size = 7,
                                     .face = PICTURE_SANS_BOLD,
                                     .fill = 0x000000FF,
                                     .is_right_to_left = true,
                                     .text = SLICE("\xD7\xA9")},
               "<text x=\"0\" y=\"0\" font-size=\"7\" font-weight=\"bold\" "
               "fill=\"#000000\" direction=\"rtl\" unicode-bidi=\"embed\" "
               "text-anchor=\"end\" textLength=\"5\" "
               "lengthAdjust=\"spacingAndGlyphs\">\xD7\xA9</text>\n");
    check_item((struct picture_item){.kind = PICTURE_CURVE,
                                     .stroke = 0x112233FF,
                                     .stroke_width = 1,
                                     .point_count = 4},
               "<path d=\"M0 0C0 10 0 20 0 30.13\" fill=\"none\" stroke=\"#112233\" "
               "stroke-width=\"1\"/>\n");
    check_item((struct picture_item){.kind = PICTURE_CURVE, .point_count = 3}, "");
    check_item((struct picture_item){.kind = PICTURE_POLYLINE,
                                     .stroke = 0x112233FF,
                                     .stroke_width = 1,
                                     .point_count = 3},
               "<polyline points=\"0 0 0 10 0 20\" fill=\"none\" "
               "stroke-linejoin=\"round\" stroke-linecap=\"round\" "
               "stroke=\"#112233\" stroke-width=\"1\"/>\n");
    check_item((struct picture_item){.kind = PICTURE_POLYLINE, .point_count = 1}, "");
    check_item((struct picture_item){.kind = PICTURE_GROUP_BEGIN,
                                     .text = SLICE("node"),
                                     .title = SLICE("x & y")},
               "<g class=\"node\"><title>x &amp; y</title>\n");
    check_item((struct picture_item){.kind = PICTURE_GROUP_END}, "</g>\n");
}

/* The tip is where the curve pointed to before room was made for the head. */
static void test_arrow(void)
{
    struct picture_point points[] = {{5, 0}, {5, 10}, {5, 20}, {5, 30}};
    struct picture picture = {.points = points, .point_count = 4};
    struct picture_item curve = {
        .kind = PICTURE_CURVE, .stroke_width = 1, .has_arrow = true, .point_count = 4};
    struct picture_point corners[3];

    picture_arrow(&picture, &curve, corners);
    CHECK(corners[0].x == 5 && corners[0].y > 33);
    CHECK(corners[1].y < 30 && corners[2].y == corners[1].y);
    CHECK(fabs((corners[1].x + corners[2].x) / 2 - 5) < 1e-9);
    CHECK(fabs(corners[1].x - corners[2].x) > 4);
    /* All in one place: it points down. */
    points[0] = points[1] = points[2] = points[3];
    picture_arrow(&picture, &curve, corners);
    CHECK(corners[0].x == 5 && corners[0].y > 33);
}

static void test_same_bytes(void)
{
    struct flow_graph graph;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct buffer a = BUFFER_INIT;
    struct buffer b = BUFFER_INIT;

    hand_graph_fill(&graph);
    CHECK(svg_of(&a, &graph, &options) && svg_of(&b, &graph, &options));
    CHECK(a.size > 10000 && slice_equal(buffer_slice(&a), buffer_slice(&b)));
    b.size = 0;
    options.theme = PICTURE_DARK;
    CHECK(svg_of(&b, &graph, &options));
    CHECK(!slice_equal(buffer_slice(&a), buffer_slice(&b)));
    buffer_release(&a);
    buffer_release(&b);
    hand_graph_release(&graph);
}

static void test_failures(void)
{
    struct flow_graph graph;
    struct picture picture;
    struct picture_options options = PICTURE_OPTIONS_DEFAULT;
    struct error error = ERROR_INIT;
    bool is_done = false;
    size_t count = 0;

    hand_graph_fill(&graph);
    picture_init(&picture);
    CHECK(picture_draw(&picture, &graph, &options, &error));
    for (count = 1; !is_done && count < 100; count++) {
        struct buffer text = BUFFER_INIT;

        memory_fail_after(count, true);
        is_done = svg_text_add(&text, &picture);
        memory_fail_after(0, false);
        buffer_release(&text);
    }
    CHECK(is_done && count > 3);
    picture_release(&picture);
    hand_graph_release(&graph);
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 1 && strcmp(arguments[1], "-") == 0) {
        return draw_names();
    }
    test_items();
    test_arrow();
    test_same_bytes();
    test_failures();
    return check_finish();
}
