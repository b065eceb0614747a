/* What the record after a simple statement passes to the hook. */
#include "instrument/rewrite/passing.h"

#include <string.h>

static bool may_suspend(const struct rewriter *rewriter, uint32_t statement)
{
    for (uint32_t i = statement; i < node_at(rewriter, statement)->next; i++) {
        if (node_at(rewriter, i)->kind == KIND_YIELD ||
            node_at(rewriter, i)->kind == KIND_AWAIT) {
            return true;
        }
    }
    return false;
}

void passing_init(struct passing *passing,
                  const struct rewriter *rewriter,
                  uint32_t statement)
{
    passing->argument_count = 0;
    passing->spy_count = 0;
    passing->is_recorded = is_recorded(rewriter, statement);
    passing->has_temporary = false;
    passing->may_suspend = may_suspend(rewriter, statement);
    passing->is_all_changed = true;
}

/* Adds a written name and the argument that brings its value. */
void passing_add(struct rewriter *rewriter,
                 struct passing *passing,
                 struct slice name,
                 enum site_source source,
                 struct slice argument)
{
    if (draft_write(&rewriter->draft, name, source) && source != SITE_SOURCE_NONE) {
        passing->arguments[passing->argument_count++] = argument;
    }
}

/* An attribute's name in tables: `self.x`, or `.x` where it hangs on something unnamed. */
struct slice attribute_name(const struct rewriter *rewriter, uint32_t attribute)
{
    struct slice text = text_of(rewriter, attribute);
    uint32_t last = node_at(rewriter, attribute)->next - 1;
    size_t size;

    if (reads_is_dotted(&rewriter->syntax, attribute)) {
        return text;
    }
    size = text_of(rewriter, last).size;
    if (size < text.size && text.bytes[text.size - size - 1] == '.') {
        size++;
    }
    return slice_part(text, text.size - size, text.size);
}

/* Passes the object at the root of `a.b.c`, for the recorder to look the rest up. */
void passing_peek(struct rewriter *rewriter,
                  struct passing *passing,
                  uint32_t attribute)
{
    uint32_t root = reads_root(&rewriter->syntax, attribute);

    if (root != 0 && reads_is_dotted(&rewriter->syntax, attribute)) {
        passing_add(rewriter, passing, text_of(rewriter, attribute), SITE_SOURCE_PEEK,
                    text_of(rewriter, root));
    } else {
        passing_add(rewriter, passing, attribute_name(rewriter, attribute),
                    SITE_SOURCE_NONE, (struct slice){NULL, 0});
    }
}

static bool can_use_temporary(const struct rewriter *rewriter,
                              const struct passing *passing)
{
    return !passing->has_temporary && !passing->may_suspend &&
           !rewriter->place->is_names_only;
}

/* Catches the value of an attribute where it is used: `(_mt_t := self.b)[i] = v`. */
void passing_catch(struct rewriter *rewriter,
                   struct passing *passing,
                   uint32_t attribute,
                   uint32_t expression)
{
    const struct syntax_node *node = node_at(rewriter, expression);

    if (!can_use_temporary(rewriter, passing)) {
        passing_peek(rewriter, passing, attribute);
        return;
    }
    passing_add(rewriter, passing, attribute_name(rewriter, attribute),
                SITE_SOURCE_VALUE, rewriter->forms.temporary);
    passing->has_temporary = true;
    if (passing->is_recorded) {
        struct buffer *text = &rewriter->edits->text;
        size_t begin = edits_begin(rewriter->edits);

        buffer_add_byte(text, '(');
        buffer_add(text, rewriter->forms.temporary);
        buffer_add(text, SLICE(" := "));
        edits_end_open(rewriter->edits, begin, node->start, node->end, 9);
        begin = edits_begin(rewriter->edits);
        buffer_add_byte(text, ')');
        edits_end_close(rewriter->edits, begin, node->start, node->end, 9);
    }
}

bool is_constant(const struct rewriter *rewriter, uint32_t node)
{
    struct slice text = text_of(rewriter, node);

    switch (node_at(rewriter, node)->kind) {
    case KIND_INTEGER:
    case KIND_FLOAT:
    case KIND_TRUE:
    case KIND_FALSE:
    case KIND_NONE:
    case KIND_ELLIPSIS:
        return true;
    case KIND_STRING: /* unless it is a format */
        for (size_t i = 0;
             i < text.size && text.bytes[i] != '"' && text.bytes[i] != '\''; i++) {
            if (strchr("fFtT", text.bytes[i]) != NULL) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

bool is_short_constant(const struct rewriter *rewriter, uint32_t node)
{
    struct slice text = text_of(rewriter, node);

    if (text.size > CONSTANT_SIZE_LIMIT || !is_constant(rewriter, node)) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] == '\\' || text.bytes[i] == '\n' || text.bytes[i] == '\r') {
            return false; /* Python may warn of an escape: once is enough */
        }
    }
    return true;
}

/* The object that `x[i]`, `x[i][j]` is a part of. */
uint32_t subscript_base(const struct rewriter *rewriter, uint32_t node)
{
    while (node_at(rewriter, node)->kind == KIND_SUBSCRIPT) {
        node++;
    }
    return node;
}

