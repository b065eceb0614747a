/* Names that a Python text uses, and the statements of a source file that define them. */
#include "runtime/view/why/repro/private.h"

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '_' || (unsigned char)byte >= 0x80;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_in(struct slice word, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (slice_equal(word, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static const char *const keywords[] = {
    "False",   "None",     "True",     "and",    "as",   "assert", "async",  "await",
    "break",   "class",    "continue", "def",    "del",  "elif",   "else",   "except",
    "finally", "for",      "from",     "global", "if",   "import", "in",     "is",
    "lambda",  "nonlocal", "not",      "or",     "pass", "raise",  "return", "try",
    "while",   "with",     "yield",    NULL};

static bool is_keyword(struct slice word)
{
    return is_in(word, keywords);
}

static const char *const builtins[] = {"abs",
                                       "all",
                                       "any",
                                       "bool",
                                       "bytes",
                                       "callable",
                                       "complex",
                                       "dict",
                                       "divmod",
                                       "enumerate",
                                       "filter",
                                       "float",
                                       "frozenset",
                                       "getattr",
                                       "hasattr",
                                       "int",
                                       "isinstance",
                                       "iter",
                                       "len",
                                       "list",
                                       "map",
                                       "max",
                                       "min",
                                       "next",
                                       "object",
                                       "pow",
                                       "print",
                                       "property",
                                       "range",
                                       "repr",
                                       "reversed",
                                       "round",
                                       "set",
                                       "slice",
                                       "sorted",
                                       "staticmethod",
                                       "classmethod",
                                       "str",
                                       "sum",
                                       "super",
                                       "tuple",
                                       "type",
                                       "vars",
                                       "zip",
                                       "__name__",
                                       "ValueError",
                                       "RuntimeError",
                                       "Exception",
                                       "NotImplementedError",
                                       "TypeError",
                                       "AssertionError",
                                       "KeyError",
                                       NULL};

bool name_is_builtin(struct slice root)
{
    return is_in(root, builtins);
}

struct slice name_root(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

bool name_is_of(struct slice name, struct slice of)
{
    return slice_starts(name, of) &&
           (name.size == of.size || name.bytes[of.size] == '.');
}

/* ---- words ---- */

static size_t skip_string(struct slice text, size_t at)
{
    char quote = text.bytes[at];
    bool is_long = at + 2 < text.size && text.bytes[at + 1] == quote &&
                   text.bytes[at + 2] == quote;

    for (at += is_long ? 3 : 1; at < text.size; at++) {
        if (text.bytes[at] == '\\') {
            at++;
        } else if (text.bytes[at] == quote &&
                   (!is_long || (at + 2 < text.size && text.bytes[at + 1] == quote &&
                                 text.bytes[at + 2] == quote))) {
            return at + (is_long ? 3 : 1);
        }
    }
    return text.size;
}

static size_t skip_blanks(struct slice text, size_t at)
{
    while (at < text.size && (text.bytes[at] == ' ' || text.bytes[at] == '\t')) {
        at++;
    }
    return at;
}

/* Returns the end of a number. A number such as `1e-6` contains no name. */
static size_t skip_number(struct slice text, size_t at)
{
    while (at < text.size &&
           (is_letter(text.bytes[at]) || is_digit(text.bytes[at]) ||
            text.bytes[at] == '.' ||
            ((text.bytes[at] == '-' || text.bytes[at] == '+') &&
             (text.bytes[at - 1] == 'e' || text.bytes[at - 1] == 'E')))) {
        at++;
    }
    return at;
}

/* The word at `at`, with its attributes if `is_dotted`. */
static struct slice read_word(struct slice text, size_t at, bool is_dotted)
{
    size_t end = at;

    while (end < text.size &&
           (is_letter(text.bytes[end]) || is_digit(text.bytes[end]) ||
            (is_dotted && text.bytes[end] == '.' && end + 1 < text.size &&
             is_letter(text.bytes[end + 1])))) {
        end++;
    }
    return slice_part(text, at, end);
}

/* Returns the next word, skipping anything else. Size 0 if there is none. */
static struct slice next_word(struct names *names, bool *is_attribute)
{
    struct slice text = names->text;

    *is_attribute = false;
    while (names->at < text.size) {
        char byte = text.bytes[names->at];

        if (is_letter(byte)) {
            struct slice word = read_word(text, names->at, true);

            names->at += word.size;
            if (names->at < text.size && word.size <= 2 &&
                (text.bytes[names->at] == '"' || text.bytes[names->at] == '\'')) {
                continue; /* the prefix of a string */
            }
            return word;
        }
        if (byte == '"' || byte == '\'') {
            names->at = skip_string(text, names->at);
        } else if (byte == '#') {
            names->at = slice_find(text, SLICE("\n"), names->at);
        } else if (is_digit(byte)) {
            names->at = skip_number(text, names->at);
        } else {
            names->depth += strchr("([{", byte) != NULL;
            names->depth -= strchr(")]}", byte) != NULL;
            *is_attribute = byte == '.' || (*is_attribute && byte == ' ');
            names->at++;
            continue;
        }
        *is_attribute = false;
    }
    return SLICE("");
}

/* Whether the word that ends at `at` is the keyword of an argument. */
static bool is_key(const struct names *names)
{
    size_t at = skip_blanks(names->text, names->at);

    return names->depth > 0 && at < names->text.size && names->text.bytes[at] == '=' &&
           (at + 1 == names->text.size || names->text.bytes[at + 1] != '=');
}

/* Whether the text itself binds the name: `for i in …`, `lambda x: …`, `(n := …)`. */
static bool is_inner(struct slice text, struct slice root)
{
    struct names names = NAMES_OF(text);
    bool is_attribute, is_target = false;
    struct slice word;

    while ((word = next_word(&names, &is_attribute)).size > 0) {
        size_t at = skip_blanks(text, names.at);

        if (slice_equal(word, SLICE("for")) || slice_equal(word, SLICE("lambda"))) {
            is_target = true;
        } else if (slice_equal(word, SLICE("in"))) {
            is_target = false;
        } else if (slice_equal(word, root) &&
                   (is_target || (at + 1 < text.size && text.bytes[at] == ':' &&
                                  text.bytes[at + 1] == '='))) {
            return true;
        }
        if (is_target && at < text.size && text.bytes[at] == ':') {
            is_target = false;
        }
    }
    return false;
}

bool names_next(struct names *names, struct slice *name)
{
    bool is_attribute;

    while ((*name = next_word(names, &is_attribute)).size > 0) {
        if (!is_attribute && !is_keyword(*name) && !is_key(names) &&
            !is_inner(names->text, name_root(*name))) {
            return true;
        }
    }
    return false;
}

/* ---- source files ---- */

/* The end of the line that starts at `start`, including its continuation lines and their line
 * ends. */
static size_t end_of_logical_line(struct slice source, size_t start)
{
    int depth = 0;
    size_t at = start;

    while (at < source.size) {
        char byte = source.bytes[at];

        if (byte == '"' || byte == '\'') {
            at = skip_string(source, at);
            continue;
        }
        if (byte == '#') {
            at = slice_find(source, SLICE("\n"), at);
            continue;
        }
        depth += strchr("([{", byte) != NULL;
        depth -= strchr(")]}", byte) != NULL;
        at += byte == '\\' ? 2 : 1;
        if (byte == '\n' && depth <= 0) {
            break;
        }
    }
    return at < source.size ? at : source.size;
}

static struct slice without_end(struct slice line)
{
    while (line.size > 0 && strchr("\r\n \t", line.bytes[line.size - 1]) != NULL) {
        line.size--;
    }
    return line;
}

/* Whether the import binds the name. */
static bool imports(struct slice statement, struct slice name)
{
    bool is_from = slice_starts(statement, SLICE("from "));
    size_t start = is_from ? slice_find(statement, SLICE(" import"), 0) + 7 : 7;
    struct names words = NAMES_OF(statement);
    bool is_attribute, is_alias = false;
    struct slice word, before = SLICE("");

    words.at = start < statement.size ? start : statement.size;
    while ((word = next_word(&words, &is_attribute)).size > 0) {
        if (slice_equal(word, SLICE("as"))) {
            is_alias = true;
            before = SLICE("");
            continue;
        }
        if (before.size > 0 && slice_equal(name_root(before), name)) {
            return true;
        }
        before = word;
        if (is_alias) {
            if (slice_equal(word, name)) {
                return true;
            }
            is_alias = false;
            before = SLICE("");
        }
    }
    return before.size > 0 && slice_equal(name_root(before), name);
}

struct slice source_find_import(struct slice source, struct slice name)
{
    size_t at = 0;

    while (at < source.size) {
        size_t end = end_of_logical_line(source, at);
        size_t start = skip_blanks(source, at);
        struct slice line =
            without_end(slice_part(source, start < end ? start : end, end));

        if ((slice_starts(line, SLICE("import ")) ||
             slice_starts(line, SLICE("from "))) &&
            imports(line, name)) {
            return line;
        }
        at = end;
    }
    return SLICE("");
}

/* Whether the line defines the name. The line starts in the first column. */
static bool defines(struct slice line, struct slice name)
{
    static const char *const words[] = {"async def ", "def ", "class "};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_starts(line, slice_of(words[i]))) {
            return slice_equal(read_word(line, strlen(words[i]), false), name);
        }
    }
    if (slice_equal(read_word(line, 0, false), name)) {
        size_t at = skip_blanks(line, name.size);

        return at + 1 < line.size && line.bytes[at] == '=' && line.bytes[at + 1] != '=';
    }
    return false;
}

/* The end of the block whose head is at `at`: the next line with code in the first column. */
static size_t end_of_block(struct slice source, size_t at)
{
    at = end_of_logical_line(source, at);
    while (at < source.size) {
        char byte = source.bytes[at];

        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r' &&
            byte != '#') {
            break;
        }
        at = end_of_logical_line(source, at);
    }
    return at;
}

bool definition_is_assignment(struct slice definition, struct slice name)
{
    return slice_equal(read_word(definition, 0, false), name);
}

struct slice source_find_definition(struct slice source, struct slice name)
{
    size_t at = 0;
    size_t decorators =
        source.size; /* where the decorators of the next definition start */

    while (at < source.size) {
        struct slice rest = slice_part(source, at, source.size);
        bool is_decorator = source.bytes[at] == '@';

        if (is_letter(source.bytes[at]) && defines(rest, name)) {
            size_t end = definition_is_assignment(rest, name)
                             ? end_of_logical_line(source, at)
                             : end_of_block(source, at);

            return without_end(
                slice_part(source, decorators < at ? decorators : at, end));
        }
        decorators = !is_decorator ? source.size : decorators < at ? decorators : at;
        at = end_of_logical_line(source, at);
    }
    return SLICE("");
}

/* ---- blocks ---- */

static size_t start_of_line(struct slice source, uint32_t line)
{
    size_t at = 0;

    for (uint32_t i = 1; i < line && at < source.size; i++) {
        at = slice_find(source, SLICE("\n"), at) + 1;
    }
    return at < source.size ? at : source.size;
}

struct slice source_next_head(struct slice source, uint32_t *line)
{
    size_t start = start_of_line(source, *line);
    size_t indent = skip_blanks(source, start) - start;

    while (indent > 0 && *line > 1) {
        size_t above = start_of_line(source, --*line);
        size_t code = skip_blanks(source, above);
        size_t end = slice_find(source, SLICE("\n"), code);

        if (code < end && source.bytes[code] != '#' && source.bytes[code] != ')' &&
            code - above < indent) {
            return without_end(slice_part(source, code, end));
        }
    }
    return SLICE("");
}
