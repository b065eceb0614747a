/* From tree-sitter's tree to the flat array. */
#include "instrument/syntax.h"

#include "instrument/region.h"
#include "instrument/repair.h"
#include "instrument/shown.h"
#include "runtime/base/memory.h"

#include <setjmp.h>
#include <string.h>
#include <threads.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

/* Grows while the tree is walked; memory_free'd after its items are copied to the arena. */
struct node_list {
    struct syntax_node *items; /* owned */
    size_t count;
    size_t capacity;
};

struct comment_list {
    struct syntax_comment *items; /* owned */
    size_t count;
    size_t capacity;
};

/* Everything that must be freed when a parse is left by longjmp lives here, outside the
 * function that calls setjmp. */
struct parse {
    struct region region;
    struct node_list nodes;
    struct comment_list comments;
    size_t *open; /* owned; a stack of the nodes whose `next` is not known yet */
    size_t open_capacity;
    char *copy;     /* owned; may be NULL: the text as tree-sitter is shown it */
    char *repaired; /* owned; may be NULL */
    int block_depth;
    int bracket_depth;
    bool has_error; /* somewhere in the tree */
    bool is_out_of_memory;
};

#define SYMBOL_LIMIT 512

/* Symbols of the grammar to our kinds; written once, then only read. */
static uint16_t kind_of_symbol[SYMBOL_LIMIT];
static TSSymbol async_symbol;
static once_flag symbols_once = ONCE_FLAG_INIT;

static void read_symbols(void)
{
    static const char *const names[] = {
        "",
#define KIND(NAME, text) text,
#include "grammar/kinds.def"
#undef KIND
    };
    const TSLanguage *language = tree_sitter_python();
    uint32_t count = ts_language_symbol_count(language);

    for (uint32_t symbol = 0; symbol < count && symbol < SYMBOL_LIMIT; symbol++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)symbol);

        if (ts_language_symbol_type(language, (TSSymbol)symbol) !=
            TSSymbolTypeRegular) {
            if (strcmp(name, "async") == 0) {
                async_symbol = (TSSymbol)symbol;
            }
            continue;
        }
        for (uint16_t kind = 1; kind < KIND_COUNT; kind++) {
            if (strcmp(name, names[kind]) == 0) {
                kind_of_symbol[symbol] = kind;
            }
        }
    }
}

static enum kind node_kind(TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);

    if (symbol >= SYMBOL_LIMIT) {
        return KIND_ERROR; /* tree-sitter's own symbol for what it could not parse */
    }
    return (enum kind)kind_of_symbol[symbol];
}

/* Whether the children of a node are looked at: not of those in which nothing is recorded, and
 * not of those that have none. */
static bool has_inside(enum kind kind)
{
    switch (kind) {
    case KIND_STRING:
    case KIND_CONCATENATED_STRING:
    case KIND_TYPE:
    case KIND_TYPE_PARAMETER:
    case KIND_TYPE_ALIAS_STATEMENT:
    case KIND_IDENTIFIER:
    case KIND_INTEGER:
    case KIND_FLOAT:
    case KIND_TRUE:
    case KIND_FALSE:
    case KIND_NONE:
    case KIND_ELLIPSIS:
        return false;
    default:
        return true;
    }
}

static bool is_bracketed(enum kind kind)
{
    switch (kind) {
    case KIND_PARENTHESIZED_EXPRESSION:
    case KIND_TUPLE:
    case KIND_LIST:
    case KIND_SET:
    case KIND_DICTIONARY:
    case KIND_ARGUMENT_LIST:
    case KIND_LIST_COMPREHENSION:
    case KIND_SET_COMPREHENSION:
    case KIND_DICTIONARY_COMPREHENSION:
    case KIND_GENERATOR_EXPRESSION:
        return true;
    default:
        return false;
    }
}

