/* Canonical form of a trace, without data that differs between two runs that do the same:
 * threads have a fixed order, calls have numbers of their own, and paths of files do not contain
 * the project's folder. */
#ifndef MONITORCH_VIEW_LIST_CANONICAL_H
#define MONITORCH_VIEW_LIST_CANONICAL_H

#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canonical_thread {
    struct slice name; /* borrowed from the reader */
    uint64_t
        content;     /* hash of its events and calls: orders threads of the same name */
    uint64_t seen;   /* number of its events and calls */
    uint16_t number; /* in the trace */
};

struct canonical {
    struct canonical_thread *threads; /* owned; in their order */
    size_t thread_count;
    struct slice folder;  /* borrowed: the common prefix of most files' paths; "" */
    uint32_t call_number; /* the last number that was assigned */
};

/* Reads the trace once, and rewinds the reader. Afterwards the reader returns paths without
 * `folder`, and paths of installed packages from the package on. Returns false if memory runs
 * out. */
bool canonical_init(struct canonical *canonical,
                    struct log_reader *reader,
                    struct error *error);
void canonical_release(struct canonical *canonical);

/* Numbers the call, after the calls around it that have no number yet. */
void canonical_number_call(struct canonical *canonical, struct open_call *call);

/* A text of the recorder, without the folder at its start. */
struct slice canonical_text(const struct canonical *canonical, struct slice text);

#endif
