/* The painter: what stands where in a PNG, the pages of a PDF, and what it does without fonts,
 * without memory, and with pictures that are too large or make no sense. */
#include "runtime/base/memory.h"
#include "runtime/view/picture/paint/cairo/painter.h"
#include "runtime/view/words/text_width.h"
#include "tests/unit/check.h"
#include "tests/view/picture/leaks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHITE        0xFFFFFFFFu
#define BLACK        0x000000FFu
#define RED          0xFF0000FFu
#define BLUE         0x0000FFFFu
#define ITEM_MAX     32
#define THREAD_COUNT 4
#define TURN_COUNT   8

/* ---- pictures ---- */

struct sketch {
    struct picture picture;
    struct picture_item items[ITEM_MAX];
    struct picture_point points[ITEM_MAX];
    struct picture_page pages[4];
};

static void sketch_init(struct sketch *sketch, double width, double height)
{
    memset(sketch, 0, sizeof *sketch);
    sketch->picture = (struct picture){
        .width = width,
        .height = height,
        .background = WHITE,
        .title = SLICE("A title (with brackets) \xE4\xB8\xAD"),
        .items = sketch->items,
        .points = sketch->points,
        .pages = sketch->pages,
        .page_count = 1,
    };
    sketch->pages[0] = (struct picture_page){0, 0, width, height};
}

static struct picture_item *sketch_add(struct sketch *sketch, struct picture_item item)
{
    sketch->items[sketch->picture.item_count] = item;
    return &sketch->items[sketch->picture.item_count++];
}

static struct picture_item *sketch_text(struct sketch *sketch,
                                        double x,
                                        double y,
                                        enum picture_face face,
                                        struct slice text)
{
    return sketch_add(sketch, (struct picture_item){
                                  .kind = PICTURE_TEXT,
                                  .x = x,
                                  .y = y,
                                  .width = text_width(face, 20, text),
                                  .fill = BLACK,
                                  .face = face,
                                  .size = 20,
                                  .is_right_to_left = text_is_right_to_left(text),
                                  .text = text,
                              });
}

static void sketch_curve(struct sketch *sketch, const struct picture_point points[4])
{
    memcpy(sketch->points + sketch->picture.point_count, points, 4 * sizeof *points);
    sketch_add(sketch, (struct picture_item){
                           .kind = PICTURE_CURVE,
                           .stroke = BLUE,
                           .fill = RED,
                           .stroke_width = 2,
                           .has_arrow = true,
                           .first_point = sketch->picture.point_count,
                           .point_count = 4,
                       });
    sketch->picture.point_count += 4;
}

/* One of everything. */
static void sketch_all(struct sketch *sketch)
{
    sketch_init(sketch, 300, 200);
    sketch_add(sketch, (struct picture_item){.kind = PICTURE_GROUP_BEGIN,
                                             .text = SLICE("node"),
                                             .title = SLICE("node x")});
    sketch_add(sketch, (struct picture_item){.kind = PICTURE_RECTANGLE,
                                             .x = 20,
                                             .y = 20,
                                             .width = 100,
                                             .height = 60,
                                             .radius = 6,
                                             .fill = RED,
                                             .stroke = BLUE,
                                             .stroke_width = 4,
                                             .dash = 3});
    sketch_text(sketch, 140, 60, PICTURE_MONO, SLICE("x = y @ z \xC3\x97 2"));
    sketch_text(sketch, 140, 90, PICTURE_SANS_BOLD,
                SLICE("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D"));
    sketch_text(sketch, 140, 120, PICTURE_MONO_BOLD, SLICE("\xE4\xB8\xAD\xE6\x96\x87"));
    sketch_curve(sketch,
                 (struct picture_point[]){{60, 90}, {60, 120}, {90, 130}, {90, 160}});
    sketch_add(sketch, (struct picture_item){.kind = PICTURE_POLYLINE,
                                             .stroke = BLUE,
                                             .stroke_width = 1,
                                             .point_count = 4});
    sketch_add(sketch, (struct picture_item){.kind = PICTURE_GROUP_END});
}

/* ---- reading PNG ---- */

struct pixels {
    uint32_t width, height;
    uint32_t density; /* dots for a metre */
    unsigned char
        *bytes; /* owned; rows of a filter's byte, then three for each pixel */
    size_t size;
};

typedef int (*uncompress_function)(unsigned char *to,
                                   unsigned long *to_size,
                                   const unsigned char *from,
                                   unsigned long from_size);

static uint32_t word_at(const char *bytes)
{
    const unsigned char *four = (const unsigned char *)bytes;

    return (uint32_t)four[0] << 24 | (uint32_t)four[1] << 16 | (uint32_t)four[2] << 8 |
           four[3];
}

