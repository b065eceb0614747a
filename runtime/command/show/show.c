/* `monitorch show`: prints the events of traces, as a tree or as JSON. */
#include "instrument/output/strip.h"
#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/base/number_map.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/list/canonical.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/list/setting_list.h"
#include "runtime/view/list/site_list.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/tracklog/tracklog.h"
#include "runtime/view/walk/event_filter.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/walk/source_lines.h"
#include "runtime/view/words/value_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define TABLE_OF_OPTIONS "runtime/command/show/options.def"
struct show_options {
#include "runtime/base/arguments/option_fields.h"
    struct event_filter filter; /* owned */
    uint64_t head;              /* UINT64_MAX: all */
    uint64_t tail;              /* UINT64_MAX: all */
    bool is_tree;               /* print the tree log */
    bool has_labels;
    struct track_labels labels; /* of the tree log; borrowed from the command line */
    enum color color;
    struct trace_words traces; /* owned */
};

/* State while one trace is shown. */
struct show {
    const struct show_options *options; /* borrowed */
    const char *path;                   /* borrowed */
    struct log_reader *reader;          /* owned */
    struct source_lines sources;        /* owned */
    struct open_calls calls;            /* owned */
    struct tree_log tree;               /* owned */
    struct track_log *tracked;          /* owned; with --style tree, else NULL */
    bool has_tracked_calls;             /* show only tracked calls */
    struct buffer lines;                /* owned; the tree log's lines of one item */
    uint16_t tree_thread;               /* thread of the last lines */
    bool has_tree_thread;
    struct json_log json;
    struct canonical canonical;            /* owned */
    const struct canonical_thread *thread; /* the thread that is shown; NULL: all */
    bool is_heading_due;                   /* its heading precedes its first event */
    bool prints_notes;                     /* print only notes */
    struct buffer text;                    /* owned; text that is not written yet */
    struct number_map wanted_calls; /* owned; with --backward: call -> does it pass */
    bool is_selective; /* calls are shown with their first event that passes */
    bool is_counting;  /* count events, show nothing */
    bool has_failed;   /* memory ran out, or the text could not be written */
    uint64_t first;    /* index of the first matching event to be shown */
    uint64_t matched;  /* matching events so far */
    uint64_t seen;     /* events so far */
    uint64_t alarming; /* shown events with NaN or Inf */
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help show_help = {
    .usage =
        "monitorch show [options] TRACE...",
    .purpose =
    "Prints the events of a trace, one a line, below their calls: the source line,\n"
    "the name, the value, and the change since the name's last value. `!!` marks NaN\n"
    "and Inf.\n",
    .common = "function name nan",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The lines of the calls around the chosen events are printed too.\n"
    "\n"
    "Examples:\n"
    "  monitorch show run.mtrace | less\n"
    "  monitorch show --nan --head 1 run.mtrace\n"
    "  monitorch show --function 'Attention.*' --name q --source run.mtrace\n"
    "  monitorch show --style tree --function 'Attention.*' run.mtrace\n"
    "  monitorch show --canonical run.mtrace >run.txt\n"
    "  monitorch show --json run.mtrace | jq 'select(.nan > 0) | .line'\n"
    "\n"
    "Exit codes: 0 done; 1 no such event; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (the readable part is printed).\n",
};
/* clang-format on */

static void show_add_thread_heading(struct show *show);

static bool
read_style(struct show_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {"lines", "tree", NULL};
    int index;

    if (!argument_read_choice(&rules[OPTION_STYLE], argument, names, "lines or tree",
                              &index, error)) {
        return false;
    }
    options->is_tree = index == 1;
    return true;
}

static bool
read_labels(struct show_options *options, const char *argument, struct error *error)
{
    options->has_labels = true;
    if (!track_labels_change(&options->labels, slice_of(argument))) {
        return argument_refuse(&rules[OPTION_LABELS], argument,
                               "en, zh, or KEY:TEXT with commas between", error);
    }
    return true;
}

/* For struct argument_taker. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct show_options *options = context;

    switch (id) {
#include "runtime/base/arguments/option_cases.h"
    case OPTION_HEAD:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of events", &options->head, error);
    case OPTION_TAIL:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of events", &options->tail, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_STYLE:
        return read_style(options, argument, error);
    case OPTION_LABELS:
        return read_labels(options, argument, error);
    default: /* options that choose events; --help and --version were handled before */
        return event_filter_process(&options->filter, rules[id].text, argument, NULL,
                                    error);
    }
}

