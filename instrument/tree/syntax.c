/* The flat array: filled from a parse, and asked. */
#include "instrument/tree/syntax.h"

#include "instrument/tree/parse.h"
#include "runtime/base/sorted.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <string.h>

/* The grammar binds `a := b if c else d` as `(a := b) if c else d`; Python the other way. Where a
 * conditional expression begins with an assignment expression, the two change places; from the
 * last to the first, so that nested ones move all the way up. */
static void turn_assignments(struct syntax *syntax)
{
    for (uint32_t i = syntax->count; i-- > 1;) {
        struct syntax_node *outer = &syntax->nodes[i];
        struct syntax_node conditional = *outer;
        uint32_t value = i + 3;

        if (outer->kind != KIND_CONDITIONAL_EXPRESSION || value >= outer->next ||
            outer[1].kind != KIND_NAMED_EXPRESSION || outer[2].next != value) {
            continue;
        }
        conditional.start = syntax->nodes[value].start;
        outer->kind = KIND_NAMED_EXPRESSION;
        outer[1] = outer[2];
        outer[1].next = i + 2;
        outer[2] = conditional;
    }
}

/* A place that moves on through the text. */
struct place_in_text {
    uint32_t offset;
    uint32_t row;
    uint32_t column;
};

/* Rows are counted in the original text: what tree-sitter was shown may have fewer. */
static void
place_move(struct place_in_text *place, const struct syntax *syntax, uint32_t offset)
{
    while (place->row + 1 < syntax->row_count &&
           syntax->row_starts[place->row + 1] <= offset) {
        place->row++;
        place->offset = syntax->row_starts[place->row];
        place->column = 1;
    }
    if (offset > place->offset) {
        place->column +=
            (uint32_t)utf8_count(slice_part(syntax->text, place->offset, offset));
        place->offset = offset;
    }
}

/* Nodes and comments stand in the order of the text. */
static void number_rows(struct syntax *syntax)
{
    struct place_in_text place = {0, 0, 1};

    for (uint32_t i = 0; i < syntax->count; i++) {
        place_move(&place, syntax, syntax->nodes[i].start);
        syntax->nodes[i].row = place.row;
        syntax->nodes[i].column = place.column;
    }
    place = (struct place_in_text){0, 0, 1};
    for (uint32_t i = 0; i < syntax->comment_count; i++) {
        place_move(&place, syntax, syntax->comments[i].start);
        syntax->comments[i].row = place.row;
    }
}

/* The offset after the line end at or after `at`, or the text's size plus one where no line
 * end follows. CR, LF and CRLF end lines. */
static size_t next_row(struct slice text, size_t at, bool has_returns)
{
    const char *found;

    if (!has_returns) {
        found = memchr(text.bytes + at, '\n', text.size - at);
        return found == NULL ? text.size + 1 : (size_t)(found - text.bytes) + 1;
    }
    while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
        at++;
    }
    if (at >= text.size) {
        return text.size + 1;
    }
    return at + 1 < text.size && text.bytes[at] == '\r' && text.bytes[at + 1] == '\n'
               ? at + 2
               : at + 1;
}

static bool find_rows(struct syntax *syntax, struct slice text, struct arena *arena)
{
    bool has_returns = memchr(text.bytes, '\r', text.size) != NULL;
    size_t count = 1;
    size_t row = 0;

    for (size_t at = next_row(text, 0, has_returns); at <= text.size;
         at = next_row(text, at, has_returns)) {
        count++;
    }
    syntax->row_starts = arena_allocate(arena, count + 1, sizeof *syntax->row_starts);
    if (syntax->row_starts == NULL) {
        return false;
    }
    syntax->row_starts[row++] = 0;
    for (size_t at = next_row(text, 0, has_returns); at <= text.size;
         at = next_row(text, at, has_returns)) {
        syntax->row_starts[row++] = (uint32_t)at;
    }
    assert(row == count);
    syntax->row_count = (uint32_t)count;
    syntax->row_starts[count] = (uint32_t)text.size;
    return true;
}

