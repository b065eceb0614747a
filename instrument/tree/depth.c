/* The nesting depth of nodes, as CPython counts it. */
#include "instrument/tree/depth.h"

#include "instrument/text/lexer.h"
#include "runtime/base/sorted.h"

#include <assert.h>
#include <string.h>

#define BRACKET_LIMIT 200
#define RULE_LIMIT    6000

/* The maximum nesting that one insertion adds around an expression: `(_mt_v := (e)) is not …`. */
#define INSERTED_LEVELS   8
#define INSERTED_BRACKETS 3
#define INSERTED_RULES    60

/* The nesting that an assignment expression gets: `((n := e) is not _mt and _mt and _mt(i, n) or
 * n)`. */
#define WALRUS_LEVELS   3
#define WALRUS_BRACKETS 2

#define BRACKET_RULES 30
#define BLOCK_RULES   8
#define OTHER_RULES   2

/* Format strings shorter than this cannot be nested deeper than the limits allow for. */
#define FORMAT_SIZE 500

/* The depth of a node. */
struct path {
    uint32_t levels;
    uint32_t brackets;
    uint32_t rules;
};

/* A node whose inside is being read. */
struct open_node {
    uint32_t node;
    uint32_t end;
    struct path path;
    uint32_t elif_count; /* of its children so far */
    uint32_t
        function; /* the function to whose code the inside belongs; 0: the module */
};

struct reader {
    const struct syntax *syntax;
    struct depth *depth;
    struct path limit;
    struct arena *arena;
    struct open_node *open; /* borrowed from the arena */
    uint32_t open_count;
    uint32_t capacity; /* of depth->items */
    bool has_failed;
};

static bool is_bracketed(enum kind kind)
{
    switch (kind) {
    case KIND_PARENTHESIZED_EXPRESSION:
    case KIND_PARENTHESIZED_LIST_SPLAT:
    case KIND_TUPLE:
    case KIND_LIST:
    case KIND_SET:
    case KIND_DICTIONARY:
    case KIND_ARGUMENT_LIST:
    case KIND_LIST_COMPREHENSION:
    case KIND_SET_COMPREHENSION:
    case KIND_DICTIONARY_COMPREHENSION:
    case KIND_GENERATOR_EXPRESSION:
    case KIND_TUPLE_PATTERN:
    case KIND_LIST_PATTERN:
    case KIND_PARAMETERS:
        return true;
    default:
        return false;
    }
}

/* Whether the kind has a left-recursive rule, for which the parser needs no stack: `a.b.c`,
 * `a[0][1]`, `a + b + c`. */
static bool is_left_recursive(enum kind kind)
{
    return kind == KIND_BINARY_OPERATOR || kind == KIND_BOOLEAN_OPERATOR ||
           kind == KIND_ATTRIBUTE || kind == KIND_SUBSCRIPT || kind == KIND_CALL;
}

/* Whether the two are one node in CPython's tree, as `a or b or c` and `a = b = c` are. */
static bool is_flat(enum kind kind, enum kind parent)
{
    return kind == parent && (kind == KIND_BOOLEAN_OPERATOR ||
                              kind == KIND_ASSIGNMENT || kind == KIND_UNION_PATTERN);
}

static void count_word(void *data, struct slice text, size_t start, size_t end)
{
    (void)text;
    (void)start;
    (void)end;
    ++*(uint32_t *)data;
}

/* An upper bound of the depth of expressions in a format string, which are not in the tree: the
 * number of their words. */
static uint32_t format_levels(const struct syntax *syntax, uint32_t node)
{
    uint32_t count = 0;

    assert(node < syntax->count);
    if (syntax->nodes[node].end - syntax->nodes[node].start >= FORMAT_SIZE) {
        lexer_visit_fields(syntax_text(syntax, node), count_word, &count);
    }
    return count;
}

/* The depth of a child of `parent`. */
static struct path
path_below(const struct syntax *syntax, struct open_node *parent, uint32_t node)
{
    assert(node < syntax->count);

    enum kind kind = (enum kind)syntax->nodes[node].kind;
    enum kind parent_kind = (enum kind)syntax->nodes[parent->node].kind;
    struct path path = parent->path;
    bool is_index = parent_kind == KIND_SUBSCRIPT && node != parent->node + 1;

    if (is_flat(kind, parent_kind)) {
        return path;
    }
    path.levels++;
    if (is_bracketed(kind) || is_index) {
        path.brackets++;
        path.rules += BRACKET_RULES;
    } else if (kind == KIND_BLOCK || kind == KIND_LAMBDA_PARAMETERS) {
        path.rules += BLOCK_RULES;
    } else if (!is_left_recursive(parent_kind) || node != parent->node + 1) {
        path.rules += OTHER_RULES;
    }
    switch (kind) {
    case KIND_ELIF_CLAUSE: /* in CPython's tree each elif is inside the one before */
        parent->elif_count++;
        /* fall through */
    case KIND_ELSE_CLAUSE:
        path.levels += parent->elif_count;
        path.rules += OTHER_RULES * parent->elif_count;
        break;
    case KIND_NAMED_EXPRESSION:
        path.levels += WALRUS_LEVELS;
        path.brackets += WALRUS_BRACKETS;
        path.rules += WALRUS_BRACKETS * BRACKET_RULES;
        break;
    case KIND_STRING:
    case KIND_CONCATENATED_STRING:
        path.levels += format_levels(syntax, node);
        break;
    default:
        break;
    }
    return path;
}

