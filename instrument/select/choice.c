/* Selections and pragmas. */
#include "instrument/select/choice.h"

#include <assert.h>
#include <string.h>

enum row_state { ROW_DEFAULT, ROW_ON, ROW_OFF };

bool selection_is_empty(const struct selection *selection)
{
    return !selection->everything && !selection->forward &&
           selection->function_count == 0 && selection->line_count == 0 &&
           selection->spy_count == 0;
}

/* Whether only visible calls were requested. Then the file's pragmas, which are about recording,
 * do not apply. */
static bool is_spy_alone(const struct selection *selection)
{
    return selection->spy_count > 0 && !selection->everything && !selection->forward &&
           selection->function_count == 0 && selection->line_count == 0;
}

/* Whether the kind begins a line of its own in a block, or ends a block. */
static bool begins_line(enum kind kind)
{
    return (kind >= KIND_EXPRESSION_STATEMENT && kind <= KIND_CASE_CLAUSE &&
            kind != KIND_ASSIGNMENT && kind != KIND_AUGMENTED_ASSIGNMENT &&
            kind != KIND_WITH_CLAUSE && kind != KIND_WITH_ITEM) ||
           kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION ||
           kind == KIND_DECORATED_DEFINITION;
}

static uint32_t last_row(const struct syntax *syntax, uint32_t node)
{
    assert(node < syntax->count);

    uint32_t end = syntax->nodes[node].end;

    return syntax_row(syntax, end > syntax->nodes[node].start ? end - 1 : end);
}

/* The last row before a line that is indented less than `column`. */
static uint32_t block_end(const struct syntax *syntax, uint32_t offset, uint32_t column)
{
    for (uint32_t i = 1; i < syntax->count; i++) {
        const struct syntax_node *node = &syntax->nodes[i];

        if (node->start > offset && begins_line((enum kind)node->kind) &&
            node->column < column) {
            return node->row - 1;
        }
    }
    return syntax->row_count - 1;
}

/* The compound statement whose header the comment ends. 0: none. */
static uint32_t header_of(const struct syntax *syntax,
                          const struct syntax_comment *comment)
{
    uint32_t found = 0;

    for (uint32_t i = 1; i < syntax->count && syntax->nodes[i].start < comment->start;
         i++) {
        uint32_t block = syntax_find(syntax, i, KIND_BLOCK);

        if (block != 0 && begins_line((enum kind)syntax->nodes[i].kind) &&
            syntax->nodes[block].start > comment->start &&
            syntax->nodes[i].end > comment->start) {
            found = i;
        }
    }
    return found;
}

static bool is_alone_on_row(const struct syntax *syntax,
                            const struct syntax_comment *comment)
{
    for (uint32_t at = syntax->row_starts[comment->row]; at < comment->start; at++) {
        if (strchr(" \t\f", syntax->text.bytes[at]) == NULL) {
            return false;
        }
    }
    return true;
}

static uint32_t indentation(const struct syntax *syntax, uint32_t row)
{
    uint32_t column = 1;

    assert(row < syntax->row_count + 1);
    for (uint32_t at = syntax->row_starts[row]; at < syntax->text.size;
         at++, column++) {
        if (strchr(" \t\f", syntax->text.bytes[at]) == NULL) {
            break;
        }
    }
    return column;
}

/* The state that `# monitorch: on` or `# monitorch: off` sets. More words may follow after a
 * blank. */
static enum row_state read_pragma(struct slice comment)
{
    static const struct {
        const char *word;
        enum row_state state;
    } words[] = {{"on", ROW_ON}, {"off", ROW_OFF}};
    struct slice key = SLICE("monitorch:");
    size_t at = 1;

    while (at < comment.size && comment.bytes[at] == ' ') {
        at++;
    }
    if (!slice_starts(slice_part(comment, at, comment.size), key)) {
        return ROW_DEFAULT;
    }
    at += key.size;
    while (at < comment.size && comment.bytes[at] == ' ') {
        at++;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct slice rest = slice_part(comment, at, comment.size);
        size_t size = strlen(words[i].word);

        if (slice_starts(rest, slice_of(words[i].word)) &&
            (rest.size == size || strchr(" \t\r,;.", rest.bytes[size]) != NULL)) {
            return words[i].state;
        }
    }
    return ROW_DEFAULT;
}

static void
set_rows(struct choice *choice, uint32_t first, uint32_t last, enum row_state state)
{
    for (uint32_t row = first; row <= last && row < choice->syntax->row_count; row++) {
        choice->rows[row] = (uint8_t)state;
    }
}

static void obey_comment(struct choice *choice,
                         const struct syntax_comment *comment,
                         enum row_state state)
{
    const struct syntax *syntax = choice->syntax;
    uint32_t first = comment->row;
    uint32_t last;

    if (is_alone_on_row(syntax, comment)) {
        last = block_end(syntax, comment->start, indentation(syntax, comment->row));
    } else {
        uint32_t statement = header_of(syntax, comment);

        if (statement != 0) {
            first = syntax->nodes[statement].row;
            last = last_row(syntax, statement);
        } else {
            last = block_end(syntax, comment->start, indentation(syntax, comment->row));
        }
    }
    set_rows(choice, first, last, state);
}

