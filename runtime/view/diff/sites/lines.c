/* Pairing the lines of a module that both programs have, and the loops around its sites. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sequence.h"
#include "runtime/view/diff/sites/sites.h"

static uint32_t score_equal(const void *context, uint32_t a, uint32_t b)
{
    const uint64_t *const *keys = context;

    return keys[0][a] == keys[1][b] && keys[0][a] != 0;
}

/* 0: an empty line, or one that is not known. */
static uint64_t *line_keys(const struct diff_program *program, uint32_t number)
{
    const struct diff_module *module = &program->modules[number];
    uint64_t *keys = memory_allocate_zeroed(module->line_count, sizeof *keys);

    for (uint32_t i = 0; keys != NULL && i < module->line_count; i++) {
        struct slice line = program->sources == NULL
                                ? SLICE("")
                                : source_lines_get(program->sources, number, i);

        keys[i] = line.size == 0 ? 0 : hash_64(line);
    }
    return keys;
}

static bool pair_texts(struct diff_module *const modules[2],
                       uint64_t *const keys[2],
                       uint32_t *partners)
{
    struct diff_sequence sequence = {
        .context = keys,
        .score = score_equal,
        .keys = {keys[0], keys[1]},
        .counts = {modules[0]->line_count, modules[1]->line_count},
    };

    if (!diff_sequence_align(&sequence, partners)) {
        return false;
    }
    for (uint32_t i = 1; i < modules[0]->line_count; i++) {
        if (keys[0][i] != 0 && partners[i] != DIFF_SEQUENCE_NONE &&
            modules[0]->lines[i] == 0 && modules[1]->lines[partners[i]] == 0) {
            modules[0]->lines[i] = i;
            modules[1]->lines[partners[i]] = i;
        }
    }
    return true;
}

/* The lines of sites that are the same; where a line has several, the first ones tell. */
static void pair_site_lines(struct diff_module *const modules[2])
{
    const struct site_table *a = &modules[0]->module->table;
    const struct site_table *b = &modules[1]->module->table;

    for (uint32_t i = 0; i < a->site_count; i++) {
        uint32_t line = a->sites[i].line;
        uint32_t partner = modules[0]->sites[i].partner;
        uint32_t other = partner < b->site_count ? b->sites[partner].line : UINT32_MAX;

        if (line < modules[0]->line_count && other < modules[1]->line_count &&
            modules[0]->lines[line] == 0 && modules[1]->lines[other] == 0) {
            modules[0]->lines[line] = line;
            modules[1]->lines[other] = line;
        }
    }
}

bool diff_lines_pair(struct diff_sites *sites, const uint32_t modules[2])
{
    struct diff_module *const pair[2] = {
        &sites->programs[0].modules[modules[0]],
        &sites->programs[1].modules[modules[1]],
    };
    uint64_t *keys[2] = {
        line_keys(&sites->programs[0], modules[0]),
        line_keys(&sites->programs[1], modules[1]),
    };
    uint32_t *partners = memory_allocate(pair[0]->line_count, sizeof *partners);
    bool is_done = keys[0] != NULL && keys[1] != NULL && partners != NULL;

    if (is_done) {
        pair_site_lines(pair);
        is_done = pair_texts(pair, keys, partners);
    }
    memory_free(keys[0]);
    memory_free(keys[1]);
    memory_free(partners);
    return is_done;
}

static bool is_around(const struct diff_module *module, uint32_t site, uint32_t loop)
{
    uint32_t at = module->sites[site].around;

    while (at != DIFF_NONE && at != loop) {
        at = module->sites[at].around;
    }
    return at == loop;
}

void diff_loops_pair(struct diff_sites *sites, uint32_t number)
{
    struct diff_module *module = &sites->programs[0].modules[number];
    const struct site_table *table = &module->module->table;

    for (uint32_t i = 0; i < table->site_count; i++) {
        struct diff_site *site = &module->sites[i];
        const struct diff_function *function =
            &module->functions[table->sites[i].function];
        uint32_t loop = site->around;
        struct diff_module *other;

        if (site->partner == DIFF_NONE) {
            continue;
        }
        other = &sites->programs[1].modules[function->partner_module];
        while (loop != DIFF_NONE &&
               (module->sites[loop].partner == DIFF_NONE ||
                !is_around(other, site->partner, module->sites[loop].partner))) {
            loop = module->sites[loop].around;
        }
        site->loop = loop;
        other->sites[site->partner].loop =
            loop == DIFF_NONE ? DIFF_NONE : module->sites[loop].partner;
    }
}
