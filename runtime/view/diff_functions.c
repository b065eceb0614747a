/* Pairing the sites of a function that both programs have, and the lines and loops of a module. */
#include "runtime/base/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff_sequence.h"
#include "runtime/view/diff_sites.h"

#include <stdlib.h>

/* From how much on two lines that are not equal are much alike, in 16ths. */
#define LIKENESS_MAX 16
/* So many lines of a function are looked for at other places of it. */
#define MOVED_MAX 500

/* A site as it is compared. */
struct face {
    uint32_t site;
    enum site_kind kind;
    uint32_t arm;
    uint32_t column;
    uint64_t names; /* all that are written, or the branch's condition; 0: none */
    uint64_t reads;
    uint64_t text; /* of the line; 0: not known */
    struct slice line;
};

struct faces {
    struct face *items[2]; /* owned */
    uint64_t *keys[2];     /* owned */
    uint32_t counts[2];
    bool has_text; /* on both sides */
};

static uint64_t face_key(const struct face *face)
{
    uint64_t key = diff_mix(face->kind, face->arm);

    key = diff_mix(key, face->names);
    key = diff_mix(key, face->reads);
    return diff_mix(key, face->text);
}

static void face_fill(struct face *face,
                      struct diff_sites *sites,
                      unsigned side,
                      uint32_t module_number,
                      uint32_t number)
{
    const struct diff_program *program = &sites->programs[side];
    const struct diff_module *module = &program->modules[module_number];
    const struct site *site = &module->module->table.sites[number];
    uint32_t name = module->sites[number].first_name;
    uint32_t condition =
        site->kind == SITE_BRANCH && site->has_condition ? site->condition : 0;

    *face = (struct face){
        .site = number,
        .kind = site->kind,
        .arm = site->kind == SITE_BRANCH ? site->arm : 0,
        .column = site->column,
        .names = condition,
    };
    for (uint32_t i = 0; i < site->write_count; i++) {
        face->names = diff_mix(face->names, module->name_keys[name++]);
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        face->reads = diff_mix(face->reads, module->name_keys[name++]);
    }
    /* A function's first line has its name, by which it was found already. */
    if (program->sources != NULL && site->kind != SITE_ENTER) {
        face->line = source_lines_get(program->sources, module_number, site->line);
        face->text = face->line.size == 0 ? 0 : hash_64(face->line);
    }
}

/* What begins and what ends alike of two lines, of 16. */
static uint32_t line_likeness(struct slice a, struct slice b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    size_t longer = a.size < b.size ? b.size : a.size;
    size_t before = 0;
    size_t behind = 0;

    if (longer == 0) {
        return 0;
    }
    while (before < shorter && a.bytes[before] == b.bytes[before]) {
        before++;
    }
    while (behind < shorter - before &&
           a.bytes[a.size - 1 - behind] == b.bytes[b.size - 1 - behind]) {
        behind++;
    }
    return (uint32_t)((before + behind) * LIKENESS_MAX / longer);
}

static uint32_t face_score(const void *context, uint32_t a, uint32_t b)
{
    const struct faces *faces = context;
    const struct face *left = &faces->items[0][a];
    const struct face *right = &faces->items[1][b];
    uint32_t score = 0;

    if (left->kind != right->kind || left->arm != right->arm) {
        return 0;
    }
    if (left->names == right->names) {
        score = left->names != 0 ? 40 : 20;
    } else if (left->kind != SITE_BRANCH) {
        return 0;
    }
    score += left->reads == right->reads ? 8 : 0;
    if (faces->has_text) {
        score +=
            left->text == right->text ? 40 : line_likeness(left->line, right->line);
    }
    return score;
}

static void faces_release(struct faces *faces)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(faces->items[side]);
        memory_free(faces->keys[side]);
    }
}

