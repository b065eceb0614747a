/* Suggestions for filters that match nothing: the nearest names of the trace. */
#include "runtime/command/shared/no_match.h"

#include "runtime/base/memory.h"
#include "runtime/base/nearest_name.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/text_table.h"
#include "runtime/command/subcommand.h"

/* Texts of a trace for each list of globs, and the ranges of its lines and calls. */
struct candidates {
    struct text_table functions, names, files, modules, threads, kinds;
    struct line_range calls; /* first is 0: the trace has none */
    struct line_range lines; /* lines with events */
    bool *has_line;          /* owned: by range of the filter; NULL: not needed */
};

static bool candidates_init(struct candidates *candidates)
{
    *candidates = (struct candidates){0};
    return text_table_init(&candidates->functions) &&
           text_table_init(&candidates->names) && text_table_init(&candidates->files) &&
           text_table_init(&candidates->modules) &&
           text_table_init(&candidates->threads) && text_table_init(&candidates->kinds);
}

static void candidates_release(struct candidates *candidates)
{
    text_table_release(&candidates->functions);
    text_table_release(&candidates->names);
    text_table_release(&candidates->files);
    text_table_release(&candidates->modules);
    text_table_release(&candidates->threads);
    text_table_release(&candidates->kinds);
    memory_free(candidates->has_line);
}

static void widen(struct line_range *range, size_t number)
{
    range->last = range->first == 0 || number > range->last ? number : range->last;
    range->first = range->first == 0 || number < range->first ? number : range->first;
}

static bool add_site(struct candidates *candidates, const struct site *site)
{
    uint32_t ignored;

    for (uint32_t i = 0; i < site->write_count; i++) {
        if (!text_table_add(&candidates->names, site->writes[i].name, &ignored)) {
            return false;
        }
    }
    return true;
}

static bool add_table(struct candidates *candidates, const struct site_table *table)
{
    uint32_t ignored;
    bool is_done =
        text_table_add(&candidates->files, table->path, &ignored) &&
        text_table_add(&candidates->files, slice_last_part(table->path, '/'), &ignored);

    for (uint32_t i = 0; is_done && i < table->function_count; i++) {
        is_done =
            text_table_add(&candidates->functions, table->functions[i].name, &ignored);
    }
    for (uint32_t i = 0; is_done && i < table->site_count; i++) {
        is_done = add_site(candidates, &table->sites[i]);
    }
    return is_done;
}

static bool add_call(struct candidates *candidates,
                     const struct log_call_view *call,
                     const struct log_reader *reader)
{
    struct buffer number = BUFFER_INIT;
    uint32_t ignored;
    bool is_done;

    widen(&candidates->calls, call->call);
    buffer_add_number(&number, call->thread);
    is_done = !number.has_failed &&
              text_table_add(&candidates->modules, call->path, &ignored) &&
              text_table_add(&candidates->threads, buffer_slice(&number), &ignored) &&
              text_table_add(&candidates->threads,
                             log_reader_thread_name(reader, call->thread), &ignored);
    buffer_release(&number);
    return is_done;
}

static bool add_event(struct candidates *candidates,
                      const struct log_event_view *event,
                      const struct event_filter *filter)
{
    uint32_t ignored;

    widen(&candidates->lines, event->site->line);
    for (size_t i = 0; candidates->has_line != NULL && i < filter->line_count; i++) {
        candidates->has_line[i] = candidates->has_line[i] ||
                                  line_range_has(filter->lines[i], event->site->line);
    }
    return text_table_add(&candidates->names, event->name, &ignored) &&
           text_table_add(&candidates->kinds,
                          slice_of(site_kind_text(event->site->kind)), &ignored);
}

/* Reads the whole trace: site tables and calls are complete only at its end. `filter` may be
 * NULL: lines are not checked then. Returns false if memory ran out. */
