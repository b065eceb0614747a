/* The syntax of a file as a flat array: parses it with tree-sitter, fills the array, and
 * searches it. */
#include "instrument/tree/syntax.h"

#include "instrument/text/repair.h"
#include "instrument/text/shown.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/base/utf8.h"

#include <assert.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <tree_sitter/api.h>

/* Blocks of up to 1,024 bytes have a free list for each multiple of 16 bytes; larger ones have
 * one for each power of two. */
#define REGION_SMALL_CLASSES 64

#define REGION_CLASSES (REGION_SMALL_CLASSES + 40)

struct region_chunk;

struct region {
    struct region_chunk *chunks; /* owned; the first is the current one */
    struct region_chunk *spare;  /* owned; kept from the last parse */
    char *next;                  /* borrowed from the current chunk */
    size_t left;
    /* borrowed from chunks; linked through their bytes */
    void *free_blocks[REGION_CLASSES];
    jmp_buf out_of_memory; /* the target of the longjmp after a failed allocation */
};

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

/* All memory that must be freed. It is kept outside the function that calls setjmp, which is
 * left by longjmp if memory runs out. */
struct parse {
    struct region region;
    struct node_list nodes;
    struct comment_list comments;
    size_t *open; /* owned; a stack of the nodes whose `next` is not known yet */
    size_t open_capacity;
    size_t depth;   /* the maximum number of open nodes */
    char *copy;     /* owned; may be NULL: the text as it is passed to tree-sitter */
    char *repaired; /* owned; may be NULL */
    int block_depth;
    int bracket_depth;
    bool has_error; /* somewhere in the tree */
    bool is_out_of_memory;
};

/* ---- Chunks, free lists, and the four functions that tree-sitter calls ---- */

#define CHUNK_SIZE ((size_t)1 << 20)
#define KEEP_SIZE  ((size_t)32 << 20) /* of chunks, for the next parse */
#define ALIGNMENT  ((size_t)16)

struct region_chunk {
    struct region_chunk *next; /* owned by the region; may be NULL */
    size_t size;
    _Alignas(16) char bytes[];
};

/* Precedes each block, so that it can be resized and freed. */
struct block_header {
    _Alignas(16) size_t size; /* the capacity of the block: its class's size */
};

static thread_local struct region *current_region;

static size_t class_of(size_t size, size_t *capacity)
{
    size_t class_index = REGION_SMALL_CLASSES;

    if (size <= REGION_SMALL_CLASSES * ALIGNMENT) {
        class_index = size == 0 ? 0 : (size - 1) / ALIGNMENT;
        *capacity = (class_index + 1) * ALIGNMENT;
        return class_index;
    }
    *capacity = REGION_SMALL_CLASSES * ALIGNMENT * 2;
    while (*capacity < size && class_index + 1 < REGION_CLASSES) {
        *capacity *= 2;
        class_index++;
    }
    return class_index;
}

static struct region_chunk *reuse_spare(struct region *region, size_t size)
{
    struct region_chunk **link = &region->spare;

    while (*link != NULL) {
        struct region_chunk *chunk = *link;

        if (chunk->size >= size) {
            *link = chunk->next;
            return chunk;
        }
        link = &chunk->next;
    }
    return NULL;
}

static void region_grow(struct region *region, size_t size)
{
    size_t wanted = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    struct region_chunk *chunk = reuse_spare(region, wanted);

    if (chunk == NULL) {
        chunk = memory_allocate(1, sizeof *chunk + wanted);
        if (chunk == NULL) {
            longjmp(region->out_of_memory, 1);
        }
        chunk->size = wanted;
    }
    chunk->next = region->chunks;
    region->chunks = chunk;
    region->next = chunk->bytes;
    region->left = chunk->size;
}

