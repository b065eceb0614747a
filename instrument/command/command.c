/* The command monitorch-instrument: runs the plan with several threads and prints the outcomes. */
#include "instrument/command/command.h"

#include "instrument/command/job.h"
#include "instrument/command/options.h"
#include "instrument/command/plan.h"
#include "runtime/base/file/interrupt.h"
#include "runtime/base/file/output.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct console {
    const struct options *options; /* borrowed */
    bool has_out_color;
    bool has_message_color;
    bool has_progress; /* standard error is a terminal and there are many files */
    bool is_line_shown;
    uint64_t shown_at; /* nanoseconds */
    size_t item_count;
    size_t done_count;
    /* sums of the outcomes */
    enum exit_code exit_code;
    size_t written_count;
    size_t failed_count;
    size_t function_count;
    size_t selected_count;
    size_t skipped_count;
};

/* ---- Standard output and standard error: colour, the progress line, the summary ---- */

#define PROGRESS_FILE_COUNT  20
#define PROGRESS_NANOSECONDS UINT64_C(100000000)
#define ERASE_LINE           "\r\033[K"

static void
console_init(struct console *console, const struct options *options, size_t item_count)
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
    if (path.size >
        50) { /* keeps the end of the path, which is more useful; the line must not wrap */
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

/* Prints the outcome of the next item, and adds it up. */
static void console_add(struct console *console,
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

/* Removes the progress line, and prints the summary if the mode has one. */
static void console_finish(struct console *console)
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

/* The crew: several threads that work through a plan. Their outcomes are printed in the plan's
 * order. */

/* The maximum number of outcomes that wait in memory to be printed. */
#define WINDOW 64

#define THREAD_COUNT_MAX  256
#define THREAD_STACK_SIZE ((size_t)8 << 20)

struct crew {
    const struct plan *plan;       /* borrowed */
    const struct options *options; /* borrowed */
    struct console *console;       /* borrowed; used under the lock */
    pthread_mutex_t lock;
    pthread_cond_t
        reported; /* signals that an outcome was printed, so there is room again */
    size_t next;  /* the first item that no thread has started */
    size_t reported_count;
    bool is_ready[WINDOW];           /* of item i at i % WINDOW */
    struct outcome outcomes[WINDOW]; /* owned */
};

/* Finds the next item. Returns false if no item is left. */
static bool crew_next(struct crew *crew, size_t *item)
{
    bool is_reading;

    pthread_mutex_lock(&crew->lock);
    while (crew->next < crew->plan->count &&
           crew->next - crew->reported_count >= WINDOW) {
        pthread_cond_wait(&crew->reported, &crew->lock);
    }
    is_reading = crew->next < crew->plan->count;
    if (is_reading) {
        *item = crew->next++;
    }
    pthread_mutex_unlock(&crew->lock);
    return is_reading;
}

/* Stores the item's outcome, and prints all outcomes whose turn it is. */
static void crew_hand_in(struct crew *crew, size_t item)
{
    pthread_mutex_lock(&crew->lock);
    crew->is_ready[item % WINDOW] = true;
    while (crew->is_ready[crew->reported_count % WINDOW]) {
        struct outcome *outcome = &crew->outcomes[crew->reported_count % WINDOW];

        console_add(crew->console, &crew->plan->items[crew->reported_count], outcome);
        outcome_release(outcome);
        outcome_init(outcome);
        crew->is_ready[crew->reported_count % WINDOW] = false;
        crew->reported_count++;
    }
    pthread_cond_broadcast(&crew->reported);
    pthread_mutex_unlock(&crew->lock);
}

static void *crew_work(void *context)
{
    struct crew *crew = context;
    struct worker worker;
    size_t item;

    worker_init(&worker, crew->options);
    worker.is_alone = crew->plan->count == 1;
    worker.has_out_color = crew->console->has_out_color;
    worker.has_message_color = crew->console->has_message_color;
    while (crew_next(crew, &item)) {
        worker_run(&worker, &crew->plan->items[item], &crew->outcomes[item % WINDOW]);
        crew_hand_in(crew, item);
    }
    worker_release(&worker);
    return NULL;
}

static size_t thread_count_of(const struct crew *crew)
{
    size_t count = crew->options->job_count;

    if (count == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        count = processors > 0 ? (size_t)processors : 1;
    }
    if (count > crew->plan->count) {
        count = crew->plan->count;
    }
    return count < THREAD_COUNT_MAX ? count : THREAD_COUNT_MAX;
}

/* Works in this thread and the new ones. A thread that cannot be started only makes it slower. */
static void crew_work_together(struct crew *crew)
{
    pthread_t threads[THREAD_COUNT_MAX];
    size_t wanted = thread_count_of(crew);
    size_t count = 0;
    pthread_attr_t attributes;

    if (wanted > 1 && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE);
        while (count + 1 < wanted &&
               pthread_create(&threads[count], &attributes, crew_work, crew) == 0) {
            count++;
        }
        pthread_attr_destroy(&attributes);
    }
    crew_work(crew);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Returns when every outcome has been printed. */
static void crew_run(const struct plan *plan,
                     const struct options *options,
                     struct console *console)
{
    struct crew crew = {.plan = plan, .options = options, .console = console};

    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.reported, NULL);
    for (size_t i = 0; i < WINDOW; i++) {
        outcome_init(&crew.outcomes[i]);
    }
    crew_work_together(&crew);
    for (size_t i = 0; i < WINDOW; i++) {
        outcome_release(&crew.outcomes[i]);
    }
    pthread_cond_destroy(&crew.reported);
    pthread_mutex_destroy(&crew.lock);
}

static enum exit_code refuse_usage(const char *name, const struct error *error)
{
    fprintf(stderr, "%s: %s\n", name, error->text);
    if (error->kind == ERROR_MEMORY) {
        return EXIT_CODE_INPUT_FAILED;
    }
    fprintf(stderr, "`%s --help` lists the options\n", name);
    return EXIT_CODE_USAGE;
}

static enum exit_code run(const char *name, const struct options *options)
{
    struct error error = ERROR_INIT;
    struct console console;
    struct plan plan;

    interrupt_start();
    if (!plan_make(&plan, options, &error)) {
        plan_release(&plan);
        return refuse_usage(name, &error);
    }
    console_init(&console, options, plan.count);
    crew_run(&plan, options, &console);
    console_finish(&console);
    plan_release(&plan);
    return console.exit_code;
}

static enum exit_code print(struct buffer *text)
{
    bool is_printed = output_print(buffer_slice(text));

    buffer_release(text);
    return is_printed ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;
}

static enum exit_code print_answer(enum mode mode)
{
    struct buffer text = BUFFER_INIT;

    if (mode == MODE_HELP) {
        help_write(&instrument_help, &text);
    } else {
        buffer_add(&text, SLICE("monitorch-instrument " MONITORCH_VERSION "\n"));
    }
    return print(&text);
}

enum exit_code instrument_command_run(const char *name, int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct options options;
    enum exit_code exit_code;

    if (!options_parse(&options, word_count, words, &error)) {
        exit_code = refuse_usage(name, &error);
    } else if (options.mode == MODE_HELP || options.mode == MODE_VERSION) {
        exit_code = print_answer(options.mode);
    } else {
        exit_code = run(name, &options);
    }
    options_release(&options);
    return exit_code;
}
