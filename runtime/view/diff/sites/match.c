/* Which functions of two programs are the same: by name, else by what stands in them. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sites.h"

#include <stdlib.h>

/* So many pairs of functions that have no partner by name are compared. */
#define LIKE_MAX 2500
/* Functions are the same from so much on; a name with the same last part counts for so much. */
#define LIKE_PERCENT      60
#define SAME_NAME_PERCENT 20

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

bool diff_functions_pair(struct diff_sites *sites, const uint32_t modules[2])
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
        bool has_same_name = slice_equal(name, other);
        uint32_t percent;

        if (right->functions[others[i].function].partner_module != DIFF_NONE ||
            right->functions[others[i].function].site_count == 0) {
            continue;
        }
        if (!diff_function_likeness(sites, modules, functions, has_same_name,
                                    &percent)) {
            return false;
        }
        percent += has_same_name ? SAME_NAME_PERCENT : 0;
        if (percent > best) {
            best = percent;
            *found = i;
        }
    }
    return true;
}

/* Functions of a pair of modules that are the same under another name, as those of a class
 * that was renamed. */
bool diff_functions_pair_like(struct diff_sites *sites, const uint32_t modules[2])
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
bool diff_functions_pair_left(struct diff_sites *sites)
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
