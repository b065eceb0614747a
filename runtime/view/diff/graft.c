/* Graft: values of a reference by their places in the program, and the events of a run whose
 * values were replaced by them. */
#include "runtime/view/diff/graft.h"

#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/view/diff/align/align.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Longer settings are not written by a graft. */
#define SETTING_SIZE_MAX 4096

/* ---- the reference ---- */

/* Event of a tensor, linked to the next one of its place. */
struct entry {
    struct graft_value value;
    uint32_t next; /* NONE: none yet */
};

/* The first and the last entry of a place. */
struct place {
    uint32_t first, last;
};

struct graft_reference {
    struct log_reader *reader; /* owned */
    struct entry *entries;     /* owned */
    size_t count, capacity;
    struct place *places; /* owned */
    size_t place_count, place_capacity;
    struct number_map index; /* key of a place -> place */
    struct buffer bytes;     /* owned: the elements that were read last */
    uint64_t next_event;     /* number of the reader's next event, or a later one */
    size_t value_count;      /* tensors with whole values */
    char identity[LOG_IDENTITY_SIZE];
};

static uint64_t key_of(uint32_t site, uint32_t write, struct slice path)
{
    uint64_t parts[2] = {number_map_key(site, write), hash_64(path)};

    return hash_64((struct slice){(const char *)parts, sizeof parts});
}

static uint32_t find_write(const struct log_event_view *event)
{
    for (uint32_t i = 0; i < event->site->write_count; i++) {
        if (slice_equal(event->site->writes[i].name, event->name)) {
            return i;
        }
    }
    return NONE;
}

/* Returns the place of the key, added if it is new. NULL: out of memory. */
static struct place *find_place(struct graft_reference *reference, uint64_t key)
{
    uint32_t number = number_map_get(&reference->index, key);
    void *grown = reference->places;

    if (number == NUMBER_MAP_NONE) {
        number = (uint32_t)reference->place_count;
        if (!memory_grow(&grown, &reference->place_capacity, reference->place_count + 1,
                         sizeof *reference->places)) {
            return NULL;
        }
        reference->places = grown;
        if (!number_map_put(&reference->index, key, number)) {
            return NULL;
        }
        reference->places[reference->place_count++] = (struct place){NONE, NONE};
    }
    assert(number < reference->place_count);
    return &reference->places[number];
}

static bool add_event(struct graft_reference *reference,
                      const struct log_event_view *event)
{
    uint32_t write = find_write(event), number = (uint32_t)reference->count;
    void *grown = reference->entries;
    struct place *place;

    if (write == NONE || (event->flags & LOG_EVENT_READ) != 0) {
        return true;
    }
    place = find_place(reference, key_of(event->site_number, write, event->path));
    if (place == NULL || number == NONE ||
        !memory_grow(&grown, &reference->capacity, reference->count + 1,
                     sizeof *reference->entries)) {
        return false;
    }
    reference->entries = grown;
    reference->entries[reference->count++] = (struct entry){
        .value = {event->number, event->hash, event->has_hash},
        .next = NONE,
    };
    if (place->first == NONE) {
        place->first = number;
    } else {
        reference->entries[place->last].next = number;
    }
    place->last = number;
    return true;
}

static bool read_all(struct graft_reference *reference, struct error *error)
{
    struct log_item item;

    while (log_reader_next(reference->reader, &item)) {
        if (item.kind == LOG_EVENT && item.event.kind == VALUE_TENSOR &&
            !add_event(reference, &item.event)) {
            return error_set_memory(error);
        }
        reference->value_count += item.kind == LOG_DATA && item.data.offset == 0;
    }
    log_reader_rewind(reference->reader);
    return true;
}

struct graft_reference *graft_reference_open(const char *path, struct error *error)
{
    struct graft_reference *reference = memory_allocate_zeroed(1, sizeof *reference);

