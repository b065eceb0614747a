/* What is remembered of sites and arrays for the checks at the end. */
#include "runtime/view/check/check.h"

#include "runtime/base/memory.h"

bool check_remember_site(struct check *check,
                         const struct log_event_view *event,
                         bool fits)
{
    void *sites = check->sites;
    size_t before = check->site_capacity;
    struct check_site *site;

    if (event->site_number >= before) {
        if (!memory_grow(&sites, &check->site_capacity, (size_t)event->site_number + 1,
                         sizeof *check->sites)) {
            check->has_failed = true;
            return false;
        }
        check->sites = sites;
        memset(check->sites + before, 0,
               (check->site_capacity - before) * sizeof *check->sites);
    }
    site = &check->sites[event->site_number];
    site->is_reached = true;
    if (fits && !site->is_wanted) {
        site->is_wanted = true;
        site->event = event->number;
        site->call = event->call;
        site->visit = event->visit;
    }
    return true;
}

static bool is_all_zero(const struct log_event_view *event)
{
    return event->statistics.zero_count == event->statistics.count;
}

bool check_remember_zeros(struct check *check, const struct log_event_view *event)
{
    enum dtype_class class = dtype_class(event->shape->dtype);
    uint32_t name;
    uint64_t key;
    uint32_t index;
    void *zeros = check->zeros;

    if (!event->has_statistics || event->statistics.count == 0 ||
        (class != DTYPE_CLASS_FLOATING && class != DTYPE_CLASS_COMPLEX) ||
        (event->flags & LOG_EVENT_READ) != 0 || event->site->kind == SITE_ENTER) {
        return true;
    }
    check->checked[CHECK_ZEROS]++;
    if (!text_table_add(&check->texts, event->name, &name)) {
        check->has_failed = true;
        return false;
    }
    key = number_map_key(event->site_number, name);
    index = number_map_get(&check->zero_index, key);
    if (index != NUMBER_MAP_NONE) {
        check->zeros[index].is_alive |= !is_all_zero(event);
        check->zeros[index].count++;
        return true;
    }
    if (!memory_grow(&zeros, &check->zero_capacity, (size_t)check->zero_count + 1,
                     sizeof *check->zeros) ||
        !number_map_put(&check->zero_index, key, check->zero_count)) {
        check->zeros = zeros;
        check->has_failed = true;
        return false;
    }
    check->zeros = zeros;
    check->zeros[check->zero_count++] = (struct check_zero){
        .module = event->module_number,
        .site = event->site_number - event->module->first_site,
        .name = name,
        .is_alive = !is_all_zero(event),
        .count = 1,
        .event = event->number,
        .call = event->call,
        .visit = event->visit,
    };
    return true;
}
