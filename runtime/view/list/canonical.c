/* Canonical form of a trace, without data that differs between two runs that do the same. */
#include "runtime/view/list/canonical.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The thread's name. Python numbers threads that it did not start in the order of their first
 * use, so the number is removed. */
static struct slice thread_name(const struct log_reader *reader, uint16_t number)
{
    struct slice name = log_reader_thread_name(reader, number);
    struct slice dummy = SLICE("Dummy-");

    return slice_starts(name, dummy) ? slice_part(name, 0, dummy.size - 1) : name;
}

/* The thread's entry, while entries are sorted by number. Returns NULL if memory runs out. */
static struct canonical_thread *
read_thread(struct canonical *canonical, size_t *capacity, uint16_t number)
{
    void *threads = canonical->threads;
    size_t count = (size_t)number + 1;

    if (number < canonical->thread_count) {
        return &canonical->threads[number];
    }
    if (!memory_grow(&threads, capacity, count, sizeof *canonical->threads)) {
        return NULL;
    }
    canonical->threads = threads;
    memset(&canonical->threads[canonical->thread_count], 0,
           (count - canonical->thread_count) * sizeof *canonical->threads);
    canonical->thread_count = count;
    return &canonical->threads[number];
}

static uint64_t event_content(const struct log_event_view *event)
{
    uint64_t hash = mix(event->site->line, event->site->column);

    hash = mix(hash, event->visit);
    hash = mix(hash, (uint64_t)event->kind);
    hash = mix(hash, (uint64_t)event->integer);
    hash = mix(hash, event->has_hash ? event->hash : 0);
    return mix(hash, hash_64(event->name));
}

static bool find_threads(struct canonical *canonical, struct log_reader *reader)
{
    struct log_item item;
    size_t capacity = 0;

    while (log_reader_next(reader, &item)) {
        struct canonical_thread *thread;
        bool is_event = item.kind == LOG_EVENT;

        if (!is_event && item.kind != LOG_CALL) {
            continue;
        }
        thread = read_thread(canonical, &capacity,
                             is_event ? item.event.thread : item.call.thread);
        if (thread == NULL) {
            return false;
        }
        thread->seen++;
        thread->content =
            mix(thread->content, is_event ? event_content(&item.event) : 1);
    }
    return true;
}

/* Orders threads: the main thread first, then by name and content. */
static int compare_threads(const void *left, const void *right)
{
    const struct canonical_thread *a = left;
    const struct canonical_thread *b = right;
    bool is_main = slice_equal(a->name, SLICE("MainThread"));
    size_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order;

    if (is_main != slice_equal(b->name, SLICE("MainThread"))) {
        return is_main ? -1 : 1;
    }
    order = size > 0 ? memcmp(a->name.bytes, b->name.bytes, size) : 0;
    if (order != 0) {
        return order;
    }
    if (a->name.size != b->name.size) {
        return a->name.size < b->name.size ? -1 : 1;
    }
    if (a->content != b->content) {
        return a->content < b->content ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static void order_threads(struct canonical *canonical, const struct log_reader *reader)
{
    size_t count = 0;

    for (size_t i = 0; i < canonical->thread_count; i++) {
        struct canonical_thread thread = canonical->threads[i];

        if (thread.seen > 0) {
            thread.number = (uint16_t)i;
            thread.name = thread_name(reader, thread.number);
            canonical->threads[count++] = thread;
        }
    }
    canonical->thread_count = count;
    if (count > 0) {
        qsort(canonical->threads, count, sizeof *canonical->threads, compare_threads);
    }
}

/* ---- paths ---- */

/* The size of the part of the path before an installed package, which differs between machines.
 * 0 if the file is not in an installed package. */
static size_t find_package(struct slice path)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    size_t found = 0;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct slice folder = slice_of(folders[i]);
        size_t at = slice_find(path, folder, 0);

        while (at < path.size) {
            found = at + folder.size > found ? at + folder.size : found;
            at = slice_find(path, folder, at + 1);
        }
    }
    return found;
}

/* The path up to its last slash. */
static struct slice folder_of(struct slice path)
{
    size_t end = path.size;

    while (end > 0 && path.bytes[end - 1] != '/') {
        end--;
    }
    return slice_part(path, 0, end);
}

static bool is_placed(struct slice path)
{
    return slice_starts(path, SLICE("/")) && find_package(path) == 0;
}

static struct slice find_folder(const struct log_reader *reader)
{
    struct slice folder = SLICE("");

    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        struct slice path = log_reader_module(reader, i)->table.path;

        if (!is_placed(path)) {
            continue;
        }
        if (folder.size == 0) {
            folder = folder_of(path);
        }
        while (!slice_starts(path, folder)) {
            folder = folder_of(slice_part(folder, 0, folder.size - 1));
        }
    }
    return folder;
}

static void rename_modules(const struct canonical *canonical, struct log_reader *reader)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        struct slice path = log_reader_module(reader, i)->table.path;
        size_t start = is_placed(path) ? canonical->folder.size : find_package(path);

        log_reader_rename(reader, i, slice_part(path, start, path.size));
    }
}

/* ---- the complete form ---- */

bool canonical_init(struct canonical *canonical,
                    struct log_reader *reader,
                    struct error *error)
{
    *canonical = (struct canonical){.folder = SLICE("")};
    if (!find_threads(canonical, reader)) {
        canonical_release(canonical);
        return error_set_memory(error);
    }
    order_threads(canonical, reader);
    canonical->folder = find_folder(reader);
    rename_modules(canonical, reader);
    log_reader_rewind(reader);
    return true;
}

void canonical_release(struct canonical *canonical)
{
    memory_free(canonical->threads);
    *canonical = (struct canonical){.folder = SLICE("")};
}

void canonical_number_call(struct canonical *canonical, struct open_call *call)
{
    struct open_call *top = call;

    call->shown_next = NULL;
    while (top->parent != NULL && top->parent->shown_number == 0) {
        top->parent->shown_next = top;
        top = top->parent;
    }
    for (; top != NULL; top = top->shown_next) {
        if (top->shown_number == 0) {
            top->shown_number = ++canonical->call_number;
        }
    }
}

struct slice canonical_text(const struct canonical *canonical, struct slice text)
{
    return canonical->folder.size > 1 && slice_starts(text, canonical->folder)
               ? slice_part(text, canonical->folder.size, text.size)
               : text;
}