static bool faces_init(struct faces *faces,
                       struct diff_sites *sites,
                       const uint32_t modules[2],
                       const uint32_t functions[2])
{
    bool has_text[2] = {false, false};

    *faces = (struct faces){0};
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_module *module =
            &sites->programs[side].modules[modules[side]];
        const struct site_table *table = &module->module->table;
        uint32_t count = module->functions[functions[side]].site_count;

        faces->items[side] = memory_allocate(count, sizeof **faces->items);
        faces->keys[side] = memory_allocate(count, sizeof **faces->keys);
        if (faces->items[side] == NULL || faces->keys[side] == NULL) {
            faces_release(faces);
            return false;
        }
        for (uint32_t i = module->functions[functions[side]].first_site;
             i < module->functions[functions[side]].end_site; i++) {
            if (table->sites[i].function == functions[side]) {
                struct face *face = &faces->items[side][faces->counts[side]];

                face_fill(face, sites, side, modules[side], i);
                faces->keys[side][faces->counts[side]++] = face_key(face);
                has_text[side] = has_text[side] || face->text != 0;
            }
        }
    }
    faces->has_text = has_text[0] && has_text[1];
    for (unsigned side = 0; side < 2 && !faces->has_text; side++) {
        for (uint32_t i = 0; i < faces->counts[side]; i++) {
            faces->items[side][i].text = 0;
            faces->keys[side][i] = face_key(&faces->items[side][i]);
        }
    }
    return true;
}

/* Names of a pair of sites: B's get the keys of A's, equal names first, then those that are left
 * in their order. */
static void pair_names(uint64_t *a, uint32_t a_count, uint64_t *b, uint32_t b_count)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < b_count; i++) {
        bool is_known = false;

        for (uint32_t k = 0; k < a_count && !is_known; k++) {
            is_known = a[k] == b[i];
        }
        if (is_known) {
            continue;
        }
        while (next < a_count) {
            bool is_taken = false;

            for (uint32_t k = 0; k < b_count && !is_taken; k++) {
                is_taken = b[k] == a[next];
            }
            if (!is_taken) {
                break;
            }
            next++;
        }
        if (next < a_count) {
            b[i] = a[next++];
        }
    }
}

static void
pair_sites(struct diff_module *a, uint32_t i, struct diff_module *b, uint32_t k)
{
    const struct site *left = &a->module->table.sites[i];
    const struct site *right = &b->module->table.sites[k];
    uint64_t *a_names = a->name_keys + a->sites[i].first_name;
    uint64_t *b_names = b->name_keys + b->sites[k].first_name;

    a->sites[i].partner = k;
    b->sites[k].partner = i;
    b->sites[k].key = a->sites[i].key;
    pair_names(a_names, left->write_count, b_names, right->write_count);
    pair_names(a_names + left->write_count, left->read_count,
               b_names + right->write_count, right->read_count);
}

/* Among the sites from `start` to `end` the only one of this kind and arm, or the count. */
static uint32_t find_single(const struct faces *faces,
                            unsigned side,
                            uint32_t start,
                            uint32_t end,
                            const struct face *like)
{
    uint32_t found = faces->counts[side];

    for (uint32_t i = start; i < end; i++) {
        const struct face *face = &faces->items[side][i];

        if (face->kind == like->kind && face->arm == like->arm) {
            if (found != faces->counts[side]) {
                return faces->counts[side];
            }
            found = i;
        }
    }
    return found;
}

/* Sites left over between two pairs, each the only one of its kind there, are the same under
 * another name. */
static void pair_gap(const struct faces *faces,
                     uint32_t *partners,
                     const uint32_t start[2],
                     const uint32_t end[2])
{
    uint32_t least = start[1];

    for (uint32_t i = start[0]; i < end[0] && start[1] < end[1]; i++) {
        const struct face *face = &faces->items[0][i];
        uint32_t mine = find_single(faces, 0, start[0], end[0], face);
        uint32_t other = find_single(faces, 1, start[1], end[1], face);

        if (mine == i && other != faces->counts[1] && other >= least) {
            partners[i] = other;
            least = other + 1;
        }
    }
}

static void pair_gaps(const struct faces *faces, uint32_t *partners)
{
    uint32_t start[2] = {0, 0};

    for (uint32_t i = 0; i <= faces->counts[0]; i++) {
        uint32_t partner = i == faces->counts[0] ? faces->counts[1] : partners[i];

        if (partner != DIFF_SEQUENCE_NONE) {
            pair_gap(faces, partners, start, (const uint32_t[2]){i, partner});
            start[0] = i + 1;
            start[1] = partner + 1;
        }
    }
}

