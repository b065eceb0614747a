/* Texts that name the same thing of two runs: a file of the program, which lies in two folders, or an
 * object at an address. */
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* `0x7f…`: of fewer digits it is a number that somebody wrote. */
#define ADDRESS_DIGITS 6

/* A text as it is read along. */
struct reading {
    struct slice text;
    struct slice folder; /* of the program; "": none */
    size_t at;
    bool is_cut; /* the trace has its beginning alone */
};

/* What the paths of a module in both programs begin with and do not have in common: `/a/good` and
 * `/a/bad` of `/a/good/prog.py` and `/a/bad/prog.py`. */
static bool find_folders(struct slice a, struct slice b, struct slice folders[2])
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    size_t common = 0, behind = 0;

    while (behind < shorter &&
           a.bytes[a.size - 1 - behind] == b.bytes[b.size - 1 - behind]) {
        behind++;
        common = a.bytes[a.size - behind] == '/' ? behind : common;
    }
    if (behind == shorter || common == 0) {
        return false; /* the same, or other files */
    }
    folders[0] = slice_part(a, 0, a.size - common);
    folders[1] = slice_part(b, 0, b.size - common);
    return true;
}

static bool is_digit(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

/* How long an address is that stands there; 0: there is none. */
static size_t address_size(const struct reading *reading)
{
    struct slice rest = slice_part(reading->text, reading->at, reading->text.size);
    size_t size = 2;

    if (!slice_starts(rest, SLICE("0x"))) {
        return 0;
    }
    while (size < rest.size && is_digit(rest.bytes[size])) {
        size++;
    }
    return size >= 2 + ADDRESS_DIGITS ? size : 0;
}

/* The same of the program's folder, as a whole part of a path. */
static size_t folder_size(const struct reading *reading)
{
    struct slice rest = slice_part(reading->text, reading->at, reading->text.size);
    size_t size = reading->folder.size;
    bool is_start = reading->at == 0 || reading->folder.bytes[0] == '/' ||
                    reading->text.bytes[reading->at - 1] == '/';

    if (size == 0 || !is_start || !slice_starts(rest, reading->folder)) {
        return 0;
    }
    return rest.size == size || rest.bytes[size] == '/' ? size : 0;
}

/* Passes over what is alike on both sides; false: nothing is, and the bytes count. */
static bool skip_alike(struct reading readings[2],
                       size_t (*size_of)(const struct reading *reading))
{
    size_t sizes[2] = {size_of(&readings[0]), size_of(&readings[1])};

    if (sizes[0] == 0 || sizes[1] == 0) {
        return false;
    }
    readings[0].at += sizes[0];
    readings[1].at += sizes[1];
    return true;
}

static bool is_at_end(const struct reading *reading)
{
    return reading->at == reading->text.size;
}

static bool are_alike(struct reading readings[2])
{
    while (!is_at_end(&readings[0]) && !is_at_end(&readings[1])) {
        if (skip_alike(readings, folder_size) || skip_alike(readings, address_size)) {
            continue;
        }
        if (readings[0].text.bytes[readings[0].at++] !=
            readings[1].text.bytes[readings[1].at++]) {
            return false;
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        if (is_at_end(&readings[side]) && readings[side].is_cut) {
            return true;
        }
    }
    return is_at_end(&readings[0]) && is_at_end(&readings[1]);
}

static struct reading reading_of(const struct log_event_view *event,
                                 struct slice folder)
{
    size_t characters = 0;

    for (size_t i = 0; i < event->text.size; i++) {
        characters += ((unsigned char)event->text.bytes[i] & 0xC0) != 0x80;
    }
    return (struct reading){
        .text = event->text,
        .folder = folder,
        .is_cut = event->integer > (int64_t)characters,
    };
}

/* Whether two texts that differ name the same thing of both programs. */
static bool diff_texts_are_alike(const struct diff_work *work,
                                 const struct log_event_view *a,
                                 const struct log_event_view *b)
{
    struct slice folders[2] = {SLICE(""), SLICE("")};
    uint32_t counts[2] = {log_reader_module_count(work->readers[0]),
                          log_reader_module_count(work->readers[1])};

    for (uint32_t i = 0; i < counts[0]; i++) {
        for (uint32_t k = 0; k < counts[1]; k++) {
            struct slice paths[2] = {
                log_reader_module(work->readers[0], i)->table.path,
                log_reader_module(work->readers[1], k)->table.path,
            };
            struct reading readings[2];

            if (!find_folders(paths[0], paths[1], folders)) {
                continue;
            }
            readings[0] = reading_of(a, folders[0]);
            readings[1] = reading_of(b, folders[1]);
            if (are_alike(readings)) {
                return true;
            }
        }
    }
    struct reading readings[2] = {reading_of(a, SLICE("")), reading_of(b, SLICE(""))};

    return are_alike(readings);
}

/* Values that are no difference: read from a clock, or of names that are to be ignored. */

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
    work->has_found = true;
    diff_scope_taint(&work->scope, frame, call, event, &taint);
}
