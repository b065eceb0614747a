/* Trace words: the words of a command line that name traces. */
#include "runtime/command/shared/trace_words.h"

#include "runtime/base/memory.h"
#include "runtime/base/slice.h"

/* State while a command line is read. */
struct reading {
    struct trace_words *traces;
    bool (*apply)(void *context, int option, const char *argument, struct error *error);
    void *context;
};

bool trace_words_init(struct trace_words *traces, int word_count, struct error *error)
{
    *traces = (struct trace_words){
        .words = memory_allocate((size_t)word_count, sizeof *traces->words),
    };
    if (traces->words == NULL) {
        return error_set_memory(error);
    }
    return true;
}

void trace_words_release(struct trace_words *traces)
{
    memory_free(traces->words);
}

static bool
apply_option(void *context, int option, const char *argument, struct error *error)
{
    const struct reading *reading = context;

    return reading->apply(reading->context, option, argument, error);
}

static bool skip_word(void *context, const char *word, struct error *error)
{
    struct trace_words *traces = ((const struct reading *)context)->traces;

    (void)error;
    traces->words[traces->count++] = word;
    return true;
}

bool trace_words_read(
    struct trace_words *traces,
    const struct argument_rule *rules,
    int rule_count,
    int word_count,
    char **words,
    bool (*apply)(void *context, int option, const char *argument, struct error *error),
    void *context,
    struct error *error)
{
    struct reading reading = {traces, apply, context};
    const struct argument_reader reader = {apply_option, skip_word, &reading};

    return trace_words_init(traces, word_count, error) &&
           arguments_read(rules, rule_count, word_count, words, &reader, error);
}

bool trace_words_refuse_none(struct error *error)
{
    return arguments_refuse("no trace, expected TRACE, such as run.mtrace", error);
}

static bool is_output(struct slice name)
{
    static const char *const endings[] = {".svg", ".png",  ".pdf",
                                          ".dot", ".html", ".json"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (slice_ends(name, slice_of(endings[i]))) {
            return true;
        }
    }
    return false;
}

bool trace_words_refuse_more(const char *word,
                             const char *expected,
                             struct error *error)
{
    if (is_output(slice_of(word))) {
        error_set(error, ERROR_USAGE, "%.200s: the file to write follows -o: -o %.200s",
                  word, word);
    } else {
        error_set(error, ERROR_USAGE, "%.200s: expected %s", word, expected);
    }
    return false;
}