/* The value of a plain decimal integer node. 0: it is another node. */
static uint32_t integer_value(const struct syntax *syntax, uint32_t node)
{
    struct slice text = syntax_text(syntax, node);
    uint32_t value = 0;

    assert(node < syntax->count);
    if (syntax->nodes[node].kind != KIND_INTEGER || text.size > 8) {
        return 0;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            return 0;
        }
        value = value * 10 + (uint32_t)(text.bytes[i] - '0');
    }
    return value;
}

/* Applies `monitorch.lines(10, 40)` with two literals. */
static void obey_lines_call(struct choice *choice, uint32_t call)
{
    const struct syntax *syntax = choice->syntax;
    uint32_t arguments = syntax_find(syntax, call, KIND_ARGUMENT_LIST);
    uint32_t first = arguments == 0 ? 0 : syntax_child(syntax, arguments);
    uint32_t second = first == 0 ? 0 : syntax_sibling(syntax, arguments, first);
    uint32_t from;
    uint32_t to;

    if (second == 0 || syntax_sibling(syntax, arguments, second) != 0 ||
        !slice_equal(syntax_text(syntax, call + 1), SLICE("monitorch.lines"))) {
        return;
    }
    from = integer_value(syntax, first);
    to = integer_value(syntax, second);
    if (from > 0 && to >= from) {
        set_rows(choice, from - 1, to - 1, ROW_ON);
    }
}

static bool has_comment_pragma(const struct syntax *syntax)
{
    for (uint32_t i = 0; i < syntax->comment_count; i++) {
        const struct syntax_comment *comment = &syntax->comments[i];

        if (read_pragma(slice_part(syntax->text, comment->start, comment->end)) !=
            ROW_DEFAULT) {
            return true;
        }
    }
    return false;
}

bool choice_read(struct choice *choice,
                 const struct selection *selection,
                 const struct syntax *syntax,
                 struct arena *arena)
{
    bool has_pragmas = !is_spy_alone(selection) && has_comment_pragma(syntax);
    bool has_calls =
        !is_spy_alone(selection) &&
        slice_find(syntax->text, SLICE("monitorch.lines"), 0) < syntax->text.size;

    *choice = (struct choice){.selection = selection, .syntax = syntax};
    if (!has_pragmas && !has_calls && selection->line_count == 0) {
        return true;
    }
    choice->rows = arena_allocate(arena, syntax->row_count, 1);
    if (choice->rows == NULL) {
        return false;
    }
    memset(choice->rows, ROW_DEFAULT, syntax->row_count);
    for (size_t i = 0; i < selection->line_count; i++) {
        const struct line_range *range = &selection->lines[i];
        size_t last = range->last < syntax->row_count ? range->last : syntax->row_count;

        if (range->first >= 1 && range->first <= last) {
            set_rows(choice, (uint32_t)range->first - 1, (uint32_t)last - 1, ROW_ON);
        }
    }
    for (uint32_t i = 1; has_calls && i < syntax->count; i++) {
        if (syntax->nodes[i].kind == KIND_CALL) {
            obey_lines_call(choice, i);
        }
    }
    for (uint32_t i = 0; has_pragmas && i < syntax->comment_count; i++) {
        const struct syntax_comment *comment = &syntax->comments[i];
        enum row_state state =
            read_pragma(slice_part(syntax->text, comment->start, comment->end));

        if (state != ROW_DEFAULT) {
            obey_comment(choice, comment, state);
        }
    }
    return true;
}

bool choice_has_function(const struct choice *choice, struct slice name, bool is_method)
{
    const struct selection *selection = choice->selection;

    if (selection->everything) {
        return true;
    }
    if (selection->forward && is_method &&
        (slice_equal(name, SLICE("forward")) || slice_ends(name, SLICE(".forward")))) {
        return true;
    }
    for (size_t i = 0; i < selection->function_count; i++) {
        if (glob_match(name, selection->functions[i])) {
            return true;
        }
    }
    return false;
}

bool choice_has_row(const struct choice *choice,
                    uint32_t row,
                    bool is_function_selected)
{
    uint8_t state = choice->rows == NULL ? ROW_DEFAULT : choice->rows[row];

    return state == ROW_ON || (state == ROW_DEFAULT && is_function_selected);
}

bool choice_has_statement(const struct choice *choice,
                          uint32_t block,
                          bool is_function_selected)
{
    const struct syntax *syntax = choice->syntax;
    uint32_t inner = 0; /* the block of the last definition visited */

    if (choice->rows == NULL) {
        return is_function_selected;
    }
    for (uint32_t i = block + 1; i < syntax->nodes[block].next;) {
        const struct syntax_node *node = &syntax->nodes[i];
        enum kind kind = (enum kind)node->kind;

        if (i == inner) {
            i = node->next;
            continue;
        }
        if (kind == KIND_FUNCTION_DEFINITION || kind == KIND_CLASS_DEFINITION) {
            inner = syntax_find(syntax, i, KIND_BLOCK);
        } else if (kind != KIND_DECORATED_DEFINITION &&
                   (begins_line(kind) || kind == KIND_NAMED_EXPRESSION) &&
                   choice_has_row(choice, node->row, is_function_selected)) {
            return true;
        }
        i++;
    }
    return false;
}

bool choice_has_spy(const struct choice *choice, struct slice name)
{
    for (size_t i = 0; i < choice->selection->spy_count; i++) {
        if (name_select(name, SLICE(""), choice->selection->spy_names[i]) !=
            NAME_OTHER) {
            return true;
        }
    }
    return false;
}
