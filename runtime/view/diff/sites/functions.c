/* Pairs of sites of a function that both programs have, and its names that differ between the
 * two. */
#include "runtime/base/buffer.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/faces.h"
#include "runtime/view/diff/sites/sequence.h"
#include "runtime/view/diff/sites/sites.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct diff_keys {
    uint64_t *items; /* owned, sorted */
    size_t count;
};

/* Names of a function on both sides. */
struct diff_locals {
    const struct diff_faces *faces; /* borrowed */
    struct diff_sites *sites;       /* borrowed */
    uint32_t modules[2];
    uint32_t functions[2];
    struct diff_keys written[2]; /* names that it writes */
    struct diff_keys all[2];     /* names that it writes or reads */
    struct diff_local *renamed;  /* owned */
    size_t renamed_count;
    size_t renamed_capacity;
    struct buffer line; /* owned: the last line that was made */
};

static void diff_locals_release(struct diff_locals *locals);

/* Names of a line that are distinguished, and lines ahead in which its counterpart is searched,
 * at most. */
#define LINE_NAME_MAX 32
#define AHEAD_MAX     64
/* Names of a function that are found to be renamed, at most. */
#define RENAMED_MAX 256

/* Marks the number of a replaced name in a line. Lines of code do not contain this byte. */
#define NAME_MARK '\x01'

struct diff_local {
    uint64_t keys[2];
    struct slice names[2];
};

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static const struct diff_module *module_of(const struct diff_locals *locals,
                                           unsigned side)
{
    return &locals->sites->programs[side].modules[locals->modules[side]];
}

static const struct site *
site_of(const struct diff_locals *locals, unsigned side, uint32_t face)
{
    return &module_of(locals, side)
                ->module->table.sites[locals->faces->items[side][face].site];
}

/* Makes a sorted list of the names' keys that the function's sites write, or also read. Returns
 * false if memory ran out. */
static bool list_keys(const struct diff_locals *locals,
                      unsigned side,
                      bool has_reads,
                      struct diff_keys *keys)
{
    const struct diff_module *module = module_of(locals, side);
    size_t capacity = 0;

    for (uint32_t i = 0; i < locals->faces->counts[side]; i++) {
        const struct site *site = site_of(locals, side, i);

        capacity += (size_t)site->write_count + (has_reads ? site->read_count : 0);
    }
    keys->items = memory_allocate(capacity, sizeof *keys->items);
    if (keys->items == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < locals->faces->counts[side]; i++) {
        const struct site *site = site_of(locals, side, i);
        uint32_t first = module->sites[locals->faces->items[side][i].site].first_name;
        uint32_t count = site->write_count + (has_reads ? site->read_count : 0);

        for (uint32_t k = 0; k < count; k++) {
            keys->items[keys->count++] = module->name_keys[first + k];
        }
    }
    qsort(keys->items, keys->count, sizeof *keys->items, compare_keys);
    return true;
}

static bool has_key(const struct diff_keys *keys, uint64_t key)
{
    return bsearch(&key, keys->items, keys->count, sizeof key, compare_keys) != NULL;
}

/* Returns false if memory ran out. */
static bool diff_locals_init(struct diff_locals *locals,
                             struct diff_sites *sites,
                             const struct diff_faces *faces,
                             const uint32_t modules[2],
                             const uint32_t functions[2])
{
    *locals = (struct diff_locals){
        .faces = faces,
        .sites = sites,
        .modules = {modules[0], modules[1]},
        .functions = {functions[0], functions[1]},
    };
    for (unsigned side = 0; side < 2; side++) {
        if (!list_keys(locals, side, false, &locals->written[side]) ||
            !list_keys(locals, side, true, &locals->all[side])) {
            diff_locals_release(locals);
            return false;
        }
    }
    return true;
}

static void diff_locals_release(struct diff_locals *locals)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(locals->written[side].items);
        memory_free(locals->all[side].items);
    }
    memory_free(locals->renamed);
    buffer_release(&locals->line);
    *locals = (struct diff_locals){0};
}

