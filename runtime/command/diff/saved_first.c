/* The first divergence of two folders of saved tensors, in words. */
#include "runtime/command/diff/saved_report.h"
#include "runtime/command/diff/text.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#define FUNCTION_LIMIT 160

static bool has_place(const struct saved_entry *entry)
{
    return entry != NULL && entry->tensor.file.size > 0 && entry->tensor.line > 0;
}

static void add_place(struct buffer *text, const struct saved_entry *entry)
{
    buffer_add_printable(text, entry->tensor.file);
    buffer_add_byte(text, ':');
    buffer_add_number(text, entry->tensor.line);
}

static void add_painted(struct buffer *text,
                        const struct saved_entry *entry,
                        void (*add)(struct buffer *, const struct saved_entry *),
                        bool has_color)
{
    paint_start(text, has_color, PAINT_CALL);
    add(text, entry);
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
}

static void
add_line(struct buffer *text, const struct diff_saved_finding *finding, bool has_color)
{
    const struct saved_entry *const *entries = finding->entries;
    const struct saved_entry *entry = entries[1] != NULL ? entries[1] : entries[0];
    const struct saved_entry *placed = has_place(entries[1]) ? entries[1] : entries[0];
    bool is_placed = has_place(placed);

    if (is_placed) {
        add_painted(text, placed, add_place, has_color);
    } else {
        add_painted(text, entry, diff_saved_add_name, has_color);
    }
    paint_start(text, has_color, PAINT_ALARM);
    buffer_add(text, SLICE("first divergence"));
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
    if (is_placed) {
        diff_saved_add_name(text, entry);
        buffer_add(text, SLICE(": "));
    }
    buffer_add(text, finding->words);
    buffer_add_byte(text, '\n');
}

/* What A has, where B has something else; the texts are released. */
static void
add_if_other(struct buffer *text, struct slice what, struct buffer *a, struct buffer *b)
{
    if (!slice_equal(buffer_slice(a), buffer_slice(b))) {
        buffer_add(text, what);
        buffer_add(text, buffer_slice(a));
        buffer_add_byte(text, '\n');
    }
    text->has_failed = text->has_failed || a->has_failed || b->has_failed;
    buffer_release(a);
    buffer_release(b);
}

/* What A has of it where that is something else. */
static void add_other_side(struct buffer *text,
                           const struct saved_entry *a,
                           const struct saved_entry *b)
{
    struct buffer names[2] = {BUFFER_INIT, BUFFER_INIT};
    struct buffer places[2] = {BUFFER_INIT, BUFFER_INIT};

    diff_saved_add_name(&names[0], a);
    diff_saved_add_name(&names[1], b);
    add_if_other(text, SLICE("  in A it is "), &names[0], &names[1]);
    if (has_place(a) && has_place(b)) {
        add_place(&places[0], a);
        add_place(&places[1], b);
    }
    add_if_other(text, SLICE("  in A, "), &places[0], &places[1]);
}

static void add_values(struct buffer *text,
                       const struct diff_saved_finding *finding,
                       bool has_color)
{
    for (unsigned side = 0; side < 2; side++) {
        buffer_add(text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
        value_text_add(text, finding->events[side], has_color);
        buffer_add_byte(text, '\n');
    }
    if (finding->distance != NULL) {
        buffer_add(text, SLICE("  distance: "));
        diff_distance_add(text, finding->distance, finding->events[1]->shape);
        buffer_add_byte(text, '\n');
    }
}

void diff_saved_first_add(struct buffer *text,
                          const struct diff_saved_finding *finding,
                          bool has_color)
{
    const struct saved_entry *const *entries = finding->entries;
    const struct saved_entry *entry = entries[1] != NULL ? entries[1] : entries[0];

    add_line(text, finding, has_color);
    if (entry->tensor.function.size > 0) {
        buffer_add(text, SLICE("  in "));
        text_add_shortened(text, entry->tensor.function, FUNCTION_LIMIT);
        buffer_add_byte(text, '\n');
    }
    if (entries[0] != NULL && entries[1] != NULL) {
        add_other_side(text, entries[0], entries[1]);
    }
    if (finding->events[0] != NULL) {
        add_values(text, finding, has_color);
    }
    if (finding->before != NULL) {
        buffer_add(text, SLICE("  before it "));
        diff_text_add_grouped(text, finding->equal_before);
        buffer_add(text, finding->equal_before == 1 ? SLICE(" is equal: ")
                                                    : SLICE(" are equal, the last: "));
        diff_saved_add_name(text, finding->before);
        if (has_place(finding->before)) {
            buffer_add(text, SLICE(" ("));
            add_place(text, finding->before);
            buffer_add_byte(text, ')');
        }
        buffer_add_byte(text, '\n');
    }
}
