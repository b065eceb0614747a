/* `monitorch completion`: completions for shells, made from the tables of options. */
#include "instrument/command/options.h"
#include "runtime/base/arguments/help.h"
#include "runtime/command/subcommand.h"

#include <string.h>

#define TABLE_OF_OPTIONS "runtime/command/completion/options.def"
#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help completion_help = {
    .usage =
    "monitorch completion bash|zsh|fish",
    .purpose =
    "Prints the completions of monitorch and monitorch-instrument for a shell. `pip\n"
    "install` and `make install` install them; otherwise write the text into your\n"
    "shell's folder of completions.\n",
    .common = "",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  source <(monitorch completion bash)\n"
    "  monitorch completion zsh > ~/.zfunc/_monitorch\n"
    "  monitorch completion fish > ~/.config/fish/completions/monitorch.fish\n"
    "\n"
    "Exit codes: 0 done; 2 wrong usage.\n",
};
/* clang-format on */

/* A command line that can be completed. */
struct completed {
    const char *name; /* of the subcommand; NULL: the program monitorch-instrument */
    const char *summary;
    const struct help *help;
};

typedef void (*write_function)(struct buffer *text, const struct completed *completed);

static void for_each_completed(struct buffer *text, write_function write)
{
    int count;
    const struct subcommand *list = subcommands_list(&count);

    for (int i = 0; i < count; i++) {
        write(text, &(struct completed){list[i].name, list[i].summary, list[i].help});
    }
}

/* Whether the argument is one of a list of words: `light|dark`. */
static bool has_choices(const struct argument_rule *rule)
{
    return rule->argument != NULL && strchr(rule->argument, '|') != NULL;
}

static bool is_option(const struct argument_rule *rule)
{
    return rule->help != NULL;
}

/* Adds the text with a backslash before each character of `special`. */
static void add_escaped(struct buffer *text, const char *words, const char *special)
{
    for (; *words != '\0'; words++) {
        if (strchr(special, *words) != NULL) {
            buffer_add_byte(text, '\\');
        }
        buffer_add_byte(text, *words);
    }
}

static void add_choices(struct buffer *text, const struct argument_rule *rule)
{
    for (const char *word = rule->argument; *word != '\0'; word++) {
        buffer_add_byte(text, *word == '|' ? ' ' : *word);
    }
}

/* ---- bash ---- */

static void write_bash_options(struct buffer *text, const struct help *help)
{
    for (int i = 0; i < help->rule_count; i++) {
        if (is_option(&help->rules[i])) {
            buffer_add_format(text, " --%s", help->rules[i].text);
        }
    }
}

static void write_bash_choices(struct buffer *text, const struct completed *completed)
{
    for (int i = 0; i < completed->help->rule_count; i++) {
        const struct argument_rule *rule = &completed->help->rules[i];

        if (is_option(rule) && has_choices(rule)) {
            buffer_add_format(text, "        '%s --%s') words='", completed->name,
                              rule->text);
            add_choices(text, rule);
            buffer_add(text, SLICE("' ;;\n"));
        }
    }
}

static void write_bash_command(struct buffer *text, const struct completed *completed)
{
    buffer_add_format(text, "        %s) words='", completed->name);
    write_bash_options(text, completed->help);
    buffer_add(text, SLICE("' ;;\n"));
}

static void write_bash_name(struct buffer *text, const struct completed *completed)
{
    buffer_add_format(text, " %s", completed->name);
}

static void write_bash(struct buffer *text)
{
    buffer_add(
        text, SLICE("# bash completion for monitorch and monitorch-instrument\n"
                    "_monitorch() {\n"
                    "    local current=${COMP_WORDS[COMP_CWORD]} words=''\n"
                    "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    local command=${COMP_WORDS[1]}\n"
                    "    [[ ${1##*/} == monitorch-instrument ]] && command=instrument\n"
                    "    if [[ $command != instrument || ${1##*/} == monitorch ]] &&\n"
                    "        (( COMP_CWORD == 1 )); then\n"
                    "        words='help"));
    for_each_completed(text, write_bash_name);
    buffer_add(text,
               SLICE("'\n"
                     "        COMPREPLY=( $(compgen -W \"$words\" -- \"$current\") )\n"
                     "        return\n"
                     "    fi\n"
                     "    case \"$command $previous\" in\n"));
    for_each_completed(text, write_bash_choices);
    buffer_add(text, SLICE("        'completion completion') words='bash zsh fish' ;;\n"
                           "    esac\n"
                           "    if [[ -z $words && $current == -* ]]; then\n"
                           "        case $command in\n"));
    for_each_completed(text, write_bash_command);
    buffer_add(text,
               SLICE("        esac\n"
                     "    fi\n"
                     "    COMPREPLY=( $(compgen -W \"$words\" -- \"$current\") )\n"
                     "}\n"
                     "complete -o default -F _monitorch monitorch "
                     "monitorch-instrument\n"));
}

/* ---- zsh ---- */

static void write_zsh_argument(struct buffer *text, const struct argument_rule *rule)
{
    if (rule->argument == NULL) {
        return;
    }
    if (has_choices(rule)) {
        buffer_add(text, SLICE(":value:("));
        add_choices(text, rule);
        buffer_add(text, SLICE(")"));
    } else {
        buffer_add(text, SLICE(":"));
        add_escaped(text, rule->argument, "[]:'");
        buffer_add(text, SLICE(":_files"));
    }
}

