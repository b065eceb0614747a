/* The wish for a tracked call: what is to be written about it. */
#include "runtime/view/tracklog/wish.h"

#include "runtime/base/selection/selection.h"

static bool read(struct slice word, struct slice option, struct slice *value)
{
    if (!slice_starts(word, option)) {
        return false;
    }
    *value = slice_part(word, option.size, word.size);
    return true;
}

static uint32_t read_depth(struct slice value)
{
    uint32_t depth = 0;

    for (size_t i = 0; i < value.size; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9') {
            return 0;
        }
        depth =
            depth > UINT16_MAX ? depth : depth * 10 + (uint32_t)(value.bytes[i] - '0');
    }
    return depth;
}

static enum track_when read_when(struct slice value)
{
    if (slice_equal(value, SLICE("changed"))) {
        return TRACK_CHANGED;
    }
    return slice_equal(value, SLICE("nan")) ? TRACK_NAN : TRACK_ALWAYS;
}

static void read_word(struct track_wish *wish, struct slice word)
{
    struct slice value;

    if (read(word, SLICE("--names="), &value)) {
        wish->names = value;
    } else if (read(word, SLICE("--depth="), &value)) {
        wish->depth = read_depth(value);
    } else if (read(word, SLICE("--when="), &value)) {
        wish->when = read_when(value);
    } else if (read(word, SLICE("--labels="), &value)) {
        wish->labels = value;
    } else {
        wish->is_calls = wish->is_calls || slice_equal(word, SLICE("--calls"));
        wish->has_lines = wish->has_lines || slice_equal(word, SLICE("--lines"));
        wish->has_stack = wish->has_stack || slice_equal(word, SLICE("--stack"));
        wish->is_bare = wish->is_bare || slice_equal(word, SLICE("--bare"));
    }
}

struct track_wish track_wish_read(struct slice text)
{
    struct track_wish wish = {.names = SLICE(""), .labels = SLICE("")};

    for (size_t start = 0; start < text.size;) {
        size_t end = slice_find(text, SLICE(" "), start);

        read_word(&wish, slice_part(text, start, end));
        start = end + 1;
    }
    return wish;
}

static void add_word(struct buffer *text, struct slice option, struct slice value)
{
    buffer_add(text, text->size > 0 ? SLICE(" ") : SLICE(""));
    buffer_add(text, option);
    buffer_add(text, value);
}

void track_wish_write(const struct track_wish *wish, struct buffer *text)
{
    if (wish->is_calls) {
        add_word(text, SLICE("--calls"), SLICE(""));
    }
    if (wish->names.size > 0) {
        add_word(text, SLICE("--names="), wish->names);
    }
    if (wish->has_lines) {
        add_word(text, SLICE("--lines"), SLICE(""));
    }
    if (wish->has_stack) {
        add_word(text, SLICE("--stack"), SLICE(""));
    }
    if (wish->is_bare) {
        add_word(text, SLICE("--bare"), SLICE(""));
    }
    if (wish->depth > 0) {
        add_word(text, SLICE("--depth="), SLICE(""));
        buffer_add_number(text, wish->depth);
    }
    if (wish->when != TRACK_ALWAYS) {
        add_word(text, SLICE("--when="),
                 wish->when == TRACK_NAN ? SLICE("nan") : SLICE("changed"));
    }
    if (wish->labels.size > 0) {
        add_word(text, SLICE("--labels="), wish->labels);
    }
}

/* ---- names ---- */

bool track_wish_names(const struct track_wish *wish,
                      struct slice name,
                      struct slice path)
{
    struct slice rest = wish->names;
    struct slice glob;

    while (list_next(&rest, &glob)) {
        if (name_select(name, path, glob) != NAME_OTHER) {
            return true;
        }
    }
    return wish->names.size == 0 && !wish->is_calls;
}