/* `x[i] = v` changes x, `self.b[i] = v` changes self.b, `x.numpy()[i] = v` may change x. */
void passing_change(struct rewriter *rewriter,
                    struct passing *passing,
                    uint32_t subscript,
                    bool is_alone)
{
    uint32_t base = subscript_base(rewriter, subscript);

    if (node_at(rewriter, base)->kind == KIND_IDENTIFIER) {
        passing_add(rewriter, passing, text_of(rewriter, base), SITE_SOURCE_VALUE,
                    text_of(rewriter, base));
    } else if (node_at(rewriter, base)->kind == KIND_ATTRIBUTE) {
        if (is_alone) {
            passing_catch(rewriter, passing, base, base);
        } else {
            passing_peek(rewriter, passing, base);
        }
    } else if (node_at(rewriter, base)->kind == KIND_CALL) {
        passing_reach(rewriter, passing, base);
    }
}

static bool wants_spy(const struct rewriter *rewriter, struct slice name)
{
    return rewriter->choice.selection->spy_count > 0 &&
           rewriter->place->kind == SCOPE_FUNCTION && rewriter->place->self.size > 0 &&
           choice_has_spy(&rewriter->choice, name);
}

static void
add_name(struct rewriter *rewriter, struct passing *passing, uint32_t identifier)
{
    struct slice name = text_of(rewriter, identifier);

    passing_add(rewriter, passing, name, SITE_SOURCE_VALUE, name);
    passing->is_all_changed = false;
    if (wants_spy(rewriter, name) && passing->spy_count < WRITES_LIMIT) {
        for (uint32_t i = 0; i < passing->spy_count; i++) {
            if (slice_equal(passing->spy_names[i], name)) {
                return;
            }
        }
        passing->spy_names[passing->spy_count++] = name;
    }
}

/* Targets inside a tuple or list: names are passed, attributes looked up. */
void passing_targets(struct rewriter *rewriter,
                     struct passing *passing,
                     uint32_t target)
{
    uint32_t end = node_at(rewriter, target)->next;

    for (uint32_t i = target; i < end;) {
        switch (node_at(rewriter, i)->kind) {
        case KIND_IDENTIFIER:
            add_name(rewriter, passing, i);
            i++;
            break;
        case KIND_ATTRIBUTE:
            passing_peek(rewriter, passing, i);
            passing->is_all_changed = false;
            i = node_at(rewriter, i)->next;
            break;
        case KIND_SUBSCRIPT:
            passing_change(rewriter, passing, i, false);
            i = node_at(rewriter, i)->next;
            break;
        default:
            i++;
        }
    }
}

/* Whether a person has put `spy_save("name"` behind the statement already. */
static bool
has_own_spy(const struct rewriter *rewriter, uint32_t statement, struct slice name)
{
    struct slice text = rewriter->syntax.text;
    struct slice call = SLICE("spy_save(\"");
    size_t at = node_at(rewriter, statement)->end;

    while (at < text.size && text.bytes[at] != '\0' &&
           strchr("; \t\r\n", text.bytes[at]) != NULL) {
        at++;
    }
    if (!slice_starts(slice_part(text, at, text.size), call)) {
        return false;
    }
    at += call.size;
    return slice_starts(slice_part(text, at, text.size), name) &&
           at + name.size < text.size && text.bytes[at + name.size] == '"';
}

/* Names whose call is there already get no other. */
static void drop_own_spies(const struct rewriter *rewriter,
                           struct passing *passing,
                           uint32_t statement)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < passing->spy_count; i++) {
        if (!has_own_spy(rewriter, statement, passing->spy_names[i])) {
            passing->spy_names[kept++] = passing->spy_names[i];
        }
    }
    passing->spy_count = kept;
}

/* A site for each visible call, so that listings show them. */
static void make_spy_sites(struct rewriter *rewriter,
                           const struct passing *passing,
                           uint32_t statement)
{
    for (uint32_t i = 0; i < passing->spy_count; i++) {
        draft_init(&rewriter->draft, SITE_SPY, rewriter->place->function, statement);
        draft_write(&rewriter->draft, passing->spy_names[i], SITE_SOURCE_NONE);
        sites_add(&rewriter->sites, &rewriter->draft, true);
    }
}

/* Makes the site of the drafted statement and inserts its record and spy calls. Returns the
 * site, or SITE_NONE where it is not recorded. */
uint32_t passing_finish(struct rewriter *rewriter,
                        struct passing *passing,
                        uint32_t statement,
                        bool is_last)
{
    struct record record = {.site = SITE_NONE};

    if (rewriter->draft.write_count > 0) {
        record = record_make(rewriter, passing->arguments, passing->argument_count);
    }
    drop_own_spies(rewriter, passing, statement);
    make_spy_sites(rewriter, passing, statement);
    if (rewriter->place->later != NULL && record.site != SITE_NONE &&
        !passing->has_temporary && passing->spy_count == 0) {
        pending_add(rewriter->place->later, &record);
    } else {
        insert_after(rewriter, statement, is_last, &record, 1, passing->spy_names,
                     passing->spy_count,
                     passing->has_temporary && passing->is_recorded);
    }
    return record.site;
}
