/* The names that were meant by filters that no event passed. */
#include "runtime/command/shared/no_match.h"

#include "runtime/base/nearest_name.h"
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
        if (item.kind == LOG_CALL &&
            !text_table_add(&candidates->modules, item.call.path, &ignored)) {
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

static void print_glob(const char *path,
                       const char *option,
                       struct slice glob,
                       const struct text_table *texts)
{
    struct buffer line = BUFFER_INIT;
    struct nearest nearest;

    nearest_init(&nearest, glob);
    for (uint32_t i = 1; i < texts->count; i++) {
        if (slice_match(texts->texts[i], glob)) {
            return; /* it is another filter that nothing passed */
        }
        nearest_add(&nearest, texts->texts[i]);
    }
    if (nearest.count == 0) {
        return;
    }
    buffer_add(&line, slice_of(option));
    buffer_add_byte(&line, ' ');
    buffer_add(&line, glob);
    buffer_add(&line, SLICE(" matches nothing"));
    nearest_write(&nearest, &line);
    buffer_add_byte(&line, '\0');
    if (!line.has_failed) {
        print_message(path, line.bytes);
    }
    buffer_release(&line);
}

static void print_list(const char *path,
                       const char *option,
                       const struct glob_list *globs,
                       const struct text_table *texts)
{
    for (size_t i = 0; i < globs->count; i++) {
        print_glob(path, option, globs->globs[i], texts);
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
        print_list(path, "--function", &filter->functions, &candidates.functions);
        print_list(path, "--name", &filter->names, &candidates.names);
        print_list(path, "--file", &filter->files, &candidates.files);
        print_list(path, "--module", &filter->modules, &candidates.modules);
    }
    candidates_release(&candidates);
    log_reader_free(reader);
}
