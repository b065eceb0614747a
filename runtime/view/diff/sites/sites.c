/* Which modules and functions of two programs are the same. */
#include "runtime/view/diff/sites/sites.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

/* Modules without a likely partner are compared by their functions; not more than so many
 * pairs of them. */
#define COMPARED_MAX 20000

void diff_sites_init(struct diff_sites *sites, const struct diff_align_options *options)
{
    *sites = (struct diff_sites){0};
    diff_names_init(&sites->names, options->renames, options->rename_count);
    for (unsigned side = 0; side < 2; side++) {
        sites->programs[side].reader = options->readers[side];
        sites->programs[side].sources = options->sources[side];
    }
}

void diff_sites_release(struct diff_sites *sites)
{
    for (unsigned side = 0; side < 2; side++) {
        struct diff_program *program = &sites->programs[side];

        for (uint32_t i = 0; i < program->count; i++) {
            diff_module_release(&program->modules[i]);
        }
        memory_free(program->modules);
    }
    diff_names_release(&sites->names);
    *sites = (struct diff_sites){0};
}

/* ---- modules ---- */

static bool pair_modules(struct diff_sites *sites, uint32_t a, uint32_t b)
{
    const uint32_t modules[2] = {a, b};

    sites->programs[0].modules[a].partner = b;
    sites->programs[1].modules[b].partner = a;
    return diff_functions_pair(sites, modules) &&
           diff_functions_pair_like(sites, modules) && diff_lines_pair(sites, modules);
}

static uint32_t named_like(const struct diff_module *a, const struct diff_module *b)
{
    const struct site_table *left = &a->module->table;
    const struct site_table *right = &b->module->table;
    uint32_t count = 0;

    for (uint32_t i = 1; i < left->function_count; i++) {
        for (uint32_t k = 1; k < right->function_count; k++) {
            if (a->functions[i].key == b->functions[k].key) {
                count++;
                break;
            }
        }
    }
    return count;
}

/* Why two modules may be the same, the best reason first. */
enum reason {
    REASON_RENAMED,
    REASON_PATH,
    REASON_NAME_AND_LAST_PART,
    REASON_LAST_PART,
    REASON_NAME,
    REASON_FUNCTIONS,
    REASON_COUNT
};

static bool has_reason(const struct diff_sites *sites,
                       const struct diff_module *a,
                       const struct diff_module *b,
                       enum reason reason)
{
    struct slice left = a->module->table.path;
    struct slice right = b->module->table.path;
    bool is_same_part =
        slice_equal(slice_last_part(left, '/'), slice_last_part(right, '/'));
    bool is_same_name =
        a->module->name.size > 0 && slice_equal(a->module->name, b->module->name);
    uint32_t fewest = a->module->table.function_count;

    switch (reason) {
    case REASON_RENAMED:
        return diff_names_map_file(&sites->names, left, right);
    case REASON_PATH:
        return slice_equal(left, right);
    case REASON_NAME_AND_LAST_PART:
        return is_same_part && is_same_name;
    case REASON_LAST_PART:
        return is_same_part;
    case REASON_NAME:
        return is_same_name;
    default:
        fewest = b->module->table.function_count < fewest
                     ? b->module->table.function_count
                     : fewest;
        /* The module itself is a function that all have. */
        return fewest > 1 && named_like(a, b) * 2 >= fewest - 1;
    }
}

static bool pair_by(struct diff_sites *sites, enum reason reason)
{
    struct diff_program *a = &sites->programs[0];
    struct diff_program *b = &sites->programs[1];
    uint64_t compared = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count && a->modules[i].partner == DIFF_NONE; k++) {
            if (b->modules[k].partner != DIFF_NONE) {
                continue;
            }
            if (reason == REASON_FUNCTIONS && compared++ > COMPARED_MAX) {
                return true;
            }
            if (has_reason(sites, &a->modules[i], &b->modules[k], reason) &&
                !pair_modules(sites, i, k)) {
                return false;
            }
        }
    }
    return true;
}

static bool take_in(struct diff_sites *sites, unsigned side)
{
    struct diff_program *program = &sites->programs[side];
    uint32_t count = log_reader_module_count(program->reader);
    void *items = program->modules;

    if (!memory_grow(&items, &program->capacity, count, sizeof *program->modules)) {
        return false;
    }
    program->modules = items;
    while (program->count < count) {
        if (!diff_module_init(&program->modules[program->count],
                              log_reader_module(program->reader, program->count), sites,
                              side)) {
            return false;
        }
        program->count++;
    }
    return true;
}

