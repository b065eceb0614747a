/* Two runs matched by their values: the steps. */
#include "runtime/view/diff/match/match.h"

static void count(struct match *match)
{
    const struct match_contents *contents = &match->contents[1];

    for (size_t i = 0; i < contents->count; i++) {
        const struct match_content *content = &contents->items[i];

        if (!content->is_weak) {
            match->common += content->partner != MATCH_NONE;
            match->own += content->partner == MATCH_NONE && content->is_back;
            match->lost += content->partner == MATCH_NONE && !content->is_back;
        }
    }
}

static bool
compare(struct match *match, const struct match_pins *pins, struct error *error)
{
    if (!match_contents_make(&match->contents[0], &match->runs[0]) ||
        !match_contents_make(&match->contents[1], &match->runs[1]) ||
        !match_contents_pair(match->contents, match->tolerance, pins)) {
        return error_set_memory(error);
    }
    if (!match_judge_results(match)) {
        return error_set_memory(error);
    }
    count(match);
    match->last = MATCH_NONE;
    if (match->contents[0].count == 0 || match->contents[1].count == 0) {
        match->verdict = MATCH_EMPTY;
        return true;
    }
    if (match->common == 0) {
        match->verdict = MATCH_NOTHING;
        return true;
    }
    return match_find_leave(match) || error_set_memory(error);
}

bool match_runs(struct match *match,
                const char *const paths[2],
                const struct match_options *options,
                struct error *error)
{
    *match = (struct match){.tolerance = options->tolerance};
    return match_run_read(&match->runs[0], paths[0], options->strip, error) &&
           match_run_read(&match->runs[1], paths[1], options->strip, error) &&
           compare(match, options->pins, error);
}

void match_release(struct match *match)
{
    for (unsigned side = 0; side < 2; side++) {
        match_contents_release(&match->contents[side]);
        match_run_release(&match->runs[side]);
    }
}
