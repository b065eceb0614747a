/* The filter of events, and the parsing of its conditions. */
#include "runtime/view/walk/event_filter.h"

#include "runtime/view/words/value_text.h"

void event_filter_init(struct event_filter *filter)
{
    *filter = (struct event_filter){0};
    arena_init(&filter->arena);
}

void event_filter_release(struct event_filter *filter)
{
    arena_release(&filter->arena);
}

bool event_filter_is_empty(const struct event_filter *filter)
{
    return filter->functions.count == 0 && filter->names.count == 0 &&
           filter->files.count == 0 && filter->modules.count == 0 &&
           filter->threads.count == 0 && filter->line_count == 0 &&
           filter->kinds == 0 && filter->call == 0 && !filter->is_changed &&
           !filter->is_nonfinite;
}

/* ---- parsing ---- */

/* Returns `items` with room for one more; the array doubles at each power of 2. NULL: out of
 * memory. */
static void *grow(struct arena *arena, const void *items, size_t count, size_t size)
{
    void *moved;

    if ((count & (count - 1)) != 0) {
        return (void *)items;
    }
    moved = arena_allocate(arena, count == 0 ? 1 : count * 2, size);
    if (moved != NULL && count > 0) {
        memcpy(moved, items, count * size);
    }
    return moved;
}

struct glob_list *event_filter_list(struct event_filter *filter, const char *option)
{
    const struct {
        const char *option;
        struct glob_list *list;
    } lists[] = {{"function", &filter->functions},
                 {"name", &filter->names},
                 {"file", &filter->files},
                 {"module", &filter->modules},
                 {"thread", &filter->threads}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(lists[i].option, option) == 0) {
            return lists[i].list;
        }
    }
    return NULL;
}

bool event_filter_add_glob(struct event_filter *filter,
                           struct glob_list *list,
                           struct slice text,
                           struct error *error)
{
    struct slice *globs =
        grow(&filter->arena, list->globs, list->count, sizeof *list->globs);

    if (globs == NULL) {
        return error_set_memory(error);
    }
    list->globs = globs;
    list->globs[list->count++] = text;
    return true;
}

static int shown_size(struct slice text)
{
    return (int)(text.size < 80 ? text.size : 80);
}

static bool
add_range(struct event_filter *filter, struct slice text, struct error *error)
{
    struct line_range range;
    struct line_range *lines;

    if (!line_range_read(&range, text)) {
        error_set(error, ERROR_USAGE, "--line %.*s: expected " LINE_RANGE_EXPECTED,
                  shown_size(text), text.bytes);
        return false;
    }
    lines = grow(&filter->arena, filter->lines, filter->line_count, sizeof *lines);
    if (lines == NULL) {
        return error_set_memory(error);
    }
    filter->lines = lines;
    filter->lines[filter->line_count++] = range;
    return true;
}

/* Calls `add` with each item of a list. An empty list counts as one empty item. */
static bool add_items(struct event_filter *filter,
                      struct slice list,
                      bool (*add)(struct event_filter *, struct slice, struct error *),
                      struct error *error)
{
    struct slice item = SLICE("");
    bool is_done = true;

    if (list.size == 0) {
        return add(filter, item, error);
    }
    while (is_done && list_next(&list, &item)) {
        is_done = add(filter, item, error);
    }
    return is_done;
}

bool event_filter_add_line(struct event_filter *filter,
                           struct slice text,
                           struct error *error)
{
    return add_items(filter, text, add_range, error);
}

static bool
add_kind(struct event_filter *filter, struct slice text, struct error *error)
{
    unsigned kinds = 0;

    for (int kind = 0; kind < SITE_KIND_COUNT; kind++) {
        if (glob_match(slice_of(site_kind_text((enum site_kind)kind)), text)) {
            kinds |= 1u << kind;
        }
    }
    if (kinds == 0) {
        error_set(error, ERROR_USAGE,
                  "--kind %.*s: expected enter, assign, mutate, loop, branch, return, "
                  "spy or line, several with commas between",
                  shown_size(text), text.bytes);
        return false;
    }
    filter->kinds |= kinds;
    return true;
}

bool event_filter_add_kinds(struct event_filter *filter,
                            struct slice text,
                            struct error *error)
{
    return add_items(filter, text, add_kind, error);
}

bool event_filter_set_call(struct event_filter *filter,
                           struct slice text,
                           struct error *error)
{
    struct slice rest = text;
    size_t number = 0;
    bool is_number = digits_read(&rest, &number);
    bool is_whole = slice_equal(rest, SLICE("+"));

    if (!is_number || (rest.size > 0 && !is_whole) || number == 0 ||
        number > UINT32_MAX) {
        error_set(
            error, ERROR_USAGE,
            "--call %.*s: expected the number of a call, or N+ for the calls made "
            "within it too",
            shown_size(text), text.bytes);
        return false;
    }
    filter->call = (uint32_t)number;
    filter->is_call_whole = is_whole;
    return true;
}

