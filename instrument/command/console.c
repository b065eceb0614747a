/* Standard output and standard error: colour, the progress line, the summary. */
#include "instrument/command/console.h"

#include "runtime/base/file/output.h"

#include <time.h>
#include <unistd.h>

#define PROGRESS_FILE_COUNT  20
#define PROGRESS_NANOSECONDS UINT64_C(100000000)
#define ERASE_LINE           "\r\033[K"

void console_init(struct console *console,
                  const struct options *options,
                  size_t item_count)
{
    *console = (struct console){
        .options = options,
        .has_out_color = color_is_wanted(options->color, STDOUT_FILENO),
        .has_message_color = color_is_wanted(options->color, STDERR_FILENO),
        .has_progress = !options->is_quiet && item_count >= PROGRESS_FILE_COUNT &&
                        isatty(STDERR_FILENO),
        .item_count = item_count,
    };
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void erase_progress(struct console *console)
{
    if (console->is_line_shown) {
        output_print_error(SLICE(ERASE_LINE));
        console->is_line_shown = false;
    }
}

static void show_progress(struct console *console, const struct item *item)
{
    uint64_t time = now();
    struct buffer line = BUFFER_INIT;
    struct slice path = slice_of(item->path);

    if (console->shown_at != 0 && time - console->shown_at < PROGRESS_NANOSECONDS) {
        return;
    }
    if (path.size > 50) { /* its end tells more; the line must not wrap */
        path = slice_part(path, path.size - 50, path.size);
    }
    buffer_add_format(&line, ERASE_LINE "%zu/%zu ", console->done_count,
                      console->item_count);
    buffer_add_printable(&line, path);
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
    console->is_line_shown = true;
    console->shown_at = time;
}

static void console_raise_code(struct console *console, enum exit_code code)
{
    if (code > console->exit_code) {
        console->exit_code = code;
    }
}

void console_add(struct console *console,
                 const struct item *item,
                 const struct outcome *outcome)
{
    console->done_count++;
    console_raise_code(console, outcome->exit_code);
    console->written_count += outcome->is_written;
    console->failed_count += outcome->exit_code == EXIT_CODE_INPUT_FAILED;
    console->function_count += outcome->function_count;
    console->selected_count += outcome->selected_count;
    console->skipped_count += outcome->skipped_count;
    if (outcome->out.size > 0 || outcome->messages.size > 0) {
        erase_progress(console);
    }
    if (outcome->exit_code == EXIT_CODE_INPUT_FAILED && outcome->messages.size == 0) {
        output_print_error(SLICE("out of memory\n"));
    }
    output_print_error(buffer_slice(&outcome->messages));
    if (!output_print(buffer_slice(&outcome->out))) {
        console_raise_code(console, EXIT_CODE_INPUT_FAILED);
    }
    if (console->has_progress) {
        show_progress(console, item);
    }
}

static void add_count(struct buffer *text, size_t count, const char *noun)
{
    buffer_add_number(text, count);
    buffer_add_format(text, " %s%s", noun, count == 1 ? "" : "s");
}

void console_finish(struct console *console)
{
    enum mode mode = console->options->mode;
    bool is_instrumenting = mode == MODE_INSTRUMENT || mode == MODE_LIST;
    bool has_summary = console->item_count > 1 && mode <= MODE_STRIP;
    struct buffer line = BUFFER_INIT;

    erase_progress(console);
    if (console->options->is_quiet || (!has_summary && console->skipped_count == 0)) {
        return;
    }
    if (mode != MODE_LIST) {
        add_count(&line, console->written_count, "file");
        buffer_add(&line, SLICE(" written"));
    }
    if (mode != MODE_LIST && console->failed_count > 0) {
        buffer_add_format(&line, ", %zu failed", console->failed_count);
    }
    if (is_instrumenting) {
        double share = console->function_count == 0
                           ? 0
                           : 100.0 * (double)console->skipped_count /
                                 (double)console->function_count;

        buffer_add(&line, line.size > 0 ? SLICE("; ") : SLICE(""));
        buffer_add_format(&line, "%zu of ", console->selected_count);
        add_count(&line, console->function_count, "function");
        buffer_add(&line, SLICE(" instrumented, "));
        buffer_add_format(&line, "%zu skipped (%.3f%%)", console->skipped_count, share);
    }
    buffer_add_byte(&line, '\n');
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
}
