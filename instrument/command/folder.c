/* Visiting the files below a folder, in an order that does not depend on the disk. */
#include "instrument/command/folder.h"

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct name_list {
    struct arena arena; /* owned; holds the names */
    const char **names; /* owned */
    size_t count;
    size_t capacity;
};

static void name_list_release(struct name_list *list)
{
    memory_free(list->names);
    arena_release(&list->arena);
}

static bool name_list_add(struct name_list *list, const char *name)
{
    void *names = list->names;

    if (!memory_grow(&names, &list->capacity, list->count + 1, sizeof *list->names)) {
        return false;
    }
    list->names = names;
    list->names[list->count] = arena_copy(&list->arena, slice_of(name)).bytes;
    return list->names[list->count++] != NULL;
}

static int name_compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool name_list_read(struct name_list *list, DIR *folder)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "__pycache__") == 0) {
            continue;
        }
        if (!name_list_add(list, entry->d_name)) {
            return false;
        }
    }
    if (list->count > 0) {
        qsort(list->names, list->count, sizeof *list->names, name_compare);
    }
    return true;
}

static bool walk(struct buffer *path, const struct folder_visitor *visitor);

/* `path` is the file's, and ends with a NUL byte behind its size. */
static bool visit(struct buffer *path, const struct folder_visitor *visitor)
{
    struct stat status;
    bool is_link;

    if (lstat(path->bytes, &status) != 0) {
        return true;
    }
    is_link = S_ISLNK(status.st_mode);
    if (is_link && stat(path->bytes, &status) != 0) {
        return true;
    }
    if (S_ISREG(status.st_mode)) {
        visitor->takes_file(visitor->context, path->bytes);
    } else if (S_ISDIR(status.st_mode) && !is_link &&
               visitor->enters(visitor->context, path->bytes)) {
        return walk(path, visitor);
    }
    return true;
}

static bool terminate(struct buffer *path)
{
    buffer_add_byte(path, '\0');
    path->size -= !path->has_failed;
    return !path->has_failed;
}

static bool visit_names(struct buffer *path,
                        const struct name_list *list,
                        const struct folder_visitor *visitor)
{
    size_t size = path->size;
    bool is_here = size == 1 && path->bytes[0] == '.';
    bool is_done = true;

    for (size_t i = 0; i < list->count && is_done; i++) {
        path->size = is_here ? 0 : size;
        if (!is_here && path->bytes[size - 1] != '/') {
            buffer_add_byte(path, '/');
        }
        buffer_add(path, slice_of(list->names[i]));
        is_done = terminate(path) && visit(path, visitor);
    }
    path->size = size;
    return is_done;
}

static bool walk(struct buffer *path, const struct folder_visitor *visitor)
{
    struct name_list list = {0};
    DIR *folder = opendir(path->bytes);
    bool is_done;

    if (folder == NULL) {
        struct error error;

        error_set_at(&error, ERROR_SYSTEM, path->bytes, 1, 1,
                     "the folder cannot be read: %s", strerror(errno));
        visitor->fails(visitor->context, path->bytes, &error);
        return true;
    }
    arena_init(&list.arena);
    is_done = name_list_read(&list, folder);
    closedir(folder); /* before going deeper: descriptors are few */
    is_done = is_done && visit_names(path, &list, visitor);
    name_list_release(&list);
    return is_done;
}

bool folder_walk(const char *path, const struct folder_visitor *visitor)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, slice_of(path));
    is_done = terminate(&text) && walk(&text, visitor);
    buffer_release(&text);
    return is_done;
}
