/* Values that are no difference: read from a clock, or of names that are to be ignored. */
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* What a line's text has that reads a clock, or makes a name that is never the same. */
static bool reads_clock(struct slice source)
{
    static const char *const words[] = {
        "time.time(",      "time_ns(",  "perf_counter",    "monotonic(",
        "process_time",    ".now(",     "utcnow(",         "uuid.",
        "uuid4(",          "getpid(",   "mkdtemp(",        "mkstemp(",
        "strftime(",       "time()",    "os.fork(",        "get_ident(",
        "get_native_id(",  "getppid(",  "default_timer(",  "urandom(",
        "secrets.",        "get_rank(", "get_world_size(", "gethostname(",
        "get_local_rank(", "'RANK'",    "\"RANK\"",        "LOCAL_RANK",
        "WORLD_SIZE",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_find(source, slice_of(words[i]), 0) < source.size) {
            return true;
        }
    }
    return false;
}

/* Whether a number is made of a path. A text with a path is compared. */
static bool reads_path(struct slice source)
{
    return slice_find(source, SLICE("__file__"), 0) < source.size ||
           slice_find(source, SLICE("getcwd("), 0) < source.size;
}

/* Of a process among others: each has a number of its own. */
static bool is_rank(struct slice name)
{
    static const char *const words[] = {"rank", "local_rank", "global_rank",
                                        "world_size", "local_world_size"};

    name = slice_last_part(name, '.');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(name, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether a number or text differs as those from a clock do. */
static bool is_clock(struct diff_work *work,
                     const struct log_item *const items[2],
                     const struct diff_inputs *inputs)
{
    const struct log_event_view *event = &items[1]->event;
    struct slice source;

    switch (event->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_TEXT:
        break;
    default:
        return false;
    }
    if (inputs->differ || inputs->code != NULL || items[0]->event.kind != event->kind) {
        return false;
    }
    source = diff_place_source(work, 1, diff_place_of(items[1], NULL));
    if (event->kind == VALUE_TEXT &&
        diff_texts_are_alike(work, &items[0]->event, event)) {
        return true;
    }
    if (event->kind == VALUE_INT && (is_rank(event->name) || reads_path(source))) {
        return true;
    }
    return inputs->has_clock || reads_clock(source);
}

static bool is_ignored(const struct diff_work *work, const struct log_event_view *event)
{
    for (size_t i = 0; i < work->options->ignored_count; i++) {
        if (slice_match_inside(event->name, event->path, work->options->ignored[i])) {
            return true;
        }
    }
    return false;
}

bool diff_does_not_count(struct diff_work *work,
                         const struct log_item *const items[2],
                         const struct diff_inputs *inputs)
{
    return is_ignored(work, &items[1]->event) || is_clock(work, items, inputs);
}

void diff_settle_clock(struct diff_work *work,
                       struct diff_frame *frame,
                       const struct log_event_view *event,
                       const struct open_call *call)
{
    const struct diff_taint taint = {.kind = DIFF_TAINT_CLOCK};

    work->result->clocks++;
    work->has_met = true;
    diff_scope_taint(&work->scope, frame, call, event, &taint);
}
