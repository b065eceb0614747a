/* Outputs that are inputs, or that two inputs share. */
#include "instrument/command/plan_parts.h"

#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A file as an input or an output: by device and inode where it exists, else by name. */
struct use {
    struct file_info info;
    const char *name; /* "" where the file exists */
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

/* `first` is the use that counts, `later` one of the same file. */
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

bool plan_check_conflicts(struct plan *plan, const struct options *options)
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
