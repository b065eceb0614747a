/* The command monitorch: finds the subcommand and runs it. */
#include "instrument/instrument.h"
#include "runtime/base/arguments/arguments.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/inputs.h"
#include "runtime/base/file/interrupt.h"
#include "runtime/base/file/output.h"
#include "runtime/base/nearest_name.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>
#include <string.h>

#define SUBCOMMAND(name, summary) {#name, summary, &name##_help, name##_run, false},
#define RUNNER(name, summary)     {#name, summary, &name##_help, name##_run, true},
static const struct subcommand subcommands[] = {
#include "runtime/command/subcommands.def"
};
#undef SUBCOMMAND
#undef RUNNER
#define SUBCOMMAND_COUNT (int)(sizeof subcommands / sizeof *subcommands)

const struct subcommand *subcommands_list(int *count)
{
    *count = SUBCOMMAND_COUNT;
    return subcommands;
}

enum exit_code print_text(const char *text)
{
    return output_print(slice_of(text)) ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;
}

void print_message(const char *path, const char *message)
{
    struct error clean = ERROR_INIT;
    char line[ERROR_TEXT_SIZE + 1];

    error_set(&clean, ERROR_INPUT, "%s%s%s", path, *path == '\0' ? "" : ": ", message);
    output_print_error(
        (struct slice){line, (size_t)snprintf(line, sizeof line, "%s\n", clean.text)});
}

enum exit_code refuse(const char *name, const struct error *error)
{
    const char *blank = name == NULL ? "" : " ";
    char text[ERROR_TEXT_SIZE + 160];
    int size;

    name = name == NULL ? "" : name;
    size = snprintf(text, sizeof text, "monitorch%s%s: %s\n", blank, name, error->text);
    if (error->kind == ERROR_USAGE) {
        size += snprintf(text + size, sizeof text - (size_t)size,
                         "`monitorch%s%s --help` lists the options\n", blank, name);
    }
    output_print_error((struct slice){text, (size_t)size});
    return error->kind == ERROR_USAGE ? EXIT_CODE_USAGE : EXIT_CODE_INPUT_FAILED;
}

enum exit_code print_buffer(struct buffer *text)
{
    enum exit_code exit_code =
        output_print(buffer_slice(text)) ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;

    buffer_release(text);
    return exit_code;
}

enum exit_code print_help(const struct help *help)
{
    struct buffer text = BUFFER_INIT;

    help_write(help, &text);
    return print_buffer(&text);
}

/* Each source line is one line of the help. */
/* clang-format off */
static const char summary_start[] =
    "usage: monitorch COMMAND ...\n"
    "\n"
    "Names the line of a PyTorch model that made the NaN, changed the shape, or first\n"
    "differed from the reference.\n"
    "\n"
    "Commands:\n";
static const char summary_end[] =
    "  help         print the help of a command: monitorch help why\n"
    "\n"
    "Options:\n"
    "  -V, --version   print the version\n"
    "  -h, --help      print this text\n"
    "\n"
    "Examples:\n"
    "  monitorch run train.py --epochs 1\n"
    "  monitorch why run.mtrace\n"
    "\n"
    "Exit codes: 0 done; 1 a check failed, the runs differ, or nothing matched;\n"
    "2 wrong usage; 3 an input could not be read, or only in part.\n";
/* clang-format on */

static enum exit_code print_summary(void)
{
    struct buffer text = BUFFER_INIT;

    buffer_add(&text, slice_of(summary_start));
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        buffer_add_format(&text, "  %-11s  %s\n", subcommands[i].name,
                          subcommands[i].summary);
    }
    buffer_add(&text, slice_of(summary_end));
    return print_buffer(&text);
}

/* Returns the subcommand of that name. NULL: there is none; `error` says which one was meant. */
static const struct subcommand *find(const char *name, struct error *error)
{
    const char *names[SUBCOMMAND_COUNT + 1];
    const char *nearest;

    if (slice_ends(slice_of(name), SLICE(".mtrace")) ||
        slice_ends(slice_of(name), SLICE(".py"))) {
        error_set(error, ERROR_USAGE,
                  "no command %.80s; did you mean `monitorch %s %.80s`?", name,
                  slice_ends(slice_of(name), SLICE(".py")) ? "run" : "show", name);
        return NULL;
    }
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(name, subcommands[i].name) == 0) {
            return &subcommands[i];
        }
        names[i] = subcommands[i].name;
    }
    names[SUBCOMMAND_COUNT] = "help";
    nearest = nearest_name(name, names, SUBCOMMAND_COUNT + 1);
    error_set(error, ERROR_USAGE, "no command %.80s%s%s%s", name,
              nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
              nearest == NULL ? "" : "?");
    return NULL;
}

static enum exit_code print_help_of(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    const struct subcommand *found;

    if (word_count < 2 || strcmp(words[1], "help") == 0 || words[1][0] == '-') {
        return print_summary();
    }
    found = find(words[1], &error);
    return found == NULL ? refuse(NULL, &error) : print_help(found->help);
}

static enum exit_code run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    const struct subcommand *found;
    const char *name = word_count < 2 ? "help" : words[1];

    if (strcmp(name, "help") == 0) {
        return print_help_of(word_count - 1, words + 1);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return print_summary();
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return print_text("monitorch " MONITORCH_VERSION "\n");
    }
    if (name[0] == '-') {
        error_set(&error, ERROR_USAGE, "no option %.80s before the command", name);
        return refuse(NULL, &error);
    }
    found = find(name, &error);
    if (found == NULL) {
        return refuse(NULL, &error);
    }
    if (found->is_runner) {
        return found->run(word_count - 1, words + 1);
    }
    if (arguments_want(word_count - 1, words + 1, "--help", "-h")) {
        return print_help(found->help);
    }
    if (arguments_want(word_count - 1, words + 1, "--version", "-V")) {
        return print_text("monitorch " MONITORCH_VERSION "\n");
    }
    return found->run(word_count - 1, words + 1);
}

int main(int word_count, char **words)
{
    interrupt_start();
    file_inputs_begin();
    return run(word_count, words);
}
