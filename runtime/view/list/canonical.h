/* A trace without what may differ between two runs that do the same: its threads in an order
 * that no chance decides, calls by numbers of their own, files by paths that do not tell where
 * the project lies. */
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
    uint64_t content;  /* a hash of what it did: where names are equal, it decides */
    uint64_t seen;     /* its events and calls */
    uint16_t number;   /* in the trace */
};

struct canonical {
    struct canonical_thread *threads; /* owned; in their order */
    size_t thread_count;
    struct slice folder;  /* borrowed: what the paths of most files begin with; "" */
    uint32_t call_number; /* that was given last */
};

/* Reads the trace once, and starts it again. From then on the reader gives the paths without
 * `folder`, and those of installed packages from the package on. */
bool canonical_init(struct canonical *canonical,
                    struct log_reader *reader,
                    struct error *error);
void canonical_release(struct canonical *canonical);

/* Gives the call its number, and before it those that it was made from theirs. */
void canonical_number_call(struct canonical *canonical, struct open_call *call);

/* A text of the recorder's, without the folder in front. */
struct slice canonical_text(const struct canonical *canonical, struct slice text);

#endif