static bool check_lists(const struct show_options *options, struct error *error)
{
    bool has_more = !event_filter_is_empty(&options->filter) ||
                    options->head != UINT64_MAX || options->tail != UINT64_MAX ||
                    options->has_source || options->has_sample ||
                    options->is_canonical || options->is_tree;

    if (options->is_sites && (has_more || options->is_settings)) {
        return arguments_refuse("--sites lists all sites: only --json can be added",
                                error);
    }
    if (options->is_settings && has_more) {
        return arguments_refuse(
            "--settings lists all settings: only --json can be added", error);
    }
    return true;
}

static bool check(const struct show_options *options, struct error *error)
{
    if (options->traces.count == 0) {
        return trace_words_refuse_none(error);
    }
    if (options->is_json && options->has_source) {
        return arguments_refuse("--source is for text: remove it, or --json", error);
    }
    if (options->is_json && options->is_tree) {
        return arguments_refuse("--style is for text: remove it, or --json", error);
    }
    if (options->has_labels && !options->is_tree) {
        return arguments_refuse("--labels needs --style tree", error);
    }
    if (options->has_sample && !options->is_json) {
        return arguments_refuse("--sample needs --json", error);
    }
    if (options->is_canonical && options->filter.call != 0) {
        return arguments_refuse(
            "--call excludes --canonical, which replaces the trace's numbers of calls",
            error);
    }
    return check_lists(options, error);
}

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case. */
static bool show_options_read(struct show_options *options,
                              int word_count,
                              char **words,
                              struct error *error)
{
    *options = (struct show_options){.head = UINT64_MAX, .tail = UINT64_MAX};
    options->labels = track_labels_of_environment();
    event_filter_init(&options->filter);
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            option_apply, options, error) &&
           check(options, error);
}

static void show_options_release(struct show_options *options)
{
    event_filter_release(&options->filter);
    trace_words_release(&options->traces);
}

/* ---- messages ---- */

static const char *why_nothing(const struct show *show)
{
    return show->options->is_settings                   ? "has no settings"
           : show->options->is_sites                    ? "has no sites"
           : show->seen > 0 || show->options->head == 0 ? "no event matches"
                                                        : "has no events";
}

/* Prints the JSON record that nothing was shown. Returns false if it cannot be printed. */
static bool print_nothing(struct show *show)
{
    if (!show->options->is_json) {
        return true;
    }
    json_log_add_nothing(&show->json, slice_of(why_nothing(show)), &show->text);
    return output_flush(&show->text, 1);
}

/* Reports damage of the trace, or that nothing was shown, on standard error. */
static enum exit_code show_report_rest(struct show *show)
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

/* Prints the number of events after the last one, if a person reads them on a terminal. */
static void show_add_footer(const struct show *show)
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

/* ---- `monitorch show --style tree` ---- */

/* Whether the trace has tracked calls. If not, all calls are shown. */
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

/* Starts the tree log at the beginning of the trace, with --style tree. */
static void show_tree_begin(struct show *show)
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

/* Adds lines of a thread. Its name comes first if the lines before are of another thread. */
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

/* Prints the lines of an item. */
static void show_tree_add(struct show *show, const struct log_item *item)
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

#define NAME "show"
/* ---- one trace ---- */

static void flush(struct show *show, size_t limit)
{
    if (show->text.has_failed || show->tree.has_failed || show->sources.has_failed) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
        return;
    }
    show->has_failed = !output_flush(&show->text, limit) || show->has_failed;
}

/* Whether items of that thread are shown now. */
static bool is_thread_shown(const struct show *show, uint16_t thread)
{
    return !show->prints_notes &&
           (show->thread == NULL || show->thread->number == thread);
}

