/* Checks at the trace's end: lines that never ran, arrays that never were anything but zeros. */
#include "runtime/view/check/check.h"

const struct check_site *check_known_site(const struct check *check,
                                          const struct log_module *module,
                                          uint32_t index)
{
    static const struct check_site none;
    uint64_t number = (uint64_t)module->first_site + index;

    return number < check->site_capacity ? &check->sites[number] : &none;
}

/* A ring has forgotten what was read, and what ran. */
bool check_is_ring(const struct check *check)
{
    return check->first_event > 0;
}

/* ---- zeros ---- */

/* Whether the statement asks for zeros: `torch.zeros(…)`, `x.zero_()`. */
static bool is_meant(struct check *check, const struct check_zero *zero, uint32_t line)
{
    struct slice text = source_lines_get(check->sources, zero->module, line);

    return slice_find(text, SLICE("zero"), 0) < text.size ||
           slice_find(text, SLICE("full"), 0) < text.size;
}

bool check_find_zeros(struct check *check)
{
    struct buffer words = BUFFER_INIT;
    bool is_done = true;

    for (uint32_t i = 0; i < check->zero_count && is_done; i++) {
        const struct check_zero *zero = &check->zeros[i];
        const struct log_module *module =
            log_reader_module(check->reader, zero->module);
        const struct site *site = &module->table.sites[zero->site];
        struct check_group group = {
            .kind = CHECK_ZEROS,
            .module = zero->module,
            .line = site->line,
            .last_line = site->line,
            .name = check->texts.texts[zero->name],
            .function = module->table.functions[site->function].name,
            .count = zero->count,
            .has_event = true,
            .event = zero->event,
            .call = zero->call,
            .visit = zero->visit,
        };

        if (zero->is_alive || is_meant(check, zero, site->line)) {
            continue;
        }
        if (group.name.size == 0 && site->kind == SITE_RETURN) {
            group.name = SLICE("return");
        }
        buffer_add(&words, SLICE("holds only zeros"));
        if (zero->count > 1) {
            buffer_add(&words, SLICE(", each of "));
            buffer_add_number(&words, zero->count);
            buffer_add(&words, SLICE(" times"));
        }
        check->offender_count += zero->count;
        is_done = check_found(check, &group, &words);
    }
    buffer_release(&words);
    return is_done;
}

/* ---- dead ---- */

/* Whether the filter wants the line: there is no event to ask about, so one is made up. */
static bool
is_line_wanted(const struct check *check, uint32_t module, const struct site *site)
{
    struct open_call call = {.module_number = module, .function = site->function};
    struct log_event_view event = {
        .site = site,
        .name = site->write_count > 0 ? site->writes[0].name : SLICE(""),
        .path = SLICE(""),
    };

    call.path = SLICE("");
    event_filter_judge(&check->rules->filter, &call, check->reader);
    return event_filter_match(&check->rules->filter, &call, &event);
}

static bool was_called(const struct check *check, uint32_t module, uint32_t function)
{
    return number_map_get(&check->called, number_map_key(module, function)) !=
           NUMBER_MAP_NONE;
}

/* `what` never ran; behind it goes up to where nothing ran. */
static bool report_dead(struct check *check,
                        uint32_t number,
                        uint32_t function,
                        uint32_t line,
                        uint32_t last_line,
                        const char *what)
{
    const struct log_module *module = log_reader_module(check->reader, number);
    struct buffer words = BUFFER_INIT;
    bool is_done;
    struct check_group group = {
        .kind = CHECK_DEAD,
        .module = number,
        .line = line,
        .last_line = last_line,
        .name = module->table.functions[function].name,
        .function = module->table.functions[function].name,
        .count = 1,
    };

    buffer_add(&words, slice_of(what));
    if (last_line > line) {
        buffer_add(&words, last_line == line + 1 ? SLICE(", nor did line ")
                                                 : SLICE(", nor did the lines up to "));
        buffer_add_number(&words, last_line);
        buffer_add(&words, SLICE(" run"));
    }
    check->offender_count++;
    is_done = check_found(check, &group, &words);
    buffer_release(&words);
    return is_done;
}

/* Whether a line may have begun and raised an exception: nobody was told then. */
static bool may_have_raised(struct check *check, uint32_t number, uint32_t function)
{
    const struct site_table *table = &log_reader_module(check->reader, number)->table;

    if (number_map_get(&check->called, number_map_key(number, function)) ==
            CHECK_WAS_LEFT ||
        log_reader_header(check->reader)->is_closed == 0) {
        return true;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].function == function &&
            table->sites[i].kind == SITE_BRANCH &&
            slice_starts(source_lines_get(check->sources, number, table->sites[i].line),
                         SLICE("except"))) {
            return true;
        }
    }
    return false;
}

static const char *
what_of(struct check *check, uint32_t number, const struct site *site)
{
    switch (site->kind) {
    case SITE_BRANCH:
        return "this branch was never taken";
    case SITE_LOOP:
        return "this loop never ran its body";
    default:
        return may_have_raised(check, number, site->function)
                   ? "never ran to its end, though the function was called"
                   : "never ran, though the function was called";
    }
}

/* Sites stand in the order of the text: neighbours that never ran are told as one. */
static bool find_dead_lines(struct check *check, uint32_t number, uint32_t function)
{
    const struct log_module *module = log_reader_module(check->reader, number);
    const struct site *first = NULL;
    uint32_t last = 0;
    bool is_done = true;

    for (uint32_t i = 0; i < module->table.site_count && is_done; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->function != function || site->kind == SITE_ENTER ||
            !is_line_wanted(check, number, site)) {
            continue;
        }
        check->checked[CHECK_DEAD]++;
        if (!check_known_site(check, module, i)->is_reached) {
            first = first == NULL ? site : first;
            last = site->line > last ? site->line : last;
        } else if (first != NULL && site->line != first->line) {
            is_done = report_dead(check, number, function, first->line, last,
                                  what_of(check, number, first));
            first = NULL;
            last = 0;
        }
    }
    if (is_done && first != NULL) {
        is_done = report_dead(check, number, function, first->line, last,
                              what_of(check, number, first));
    }
    return is_done;
}

/* A function's own sites; 0: it has none that are wanted. */
static uint32_t
first_line(const struct check *check, uint32_t number, uint32_t function)
{
    const struct site_table *table = &log_reader_module(check->reader, number)->table;

    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].function == function &&
            is_line_wanted(check, number, &table->sites[i])) {
            return table->functions[function].line;
        }
    }
    return 0;
}

bool check_find_dead(struct check *check)
{
    bool is_done = true;

    for (uint32_t i = 0;
         i < log_reader_module_count(check->reader) && !check_is_ring(check) && is_done;
         i++) {
        const struct site_table *table = &log_reader_module(check->reader, i)->table;

        for (uint32_t k = 0; k < table->function_count && is_done; k++) {
            uint32_t line = first_line(check, i, k);

            if (line == 0) {
                continue;
            }
            if (was_called(check, i, k)) {
                is_done = find_dead_lines(check, i, k);
            } else if (k != 0) {
                check->checked[CHECK_DEAD]++;
                is_done = report_dead(check, i, k, line, line, "was never called");
            }
        }
    }
    return is_done;
}
