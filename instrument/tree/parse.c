/* From tree-sitter's tree to a flat list. */
#include "instrument/tree/parse.h"

#include "instrument/text/repair.h"
#include "instrument/text/shown.h"
#include "runtime/base/memory.h"

#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <tree_sitter/api.h>

/* ---- Chunks, free lists, and the four functions that tree-sitter calls ---- */

#define CHUNK_SIZE ((size_t)1 << 20)
#define KEEP_SIZE  ((size_t)32 << 20)
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

/* Forgets all blocks and keeps some chunks for the next parse. */
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

/* Symbols of the grammar to our kinds; written once, then only read. */
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

/* Takes the node under the cursor into the arrays. Returns whether its children matter. */
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

/* Nodes with a mistake at or below them; a mistake may lie in a part that is not kept. */
static size_t count_errors(const struct parse *parse)
{
    size_t count = 0;

    for (size_t i = 0; i < parse->nodes.count; i++) {
        count += parse->nodes.items[i].has_error;
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

void parse_init(struct parse *parse)
{
    call_once(&symbols_once, read_symbols);
    *parse = (struct parse){0};
    region_init(&parse->region);
}

void parse_release(struct parse *parse)
{
    memory_free(parse->nodes.items);
    memory_free(parse->comments.items);
    memory_free(parse->open);
    memory_free(parse->copy);
    memory_free(parse->repaired);
    region_release(&parse->region);
}

bool parse_text(struct parse *parse, struct slice text)
{
    struct slice shown;

    if (!show_text(parse, text, &shown)) {
        parse->is_out_of_memory = true;
        return false;
    }
    return parse_in_region(parse, shown) &&
           (!parse->nodes.items[0].has_error || parse_repaired(parse, shown));
}
