/* Which modules and functions of two programs are the same. */
#include "runtime/view/diff_sites.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

#include <stdlib.h>

/* Modules without a likely partner are compared by their functions; not more than so many
 * pairs of them. */
#define COMPARED_MAX 20000
/* So many pairs of functions that have no partner by name are compared. */
#define LIKE_MAX 2500
/* Functions are the same from so much on; a name with the same last part counts for so much. */
#define LIKE_PERCENT      60
#define SAME_NAME_PERCENT 20

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

/* ---- functions ---- */

/* A function by its name. Of those of one name, the first is that of the other's first. */
struct named {
    uint64_t key;
    uint32_t module;
    uint32_t function;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->module != b->module) {
        return a->module < b->module ? -1 : 1;
    }
    return a->function < b->function ? -1 : a->function > b->function;
}

/* The functions of a module that have no partner, in the order of their names; those without
 * sites too: calls are of functions. NULL: out of memory. */
static struct named *
list_functions(const struct diff_module *module, uint32_t number, size_t *count)
{
    uint32_t function_count = module->module->table.function_count;
    struct named *list = memory_allocate(function_count, sizeof *list);

    *count = 0;
    for (uint32_t i = 0; list != NULL && i < function_count; i++) {
        if (module->functions[i].partner_module == DIFF_NONE) {
            list[(*count)++] = (struct named){module->functions[i].key, number, i};
        }
    }
    if (list != NULL) {
        qsort(list, *count, sizeof *list, compare_named);
    }
    return list;
}

static bool
pair_named(struct diff_sites *sites, const struct named *a, const struct named *b)
{
    const uint32_t modules[2] = {a->module, b->module};
    const uint32_t functions[2] = {a->function, b->function};

    return diff_function_pair(sites, modules, functions);
}

static bool pair_functions(struct diff_sites *sites, const uint32_t modules[2])
{
    size_t counts[2] = {0, 0};
    struct named *lists[2];
    bool is_done = true;
    size_t k = 0;

    for (unsigned side = 0; side < 2; side++) {
        lists[side] = list_functions(&sites->programs[side].modules[modules[side]],
                                     modules[side], &counts[side]);
        is_done = is_done && lists[side] != NULL;
    }
    for (size_t i = 0; is_done && i < counts[0]; i++) {
        while (k < counts[1] && lists[1][k].key < lists[0][i].key) {
            k++;
        }
        if (k < counts[1] && lists[1][k].key == lists[0][i].key) {
            is_done = pair_named(sites, &lists[0][i], &lists[1][k++]);
        }
    }
    memory_free(lists[0]);
    memory_free(lists[1]);
    return is_done;
}

/* What stands behind the last dot. */
static struct slice last_name(struct slice name)
{
    size_t start = name.size;

    while (start > 0 && name.bytes[start - 1] != '.') {
        start--;
    }
    return slice_part(name, start, name.size);
}

/* The function of B that is most like one of A under another name; count: there is none. */
static bool find_like(struct diff_sites *sites,
                      const struct named *a,
                      const struct named *others,
                      size_t count,
                      size_t *found)
{
    const struct diff_module *left = &sites->programs[0].modules[a->module];
    struct slice name = last_name(left->module->table.functions[a->function].name);
    uint32_t best = LIKE_PERCENT - 1;

    *found = count;
    for (size_t i = 0; i < count; i++) {
        const struct diff_module *right = &sites->programs[1].modules[others[i].module];
        struct slice other =
            last_name(right->module->table.functions[others[i].function].name);
        const uint32_t modules[2] = {a->module, others[i].module};
        const uint32_t functions[2] = {a->function, others[i].function};
        uint32_t percent;

        if (right->functions[others[i].function].partner_module != DIFF_NONE ||
            right->functions[others[i].function].site_count == 0) {
            continue;
        }
        if (!diff_function_likeness(sites, modules, functions, &percent)) {
            return false;
        }
        percent += slice_equal(name, other) ? SAME_NAME_PERCENT : 0;
        if (percent > best) {
            best = percent;
            *found = i;
        }
    }
    return true;
}

