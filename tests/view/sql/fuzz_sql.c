/* Any bytes as a trace (short_trace.h says how), asked in SQL by scans, look-ups and joins: no
 * query fails, and nothing that a terminal could obey comes out. */
#include "runtime/view/sql/session.h"
#include "tests/fuzz/short_trace.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const queries[] = {
    "select * from events",
    "select * from sites; select * from calls",
    "select * from edges",
    "select count(*), max(absmax) from events where nan > 0 and name is not null",
    "select module, value, shape from events where seq > 2 and seq < 9 and call = 1",
    "select s.code, c.module from events e join sites s using (site) join calls c "
    "using (call)",
    "select a.seq, b.name, b.module from events a join events b on b.seq = a.origin",
    "select c.call, e.seq from calls c cross join events e on e.call = c.call",
    "select a.call, b.call from calls a cross join calls b on b.parent = a.call",
    "with recursive s(q) as (select max(target) from edges union select source from "
    "edges"
    " join s on target = s.q) select * from s",
};

static bool check_text(void *context, struct slice text)
{
    size_t *size = context;

    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];

        if ((byte < ' ' && byte != '\n' && byte != '\t' && byte != '\r') ||
            byte == 0x7F) {
            abort();
        }
    }
    *size += text.size;
    return true;
}

static void ask(struct sql_session *session, const char *query, enum sql_format format)
{
    size_t written = 0;
    struct sql_print print = {
        .format = format,
        .has_header = true,
        .is_terminal = format == SQL_TABLE || format == SQL_CSV,
        .width = 80,
        .max_rows = 2000,
        .write = check_text,
        .context = &written,
    };
    struct sql_result result;
    struct sql_problem problem;
    struct error error = ERROR_INIT;

    if (!sql_session_run(session, slice_of(query), &print, &result, &problem, &error)) {
        fprintf(stderr, "%s: %s\n", query, error.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[SHORT_TRACE_PATH_SIZE];
    const char *paths[1] = {path};
    int file = short_trace_file(path);
    struct error error = ERROR_INIT;
    struct sql_session *session;

    short_trace_put(file, data, size);
    session = sql_session_new(paths, 1, NULL, &error);
    for (size_t i = 0; session != NULL && i < sizeof queries / sizeof *queries; i++) {
        ask(session, queries[i], (enum sql_format)(i % 4));
    }
    while (session != NULL && sql_session_next_damage(session, 0) != NULL) {
        /* Each is told once. */
    }
    sql_session_free(session);
    close(file);
    return 0;
}
