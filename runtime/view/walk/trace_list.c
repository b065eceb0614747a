/* The traces that a word of the command line names. */
#include "runtime/view/walk/trace_list.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENDING     ".mtrace"
#define FILES_MOST 65536
#define RANKS_MOST 65536

void trace_list_init(struct trace_list *list, struct arena *arena)
{
    *list = (struct trace_list){.arena = arena};
}

void trace_list_release(struct trace_list *list)
{
    memory_free(list->paths);
    list->paths = NULL;
    list->count = list->capacity = 0;
}

static bool has_ending(const char *name)
{
    size_t size = strlen(name);

    return size > strlen(ENDING) && strcmp(name + size - strlen(ENDING), ENDING) == 0;
}

const char *trace_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

long trace_rank(const char *path)
{
    const char *found = strstr(trace_file_name(path), ".rank");
    char *end;
    long rank;

    if (found == NULL || found[5] < '0' || found[5] > '9') {
        return -1;
    }
    rank = strtol(found + 5, &end, 10);
    return *end == '.' ? rank : -1;
}

static bool add_path(struct trace_list *list, struct slice path, struct error *error)
{
    void *items = list->paths;
    struct slice copy;

    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->paths)) {
        return error_set_memory(error);
    }
    list->paths = items;
    copy = arena_copy(list->arena, path);
    if (copy.bytes == NULL) {
        return error_set_memory(error);
    }
    list->paths[list->count++] = copy.bytes;
    return true;
}

int trace_order(const char *a, const char *b)
{
    long ranks[2] = {trace_rank(a), trace_rank(b)};

    if (ranks[0] != ranks[1]) {
        return ranks[0] < ranks[1] ? -1 : 1;
    }
    return strcmp(trace_file_name(a), trace_file_name(b));
}

static int compare_paths(const void *a, const void *b)
{
    return trace_order(*(const char *const *)a, *(const char *const *)b);
}

static bool add_folder(struct trace_list *list, const char *folder, struct error *error)
{
    size_t before = list->count;
    struct buffer path = BUFFER_INIT;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    bool is_done = true;

    if (directory == NULL) {
        error_set(error, ERROR_SYSTEM, "%s: %s", folder, strerror(errno));
        return false;
    }
    while (is_done && list->count - before < FILES_MOST &&
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
        is_done = !path.has_failed && add_path(list, buffer_slice(&path), error);
    }
    closedir(directory);
    if (path.has_failed) {
        error_set_memory(error);
        is_done = false;
    }
    buffer_release(&path);
    if (is_done && list->count == before) {
        error_set(error, ERROR_INPUT,
                  "%s: has no traces, expected files *" ENDING
                  ", or saved tensors: *.pt, *.safetensors",
                  folder);
        is_done = false;
    }
    if (is_done) {
        qsort(list->paths + before, list->count - before, sizeof *list->paths,
              compare_paths);
    }
    return is_done;
}

/* Adds the traces of all ranks: run.rank0.mtrace, run.rank1.mtrace … for run.mtrace. */
static bool add_ranks(struct trace_list *list, const char *name, struct error *error)
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
            is_done = add_path(list, buffer_slice(&path), error);
        }
    }
    buffer_release(&path);
    return is_done;
}

bool trace_list_add(struct trace_list *list, const char *word, struct error *error)
{
    struct file_info info = file_inspect(word);
    size_t before = list->count;

    if (info.is_directory) {
        return add_folder(list, word, error);
    }
    if (!info.is_there && !add_ranks(list, word, error)) {
        return false;
    }
    return list->count > before || add_path(list, slice_of(word), error);
}

/* ---- other traces of one run ---- */

/* Whether a part of a name, between dots, was added for a process or a rank: `4711`, `rank3`. */
static bool is_number_part(struct slice part)
{
    size_t i = slice_starts(part, SLICE("rank")) ? 4 : 0;

    for (size_t k = i; k < part.size; k++) {
        if (part.bytes[k] < '0' || part.bytes[k] > '9') {
            return false;
        }
    }
    return part.size > i;
}

/* The stem of a trace's name: `run` for run.mtrace, run.rank1.mtrace, run.rank1.4711.mtrace. */
static struct slice stem_of(const char *path)
{
    struct slice name = slice_of(trace_file_name(path));

    name.size -= has_ending(name.bytes) ? strlen(ENDING) : 0;
    for (;;) {
        struct slice last = slice_last_part(name, '.');

        if (last.size + 1 >= name.size || !is_number_part(last)) {
            return name;
        }
        name.size -= last.size + 1;
    }
}

static bool is_of_run(const struct log_header *a, const struct log_header *b)
{
    bool is_a_child = a->origin.root_start != 0;
    bool is_b_child = b->origin.root_start != 0;
    uint64_t starts[] = {is_a_child ? a->origin.root_start : a->start_time,
                         is_b_child ? b->origin.root_start : b->start_time};
    uint32_t processes[] = {is_a_child ? a->origin.root_process : a->process,
                            is_b_child ? b->origin.root_process : b->process};

    return (starts[0] == starts[1] && processes[0] == processes[1]) ||
           (a->origin.job != 0 && a->origin.job == b->origin.job);
}

/* Whether the trace at that path is another trace of the run of `reader`. */
static bool belongs(const char *path, const struct log_reader *reader)
{
    struct error error = ERROR_INIT;
    struct log_reader *other = log_reader_new(path, &error);
    bool is_of =
        other != NULL &&
        is_of_run(log_reader_header(other), log_reader_header(reader)) &&
        (log_reader_header(other)->process != log_reader_header(reader)->process ||
         log_reader_header(other)->start_time != log_reader_header(reader)->start_time);

    log_reader_free(other);
    return is_of;
}

static bool add_if_beside(struct trace_list *list,
                          struct slice folder,
                          const char *name,
                          struct slice stem,
                          const struct log_reader *reader,
                          struct error *error)
{
    struct buffer path = BUFFER_INIT;
    bool is_done = true;

    if (!has_ending(name) || !slice_equal(stem_of(name), stem)) {
        return true;
    }
    buffer_add(&path, folder);
    buffer_add(&path, slice_of(name));
    buffer_add_byte(&path, '\0');
    if (path.has_failed) {
        is_done = error_set_memory(error);
    } else if (belongs(path.bytes, reader)) {
        path.size--;
        is_done = add_path(list, buffer_slice(&path), error);
    }
    buffer_release(&path);
    return is_done;
}

static bool add_beside_of(struct trace_list *list,
                          const char *path,
                          const struct log_reader *reader,
                          struct error *error)
{
    struct slice whole = slice_of(path);
    struct slice folder = slice_part(whole, 0, (size_t)(trace_file_name(path) - path));
    struct slice opened = folder.size == 0 ? SLICE(".") : folder;
    struct slice name = arena_copy(list->arena, opened);
    DIR *directory = name.bytes == NULL ? NULL : opendir(name.bytes);
    struct dirent *entry;
    bool is_done = true;

    while (directory != NULL && is_done && list->count < FILES_MOST &&
           (entry = readdir(directory)) != NULL) {
        is_done =
            add_if_beside(list, folder, entry->d_name, stem_of(path), reader, error);
    }
    if (directory != NULL) {
        closedir(directory);
    }
    if (is_done && list->count > 1) {
        qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    }
    return is_done;
}

bool trace_list_add_beside(struct trace_list *list,
                           const char *path,
                           struct error *error)
{
    struct error ignored = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &ignored);
    bool is_done = reader == NULL || add_beside_of(list, path, reader, error);

    log_reader_free(reader);
    return is_done;
}
