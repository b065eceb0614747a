/* Export of traces to an SQLite file. */
#include "runtime/view/sql/export.h"

#include "runtime/base/file/draft.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/inputs.h"
#include "runtime/base/memory.h"
#include "runtime/view/sql/session.h"
#include "runtime/view/sql/tables/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The application id "mtrc" in the file's header, which marks files that this exporter wrote. */
#define APPLICATION_ID     0x6D747263
#define APPLICATION_OFFSET 68
#define HEADER_SIZE        100
/* The number of SQLite's steps between two calls of `progress`. */
#define PROGRESS_STEPS 100000
/* The name prefix of the virtual tables of the traces, which sets them off from the tables of
 * the file. */
#define PREFIX "trace_"

struct export_state {
    const struct sql_export_options *options; /* borrowed */
    struct sql_traces traces;                 /* owned */
    sqlite3 *database;                        /* owned; may be NULL */
    char *path;                               /* owned; the file to replace */
    struct file_temporary temporary;
    bool is_stopped; /* by `progress` */
};

static const char *const indices[] = {
    "create index events_seq on events(seq)",
    "create index events_name on events(name)",
    "create index events_site on events(site)",
    "create index events_call on events(call)",
    "create index sites_site on sites(site)",
    "create index calls_call on calls(call)",
    "create index calls_parent on calls(parent)",
};

static const char *const edge_indices[] = {
    "create index edges_source on edges(source)",
    "create index edges_target on edges(target)",
};

/* ---- the file ---- */

/* Whether the existing file may be replaced: this exporter wrote it, or it is empty. */
static bool may_replace(const struct export_state *export, struct error *error)
{
    static const unsigned char ours[] = {
        APPLICATION_ID >> 24, APPLICATION_ID >> 16 & 0xFF, APPLICATION_ID >> 8 & 0xFF,
        APPLICATION_ID & 0xFF};
    struct file_info info = file_inspect(export->path);
    unsigned char header[HEADER_SIZE];
    ssize_t size = -1;
    int file;

    if (!file_inputs_refuse(export->path, error)) {
        return false;
    }
    if (!info.is_there || (export->options->is_forced && info.is_regular)) {
        return true;
    }
    file = info.is_regular ? open(export->path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        size = read(file, header, sizeof header);
        close(file);
    }
    if (size == 0 ||
        (size == HEADER_SIZE && memcmp(header, "SQLite format 3", 16) == 0 &&
         memcmp(header + APPLICATION_OFFSET, ours, sizeof ours) == 0)) {
        return true;
    }
    error_set(error, ERROR_USAGE, "%s: %s", export->path,
              info.is_regular
                  ? "is no file that this command wrote; --force replaces it"
                  : "is no regular file");
    return false;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_allocate(size, 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

/* Finds the real path of the file, so that the target of a symbolic link is replaced and not the
 * link. */
static bool
find_names(struct export_state *export, const char *path, struct error *error)
{
    char *real = realpath(path, NULL);

    export->path = copy_text(real == NULL ? path : real);
    free(real);
    return export->path != NULL || error_set_memory(error);
}

/* ---- SQLite ---- */

static bool fail(struct export_state *export, int code, struct error *error)
{
    if (code == SQLITE_NOMEM || export->database == NULL) {
        error_set_memory(error);
    } else if (export->is_stopped) {
        error_set(error, ERROR_USAGE, "%s: was interrupted", export->path);
    } else if (export->traces.error.kind != ERROR_NONE) {
        *error = export->traces.error;
    } else {
        error_set(error, ERROR_SYSTEM, "%s: %s", export->path,
                  sqlite3_errmsg(export->database));
    }
    return false;
}

static bool run(struct export_state *export, const char *text, struct error *error)
{
    int code = sqlite3_exec(export->database, text, NULL, NULL, NULL);

    return code == SQLITE_OK || fail(export, code & 0xFF, error);
}

static bool copy_table(struct export_state *export,
                       const struct sql_table *table,
                       struct error *error)
{
    struct buffer text = BUFFER_INIT;
    bool is_done = false;

    sql_table_declare(table, slice_of(table->name), &text);
    buffer_add_format(&text, "; insert into %s select * from " PREFIX "%s", table->name,
                      table->name);
    buffer_add_byte(&text, '\0');
    if (text.has_failed) {
        error_set_memory(error);
    } else {
        is_done = run(export, text.bytes, error);
    }
    buffer_release(&text);
    return is_done;
}

static bool run_all(struct export_state *export,
                    const char *const *texts,
                    size_t count,
                    struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!run(export, texts[i], error)) {
            return false;
        }
    }
    return true;
}