static bool inflate_rows(struct pixels *pixels, const char *bytes, uint32_t size)
{
    void *library = dlopen("libz.so.1", RTLD_NOW);
    unsigned long got = (unsigned long)pixels->height * (pixels->width * 3ul + 1);
    uncompress_function uncompress;
    bool is_done;

    if (library == NULL) {
        return false;
    }
    *(void **)&uncompress = dlsym(library, "uncompress");
    pixels->size = got;
    pixels->bytes = malloc(got);
    is_done =
        uncompress(pixels->bytes, &got, (const unsigned char *)bytes, size) == 0 &&
        got == pixels->size;
    dlclose(library);
    return is_done;
}

/* false where it is no PNG of this painter. */
static bool pixels_read(struct pixels *pixels, struct slice png)
{
    size_t i = 8;
    bool is_done = false;

    memset(pixels, 0, sizeof *pixels);
    if (!slice_starts(png, SLICE("\x89PNG\r\n\x1a\n"))) {
        return false;
    }
    while (i + 12 <= png.size) {
        uint32_t size = word_at(png.bytes + i);
        const char *type = png.bytes + i + 4;

        if (size > png.size - i - 12) {
            return false;
        }
        if (memcmp(type, "IHDR", 4) == 0) {
            pixels->width = word_at(type + 4);
            pixels->height = word_at(type + 8);
        } else if (memcmp(type, "pHYs", 4) == 0) {
            pixels->density = word_at(type + 4);
        } else if (memcmp(type, "IDAT", 4) == 0) {
            is_done = inflate_rows(pixels, type + 4, size);
        }
        i += size + 12;
    }
    return is_done && i == png.size;
}

/* 0xRRGGBB */
static uint32_t pixel_at(const struct pixels *pixels, uint32_t x, uint32_t y)
{
    const unsigned char *pixel =
        pixels->bytes + (size_t)y * (pixels->width * 3 + 1) + 1 + (size_t)x * 3;

    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* From which column to which there is anything else than white. */
static bool find_ink(const struct pixels *pixels, uint32_t *left, uint32_t *right)
{
    *left = pixels->width;
    *right = 0;
    for (uint32_t y = 0; y < pixels->height; y++) {
        for (uint32_t x = 0; x < pixels->width; x++) {
            if (pixel_at(pixels, x, y) != 0xFFFFFF) {
                *left = x < *left ? x : *left;
                *right = x > *right ? x : *right;
            }
        }
    }
    return *left <= *right;
}

/* The caller frees pixels.bytes. */
static bool paint(const struct sketch *sketch, double dpi, struct pixels *pixels)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    bool is_done = CHECK(cairo_paint_png(&sketch->picture, dpi, &bytes, &error)) &&
                   CHECK(pixels_read(pixels, buffer_slice(&bytes)));

    if (!is_done) {
        printf("  %s\n", error.text);
        memset(pixels, 0, sizeof *pixels);
    }
    buffer_release(&bytes);
    return is_done;
}

/* ---- PNG ---- */

static void test_places(void)
{
    static const double resolutions[] = {72, 96, 144, 192};
    struct sketch sketch;

    sketch_init(&sketch, 60, 30);
    sketch_add(&sketch, (struct picture_item){.kind = PICTURE_RECTANGLE,
                                              .x = 12,
                                              .y = 6,
                                              .width = 24,
                                              .height = 12,
                                              .fill = RED});
    for (size_t i = 0; i < sizeof resolutions / sizeof *resolutions; i++) {
        uint32_t scaled = (uint32_t)resolutions[i];
        struct pixels pixels;

        if (paint(&sketch, resolutions[i], &pixels)) {
            CHECK(pixels.width == 60 * scaled / 72 &&
                  pixels.height == 30 * scaled / 72);
            CHECK(pixels.density == (uint32_t)(resolutions[i] / 0.0254 + 0.5));
            CHECK(pixel_at(&pixels, 13 * scaled / 72 + 1, 7 * scaled / 72 + 1) ==
                  0xFF0000);
            CHECK(pixel_at(&pixels, 35 * scaled / 72, 17 * scaled / 72) == 0xFF0000);
            CHECK(pixel_at(&pixels, 11 * scaled / 72, 7 * scaled / 72) == 0xFFFFFF);
            CHECK(pixel_at(&pixels, 37 * scaled / 72, 7 * scaled / 72) == 0xFFFFFF);
            CHECK(pixel_at(&pixels, 0, pixels.height - 1) == 0xFFFFFF);
        }
        free(pixels.bytes);
    }
}