    if (reference == NULL) {
        error_set_memory(error);
        return NULL;
    }
    number_map_init(&reference->index);
    reference->bytes = (struct buffer)BUFFER_INIT;
    reference->reader = log_reader_new(path, error);
    if (reference->reader == NULL || !read_all(reference, error)) {
        graft_reference_close(reference);
        return NULL;
    }
    if (reference->value_count == 0) {
        error_set(error, ERROR_USAGE,
                  "%s holds no whole values: record the reference with `monitorch run "
                  "--record values=all`",
                  path);
        graft_reference_close(reference);
        return NULL;
    }
    log_reader_identity(reference->reader, reference->identity);
    return reference;
}

void graft_reference_close(struct graft_reference *reference)
{
    if (reference == NULL) {
        return;
    }
    log_reader_free(reference->reader);
    memory_free(reference->entries);
    memory_free(reference->places);
    number_map_release(&reference->index);
    buffer_release(&reference->bytes);
    memory_free(reference);
}

struct slice graft_reference_identity(const struct graft_reference *reference)
{
    return slice_of(reference->identity);
}

bool graft_reference_next(struct graft_reference *reference,
                          uint32_t site,
                          uint32_t write,
                          struct slice path,
                          struct graft_value *value)
{
    uint32_t number = number_map_get(&reference->index, key_of(site, write, path));
    struct place *place;

    if (number == NUMBER_MAP_NONE) {
        return false;
    }
    assert(number < reference->place_count);
    place = &reference->places[number];
    if (place->first == NONE) {
        return false;
    }
    *value = reference->entries[place->first].value;
    place->first = reference->entries[place->first].next;
    return true;
}

/* Reads the pieces of the reader's last event. */
static bool read_pieces(struct graft_reference *reference, uint64_t event)
{
    struct log_item item;

    for (;;) {
        struct log_place place = log_reader_place(reference->reader);

        if (!log_reader_next(reference->reader, &item)) {
            return true;
        }
        if (item.kind != LOG_DATA || item.data.event != event) {
            log_reader_go(reference->reader, place);
            return true;
        }
        if (item.data.is_once || item.data.offset != reference->bytes.size) {
            return false;
        }
        buffer_add(&reference->bytes, item.data.bytes);
    }
}

static bool has_all(const struct graft_elements *elements)
{
    uint64_t size = dtype_size(elements->shape->dtype);

    for (uint32_t i = 0; i < elements->shape->dimension_count; i++) {
        if (__builtin_mul_overflow(size, (uint64_t)elements->shape->shape[i], &size)) {
            return false;
        }
    }
    return elements->bytes.size > 0 && elements->bytes.size == size;
}

bool graft_reference_read(struct graft_reference *reference,
                          uint64_t event,
                          struct graft_elements *elements)
{
    struct log_item item;

    if (event < reference->next_event) {
        log_reader_go_to_event(reference->reader, event);
    }
    reference->next_event = event + 1;
    while (log_reader_next(reference->reader, &item)) {
        if (item.kind != LOG_EVENT || item.event.number < event) {
            continue;
        }
        if (item.event.number > event || item.event.kind != VALUE_TENSOR) {
            reference->next_event = item.event.number + 1;
            return false;
        }
        elements->shape = item.event.shape;
        reference->bytes.size = 0;
        if (!read_pieces(reference, event) || reference->bytes.has_failed) {
            return false;
        }
        elements->bytes = buffer_slice(&reference->bytes);
        return has_all(elements);
    }
    reference->next_event = UINT64_MAX;
    return false;
}

/* ---- the sites of both programs ---- */

/* Returns the module of a site of the trace. NULL: there is none. */
static const struct log_module *find_module(const struct log_reader *reader,
                                            uint32_t site)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            return module;
        }
    }
    return NULL;
}

static uint32_t count_sites(const struct log_reader *reader)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if (module->first_site + module->table.site_count > count) {
            count = module->first_site + module->table.site_count;
        }
    }
    return count;
}

static void give_sites(const struct diff_align *align,
                       const struct log_reader *reader,
                       uint32_t count,
                       void (*found)(void *context, const struct graft_site *site),
                       void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct log_module *module = find_module(reader, i);
        uint32_t other = diff_align_site(align, 1, i);

        if (module != NULL && other != DIFF_SITE_NONE) {
            struct graft_site site = {
                .site_a = other,
                .site_b = i,
                .line = module->table.sites[i - module->first_site].line,
                .file = module->table.path,
            };

            found(context, &site);
        }
    }
}