static void number_call(struct show *show, struct open_call *call)
{
    if (show->thread != NULL) {
        canonical_number_call(&show->canonical, call);
    }
}

static void show_add_thread_heading(struct show *show)
{
    if (show->is_heading_due) {
        show->is_heading_due = false;
        buffer_add(&show->text, SLICE("-- thread "));
        buffer_add_printable(&show->text, show->thread->name);
        buffer_add(&show->text, SLICE(" --\n"));
    }
}

static void show_call(struct show *show, struct open_call *call)
{
    if (!is_thread_shown(show, call->thread)) {
        return;
    }
    number_call(show, call);
    if (show->is_selective || show->is_counting || show->tracked != NULL) {
        return;
    }
    show_add_thread_heading(show);
    if (show->options->is_json) {
        json_log_add_call(&show->json, call, &show->text);
    } else {
        tree_log_add_call(&show->tree, call, &show->text);
    }
}

static void
show_event(struct show *show, const struct log_item *item, struct open_call *call)
{
    const struct log_event_view *event = &item->event;
    uint64_t index;

    number_call(show, call);
    show->json.sequence = show->seen++;
    if (!event_filter_match(&show->options->filter, call, event)) {
        return;
    }
    index = show->matched++;
    if (show->is_counting || index < show->first) {
        return;
    }
    show->alarming += value_has_nonfinite(event);
    if (show->tracked != NULL) {
        show_tree_add(show, item);
        return;
    }
    show_add_thread_heading(show);
    if (show->options->is_json) {
        json_log_add_event(&show->json, event, call, &show->text);
    } else {
        tree_log_add_event(&show->tree, event, call, &show->text);
    }
}

static void show_end(struct show *show, const struct log_item *item)
{
    struct open_call *call = open_calls_find(&show->calls, item->end.call);

    if (call == NULL) {
        return;
    }
    if (!is_thread_shown(show, call->thread)) {
        open_calls_end(&show->calls, call);
        return;
    }
    if (show->options->is_json && !show->is_counting) {
        json_log_add_end(&show->json, item, call, &show->text);
    } else if (show->tracked == NULL && !show->is_selective && !show->is_counting) {
        tree_log_add_end(&show->tree, item, call, &show->text);
    }
    open_calls_end(&show->calls, call);
}

/* Whether the gradient is shown. Its call may have ended long before, so `wanted_calls` is
 * asked. */
static bool is_gradient_wanted(const struct show *show,
                               const struct log_event_view *gradient)
{
    uint32_t known = number_map_get(&show->wanted_calls, gradient->call);
    struct open_call call = {.is_wanted = known == 1};

    return is_thread_shown(show, gradient->thread) &&
           event_filter_match(&show->options->filter, &call, gradient);
}

static void show_gradient(struct show *show, const struct log_event_view *gradient)
{
    uint64_t index;

    if (!is_gradient_wanted(show, gradient)) {
        return;
    }
    index = show->matched++;
    if (show->is_counting || index < show->first) {
        return;
    }
    show->alarming += value_has_nonfinite(gradient);
    if (show->options->is_json) {
        json_log_add_gradient(&show->json, gradient, &show->text);
    } else {
        tree_log_add_gradient(&show->tree, gradient, &show->text);
    }
}

static void show_step(struct show *show, const struct log_step_view *step)
{
    if (show->is_counting || show->matched < show->first ||
        !is_thread_shown(show, step->thread)) {
        return;
    }
    if (show->options->is_json) {
        json_log_add_step(&show->json, step, &show->text);
    } else {
        tree_log_add_step(&show->tree, step, &show->text);
    }
}

/* Shows a note. Notes have no thread, so if there are several threads, notes are shown before
 * them. */