static void test_curve(void)
{
    struct sketch sketch;
    struct pixels pixels;
    struct picture_point corners[3];

    sketch_init(&sketch, 100, 100);
    sketch_curve(&sketch,
                 (struct picture_point[]){{50, 10}, {50, 30}, {50, 50}, {50, 70}});
    picture_arrow(&sketch.picture, &sketch.items[0], corners);
    if (paint(&sketch, 72, &pixels)) {
        CHECK(pixel_at(&pixels, 50, 20) == 0x0000FF &&
              pixel_at(&pixels, 49, 20) == 0x0000FF);
        CHECK(pixel_at(&pixels, 54, 20) == 0xFFFFFF);
        CHECK(pixel_at(&pixels, 50, (uint32_t)(corners[0].y + corners[1].y) / 2) ==
              0xFF0000);
        CHECK(pixel_at(&pixels, 50, (uint32_t)corners[0].y + 2) == 0xFFFFFF);
    }
    free(pixels.bytes);
}

/* From corner to corner, and no spike beyond a sharp one. */
static void test_polyline(void)
{
    static const struct picture_point points[] = {{20, 80}, {50, 20}, {53, 80}};
    struct sketch sketch;
    struct pixels pixels;

    sketch_init(&sketch, 100, 100);
    memcpy(sketch.points, points, sizeof points);
    sketch.picture.point_count = 3;
    sketch_add(&sketch, (struct picture_item){.kind = PICTURE_POLYLINE,
                                              .stroke = BLUE,
                                              .stroke_width = 4,
                                              .point_count = 3});
    if (paint(&sketch, 72, &pixels)) {
        CHECK(pixel_at(&pixels, 35, 50) == 0x0000FF);
        CHECK(pixel_at(&pixels, 52, 60) == 0x0000FF);
        CHECK(pixel_at(&pixels, 42, 70) == 0xFFFFFF);
        CHECK(pixel_at(&pixels, 50, 15) == 0xFFFFFF);
    }
    free(pixels.bytes);
}

/* Nothing stands outside of a text's place, however wide the letters are by themselves. */
static void test_narrow_places(void)
{
    static const struct slice texts[] = {
        {"WWWWWWWWWWWWWWW", 15},
        {"attention.weights", 17},
        {"\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97\xE7\xAC\xA6", 12},
        {"\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD7\xA2\xD7\x95\xD7\x9C\xD7\x9D", 17},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (double part = 0.2; part < 1.2; part += 0.3) {
            struct sketch sketch;
            struct pixels pixels;
            struct picture_item *item;
            uint32_t left, right;

            sketch_init(&sketch, 600, 40);
            /* White on white: the same font in a place that is wide enough. */
            sketch_text(&sketch, 100, 25, PICTURE_MONO, texts[i])->fill = WHITE;
            item = sketch_text(&sketch, 100, 25, PICTURE_MONO, texts[i]);
            item->width *= part;
            if (paint(&sketch, 72, &pixels)) {
                CHECK(find_ink(&pixels, &left, &right) && left + 3 >= 100 &&
                      right <= 100 + item->width + 3);
            }
            free(pixels.bytes);
        }
    }
}

/* In a place that is wider than the text: what is written from the right stands at the right. */
static void test_right_to_left(void)
{
    struct sketch sketch;
    struct pixels pixels;
    struct picture_item *item;
    uint32_t left, right;

    sketch_init(&sketch, 400, 40);
    item = sketch_text(&sketch, 50, 25, PICTURE_SANS,
                       SLICE("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D"));
    item->width = 300;
    if (paint(&sketch, 72, &pixels)) {
        CHECK(find_ink(&pixels, &left, &right) && left > 200 && right > 330 &&
              right <= 352);
    }
    free(pixels.bytes);
    item->text = SLICE("left");
    item->is_right_to_left = false;
    if (paint(&sketch, 72, &pixels)) {
        CHECK(find_ink(&pixels, &left, &right) && left < 60 && right < 150);
    }
    free(pixels.bytes);
}

