/* The things that a trace's records refer to by their numbers. */
#include "runtime/trace/log_reader_private.h"

#include "runtime/base/memory.h"

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

size_t log_numbered_place(const struct log_numbered_list *list, uint32_t number)
{
    size_t low = 0;
    size_t high = list->count;

    if (list->count == 0 || number < list->entries[0].number) {
        return list->count;
    }
    /* Without gaps a number tells its place. */
    low = number - list->entries[0].number;
    if (low < list->count && list->entries[low].number == number) {
        return low;
    }
    low = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->entries[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < list->count && list->entries[low].number == number ? low : list->count;
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

/* Modules are in the order of their sites. */
const struct log_module *
log_site_module(const struct log_reader *reader, uint32_t site, uint32_t *module_number)
{
    size_t low = 0;
    size_t high = reader->modules.count;
    const struct log_module *module;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        module = reader->modules.entries[middle].thing;
        if (module->first_site <= site) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* A module without sites may begin where the next one does. */
    if (low == 0) {
        return NULL;
    }
    module = reader->modules.entries[low - 1].thing;
    *module_number = (uint32_t)(low - 1);
    return site - module->first_site < module->table.site_count ? module : NULL;
}
