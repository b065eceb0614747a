/* The plan: the input files, and the output of each. */
#include "instrument/command/plan.h"

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool plan_check_conflicts(struct plan *plan, const struct options *options);

struct folder_visitor {
    /* whether this folder is searched */
    bool (*enters)(void *context, const char *path);
    void (*on_file)(void *context, const char *path);
    void (*fails)(void *context, const char *path, const struct error *error);
    void *context; /* borrowed */
};

/* The files below a folder, visited in an order that does not depend on the disk. */

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

/* `path` is that of the file; a NUL byte follows its size. */
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
        visitor->on_file(visitor->context, path->bytes);
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
    closedir(folder); /* closed before the recursion: descriptors are few */
    is_done = is_done && visit_names(path, &list, visitor);
    name_list_release(&list);
    return is_done;
}

/* Visits each name, sorted by bytes. Skips names that begin with a dot, `__pycache__` and
 * symbolic links to folders. Paths begin with `path`, but never with "./". Returns false if out
 * of memory; folders that cannot be read are reported to `fails`. */
static bool folder_walk(const char *path, const struct folder_visitor *visitor)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, slice_of(path));
    is_done = terminate(&text) && walk(&text, visitor);
    buffer_release(&text);
    return is_done;
}

#define TRACED "_traced"

void plan_release(struct plan *plan)
{
    memory_free(plan->items);
    arena_release(&plan->arena);
    *plan = (struct plan){0};
}

/* A failed allocation is stored in the arena, which is checked once, when the plan is complete. */
static const char *plan_copy(struct plan *plan, const struct buffer *text)
{
    if (text->has_failed) {
        plan->arena.has_failed = true;
        return NULL;
    }
    return arena_copy(&plan->arena, buffer_slice(text)).bytes;
}

/* A failed allocation is stored in the arena, which is checked once, when the plan is complete. */
static struct item *plan_add(struct plan *plan, struct item item)
{
    void *items = plan->items;

    if (!memory_grow(&items, &plan->capacity, plan->count + 1, sizeof *plan->items)) {
        plan->arena.has_failed = true;
        return NULL;
    }
    plan->items = items;
    plan->items[plan->count] = item;
    return &plan->items[plan->count++];
}

/* Marks the item as one that cannot be done, with the message `PATH:1:1: WHAT OTHER`. */
static void plan_refuse(struct plan *plan,
                        struct item *item,
                        const char *path,
                        const char *what,
                        const char *other)
{
    struct error error;

    error_set_at(&error, ERROR_INPUT, path, 1, 1, "%s%s", what, other);
    item->refusal = arena_copy(&plan->arena, slice_of(error.text)).bytes;
}

/* ---- names of outputs ---- */

/* Appends the path without the parts that could lead out of the folder. */
static void plan_add_below(struct buffer *text, const char *path)
{
    while (*path != '\0') {
        size_t size = strcspn(path, "/");
        bool is_name = size > 0 && !(size == 1 && path[0] == '.') &&
                       !(size == 2 && path[0] == '.' && path[1] == '.');

        if (is_name) {
            buffer_add_byte(text, '/');
            buffer_add_bytes(text, path, size);
        }
        path += size + (path[size] == '/');
    }
}

static const char *
mirrored_path(struct plan *plan, const char *directory, const char *relative)
{
    struct buffer text = BUFFER_INIT;
    const char *result;

    buffer_add(&text, slice_of(directory));
    while (text.size > 1 && text.bytes[text.size - 1] == '/') {
        text.size--;
    }
    if (text.size == 1 && text.bytes[0] == '/') {
        text.size = 0;
    }
    plan_add_below(&text, relative);
    result = plan_copy(plan, &text);
    buffer_release(&text);
    return result;
}

/* `model.py` -> `model_traced.py` */
static const char *traced_path(struct plan *plan, const char *path)
{
    struct slice whole = slice_of(path);
    struct buffer text = BUFFER_INIT;
    const char *result;

    if (slice_ends(whole, SLICE(".py"))) {
        whole.size -= 3;
    }
    buffer_add(&text, whole);
    buffer_add(&text, SLICE(TRACED ".py"));
    result = plan_copy(plan, &text);
    buffer_release(&text);
    return result;
}