/* The painter is given texts, sizes and numbers that nobody should give it. */
static void test_nonsense(void)
{
    struct sketch sketch;
    struct pixels pixels;

    sketch_init(&sketch, 300, 200);
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("\xFF\xFE not UTF-8"));
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("cut \xE4\xB8"));
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("nul \0 nul"));
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("two\nlines\r\xE2\x80\xA9three"));
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE(""));
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("<b>&amp;\x01\x7F"))->size = 0;
    sketch_text(&sketch, 10, 30, PICTURE_SANS, SLICE("no place"))->width = 0;
    sketch_text(&sketch, 1e9, -1e9, PICTURE_MONO, SLICE("far away"));
    sketch_add(&sketch, (struct picture_item){.kind = PICTURE_RECTANGLE,
                                              .x = 10,
                                              .y = 10,
                                              .fill = RED,
                                              .stroke = RED,
                                              .radius = 5,
                                              .stroke_width = 1});
    sketch_add(&sketch, (struct picture_item){.kind = PICTURE_CURVE, .stroke = RED});
    if (paint(&sketch, 96, &pixels)) {
        CHECK(pixel_at(&pixels, 399, 266) == 0xFFFFFF);
    }
    free(pixels.bytes);
    sketch_init(&sketch, 0, 0);
    if (paint(&sketch, 96, &pixels)) {
        CHECK(pixels.width == 1 && pixels.height == 1);
    }
    free(pixels.bytes);
}

static void test_too_large(void)
{
    struct sketch sketch;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct pixels pixels;
    const char *advice;

    sketch_init(&sketch, 30000, 100);
    buffer_add(&bytes, SLICE("before"));
    CHECK(!cairo_paint_png(&sketch.picture, 96, &bytes, &error));
    CHECK(error.kind == ERROR_USAGE && strstr(error.text, "--max-nodes") != NULL &&
          strstr(error.text, ".svg") != NULL);
    CHECK_TEXT(buffer_slice(&bytes), "before");
    advice = strstr(error.text, "--dpi (");
    if (CHECK(advice != NULL) && paint(&sketch, strtod(advice + 7, NULL), &pixels)) {
        CHECK(pixels.width > 30000 && pixels.width <= 32767);
        free(pixels.bytes);
    }
    sketch_init(&sketch, 30000, 30000); /* each side would do, but not all of it */
    CHECK(!cairo_paint_png(&sketch.picture, 72, &bytes, &error));
    CHECK(error.kind == ERROR_USAGE && strstr(error.text, "--dpi (") != NULL);
    sketch_init(&sketch, 1e300, 1e300);
    CHECK(!cairo_paint_png(&sketch.picture, 72, &bytes, &error));
    CHECK(strstr(error.text, "--dpi (") == NULL && strstr(error.text, ".svg") != NULL);
    CHECK_TEXT(buffer_slice(&bytes), "before");
    buffer_release(&bytes);
}

/* ---- PDF ---- */

static size_t count_parts(struct slice text, struct slice part)
{
    size_t count = 0;

    for (size_t i = slice_find(text, part, 0); i < text.size;
         i = slice_find(text, part, i + part.size)) {
        count++;
    }
    return count;
}

static void test_pages(void)
{
    struct sketch sketch;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct slice text;

    sketch_all(&sketch);
    sketch.pages[1] = (struct picture_page){150, 0, 150, 100};
    sketch.pages[2] =
        (struct picture_page){0, 0, 20000, 200}; /* no reader opens that */
    sketch.picture.page_count = 3;
    CHECK(cairo_paint_pdf(&sketch.picture, 0, 0, &bytes, &error));
    text = buffer_slice(&bytes);
    CHECK(slice_starts(text, SLICE("%PDF-")) && slice_ends(text, SLICE("%%EOF\n")));
    CHECK(count_parts(text, SLICE("/Type /Page\n")) +
              count_parts(text, SLICE("/Type /Page ")) ==
          3);
    CHECK(count_parts(text, SLICE("/MediaBox [ 0 0 300 200 ]")) == 1);
    CHECK(count_parts(text, SLICE("/MediaBox [ 0 0 150 100 ]")) == 1);
    CHECK(count_parts(text, SLICE("/MediaBox [ 0 0 14400 144 ]")) == 1);
    bytes.size = 0;
    CHECK(cairo_paint_pdf(&sketch.picture, 595, 842, &bytes, &error));
    CHECK(count_parts(buffer_slice(&bytes), SLICE("/MediaBox [ 0 0 595 842 ]")) == 3);
    buffer_release(&bytes);
}

/* At the scale of one page nothing could be seen of it: that is told. */
static void test_a_picture_too_long_for_one_page(void)
{
    struct sketch sketch;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    sketch_all(&sketch);
    sketch.picture.height = 6.7e6;
    CHECK(!cairo_paint_pdf(&sketch.picture, 0, 0, &bytes, &error));
    CHECK(strstr(error.text, "--pages A4") != NULL);
    CHECK(bytes.size == 0);
    error = ERROR_INIT;
    CHECK(cairo_paint_pdf(&sketch.picture, 595, 842, &bytes, &error));
    buffer_release(&bytes);
}

/* ---- several at once, and without memory ---- */

