/* Layout of a command's --help. */
#include "runtime/base/arguments/help.h"

#include <assert.h>
#include <string.h>

/* The column of the options' descriptions. */
#define HELP_COLUMN 21

/* Adds an option as it is typed: `-o, --output FILE`. */
static void help_write_forms(const struct argument_rule *rule, struct buffer *text)
{
    assert(rule->help != NULL);
    if (rule->letter != 0) {
        buffer_add_format(text, "-%c, ", rule->letter);
    }
    buffer_add_format(text, "--%s", rule->text);
    if (rule->argument == NULL) {
        return;
    }
    if (rule->argument[0] == '[') {
        buffer_add_format(text, "[=%s", rule->argument + 1);
    } else {
        buffer_add_format(text, " %s", rule->argument);
    }
}

static void add_indent(struct buffer *text, size_t column)
{
    for (size_t i = 0; i < column; i++) {
        buffer_add(text, SLICE(" "));
    }
}

/* Adds words from HELP_COLUMN on, with line breaks between words. `column` is the current
 * column. */
static void add_wrapped(struct buffer *text, const char *words, size_t column)
{
    while (*words != '\0') {
        size_t size = strcspn(words, " \n");
        bool is_break = words[size] == '\n';

        if (column + 1 + size > HELP_WIDTH) {
            buffer_add(text, SLICE("\n"));
            add_indent(text, HELP_COLUMN);
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buffer_add(text, SLICE(" "));
            column++;
        }
        buffer_add(text, (struct slice){words, size});
        column = is_break ? HELP_WIDTH : column + size;
        words += size + (words[size] != '\0');
    }
    buffer_add(text, SLICE("\n"));
}

static void add_option(struct buffer *text, const struct argument_rule *rule)
{
    size_t start = buffer_slice(text).size;
    size_t column;

    buffer_add(text, SLICE("  "));
    help_write_forms(rule, text);
    column = buffer_slice(text).size - start;
    if (column + 2 > HELP_COLUMN) {
        buffer_add(text, SLICE("\n"));
        column = 0;
    }
    add_indent(text, HELP_COLUMN - column);
    add_wrapped(text, rule->help, HELP_COLUMN);
}

/* Whether the name is a word of the list. */
static bool is_listed(const char *names, const char *name)
{
    size_t size = strlen(name);

    while (*names != '\0') {
        size_t length = strcspn(names, " ");

        if (length == size && memcmp(names, name, size) == 0) {
            return true;
        }
        names += length + (names[length] != '\0');
    }
    return false;
}

static void add_common(struct buffer *text, const struct help *help)
{
    buffer_add(text, SLICE("\nMost used:\n"));
    for (int i = 0; i < help->rule_count; i++) {
        if (help->rules[i].help != NULL &&
            is_listed(help->common, help->rules[i].text)) {
            add_option(text, &help->rules[i]);
        }
    }
}

void help_write(const struct help *help, struct buffer *text)
{
    const char *heading = NULL; /* of the next option; not printed yet */

    buffer_add_format(text, "usage: %s\n\n%s", help->usage, help->purpose);
    if (*help->common != '\0') {
        add_common(text, help);
    }
    for (int i = 0; i < help->rule_count; i++) {
        const struct argument_rule *rule = &help->rules[i];

        if (rule->help == NULL) {
            heading = rule->text;
        } else if (!is_listed(help->common, rule->text)) {
            if (heading != NULL) {
                buffer_add_format(text, "\n%s\n", heading);
                heading = NULL;
            }
            add_option(text, rule);
        }
    }
    buffer_add_format(text, "\n%s", help->details);
}
