/* The filter of events. Conditions of different kinds must all hold; several globs (or lines,
 * kinds) of one condition are alternatives. */
#ifndef MONITORCH_VIEW_WALK_EVENT_FILTER_H
#define MONITORCH_VIEW_WALK_EVENT_FILTER_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glob_list {
    struct slice
        *globs; /* in the filter's arena; the texts are borrowed from the caller */
    size_t count;
};

struct event_filter {
    struct arena arena;
    struct glob_list functions; /* qualified names */
    struct glob_list
        names; /* names as written, with or without the path inside the value */
    struct glob_list files;   /* as file_select() matches them */
    struct glob_list modules; /* paths of nn.Modules */
    struct glob_list threads; /* numbers or names */
    struct line_range *lines; /* in the arena */
    size_t line_count;
    unsigned kinds;     /* bits: 1 << enum site_kind; 0: all */
    uint32_t call;      /* 0: all */
    bool is_call_whole; /* also the calls made from it */
    bool is_changed;
    bool is_nonfinite;
};

void event_filter_init(struct event_filter *filter);
void event_filter_release(struct event_filter *filter);

/* Whether the filter has no conditions, so that every event matches. */
bool event_filter_is_empty(const struct event_filter *filter);

/* The list for the globs of an option: `function`, `name`, `file`, `module`, `thread`. NULL: the
 * option has no globs. */
struct glob_list *event_filter_list(struct event_filter *filter, const char *option);

/* Each parses the argument of the option of the same name. `text` must outlive the filter.
 * Returns false if the argument is invalid; `error` says why. */
bool event_filter_add_glob(struct event_filter *filter,
                           struct glob_list *list,
                           struct slice text,
                           struct error *error);
bool event_filter_add_line(struct event_filter *filter,
                           struct slice text,
                           struct error *error);
bool event_filter_add_kinds(struct event_filter *filter,
                            struct slice text,
                            struct error *error);
bool event_filter_set_call(struct event_filter *filter,
                           struct slice text,
                           struct error *error);

/* Handles any of these options by its name, and also `lines`, `changed` and `nan`. `argument` is
 * NULL for an option without one. Sets `*is_used` to whether the option exists; `is_used` may be
 * NULL. */
bool event_filter_process(struct event_filter *filter,
                          const char *option,
                          const char *argument,
                          bool *is_used,
                          struct error *error);

/* Decides whether a call matches. Must be called once for each new call, before its events. */
void event_filter_judge(const struct event_filter *filter,
                        struct open_call *call,
                        const struct log_reader *reader);

bool event_filter_match(const struct event_filter *filter,
                        const struct open_call *call,
                        const struct log_event_view *event);

#endif
