/* Charts of any numbers and names: a picture whose items make sense. The input is a byte of
 * options, then for each line a byte of its name's size, a byte of its count, name, and doubles. */
#include "runtime/base/utf8.h"
#include "runtime/view/picture/chart/chart.h"
#include "runtime/view/picture/paint/svg_text.h"
#include "tests/fuzz/claim.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LINE_MAX  40
#define POINT_MAX 256

struct input {
    const uint8_t *data;
    size_t size;
};

static double steps[POINT_MAX];
static double values[LINE_MAX][POINT_MAX];

static uint8_t measure(struct input *input)
{
    uint8_t byte = 0;

    if (input->size > 0) {
        byte = *input->data++;
        input->size--;
    }
    return byte;
}

static struct slice append_bytes(struct input *input, size_t size)
{
    struct slice used = {(const char *)input->data,
                         size < input->size ? size : input->size};

    input->data += used.size;
    input->size -= used.size;
    return used;
}

static void next_line(struct input *input, struct chart_line *line, double *numbers)
{
    size_t name_size = measure(input);
    size_t count = measure(input);
    struct slice bytes;

    line->name = append_bytes(input, name_size);
    bytes = append_bytes(input, count * sizeof(double));
    line->count = bytes.size / sizeof(double);
    if (line->count > 0) {
        memcpy(numbers, bytes.bytes, line->count * sizeof(double));
    }
    line->steps = steps;
    line->values = numbers;
}

static void check_picture(const struct picture *picture)
{
    for (size_t i = 0; i < picture->item_count; i++) {
        const struct picture_item *item = &picture->items[i];

        claim(isfinite(item->x) && isfinite(item->y));
        claim(isfinite(item->width) && item->width >= 0);
        claim(utf8_find_invalid(item->text) == item->text.size);
        if (item->kind == PICTURE_POLYLINE) {
            claim(item->point_count >= 2);
            claim(item->first_point + item->point_count <= picture->point_count);
        }
    }
    for (size_t i = 0; i < picture->point_count; i++) {
        claim(isfinite(picture->points[i].x) && isfinite(picture->points[i].y));
        claim(picture->points[i].x >= 0 && picture->points[i].x <= picture->width);
        claim(picture->points[i].y >= 0 && picture->points[i].y <= picture->height);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct chart_line lines[LINE_MAX];
    uint8_t choice = measure(&input);
    struct chart_options options = {
        .theme = choice & 1 ? PICTURE_DARK : PICTURE_LIGHT,
        .scale = (enum chart_scale)((choice >> 1) % 3),
        .width = choice & 8 ? 120 : 0,
        .height = choice & 16 ? 120 : 0,
        .title = SLICE("title"),
    };
    struct picture picture;
    struct buffer svg = BUFFER_INIT;
    struct error error = ERROR_INIT;
    size_t count = 0;

    for (size_t i = 0; i < POINT_MAX; i++) {
        steps[i] = choice & 32 ? (double)i * 1e290 - 1e291 : (double)i;
    }
    while (input.size > 0 && count < LINE_MAX) {
        next_line(&input, &lines[count], values[count]);
        count++;
    }
    if (count == 0) {
        return 0;
    }
    picture_init(&picture);
    claim(chart_draw(&picture, lines, count, &options, &error));
    check_picture(&picture);
    claim(svg_text_add(&svg, &picture));
    buffer_release(&svg);
    picture_release(&picture);
    return 0;
}
