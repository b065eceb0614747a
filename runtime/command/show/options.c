/* What the command line of `monitorch show` asks for. */
#include "runtime/command/show/options.h"

#include "runtime/command/subcommand.h"

#define TABLE_OF_OPTIONS "runtime/command/show/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help show_help = {
    .usage =
        "monitorch show [options] TRACE...",
    .purpose =
    "Prints the events of a trace, one a line, below their calls: the source line,\n"
    "the name, the value, and the change since the name's last value. `!!` marks NaN\n"
    "and Inf.\n",
    .common = "function name nan",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The lines of the calls around the chosen events are printed too.\n"
    "\n"
    "Examples:\n"
    "  monitorch show run.mtrace | less\n"
    "  monitorch show --nan --head 1 run.mtrace\n"
    "  monitorch show --function 'Attention.*' --name q --source run.mtrace\n"
    "  monitorch show --style tree --function 'Attention.*' run.mtrace\n"
    "  monitorch show --canonical run.mtrace >run.txt\n"
    "  monitorch show --json run.mtrace | jq 'select(.nan > 0) | .line'\n"
    "\n"
    "Exit codes: 0 done; 1 no such event; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (the readable part is printed).\n",
};
/* clang-format on */

static bool
read_style(struct show_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {"lines", "tree", NULL};
    int index;

    if (!argument_read_choice(&rules[OPTION_STYLE], argument, names, "lines or tree",
                              &index, error)) {
        return false;
    }
    options->is_tree = index == 1;
    return true;
}

static bool
read_labels(struct show_options *options, const char *argument, struct error *error)
{
    options->has_labels = true;
    if (!track_labels_change(&options->labels, slice_of(argument))) {
        return argument_refuse(&rules[OPTION_LABELS], argument,
                               "en, zh, or KEY:TEXT with commas between", error);
    }
    return true;
}

/* For struct argument_taker. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct show_options *options = context;

    switch (id) {
    case OPTION_HEAD:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of events", &options->head, error);
    case OPTION_TAIL:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of events", &options->tail, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_SOURCE:
        options->has_source = true;
        return true;
    case OPTION_BACKWARD:
        options->has_backward = true;
        return true;
    case OPTION_STYLE:
        return read_style(options, argument, error);
    case OPTION_LABELS:
        return read_labels(options, argument, error);
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_SAMPLE:
        options->has_sample = true;
        return true;
    case OPTION_CANONICAL:
        options->is_canonical = true;
        return true;
    case OPTION_SETTINGS:
        options->is_settings = true;
        return true;
    case OPTION_SITES:
        options->is_sites = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* those that choose events; --help and --version were answered before */
        return event_filter_process(&options->filter, rules[id].text, argument, NULL,
                                    error);
    }
}

static bool check_lists(const struct show_options *options, struct error *error)
{
    bool has_more = !event_filter_is_empty(&options->filter) ||
                    options->head != UINT64_MAX || options->tail != UINT64_MAX ||
                    options->has_source || options->has_sample ||
                    options->is_canonical || options->is_tree;

    if (options->is_sites && (has_more || options->is_settings)) {
        return arguments_refuse("--sites lists all sites: only --json can be added",
                                error);
    }
    if (options->is_settings && has_more) {
        return arguments_refuse(
            "--settings lists all settings: only --json can be added", error);
    }
    return true;
}

static bool check(const struct show_options *options, struct error *error)
{
    if (options->traces.count == 0) {
        return trace_words_refuse_none(error);
    }
    if (options->is_json && options->has_source) {
        return arguments_refuse("--source is for text: remove it, or --json", error);
    }
    if (options->is_json && options->is_tree) {
        return arguments_refuse("--style is for text: remove it, or --json", error);
    }
    if (options->has_labels && !options->is_tree) {
        return arguments_refuse("--labels needs --style tree", error);
    }
    if (options->has_sample && !options->is_json) {
        return arguments_refuse("--sample needs --json", error);
    }
    if (options->is_canonical && options->filter.call != 0) {
        return arguments_refuse(
            "--call excludes --canonical, which replaces the trace's numbers of calls",
            error);
    }
    return check_lists(options, error);
}

bool show_options_read(struct show_options *options,
                       int word_count,
                       char **words,
                       struct error *error)
{
    *options = (struct show_options){.head = UINT64_MAX, .tail = UINT64_MAX};
    options->labels = track_labels_of_environment();
    event_filter_init(&options->filter);
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            option_apply, options, error) &&
           check(options, error);
}

void show_options_release(struct show_options *options)
{
    event_filter_release(&options->filter);
    trace_words_release(&options->traces);
}