static void *region_allocate(size_t size)
{
    struct region *region = current_region;
    size_t capacity;
    size_t class_index;
    struct block_header *header;
    void *block;

    if (size > SIZE_MAX / 4) {
        longjmp(region->out_of_memory, 1);
    }
    class_index = class_of(size, &capacity);
    block = region->free_blocks[class_index];
    if (block != NULL) {
        memcpy(&region->free_blocks[class_index], block, sizeof block);
        return block;
    }
    if (region->left < sizeof *header + capacity) {
        region_grow(region, sizeof *header + capacity);
    }
    header = (struct block_header *)region->next;
    region->next += sizeof *header + capacity;
    region->left -= sizeof *header + capacity;
    header->size = capacity;
    return header + 1;
}

static void *region_allocate_zeroed(size_t count, size_t size)
{
    void *block;

    if (size != 0 && count > SIZE_MAX / size) {
        longjmp(current_region->out_of_memory, 1);
    }
    block = region_allocate(count * size);
    memset(block, 0, count * size);
    return block;
}

static void region_free(void *block)
{
    struct region *region = current_region;
    size_t capacity;
    size_t class_index;

    if (block == NULL) {
        return;
    }
    class_index = class_of(((struct block_header *)block - 1)->size, &capacity);
    memcpy(block, &region->free_blocks[class_index], sizeof block);
    region->free_blocks[class_index] = block;
}

static void *region_resize(void *block, size_t size)
{
    size_t capacity;
    void *larger;

    if (block == NULL) {
        return region_allocate(size);
    }
    capacity = ((struct block_header *)block - 1)->size;
    if (size <= capacity) {
        return block;
    }
    larger = region_allocate(size);
    memcpy(larger, block, capacity);
    region_free(block);
    return larger;
}

static once_flag allocator_once = ONCE_FLAG_INIT;

static void set_allocator(void)
{
    ts_set_allocator(region_allocate, region_allocate_zeroed, region_resize,
                     region_free);
}

static void region_init(struct region *region)
{
    call_once(&allocator_once, set_allocator);
    memset(region, 0, sizeof *region);
}

static void free_chunks(struct region_chunk *chunk)
{
    while (chunk != NULL) {
        struct region_chunk *next = chunk->next;

        memory_free(chunk);
        chunk = next;
    }
}

static void region_release(struct region *region)
{
    free_chunks(region->chunks);
    free_chunks(region->spare);
    region->chunks = NULL;
    region->spare = NULL;
}

/* Forgets all blocks, but keeps some chunks for the next parse. */
static void region_reset(struct region *region)
{
    size_t kept = 0;

    while (region->chunks != NULL) {
        struct region_chunk *chunk = region->chunks;

        region->chunks = chunk->next;
        chunk->next = region->spare;
        region->spare = chunk;
    }
    for (struct region_chunk **link = &region->spare; *link != NULL;) {
        struct region_chunk *chunk = *link;

        if (kept + chunk->size > KEEP_SIZE) {
            *link = chunk->next;
            memory_free(chunk);
        } else {
            kept += chunk->size;
            link = &chunk->next;
        }
    }
    memset(region->free_blocks, 0, sizeof region->free_blocks);
    region->next = NULL;
    region->left = 0;
}

/* Makes tree-sitter allocate from `region` in this thread until region_leave. The caller has
 * called setjmp(region->out_of_memory). */
static void region_enter(struct region *region)
{
    current_region = region;
}

static void region_leave(void)
{
    current_region = NULL;
}

const TSLanguage *tree_sitter_python(void);

#define SYMBOL_LIMIT 512

/* The kinds of the grammar's symbols. Written once, then only read. */
static uint16_t kind_of_symbol[SYMBOL_LIMIT];
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
        return KIND_ERROR; /* tree-sitter's own symbol for text that it could not parse */
    }
    return (enum kind)kind_of_symbol[symbol];
}