static bool is_too_deep(const struct reader *reader, const struct path *path)
{
    return path->levels + INSERTED_LEVELS > reader->limit.levels ||
           path->brackets + INSERTED_BRACKETS > reader->limit.brackets ||
           path->rules + INSERTED_RULES > reader->limit.rules;
}

/* The function to whose code the inside of a node belongs. Code in a definition's header belongs
 * to the function around it. */
static uint32_t function_below(const struct syntax *syntax,
                               const struct open_node *parent,
                               uint32_t node)
{
    assert(node < syntax->count);
    return syntax->nodes[node].kind == KIND_BLOCK &&
                   syntax->nodes[parent->node].kind == KIND_FUNCTION_DEFINITION
               ? parent->node
               : parent->function;
}

static void add_deep(struct reader *reader, uint32_t node, uint32_t function)
{
    struct depth *depth = reader->depth;

    if (depth->count == reader->capacity) {
        uint32_t capacity = reader->capacity == 0 ? 64 : 2 * reader->capacity;
        struct deep_node *items =
            arena_allocate(reader->arena, capacity, sizeof *items);

        if (items == NULL) {
            reader->has_failed = true;
            return;
        }
        if (depth->count > 0) {
            memcpy(items, depth->items, depth->count * sizeof *items);
        }
        depth->items = items;
        reader->capacity = capacity;
    }
    depth->items[depth->count++] = (struct deep_node){node, function};
}

/* Whether the kind may contain statements. */
static bool holds_statements(enum kind kind)
{
    switch (kind) {
    case KIND_BLOCK:
    case KIND_IF_STATEMENT:
    case KIND_ELIF_CLAUSE:
    case KIND_ELSE_CLAUSE:
    case KIND_FOR_STATEMENT:
    case KIND_WHILE_STATEMENT:
    case KIND_TRY_STATEMENT:
    case KIND_EXCEPT_CLAUSE:
    case KIND_FINALLY_CLAUSE:
    case KIND_WITH_STATEMENT:
    case KIND_MATCH_STATEMENT:
    case KIND_CASE_CLAUSE:
    case KIND_FUNCTION_DEFINITION:
    case KIND_CLASS_DEFINITION:
    case KIND_DECORATED_DEFINITION:
    case KIND_ERROR:
    case KIND_OTHER:
        return true;
    default:
        return false;
    }
}

/* Reads a node. Returns the node at which to continue. */
static uint32_t read_node(struct reader *reader, uint32_t node)
{
    const struct syntax *syntax = reader->syntax;
    const struct syntax_node *item = &syntax->nodes[node];
    struct open_node *parent;
    struct open_node below;

    assert(node < syntax->count);
    while (reader->open[reader->open_count - 1].end <= node) {
        reader->open_count--;
    }
    parent = &reader->open[reader->open_count - 1];
    below = (struct open_node){.node = node,
                               .end = item->next,
                               .path = path_below(syntax, parent, node),
                               .function = function_below(syntax, parent, node)};
    if (is_too_deep(reader, &below.path)) {
        add_deep(reader, node, below.function);
        if (!holds_statements((enum kind)item->kind)) {
            return item->next;
        }
    }
    if (item->next > node + 1) {
        assert(reader->open_count <= syntax->depth);
        reader->open[reader->open_count++] = below;
    }
    return node + 1;
}

bool depth_read(struct depth *depth,
                const struct syntax *syntax,
                uint32_t level_limit,
                struct arena *arena)
{
    struct reader reader = {
        .syntax = syntax, .depth = depth, .arena = arena, .open_count = 1};

    assert(level_limit > 0 && level_limit <= DEPTH_LEVEL_LIMIT);
    reader.limit =
        (struct path){level_limit, BRACKET_LIMIT * level_limit / DEPTH_LEVEL_LIMIT,
                      RULE_LIMIT * level_limit / DEPTH_LEVEL_LIMIT};
    reader.open = arena_allocate(arena, (size_t)syntax->depth + 2, sizeof *reader.open);
    if (reader.open == NULL) {
        return false;
    }
    reader.open[0] = (struct open_node){.end = syntax->count};
    *depth = (struct depth){.count = 0};
    for (uint32_t i = 1; i < syntax->count && !reader.has_failed;) {
        i = read_node(&reader, i);
    }
    return !reader.has_failed;
}

static bool is_node_before(const void *items, size_t item, uint64_t node)
{
    return ((const struct deep_node *)items)[item].node < node;
}

static size_t first_from(const struct depth *depth, uint32_t node)
{
    return sorted_place(depth->items, depth->count, is_node_before, node);
}

uint32_t depth_find_any(const struct depth *depth, uint32_t first, uint32_t end)
{
    size_t i = first_from(depth, first);

    return i < depth->count && depth->items[i].node < end ? depth->items[i].node : 0;
}

uint32_t
depth_find(const struct depth *depth, uint32_t function, uint32_t first, uint32_t end)
{
    for (size_t i = first_from(depth, first);
         i < depth->count && depth->items[i].node < end; i++) {
        if (depth->items[i].function == function) {
            return depth->items[i].node;
        }
    }
    return 0;
}
