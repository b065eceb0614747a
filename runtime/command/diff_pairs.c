/* Which traces are compared with which. */
#include "runtime/command/diff_pairs.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file.h"
#include "runtime/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING     ".mtrace"
#define FILES_MOST 65536
#define RANKS_MOST 65536

/* The traces of a folder, or of ranks, in order. */
struct trace_list {
    const char **paths; /* owned; of the arena */
    size_t count, capacity;
};

void diff_pairs_release(struct diff_pairs *pairs)
{
    arena_release(&pairs->arena);
}

static bool has_ending(const char *name)
{
    size_t size = strlen(name);

    return size > strlen(ENDING) && strcmp(name + size - strlen(ENDING), ENDING) == 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* The number behind `.rank`; -1 where there is none. */
static long rank_of(const char *path)
{
    const char *found = strstr(last_part(path), ".rank");
    char *end;
    long rank;

    if (found == NULL || found[5] < '0' || found[5] > '9') {
        return -1;
    }
    rank = strtol(found + 5, &end, 10);
    return *end == '.' ? rank : -1;
}

static bool add_path(struct diff_pairs *pairs,
                     struct trace_list *list,
                     struct slice path,
                     struct error *error)
{
    void *items = list->paths;
    struct slice copy;

    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->paths)) {
        error_set_memory(error);
        return false;
    }
    list->paths = items;
    copy = arena_copy(&pairs->arena, path);
    if (copy.bytes == NULL) {
        error_set_memory(error);
        return false;
    }
    list->paths[list->count++] = copy.bytes;
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    long ranks[2] = {rank_of(*x), rank_of(*y)};

    if (ranks[0] != ranks[1]) {
        return ranks[0] < ranks[1] ? -1 : 1;
    }
    return strcmp(last_part(*x), last_part(*y));
}

static bool list_folder(struct diff_pairs *pairs,
                        const char *folder,
                        struct trace_list *list,
                        struct error *error)
{
    struct buffer path = BUFFER_INIT;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    bool is_done = true;

    if (directory == NULL) {
        error_set(error, ERROR_SYSTEM, "%s: %s", folder, strerror(errno));
        return false;
    }
    while (is_done && list->count < FILES_MOST &&
           (entry = readdir(directory)) != NULL) {
        if (!has_ending(entry->d_name)) {
            continue;
        }
        path.size = 0;
        buffer_add(&path, slice_of(folder));
        if (path.size > 0 && path.bytes[path.size - 1] != '/') {
            buffer_add_byte(&path, '/');
        }
        buffer_add(&path, slice_of(entry->d_name));
        is_done = !path.has_failed && add_path(pairs, list, buffer_slice(&path), error);
    }
    closedir(directory);
    if (path.has_failed) {
        error_set_memory(error);
        is_done = false;
    }
    buffer_release(&path);
    if (is_done && list->count == 0) {
        error_set(error, ERROR_INPUT,
                  "%s: no traces in it, expected files *" ENDING
                  ", or saved tensors: *.pt, *.safetensors",
                  folder);
        is_done = false;
    }
    if (is_done) {
        qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    }
    return is_done;
}

/* run.mtrace: run.rank0.mtrace, run.rank1.mtrace … */
static bool list_ranks(struct diff_pairs *pairs,
                       const char *name,
                       struct trace_list *list,
                       struct error *error)
{
    size_t size = strlen(name) - (has_ending(name) ? strlen(ENDING) : 0);
    struct buffer path = BUFFER_INIT;
    bool is_done = true;

    for (unsigned rank = 0; is_done && rank < RANKS_MOST; rank++) {
        path.size = 0;
        buffer_add(&path, (struct slice){name, size});
        buffer_add_format(&path, ".rank%u" ENDING, rank);
        buffer_add_byte(&path, '\0');
        if (path.has_failed) {
            error_set_memory(error);
            is_done = false;
        } else if (!file_inspect(path.bytes).is_there) {
            break;
        } else {
            path.size--;
            is_done = add_path(pairs, list, buffer_slice(&path), error);
        }
    }
    buffer_release(&path);
    return is_done;
}