static int report_progress(void *context)
{
    struct export_state *export = context;

    export->is_stopped =
        export->options->progress != NULL &&
        !export->options->progress(export->options->context, export->traces.rows_read);
    return export->is_stopped;
}

/* Writes all tables without a journal, since the file is not visible before it is complete. */
static bool write_tables(struct export_state *export, struct error *error)
{
    char begin[160];
    bool has_edges = export->options->has_edges;
    bool is_done;

    snprintf(begin, sizeof begin,
             "pragma application_id = %d; pragma journal_mode = off; "
             "pragma synchronous = off; begin",
             APPLICATION_ID);
    is_done = run(export, begin, error);
    for (int i = 0; is_done && i < SQL_TABLE_COUNT; i++) {
        if (has_edges || strcmp(sql_tables[i]->name, "edges") != 0) {
            is_done = copy_table(export, sql_tables[i], error);
        }
    }
    return is_done &&
           run_all(export, indices, sizeof indices / sizeof *indices, error) &&
           (!has_edges || run_all(export, edge_indices,
                                  sizeof edge_indices / sizeof *edge_indices, error)) &&
           run(export, "commit", error);
}

static bool fill_database(struct export_state *export, struct error *error)
{
    bool is_done = false;
    int code = sqlite3_open_v2(export->temporary.path, &export->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    code = code == SQLITE_OK
               ? sql_tables_register(export->database, &export->traces, PREFIX)
               : code;
    if (code == SQLITE_OK) {
        sqlite3_progress_handler(export->database, PROGRESS_STEPS, report_progress,
                                 export);
        is_done = write_tables(export, error);
    } else {
        fail(export, code & 0xFF, error);
    }
    sqlite3_close(export->database);
    return is_done;
}

static bool fail_errno(struct export_state *export, struct error *error)
{
    error_set(error, ERROR_SYSTEM, "%s: %s", export->path, strerror(errno));
    return false;
}

static bool write_file(struct export_state *export, struct error *error)
{
    int file = file_temporary_open(&export->temporary, export->path);
    bool is_done;

    if (file < 0) {
        return fail_errno(export, error);
    }
    is_done = fill_database(export, error) && file_inputs_refuse(export->path, error);
    close(
        file); /* closed after the database, since close() drops SQLite's locks of the file */
    if (!is_done) {
        file_temporary_remove(&export->temporary);
        return false;
    }
    return file_temporary_rename(&export->temporary, export->path) ||
           fail_errno(export, error);
}

static void report_damage(struct export_state *export, struct sql_export_result *result)
{
    for (size_t i = 0; i < export->traces.count; i++) {
        struct sql_trace *trace = &export->traces.traces[i];
        const char *message;

        while ((message = sql_trace_next_damage(trace)) != NULL) {
            result->damage_count++;
            if (export->options->damage != NULL) {
                export->options->damage(export->options->context, trace->path, message);
            }
        }
    }
}

bool export_sqlite(const char *const *traces,
                   size_t trace_count,
                   source_strip strip,
                   const struct sql_export_options *options,
                   const char *path,
                   struct sql_export_result *result,
                   struct error *error)
{
    struct export_state export = {.options = options};
    bool is_done;

    *result = (struct sql_export_result){.event_count = 0};
    if (!sql_traces_init(&export.traces, traces, trace_count, strip, error)) {
        return false;
    }
    sql_memory_use();
    is_done = find_names(&export, path, error) && may_replace(&export, error) &&
              write_file(&export, error);
    result->event_count = export.traces.rows_read;
    report_damage(&export, result);
    sql_traces_release(&export.traces);
    memory_free(export.path);
    return is_done;
}