/* `model_traced.py` -> `model.py` */
static const char *source_path(struct plan *plan, const char *path)
{
    struct buffer text = BUFFER_INIT;
    const char *result;

    buffer_add_bytes(&text, path, strlen(path) - strlen(TRACED ".py"));
    buffer_add(&text, SLICE(".py"));
    result = plan_copy(plan, &text);
    buffer_release(&text);
    return result;
}

static const char *output_path(struct plan *plan,
                               const struct options *options,
                               const char *path,
                               const char *relative)
{
    if (options->output != NULL) {
        return strcmp(options->output, "-") == 0 ? NULL : options->output;
    }
    if (options->directory != NULL) {
        return mirrored_path(plan, options->directory, relative);
    }
    if (options->is_in_place) {
        return path;
    }
    return options->mode == MODE_CHECK ? traced_path(plan, path) : NULL;
}

/* ---- inputs ---- */

/* Adds an item for a source and its traced file, given the name of either. Adds nothing if one
 * of them is missing. */
static void add_pair(struct plan *plan, const char *path)
{
    struct slice name = slice_of(path);
    struct item item = {.path = path};

    if (slice_ends(name, SLICE(TRACED ".py"))) {
        item.path = source_path(plan, path);
        item.output = path;
    } else {
        item.output = traced_path(plan, path);
    }
    if (item.path == NULL || item.output == NULL) {
        return;
    }
    item.mode = file_inspect(item.path).mode;
    if (file_inspect(item.output).is_there) {
        plan_add(plan, item);
    } else if (!file_inspect(path).is_there) {
        struct item *added = plan_add(plan, item);

        if (added != NULL) {
            plan_refuse(plan, added, path, "cannot be read: ", "no such file");
        }
    }
}

/* `relative` is the path inside a mirrored tree. */
static void add_file(struct plan *plan,
                     const struct options *options,
                     const char *path,
                     const char *relative)
{
    struct file_info info = file_inspect(path);

    if (options->mode == MODE_UPDATE) {
        add_pair(plan, path);
        return;
    }
    plan_add(plan,
             (struct item){
                 .path = path,
                 .output = output_path(plan, options, path, relative),
                 .mode = info.is_there && strcmp(path, "-") != 0 ? info.mode
                                                                 : FILE_MODE_DEFAULT,
             });
}

struct walk {
    struct plan *plan;
    const struct options *options;
    size_t root_size;        /* of the folder's name and the slash after it */
    struct file_info output; /* the folder of -d, which is skipped */
};

static bool walk_enters(void *context, const char *path)
{
    const struct walk *walk = context;
    struct file_info info;

    if (!walk->output.is_there) {
        return true;
    }
    info = file_inspect(path);
    return info.device != walk->output.device || info.inode != walk->output.inode;
}

static void add_walked_file(void *context, const char *path)
{
    const struct walk *walk = context;
    enum mode mode = walk->options->mode;
    bool wants_traced =
        mode == MODE_STRIP || mode == MODE_UPDATE || mode == MODE_REFUSE;
    const char *copy;

    if (!slice_ends(slice_of(path), SLICE(".py")) ||
        (!wants_traced && slice_ends(slice_of(path), SLICE(TRACED ".py")))) {
        return;
    }
    copy = arena_copy(&walk->plan->arena, slice_of(path)).bytes;
    if (copy != NULL) {
        add_file(walk->plan, walk->options, copy, copy + walk->root_size);
    }
}

static void walk_fails(void *context, const char *path, const struct error *error)
{
    const struct walk *walk = context;
    struct plan *plan = walk->plan;
    const char *copy = arena_copy(&plan->arena, slice_of(path)).bytes;

    plan_add(plan, (struct item){
                       .path = copy,
                       .refusal = arena_copy(&plan->arena, slice_of(error->text)).bytes,
                   });
}

static void
add_folder(struct plan *plan, const struct options *options, const char *path)
{
    struct walk walk = {plan, options, strlen(path), {0}};

    if (options->directory != NULL) {
        walk.output = file_inspect(options->directory);
    }
    walk.root_size += path[walk.root_size - 1] != '/';
    if (strcmp(path, ".") == 0) { /* `folder_walk` removes "./" */
        walk.root_size = 0;
    }
    if (!folder_walk(path, &(struct folder_visitor){walk_enters, add_walked_file,
                                                    walk_fails, &walk})) {
        plan->arena.has_failed = true;
    }
}