static bool list_traces(struct diff_pairs *pairs,
                        const char *path,
                        struct trace_list *list,
                        struct error *error)
{
    struct file_info info = file_inspect(path);

    if (info.is_directory) {
        return list_folder(pairs, path, list, error);
    }
    if (!info.is_there && !list_ranks(pairs, path, list, error)) {
        return false;
    }
    /* One that is not there is told when it is read. */
    return list->count > 0 || add_path(pairs, list, slice_of(path), error);
}

static bool name_pair(struct diff_pairs *pairs, struct diff_pair *pair, bool is_ranks)
{
    long rank = rank_of(pair->paths[1]);
    char text[64];

    if (rank < 0 || is_ranks) {
        pair->name = last_part(pair->paths[1]);
        return true;
    }
    snprintf(text, sizeof text, "rank %ld", rank);
    pair->name = arena_copy(&pairs->arena, slice_of(text)).bytes;
    return pair->name != NULL;
}

static bool is_same_trace(const char *a, const char *b)
{
    return rank_of(a) >= 0 ? rank_of(a) == rank_of(b)
                           : strcmp(last_part(a), last_part(b)) == 0;
}

static bool
match(struct diff_pairs *pairs, const struct trace_list lists[2], struct error *error)
{
    bool is_one = lists[0].count == 1 && lists[1].count == 1;
    size_t most = lists[0].count > lists[1].count ? lists[0].count : lists[1].count;

    pairs->pairs = arena_allocate(&pairs->arena, most, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        error_set_memory(error);
        return false;
    }
    for (size_t i = 0; i < most; i++) {
        struct diff_pair *pair = &pairs->pairs[i];

        if (i >= lists[0].count || i >= lists[1].count ||
            (!is_one && !is_same_trace(lists[0].paths[i], lists[1].paths[i]))) {
            bool is_a = i < lists[0].count &&
                        (i >= lists[1].count ||
                         compare_paths(&lists[0].paths[i], &lists[1].paths[i]) < 0);

            error_set(error, ERROR_INPUT, "%s: the other side has no such trace",
                      is_a ? lists[0].paths[i] : lists[1].paths[i]);
            return false;
        }
        *pair = (struct diff_pair){{lists[0].paths[i], lists[1].paths[i]}, NULL};
        if (!is_one && !name_pair(pairs, pair, false)) {
            error_set_memory(error);
            return false;
        }
        pairs->count++;
    }
    return true;
}

static bool pair_with_first(struct diff_pairs *pairs,
                            const struct diff_command_options *options,
                            struct error *error)
{
    pairs->pairs =
        arena_allocate(&pairs->arena, options->trace_count, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        error_set_memory(error);
        return false;
    }
    for (size_t i = 1; i < options->trace_count; i++) {
        struct diff_pair *pair = &pairs->pairs[pairs->count++];

        *pair = (struct diff_pair){{options->traces[0], options->traces[i]}, NULL};
        if (options->trace_count > 2 && !name_pair(pairs, pair, true)) {
            error_set_memory(error);
            return false;
        }
    }
    return true;
}

bool diff_pairs_find(struct diff_pairs *pairs,
                     const struct diff_command_options *options,
                     struct error *error)
{
    struct trace_list lists[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    bool is_done;

    *pairs = (struct diff_pairs){.count = 0};
    arena_init(&pairs->arena);
    if (options->is_ranks) {
        return pair_with_first(pairs, options, error);
    }
    is_done = list_traces(pairs, options->traces[0], &lists[0], error) &&
              list_traces(pairs, options->traces[1], &lists[1], error) &&
              match(pairs, lists, error);
    memory_free(lists[0].paths);
    memory_free(lists[1].paths);
    return is_done;
}
