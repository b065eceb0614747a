/* Command lines: reading options and words. */
#include "runtime/base/arguments/arguments.h"

#include "runtime/base/nearest_name.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define RULE_MAX 64

void arguments_init(struct arguments *arguments,
                    const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words)
{
    *arguments = (struct arguments){
        .rules = rules,
        .rule_count = rule_count,
        .words = words,
        .word_count = word_count,
        .next = 1,
    };
}

bool arguments_want(int word_count, char **words, const char *text, const char *letter)
{
    for (int i = 1; i < word_count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], text) == 0 || strcmp(words[i], letter) == 0) {
            return true;
        }
    }
    return false;
}

static bool refuse_option(const struct arguments *arguments,
                          const char *text,
                          size_t size,
                          struct error *error)
{
    const char *names[RULE_MAX];
    char word[NEAREST_NAME_MAX_SIZE + 1] = "";
    const char *nearest;
    int count = 0;

    for (int i = 0; i < arguments->rule_count && count < RULE_MAX; i++) {
        if (arguments->rules[i].help != NULL) {
            names[count++] = arguments->rules[i].text;
        }
    }
    if (size <= NEAREST_NAME_MAX_SIZE) {
        memcpy(word, text, size);
    }
    nearest = size <= NEAREST_NAME_MAX_SIZE ? nearest_name(word, names, count) : NULL;
    error_set(error, ERROR_USAGE, "no option --%.*s%s%s%s",
              (int)(size < 80 ? size : 80), text,
              nearest == NULL ? "" : "; did you mean --",
              nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
    return false;
}

/* Sets the message `expected FILE`, without the brackets of an optional argument. */
static bool
refuse_argument(const struct argument_rule *rule, const char *end, struct error *error)
{
    size_t is_optional = rule->argument[0] == '[';

    error_set(error, ERROR_USAGE, "--%s: expected %.*s%s", rule->text,
              (int)(strlen(rule->argument) - 2 * is_optional),
              rule->argument + is_optional, end);
    return false;
}

/* Completes an option: reads its argument from the next word if the rule requires one and `text`
 * is NULL. */
static bool complete(struct arguments *arguments,
                     int rule,
                     const char *text,
                     struct argument *found,
                     struct error *error)
{
    const struct argument_rule *option = &arguments->rules[rule];

    if (option->argument != NULL && text == NULL) {
        if (arguments->next == arguments->word_count) {
            return refuse_argument(option, " after it", error);
        }
        text = arguments->words[arguments->next++];
    }
    if (text != NULL && *text == '\0') {
        return refuse_argument(option, ", got nothing", error);
    }
    *found = (struct argument){rule, text};
    return true;
}

/* Reads `--name`, `--name value` or `--name=value`. `text` starts after the hyphens. */
static bool read_long(struct arguments *arguments,
                      const char *text,
                      struct argument *found,
                      struct error *error)
{
    size_t size = strcspn(text, "=");
    const char *argument = text[size] == '=' ? text + size + 1 : NULL;

    for (int i = 0; i < arguments->rule_count; i++) {
        const struct argument_rule *rule = &arguments->rules[i];

        if (rule->help == NULL || strlen(rule->text) != size ||
            memcmp(rule->text, text, size) != 0) {
            continue;
        }
        if (rule->argument == NULL && argument != NULL) {
            error_set(error, ERROR_USAGE, "--%s has no argument, expected --%s alone",
                      rule->text, rule->text);
            return false;
        }
        return complete(arguments, i, argument, found, error);
    }
    return refuse_option(arguments, text, size, error);
}

/* Reads `-q`, several letters as in `-qr`, or a letter with a value: `-n2` or `-n 2`. */
static bool
read_short(struct arguments *arguments, struct argument *found, struct error *error)
{
    const char *letters = arguments->letters;
    int i = 0;

    while (i < arguments->rule_count && arguments->rules[i].letter != *letters) {
        i++;
    }
    if (i == arguments->rule_count) {
        error_set(error, ERROR_USAGE, "no option -%c", *letters);
        return false;
    }
    letters++;
    if (arguments->rules[i].argument == NULL) {
        arguments->letters = *letters == '\0' ? NULL : letters;
        *found = (struct argument){i, NULL};
        return true;
    }
    arguments->letters = NULL;
    return complete(arguments, i, *letters == '\0' ? NULL : letters, found, error);
}

bool arguments_next(struct arguments *arguments,
                    struct argument *found,
                    struct error *error)
{
    const char *word;

