/* What the command line of `monitorch sql` asks for. */
#include "runtime/command/sql/options.h"

#include "runtime/base/file/file.h"
#include "runtime/command/subcommand.h"

#include <string.h>

#define TABLE_OF_OPTIONS "runtime/command/sql/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help sql_help = {
    .usage =
        "monitorch sql [options] TRACE... [QUERY]",
    .purpose =
    "Queries traces in SQL (the dialect of SQLite). The tables are read from the\n"
    "traces during the query: nothing is imported, no trace is changed.\n\n"
    "Tables (--schema lists their columns):\n"
    "  events   one row for each recorded value: seq, kind, name, file, line,\n"
    "           function, module, dtype, shape, min, max, mean, std, nan, hash ...\n"
    "  sites    the places of the source that were recorded\n"
    "  calls    calls of recorded functions: function, module, parent, time ...\n"
    "  edges    which value was made from which: source and target are `seq`\n"
    "Several traces share the tables; the column `trace` holds the file's name.\n\n"
    "QUERY is a word with a blank in it, or the last word if it is no file. Without a\n"
    "QUERY a terminal gets a prompt; otherwise the query is read from standard input.\n",
    .common = "csv json schema",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch sql run.mtrace \"select count(*), max(absmax) from events\"\n"
    "  monitorch sql run.mtrace 'select file, line, name, shape from events limit 9'\n"
    "  monitorch sql run.mtrace 'select s.code, count(*) from events e join sites s\n"
    "                            using (site) group by s.site order by 2 desc'\n"
    "  monitorch sql --csv rank*.mtrace 'select trace, seq, mean from events' > m.csv\n"
    "\n"
    "Exit codes: 0 done; 2 wrong usage, or SQLite refused the query; 3 a trace could\n"
    "not be read, or only in part (the readable rows are printed).\n",
};
/* clang-format on */

static bool
set_format(struct sql_options *options, enum sql_format format, struct error *error)
{
    if (options->has_format && options->format != format) {
        return arguments_refuse("--table, --csv and --json exclude each other", error);
    }
    options->has_format = true;
    options->format = format;
    return true;
}

static bool
set_file(struct sql_options *options, const char *argument, struct error *error)
{
    if (options->query_file != NULL) {
        return arguments_refuse("two queries, expected one", error);
    }
    options->query_file = argument;
    return true;
}

/* `argument` is NULL for the options that take none. */
static bool option_apply(struct sql_options *options,
                         enum option_id id,
                         const char *argument,
                         struct error *error)
{
    switch (id) {
    case OPTION_FILE:
        return set_file(options, argument, error);
    case OPTION_CSV:
        return set_format(options, SQL_CSV, error);
    case OPTION_JSON:
        return set_format(options, SQL_JSON, error);
    case OPTION_TABLE:
        return set_format(options, SQL_TABLE, error);
    case OPTION_MAX_ROWS:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of rows", &options->max_rows, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_NO_HEADER:
        options->has_no_header = true;
        return true;
    case OPTION_SCHEMA:
        options->is_schema = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* --help and --version were answered before */
        return true;
    }
}

static bool has_blank(const char *word)
{
    return strpbrk(word, " \t\n"
                         ";") != NULL;
}

/* A word that is no file is a query where it has a blank, or is the last one and looks like no
 * file's name. */
static bool is_query(const char *word, bool is_last)
{
    if (file_inspect(word).is_there) {
        return false;
    }
    return has_blank(word) || (is_last && strpbrk(word, "/.") == NULL);
}

static bool skip_word(struct sql_options *options,
                      const char *word,
                      bool is_last,
                      struct error *error)
{
    if (strcmp(word, "-") == 0) {
        return set_file(options, word, error);
    }
    if (!is_query(word, is_last && options->traces.count > 0 &&
                            options->query == NULL && options->query_file == NULL)) {
        options->traces.words[options->traces.count++] = word;
        return true;
    }
    if (options->query != NULL) {
        return arguments_refuse(
            "two queries, expected one; join them with `;` in one text", error);
    }
    options->query = word;
    return true;
}

static bool check(const struct sql_options *options, struct error *error)
{
    if (options->query != NULL && options->query_file != NULL) {
        return arguments_refuse("two queries, expected one: a word, or -f FILE", error);
    }
    if (options->traces.count == 0 && !options->is_schema) {
        return trace_words_refuse_none(error);
    }
    return true;
}

bool sql_options_read(struct sql_options *options,
                      int word_count,
                      char **words,
                      struct error *error)
{
    struct arguments arguments;
    struct argument found;
    struct argument before = {ARGUMENT_END, NULL};

    *options = (struct sql_options){.max_rows = UINT64_MAX};
    if (!trace_words_init(&options->traces, word_count, error)) {
        return false;
    }
    arguments_init(&arguments, rules, OPTION_COUNT, word_count, words);
    /* A word is taken when it is known whether another one follows. */
    do {
        if (!arguments_next(&arguments, &found, error)) {
            return false;
        }
        if (found.rule >= 0) {
            if (!option_apply(options, (enum option_id)found.rule, found.text, error)) {
                return false;
            }
            continue;
        }
        if (before.rule == ARGUMENT_WORD &&
            !skip_word(options, before.text, found.rule == ARGUMENT_END, error)) {
            return false;
        }
        before = found;
    } while (found.rule != ARGUMENT_END);
    return check(options, error);
}

void sql_options_release(struct sql_options *options)
{
    trace_words_release(&options->traces);
}
