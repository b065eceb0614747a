/* `monitorch show --style tree`: the tree log of a trace. */
#include "instrument/output/strip.h"
#include "runtime/base/file/output.h"
#include "runtime/command/show/state.h"
#include "runtime/command/subcommand.h"

#include <unistd.h>

/* Whether the trace tells of tracked calls; else all of its calls are told. */
static bool has_tracked_calls(struct log_reader *reader)
{
    struct log_item item;
    bool has_some = false;

    while (!has_some && log_reader_next(reader, &item)) {
        has_some = item.kind == LOG_TRACKED;
    }
    log_reader_rewind(reader);
    return has_some;
}

void show_tree_begin(struct show *show)
{
    const struct show_options *options = show->options;

    if (show->tracked == NULL) {
        show->has_tracked_calls = has_tracked_calls(show->reader);
    }
    struct track_options how = {
        .labels = options->labels,
        .has_color = color_is_wanted(options->color, STDOUT_FILENO),
        .is_canonical = options->is_canonical,
        .is_all = !show->has_tracked_calls,
        .is_selective = show->is_selective,
        .has_lines = options->has_source,
        .strip = strip_source,
    };

    track_log_free(show->tracked);
    show->tracked = track_log_new(&how);
    show->has_failed = show->has_failed || show->tracked == NULL;
    show->has_tree_thread = false;
    if (show->tracked == NULL) {
        print_message(show->path, "out of memory");
    }
}

static void add_heading(struct show *show, uint16_t thread)
{
    struct slice name = log_reader_thread_name(show->reader, thread);

    buffer_add(&show->text, SLICE("-- thread "));
    if (name.size > 0) {
        buffer_add_printable(&show->text, name);
    } else {
        buffer_add_number(&show->text, thread);
    }
    buffer_add(&show->text, SLICE(" --\n"));
}

/* Lines of one thread stand together: where another one goes on, its name comes first. */
static void add_lines(struct show *show, uint16_t thread)
{
    bool is_other = show->has_tree_thread && show->tree_thread != thread;

    if (show->thread != NULL) {
        show_add_thread_heading(show);
    } else if (is_other) {
        add_heading(show, thread);
    }
    show->has_tree_thread = true;
    show->tree_thread = thread;
    buffer_add(&show->text, buffer_slice(&show->lines));
}

void show_tree_add(struct show *show, const struct log_item *item)
{
    uint16_t thread = 0;

    if (show->is_counting || show->prints_notes || show->tracked == NULL) {
        return;
    }
    show->lines.size = 0;
    track_log_add(show->tracked, item, &show->lines, &thread);
    if (show->lines.has_failed || track_log_has_failed(show->tracked)) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
    } else if (show->lines.size > 0 &&
               (show->thread == NULL || show->thread->number == thread)) {
        add_lines(show, thread);
    }
}