/* Whether the children of a node are visited. False for kinds in which nothing is recorded, and
 * for kinds without children. */
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
    void *items = parse->nodes.items;
    struct syntax_node *item;

    if (parse->nodes.count == parse->nodes.capacity &&
        !memory_grow(&items, &parse->nodes.capacity, parse->nodes.count + 1,
                     sizeof *item)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    parse->nodes.items = items;
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
    void *items = parse->comments.items;

    if (!memory_grow(&items, &parse->comments.capacity, parse->comments.count + 1,
                     sizeof *parse->comments.items)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    parse->comments.items = items;
    parse->comments.items[parse->comments.count++] = (struct syntax_comment){
        .start = ts_node_start_byte(node), .end = ts_node_end_byte(node)};
}

/* Adds the node under the cursor to the arrays. Returns whether its children are visited. */
static bool visit(struct parse *parse, TSNode node)
{
    enum kind kind;

    if (!ts_node_is_named(node)) {
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
    void *open = parse->open;

    if (!memory_grow(&open, &parse->open_capacity, depth + 1, sizeof *parse->open)) {
        longjmp(parse->region.out_of_memory, 1);
    }
    parse->open = open;
    parse->open[depth] = node;
    if (parse->depth <= depth) {
        parse->depth = depth + 1;
    }
}

/* Enters a node, or leaves it if `step` is -1. Returns false if a limit is exceeded. */
static bool nest(struct parse *parse, size_t node, int step)
{
    enum kind kind = (enum kind)parse->nodes.items[node].kind;

    parse->block_depth += kind == KIND_BLOCK ? step : 0;
    parse->bracket_depth += is_bracketed(kind) ? step : 0;
    return parse->block_depth <= SYNTAX_DEPTH_LIMIT &&
           parse->bracket_depth <= SYNTAX_DEPTH_LIMIT;
}

/* Visits the whole tree. Returns false if statements or brackets are nested too deep. */
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
        bool is_deeper = visit(parse, ts_tree_cursor_current_node(&cursor));
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

/* Prepares the text for tree-sitter. Returns false if out of memory. */
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

/* Runs tree-sitter. Returns false if statements are nested too deep; leaves by longjmp if out of
 * memory. The tree is not freed: it is part of the region. */
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
    parse->depth = 0;
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

/* Counts the nodes with an error at or below them. An error may be in a part that is not kept. */
static size_t count_errors(const struct parse *parse)
{
    size_t count = 0;

    for (size_t i = 0; i < parse->nodes.count; i++) {
        count += parse->nodes.items[i].has_error;
    }
    return count;
}

/* Parses again after a repair of what the grammar does not know, and keeps the better of the two
 * results. */
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

static void parse_init(struct parse *parse)
{
    call_once(&symbols_once, read_symbols);
    *parse = (struct parse){0};
    region_init(&parse->region);
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

/* Fills `nodes`, without rows and columns, and `comments`, as described for struct syntax.
 * Returns false if out of memory, or if blocks or brackets are nested too deep: then one of the
 * depths is over the limit, and the last node is the place. */
static bool parse_text(struct parse *parse, struct slice text)
{
    struct slice shown;

    if (!show_text(parse, text, &shown)) {
        parse->is_out_of_memory = true;
        return false;
    }
    return parse_in_region(parse, shown) &&
           (!parse->nodes.items[0].has_error || parse_repaired(parse, shown));
}

/* Exchanges a conditional expression and the assignment expression at its start. The grammar
 * parses `a := b if c else d` as `(a := b) if c else d`, Python the other way. Runs from the
 * last node to the first, so that nested ones move all the way up. */
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

/* A position that moves forward through the text. */
struct place_in_text {
    uint32_t offset;
    uint32_t row;
    uint32_t column;
};

/* Rows are counted in the original text, because the text for tree-sitter may have fewer. */
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

/* Sets the rows and columns. Nodes and comments are in the order of the text. */
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

/* The offset after the line end at or after `at`, or the text's size plus one if there is none.
 * CR, LF and CRLF end lines. */
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
    syntax->depth =
        (uint32_t)parse->depth + 1; /* one more: assignments may be exchanged */
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

/* For sorted_place: whether the row begins at the offset or before it. */
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
    assert(node < syntax->count);
    while (syntax->nodes[node].kind == KIND_PARENTHESIZED_EXPRESSION &&
           syntax_child(syntax, node) != 0) {
        node = syntax_child(syntax, node);
    }
    return node;
}