bool graft_match_sites(const char *path_a,
                       const char *path_b,
                       const struct diff_rename *renames,
                       size_t rename_count,
                       void (*found)(void *context, const struct graft_site *site),
                       void *context,
                       uint32_t *site_count,
                       struct error *error)
{
    struct log_reader *readers[2] = {log_reader_new(path_a, error), NULL};
    struct source_lines sources[2];
    struct diff_align *align = NULL;

    if (readers[0] == NULL) {
        return false;
    }
    readers[1] = log_reader_new(path_b, error);
    if (readers[1] != NULL) {
        struct diff_align_options options = {
            .readers = {readers[0], readers[1]},
            .sources = {&sources[0], &sources[1]},
            .renames = renames,
            .rename_count = rename_count,
        };

        source_lines_init(&sources[0], readers[0], NULL);
        source_lines_init(&sources[1], readers[1], NULL);
        align = diff_align_new(&options, error);
        if (align != NULL) {
            *site_count = count_sites(readers[1]);
            give_sites(align, readers[1], *site_count, found, context);
            diff_align_free(align);
        }
        source_lines_release(&sources[0]);
        source_lines_release(&sources[1]);
    }
    log_reader_free(readers[0]);
    log_reader_free(readers[1]);
    return align != NULL;
}

/* ---- replaced events of a run ---- */

/* Parses `12:10:5 …`: five events, from B's 12 and A's 10 on. */
static bool add_runs(struct graft_runs *runs, struct slice text)
{
    char copy[SETTING_SIZE_MAX];
    char *next = copy;

    if (text.size >= sizeof copy) {
        return true; /* not written by a graft */
    }
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    for (;;) {
        struct graft_run run;
        void *items = runs->items;
        int length = 0;

        if (sscanf(next, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 " %n", &run.b, &run.a,
                   &run.count, &length) != 3) {
            return true;
        }
        next += length;
        if (!memory_grow(&items, &runs->capacity, runs->count + 1,
                         sizeof *runs->items)) {
            return false;
        }
        runs->items = items;
        runs->items[runs->count++] = run;
    }
}

static bool read_runs(struct graft_runs *runs, struct log_reader *reader)
{
    for (unsigned i = 0;; i++) {
        char name[32];
        const struct log_setting *setting;

        snprintf(name, sizeof name, "graft.%u", i);
        setting = log_reader_find_setting(reader, slice_of(name));
        if (setting == NULL) {
            return true;
        }
        if (!add_runs(runs, setting->value)) {
            return false;
        }
    }
}

bool graft_runs_read(struct graft_runs *runs,
                     const char *path_a,
                     const char *path_b,
                     struct error *error)
{
    struct log_reader *readers[2] = {log_reader_new(path_a, error),
                                     log_reader_new(path_b, error)};
    const struct log_setting *of;
    struct log_item item;
    char identity[LOG_IDENTITY_SIZE];
    bool is_done = readers[0] != NULL && readers[1] != NULL;

    *runs = (struct graft_runs){.items = NULL};
    of = is_done ? log_reader_find_setting(readers[1], SLICE("graft.of")) : NULL;
    if (of != NULL) {
        runs->is_there = true;
        log_reader_identity(readers[0], identity);
        runs->is_others = !slice_equal(of->value, slice_of(identity));
        while (log_reader_next(readers[1], &item)) {}
        is_done = read_runs(runs, readers[1]) || error_set_memory(error);
    }
    log_reader_free(readers[0]);
    log_reader_free(readers[1]);
    return is_done;
}

void graft_runs_release(struct graft_runs *runs)
{
    memory_free(runs->items);
    *runs = (struct graft_runs){.items = NULL};
}

bool graft_runs_have(const struct graft_runs *runs, uint64_t a, uint64_t b)
{
    size_t first = 0, end = runs->is_others ? 0 : runs->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct graft_run *run = &runs->items[middle];

        if (b < run->b) {
            end = middle;
        } else if (b - run->b >= run->count) {
            first = middle + 1;
        } else {
            return a >= run->a && a - run->a == b - run->b;
        }
    }
    return false;
}