static void
add_input(struct plan *plan, const struct options *options, const char *path)
{
    bool is_folder = strcmp(path, "-") != 0 && file_inspect(path).is_directory;
    struct item *item;

    if (!is_folder) {
        add_file(plan, options, path, path);
        return;
    }
    if (options->is_recursive) {
        add_folder(plan, options, path);
        return;
    }
    item = plan_add(plan, (struct item){.path = path});
    if (item != NULL) {
        plan_refuse(plan, item, path, "is a directory, expected a file, or -r", "");
    }
}

bool plan_make(struct plan *plan, const struct options *options, struct error *error)
{
    *plan = (struct plan){0};
    arena_init(&plan->arena);
    for (size_t i = 0; i < options->file_count; i++) {
        add_input(plan, options, options->files[i]);
    }
    if (plan->arena.has_failed || !plan_check_conflicts(plan, options) ||
        plan->arena.has_failed) {
        return error_set_memory(error);
    }
    return true;
}

/* ---- outputs that are inputs, or that two inputs share ---- */

/* A file that is used as an input or an output. It is identified by device and inode if it
 * exists, otherwise by name. */
struct use {
    struct file_info info;
    const char *name; /* "" if the file exists */
    size_t item;
    bool is_output;
};

static int use_compare_file(const struct use *a, const struct use *b)
{
    if (a->info.device != b->info.device) {
        return a->info.device < b->info.device ? -1 : 1;
    }
    if (a->info.inode != b->info.inode) {
        return a->info.inode < b->info.inode ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

static int use_compare(const void *left, const void *right)
{
    const struct use *a = left;
    const struct use *b = right;
    int order = use_compare_file(a, b);

    if (order != 0) {
        return order;
    }
    if (a->is_output != b->is_output) { /* an input comes first */
        return a->is_output ? 1 : -1;
    }
    return (a->item > b->item) - (a->item < b->item);
}

static struct use
use_of(struct plan *plan, size_t item, const char *path, bool is_output)
{
    struct use use = {file_inspect(path), "", item, is_output};
    struct buffer text = BUFFER_INIT;

    if (!use.info.is_there) {
        if (path[0] == '/') {
            buffer_add_byte(&text, '/');
        }
        plan_add_below(&text, path);
        use.name = plan_copy(plan, &text);
        buffer_release(&text);
    }
    return use;
}

/* Refuses or marks `later`, a use of the same file as `first`. */
static void resolve_conflict(struct plan *plan,
                             const struct options *options,
                             const struct use *first,
                             const struct use *later)
{
    struct item *item = &plan->items[later->item];
    const struct item *other = &plan->items[first->item];
    bool is_file = later->info.is_regular || !later->info.is_there;

    if (!later->is_output || !is_file || item->refusal != NULL) {
        return;
    }
    if (first->is_output && options->mode == MODE_UPDATE) {
        item->is_repeated = true;
    } else if (first->is_output) {
        plan_refuse(plan, item, item->path, "would be written to the same output as ",
                    other->path);
    } else if (first->item == later->item) {
        plan_refuse(plan, item, item->output,
                    "output is the input, expected another name, or --in-place", "");
    } else {
        plan_refuse(plan, item, item->output, "output is an input too, of ",
                    other->path);
    }
}

/* Refuses outputs that conflict, in the later items. Returns false if out of memory, without a
 * mark in the arena. */
static bool plan_check_conflicts(struct plan *plan, const struct options *options)
{
    struct use *uses = memory_allocate(plan->count * 2, sizeof *uses);
    size_t count = 0;
    size_t first = 0;

    if (uses == NULL) {
        return false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const struct item *item = &plan->items[i];

        if (item->refusal != NULL || item->output == NULL) {
            continue;
        }
        if (!options->is_in_place && strcmp(item->path, "-") != 0) {
            uses[count++] = use_of(plan, i, item->path, false);
        }
        uses[count++] = use_of(plan, i, item->output, true);
    }
    if (!plan->arena.has_failed && count > 0) {
        qsort(uses, count, sizeof *uses, use_compare);
        for (size_t i = 1; i < count; i++) {
            if (use_compare_file(&uses[first], &uses[i]) != 0) {
                first = i;
            } else {
                resolve_conflict(plan, options, &uses[first], &uses[i]);
            }
        }
    }
    memory_free(uses);
    return true;
}
