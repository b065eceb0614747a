/* The command monitorch-instrument. */
#include "instrument/console.h"
#include "instrument/crew.h"
#include "instrument/options.h"
#include "instrument/plan.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/output.h"

#include <stdio.h>

static int refuse_usage(const struct error *error)
{
    fprintf(stderr, "monitorch-instrument: %s\n", error->text);
    if (error->kind == ERROR_MEMORY) {
        return EXIT_CODE_INPUT_FAILED;
    }
    fprintf(stderr, "`monitorch-instrument --help` tells what there is\n");
    return EXIT_CODE_USAGE;
}

static int run(const struct options *options)
{
    struct error error = ERROR_INIT;
    struct console console;
    struct plan plan;

    interrupt_start();
    if (!plan_make(&plan, options, &error)) {
        plan_release(&plan);
        return refuse_usage(&error);
    }
    console_init(&console, options, plan.count);
    crew_run(&plan, options, &console);
    console_finish(&console);
    plan_release(&plan);
    return console.exit_code;
}

static int print(const char *text)
{
    return output_print(slice_of(text)) ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;
}

int main(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct options options;
    int exit_code;

    if (!options_parse(&options, word_count, words, &error)) {
        exit_code = refuse_usage(&error);
    } else if (options.mode == MODE_HELP) {
        exit_code = print(options_help);
    } else if (options.mode == MODE_VERSION) {
        exit_code = print("monitorch-instrument " MONITORCH_VERSION "\n");
    } else {
        exit_code = run(&options);
    }
    options_release(&options);
    return exit_code;
}
