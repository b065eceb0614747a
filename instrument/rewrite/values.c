/* Terms of drafts: the sources of the value, and the part of it that each written name gets. */
#include "instrument/rewrite/rewrite.h"

/* The maximum nesting of targets. Targets nested deeper get the value as a whole. */
#define STEPS_LIMIT 8

/* The place of a name in a target: `(a, (b, *c)) = …`. */
struct steps {
    char kinds[STEPS_LIMIT]; /* in the notation of runtime/site/format.h */
    uint32_t numbers[STEPS_LIMIT];
    uint32_t count;
};

void draft_value(struct rewriter *rewriter, uint32_t node)
{
    struct terms_source source = {&rewriter->place->scope, &rewriter->draft.reads,
                                  &rewriter->foreign};

    terms_add(&rewriter->draft.terms, &source, node);
}

void draft_value_item(struct rewriter *rewriter, uint32_t node)
{
    terms_add_text(&rewriter->draft.terms, "e");
    draft_value(rewriter, node);
}

/* The index of the draft's write of that name. write_count: none. */
static uint32_t find_write(const struct rewriter *rewriter, struct slice name)
{
    uint32_t i = 0;

    while (i < rewriter->draft.write_count &&
           !slice_equal(rewriter->draft.writes[i].name, name)) {
        i++;
    }
    return i;
}

static void add_part(struct rewriter *rewriter,
                     struct slice name,
                     const struct steps *steps,
                     bool is_put)
{
    struct terms *terms = &rewriter->draft.terms;
    uint32_t write = find_write(rewriter, name);

    if (write == rewriter->draft.write_count || (steps->count == 0 && !is_put)) {
        return;
    }
    terms_add_text(terms, "@");
    terms_add_number(terms, write);
    for (uint32_t i = 0; i < steps->count; i++) {
        char kind[] = {steps->kinds[i], '\0'};

        terms_add_text(terms, kind);
        if (steps->kinds[i] != '*') {
            terms_add_number(terms, steps->numbers[i]);
        }
    }
    if (is_put) {
        terms_add_text(terms, "!");
    }
}

static void add_parts(struct rewriter *rewriter, uint32_t target, struct steps *steps);

static bool is_star(const struct rewriter *rewriter, uint32_t node)
{
    return node_at(rewriter, node)->kind == KIND_LIST_SPLAT_PATTERN ||
           node_at(rewriter, node)->kind == KIND_LIST_SPLAT;
}

static void add_tuple(struct rewriter *rewriter, uint32_t target, struct steps *steps)
{
    uint32_t count = 0;
    uint32_t place = 0;
    bool is_behind = false; /* after a star */

    if (steps->count == STEPS_LIMIT) {
        return;
    }
    for (uint32_t i = first_child(rewriter, target); i != 0;
         i = syntax_sibling(&rewriter->syntax, target, i)) {
        count++;
    }
    for (uint32_t i = first_child(rewriter, target); i != 0;
         i = syntax_sibling(&rewriter->syntax, target, i)) {
        bool is_rest = is_star(rewriter, i);

        steps->kinds[steps->count] = is_rest ? '*' : is_behind ? '-' : '.';
        steps->numbers[steps->count++] = is_behind ? count - place : place;
        add_parts(rewriter, is_rest ? i + 1 : i, steps);
        steps->count--;
        is_behind = is_behind || is_rest;
        place++;
    }
}

static void add_parts(struct rewriter *rewriter, uint32_t target, struct steps *steps)
{
    uint32_t base = target;

    switch (node_at(rewriter, target)->kind) {
    case KIND_IDENTIFIER:
    case KIND_ATTRIBUTE:
        add_part(rewriter, text_of(rewriter, target), steps, false);
        break;
    case KIND_SUBSCRIPT:
        while (node_at(rewriter, base)->kind == KIND_SUBSCRIPT) {
            base++;
        }
        add_part(rewriter, text_of(rewriter, base), steps, true);
        break;
    default:
        add_tuple(rewriter, target, steps);
    }
}

void draft_parts(struct rewriter *rewriter, uint32_t target)
{
    struct steps steps = {.count = 0};

    add_parts(rewriter, target, &steps);
}
