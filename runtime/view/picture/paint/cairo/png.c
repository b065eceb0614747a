/* A PNG from the pixels that cairo has painted. */
#include "runtime/view/picture/paint/cairo/png.h"

#include "runtime/base/memory.h"

#include <math.h>
#include <string.h>

/* The level of zlib. Higher levels take twice the time and save a tenth of the size. */
#define LEVEL 2
/* The step by which the output buffer grows. */
#define OUTPUT_SIZE     ((size_t)64 << 10)
#define METRES_PER_INCH 0.0254
#define COLOUR_RGB      2

static void add_word(struct buffer *bytes, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buffer_add_byte(bytes, (char)(word >> shift & 0xFF));
    }
}

/* Starts a chunk with a size of 0; end_chunk writes the real one. */
static size_t begin_chunk(struct buffer *bytes, const char *type)
{
    size_t start = bytes->size;

    add_word(bytes, 0);
    buffer_add_bytes(bytes, type, 4);
    return start;
}

static void
end_chunk(const struct cairo_library *library, struct buffer *bytes, size_t start)
{
    uint32_t size;
    uLong check;

    if (bytes->has_failed) {
        return;
    }
    size = (uint32_t)(bytes->size - start - 8);
    for (int i = 0; i < 4; i++) {
        bytes->bytes[start + (size_t)i] = (char)(size >> (24 - 8 * i) & 0xFF);
    }
    check = library->crc32(0, (const Bytef *)bytes->bytes + start + 4, size + 4);
    add_word(bytes, (uint32_t)check);
}

static void add_head(const struct cairo_library *library,
                     const struct pixel_rows *rows,
                     struct buffer *bytes)
{
    uint32_t density = (uint32_t)lround(rows->dpi / METRES_PER_INCH);
    size_t start;

    buffer_add(bytes, SLICE("\x89PNG\r\n\x1a\n"));
    start = begin_chunk(bytes, "IHDR");
    add_word(bytes, rows->width);
    add_word(bytes, rows->height);
    buffer_add_byte(bytes, 8); /* bits per colour */
    buffer_add_byte(bytes, COLOUR_RGB);
    buffer_add_bytes(bytes, "\0\0\0", 3); /* deflate, filters by row, not interlaced */
    end_chunk(library, bytes, start);
    start = begin_chunk(bytes, "pHYs");
    add_word(bytes, density);
    add_word(bytes, density);
    buffer_add_byte(bytes, 1); /* unit: metre */
    end_chunk(library, bytes, start);
}

/* Converts a row to the file's form: its filter (none), then red, green and blue of each pixel. */
static void read_row(const struct pixel_rows *rows, uint32_t y, unsigned char *row)
{
    const unsigned char *pixels = rows->bytes + y * rows->stride;

    *row++ = 0;
    for (uint32_t x = 0; x < rows->width; x++) {
        uint32_t pixel;

        memcpy(&pixel, pixels + 4 * (size_t)x, 4);
        *row++ = (unsigned char)(pixel >> 16);
        *row++ = (unsigned char)(pixel >> 8);
        *row++ = (unsigned char)pixel;
    }
}

/* Compresses the input that the stream has. Returns false only if memory for the result runs
 * out. */
static bool compress_given(const struct cairo_library *library,
                           z_stream *stream,
                           int flush,
                           struct buffer *bytes)
{
    int status = Z_OK;

    while (status != Z_STREAM_END && (stream->avail_in > 0 || flush == Z_FINISH)) {
        if (!buffer_reserve(bytes, OUTPUT_SIZE)) {
            return false;
        }
        stream->next_out = (Bytef *)bytes->bytes + bytes->size;
        stream->avail_out = (uInt)OUTPUT_SIZE;
        status = library->deflate(stream, flush);
        bytes->size += OUTPUT_SIZE - stream->avail_out;
    }
    return true;
}

static bool add_rows(const struct cairo_library *library,
                     const struct pixel_rows *rows,
                     unsigned char *row,
                     struct buffer *bytes)
{
    size_t start = begin_chunk(bytes, "IDAT");
    z_stream stream = {0};
    bool is_done = true;

    if (library->deflateInit_(&stream, LEVEL, ZLIB_VERSION, sizeof stream) != Z_OK) {
        return false;
    }
    for (uint32_t y = 0; y < rows->height && is_done; y++) {
        read_row(rows, y, row);
        stream.next_in = row;
        stream.avail_in = rows->width * 3 + 1;
        is_done = compress_given(library, &stream, Z_NO_FLUSH, bytes);
    }
    is_done = is_done && compress_given(library, &stream, Z_FINISH, bytes);
    library->deflateEnd(&stream);
    end_chunk(library, bytes, start);
    return is_done;
}

bool cairo_png_add(const struct cairo_library *library,
                   const struct pixel_rows *rows,
                   struct buffer *bytes,
                   struct error *error)
{
    unsigned char *row = memory_allocate((size_t)rows->width * 3 + 1, 1);
    bool is_done = row != NULL;

    if (is_done) {
        add_head(library, rows, bytes);
        is_done = add_rows(library, rows, row, bytes);
        end_chunk(library, bytes, begin_chunk(bytes, "IEND"));
    }
    memory_free(row);
    if (!is_done || bytes->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