/* The only one of its key that has no partner yet, or the count. */
static uint32_t
find_left(const struct faces *faces, unsigned side, const bool *is_paired, uint64_t key)
{
    uint32_t found = faces->counts[side];

    for (uint32_t i = 0; i < faces->counts[side]; i++) {
        if (!is_paired[i] && faces->keys[side][i] == key) {
            if (found != faces->counts[side]) {
                return faces->counts[side];
            }
            found = i;
        }
    }
    return found;
}

/* Lines that were moved to another place of the function are still the same. */
static bool pair_moved(const struct faces *faces, uint32_t *partners)
{
    bool *is_paired[2] = {
        memory_allocate_zeroed(faces->counts[0], sizeof(bool)),
        memory_allocate_zeroed(faces->counts[1], sizeof(bool)),
    };
    bool is_done = is_paired[0] != NULL && is_paired[1] != NULL;
    uint32_t looked = 0;

    for (uint32_t i = 0; is_done && i < faces->counts[0]; i++) {
        is_paired[0][i] = partners[i] != DIFF_SEQUENCE_NONE;
        if (is_paired[0][i]) {
            is_paired[1][partners[i]] = true;
        }
    }
    for (uint32_t i = 0; is_done && i < faces->counts[0] && looked < MOVED_MAX; i++) {
        const struct face *face = &faces->items[0][i];
        uint32_t other;

        if (is_paired[0][i] || (face->names == 0 && face->text == 0)) {
            continue;
        }
        looked++;
        other = find_left(faces, 1, is_paired[1], faces->keys[0][i]);
        if (other < faces->counts[1] &&
            find_left(faces, 0, is_paired[0], faces->keys[0][i]) == i) {
            partners[i] = other;
            is_paired[0][i] = is_paired[1][other] = true;
        }
    }
    memory_free(is_paired[0]);
    memory_free(is_paired[1]);
    return is_done;
}

/* ---- arms that were turned round ---- */

/* An `if` with an `else`: indices of faces. */
struct halves {
    uint32_t head;   /* the `if`, its block behind it */
    uint32_t middle; /* the `else` */
    uint32_t end;    /* of its block */
};

static bool find_halves(const struct faces *faces,
                        unsigned side,
                        uint32_t head,
                        struct halves *halves)
{
    const struct face *items = faces->items[side];
    uint32_t count = faces->counts[side];

    *halves = (struct halves){head, head + 1, 0};
    while (halves->middle < count &&
           items[halves->middle].column > items[head].column) {
        halves->middle++;
    }
    if (halves->middle >= count || items[halves->middle].kind != SITE_BRANCH ||
        items[halves->middle].arm != 1 ||
        items[halves->middle].column != items[head].column) {
        return false;
    }
    halves->end = halves->middle + 1;
    while (halves->end < count && items[halves->end].column > items[head].column) {
        halves->end++;
    }
    return halves->end == count || items[halves->end].kind != SITE_BRANCH ||
           items[halves->end].arm < 2;
}

/* Whether the lines behind `a` up to `a_end` are those behind `b`. */
static bool are_same_lines(
    const struct faces *faces, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end)
{
    bool is_same = a_end - a == b_end - b;

    while (is_same && ++a < a_end) {
        is_same = faces->keys[0][a] == faces->keys[1][++b];
    }
    return is_same;
}

/* `if a: x else: y` that became `if not a: y else: x`: its lines are where they went. */
static void pair_turned(const struct faces *faces, uint32_t *partners, uint32_t head)
{
    struct halves a, b;

    if (!find_halves(faces, 0, head, &a) ||
        !find_halves(faces, 1, partners[head], &b) || partners[a.middle] != b.middle ||
        faces->items[0][a.head].text == faces->items[1][b.head].text ||
        are_same_lines(faces, a.head, a.middle, b.head, b.middle) ||
        !are_same_lines(faces, a.head, a.middle, b.middle, b.end) ||
        !are_same_lines(faces, a.middle, a.end, b.head, b.middle)) {
        return;
    }
    for (uint32_t i = 0; i < faces->counts[0]; i++) {
        if (partners[i] > b.head && partners[i] < b.end && partners[i] != b.middle) {
            partners[i] = DIFF_SEQUENCE_NONE;
        }
    }
    for (uint32_t i = 1; i < a.middle - a.head; i++) {
        partners[a.head + i] = b.middle + i;
    }
    for (uint32_t i = 1; i < a.end - a.middle; i++) {
        partners[a.middle + i] = b.head + i;
    }
}