static void add_node(struct parse *parse, TSNode node, enum kind kind)
{
    struct syntax_node *item;

    if (parse->nodes.count == parse->nodes.capacity &&
        !memory_grow((void **)&parse->nodes.items, &parse->nodes.capacity,
                     parse->nodes.count + 1, sizeof *item)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    item = &parse->nodes.items[parse->nodes.count++];
    *item = (struct syntax_node){
        .start = ts_node_start_byte(node),
        .end = ts_node_end_byte(node),
        .kind = (uint16_t)kind,
        .has_error = parse->has_error && ts_node_has_error(node),
    };
}

static void add_comment(struct parse *parse, TSNode node)
{
    if (!memory_grow((void **)&parse->comments.items, &parse->comments.capacity,
                     parse->comments.count + 1, sizeof *parse->comments.items)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    parse->comments.items[parse->comments.count++] = (struct syntax_comment){
        .start = ts_node_start_byte(node), .end = ts_node_end_byte(node)};
}

/* Takes the node under the cursor into the arrays. Returns whether its children matter. */
static bool visit(struct parse *parse, TSNode node, size_t parent)
{
    enum kind kind;

    if (!ts_node_is_named(node)) {
        if (ts_node_symbol(node) == async_symbol) {
            parse->nodes.items[parent].is_async = true;
        }
        if (parse->has_error && ts_node_is_missing(node)) {
            add_node(parse, node, KIND_ERROR);
            parse->nodes.items[parse->nodes.count - 1].next =
                (uint32_t)parse->nodes.count;
        }
        return false;
    }
    kind = parse->has_error && ts_node_is_missing(node) ? KIND_ERROR : node_kind(node);
    if (kind == KIND_COMMENT) {
        add_comment(parse, node);
        return false;
    }
    if (kind == KIND_OTHER && ts_node_child_count(node) == 0) {
        return false; /* line continuations, operators */
    }
    add_node(parse, node, kind);
    return has_inside(kind);
}

static void push_open(struct parse *parse, size_t depth, size_t node)
{
    if (!memory_grow((void **)&parse->open, &parse->open_capacity, depth + 1,
                     sizeof *parse->open)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    parse->open[depth] = node;
}

/* One level down (or up again, with `step` -1) below a node; false past a limit. */
static bool nest(struct parse *parse, size_t node, int step)
{
    enum kind kind = (enum kind)parse->nodes.items[node].kind;

    parse->block_depth += kind == KIND_BLOCK ? step : 0;
    parse->bracket_depth += is_bracketed(kind) ? step : 0;
    return parse->block_depth <= SYNTAX_DEPTH_LIMIT &&
           parse->bracket_depth <= SYNTAX_DEPTH_LIMIT;
}

/* Walks the whole tree; false where statements or brackets are nested too deep. */
static bool flatten(struct parse *parse, TSTree *tree)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    size_t depth = 0;
    bool is_done;

    parse->has_error = ts_node_has_error(ts_tree_root_node(tree));
    parse->block_depth = 0;
    parse->bracket_depth = 0;
    add_node(parse, ts_tree_cursor_current_node(&cursor), KIND_MODULE);
    push_open(parse, depth++, 0);
    is_done = !ts_tree_cursor_goto_first_child(&cursor);
    while (!is_done) {
        size_t before = parse->nodes.count;
        bool is_deeper =
            visit(parse, ts_tree_cursor_current_node(&cursor), parse->open[depth - 1]);
        bool was_added = parse->nodes.count > before;

        if (is_deeper && ts_tree_cursor_goto_first_child(&cursor)) {
            if (!nest(parse, before, 1)) {
                return false;
            }
            push_open(parse, depth++, before);
            continue;
        }
        if (was_added) {
            parse->nodes.items[before].next = (uint32_t)parse->nodes.count;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            size_t closed = parse->open[--depth];

            parse->nodes.items[closed].next = (uint32_t)parse->nodes.count;
            nest(parse, closed, -1);
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                is_done = true;
                break;
            }
        }
    }
    parse->nodes.items[0].next = (uint32_t)parse->nodes.count;
    return true;
}

/* False where memory ran out. */
static bool show_text(struct parse *parse, struct slice text, struct slice *shown)
{
    *shown = text;
    if (shown_is_same(text)) {
        return true;
    }
    parse->copy = memory_allocate(text.size, 1);
    if (parse->copy == NULL) {
        return false;
    }
    shown_copy(parse->copy, text);
    shown->bytes = parse->copy;
    return true;
}

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

/* Rows are counted in the original text: what tree-sitter was shown may have fewer. Nodes and
 * comments stand in the order of the text. */
static void number_rows(struct syntax *syntax)
{
    uint32_t row = 0;

    for (uint32_t i = 0; i < syntax->count; i++) {
        while (row + 1 < syntax->row_count &&
               syntax->row_starts[row + 1] <= syntax->nodes[i].start) {
            row++;
        }
        syntax->nodes[i].row = row;
    }
    row = 0;
    for (uint32_t i = 0; i < syntax->comment_count; i++) {
        while (row + 1 < syntax->row_count &&
               syntax->row_starts[row + 1] <= syntax->comments[i].start) {
            row++;
        }
        syntax->comments[i].row = row;
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
    syntax->row_count = (uint32_t)count;
    syntax->row_starts[count] = (uint32_t)text.size;
    return true;
}

/* Runs tree-sitter; false where statements are nested too deep. Leaves by longjmp where memory
 * runs out. The tree is not freed: the region is. */
static bool run_parser(struct parse *parse, struct slice shown)
{
    TSParser *parser = ts_parser_new();
    TSTree *tree;

    ts_parser_set_language(parser, tree_sitter_python());
    tree = ts_parser_parse_string(parser, NULL, shown.bytes, (uint32_t)shown.size);
    return flatten(parse, tree);
}

static bool parse_in_region(struct parse *parse, struct slice shown)
{
    bool is_done;

    parse->nodes.count = 0;
    parse->comments.count = 0;
    region_reset(&parse->region);
    if (setjmp(parse->region.out_of_memory) != 0) {
        region_leave();
        parse->is_out_of_memory = true;
        return false;
    }
    region_enter(&parse->region);
    is_done = run_parser(parse, shown);
    region_leave();
    return is_done;
}

static size_t count_errors(const struct parse *parse)
{
    size_t count = 0;

    for (size_t i = 0; i < parse->nodes.count; i++) {
        count += parse->nodes.items[i].kind == KIND_ERROR;
    }
    return count;
}

/* Parses again with what the grammar does not know repaired; keeps the better of the two. */
static bool parse_repaired(struct parse *parse, struct slice shown)
{
    struct slice repaired = {NULL, shown.size};
    size_t before = count_errors(parse);
    char *copy = memory_allocate(shown.size, 1);

    if (copy == NULL) {
        parse->is_out_of_memory = true;
        return false;
    }
    memcpy(copy, shown.bytes, shown.size);
    repair_text(copy, shown.size);
    memory_free(parse->repaired);
    parse->repaired = copy;
    repaired.bytes = copy;
    if (parse_in_region(parse, repaired) && count_errors(parse) < before) {
        return true;
    }
    return !parse->is_out_of_memory && parse_in_region(parse, shown);
}

static bool
keep_nodes(struct syntax *syntax, const struct parse *parse, struct arena *arena)
{
    syntax->count = (uint32_t)parse->nodes.count;
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

static void parse_release(struct parse *parse)
{
    memory_free(parse->nodes.items);
    memory_free(parse->comments.items);
    memory_free(parse->open);
    memory_free(parse->copy);
    memory_free(parse->repaired);
    region_release(&parse->region);
}

bool syntax_parse(struct syntax *syntax,
                  struct slice text,
                  const char *path,
                  struct arena *arena,
                  struct error *error)
{
    struct parse parse = {0};
    struct slice shown;
    bool is_done;

    call_once(&symbols_once, read_symbols);
    region_init(&parse.region);
    *syntax = (struct syntax){.text = text};
    is_done = show_text(&parse, text, &shown) && find_rows(syntax, text, arena);
    if (!is_done) {
        error_set_memory(error);
    } else if (!parse_in_region(&parse, shown) ||
               (parse.nodes.items[0].has_error && !parse_repaired(&parse, shown))) {
        is_done = false;
        if (parse.is_out_of_memory) {
            error_set_memory(error);
        } else {
            uint32_t deepest = parse.nodes.items[parse.nodes.count - 1].start;

            error_set_at(error, ERROR_INPUT, path, syntax_row(syntax, deepest) + 1,
                         syntax_column(syntax, deepest),
                         "%s are nested deeper than %d levels, more than Python takes",
                         parse.block_depth > SYNTAX_DEPTH_LIMIT ? "statements"
                                                                : "brackets",
                         SYNTAX_DEPTH_LIMIT);
        }
    } else if (!keep_nodes(syntax, &parse, arena)) {
        is_done = false;
        error_set_memory(error);
    } else {
        turn_assignments(syntax);
        number_rows(syntax);
    }
    parse_release(&parse);
    return is_done;
}

uint32_t syntax_row(const struct syntax *syntax, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = syntax->row_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (syntax->row_starts[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t
column_in_row(const struct syntax *syntax, uint32_t row, uint32_t offset)
{
    uint32_t column = 1;

    for (uint32_t at = syntax->row_starts[row]; at < offset; at++) {
        column += ((unsigned char)syntax->text.bytes[at] & 0xC0) != 0x80;
    }
    return column;
}

uint32_t syntax_column(const struct syntax *syntax, uint32_t offset)
{
    return column_in_row(syntax, syntax_row(syntax, offset), offset);
}

uint32_t syntax_node_column(const struct syntax *syntax, uint32_t node)
{
    return column_in_row(syntax, syntax->nodes[node].row, syntax->nodes[node].start);
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
