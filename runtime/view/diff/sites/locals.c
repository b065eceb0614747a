/* Names that a function writes and that B's version of it calls otherwise. */
#include "runtime/view/diff/sites/locals.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sequence.h"

#include <stdlib.h>

/* So many of a line's names are told apart; so far is looked for a line's counterpart. */
#define LINE_NAME_MAX 32
#define AHEAD_MAX     64
/* So many names of a function are found to be others. */
#define RENAMED_MAX 256

/* What stands for the n-th name of a line: no line has these bytes. */
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

/* Sorted keys of the names that the function's sites write, or of all of theirs. */
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

bool diff_locals_init(struct diff_locals *locals,
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

void diff_locals_release(struct diff_locals *locals)
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

/* The next name of a line from `*at` on, that is no attribute; what stands before it is added to
 * the line that is made. Empty: there is none. */
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

uint64_t diff_locals_shape(struct diff_locals *locals, unsigned side, uint32_t face)
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

/* B's line with the names that A has for them. */
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

/* Whether the one name may have become the other: it is known to, or neither is known at all and
 * no function has both. */
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

/* Takes in which names of the one site are which of the other. */
static bool take_names(struct diff_locals *locals, uint32_t a, uint32_t b)
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

/* The lines between two pairs, in their order. */
static bool
look_between(struct diff_locals *locals, const uint32_t start[2], const uint32_t end[2])
{
    uint32_t least = start[1];

    for (uint32_t i = start[0]; i < end[0] && least < end[1]; i++) {
        uint32_t last = end[1] - least > AHEAD_MAX ? least + AHEAD_MAX : end[1];

        for (uint32_t k = least; k < last; k++) {
            if (are_alike(locals, i, k)) {
                if (!take_names(locals, i, k)) {
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

bool diff_locals_rename(struct diff_locals *locals,
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
            !look_between(locals, start, (const uint32_t[2]){i, partner})) {
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
