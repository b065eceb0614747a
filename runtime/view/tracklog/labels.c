/* The labels of the tree log. */
#include "runtime/view/tracklog/labels.h"

#include "runtime/view/words/paint.h"

#include <stdlib.h>

#define LABEL_LIMIT 60

struct label {
    const char *key;
    const char *english;
    const char *chinese;
};

static const struct label all_labels[TRACK_LABEL_COUNT] = {
#define LABEL(name, key, english, chinese) {key, english, chinese},
#include "runtime/view/tracklog/labels.def"
#undef LABEL
};

const char track_label_keys[] =
#define LABEL(name, key, english, chinese) " " key
#include "runtime/view/tracklog/labels.def"
#undef LABEL
    ;

static bool is_chinese(struct slice locale)
{
    return slice_starts(locale, SLICE("zh")) &&
           (locale.size == 2 || locale.bytes[2] == '_' || locale.bytes[2] == '-' ||
            locale.bytes[2] == '.');
}

struct track_labels track_labels_of(struct slice locale)
{
    struct track_labels labels;
    bool chinese = is_chinese(locale);

    for (int i = 0; i < TRACK_LABEL_COUNT; i++) {
        labels.texts[i] =
            slice_of(chinese ? all_labels[i].chinese : all_labels[i].english);
    }
    return labels;
}

struct track_labels track_labels_of_environment(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '\0') {
            return track_labels_of(slice_of(value));
        }
    }
    return track_labels_of(SLICE(""));
}

static bool change_one(struct track_labels *labels, struct slice change)
{
    size_t colon = slice_find(change, SLICE(":"), 0);
    struct slice key = slice_part(change, 0, colon);

    for (int i = 0; i < TRACK_LABEL_COUNT && colon < change.size; i++) {
        if (slice_equal(key, slice_of(all_labels[i].key))) {
            labels->texts[i] = slice_part(change, colon + 1, change.size);
            return true;
        }
    }
    return false;
}

bool track_labels_change(struct track_labels *labels, struct slice changes)
{
    bool all_known = true;

    if (slice_equal(changes, SLICE("en")) || is_chinese(changes)) {
        *labels = track_labels_of(changes);
        return true;
    }
    for (size_t start = 0; start < changes.size;) {
        size_t end = slice_find(changes, SLICE(","), start);

        all_known = change_one(labels, slice_part(changes, start, end)) && all_known;
        start = end + 1;
    }
    return all_known;
}

static void add_escaped(struct buffer *text, char byte)
{
    switch (byte) {
    case ' ':
        buffer_add(text, SLICE("%20"));
        break;
    case ',':
        buffer_add(text, SLICE("%2C"));
        break;
    case ':':
        buffer_add(text, SLICE("%3A"));
        break;
    case '%':
        buffer_add(text, SLICE("%25"));
        break;
    default:
        buffer_add_byte(text, byte);
    }
}

bool track_labels_write(struct slice key, struct slice label, struct buffer *changes)
{
    bool is_known = false;

    for (int i = 0; i < TRACK_LABEL_COUNT; i++) {
        is_known = is_known || slice_equal(key, slice_of(all_labels[i].key));
    }
    if (!is_known) {
        return false;
    }
    buffer_add(changes, changes->size > 0 ? SLICE(",") : SLICE(""));
    buffer_add(changes, key);
    buffer_add_byte(changes, ':');
    for (size_t i = 0; i < label.size; i++) {
        add_escaped(changes, label.bytes[i]);
    }
    return true;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

void track_labels_add(const struct track_labels *labels,
                      enum track_label label,
                      struct buffer *text)
{
    struct slice written = labels->texts[label];
    char read[LABEL_LIMIT + 1];
    size_t size = 0;

    for (size_t i = 0; i < written.size && size < LABEL_LIMIT; i++) {
        if (written.bytes[i] == '%' && i + 2 < written.size &&
            hex_digit(written.bytes[i + 1]) >= 0 &&
            hex_digit(written.bytes[i + 2]) >= 0) {
            read[size++] = (char)(hex_digit(written.bytes[i + 1]) * 16 +
                                  hex_digit(written.bytes[i + 2]));
            i += 2;
        } else {
            read[size++] = written.bytes[i];
        }
    }
    text_add_shortened(text, (struct slice){read, size}, LABEL_LIMIT);
}
