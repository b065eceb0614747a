/* Which traces a word on the command line stands for. */
#include "runtime/trace/list.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

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

/* run.mtrace: run.rank0.mtrace, run.rank1.mtrace … */
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