/* Adds the globs of a list. A file's glob is one item, because file names may contain commas. */
static bool add_globs(struct event_filter *filter,
                      struct glob_list *list,
                      struct slice text,
                      struct error *error)
{
    struct slice glob;

    if (list == &filter->files) {
        return event_filter_add_glob(filter, list, text, error);
    }
    while (list_next(&text, &glob)) {
        if (glob.size > 0 && !event_filter_add_glob(filter, list, glob, error)) {
            return false;
        }
    }
    return true;
}

bool event_filter_process(struct event_filter *filter,
                          const char *option,
                          const char *argument,
                          bool *is_used,
                          struct error *error)
{
    struct glob_list *globs = event_filter_list(filter, option);
    struct slice text = argument == NULL ? SLICE("") : slice_of(argument);
    bool ignored;

    is_used = is_used == NULL ? &ignored : is_used;
    *is_used = true;
    if (globs != NULL) {
        return add_globs(filter, globs, text, error);
    }
    if (strcmp(option, "line") == 0 || strcmp(option, "lines") == 0) {
        return event_filter_add_line(filter, text, error);
    }
    if (strcmp(option, "kind") == 0) {
        return event_filter_add_kinds(filter, text, error);
    }
    if (strcmp(option, "call") == 0) {
        return event_filter_set_call(filter, text, error);
    }
    if (strcmp(option, "changed") == 0) {
        filter->is_changed = true;
    } else if (strcmp(option, "nan") == 0) {
        filter->is_nonfinite = true;
    } else {
        *is_used = false;
    }
    return true;
}

/* ---- matching ---- */

static bool glob_list_match(const struct glob_list *list, struct slice text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (glob_match(text, list->globs[i])) {
            return true;
        }
    }
    return false;
}

static bool file_match(const struct event_filter *filter, struct slice path)
{
    for (size_t i = 0; i < filter->files.count; i++) {
        if (file_select(path, filter->files.globs[i])) {
            return true;
        }
    }
    return false;
}

static bool thread_match(const struct event_filter *filter,
                         const struct open_call *call,
                         const struct log_reader *reader)
{
    struct slice name = log_reader_thread_name(reader, call->thread);
    char digits[8];
    struct slice number = {digits, 0};
    size_t start = sizeof digits;
    unsigned rest = call->thread;

    do {
        digits[--start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    number = (struct slice){digits + start, sizeof digits - start};
    return glob_list_match(&filter->threads, number) ||
           glob_list_match(&filter->threads, name);
}

void event_filter_judge(const struct event_filter *filter,
                        struct open_call *call,
                        const struct log_reader *reader)
{
    const struct log_module *module = log_reader_module(reader, call->module_number);
    struct slice path = module->table.path;
    struct slice function = open_call_function(call, reader)->name;

    call->is_within = call->is_within || call->call == filter->call;
    call->is_wanted =
        (filter->functions.count == 0 ||
         glob_list_match(&filter->functions, function)) &&
        (filter->files.count == 0 || file_match(filter, path)) &&
        (filter->modules.count == 0 || glob_list_match(&filter->modules, call->path)) &&
        (filter->threads.count == 0 || thread_match(filter, call, reader)) &&
        (filter->call == 0 ||
         (filter->is_call_whole ? call->is_within : call->call == filter->call));
}

static bool name_match(const struct event_filter *filter,
                       const struct log_event_view *event)
{
    for (size_t i = 0; i < filter->names.count; i++) {
        if (name_select(event->name, event->path, filter->names.globs[i]) !=
            NAME_OTHER) {
            return true;
        }
    }
    return false;
}

static bool line_match(const struct event_filter *filter, uint32_t line)
{
    for (size_t i = 0; i < filter->line_count; i++) {
        if (line_range_has(filter->lines[i], line)) {
            return true;
        }
    }
    return false;
}

/* Whether the event is a change. A first value is none, and neither is another object that is
 * known to hold the same value. */
static bool is_changed(const struct log_event_view *event)
{
    switch (event->change) {
    case CHANGE_REBOUND:
        return event->difference != 0 || !event->has_hash;
    case CHANGE_MUTATED:
    case CHANGE_ALIASED:
        return true;
    default:
        return false;
    }
}

bool event_filter_match(const struct event_filter *filter,
                        const struct open_call *call,
                        const struct log_event_view *event)
{
    return call->is_wanted &&
           (filter->kinds == 0 || (filter->kinds >> event->site->kind & 1) != 0) &&
           (filter->line_count == 0 || line_match(filter, event->site->line)) &&
           (!filter->is_changed || is_changed(event)) &&
           (!filter->is_nonfinite || value_has_nonfinite(event)) &&
           (filter->names.count == 0 || name_match(filter, event));
}
