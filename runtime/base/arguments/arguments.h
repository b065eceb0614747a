/* Command lines: options, described by a table of rules, and other words. */
#ifndef MONITORCH_BASE_ARGUMENTS_ARGUMENTS_H
#define MONITORCH_BASE_ARGUMENTS_ARGUMENTS_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* An option, or a heading of options. */
struct argument_rule {
    char letter;      /* 0: no short form */
    const char *text; /* the name without hyphens; for a heading, its text */
    /* The argument's name in messages and --help. NULL: no argument. `[FILE]` is optional. */
    const char *argument;
    const char *help; /* the text in --help; NULL: a heading */
};

struct arguments {
    const struct argument_rule *rules; /* borrowed */
    int rule_count;
    char **words; /* borrowed; words[0] is the command's name */
    int word_count;
    int next;
    const char *letters; /* the rest of `-abc`; borrowed from the words; may be NULL */
    bool is_behind_options;
};

#define ARGUMENT_WORD -1
#define ARGUMENT_END  -2

struct argument {
    int rule;         /* index of the rule, or ARGUMENT_WORD, or ARGUMENT_END */
    const char *text; /* the option's argument (NULL: none), or the word */
};

void arguments_init(struct arguments *arguments,
                    const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words);

/* Reads the next option or word. Returns false for an unknown option, and for an argument that
 * is missing, empty or not allowed; `error` says why. */
bool arguments_next(struct arguments *arguments,
                    struct argument *found,
                    struct error *error);

/* The functions that apply options and words. `context` is passed to them. */
struct argument_reader {
    /* `option` is the index of the rule; `argument` is NULL if the option has none. */
    bool (*option)(void *context,
                   int option,
                   const char *argument,
                   struct error *error);
    bool (*word)(void *context, const char *word, struct error *error);
    void *context;
};

/* Applies all options and words in order. Returns false at the first failure. */
bool arguments_read(const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words,
                    const struct argument_reader *reader,
                    struct error *error);

/* Sets the message and returns false. */
bool arguments_refuse(const char *message, struct error *error);

/* Rejects an option's argument: `--depth x: expected a number from 0 on`. Returns false. */
bool argument_refuse(const struct argument_rule *rule,
                     const char *argument,
                     const char *expected,
                     struct error *error);

/* Read an option's argument as a whole number, or as any number, from `least` to `most`.
 * Otherwise they return false, with `expected` in the message. */
bool argument_read_count(const struct argument_rule *rule,
                         const char *argument,
                         uint64_t least,
                         uint64_t most,
                         const char *expected,
                         uint64_t *count,
                         struct error *error);
bool argument_read_number(const struct argument_rule *rule,
                          const char *argument,
                          double least,
                          double most,
                          const char *expected,
                          double *number,
                          struct error *error);

/* Reads a size in bytes, such as `8G` or `500M`; the units are powers of 1,000. */
bool argument_read_size(const struct argument_rule *rule,
                        const char *argument,
                        uint64_t *size,
                        struct error *error);

/* Reads an option's argument as one of `names`, a list that ends with NULL. Sets its index. */
bool argument_read_choice(const struct argument_rule *rule,
                          const char *argument,
                          const char *const *names,
                          const char *expected,
                          int *index,
                          struct error *error);

/* Whether the option is anywhere among the words. --help and --version have priority over all
 * else, even over invalid words. */
bool arguments_want(int word_count, char **words, const char *text, const char *letter);

#endif
