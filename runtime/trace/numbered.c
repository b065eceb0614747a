/* The things that a trace's records refer to by their numbers. */
#include "runtime/trace/reader_private.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

bool log_numbered_add(struct log_numbered_list *list,
                      uint32_t number,
                      const void *thing)
{
    void *entries = list->entries;

    if (!memory_grow(&entries, &list->capacity, list->count + 1,
                     sizeof *list->entries)) {
        return false;
    }
    list->entries = entries;
    list->entries[list->count++] = (struct log_numbered){number, thing};
    return true;
}

bool log_numbered_follows(const struct log_numbered_list *list, uint32_t number)
{
    return list->count == 0 || number > list->entries[list->count - 1].number;
}

static bool is_before(const void *entries, size_t place, uint64_t number)
{
    return ((const struct log_numbered *)entries)[place].number < number;
}

size_t log_numbered_place(const struct log_numbered_list *list, uint32_t number)
{
    size_t place;

    if (list->count == 0 || number < list->entries[0].number) {
        return list->count;
    }
    /* Without gaps a number tells its place. */
    place = number - list->entries[0].number;
    if (place >= list->count || list->entries[place].number != number) {
        place = sorted_place(list->entries, list->count, is_before, number);
    }
    return place < list->count && list->entries[place].number == number ? place
                                                                        : list->count;
}

const void *log_numbered_find(const struct log_numbered_list *list, uint32_t number)
{
    size_t place = log_numbered_place(list, number);

    return place == list->count ? NULL : list->entries[place].thing;
}

bool log_text_find(const struct log_reader *reader, uint32_t number, struct slice *text)
{
    const struct slice *found;

    if (number == 0) {
        *text = SLICE("");
        return true;
    }
    found = log_numbered_find(&reader->texts, number);
    if (found == NULL) {
        return false;
    }
    *text = *found;
    return true;
}

const struct log_module *log_table_module(const struct log_reader *reader,
                                          uint32_t table,
                                          uint32_t *module_number)
{
    size_t place = log_numbered_place(&reader->modules, table);

    if (place == reader->modules.count) {
        return NULL;
    }
    *module_number = (uint32_t)place;
    return reader->modules.entries[place].thing;
}

/* Or there. */
static bool begins_before(const void *entries, size_t place, uint64_t site)
{
    const struct log_module *module =
        ((const struct log_numbered *)entries)[place].thing;

    return module->first_site <= site;
}

/* Modules are in the order of their sites. */
const struct log_module *
log_site_module(const struct log_reader *reader, uint32_t site, uint32_t *module_number)
{
    size_t next = sorted_place(reader->modules.entries, reader->modules.count,
                               begins_before, site);
    const struct log_module *module;

    /* A module without sites may begin where the next one does. */
    if (next == 0) {
        return NULL;
    }
    module = reader->modules.entries[next - 1].thing;
    *module_number = (uint32_t)(next - 1);
    return site - module->first_site < module->table.site_count ? module : NULL;
}