static bool read_candidates(struct candidates *candidates,
                            struct log_reader *reader,
                            const struct event_filter *filter)
{
    struct log_item item;

    if (filter != NULL && filter->line_count > 0) {
        candidates->has_line = memory_allocate_zeroed(filter->line_count, sizeof(bool));
        if (candidates->has_line == NULL) {
            return false;
        }
    }
    while (log_reader_next(reader, &item)) {
        bool is_value = item.kind == LOG_EVENT || item.kind == LOG_GRADIENT;

        if ((item.kind == LOG_CALL && !add_call(candidates, &item.call, reader)) ||
            (is_value && !add_event(candidates, &item.event, filter))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        if (!add_table(candidates, &log_reader_module(reader, i)->table)) {
            return false;
        }
    }
    return true;
}

/* Whether a glob selects a text. Each list of globs has its own function. */
typedef bool (*selects_text)(struct slice text, struct slice glob);

static bool selects_name(struct slice text, struct slice glob)
{
    return name_select(text, SLICE(""), glob) != NAME_OTHER;
}

#define SHOWN_NAMES 3

/* Adds some of the names, if none is near. */
static void add_some(struct buffer *line, const struct text_table *texts)
{
    uint32_t count = texts->count - 1; /* number 0 is the empty text */
    uint32_t shown = count <= SHOWN_NAMES + 1 ? count : SHOWN_NAMES;

    buffer_add(line, count == 0 ? SLICE("; there are none") : SLICE("; there are "));
    for (uint32_t i = 0; i < shown; i++) {
        buffer_add(line, i == 0                             ? SLICE("")
                         : i + 1 == shown && shown == count ? SLICE(" and ")
                                                            : SLICE(", "));
        buffer_add(line, texts->texts[i + 1]);
    }
    if (shown < count) {
        buffer_add(line, SLICE(" and "));
        buffer_add_number(line, count - shown);
        buffer_add(line, SLICE(" more"));
    }
}

static void print_glob(const char *path,
                       const char *option,
                       struct slice glob,
                       const struct text_table *texts,
                       selects_text selects)
{
    struct buffer line = BUFFER_INIT;
    struct nearest nearest;

    nearest_init(&nearest, glob);
    for (uint32_t i = 1; i < texts->count; i++) {
        if (selects(texts->texts[i], glob)) {
            return; /* it matches: another filter rejected the events */
        }
        nearest_add(&nearest, texts->texts[i]);
    }
    buffer_add(&line, slice_of(option));
    buffer_add_byte(&line, ' ');
    buffer_add(&line, glob);
    buffer_add(&line, SLICE(" matches nothing"));
    nearest_write(&nearest, &line);
    if (nearest.count == 0) {
        add_some(&line, texts);
    }
    buffer_add_byte(&line, '\0');
    if (!line.has_failed) {
        print_message(path, line.bytes);
    }
    buffer_release(&line);
}

static void print_list(const char *path,
                       const char *option,
                       const struct glob_list *globs,
                       const struct text_table *texts,
                       selects_text selects)
{
    for (size_t i = 0; i < globs->count; i++) {
        print_glob(path, option, globs->globs[i], texts, selects);
    }
}

/* ---- numbers ---- */

static void add_range(struct buffer *line, struct line_range range)
{
    buffer_add_number(line, range.first);
    if (range.last != range.first) {
        buffer_add_byte(line, '-');
    }
    if (range.last != range.first && range.last != SIZE_MAX) {
        buffer_add_number(line, range.last);
    }
}

/* Reports a range that matches nothing. `there` is the range of the trace's numbers, `what` its
 * description. */
static void print_range(const char *path,
                        const char *option,
                        struct line_range range,
                        const char *what,
                        struct line_range there)
{
    struct buffer line = BUFFER_INIT;

    buffer_add(&line, slice_of(option));
    buffer_add_byte(&line, ' ');
    add_range(&line, range);
    buffer_add(&line, SLICE(" matches nothing; "));
    buffer_add(&line, slice_of(what));
    if (there.first == 0) {
        buffer_add(&line, SLICE("none"));
    } else {
        add_range(&line, there);
    }
    buffer_add_byte(&line, '\0');
    if (!line.has_failed) {
        print_message(path, line.bytes);
    }
    buffer_release(&line);
}

static void print_numbers(const char *path,
                          const struct event_filter *filter,
                          const struct candidates *candidates)
{
    for (size_t i = 0; i < filter->line_count; i++) {
        if (!candidates->has_line[i]) {
            print_range(path, "--line", filter->lines[i], "the recorded lines are ",
                        candidates->lines);
        }
    }
    if (filter->call != 0 && !line_range_has(candidates->calls, filter->call)) {
        print_range(path, "--call", (struct line_range){filter->call, filter->call},
                    "the calls are ", candidates->calls);
    }
}

static void print_kinds(const char *path,
                        const struct event_filter *filter,
                        const struct text_table *kinds)
{
    for (int i = 0; i < SITE_KIND_COUNT; i++) {
        if ((filter->kinds >> i & 1) != 0) {
            print_glob(path, "--kind", slice_of(site_kind_text((enum site_kind)i)),
                       kinds, glob_match);
        }
    }
}

static bool is_named(const struct event_filter *filter)
{
    return filter->functions.count + filter->names.count + filter->files.count +
                   filter->modules.count + filter->threads.count + filter->line_count >
               0 ||
           filter->kinds != 0 || filter->call != 0;
}

void print_nearest(const char *path, const struct event_filter *filter)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    struct candidates candidates;

    if (!is_named(filter)) {
        return;
    }
    reader = log_reader_new(path, &error);
    if (candidates_init(&candidates) && reader != NULL &&
        read_candidates(&candidates, reader, filter)) {
        print_list(path, "--function", &filter->functions, &candidates.functions,
                   glob_match);
        print_list(path, "--name", &filter->names, &candidates.names, selects_name);
        print_list(path, "--file", &filter->files, &candidates.files, file_select);
        print_list(path, "--module", &filter->modules, &candidates.modules, glob_match);
        print_list(path, "--thread", &filter->threads, &candidates.threads, glob_match);
        print_kinds(path, filter, &candidates.kinds);
        print_numbers(path, filter, &candidates);
    }
    candidates_release(&candidates);
    log_reader_free(reader);
}

void print_unmatched_names(const char *const *paths,
                           const char *option,
                           const struct slice *globs,
                           size_t count)
{
    struct error error = ERROR_INIT;
    struct candidates candidates;
    bool is_read = candidates_init(&candidates);

    for (int i = 0; is_read && i < 2 && paths[i] != NULL; i++) {
        struct log_reader *reader = log_reader_new(paths[i], &error);

        is_read = reader != NULL && read_candidates(&candidates, reader, NULL);
        log_reader_free(reader);
    }
    for (size_t i = 0; is_read && i < count; i++) {
        print_glob(paths[1] == NULL ? paths[0] : "", option, globs[i],
                   &candidates.names, selects_name);
    }
    candidates_release(&candidates);
}
