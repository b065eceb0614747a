/* Faces: the sites of two functions, reduced to the fields that are compared. */
#include "runtime/view/diff/sites/faces.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>

/* The likeness of two lines is a number of sixteenths. */
#define LIKENESS_MAX 16

uint64_t diff_face_key(const struct diff_face *face)
{
    uint64_t key = diff_mix(face->kind, face->arm);

    key = diff_mix(key, face->names);
    key = diff_mix(key, face->reads);
    return diff_mix(key, face->text);
}

static void face_fill(struct diff_face *face,
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

    assert(number < module->module->table.site_count);
    *face = (struct diff_face){
        .site = number,
        .kind = site->kind,
        .arm = site->kind == SITE_BRANCH ? site->arm : 0,
        .column = site->column,
        .names = condition,
        .name_keys = module->name_keys + name,
        .write_count = site->write_count,
        .read_count = site->read_count,
    };
    for (uint32_t i = 0; i < site->write_count; i++) {
        face->names = diff_mix(face->names, module->name_keys[name++]);
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        face->reads = diff_mix(face->reads, module->name_keys[name++]);
    }
    /* The first line of a function has its name, which was compared already. */
    if (program->sources != NULL && site->kind != SITE_ENTER) {
        face->line = source_lines_get(program->sources, module_number, site->line);
        face->text = face->line.size == 0 ? 0 : hash_64(face->line);
    }
}

/* Returns the share of the longer line that is in a common prefix or suffix, in sixteenths. */
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

/* Whether the two statements write a common name, though not only common ones: one passes more
 * names than the other. */
static bool share_name(const struct diff_face *a, const struct diff_face *b)
{
    for (uint32_t i = 0; i < a->write_count; i++) {
        for (uint32_t k = 0; k < b->write_count; k++) {
            if (a->name_keys[i] == b->name_keys[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Scores two statements that write different names: they are the same one if most of the text is
 * equal and one name is. */
static uint32_t score_of_changed(const struct diff_faces *faces,
                                 const struct diff_face *left,
                                 const struct diff_face *right)
{
    uint32_t likeness = line_likeness(left->line, right->line);

    return faces->has_text && likeness >= LIKENESS_MAX / 2 && share_name(left, right)
               ? likeness
               : 0;
}

/* Scores a pair of sites; scores are only compared within a pair of functions. Equal written
 * names count as much as equal text, or half of it if nothing is written; equal reads as much as
 * half of an equal line. Statements that write different names are no pair, except by
 * score_of_changed. */
uint32_t diff_face_score(const void *context, uint32_t a, uint32_t b)
{
    const struct diff_faces *faces = context;
    const struct diff_face *left = &faces->items[0][a];
    const struct diff_face *right = &faces->items[1][b];
    uint32_t score = 0;

    if (left->kind != right->kind || left->arm != right->arm) {
        return 0;
    }
    if (left->names == right->names) {
        score = left->names != 0 ? 40 : 20;
    } else if (left->kind != SITE_BRANCH) {
        return score_of_changed(faces, left, right);
    }
    score += left->reads == right->reads ? 8 : 0;
    if (faces->has_text) {
        score +=
            left->text == right->text ? 40 : line_likeness(left->line, right->line);
    }
    return score;
}

void diff_faces_release(struct diff_faces *faces)
{
    for (unsigned side = 0; side < 2; side++) {
        memory_free(faces->items[side]);
        memory_free(faces->keys[side]);
    }
}

void diff_faces_fill(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2])
{
    bool has_text[2] = {false, false};

    for (unsigned side = 0; side < 2; side++) {
        const struct diff_module *module =
            &sites->programs[side].modules[modules[side]];
        const struct diff_function *function = &module->functions[functions[side]];

        faces->counts[side] = 0;
        for (uint32_t i = function->first_site; i < function->end_site; i++) {
            if (module->module->table.sites[i].function == functions[side]) {
                struct diff_face *face = &faces->items[side][faces->counts[side]];

                face_fill(face, sites, side, modules[side], i);
                faces->keys[side][faces->counts[side]++] = diff_face_key(face);
                has_text[side] = has_text[side] || face->text != 0;
            }
        }
    }
    faces->has_text = has_text[0] && has_text[1];
    for (unsigned side = 0; side < 2 && !faces->has_text; side++) {
        for (uint32_t i = 0; i < faces->counts[side]; i++) {
            faces->items[side][i].text = 0;
            faces->keys[side][i] = diff_face_key(&faces->items[side][i]);
        }
    }
}

bool diff_faces_init(struct diff_faces *faces,
                     struct diff_sites *sites,
                     const uint32_t modules[2],
                     const uint32_t functions[2])
{
    *faces = (struct diff_faces){0};
    for (unsigned side = 0; side < 2; side++) {
        uint32_t count = sites->programs[side]
                             .modules[modules[side]]
                             .functions[functions[side]]
                             .site_count;

        faces->items[side] = memory_allocate(count, sizeof **faces->items);
        faces->keys[side] = memory_allocate(count, sizeof **faces->keys);
        if (faces->items[side] == NULL || faces->keys[side] == NULL) {
            diff_faces_release(faces);
            return false;
        }
    }
    diff_faces_fill(faces, sites, modules, functions);
    return true;
}
