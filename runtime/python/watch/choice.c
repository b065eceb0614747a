/* A watcher's wish and a module's sites. */
#include "runtime/python/watch/choice.h"

#include "runtime/base/memory.h"

static bool has_name(const struct watcher_wish *wish, struct slice name)
{
    for (size_t i = 0; i < wish->name_count; i++) {
        if (slice_match(name, wish->names[i])) {
            return true;
        }
    }
    return wish->name_count == 0;
}

/* `model.py` and `nets/model.py` stand for any file whose path ends so. */
static bool is_file(struct slice path, struct slice wanted)
{
    if (wanted.size == 0 || slice_match(path, wanted)) {
        return true;
    }
    for (size_t start = 0; start < path.size; start++) {
        if (path.bytes[start] == '/' &&
            slice_match(slice_part(path, start + 1, path.size), wanted)) {
            return true;
        }
    }
    return false;
}

static bool
has_line(const struct watcher_wish *wish, const bool *is_here, uint32_t line)
{
    for (size_t i = 0; i < wish->line_count; i++) {
        if (is_here[i] && line >= wish->lines[i].first && line <= wish->lines[i].last) {
            return true;
        }
    }
    return wish->line_count == 0;
}

static struct watcher_choice *make_choice(const struct site_table *table)
{
    struct watcher_choice *choice = memory_allocate_zeroed(1, sizeof(*choice));
    size_t count = 0;

    if (choice == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        count += table->sites[i].write_count;
    }
    choice->site_count = table->site_count;
    choice->firsts =
        memory_allocate((size_t)table->site_count + 1, sizeof(*choice->firsts));
    choice->is_wanted = memory_allocate_zeroed(count, sizeof(*choice->is_wanted));
    choice->has_any =
        memory_allocate_zeroed(table->site_count, sizeof(*choice->has_any));
    if (choice->firsts == NULL || choice->is_wanted == NULL ||
        choice->has_any == NULL) {
        watcher_choice_free(choice);
        return NULL;
    }
    return choice;
}

struct watcher_choice *watcher_choose(const struct watcher_wish *wish,
                                      const struct site_table *table,
                                      struct slice file)
{
    struct watcher_choice *choice = make_choice(table);
    bool *is_here = memory_allocate(wish->line_count, sizeof(*is_here));
    uint32_t next = 0;

    if (choice == NULL || is_here == NULL) {
        watcher_choice_free(choice);
        memory_free(is_here);
        return NULL;
    }
    for (size_t i = 0; i < wish->line_count; i++) {
        is_here[i] = is_file(file, wish->lines[i].file) ||
                     is_file(table->path, wish->lines[i].file);
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        bool is_on_line = has_line(wish, is_here, site->line);

        choice->firsts[i] = next;
        for (uint32_t j = 0; j < site->write_count; j++, next++) {
            choice->is_wanted[next] =
                is_on_line && has_name(wish, site->writes[j].name);
            choice->has_any[i] = choice->has_any[i] || choice->is_wanted[next];
        }
    }
    choice->firsts[table->site_count] = next;
    memory_free(is_here);
    return choice;
}

void watcher_choice_free(struct watcher_choice *choice)
{
    if (choice != NULL) {
        memory_free(choice->firsts);
        memory_free(choice->is_wanted);
        memory_free(choice->has_any);
        memory_free(choice);
    }
}
