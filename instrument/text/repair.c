/* Repairs: rewrites constructs that the grammar cannot parse. */
#include "instrument/text/repair.h"

#include "instrument/text/lexer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <string.h>

/* The kind of token before the current position. */
enum before {
    BEFORE_OPERAND,    /* a star after it multiplies */
    BEFORE_OPERATOR,   /* a star after it unpacks */
    BEFORE_DEFINITION, /* `class`, `def` or `type`: a name follows */
    BEFORE_DEFINED,    /* that name: a bracket after it holds type parameters */
};

struct repair {
    char *text; /* borrowed */
    size_t size;
    size_t nesting; /* of brackets */
    enum before before;
};

static struct slice text_of(const struct repair *repair)
{
    return (struct slice){repair->text, repair->size};
}

static size_t skip_blanks(const struct repair *repair, size_t at)
{
    while (at < repair->size && (repair->text[at] == ' ' || repair->text[at] == '\t')) {
        at++;
    }
    return at;
}

/* Whether a starred item begins with something that the grammar does not accept after a star. It
 * accepts names, attributes and subscripts, which may be targets. */
static bool is_unknown_item(const struct repair *repair, size_t at)
{
    at = skip_blanks(repair, at);
    if (at >= repair->size) {
        return false;
    }
    if (!lexer_is_word_byte(repair->text[at])) {
        return strchr("([{\"'", repair->text[at]) != NULL && repair->text[at] != '\0';
    }
    for (;;) {
        at = lexer_word_end(text_of(repair), at);
        if (at >= repair->size || repair->text[at] != '.') {
            break;
        }
        at++;
    }
    return at < repair->size && strchr("(\"'", repair->text[at]) != NULL &&
           repair->text[at] != '\0';
}

static size_t repair_star(struct repair *repair, size_t at)
{
    if (at + 1 < repair->size && repair->text[at + 1] == '*') {
        repair->before = BEFORE_OPERATOR;
        return at + 2;
    }
    if (repair->before == BEFORE_OPERATOR && is_unknown_item(repair, at + 1)) {
        repair->text[at] = '-';
    }
    repair->before = BEFORE_OPERATOR;
    return at + 1;
}

/* Replaces `[T, *Ts]` by one long name. */
static size_t repair_type_parameters(struct repair *repair, size_t at)
{
    size_t nesting = 0;
    size_t end = at;

    for (; end < repair->size; end++) {
        char byte = repair->text[end];

        nesting += byte == '[';
        nesting -= byte == ']';
        if (nesting == 0 || byte == '"' || byte == '\'' || byte == '#') {
            break;
        }
    }
    repair->before = BEFORE_OPERAND;
    if (end < repair->size && repair->text[end] == ']') {
        memset(repair->text + at + 1, 'T', end - at - 1);
        return end + 1;
    }
    repair->nesting++;
    return at + 1;
}

static size_t repair_word(struct repair *repair, size_t at)
{
    static const char *const operators[] = {"return", "yield", "in",   "and",  "or",
                                            "not",    "if",    "else", "from", "await"};
    static const char *const definitions[] = {"class", "def", "type"};
    size_t end = lexer_word_end(text_of(repair), at);
    struct slice word = slice_part(text_of(repair), at, end);
    bool was_definition = repair->before == BEFORE_DEFINITION;
    size_t string;

    string = lexer_prefixed_string_end(text_of(repair), at, end);
    if (string > end) {
        repair->before = BEFORE_OPERAND;
        return string;
    }
    repair->before = was_definition ? BEFORE_DEFINED : BEFORE_OPERAND;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (slice_equal(word, slice_of(operators[i]))) {
            repair->before = BEFORE_OPERATOR;
        }
    }
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        if (slice_equal(word, slice_of(definitions[i])) && !was_definition) {
            repair->before = BEFORE_DEFINITION;
        }
    }
    return end;
}

static size_t repair_comment(struct repair *repair, size_t at)
{
    while (at < repair->size && repair->text[at] != '\n') {
        if (repair->nesting > 0) {
            repair->text[at] = ' ';
        }
        at++;
    }
    return at;
}

static size_t repair_token(struct repair *repair, size_t at)
{
    char byte = repair->text[at];

    if (lexer_is_word_byte(byte)) {
        return repair_word(repair, at);
    }
    switch (byte) {
    case '"':
    case '\'':
        repair->before = BEFORE_OPERAND;
        return lexer_string_end(text_of(repair), at, false, false);
    case '#':
        return repair_comment(repair, at);
    case '*':
        return repair_star(repair, at);
    case '[':
        if (repair->before == BEFORE_DEFINED) {
            return repair_type_parameters(repair, at);
        }
        repair->nesting++;
        repair->before = BEFORE_OPERATOR;
        break;
    case '(':
    case '{':
        repair->nesting++;
        repair->before = BEFORE_OPERATOR;
        break;
    case ')':
    case ']':
    case '}':
        repair->nesting -= repair->nesting > 0;
        repair->before = BEFORE_OPERAND;
        break;
    case '\n':
    case '\r':
        if (repair->nesting > 0) {
            repair->text[at] = ' ';
        } else {
            repair->before = BEFORE_OPERAND;
        }
        break;
    case ' ':
    case '\t':
    case '\f':
    case '\\':
        break;
    default:
        repair->before = BEFORE_OPERATOR;
    }
    return at + 1;
}

void repair_text(char *text, size_t size)
{
    struct repair repair = {text, size, 0, BEFORE_OPERAND};

    for (size_t at = 0; at < size;) {
        at = repair_token(&repair, at);
    }
}
