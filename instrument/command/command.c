/* What the command monitorch-instrument does. */
#include "instrument/command/command.h"

#include "instrument/command/console.h"
#include "instrument/command/crew.h"
#include "instrument/command/options.h"
#include "instrument/command/plan.h"
#include "runtime/base/file/interrupt.h"
#include "runtime/base/file/output.h"

#include <stdio.h>

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
