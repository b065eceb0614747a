/* `monitorch run`: finds the Python of the environment and makes it run the program. */
#include "runtime/base/file/interrupt.h"
#include "runtime/base/memory.h"
#include "runtime/command/subcommand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 4096

static const char *const interpreters[] = {"python3", "python"};

/* Whether FOLDER/NAME is an executable; `path` becomes its name. */
static bool
is_program(const char *folder, size_t size, const char *name, char path[PATH_SIZE])
{
    int length = snprintf(path, PATH_SIZE, "%.*s%s%s", (int)size, folder,
                          size == 0 ? "" : "/", name);

    return length < PATH_SIZE && access(path, X_OK) == 0;
}

/* Finds the interpreter next to this command, where an environment has it even if it is not
 * activated. */
static bool find_beside(char path[PATH_SIZE])
{
    char own[PATH_SIZE];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own);
    const char *end = size < 1 ? NULL : memrchr(own, '/', (size_t)size);

    return end != NULL && is_program(own, (size_t)(end - own), "python3", path);
}

/* Finds the first interpreter on the PATH, as `env` does. */
static bool find_on_path(char path[PATH_SIZE])
{
    const char *folders = getenv("PATH");

    for (int i = 0; folders != NULL && i < 2; i++) {
        for (const char *folder = folders;;) {
            size_t size = strcspn(folder, ":");

            if (is_program(folder, size, interpreters[i], path)) {
                return true;
            }
            if (folder[size] == '\0') {
                break;
            }
            folder += size + 1;
        }
    }
    return false;
}

/* Asks the interpreter whether it has the package: its own `No module named monitorch` would
 * name neither the interpreter nor a solution. */
static bool has_package(const char *python)
{
    static const char question[] = "import importlib.util as u, sys; "
                                   "sys.exit(u.find_spec('monitorch') is None)";
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        execl(python, python, "-c", question, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    /* If it could not be asked, the run itself shows the error. */
    return child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 1;
}

static enum exit_code refuse_python(const char *format, const char *python)
{
    struct error error = ERROR_INIT;

    error_set(&error, ERROR_INPUT, format, python);
    return refuse("run", &error);
}

/* Whether the option is among monitorch's own words, which end at the program's name, -m or -c. */
static bool has_option(int word_count, char **words, char letter)
{
    struct error error = ERROR_INIT;
    struct arguments arguments;
    struct argument found;

    arguments_init(&arguments, run_help.rules, run_help.rule_count, word_count, words);
    while (arguments_next(&arguments, &found, &error) && found.rule >= 0) {
        if (run_help.rules[found.rule].letter == letter) {
            return true;
        }
    }
    return false;
}

/* Replaces the process by the interpreter. Returns only if that failed. */
static void execute(const char *python, int word_count, char **words)
{
    char **all = memory_allocate_zeroed((size_t)word_count + 4, sizeof *all);
    char *start[] = {(char *)python, "-m", "monitorch"};

    if (all == NULL) {
        return;
    }
    memcpy(all, start, sizeof start);
    memcpy(all + 3, words, (size_t)word_count * sizeof *words);
    execv(python, all);
    memory_free(all);
}

enum exit_code run_run(int word_count, char **words)
{
    char python[PATH_SIZE];

    if (has_option(word_count, words, 'h')) {
        return print_help(&run_help);
    }
    interrupt_restore();
    if (!find_beside(python) && !find_on_path(python)) {
        return refuse_python("no python3 is on the PATH%s; activate an environment, or "
                             "run `PYTHON -m monitorch run`",
                             "");
    }
    if (!has_package(python)) {
        return refuse_python("%s has no package monitorch; install it there with `pip "
                             "install`, or activate the environment that has it",
                             python);
    }
    if (!has_option(word_count, words, 'q')) {
        char message[PATH_SIZE + sizeof "interpreter: "];

        snprintf(message, sizeof message, "interpreter: %s", python);
        print_message("monitorch run", message);
    }
    execute(python, word_count, words);
    return refuse_python("%s could not be started", python);
}
