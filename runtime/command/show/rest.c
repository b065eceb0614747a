/* What `monitorch show` says beside the events. */
#include "runtime/base/file/output.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/show/state.h"
#include "runtime/command/subcommand.h"

#include <unistd.h>

static const char *why_nothing(const struct show *show)
{
    return show->options->is_settings                   ? "has no settings"
           : show->options->is_sites                    ? "has no sites"
           : show->seen > 0 || show->options->head == 0 ? "no event matches"
                                                        : "has no events";
}

/* False: it cannot be printed. */
static bool print_nothing(struct show *show)
{
    if (!show->options->is_json) {
        return true;
    }
    json_log_add_nothing(&show->json, slice_of(why_nothing(show)), &show->text);
    return output_flush(&show->text, 1);
}

enum exit_code show_report_rest(struct show *show)
{
    enum exit_code exit_code = trace_report_damage(show->path, show->reader);

    if (show->has_failed) {
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    if (!show->options->is_quiet) {
        trace_report_remarks(show->path, log_reader_header(show->reader),
                             exit_code != EXIT_CODE_DONE, "shown");
    }
    if (show->matched == 0 && exit_code == EXIT_CODE_DONE) {
        print_message(show->path, why_nothing(show));
        print_nearest(show->path, &show->options->filter);
        return print_nothing(show) ? EXIT_CODE_CHECK_FAILED : EXIT_CODE_INPUT_FAILED;
    }
    return exit_code;
}

static void add_count(struct buffer *text, uint64_t count, const char *noun)
{
    buffer_add_number(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(noun));
    buffer_add(text, count == 1 ? SLICE("") : SLICE("s"));
}

void show_add_footer(const struct show *show)
{
    const struct log_header *header = log_reader_header(show->reader);
    struct buffer line = BUFFER_INIT;
    uint64_t shown = show->matched > show->first ? show->matched - show->first : 0;

    if (show->options->is_quiet || show->options->is_json || show->options->is_sites ||
        show->options->is_settings || shown == 0 || !isatty(STDOUT_FILENO) ||
        !isatty(STDERR_FILENO)) {
        return;
    }
    add_count(&line, shown, "event");
    if (shown < show->seen) {
        buffer_add(&line, SLICE(" of "));
        buffer_add_number(&line, show->seen);
    }
    if (header->last != 0 && show->options->head == UINT64_MAX &&
        header->event_count > show->seen && shown == show->seen) {
        buffer_add(&line, SLICE(", the newest of "));
        buffer_add_number(&line, header->event_count);
    }
    if (show->alarming > 0) {
        buffer_add(&line, SLICE(", "));
        buffer_add_number(&line, show->alarming);
        buffer_add(&line, SLICE(" with NaN or Inf (--nan shows only these)"));
    }
    buffer_add_byte(&line, '\n');
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
}