static bool
keep_nodes(struct syntax *syntax, const struct parse *parse, struct arena *arena)
{
    syntax->count = (uint32_t)parse->nodes.count;
    syntax->depth = (uint32_t)parse->depth + 1; /* assignments may be turned */
    syntax->nodes = arena_allocate(arena, parse->nodes.count, sizeof *syntax->nodes);
    syntax->comment_count = (uint32_t)parse->comments.count;
    syntax->comments =
        arena_allocate(arena, parse->comments.count, sizeof *syntax->comments);
    if (syntax->nodes == NULL || syntax->comments == NULL) {
        return false;
    }
    memcpy(syntax->nodes, parse->nodes.items,
           parse->nodes.count * sizeof *syntax->nodes);
    if (parse->comments.count > 0) {
        memcpy(syntax->comments, parse->comments.items,
               parse->comments.count * sizeof *syntax->comments);
    }
    return true;
}

#ifndef NDEBUG
/* Whether each node's descendants follow it and lie within its bytes. */
static bool is_nested(const struct syntax *syntax)
{
    for (uint32_t i = 0; i < syntax->count; i++) {
        const struct syntax_node *node = &syntax->nodes[i];

        if (node->next <= i || node->next > syntax->count || node->start > node->end ||
            node->end > syntax->text.size) {
            return false;
        }
        for (uint32_t child = i + 1; child < node->next;
             child = syntax->nodes[child].next) {
            if (syntax->nodes[child].next > node->next ||
                syntax->nodes[child].start < node->start ||
                syntax->nodes[child].end > node->end) {
                return false;
            }
        }
    }
    return true;
}
#endif

static void report_too_deep(const struct syntax *syntax,
                            const struct parse *parse,
                            const char *path,
                            struct error *error)
{
    uint32_t deepest = parse->nodes.items[parse->nodes.count - 1].start;

    error_set_at(error, ERROR_INPUT, path, syntax_row(syntax, deepest) + 1,
                 syntax_column(syntax, deepest),
                 "%s are nested deeper than Python's limit of %d levels",
                 parse->block_depth > SYNTAX_DEPTH_LIMIT ? "statements" : "brackets",
                 SYNTAX_DEPTH_LIMIT);
}

bool syntax_parse(struct syntax *syntax,
                  struct slice text,
                  const char *path,
                  struct arena *arena,
                  struct error *error)
{
    struct parse parse;
    bool is_parsed;
    bool is_done;

    *syntax = (struct syntax){.text = text};
    if (!find_rows(syntax, text, arena)) {
        return error_set_memory(error);
    }
    parse_init(&parse);
    is_parsed = parse_text(&parse, text);
    is_done = is_parsed && keep_nodes(syntax, &parse, arena);
    if (is_done) {
        turn_assignments(syntax);
        number_rows(syntax);
        assert(is_nested(syntax));
    } else if (is_parsed || parse.is_out_of_memory) {
        error_set_memory(error);
    } else {
        report_too_deep(syntax, &parse, path, error);
    }
    parse_release(&parse);
    return is_done;
}

/* Or just there. */
static bool is_row_before(const void *rows, size_t row, uint64_t offset)
{
    return ((const uint32_t *)rows)[row] <= offset;
}

uint32_t syntax_row(const struct syntax *syntax, uint32_t offset)
{
    size_t next =
        sorted_place(syntax->row_starts, syntax->row_count, is_row_before, offset);

    return next == 0 ? 0 : (uint32_t)next - 1;
}

uint32_t syntax_column(const struct syntax *syntax, uint32_t offset)
{
    uint32_t start = syntax->row_starts[syntax_row(syntax, offset)];

    assert(start <= offset);
    return 1 + (uint32_t)utf8_count(slice_part(syntax->text, start, offset));
}

uint32_t syntax_find(const struct syntax *syntax, uint32_t parent, enum kind kind)
{
    for (uint32_t child = syntax_child(syntax, parent); child != 0;
         child = syntax_sibling(syntax, parent, child)) {
        if (syntax->nodes[child].kind == kind) {
            return child;
        }
    }
    return 0;
}

uint32_t syntax_last(const struct syntax *syntax, uint32_t parent)
{
    uint32_t last = 0;

    for (uint32_t child = syntax_child(syntax, parent); child != 0;
         child = syntax_sibling(syntax, parent, child)) {
        last = child;
    }
    return last;
}

uint32_t syntax_unwrap(const struct syntax *syntax, uint32_t node)
{
    while (syntax->nodes[node].kind == KIND_PARENTHESIZED_EXPRESSION &&
           syntax_child(syntax, node) != 0) {
        node = syntax_child(syntax, node);
    }
    return node;
}