/* ---- lines ---- */

static bool is_name_byte(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') ||
           (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (unsigned char)byte >= 0x80;
}

/* Returns the next name of a line after `*at` that is not an attribute, and adds the text before
 * it to `made`. "": there is none. */
static struct slice next_name(struct buffer *made, struct slice line, size_t *at)
{
    while (*at < line.size) {
        size_t start = *at;
        bool is_part = start > 0 && line.bytes[start - 1] == '.';

        if (!is_name_byte(line.bytes[start])) {
            buffer_add_byte(made, line.bytes[(*at)++]);
            continue;
        }
        while (*at < line.size && is_name_byte(line.bytes[*at])) {
            (*at)++;
        }
        if (!is_part && (line.bytes[start] < '0' || line.bytes[start] > '9')) {
            return slice_part(line, start, *at);
        }
        buffer_add(made, slice_part(line, start, *at));
    }
    return SLICE("");
}

/* Returns a hash of the line in which the names that the function writes are numbered. Lines
 * that differ only in these names have the same hash. 0: the line is not known. */
static uint64_t
diff_locals_shape(struct diff_locals *locals, unsigned side, uint32_t face)
{
    struct slice line = locals->faces->items[side][face].line;
    struct buffer *made = &locals->line;
    uint64_t seen[LINE_NAME_MAX];
    uint32_t seen_count = 0;
    struct slice name;
    size_t at = 0;

    made->size = 0;
    while ((name = next_name(made, line, &at)).size > 0) {
        uint64_t key = diff_names_hash(&locals->sites->names, side, name);
        uint32_t i = 0;

        if (!has_key(&locals->written[side], key)) {
            buffer_add(made, name);
            continue;
        }
        while (i < seen_count && seen[i] != key) {
            i++;
        }
        if (i == seen_count && seen_count < LINE_NAME_MAX) {
            seen[seen_count++] = key;
        }
        buffer_add_byte(made, NAME_MARK);
        buffer_add_number(made, i);
        buffer_add_byte(made, NAME_MARK);
    }
    return line.size == 0 ? 0 : hash_64(buffer_slice(made));
}

/* Hashes B's line with renamed names replaced by A's. */
static uint64_t text_of(struct diff_locals *locals, struct slice line)
{
    struct buffer *made = &locals->line;
    struct slice name;
    size_t at = 0;

    made->size = 0;
    while ((name = next_name(made, line, &at)).size > 0) {
        for (size_t i = 0; i < locals->renamed_count; i++) {
            if (slice_equal(locals->renamed[i].names[1], name)) {
                name = locals->renamed[i].names[0];
                break;
            }
        }
        buffer_add(made, name);
    }
    return hash_64(buffer_slice(made));
}

/* ---- names ---- */

/* Whether one name may be a rename of the other: they are such a pair, or neither is in a pair
 * and no function has both. */
static bool may_become(const struct diff_locals *locals, const struct diff_local *local)
{
    for (size_t i = 0; i < locals->renamed_count; i++) {
        const struct diff_local *known = &locals->renamed[i];

        if (known->keys[0] == local->keys[0] || known->keys[1] == local->keys[1]) {
            return known->keys[0] == local->keys[0] && known->keys[1] == local->keys[1];
        }
    }
    return locals->renamed_count < RENAMED_MAX &&
           !has_key(&locals->all[1], local->keys[0]) &&
           !has_key(&locals->all[0], local->keys[1]);
}

static bool add_local(struct diff_locals *locals, const struct diff_local *local)
{
    void *items = locals->renamed;

    for (size_t i = 0; i < locals->renamed_count; i++) {
        if (locals->renamed[i].keys[0] == local->keys[0]) {
            return true;
        }
    }
    if (!memory_grow(&items, &locals->renamed_capacity, locals->renamed_count + 1,
                     sizeof *locals->renamed)) {
        return false;
    }
    locals->renamed = items;
    locals->renamed[locals->renamed_count++] = *local;
    return true;
}

/* Adds the pairs of different names that the two sites write at the same positions. Returns
 * false if memory ran out. */
static bool add_names(struct diff_locals *locals, uint32_t a, uint32_t b)
{
    const struct site *sites[2] = {site_of(locals, 0, a), site_of(locals, 1, b)};

    for (uint32_t i = 0; i < sites[0]->write_count; i++) {
        struct diff_local local = {
            .names = {sites[0]->writes[i].name, sites[1]->writes[i].name},
        };

        for (unsigned side = 0; side < 2; side++) {
            const struct diff_module *module = module_of(locals, side);
            const struct site *site = sites[side];
            size_t number = (size_t)(site - module->module->table.sites);

            local.keys[side] = module->name_keys[module->sites[number].first_name + i];
        }
        if (local.keys[0] != local.keys[1] && may_become(locals, &local) &&
            !add_local(locals, &local)) {
            return false;
        }
    }
    return true;
}

static bool are_alike(struct diff_locals *locals, uint32_t a, uint32_t b)
{
    const struct diff_face *left = &locals->faces->items[0][a];
    const struct diff_face *right = &locals->faces->items[1][b];
    uint64_t shape;

    if (left->kind != right->kind || left->arm != right->arm ||
        site_of(locals, 0, a)->write_count != site_of(locals, 1, b)->write_count) {
        return false;
    }
    shape = diff_locals_shape(locals, 0, a);
    return shape != 0 && shape == diff_locals_shape(locals, 1, b);
}

/* Pairs the similar lines between two pairs, in order, and adds their names. Returns false if
 * memory ran out. */
static bool compare_between(struct diff_locals *locals,
                            const uint32_t start[2],
                            const uint32_t end[2])
{
    uint32_t least = start[1];

    for (uint32_t i = start[0]; i < end[0] && least < end[1]; i++) {
        uint32_t last = end[1] - least > AHEAD_MAX ? least + AHEAD_MAX : end[1];

        for (uint32_t k = least; k < last; k++) {
            if (are_alike(locals, i, k)) {
                if (!add_names(locals, i, k)) {
                    return false;
                }
                least = k + 1;
                break;
            }
        }
    }
    return true;
}

static void give_keys(struct diff_locals *locals)
{
    struct diff_program *program = &locals->sites->programs[1];
    struct diff_module *module = &program->modules[locals->modules[1]];

    for (uint32_t i = 0; i < locals->faces->counts[1]; i++) {
        const struct site *site = site_of(locals, 1, i);
        uint32_t first = module->sites[locals->faces->items[1][i].site].first_name;

        for (uint32_t k = 0; k < site->write_count + site->read_count; k++) {
            for (size_t n = 0; n < locals->renamed_count; n++) {
                if (module->name_keys[first + k] == locals->renamed[n].keys[1]) {
                    module->name_keys[first + k] = locals->renamed[n].keys[0];
                    break;
                }
            }
        }
    }
}

/* Finds renamed names by the lines without a partner. If there are some, the sites of B's
 * function get the keys of A's names, and its faces get their texts. Returns false if memory ran
 * out. */
static bool diff_locals_rename(struct diff_locals *locals,
                               struct diff_faces *faces,
                               const uint32_t *partners,
                               bool *has_renamed)
{
    uint32_t start[2] = {0, 0};

    for (uint32_t i = 0; i <= faces->counts[0]; i++) {
        uint32_t partner = i == faces->counts[0] ? faces->counts[1] : partners[i];

        if (partner == DIFF_SEQUENCE_NONE) {
            continue;
        }
        if (partner >= start[1] &&
            !compare_between(locals, start, (const uint32_t[2]){i, partner})) {
            return false;
        }
        start[0] = i + 1;
        start[1] = partner + 1;
    }
    *has_renamed = locals->renamed_count > 0;
    if (*has_renamed) {
        give_keys(locals);
        diff_faces_fill(faces, locals->sites, locals->modules, locals->functions);
        for (uint32_t i = 0; i < faces->counts[1]; i++) {
            struct diff_face *face = &faces->items[1][i];

            face->text = face->text == 0 ? 0 : text_of(locals, face->line);
            faces->keys[1][i] = diff_face_key(face);
        }
    }
    return !locals->line.has_failed && !locals->sites->names.text.has_failed;
}

/* ---- pairs of sites of a function that both programs have ---- */

/* Lines of a function that are searched at other places of it, at most. */
#define MOVED_MAX 500

/* Gives names of B the keys of A's: equal names keep theirs, the others get those of A's other
 * names in order. */
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
            bool is_used = false;

            for (uint32_t k = 0; k < b_count && !is_used; k++) {
                is_used = b[k] == a[next];
            }
            if (!is_used) {
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
    assert(k < b->module->table.site_count);

    const struct site *left = &a->module->table.sites[i];
    const struct site *right = &b->module->table.sites[k];
    uint64_t *a_names = a->name_keys + a->sites[i].first_name;
    uint64_t *b_names = b->name_keys + b->sites[k].first_name;

    assert(i < a->module->table.site_count);
    a->sites[i].partner = k;
    b->sites[k].partner = i;
    b->sites[k].key = a->sites[i].key;
    pair_names(a_names, left->write_count, b_names, right->write_count);
    pair_names(a_names + left->write_count, left->read_count,
               b_names + right->write_count, right->read_count);
}

/* Returns the only site of this kind and arm from `start` to `end`. The count: there is none, or
 * several. */
static uint32_t find_single(const struct diff_faces *faces,
                            unsigned side,
                            uint32_t start,
                            uint32_t end,
                            const struct diff_face *like)
{
    uint32_t found = faces->counts[side];

    for (uint32_t i = start; i < end; i++) {
        const struct diff_face *face = &faces->items[side][i];

        if (face->kind == like->kind && face->arm == like->arm) {
            if (found != faces->counts[side]) {
                return faces->counts[side];
            }
            found = i;
        }
    }
    return found;
}

/* Whether a site of the function reads the name; without `is_read`, reads or writes it. */
static bool
has_name(const struct diff_faces *faces, unsigned side, uint64_t key, bool is_read)
{
    for (uint32_t i = 0; i < faces->counts[side]; i++) {
        const struct diff_face *face = &faces->items[side][i];
        uint32_t first = is_read ? face->write_count : 0;

        for (uint32_t k = first; k < face->write_count + face->read_count; k++) {
            if (face->name_keys[k] == key) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a line may be the other one with other names: neither function has both names, and
 * either both functions read the name or none does. */
static bool may_be_renamed(const struct diff_faces *faces, uint32_t a, uint32_t b)
{
    const struct diff_face *left = &faces->items[0][a];
    const struct diff_face *right = &faces->items[1][b];

    if (left->names == right->names || left->kind == SITE_BRANCH ||
        left->kind == SITE_ENTER || left->write_count == 0 || right->write_count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < left->write_count && i < right->write_count; i++) {
        uint64_t keys[2] = {left->name_keys[i], right->name_keys[i]};

        if (keys[0] != keys[1] &&
            (has_name(faces, 1, keys[0], false) || has_name(faces, 0, keys[1], false) ||
             has_name(faces, 0, keys[0], true) != has_name(faces, 1, keys[1], true))) {
            return false;
        }
    }
    return true;
}

/* Pairs sites between two pairs that are the only ones of their kind there: they have other
 * names. */
static void pair_gap(const struct diff_faces *faces,
                     uint32_t *partners,
                     const uint32_t start[2],
                     const uint32_t end[2])
{
    uint32_t least = start[1];

    for (uint32_t i = start[0]; i < end[0] && start[1] < end[1]; i++) {
        const struct diff_face *face = &faces->items[0][i];
        uint32_t mine = find_single(faces, 0, start[0], end[0], face);
        uint32_t other = find_single(faces, 1, start[1], end[1], face);

        if (mine == i && other != faces->counts[1] && other >= least &&
            may_be_renamed(faces, i, other)) {
            partners[i] = other;
            least = other + 1;
        }
    }
}

static void pair_gaps(const struct diff_faces *faces, uint32_t *partners)
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

/* Returns the only face of that key without a partner. The count: there is none, or several. */
static uint32_t find_left(const struct diff_faces *faces,
                          unsigned side,
                          const bool *is_paired,
                          uint64_t key)
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

static uint32_t count_key(const struct diff_faces *faces, unsigned side, uint64_t key)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < faces->counts[side] && count < 2; i++) {
        count += faces->keys[side][i] == key;
    }
    return count;
}

/* Pairs lines that were moved to another place of the function. Returns false if memory ran out. */
static bool pair_moved(const struct diff_faces *faces, uint32_t *partners)
{
    bool *is_paired[2] = {
        memory_allocate_zeroed(faces->counts[0], sizeof(bool)),
        memory_allocate_zeroed(faces->counts[1], sizeof(bool)),
    };
    bool is_done = is_paired[0] != NULL && is_paired[1] != NULL;
    uint32_t inspected = 0;

    for (uint32_t i = 0; is_done && i < faces->counts[0]; i++) {
        is_paired[0][i] = partners[i] != DIFF_SEQUENCE_NONE;
        if (is_paired[0][i]) {
            is_paired[1][partners[i]] = true;
        }
    }
    for (uint32_t i = 0; is_done && i < faces->counts[0] && inspected < MOVED_MAX;
         i++) {
        const struct diff_face *face = &faces->items[0][i];
        uint32_t other;

        if (is_paired[0][i] || (face->names == 0 && face->text == 0)) {
            continue;
        }
        inspected++;
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

/* Replaces the keys of faces by keys without the names that the functions write. Returns false
 * if memory ran out. */
static bool leave_out_names(struct diff_sites *sites,
                            struct diff_faces *faces,
                            const uint32_t modules[2],
                            const uint32_t functions[2])
{
    struct diff_locals locals;
    bool is_done;

    if (!diff_locals_init(&locals, sites, faces, modules, functions)) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < faces->counts[side]; i++) {
            const struct diff_face *face = &faces->items[side][i];

            faces->keys[side][i] = diff_mix(diff_mix(face->kind, face->arm),
                                            diff_locals_shape(&locals, side, i));
        }
    }
    is_done = !locals.line.has_failed;
    diff_locals_release(&locals);
    return is_done;
}

bool diff_function_likeness(struct diff_sites *sites,
                            const uint32_t modules[2],
                            const uint32_t functions[2],
                            bool has_same_name,
                            uint32_t *percent)
{
    struct diff_faces faces;
    uint32_t common = 0;
    uint32_t i = 0;
    uint32_t k = 0;

    if (!diff_faces_init(&faces, sites, modules, functions)) {
        return false;
    }
    if (has_same_name && faces.has_text &&
        !leave_out_names(sites, &faces, modules, functions)) {
        diff_faces_release(&faces);
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        qsort(faces.keys[side], faces.counts[side], sizeof **faces.keys, compare_keys);
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
    diff_faces_release(&faces);
    return true;
}

/* Whether the lines are no pair although they match: only one of them is in a loop, and they
 * differ or occur several times. Such lines are left by a loop that was unrolled or moved into a
 * function. */
static bool is_out_of_loop(const struct diff_faces *faces,
                           const struct diff_module *a,
                           uint32_t i,
                           const struct diff_module *b,
                           uint32_t k)
{
    const struct diff_face *left = &faces->items[0][i];
    const struct diff_face *right = &faces->items[1][k];
    bool is_in_loop = a->sites[left->site].around != DIFF_NONE;

    if (!faces->has_text || left->kind == SITE_LOOP ||
        is_in_loop == (b->sites[right->site].around != DIFF_NONE)) {
        return false;
    }
    return left->text != right->text ||
           (is_in_loop ? count_key(faces, 1, faces->keys[1][k])
                       : count_key(faces, 0, faces->keys[0][i])) > 1;
}

/* Whether the line makes an empty container, such as `x = []`, which a loop may fill. */
static bool is_empty_beginning(struct slice line)
{
    return slice_ends(line, SLICE(" = []")) || slice_ends(line, SLICE(" = {}")) ||
           slice_ends(line, SLICE(" = list()")) ||
           slice_ends(line, SLICE(" = dict()")) || slice_ends(line, SLICE(" = set()"));
}

/* Whether the lines are no pair because a comprehension became a loop, or the reverse: one of
 * them makes the empty list that the loop fills. */
static bool is_filled(const struct diff_faces *faces, uint32_t i, uint32_t k)
{
    struct slice a = faces->items[0][i].line;
    struct slice b = faces->items[1][k].line;
    struct slice made = is_empty_beginning(a) ? b : a;

    return is_empty_beginning(a) != is_empty_beginning(b) &&
           slice_find(made, SLICE(" for "), 0) < made.size;
}

static bool align_faces(const struct diff_faces *faces, uint32_t *partners)
{
    struct diff_sequence sequence = {.context = faces, .score = diff_face_score};

    for (unsigned side = 0; side < 2; side++) {
        sequence.keys[side] = faces->keys[side];
        sequence.counts[side] = faces->counts[side];
    }
    return diff_sequence_align(&sequence, partners);
}

/* Aligns the faces; finds renamed names by the lines that are left; then aligns again, to match
 * lines that have other changes too. Returns false if memory ran out. */
static bool align_renamed(struct diff_sites *sites,
                          struct diff_faces *faces,
                          uint32_t *partners,
                          const uint32_t modules[2],
                          const uint32_t functions[2])
{
    struct diff_locals locals;
    bool has_renamed = false;
    bool is_done;

    if (!align_faces(faces, partners)) {
        return false;
    }
    if (!faces->has_text) {
        return true;
    }
    if (!diff_locals_init(&locals, sites, faces, modules, functions)) {
        return false;
    }
    is_done = diff_locals_rename(&locals, faces, partners, &has_renamed) &&
              (!has_renamed || align_faces(faces, partners));
    diff_locals_release(&locals);
    return is_done;
}

/* Makes the functions and their sites partners. */
static void set_partners(struct diff_sites *sites,
                         const struct diff_faces *faces,
                         const uint32_t *partners,
                         const uint32_t modules[2],
                         const uint32_t functions[2])
{
    struct diff_module *a = &sites->programs[0].modules[modules[0]];
    struct diff_module *b = &sites->programs[1].modules[modules[1]];
    struct diff_function *left = &a->functions[functions[0]];
    struct diff_function *right = &b->functions[functions[1]];

    for (uint32_t i = 0; i < faces->counts[0]; i++) {
        uint32_t site = faces->items[0][i].site;

        a->sites[site].key = diff_mix(diff_mix(modules[0], site), 0x51);
        if (partners[i] != DIFF_SEQUENCE_NONE &&
            !is_out_of_loop(faces, a, i, b, partners[i]) &&
            !is_filled(faces, i, partners[i])) {
            pair_sites(a, site, b, faces->items[1][partners[i]].site);
        }
    }
    left->partner_module = modules[1];
    left->partner = functions[1];
    right->partner_module = modules[0];
    right->partner = functions[0];
    left->key = right->key = diff_mix(diff_mix(modules[0], functions[0]), 0x52);
}

bool diff_function_pair(struct diff_sites *sites,
                        const uint32_t modules[2],
                        const uint32_t functions[2])
{
    struct diff_faces faces;
    uint32_t *partners;
    bool is_done;

    if (!diff_faces_init(&faces, sites, modules, functions)) {
        return false;
    }
    partners = memory_allocate(faces.counts[0], sizeof *partners);
    is_done = partners != NULL &&
              align_renamed(sites, &faces, partners, modules, functions) &&
              pair_moved(&faces, partners);
    if (is_done) {
        pair_gaps(&faces, partners);
        set_partners(sites, &faces, partners, modules, functions);
    }
    memory_free(partners);
    diff_faces_release(&faces);
    return is_done;
}