static void *paint_repeatedly(void *unused)
{
    struct buffer *last = malloc(sizeof *last);
    struct error error = ERROR_INIT;
    struct sketch sketch;

    (void)unused;
    *last = BUFFER_INIT;
    sketch_all(&sketch);
    for (int i = 0; i < TURN_COUNT; i++) {
        struct buffer page = BUFFER_INIT;

        buffer_release(last);
        if (!cairo_paint_png(&sketch.picture, 96, last, &error) ||
            !cairo_paint_pdf(&sketch.picture, 0, 0, &page, &error)) {
            buffer_release(last);
        }
        buffer_release(&page);
    }
    return last;
}

static void test_threads(void)
{
    pthread_t threads[THREAD_COUNT];
    struct buffer *painted[THREAD_COUNT];

    for (int i = 0; i < THREAD_COUNT; i++) {
        CHECK(pthread_create(&threads[i], NULL, paint_repeatedly, NULL) == 0);
    }
    for (int i = 0; i < THREAD_COUNT; i++) {
        pthread_join(threads[i], (void **)&painted[i]);
        CHECK(painted[i]->size > 1000 &&
              slice_equal(buffer_slice(painted[i]), buffer_slice(painted[0])));
    }
    for (int i = 0; i < THREAD_COUNT; i++) {
        buffer_release(painted[i]);
        free(painted[i]);
    }
}

typedef bool (*paint_function)(const struct picture *picture,
                               struct buffer *bytes,
                               struct error *error);

static bool
paint_at_96(const struct picture *picture, struct buffer *bytes, struct error *error)
{
    return cairo_paint_png(picture, 96, bytes, error);
}

static bool
paint_on_paper(const struct picture *picture, struct buffer *bytes, struct error *error)
{
    return cairo_paint_pdf(picture, 595, 842, bytes, error);
}

static void test_failing_memory(paint_function function)
{
    struct sketch sketch;
    size_t failed = 0;

    sketch_all(&sketch);
    for (size_t i = 1; i < 200; i++) {
        struct buffer bytes = BUFFER_INIT;
        struct error error = ERROR_INIT;
        bool is_done;

        memory_fail_after(i, false);
        is_done = function(&sketch.picture, &bytes, &error);
        memory_fail_after(0, false);
        failed += !is_done;
        CHECK(is_done ? bytes.size > 1000
                      : error.kind == ERROR_MEMORY && bytes.size == 0);
        buffer_release(&bytes);
        if (is_done) {
            break;
        }
    }
    CHECK(failed > 0 && failed < 199);
}

/* ---- a machine without fonts ---- */

static int paint_without_fonts(void)
{
    static const char configuration[] = "<?xml version=\"1.0\"?><fontconfig/>";
    int file = open("no-fonts.conf", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int messages = open("no-fonts.txt", O_RDWR | O_CREAT | O_TRUNC, 0666);
    char path[PATH_MAX];
    struct stat status;
    struct sketch sketch;
    struct pixels pixels;
    uint32_t left, right;

    CHECK(write(file, configuration, sizeof configuration - 1) > 0);
    close(file);
    CHECK(realpath("no-fonts.conf", path) != NULL &&
          setenv("FONTCONFIG_FILE", path, 1) == 0);
    setenv("FONTCONFIG_PATH", "/nowhere", 1);
    dup2(messages, STDERR_FILENO);
    test_narrow_places();
    test_nonsense();
    test_pages();
    test_a_picture_too_long_for_one_page();
    test_threads();
    sketch_init(&sketch, 400, 40);
    sketch_text(&sketch, 10, 25, PICTURE_MONO,
                SLICE("x = y \xC3\x97 \xE2\x88\x92\x32\xE2\x80\xA6"));
    if (paint(&sketch, 96, &pixels)) {
        CHECK(find_ink(&pixels, &left, &right) && left < 20 && right > 60);
    }
    free(pixels.bytes);
    CHECK(fstat(messages, &status) == 0 && status.st_size == 0);
    close(messages);
    unlink("no-fonts.conf");
    unlink("no-fonts.txt");
    return check_finish();
}

/* In a process of its own: fonts are looked for once. */
static void test_without_fonts(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        exit(paint_without_fonts());
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          WEXITSTATUS(status) == 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF,
            0); /* what is kept would be printed by the child too */
    test_without_fonts();
    test_places();
    test_curve();
    test_polyline();
    test_narrow_places();
    test_right_to_left();
    test_nonsense();
    test_too_large();
    test_pages();
    test_threads();
    test_failing_memory(paint_at_96);
    test_failing_memory(paint_on_paper);
    return check_finish();
}
