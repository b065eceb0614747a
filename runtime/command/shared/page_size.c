/* Sizes of paper by name or by numbers. */
#include "runtime/command/shared/page_size.h"

#include <stddef.h>

#define POINTS_PER_MILLIMETRE (72 / 25.4)
/* A smaller page has no room for a box; a larger one cannot be printed. */
#define SIDE_LEAST 50
#define SIDE_MOST  5000

struct paper {
    const char *name;
    double width; /* in millimetres, upright */
    double height;
};

static const struct paper papers[] = {
    {"a3", 297, 420},         {"a4", 210, 297},        {"a5", 148, 210},
    {"letter", 215.9, 279.4}, {"legal", 215.9, 355.6},
};

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Removes the word from the start of the text, in upper or lower case. Returns false if it is
 * not there. */
static bool skip_word(struct slice *text, const char *word)
{
    size_t size = strlen(word);

    if (text->size < size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (lower(text->bytes[i]) != word[i]) {
            return false;
        }
    }
    *text = slice_part(*text, size, text->size);
    return true;
}

static bool read_side(struct slice *text, double *side)
{
    size_t i = 0;

    *side = 0;
    for (; i < text->size && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++) {
        *side = *side * 10 + (text->bytes[i] - '0');
    }
    *text = slice_part(*text, i, text->size);
    return *side >= SIDE_LEAST && *side <= SIDE_MOST;
}

static bool read_paper(struct slice text, struct paper *found)
{
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++) {
        struct slice rest = text;

        if (!skip_word(&rest, papers[i].name)) {
            continue;
        }
        *found = papers[i];
        if (skip_word(&rest, "-landscape")) {
            found->width = papers[i].height;
            found->height = papers[i].width;
        }
        return rest.size == 0;
    }
    return false;
}

bool page_size_read(struct slice text, double *width, double *height)
{
    struct paper found = {0};
    struct slice rest = text;

    if (!read_paper(text, &found) &&
        !(read_side(&rest, &found.width) && skip_word(&rest, "x") &&
          read_side(&rest, &found.height) && rest.size == 0)) {
        return false;
    }
    *width = found.width * POINTS_PER_MILLIMETRE;
    *height = found.height * POINTS_PER_MILLIMETRE;
    return true;
}
