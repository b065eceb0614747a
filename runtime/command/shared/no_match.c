/* The names that were meant by filters that no event passed. */
#include "runtime/command/shared/no_match.h"

#include "runtime/base/nearest_name.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/text_table.h"
#include "runtime/command/subcommand.h"

/* The texts of a trace that each list of globs is matched with. */
struct candidates {
    struct text_table functions, names, files, modules;
};

static bool candidates_init(struct candidates *candidates)
{
    *candidates = (struct candidates){0};
    return text_table_init(&candidates->functions) &&
           text_table_init(&candidates->names) && text_table_init(&candidates->files) &&
           text_table_init(&candidates->modules);
}

static void candidates_release(struct candidates *candidates)
{
    text_table_release(&candidates->functions);
    text_table_release(&candidates->names);
    text_table_release(&candidates->files);
    text_table_release(&candidates->modules);
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

/* Site tables are complete, and so are the calls, when the stream has come to its end. */
static bool read_candidates(struct candidates *candidates, struct log_reader *reader)
{
    struct log_item item;
    uint32_t ignored;

    while (log_reader_next(reader, &item)) {
        bool is_value = item.kind == LOG_EVENT || item.kind == LOG_GRADIENT;

        if ((item.kind == LOG_CALL &&
             !text_table_add(&candidates->modules, item.call.path, &ignored)) ||
            (is_value &&
             !text_table_add(&candidates->names, item.event.name, &ignored))) {
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

/* Whether a glob selects a text: each list has its own matching. */
typedef bool (*selects_text)(struct slice text, struct slice glob);

static bool selects_name(struct slice text, struct slice glob)
{
    return name_select(text, SLICE(""), glob) != NAME_OTHER;
}

#define SHOWN_NAMES 3

/* Where no name is near: some of those that there are. */
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
            return; /* it is another filter that nothing passed */
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

void print_nearest(const char *path, const struct event_filter *filter)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    struct candidates candidates;

    if (filter->functions.count + filter->names.count + filter->files.count +
            filter->modules.count ==
        0) {
        return;
    }
    reader = log_reader_new(path, &error);
    if (candidates_init(&candidates) && reader != NULL &&
        read_candidates(&candidates, reader)) {
        print_list(path, "--function", &filter->functions, &candidates.functions,
                   glob_match);
        print_list(path, "--name", &filter->names, &candidates.names, selects_name);
        print_list(path, "--file", &filter->files, &candidates.files, file_select);
        print_list(path, "--module", &filter->modules, &candidates.modules, glob_match);
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

        is_read = reader != NULL && read_candidates(&candidates, reader);
        log_reader_free(reader);
    }
    for (size_t i = 0; is_read && i < count; i++) {
        print_glob(paths[1] == NULL ? paths[0] : "", option, globs[i],
                   &candidates.names, selects_name);
    }
    candidates_release(&candidates);
}
