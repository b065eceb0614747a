/* Call trees, graphs and their pictures: nothing leaves its place, and each failing allocation is
 * an error. The rules of trees and labels are held against a model by tests/python/spy. */
#include "runtime/base/memory.h"
#include "runtime/view/calls/graph.h"
#include "runtime/view/calls/trace.h"
#include "tests/unit/check.h"

#include <stdlib.h>

#define PATH_MAX_COUNT 120

/* ---- paths made by chance ---- */

struct paths {
    char texts[PATH_MAX_COUNT][160];
    struct call_path list[PATH_MAX_COUNT];
    size_t count;
};

static uint32_t chance(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static void make_paths(struct paths *paths, uint32_t seed)
{
    static const char *const words[] = {
        "encoder", "layers", "0", "1", "2", "attn", "a_very_long_name_of_a_module",
        "norm",    "root",   "17"};
    uint32_t state = seed;

    paths->count = chance(&state, PATH_MAX_COUNT);
    for (size_t i = 0; i < paths->count; i++) {
        char *text = paths->texts[i];
        uint32_t depth = 1 + chance(&state, 5);

        text[0] = '\0';
        for (uint32_t k = 0; k < depth; k++) {
            char name[32];

            snprintf(name, sizeof name, "block%u", (unsigned)chance(&state, 20));
            strcat(text, k > 0 ? "." : "");
            strcat(text, seed % 3 == 0 /* wide */
                             ? name
                             : words[chance(&state, sizeof words / sizeof *words)]);
        }
        paths->list[i] = (struct call_path){
            slice_of(text),
            chance(&state, 3) == 0
                ? SLICE("[2, 1, 32], [2, 10, 32], [2, 10, 32], [8] -> [2, 1, 32]")
                : SLICE("")};
    }
}

static struct call_graph_options options_of(uint32_t seed)
{
    return (struct call_graph_options){(seed & 1) != 0, (seed & 2) != 0,
                                       (seed & 4) != 0, (seed & 8) != 0};
}

/* ---- pictures ---- */

struct card {
    double x, y, width, height;
};

static bool overlap(const struct card *a, const struct card *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width &&
           a->y < b->y + b->height && b->y < a->y + a->height;
}

static bool holds(const struct card *card, const struct picture_item *text)
{
    return text->x >= card->x && text->x + text->width <= card->x + card->width &&
           text->y >= card->y && text->y <= card->y + card->height;
}

static double bezier(double a, double b, double c, double d, double t)
{
    double s = 1 - t;

    return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
}

/* How often arrows run through cards. */
static size_t count_crossed(const struct picture *picture,
                            const struct card *cards,
                            size_t card_count,
                            const struct picture_item *curve)
{
    size_t crossed = 0;

    for (size_t i = 0; i + 3 < curve->point_count; i += 3) {
        const struct picture_point *p = picture->points + curve->first_point + i;

        for (double t = 0.05; t < 1; t += 0.05) {
            const struct card dot = {bezier(p[0].x, p[1].x, p[2].x, p[3].x, t) - 1,
                                     bezier(p[0].y, p[1].y, p[2].y, p[3].y, t) - 1, 2,
                                     2};

            for (size_t k = 0; k < card_count; k++) {
                const struct card inside = {cards[k].x + 2, cards[k].y + 2,
                                            cards[k].width - 4, cards[k].height - 4};

                crossed += overlap(&dot, &inside);
            }
        }
    }
    return crossed;
}

/* Cards are the first rectangles of the groups of class "node". */
static void check_picture(const struct picture *picture, uint32_t drawn_count)
{
    struct card *cards = calloc(drawn_count + 1, sizeof *cards);
    size_t count = 0;
    size_t wrong = 0;
    bool is_node = false;

    for (size_t i = 0; i < picture->item_count; i++) {
        const struct picture_item *item = &picture->items[i];

        if (item->kind == PICTURE_GROUP_BEGIN) {
            is_node = slice_equal(item->text, SLICE("node"));
            if (is_node && count < drawn_count) {
                item++;
                cards[count++] =
                    (struct card){item->x, item->y, item->width, item->height};
                wrong += item->x < 0 || item->x + item->width > picture->width ||
                         item->y < 0 || item->y + item->height > picture->height;
            }
        } else if (item->kind == PICTURE_TEXT && is_node) {
            wrong += !holds(&cards[count - 1], item);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            wrong += overlap(&cards[i], &cards[k]);
        }
    }
    for (size_t i = 0; i < picture->point_count; i++) {
        const struct picture_point *point = &picture->points[i];

        wrong += point->x < 0 || point->x > picture->width || point->y < 0 ||
                 point->y > picture->height;
    }
    for (size_t i = 0; i < picture->item_count; i++) {
        if (picture->items[i].kind == PICTURE_CURVE) {
            wrong += count_crossed(picture, cards, count, &picture->items[i]);
        }
    }
    CHECK(count == drawn_count);
    CHECK(wrong == 0);
    CHECK(picture->page_count == 1);
    free(cards);
}

static bool draw(const struct paths *paths, uint32_t seed, bool is_checked)
{
    const struct call_graph_options options = options_of(seed);
    const struct call_picture_options inspect = {
        .title = (seed & 16) != 0 ? SLICE("t") : SLICE(""),
        .page = {(seed & 32) != 0 ? 8 : 0, (seed & 64) != 0 ? 5 : 0},
    };
    struct error error = ERROR_INIT;
    struct call_tree tree;
    struct call_graph graph;
    struct picture picture;
    struct buffer text = BUFFER_INIT;
    bool is_done;

    call_tree_init(&tree);
    call_graph_init(&graph);
    picture_init(&picture);
    is_done = call_tree_build(&tree, paths->list, paths->count, &error) &&
              call_graph_build(&graph, &tree, &options, &error) &&
              call_graph_draw(&graph, &inspect, &picture, &error);
    CHECK(is_done == (error.kind == ERROR_NONE));
    if (is_done) {
        is_done = call_tree_add_json(&tree, &text) &&
                  call_graph_add_dot(&graph, NULL, 0, &text) &&
                  (options.merges_names || call_graph_add_text(&graph, true, &text));
    }
    if (is_checked) {
        CHECK(is_done);
        check_picture(&picture, graph.drawn_count);
    }
    buffer_release(&text);
    picture_release(&picture);
    call_graph_release(&graph);
    call_tree_release(&tree);
    return is_done;
}

static void test_pictures(void)
{
    struct paths paths;

    for (uint32_t seed = 0; seed < 400; seed++) {
        make_paths(&paths, seed);
        draw(&paths, seed, true);
    }
}

static void test_allocations(void)
{
    struct paths paths;
    size_t failed_count = 0;

    for (uint32_t seed = 1; seed < 64; seed += 20) {
        bool is_done = false;

        make_paths(&paths, seed);
        for (size_t i = 1; !is_done && i < 5000; i++) {
            memory_fail_after(i, i % 2 == 0);
            is_done = draw(&paths, seed, false);
            memory_fail_after(0, false);
            failed_count += !is_done;
        }
        CHECK(is_done);
    }
    CHECK(failed_count > 100);
}

/* ---- texts ---- */

static void test_text(void)
{
    struct call_trace trace;

    call_trace_init(&trace);
    CHECK(call_trace_read_text(&trace, SLICE(" a.b \r\n\n\t \nc\t[2] -> [3]\nd")));
    CHECK(trace.count == 3);
    CHECK_TEXT(trace.paths[0].path, "a.b");
    CHECK_TEXT(trace.paths[1].path, "c");
    CHECK_TEXT(trace.paths[1].shape, "[2] -> [3]");
    CHECK_TEXT(trace.paths[2].path, "d");
    CHECK_TEXT(trace.paths[2].shape, "");
    call_trace_release(&trace);
}

static void test_indices(void)
{
    uint64_t index = 0;

    CHECK(call_index_read(SLICE("007"), &index) && index == 7);
    CHECK(call_index_read(SLICE("999999999999999999"), &index) &&
          index == 999999999999999999u);
    CHECK(!call_index_read(SLICE("1000000000000000000"), &index));
    CHECK(!call_index_read(SLICE(""), &index));
    CHECK(!call_index_read(SLICE("1a"), &index));
}

static void test_deep(void)
{
    enum { DEPTH = 30000 };
    char *text = malloc(2 * DEPTH);
    struct call_path path = {{text, 2 * DEPTH - 1}, SLICE("")};
    struct error error = ERROR_INIT;
    struct call_tree tree;
    struct call_graph graph;
    struct buffer json = BUFFER_INIT;

    for (size_t i = 0; i < DEPTH; i++) {
        text[2 * i] = 'a';
        text[2 * i + 1] = '.';
    }
    call_tree_init(&tree);
    call_graph_init(&graph);
    CHECK(call_tree_build(&tree, &path, 1, &error));
    CHECK(tree.node_count == DEPTH + 1);
    CHECK(call_graph_build(&graph, &tree, &CALL_GRAPH_OPTIONS_DEFAULT, &error));
    CHECK(graph.drawn_count == DEPTH - 1);
    CHECK(call_tree_add_json(&tree, &json));
    CHECK(call_graph_add_text(&graph, false, &json));
    buffer_release(&json);
    call_graph_release(&graph);
    call_tree_release(&tree);
    free(text);
}

int main(void)
{
    test_text();
    test_indices();
    test_deep();
    test_pictures();
    test_allocations();
    return check_finish();
}