static void show_note(struct show *show, const struct log_item *item)
{
    bool is_wanted = event_filter_is_empty(&show->options->filter) ||
                     item->note.tag == LOG_NOTE_WARNING;
    bool is_now = show->thread == NULL || show->canonical.thread_count == 1;
    /* The name under which a tensor was saved is of use to programs only. */
    bool is_readable = show->options->is_json || item->note.tag != LOG_NOTE_SAVED;
    struct log_item note = *item;

    if (show->is_counting || !is_readable || !is_wanted || !is_now ||
        show->matched < show->first) {
        return;
    }
    if (show->options->is_canonical) {
        note.note.text = canonical_text(&show->canonical, note.note.text);
    }
    if (show->options->is_json) {
        json_log_add_note(&show->json, &note, &show->text);
    } else {
        tree_log_add_note(&show->tree, &note, &show->text);
    }
}

/* The call is NULL if memory ran out. */
static void visit_call(struct show *show, struct open_call *call, bool is_new)
{
    if (call == NULL) {
        print_message(show->path, "out of memory");
        show->has_failed = true;
    } else if (is_new) {
        event_filter_judge(&show->options->filter, call, show->reader);
        call->shown_number = show->options->is_canonical ? 0 : call->shown_number;
        show->has_failed |=
            show->options->has_backward &&
            !number_map_put(&show->wanted_calls, call->call, call->is_wanted);
    }
}

static void show_item(struct show *show, const struct log_item *item)
{
    struct open_call *call;
    bool is_new = false;

    if (show->tracked != NULL && item->kind != LOG_EVENT) {
        show_tree_add(show, item);
    }
    switch (item->kind) {
    case LOG_CALL:
        call = open_calls_begin(&show->calls, &item->call, &is_new);
        visit_call(show, call, is_new);
        if (call != NULL && is_new && call->is_begun) {
            show_call(show, call);
        }
        break;
    case LOG_EVENT:
        if (!is_thread_shown(show, item->event.thread)) {
            break;
        }
        call = open_calls_of_event(&show->calls, &item->event, &is_new);
        visit_call(show, call, is_new);
        if (call != NULL) {
            show_event(show, item, call);
        }
        break;
    case LOG_END:
        show_end(show, item);
        break;
    case LOG_NOTE:
        show_note(show, item);
        break;
    case LOG_STEP:
        if (show->options->has_backward && show->tracked == NULL) {
            show_step(show, &item->step);
        }
        break;
    case LOG_GRADIENT:
        if (show->options->has_backward && show->tracked == NULL) {
            show_gradient(show, &item->event);
        }
        break;
    default:
        break;
    }
}

static void show_stream(struct show *show)
{
    struct log_item item;

    while (!show->has_failed && show->matched < show->options->head &&
           log_reader_next(show->reader, &item)) {
        show_item(show, &item);
        flush(show, OUTPUT_PIECE);
    }
    flush(show, 1);
}

/* Counts the events, for --tail, and finds the first one to show. */
static void count_stream(struct show *show)
{
    show->is_counting = true;
    show_stream(show);
    show->is_counting = false;
    if (show->matched > show->options->tail) {
        show->first = show->matched - show->options->tail;
    }
    show->matched = 0;
    show->seen = 0;
    open_calls_release(&show->calls);
    log_reader_rewind(show->reader);
}

/* ---- canonical ---- */

static void begin_trees(struct show *show)
{
    const struct show_options *options = show->options;

    open_calls_release(&show->calls);
    open_calls_init(&show->calls);
    tree_log_release(&show->tree);
    tree_log_init(&show->tree, show->reader, &show->sources);
    show->tree.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    show->tree.has_source = options->has_source;
    show->tree.is_canonical = options->is_canonical;
    if (options->is_tree) {
        show_tree_begin(show);
    }
}

static void begin_thread(struct show *show, size_t index)
{
    show->thread = &show->canonical.threads[index];
    show->canonical.call_number = 0;
    show->json.thread = index;
    show->json.thread_name = show->thread->name;
    begin_trees(show);
    log_reader_rewind(show->reader);
    show->is_heading_due = show->canonical.thread_count > 1 && !show->options->is_json;
}