    if (arguments->letters != NULL) {
        return read_short(arguments, found, error);
    }
    if (arguments->next == arguments->word_count) {
        *found = (struct argument){ARGUMENT_END, NULL};
        return true;
    }
    word = arguments->words[arguments->next++];
    if (*word == '\0') {
        error_set(error, ERROR_USAGE, "a file's name is empty");
        return false;
    }
    if (arguments->is_behind_options || word[0] != '-' || word[1] == '\0') {
        *found = (struct argument){ARGUMENT_WORD, word};
        return true;
    }
    if (strcmp(word, "--") == 0) {
        arguments->is_behind_options = true;
        return arguments_next(arguments, found, error);
    }
    if (word[1] == '-') {
        return read_long(arguments, word + 2, found, error);
    }
    arguments->letters = word + 1;
    return read_short(arguments, found, error);
}

bool arguments_read(const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words,
                    const struct argument_reader *reader,
                    struct error *error)
{
    struct arguments arguments;
    struct argument found;
    bool is_used;

    arguments_init(&arguments, rules, rule_count, word_count, words);
    for (;;) {
        if (!arguments_next(&arguments, &found, error)) {
            return false;
        }
        if (found.rule == ARGUMENT_END) {
            return true;
        }
        is_used = found.rule == ARGUMENT_WORD
                      ? reader->word(reader->context, found.text, error)
                      : reader->option(reader->context, found.rule, found.text, error);
        if (!is_used) {
            return false;
        }
    }
}

bool argument_refuse(const struct argument_rule *rule,
                     const char *argument,
                     const char *expected,
                     struct error *error)
{
    error_set(error, ERROR_USAGE, "--%s %.80s: expected %s", rule->text, argument,
              expected);
    return false;
}

bool argument_read_count(const struct argument_rule *rule,
                         const char *argument,
                         uint64_t least,
                         uint64_t most,
                         const char *expected,
                         uint64_t *count,
                         struct error *error)
{
    char *end;
    unsigned long long read;

    errno = 0;
    read = strtoull(argument, &end, 10);
    if (argument[0] < '0' || argument[0] > '9' || *end != '\0' || errno != 0 ||
        read < least || read > most) {
        return argument_refuse(rule, argument, expected, error);
    }
    *count = read;
    return true;
}

bool argument_read_number(const struct argument_rule *rule,
                          const char *argument,
                          double least,
                          double most,
                          const char *expected,
                          double *number,
                          struct error *error)
{
    char *end;
    double read = strtod(argument, &end);

    if (end == argument || *end != '\0' || !(read >= least && read <= most)) {
        return argument_refuse(rule, argument, expected, error);
    }
    *number = read;
    return true;
}

bool argument_read_size(const struct argument_rule *rule,
                        const char *argument,
                        uint64_t *size,
                        struct error *error)
{
    char *end;
    double number = strtod(argument, &end);
    double unit = *end == 'G'                  ? 1e9
                  : *end == 'M'                ? 1e6
                  : *end == 'T'                ? 1e12
                  : *end == 'k' || *end == 'K' ? 1e3
                                               : 1;

    end += unit > 1;
    end += unit > 1 && *end == 'B';
    if (end == argument || *end != '\0' || !(number * unit >= 1) ||
        number * unit > 1e18) {
        return argument_refuse(rule, argument, "a size such as 8G or 500M", error);
    }
    *size = (uint64_t)(number * unit);
    return true;
}

bool argument_read_choice(const struct argument_rule *rule,
                          const char *argument,
                          const char *const *names,
                          const char *expected,
                          int *index,
                          struct error *error)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(argument, names[i]) == 0) {
            *index = i;
            return true;
        }
    }
    return argument_refuse(rule, argument, expected, error);
}

bool arguments_refuse(const char *message, struct error *error)
{
    error_set(error, ERROR_USAGE, "%s", message);
    return false;
}
