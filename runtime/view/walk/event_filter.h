/* Which events of a trace are wanted. What is asked for in several ways must hold at once;
 * several globs (or lines, kinds) of one way are alternatives. */
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
    struct slice *globs; /* in the filter's arena; borrowed from the caller */
    size_t count;
};

struct event_filter {
    struct arena arena;
    struct glob_list functions; /* qualified names */
    struct glob_list
        names; /* written names, with or without the path inside the value */
    struct glob_list files;   /* as file_select() matches them */
    struct glob_list modules; /* paths of nn.Modules */
    struct glob_list threads; /* numbers or names */
    struct line_range *lines; /* in the arena */
    size_t line_count;
    unsigned kinds;     /* 1 << enum site_kind, combined; 0: all */
    uint32_t call;      /* 0: all */
    bool is_call_whole; /* and the calls made within it */
    bool is_changed;
    bool is_nonfinite;
};

void event_filter_init(struct event_filter *filter);
void event_filter_release(struct event_filter *filter);

/* Whether it lets everything through. */
bool event_filter_is_empty(const struct event_filter *filter);

/* The list that the option of that name adds a glob to: `function`, `name`, `file`, `module`,
 * `thread`; NULL: the option adds none. */
struct glob_list *event_filter_list(struct event_filter *filter, const char *option);

/* Each takes what stands behind the option of the same name on a command line; `text` has to
 * live as long as the filter. Fails where it makes no sense. */
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

/* Any of these, `lines`, `changed` and `nan` too, by the option's name; `argument` is NULL where it
 * takes none. `is_used`, which may be NULL: there is such an option. */
bool event_filter_process(struct event_filter *filter,
                          const char *option,
                          const char *argument,
                          bool *is_used,
                          struct error *error);

/* To be asked once for each new call, before its events. */
void event_filter_judge(const struct event_filter *filter,
                        struct open_call *call,
                        const struct log_reader *reader);

bool event_filter_match(const struct event_filter *filter,
                        const struct open_call *call,
                        const struct log_event_view *event);

#endif