/* Adds the help, escaped for brackets inside single quotes. */
static void write_zsh_help(struct buffer *text, const char *help)
{
    for (; *help != '\0'; help++) {
        if (*help == '\'') {
            buffer_add(text, SLICE("'\\''"));
        } else {
            if (strchr("[]:", *help) != NULL) {
                buffer_add_byte(text, '\\');
            }
            buffer_add_byte(text, *help);
        }
    }
}

static void write_zsh_option(struct buffer *text, const struct argument_rule *rule)
{
    buffer_add_format(text, "            '*--%s%s[", rule->text,
                      rule->argument == NULL ? "" : "=");
    write_zsh_help(text, rule->help);
    buffer_add(text, SLICE("]"));
    write_zsh_argument(text, rule);
    buffer_add(text, SLICE("' \\\n"));
}

static void write_zsh_command(struct buffer *text, const struct completed *completed)
{
    buffer_add_format(text, "        %s) _arguments \\\n", completed->name);
    for (int i = 0; i < completed->help->rule_count; i++) {
        if (is_option(&completed->help->rules[i])) {
            write_zsh_option(text, &completed->help->rules[i]);
        }
    }
    buffer_add(text, strcmp(completed->name, "completion") == 0
                         ? SLICE("            '*:shell:(bash zsh fish)' ;;\n")
                         : SLICE("            '*:file:_files' ;;\n"));
}

static void write_zsh_name(struct buffer *text, const struct completed *completed)
{
    buffer_add_format(text, "            '%s:", completed->name);
    write_zsh_help(text, completed->summary);
    buffer_add(text, SLICE("'\n"));
}

static void write_zsh(struct buffer *text)
{
    buffer_add(text, SLICE("#compdef monitorch monitorch-instrument\n"
                           "_monitorch() {\n"
                           "    local command=${words[2]}\n"
                           "    local -a commands\n"
                           "    if [[ ${service} == monitorch-instrument ]]; then\n"
                           "        command=instrument\n"
                           "    elif (( CURRENT == 2 )); then\n"
                           "        commands=(\n"));
    for_each_completed(text, write_zsh_name);
    buffer_add(text, SLICE("        )\n"
                           "        _describe command commands\n"
                           "        return\n"
                           "    else\n"
                           "        shift words\n"
                           "        (( CURRENT-- ))\n"
                           "    fi\n"
                           "    case $command in\n"));
    for_each_completed(text, write_zsh_command);
    buffer_add(text, SLICE("    esac\n"
                           "}\n"
                           "if [[ $funcstack[1] == _monitorch ]]; then\n"
                           "    _monitorch \"$@\"\n"
                           "else\n"
                           "    compdef _monitorch monitorch monitorch-instrument\n"
                           "fi\n"));
}

/* ---- fish ---- */

static void write_fish_option(struct buffer *text,
                              const char *where,
                              const struct argument_rule *rule)
{
    buffer_add_format(text, "complete %s -l %s", where, rule->text);
    if (rule->letter != 0) {
        buffer_add_format(text, " -s %c", rule->letter);
    }
    if (has_choices(rule)) {
        buffer_add(text, SLICE(" -x -a '"));
        add_choices(text, rule);
        buffer_add(text, SLICE("'"));
    } else if (rule->argument != NULL && rule->argument[0] != '[') {
        buffer_add(text, SLICE(" -r"));
    }
    buffer_add(text, SLICE(" -d '"));
    add_escaped(text, rule->help, "\\'");
    buffer_add(text, SLICE("'\n"));
}

static void
write_fish_options(struct buffer *text, const char *where, const struct help *help)
{
    for (int i = 0; i < help->rule_count; i++) {
        if (is_option(&help->rules[i])) {
            write_fish_option(text, where, &help->rules[i]);
        }
    }
}

static void write_fish_command(struct buffer *text, const struct completed *completed)
{
    struct buffer where = BUFFER_INIT;

    buffer_add_format(text, "complete -c monitorch -n __fish_use_subcommand -a %s -d '",
                      completed->name);
    add_escaped(text, completed->summary, "\\'");
    buffer_add(text, SLICE("'\n"));
    buffer_add_format(&where, "-c monitorch -n '__fish_seen_subcommand_from %s'",
                      completed->name);
    buffer_add_byte(&where, '\0');
    if (!where.has_failed) {
        write_fish_options(text, buffer_slice(&where).bytes, completed->help);
    }
    text->has_failed |= where.has_failed;
    buffer_release(&where);
}

static void write_fish(struct buffer *text)
{
    buffer_add(text,
               SLICE("# fish completion for monitorch and monitorch-instrument\n"));
    for_each_completed(text, write_fish_command);
    buffer_add(text, SLICE("complete -c monitorch -x -n '__fish_seen_subcommand_from "
                           "completion' -a 'bash zsh fish'\n"));
    write_fish_options(text, "-c monitorch-instrument", &instrument_help);
}

/* ---- the command ---- */

static enum exit_code refuse_words(const char *message)
{
    struct error error = ERROR_INIT;

    arguments_refuse(message, &error);
    return refuse("completion", &error);
}

enum exit_code completion_run(int word_count, char **words)
{
    static const struct {
        const char *name;
        void (*write)(struct buffer *text);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    struct buffer text = BUFFER_INIT;

    for (size_t i = 0; word_count == 2 && i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(words[1], shells[i].name) == 0) {
            shells[i].write(&text);
            return print_buffer(&text);
        }
    }
    return refuse_words("expected one of bash, zsh, fish");
}