bool diff_sites_update(struct diff_sites *sites)
{
    if (!take_in(sites, 0) || !take_in(sites, 1)) {
        return false;
    }
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        if (!pair_by(sites, (enum reason)reason)) {
            return false;
        }
    }
    if (!diff_functions_pair_left(sites)) {
        return false;
    }
    for (uint32_t i = 0; i < sites->programs[0].count; i++) {
        diff_loops_pair(sites, i);
    }
    return !sites->names.text.has_failed;
}

/* ---- asking ---- */

void diff_sites_likeness(const struct diff_sites *sites, struct diff_likeness *likeness)
{
    *likeness = (struct diff_likeness){0};
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_program *program = &sites->programs[side];

        likeness->file_counts[side] = program->count;
        for (uint32_t i = 0; i < program->count; i++) {
            const struct diff_module *module = &program->modules[i];

            likeness->files_in_both += side == 0 && module->partner != DIFF_NONE;
            likeness->site_counts[side] += module->module->table.site_count;
            for (uint32_t k = 0; k < module->module->table.function_count; k++) {
                const struct diff_function *function = &module->functions[k];

                likeness->function_counts[side] += function->site_count > 0;
                likeness->functions_in_both += side == 0 && function->site_count > 0 &&
                                               function->partner_module != DIFF_NONE;
            }
            for (uint32_t k = 0; k < module->module->table.site_count; k++) {
                likeness->sites_in_both +=
                    side == 0 && module->sites[k].partner != DIFF_NONE;
            }
        }
    }
}

static bool ends_before(const void *modules, size_t place, uint64_t site)
{
    const struct log_module *module =
        ((const struct diff_module *)modules)[place].module;

    return module->first_site + module->table.site_count <= site;
}

const struct diff_module *
diff_sites_module(const struct diff_sites *sites, unsigned side, uint32_t site)
{
    const struct diff_program *program = &sites->programs[side];
    size_t place = sorted_place(program->modules, program->count, ends_before, site);

    return place < program->count && site >= program->modules[place].module->first_site
               ? &program->modules[place]
               : NULL;
}

/* Whether a function is a method of the class: `Net.forward` of `Net`. */
static bool is_method_of(struct slice function, struct slice class_name)
{
    size_t end = function.size;

    while (end > 0 && function.bytes[end - 1] != '.') {
        end--;
    }
    function.size = end > 0 ? end - 1 : 0;
    return class_name.size > 0 && slice_ends(function, class_name) &&
           (function.size == class_name.size ||
            function.bytes[function.size - class_name.size - 1] == '.');
}

bool diff_sites_is_class(const struct diff_sites *sites, struct slice a, struct slice b)
{
    for (uint32_t i = 0; i < sites->programs[0].count; i++) {
        const struct diff_module *module = &sites->programs[0].modules[i];

        for (uint32_t k = 0; k < module->module->table.function_count; k++) {
            const struct diff_function *function = &module->functions[k];
            const struct diff_module *other;

            if (function->partner_module == DIFF_NONE ||
                !is_method_of(module->module->table.functions[k].name, a)) {
                continue;
            }
            other = &sites->programs[1].modules[function->partner_module];
            if (is_method_of(other->module->table.functions[function->partner].name,
                             b)) {
                return true;
            }
        }
    }
    return false;
}

uint32_t diff_sites_partner(const struct diff_sites *sites,
                            unsigned side,
                            uint32_t module,
                            uint32_t site)
{
    const struct diff_program *own = &sites->programs[side];
    const struct diff_program *other = &sites->programs[1 - side];
    const struct diff_module *from;
    uint32_t function, partner;

    if (module >= own->count) {
        return DIFF_NONE;
    }
    from = &own->modules[module];
    site -= from->module->first_site;
    partner = from->sites[site].partner;
    function = from->module->table.sites[site].function;
    module = from->functions[function].partner_module;
    return partner == DIFF_NONE || module >= other->count
               ? DIFF_NONE
               : other->modules[module].module->first_site + partner;
}

bool diff_sites_leave_out(const struct diff_sites *sites,
                          unsigned side,
                          uint32_t module,
                          uint32_t site)
{
    const struct diff_program *programs = sites->programs;
    uint32_t partner;

    if (log_reader_left_out_count(programs[0].reader) == 0 &&
        log_reader_left_out_count(programs[1].reader) == 0) {
        return false;
    }
    site += programs[side].modules[module].module->first_site;
    if (log_reader_find_left_out(programs[side].reader, site) != NULL) {
        return true;
    }
    partner = diff_sites_partner(sites, side, module, site);
    return partner != DIFF_NONE &&
           log_reader_find_left_out(programs[1 - side].reader, partner) != NULL;
}
