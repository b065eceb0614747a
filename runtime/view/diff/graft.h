/* Graft: the values of a reference trace, in order for each place of the program, for a run that
 * replaces its own values by them; and the replaced events of a trace of such a run.
 *
 *     struct graft_reference *reference = graft_reference_open(path, &error);
 *
 *     if (graft_reference_next(reference, site, write, "", &value)) { … }
 *     graft_reference_close(reference);
 */
#ifndef MONITORCH_VIEW_DIFF_GRAFT_H
#define MONITORCH_VIEW_DIFF_GRAFT_H

#include "runtime/array/dtype.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_reference;

/* A tensor of the reference. */
struct graft_value {
    uint64_t event;
    uint64_t hash;
    bool has_hash;
};

/* Reads the trace once. Returns NULL if it cannot be read or has no whole value; see `error`. */
struct graft_reference *graft_reference_open(const char *path, struct error *error);
void graft_reference_close(struct graft_reference *reference); /* may be NULL */

/* Returns start and process of the recording as text: "123 45". Borrowed. */
struct slice graft_reference_identity(const struct graft_reference *reference);

/* Finds the next tensor of a place: of the site's `write`-th name, or of the item at `path` in
 * it. Returns false if there is no further one. */
bool graft_reference_next(struct graft_reference *reference,
                          uint32_t site,
                          uint32_t write,
                          struct slice path,
                          struct graft_value *value);

/* The elements of an event's tensor, in row-major order. Valid until the next call. */
struct graft_elements {
    const struct log_shape *shape;
    struct slice bytes;
};
/* Returns false if the elements were not recorded, or only once where the tensor repeats them. */
bool graft_reference_read(struct graft_reference *reference,
                          uint64_t event,
                          struct graft_elements *elements);

/* A site of B that has a counterpart in A. */
struct graft_site {
    uint32_t site_a, site_b;
    uint32_t line;     /* in B */
    struct slice file; /* in B; borrowed until `found` returns */
};

struct diff_rename;

/* Aligns the programs of both traces, as `monitorch diff` does; B may still be recorded. Calls
 * `found` for each site of B that has a counterpart, and stores the number of B's sites. */
bool graft_match_sites(const char *path_a,
                       const char *path_b,
                       const struct diff_rename *renames,
                       size_t rename_count,
                       void (*found)(void *context, const struct graft_site *site),
                       void *context,
                       uint32_t *site_count,
                       struct error *error);

/* The events of B that hold values of A, in runs of consecutive events. */
struct graft_run {
    uint64_t b, a, count;
};
struct graft_runs {
    struct graft_run *items; /* owned; sorted by `b` */
    size_t count, capacity;
    bool is_there;  /* B is a graft */
    bool is_others; /* the reference is another trace than A */
};
/* Reads the settings of both traces to their ends. Returns false if memory ran out. */
bool graft_runs_read(struct graft_runs *runs,
                     const char *path_a,
                     const char *path_b,
                     struct error *error);
void graft_runs_release(struct graft_runs *runs);
/* Whether B's event received the value of A's event. */
bool graft_runs_have(const struct graft_runs *runs, uint64_t a, uint64_t b);

#endif
