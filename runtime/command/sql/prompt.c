/* The prompt of `monitorch sql`. */
#include "runtime/command/sql/prompt.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/interrupt.h"
#include "runtime/base/file/output.h"
#include "runtime/command/subcommand.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char prompt_first[] = "sql> ";
static const char prompt_more[] = "...> ";

struct prompt {
    struct sql_run *run;    /* borrowed */
    struct buffer input;    /* owned; read, and not used yet */
    struct buffer query;    /* owned; its lines so far */
    atomic_bool is_running; /* a query */
    atomic_bool is_cleared; /* by Ctrl-C: the lines so far do not count */
    bool is_at_end;         /* of standard input */
};

/* ---- Ctrl-C ---- */

static bool handle_signal(void *context, int signal_number)
{
    struct prompt *prompt = context;

    if (signal_number != SIGINT) {
        return false;
    }
    if (atomic_load(&prompt->is_running)) {
        sql_session_interrupt(prompt->run->session);
        return true;
    }
    /* The terminal has dropped what was typed of this line. */
    atomic_store(&prompt->is_cleared, true);
    output_print(SLICE("\n"));
    output_print(slice_of(prompt_first));
    return true;
}

/* ---- lines ---- */

/* The next line with its end, into `line`; false at the end of the input. */
static bool read_line(struct prompt *prompt, struct buffer *line)
{
    char bytes[4096];

    line->size = 0;
    for (;;) {
        struct slice input = buffer_slice(&prompt->input);
        size_t end = slice_find(input, SLICE("\n"), 0);
        ssize_t size;

        if (end < input.size || (prompt->is_at_end && input.size > 0)) {
            end = end < input.size ? end + 1 : end;
            buffer_add(line, slice_part(input, 0, end));
            memmove(prompt->input.bytes, prompt->input.bytes + end, input.size - end);
            prompt->input.size -= end;
            return !line->has_failed;
        }
        if (prompt->is_at_end) {
            return false;
        }
        size = read(STDIN_FILENO, bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        prompt->is_at_end = size <= 0;
        buffer_add_bytes(&prompt->input, bytes, size > 0 ? (size_t)size : 0);
        if (prompt->input.has_failed) {
            return false;
        }
    }
}

/* ---- commands ---- */

static const char help_text[] =
    "A query ends with a semicolon, and may have several lines:\n"
    "    select file, line, name, nan from events where nan > 0 limit 5;\n"
    "Commands, each on a line of its own:\n"
    "    .tables         print the names of the tables\n"
    "    .schema TABLE   print the columns of one table, or of all\n"
    "    .help           print this text\n"
    "    .quit           leave the prompt, as Ctrl-D does\n"
    "Ctrl-C stops a running query, and drops the typed text.\n";

static void print_schema(const struct prompt *prompt, const char *name)
{
    struct buffer text = BUFFER_INIT;

    if (sql_schema_add(&text, name, prompt->run->print.has_color)) {
        output_print(buffer_slice(&text));
    } else {
        print_message("", "no such table; there are events, sites, calls and edges");
    }
    buffer_release(&text);
}

/* A line that begins with a point. false ends the prompt. */
static bool run_command(const struct prompt *prompt, char *line)
{
    char *rest = NULL;
    char *word = strtok_r(line,
                          " \t\r\n"
                          ";",
                          &rest);
    const char *argument = strtok_r(NULL,
                                    " \t\r\n"
                                    ";",
                                    &rest);

    if (word == NULL) {
        return true;
    }
    if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0) {
        return false;
    }
    if (strcmp(word, ".help") == 0) {
        print_text(help_text);
    } else if (strcmp(word, ".tables") == 0) {
        print_text("events  sites  calls  edges\n");
    } else if (strcmp(word, ".schema") == 0) {
        print_schema(prompt, argument);
    } else {
        print_message(word, "no such command; .help lists them");
    }
    return true;
}

/* ---- the loop ---- */

static void run_query(struct prompt *prompt)
{
    struct slice query = buffer_slice(&prompt->query);

    query.size--; /* its NUL */
    atomic_store(&prompt->is_running, true);
    sql_run_text(prompt->run, query);
    atomic_store(&prompt->is_running, false);
    prompt->query.size = 0;
}

/* false ends the prompt. */
static bool next_line(struct prompt *prompt, struct buffer *line)
{
    if (atomic_exchange(&prompt->is_cleared, false)) {
        prompt->query.size = 0;
    }
    if (prompt->query.size == 0 && line->bytes[0] == '.') {
        buffer_add_byte(line, '\0');
        return line->has_failed || run_command(prompt, line->bytes);
    }
    buffer_add(&prompt->query, buffer_slice(line));
    buffer_add_byte(&prompt->query, '\0');
    if (prompt->query.has_failed) {
        return false;
    }
    if (sql_is_blank(prompt->query.bytes)) {
        prompt->query.size = 0;
    } else if (sql_is_complete(prompt->query.bytes)) {
        run_query(prompt);
    } else {
        prompt->query.size--; /* the NUL */
    }
    return true;
}

enum exit_code sql_prompt(struct sql_run *run)
{
    struct prompt prompt = {.run = run};
    struct buffer line = BUFFER_INIT;
    bool is_out_of_memory;

    run->is_prompt = true;
    interrupt_ask(handle_signal, &prompt);
    print_text("Tables: events, sites, calls, edges. A query ends with `;`. "
               ".schema lists the columns, .help the commands.\n");
    do {
        output_print(slice_of(prompt.query.size == 0 ? prompt_first : prompt_more));
    } while (read_line(&prompt, &line) && next_line(&prompt, &line) &&
             !run->has_failed);
    if (prompt.is_at_end) {
        print_text("\n");
    }
    interrupt_ask(NULL, NULL);
    is_out_of_memory =
        line.has_failed || prompt.input.has_failed || prompt.query.has_failed;
    if (is_out_of_memory) {
        print_message("", "out of memory");
    }
    buffer_release(&line);
    buffer_release(&prompt.query);
    buffer_release(&prompt.input);
    return is_out_of_memory || run->has_failed ? EXIT_CODE_INPUT_FAILED
                                               : EXIT_CODE_DONE;
}