/* Shows one thread after the other, since the order of events of several threads is not fixed. */
static void show_canonical(struct show *show)
{
    if (show->canonical.thread_count != 1) {
        show->prints_notes = true;
        show_stream(show);
        show->prints_notes = false;
    }
    for (size_t i = 0; i < show->canonical.thread_count && !show->has_failed &&
                       show->matched < show->options->head;
         i++) {
        begin_thread(show, i);
        show_stream(show);
    }
}

/* ---- lists ---- */

/* Reads the whole trace: a definition precedes its uses, but may be anywhere. */
static void read_definitions(struct show *show)
{
    struct log_item item;

    while (log_reader_next(show->reader, &item)) {}
}

static void show_settings(struct show *show)
{
    read_definitions(show);
    show->matched = setting_list_add(&show->text, show->reader, show->json.trace,
                                     show->options->is_json);
    flush(show, 1);
}

static void show_sites(struct show *show)
{
    read_definitions(show);
    for (uint32_t i = 0; i < log_reader_module_count(show->reader); i++) {
        const struct log_module *module = log_reader_module(show->reader, i);

        for (uint32_t k = 0; k < module->table.site_count && !show->has_failed; k++) {
            site_list_add(&show->text, module, k, show->json.trace,
                          show->options->is_json);
            show->matched++;
            flush(show, OUTPUT_PIECE);
        }
    }
    flush(show, 1);
}

static void add_trace_heading(struct show *show, struct slice name)
{
    if (show->options->traces.count > 1 && !show->options->is_json) {
        buffer_add(&show->text, SLICE("== "));
        buffer_add_printable(&show->text, name);
        buffer_add(&show->text, SLICE(" ==\n"));
    }
}

static void show_events(struct show *show)
{
    if (show->options->tail != UINT64_MAX) {
        count_stream(show);
    }
    if (show->options->is_canonical) {
        show_canonical(show);
    } else {
        show_stream(show);
    }
}

/* Shows one trace. `name` distinguishes it from the other traces. */
static enum exit_code
show_trace(const struct show_options *options, const char *path, struct slice name)
{
    struct show show = {.options = options, .path = path};
    struct error error = ERROR_INIT;
    enum exit_code exit_code;

    show.reader = log_reader_new(path, &error);
    if (show.reader == NULL ||
        (options->is_canonical &&
         !canonical_init(&show.canonical, show.reader, &error))) {
        print_message("", error.text);
        log_reader_free(show.reader);
        return EXIT_CODE_INPUT_FAILED;
    }
    log_reader_show_parameters(show.reader, options->has_backward);
    show.is_selective =
        !event_filter_is_empty(&options->filter) || options->tail != UINT64_MAX;
    show.json.reader = show.reader;
    show.json.has_sample = options->has_sample;
    show.json.trace = options->traces.count > 1 ? name : SLICE("");
    show.json.is_canonical = options->is_canonical;
    source_lines_init(&show.sources, show.reader, strip_source);
    begin_trees(&show);
    add_trace_heading(&show, name);
    if (options->is_settings) {
        show_settings(&show);
    } else if (options->is_sites) {
        show_sites(&show);
    } else {
        show_events(&show);
    }
    exit_code = show_report_rest(&show);
    show_add_footer(&show);
    canonical_release(&show.canonical);
    tree_log_release(&show.tree);
    track_log_free(show.tracked);
    buffer_release(&show.lines);
    source_lines_release(&show.sources);
    open_calls_release(&show.calls);
    number_map_release(&show.wanted_calls);
    buffer_release(&show.text);
    log_reader_free(show.reader);
    return exit_code;
}

enum exit_code show_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct show_options options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (!show_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        for (size_t i = 0; i < options.traces.count; i++) {
            const char *path = options.traces.words[i];
            char number[24];
            struct slice name = slice_of(path);

            if (options.is_canonical) {
                /* Traces are named by their numbers, since the names of processes' files vary. */
                snprintf(number, sizeof number, "%zu", i + 1);
                name = slice_of(number);
            }
            exit_code = exit_code_worse(exit_code, show_trace(&options, path, name));
        }
    }
    show_options_release(&options);
    return exit_code;
}
