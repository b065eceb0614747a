/* Reads the words of a command line: options by a table of rules, and what is no option. */
#ifndef MONITORCH_BASE_ARGUMENTS_ARGUMENTS_H
#define MONITORCH_BASE_ARGUMENTS_ARGUMENTS_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* An option, or a heading among them. */
struct argument_rule {
    char letter;      /* 0 where there is no short form */
    const char *text; /* without hyphens; of a heading, its words */
    /* The argument's name in messages and --help; NULL where the option has none. `[FILE]` is one
     * that may be left out. */
    const char *argument;
    const char *help; /* what --help says; NULL in a heading */
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
    int rule;         /* an index into the rules, or ARGUMENT_WORD, or ARGUMENT_END */
    const char *text; /* the option's argument (NULL: it takes none), or the word */
};

void arguments_init(struct arguments *arguments,
                    const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words);

/* The next option or word. Fails for an unknown option, and where an argument is missing,
 * empty or too many. */
bool arguments_next(struct arguments *arguments,
                    struct argument *found,
                    struct error *error);

/* The function that applies them; `context` is the caller's own. */
struct argument_reader {
    /* `option` is an index into the rules; `argument` is NULL where the option has none. */
    bool (*option)(void *context,
                   int option,
                   const char *argument,
                   struct error *error);
    bool (*word)(void *context, const char *word, struct error *error);
    void *context;
};

/* Applies every option and word, in their order. */
bool arguments_read(const struct argument_rule *rules,
                    int rule_count,
                    int word_count,
                    char **words,
                    const struct argument_reader *reader,
                    struct error *error);

/* Sets the message and returns false. */
bool arguments_refuse(const char *message, struct error *error);

/* Refuses an option's argument: `--depth x: expected a number from 0 on`. Returns false. */
bool argument_refuse(const struct argument_rule *rule,
                     const char *argument,
                     const char *expected,
                     struct error *error);

/* Read an option's argument as a whole number, or as any number, from `least` to `most`;
 * `expected` is what the message says otherwise. */
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

/* `8G`, `500M`: bytes, in powers of 1,000. */
bool argument_read_size(const struct argument_rule *rule,
                        const char *argument,
                        uint64_t *size,
                        struct error *error);

/* Reads an option's argument as one of `names`, which end with NULL: its index among them. */
bool argument_read_choice(const struct argument_rule *rule,
                          const char *argument,
                          const char *const *names,
                          const char *expected,
                          int *index,
                          struct error *error);

/* Whether the option is anywhere among the words: --help and --version win over everything else,
 * wrong words too. */
bool arguments_want(int word_count, char **words, const char *text, const char *letter);

#endif