static void pair_turned_arms(const struct faces *faces, uint32_t *partners)
{
    for (uint32_t i = 0; faces->has_text && i < faces->counts[0]; i++) {
        const struct face *face = &faces->items[0][i];

        if (face->kind == SITE_BRANCH && face->arm == 0 &&
            partners[i] != DIFF_SEQUENCE_NONE) {
            pair_turned(faces, partners, i);
        }
    }
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

bool diff_function_likeness(struct diff_sites *sites,
                            const uint32_t modules[2],
                            const uint32_t functions[2],
                            uint32_t *percent)
{
    struct faces faces;
    uint32_t common = 0;
    uint32_t i = 0;
    uint32_t k = 0;

    if (!faces_init(&faces, sites, modules, functions)) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        qsort(faces.keys[side], faces.counts[side], sizeof **faces.keys,
              compare_numbers);
    }
    while (i < faces.counts[0] && k < faces.counts[1]) {
        uint64_t a = faces.keys[0][i];
        uint64_t b = faces.keys[1][k];

        common += a == b;
        i += a <= b;
        k += b <= a;
    }
    *percent = (uint32_t)((uint64_t)common * 200 /
                          ((uint64_t)faces.counts[0] + faces.counts[1]));
    faces_release(&faces);
    return true;
}

/* Whether `side` has this line more than once. */
static bool is_repeated(const struct faces *faces, unsigned side, uint64_t key)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < faces->counts[side] && found < 2; i++) {
        found += faces->keys[side][i] == key;
    }
    return found == 2;
}

/* Whether a line that is in a loop in one program alone is another line all the same: what an
 * unrolled loop or one that was moved into a function has left. */
static bool is_out_of_loop(const struct faces *faces,
                           const struct diff_module *a,
                           uint32_t i,
                           const struct diff_module *b,
                           uint32_t k)
{
    const struct face *left = &faces->items[0][i];
    const struct face *right = &faces->items[1][k];
    bool is_in_loop = a->sites[left->site].around != DIFF_NONE;

    if (!faces->has_text || left->kind == SITE_LOOP ||
        is_in_loop == (b->sites[right->site].around != DIFF_NONE)) {
        return false;
    }
    return left->text != right->text ||
           (is_in_loop ? is_repeated(faces, 1, faces->keys[1][k])
                       : is_repeated(faces, 0, faces->keys[0][i]));
}

bool diff_function_pair(struct diff_sites *sites,
                        const uint32_t modules[2],
                        const uint32_t functions[2])
{
    struct diff_module *a = &sites->programs[0].modules[modules[0]];
    struct diff_module *b = &sites->programs[1].modules[modules[1]];
    struct diff_function *left = &a->functions[functions[0]];
    struct diff_function *right = &b->functions[functions[1]];
    struct diff_sequence sequence = {.score = face_score};
    struct faces faces;
    uint32_t *partners;
    bool is_done;

    if (!faces_init(&faces, sites, modules, functions)) {
        return false;
    }
    sequence.context = &faces;
    for (unsigned side = 0; side < 2; side++) {
        sequence.keys[side] = faces.keys[side];
        sequence.counts[side] = faces.counts[side];
    }
    partners = memory_allocate(faces.counts[0], sizeof *partners);
    is_done = partners != NULL && diff_sequence_align(&sequence, partners);
    if (is_done) {
        is_done = pair_moved(&faces, partners);
        pair_gaps(&faces, partners);
        pair_turned_arms(&faces, partners);
    }
    if (is_done) {
        for (uint32_t i = 0; i < faces.counts[0]; i++) {
            uint32_t site = faces.items[0][i].site;

            a->sites[site].key = diff_mix(diff_mix(modules[0], site), 0x51);
            if (partners[i] != DIFF_SEQUENCE_NONE &&
                !is_out_of_loop(&faces, a, i, b, partners[i])) {
                pair_sites(a, site, b, faces.items[1][partners[i]].site);
            }
        }
        left->partner_module = modules[1];
        left->partner = functions[1];
        right->partner_module = modules[0];
        right->partner = functions[0];
        left->key = right->key = diff_mix(diff_mix(modules[0], functions[0]), 0x52);
    }
    memory_free(partners);
    faces_release(&faces);
    return is_done;
}