/* Functions of a pair of modules that are the same under another name, as those of a class
 * that was renamed. */
static bool pair_like(struct diff_sites *sites, const uint32_t modules[2])
{
    size_t counts[2] = {0, 0};
    struct named *lists[2];
    bool is_done = true;

    for (unsigned side = 0; side < 2; side++) {
        lists[side] = list_functions(&sites->programs[side].modules[modules[side]],
                                     modules[side], &counts[side]);
        is_done = is_done && lists[side] != NULL;
    }
    for (size_t i = 0; is_done && i < counts[0] && counts[0] * counts[1] <= LIKE_MAX;
         i++) {
        size_t found;

        if (sites->programs[0]
                .modules[modules[0]]
                .functions[lists[0][i].function]
                .site_count > 0) {
            is_done = find_like(sites, &lists[0][i], lists[1], counts[1], &found) &&
                      (found == counts[1] ||
                       pair_named(sites, &lists[0][i], &lists[1][found]));
        }
    }
    memory_free(lists[0]);
    memory_free(lists[1]);
    return is_done;
}

/* The functions of a program that have sites and no partner, by name. */
static struct named *list_left(const struct diff_program *program, size_t *count)
{
    struct named *list;
    size_t capacity = 0;

    *count = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        capacity += program->modules[i].module->table.function_count;
    }
    list = memory_allocate(capacity, sizeof *list);
    for (uint32_t i = 0; list != NULL && i < program->count; i++) {
        const struct diff_module *module = &program->modules[i];

        for (uint32_t k = 1; k < module->module->table.function_count; k++) {
            if (module->functions[k].partner_module == DIFF_NONE &&
                module->functions[k].site_count > 0) {
                list[(*count)++] = (struct named){module->functions[k].key, i, k};
            }
        }
    }
    if (list != NULL) {
        qsort(list, *count, sizeof *list, compare_named);
    }
    return list;
}

/* Whether no other function in the list has that name. */
static bool is_single(const struct named *list, size_t count, size_t i)
{
    return (i == 0 || list[i - 1].key != list[i].key) &&
           (i + 1 == count || list[i + 1].key != list[i].key);
}

/* Functions that were moved to another file. */
static bool pair_left(struct diff_sites *sites)
{
    size_t counts[2];
    struct named *lists[2] = {
        list_left(&sites->programs[0], &counts[0]),
        list_left(&sites->programs[1], &counts[1]),
    };
    bool is_done = lists[0] != NULL && lists[1] != NULL;
    size_t k = 0;

    for (size_t i = 0; is_done && i < counts[0]; i++) {
        while (k < counts[1] && lists[1][k].key < lists[0][i].key) {
            k++;
        }
        if (k < counts[1] && lists[1][k].key == lists[0][i].key &&
            is_single(lists[0], counts[0], i) && is_single(lists[1], counts[1], k)) {
            is_done = pair_named(sites, &lists[0][i], &lists[1][k]);
        }
    }
    memory_free(lists[0]);
    memory_free(lists[1]);
    return is_done;
}

/* ---- modules ---- */

static bool pair_modules(struct diff_sites *sites, uint32_t a, uint32_t b)
{
    const uint32_t modules[2] = {a, b};

    sites->programs[0].modules[a].partner = b;
    sites->programs[1].modules[b].partner = a;
    return pair_functions(sites, modules) && pair_like(sites, modules) &&
           diff_lines_pair(sites, modules);
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
        slice_equal(diff_names_last_part(left), diff_names_last_part(right));
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
    if (!pair_left(sites)) {
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

const struct diff_module *
diff_sites_module(const struct diff_sites *sites, unsigned side, uint32_t site)
{
    const struct diff_program *program = &sites->programs[side];
    uint32_t low = 0;
    uint32_t high = program->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct log_module *module = program->modules[middle].module;

        if (module->first_site + module->table.site_count <= site) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < program->count && site >= program->modules[low].module->first_site
               ? &program->modules[low]
               : NULL;
}
