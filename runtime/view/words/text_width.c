/* The width of text, computed without a font. */
#include "runtime/view/words/text_width.h"

#include "runtime/base/sorted.h"
#include "runtime/base/utf8.h"

#define ASCII_FIRST 0x20
#define ASCII_COUNT 95
#define MONO_WIDTH  602
#define WIDE_WIDTH  1000
/* Width of characters that the faces do not have: about that of a broad Latin letter. */
#define OTHER_WIDTH 700

struct width_pair {
    uint16_t sans;
    uint16_t bold;
};

struct width_run {
    uint32_t first;
    uint32_t last;
    struct width_pair width;
};

struct code_range {
    uint32_t first;
    uint32_t last;
};

static const struct width_pair ascii_widths[ASCII_COUNT] = {
#define ASCII_WIDTH(sans, bold) {sans, bold},
#define WIDTH_RUN(first, last, sans, bold)
#include "runtime/view/words/text_width.def"
#undef ASCII_WIDTH
#undef WIDTH_RUN
};

static const struct width_run width_runs[] = {
#define ASCII_WIDTH(sans, bold)
#define WIDTH_RUN(first, last, sans, bold) {first, last, {sans, bold}},
#include "runtime/view/words/text_width.def"
#undef ASCII_WIDTH
#undef WIDTH_RUN
};

/* Combining marks, joiners, variation selectors. */
static const struct code_range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x05BF, 0x05BF},
    {0x05C1, 0x05C2}, {0x05C4, 0x05C5}, {0x05C7, 0x05C7},   {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC},   {0x06DF, 0x06E4},
    {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902},   {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F},
    {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0x302A, 0x302D},   {0x3099, 0x309A},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
};

/* East Asian wide and full-width characters, and pictographs of the same width. */
static const struct code_range wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
    {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0xFFFD, 0xFFFD},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

/* Hebrew, Arabic, Syriac, Thaana, N'Ko and similar scripts. */
static const struct code_range right_to_left[] = {
    {0x05BE, 0x05BE},   {0x05C0, 0x05C0}, {0x05C3, 0x05C3}, {0x05C6, 0x05C6},
    {0x05D0, 0x05F4},   {0x0608, 0x0608}, {0x060B, 0x060B}, {0x060D, 0x060D},
    {0x061B, 0x064A},   {0x066D, 0x066F}, {0x0671, 0x06D5}, {0x06E5, 0x06E6},
    {0x06EE, 0x06EF},   {0x06FA, 0x070D}, {0x0710, 0x0710}, {0x0712, 0x072F},
    {0x074D, 0x07A5},   {0x07B1, 0x07EA}, {0x07F4, 0x0815}, {0x0840, 0x08D2},
    {0xFB1D, 0xFB1D},   {0xFB1F, 0xFDFD}, {0xFE70, 0xFEFC}, {0x10800, 0x10FFF},
    {0x1E800, 0x1EEFF},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool ends_before(const void *ranges, size_t place, uint64_t code)
{
    return ((const struct code_range *)ranges)[place].last < code;
}

static bool is_in(uint32_t code, const struct code_range *ranges, size_t count)
{
    size_t place = sorted_place(ranges, count, ends_before, code);

    return place < count && code >= ranges[place].first;
}

static bool run_ends_before(const void *runs, size_t place, uint64_t code)
{
    return ((const struct width_run *)runs)[place].last < code;
}

/* The widths of a character. NULL: the faces do not have it. */
static const struct width_pair *find_width(uint32_t code)
{
    size_t place = sorted_place(width_runs, COUNT(width_runs), run_ends_before, code);

    return place < COUNT(width_runs) && code >= width_runs[place].first
               ? &width_runs[place].width
               : NULL;
}

uint32_t text_advance(enum picture_face face, uint32_t code)
{
    bool is_mono = face == PICTURE_MONO || face == PICTURE_MONO_BOLD;
    const struct width_pair *width = NULL;

    if (code >= ASCII_FIRST && code < ASCII_FIRST + ASCII_COUNT) {
        width = &ascii_widths[code - ASCII_FIRST];
    } else if (code < 0xA0 || is_in(code, combining, COUNT(combining))) {
        return 0;
    } else if (is_in(code, wide, COUNT(wide))) {
        return WIDE_WIDTH;
    } else if (!is_mono) {
        width = find_width(code);
    }
    if (is_mono) {
        return MONO_WIDTH;
    }
    if (width == NULL) {
        return OTHER_WIDTH;
    }
    return face == PICTURE_SANS_BOLD ? width->bold : width->sans;
}

/* Returns the advance of the character at `offset`, and sets `*size` to its size in bytes. */
static uint32_t
read_advance(enum picture_face face, struct slice text, size_t offset, size_t *size)
{
    uint32_t code = 0xFFFD;

    *size = utf8_read(text, offset, &code);
    if (*size == 0) {
        *size = 1;
    }
    return text_advance(face, code);
}

double text_width(enum picture_face face, double size, struct slice text)
{
    uint64_t total = 0;
    size_t step;

    for (size_t i = 0; i < text.size; i += step) {
        total += read_advance(face, text, i, &step);
    }
    return (double)total * size / 1000;
}

size_t
text_fit_start(enum picture_face face, double size, struct slice text, double width)
{
    double left = width * 1000 / size;
    size_t step;

    for (size_t i = 0; i < text.size; i += step) {
        left -= read_advance(face, text, i, &step);
        if (left < 0) {
            return i;
        }
    }
    return text.size;
}

size_t
text_fit_end(enum picture_face face, double size, struct slice text, double width)
{
    double left = width * 1000 / size;
    size_t end = text.size;
    size_t step;

    while (end > 0) {
        size_t start = end - 1;

        while (start > 0 && end - start < 4 &&
               ((unsigned char)text.bytes[start] & 0xC0) == 0x80) {
            start--;
        }
        left -= read_advance(face, text, start, &step);
        if (left < 0) {
            break;
        }
        end = start;
    }
    /* A combining mark must not be separated from its base character. */
    while (end > 0 && end < text.size && read_advance(face, text, end, &step) == 0) {
        end += step;
    }
    return end;
}

static bool is_letter(uint32_t code)
{
    return (code | 0x20) - 'a' < 26u || (code >= 0xAA && code != 0xD7 && code != 0xF7 &&
                                         (code < 0x2000 || code > 0x2BFF));
}

bool text_is_right_to_left(struct slice text)
{
    size_t step;

    for (size_t i = 0; i < text.size; i += step) {
        uint32_t code = 0xFFFD;

        step = utf8_read(text, i, &code);
        if (step == 0) {
            step = 1;
            continue;
        }
        if (is_in(code, right_to_left, COUNT(right_to_left))) {
            return true;
        }
        if (is_letter(code) && !is_in(code, combining, COUNT(combining))) {
            return false;
        }
    }
    return false;
}
