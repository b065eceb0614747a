/* Terms of expressions: the reads that a value is made of, and how. */
#include "instrument/tree/terms.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The maximum number of variables of the comprehensions around a node, and of nested targets. */
#define VARIABLES_LIMIT 32
#define NESTED_LIMIT    8

/* A variable of a comprehension, which is an item of the iterable or a part of one. */
struct variable {
    struct name_id name;
    uint32_t iterable; /* node */
    uint32_t parts[NESTED_LIMIT];
    uint32_t part_count;
    uint32_t list; /* number of open comprehensions inside its own, including its own */
};

struct writer {
    struct terms *terms;
    const struct terms_source *source;
    const struct syntax *syntax;
    struct variable variables[VARIABLES_LIMIT];
    uint32_t variable_count;
    uint32_t
        list; /* number of lists that are under construction around the current node */
    uint32_t depth;
};

static void write_term(struct writer *writer, uint32_t node);

/* ---- text ---- */

static void add_byte(struct terms *terms, char byte)
{
    if (terms->size == TERMS_SIZE_LIMIT) {
        terms->is_left_out = true;
        return;
    }
    terms->text[terms->size++] = byte;
}

void terms_add_text(struct terms *terms, const char *text)
{
    while (*text != '\0') {
        add_byte(terms, *text++);
    }
}

void terms_add_number(struct terms *terms, uint32_t number)
{
    char digits[12];

    snprintf(digits, sizeof digits, "%u", number);
    terms_add_text(terms, digits);
}

struct slice terms_text(const struct terms *terms)
{
    return terms->is_left_out ? (struct slice){NULL, 0}
                              : (struct slice){terms->text, terms->size};
}

static void write_byte(struct writer *writer, char byte)
{
    add_byte(writer->terms, byte);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           is_digit(byte) || byte == '_';
}

static void write_key(struct writer *writer, struct slice key)
{
    char escaped[4];

    for (size_t i = 0; i < key.size; i++) {
        if (is_plain(key.bytes[i])) {
            write_byte(writer, key.bytes[i]);
        } else {
            snprintf(escaped, sizeof escaped, "%%%02x", (unsigned char)key.bytes[i]);
            terms_add_text(writer->terms, escaped);
        }
    }
    write_byte(writer, ';');
}

/* ---- names that stand for a form ---- */

static bool is_one_of(struct slice word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(word, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof words / sizeof *words)

/* Whether the attribute or method of a tensor or array only gives its form. */
static bool is_form_attribute(struct slice word)
{
    static const char *const words[] = {
        "dtype",        "shape",          "device",     "layout",
        "ndim",         "requires_grad",  "is_cuda",    "is_leaf",
        "itemsize",     "nbytes",         "names",      "is_sparse",
        "is_quantized", "size",           "dim",        "numel",
        "nelement",     "ndimension",     "new_zeros",  "new_ones",
        "new_empty",    "new_full",       "new_tensor", "stride",
        "strides",      "element_size",   "get_device", "is_floating_point",
        "is_complex",   "storage_offset", "data_ptr",   "is_contiguous",
        "is_meta",      "__class__",      "__len__",    "is_mps",
        "is_cpu",
    };

    return IS_ONE_OF(word, words);
}

/* Whether the function only reads the form of its first argument. */
static bool is_form_function(struct slice word)
{
    static const char *const words[] = {
        "len",        "isinstance",  "type",      "id",         "zeros_like",
        "ones_like",  "empty_like",  "rand_like", "randn_like", "randint_like",
        "full_like",  "numel",       "is_tensor", "hasattr",    "is_floating_point",
        "is_complex", "result_type", "shape",     "ndim",       "size",
        "callable",   "issubclass",  "torch_int",
    };

    return IS_ONE_OF(word, words);
}

/* Whether the method only reads the form of the tensor that is its argument. */
static bool is_form_method(struct slice word)
{
    static const char *const words[] = {"to", "type_as", "expand_as", "view_as",
                                        "reshape_as"};

    return IS_ONE_OF(word, words);
}

static bool is_form_keyword(struct slice word)
{
    static const char *const words[] = {"dtype", "device", "layout"};

    return IS_ONE_OF(word, words);
}

/* Whether the module's functions compute their results from all their arguments and nothing
 * else. */
static bool is_operator_module(struct slice module)
{
    static const char *const words[] = {
        "torch",    "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special",
        "numpy",    "numpy.linalg",        "numpy.fft",    "math",      "cmath",
        "operator", "torch.Tensor",
    };

    return IS_ONE_OF(module, words);
}

/* ---- names ---- */

static const struct syntax_node *at(const struct writer *writer, uint32_t node)
{
    assert(node < writer->syntax->count);
    return &writer->syntax->nodes[node];
}

static struct slice text_of(const struct writer *writer, uint32_t node)
{
    return syntax_text(writer->syntax, node);
}

static struct name_id name_of(const struct writer *writer, uint32_t node)
{
    return names_of(writer->source->scope->names, node);
}

/* The variable that the identifier at `node` names. NULL: none. */
static const struct variable *find_variable(const struct writer *writer, uint32_t node)
{
    for (uint32_t i = writer->variable_count; i-- > 0;) {
        if (name_equal(writer->variables[i].name, name_of(writer, node))) {
            return &writer->variables[i];
        }
    }
    return NULL;
}

static void write_variable(struct writer *writer, const struct variable *variable)
{
    uint32_t count = writer->variable_count;

    for (uint32_t i = variable->part_count; i-- > 0;) {
        if (variable->parts[i] == UINT32_MAX) {
            terms_add_text(writer->terms, "sk");
            continue;
        }
        write_byte(writer, 'i');
        terms_add_number(writer->terms, variable->parts[i]);
    }
    /* The item is not known if a list has the places of several loops, or leaves some out. */
    if (variable->list > 0) {
        write_byte(writer, 'w');
        terms_add_number(writer->terms, writer->list - variable->list);
    } else {
        write_byte(writer, 'e');
    }
    /* in the iterable only earlier variables are known */
    writer->variable_count = (uint32_t)(variable - writer->variables);
    write_term(writer, variable->iterable);
    writer->variable_count = count;
}

static void write_read(struct writer *writer, struct slice name)
{
    const struct reads *reads = writer->source->reads;

    for (uint32_t i = 0; i < reads->count; i++) {
        if (slice_equal(reads->items[i].name, name)) {
            write_byte(writer, 'r');
            terms_add_number(writer->terms, i);
            return;
        }
    }
    write_byte(writer, 'k');
}

static void write_identifier(struct writer *writer, uint32_t node)
{
    const struct variable *variable;

    if (!name_is_known(name_of(writer, node))) {
        write_byte(writer, 'k');
        return;
    }
    variable = find_variable(writer, node);
    if (variable != NULL) {
        write_variable(writer, variable);
    } else {
        write_read(writer, text_of(writer, node));
    }
}

/* Whether a name after the first dot of `a.b.c` is that of a form. */
static bool asks_for_form(struct slice dotted)
{
    size_t start = slice_find(dotted, SLICE("."), 0);

    while (start < dotted.size) {
        size_t end = slice_find(dotted, SLICE("."), start + 1);

        if (is_form_attribute(slice_part(dotted, start + 1, end))) {
            return true;
        }
        start = end;
    }
    return false;
}

static void write_attribute(struct writer *writer, uint32_t node)
{
    uint32_t root = reads_root(writer->syntax, node);
    uint32_t last = syntax_last(writer->syntax, node);
    struct slice text = text_of(writer, node);

    if (root != 0 && find_variable(writer, root) == NULL) {
        bool is_whole = reads_is_dotted(writer->syntax, node);

        if (asks_for_form(text)) {
            write_byte(writer, 'f');
        }
        write_read(writer, is_whole ? text : text_of(writer, root));
        return;
    }
    if (is_form_attribute(text_of(writer, last))) {
        write_byte(writer, 'f');
    } else {
        write_byte(writer, 'a');
        write_key(writer, text_of(writer, last));
    }
    write_term(writer, node + 1);
}

/* ---- parts of objects ---- */

/* Reads the text of a string without format, prefix, escapes and quotes inside. Returns false
 * for any other string. */
static bool
read_plain_text(const struct writer *writer, uint32_t node, struct slice *text)
{
    struct slice whole = text_of(writer, node);

    if (at(writer, node)->kind != KIND_STRING || whole.size < 2 ||
        (whole.bytes[0] != '"' && whole.bytes[0] != '\'') ||
        memchr(whole.bytes, '\\', whole.size) != NULL ||
        memchr(whole.bytes + 1, whole.bytes[0], whole.size - 2) != NULL) {
        return false;
    }
    *text = slice_part(whole, 1, whole.size - 1);
    return true;
}

static bool is_number(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.bytes[i])) {
            return false;
        }
    }
    return text.size > 0 && text.size < 9;
}

/* The place of an item counted from the end: the 2 of `-2`. Empty: it is another expression. */
static struct slice read_from_end(const struct writer *writer, uint32_t node)
{
    struct slice text = text_of(writer, node);

    if (at(writer, node)->kind != KIND_UNARY_OPERATOR || text.size < 2 ||
        text.bytes[0] != '-' || !is_number(slice_part(text, 1, text.size))) {
        return (struct slice){"", 0};
    }
    return slice_part(text, 1, text.size);
}

static void write_letter_and_text(struct writer *writer, char letter, struct slice text)
{
    write_byte(writer, letter);
    for (size_t i = 0; i < text.size; i++) {
        write_byte(writer, text.bytes[i]);
    }
}

/* Writes the item that a number or a text selects. Returns false if the item is computed. */
static bool write_item(struct writer *writer, uint32_t index)
{
    struct slice text;

    if (at(writer, index)->kind == KIND_INTEGER && is_number(text_of(writer, index))) {
        write_letter_and_text(writer, 'i', text_of(writer, index));
        return true;
    }
    text = read_from_end(writer, index);
    if (text.size > 0) {
        write_letter_and_text(writer, 'j', text);
        return true;
    }
    if (read_plain_text(writer, index, &text)) {
        write_byte(writer, 't');
        write_key(writer, text);
        return true;
    }
    if (at(writer, index)->kind == KIND_IDENTIFIER &&
        find_variable(writer, index) == NULL && name_is_known(name_of(writer, index))) {
        const struct reads *reads = writer->source->reads;

        for (uint32_t i = 0; i < reads->count; i++) {
            if (slice_equal(reads->items[i].name, text_of(writer, index))) {
                write_byte(writer, 'n');
                terms_add_number(writer->terms, i);
                return true;
            }
        }
    }
    return false;
}

/* Writes `x[a:b]`: items of x, as a list. */
static void write_slice(struct writer *writer, uint32_t slice, uint32_t value)
{
    bool has_bounds = false;

    for (uint32_t i = slice; i < at(writer, slice)->next; i++) {
        has_bounds = has_bounds || at(writer, i)->kind == KIND_IDENTIFIER;
    }
    if (has_bounds) {
        write_byte(writer, 'o');
        write_term(writer, slice);
    }
    terms_add_text(writer->terms, "he");
    write_term(writer, value);
    if (has_bounds) {
        write_byte(writer, '.');
    }
}

static void write_subscript(struct writer *writer, uint32_t node)
{
    uint32_t value = node + 1;
    uint32_t index = syntax_sibling(writer->syntax, node, value);

    if (index == 0) {
        write_byte(writer, 'k');
        return;
    }
    if (syntax_sibling(writer->syntax, node, index) != 0) {
        terms_add_text(writer->terms, "su");
        for (uint32_t i = index; i != 0; i = syntax_sibling(writer->syntax, node, i)) {
            write_term(writer, i);
        }
        write_byte(writer, '.');
    } else if (at(writer, index)->kind == KIND_SLICE) {
        write_slice(writer, index, value);
        return;
    } else if (!write_item(writer, index)) {
        write_byte(writer, 's');
        write_term(writer, index);
    }
    write_term(writer, value);
}

/* ---- objects made from several ---- */

static void write_children(struct writer *writer, uint32_t node)
{
    for (uint32_t i = syntax_child(writer->syntax, node); i != 0;
         i = syntax_sibling(writer->syntax, node, i)) {
        write_term(writer, i);
    }
}

static void write_all(struct writer *writer, char letter, uint32_t node)
{
    write_byte(writer, letter);
    write_children(writer, node);
    write_byte(writer, '.');
}

/* Writes any other node: the term of its only child, or one made from all children. */
static void write_other(struct writer *writer, uint32_t node)
{
    uint32_t child = syntax_child(writer->syntax, node);

    if (child == 0) {
        write_byte(writer, 'k');
    } else if (syntax_sibling(writer->syntax, node, child) == 0) {
        write_term(writer, child);
    } else {
        write_all(writer, 'u', node);
    }
}

/* Writes a comparison. `x is None` depends on the object, not on its contents. */
static void write_comparison(struct writer *writer, uint32_t node)
{
    uint32_t left = node + 1;
    uint32_t right = syntax_sibling(writer->syntax, node, left);
    struct slice between;

    if (right == 0) {
        write_other(writer, node);
        return;
    }
    between = slice_trim(slice_part(writer->syntax->text, at(writer, left)->end,
                                    at(writer, right)->start));
    if (!slice_starts(between, SLICE("is"))) {
        write_all(writer, 'u', node);
        return;
    }
    write_byte(writer, 'f');
    write_all(writer, 'u', node);
}

/* Writes `a if c else b`: the condition, then the alternatives. */
static void write_choice(struct writer *writer, uint32_t node)
{
    uint32_t first = node + 1;
    uint32_t condition = syntax_sibling(writer->syntax, node, first);
    uint32_t other =
        condition == 0 ? 0 : syntax_sibling(writer->syntax, node, condition);

    if (other == 0) {
        write_other(writer, node);
        return;
    }
    write_byte(writer, 'o');
    write_term(writer, condition);
    write_term(writer, first);
    write_term(writer, other);
    write_byte(writer, '.');
}

static void write_pair(struct writer *writer, uint32_t node)
{
    uint32_t key = node + 1;
    uint32_t value = syntax_sibling(writer->syntax, node, key);
    struct slice text;

    if (value == 0) {
        return;
    }
    if (read_plain_text(writer, key, &text)) {
        write_byte(writer, '=');
        write_key(writer, text);
    } else {
        write_byte(writer, '?');
    }
    write_term(writer, value);
}

static void write_dictionary(struct writer *writer, uint32_t node)
{
    write_byte(writer, 'd');
    for (uint32_t i = syntax_child(writer->syntax, node); i != 0;
         i = syntax_sibling(writer->syntax, node, i)) {
        if (at(writer, i)->kind == KIND_PAIR) {
            write_pair(writer, i);
        } else {
            write_byte(writer, 'x');
            write_other(writer, i);
        }
    }
    write_byte(writer, '.');
}

/* ---- comprehensions ---- */

/* Adds the names of a target, each with its places in the nested tuples. */
static void add_variables(struct writer *writer,
                          uint32_t target,
                          uint32_t iterable,
                          struct variable *outer)
{
    uint32_t place = 0;

    if (at(writer, target)->kind == KIND_IDENTIFIER) {
        if (writer->variable_count < VARIABLES_LIMIT) {
            outer->name = name_of(writer, target);
            outer->iterable = iterable;
            writer->variables[writer->variable_count++] = *outer;
        }
        return;
    }
    if (outer->part_count == NESTED_LIMIT) {
        return;
    }
    outer->part_count++;
    for (uint32_t i = syntax_child(writer->syntax, target); i != 0;
         i = syntax_sibling(writer->syntax, target, i)) {
        bool is_star = at(writer, i)->kind == KIND_LIST_SPLAT_PATTERN ||
                       at(writer, i)->kind == KIND_LIST_SPLAT;

        place = is_star || place == UINT32_MAX ? UINT32_MAX : place;
        outer->parts[outer->part_count - 1] = place;
        add_variables(writer, is_star ? i + 1 : i, iterable, outer);
        place += place != UINT32_MAX;
    }
    outer->part_count--;
}

/* Adds the loops of a comprehension. Returns whether each item is made from the item at the same
 * place: there is one loop, without a condition. */
static bool add_clauses(struct writer *writer, uint32_t comprehension)
{
    uint32_t clause_count = 0;

    for (uint32_t clause = syntax_child(writer->syntax, comprehension); clause != 0;
         clause = syntax_sibling(writer->syntax, comprehension, clause)) {
        clause_count++;
    }
    writer->list++;
    for (uint32_t clause = syntax_child(writer->syntax, comprehension); clause != 0;
         clause = syntax_sibling(writer->syntax, comprehension, clause)) {
        uint32_t left = clause + 1;
        uint32_t right;
        struct variable outer = {.part_count = 0,
                                 .list = clause_count == 2 ? writer->list : 0};

        if (at(writer, clause)->kind != KIND_FOR_IN_CLAUSE) {
            continue;
        }
        right = syntax_sibling(writer->syntax, clause, left);
        if (right != 0) {
            add_variables(writer, left, right, &outer);
        }
    }
    return clause_count == 2;
}

static void write_comprehension(struct writer *writer, uint32_t node)
{
    uint32_t count = writer->variable_count;
    uint32_t body = node + 1;
    bool is_in_order = add_clauses(writer, node);

    if (at(writer, body)->kind == KIND_PAIR) {
        uint32_t value = syntax_sibling(writer->syntax, body, body + 1);

        terms_add_text(writer->terms, "d?");
        if (value != 0) {
            write_term(writer, value);
        } else {
            write_byte(writer, 'k');
        }
        write_byte(writer, '.');
    } else {
        write_byte(writer, is_in_order ? 'g' : 'h');
        write_term(writer, body);
    }
    writer->list--;
    writer->variable_count = count;
}

/* ---- calls ---- */

/* The function that a call calls. */
struct callee {
    struct slice name;
    uint32_t object;  /* of a method: the node of its object; 0: none */
    uint32_t value;   /* the node of a computed or bound function; 0: none */
    bool is_builtin;  /* a builtin of Python */
    bool is_operator; /* of torch, NumPy, math */
};

/* Whether the full name of the callee, by the import of its root, is that of an operator:
 * `torch.nn.functional.relu`. */
static bool is_operator(const struct writer *writer, uint32_t node, uint32_t root)
{
    struct slice import =
        writer->source->foreign->imports[name_of(writer, root).number];
    struct slice text = text_of(writer, node);
    char full[100];
    size_t end;

    text = slice_part(text, text_of(writer, root).size, text.size);
    if (import.size == 0 || import.size + text.size >= sizeof full) {
        return false;
    }
    memcpy(full, import.bytes, import.size);
    memcpy(full + import.size, text.bytes, text.size);
    end = import.size + text.size;
    while (end > 0 && full[end - 1] != '.') {
        end--;
    }
    return end > 0 && is_operator_module((struct slice){full, end - 1});
}

static void
find_callee(const struct writer *writer, uint32_t node, struct callee *callee)
{
    uint32_t root = reads_root(writer->syntax, node);

    *callee = (struct callee){.name = {"", 0}};
    if (root != 0 && (!name_is_known(name_of(writer, root)) ||
                      find_variable(writer, root) != NULL)) {
        root = 0;
    }
    callee->is_operator = root != 0 && is_operator(writer, node, root);
    if (at(writer, node)->kind == KIND_IDENTIFIER) {
        callee->name = text_of(writer, node);
        callee->is_builtin =
            root != 0 && scope_is_builtin(writer->source->scope, name_of(writer, root));
        callee->value = callee->is_operator || callee->is_builtin ? 0 : node;
    } else if (at(writer, node)->kind == KIND_ATTRIBUTE) {
        callee->name = text_of(writer, syntax_last(writer->syntax, node));
        callee->object = callee->is_operator ? 0 : node + 1;
    } else {
        callee->value = node;
    }
}

/* Writes one argument of a call or item of a list, with its mark. */
static void write_argument(struct writer *writer, uint32_t node, bool is_form)
{
    uint32_t value = node;

    switch (at(writer, node)->kind) {
    case KIND_KEYWORD_ARGUMENT:
        write_byte(writer, '=');
        write_key(writer, text_of(writer, node + 1));
        value = syntax_last(writer->syntax, node);
        is_form = is_form || is_form_keyword(text_of(writer, node + 1));
        break;
    case KIND_LIST_SPLAT:
    case KIND_PARENTHESIZED_LIST_SPLAT:
        write_byte(writer, 'x');
        write_other(writer, node);
        return;
    case KIND_DICTIONARY_SPLAT:
        write_byte(writer, 'y');
        write_other(writer, node);
        return;
    default:
        break;
    }
    if (is_form) {
        write_byte(writer, 'f');
    }
    write_term(writer, value);
}

/* Writes the arguments of an operator. The names of keywords are left out, and starred arguments
 * are written as a whole. */
static void
write_operands(struct writer *writer, uint32_t arguments, bool is_first_form)
{
    if (at(writer, arguments)->kind == KIND_GENERATOR_EXPRESSION) {
        write_term(writer, arguments);
        return;
    }
    for (uint32_t i = syntax_child(writer->syntax, arguments); i != 0;
         i = syntax_sibling(writer->syntax, arguments, i)) {
        enum kind kind = (enum kind)at(writer, i)->kind;
        bool is_keyword = kind == KIND_KEYWORD_ARGUMENT;

        if (is_first_form || (is_keyword && is_form_keyword(text_of(writer, i + 1)))) {
            write_byte(writer, 'f');
        }
        is_first_form = false;
        if (is_keyword) {
            write_term(writer, syntax_last(writer->syntax, i));
        } else {
            write_term(writer, i);
        }
    }
}

static uint32_t
argument_at(const struct writer *writer, uint32_t arguments, uint32_t place)
{
    uint32_t node = syntax_child(writer->syntax, arguments);

    if (at(writer, arguments)->kind != KIND_ARGUMENT_LIST) {
        return place == 0 ? arguments : 0;
    }
    while (node != 0 && place-- > 0) {
        node = syntax_sibling(writer->syntax, arguments, node);
    }
    return node;
}

/* Writes `zip(a, b)` or `enumerate(a)`: a list whose items combine the items of the arguments. */
static void
write_together(struct writer *writer, uint32_t arguments, const char *before)
{
    writer->list++;
    terms_add_text(writer->terms, "gl");
    terms_add_text(writer->terms, before);
    for (uint32_t i = 0, node; (node = argument_at(writer, arguments, i)) != 0; i++) {
        if (at(writer, node)->kind == KIND_KEYWORD_ARGUMENT) {
            continue;
        }
        if (at(writer, node)->kind == KIND_LIST_SPLAT) {
            terms_add_text(writer->terms, "xe");
            write_other(writer, node);
        } else {
            terms_add_text(writer->terms, "w0");
            write_term(writer, node);
        }
    }
    writer->list--;
    write_byte(writer, '.');
}

static void write_operator_call(struct writer *writer, uint32_t arguments, bool is_form)
{
    write_byte(writer, 'u');
    write_operands(writer, arguments, is_form);
    write_byte(writer, '.');
}

/* Writes a call of a known builtin, whose result comes from its arguments. Returns false if it
 * is another function. */
static bool write_builtin(struct writer *writer, struct slice name, uint32_t arguments)
{
    static const char *const copies[] = {"list", "tuple"};
    static const char *const orders[] = {"reversed", "sorted", "set", "frozenset"};
    static const char *const makers[] = {
        "abs",   "all",    "any",      "bool",       "complex",    "float",   "int",
        "len",   "max",    "min",      "pow",        "isinstance", "range",   "repr",
        "round", "str",    "sum",      "type",       "hasattr",    "getattr", "id",
        "bytes", "format", "callable", "issubclass", "print",
    };
    uint32_t first = argument_at(writer, arguments, 0);
    struct slice text;

    if (first == 0) {
        return false;
    }
    if (slice_equal(name, SLICE("zip"))) {
        write_together(writer, arguments, "");
    } else if (slice_equal(name, SLICE("enumerate"))) {
        write_together(writer, arguments, "k");
    } else if (IS_ONE_OF(name, copies) || slice_equal(name, SLICE("iter"))) {
        write_term(writer, first);
    } else if (IS_ONE_OF(name, orders)) {
        terms_add_text(writer->terms, "he");
        write_term(writer, first);
    } else if (slice_equal(name, SLICE("next"))) {
        write_byte(writer, 'e');
        write_term(writer, first);
    } else if (slice_equal(name, SLICE("getattr")) &&
               argument_at(writer, arguments, 1) != 0 &&
               read_plain_text(writer, argument_at(writer, arguments, 1), &text)) {
        write_byte(writer, is_form_attribute(text) ? 'f' : 'a');
        if (!is_form_attribute(text)) {
            write_key(writer, text);
        }
        write_term(writer, first);
    } else if (IS_ONE_OF(name, makers)) {
        write_operator_call(writer, arguments, is_form_function(name));
    } else {
        return false;
    }
    return true;
}

/* Writes `x.size(0)` or `x.new_full(shape, y)`: the object's form, and all arguments. */
static void
write_form_call(struct writer *writer, const struct callee *callee, uint32_t arguments)
{
    terms_add_text(writer->terms, "uf");
    write_term(writer, callee->object);
    write_operands(writer, arguments, false);
    write_byte(writer, '.');
}

/* Writes an argument of a container's method. Constants are written too, because they are keys
 * and places. */
static void write_place(struct writer *writer, uint32_t node)
{
    struct slice text;

    if (at(writer, node)->kind == KIND_INTEGER && is_number(text_of(writer, node))) {
        write_letter_and_text(writer, 'z', text_of(writer, node));
    } else if (read_from_end(writer, node).size > 0) {
        write_letter_and_text(writer, 'v', read_from_end(writer, node));
    } else if (read_plain_text(writer, node, &text)) {
        write_byte(writer, 'q');
        write_key(writer, text);
    } else {
        write_argument(writer, node, false);
    }
}

static bool needs_place(const struct callee *callee)
{
    static const char *const words[] = {"pop", "get", "setdefault", "insert"};

    return callee->object != 0 && IS_ONE_OF(callee->name, words);
}

static bool is_super(const struct writer *writer, uint32_t node)
{
    return slice_starts(text_of(writer, node), SLICE("super("));
}

/* Writes a call of a function that may be recorded: its name, its object and its arguments. */
static void
write_open_call(struct writer *writer, const struct callee *callee, uint32_t arguments)
{
    bool is_form = callee->object != 0 && is_form_method(callee->name);
    uint32_t on = callee->object != 0 ? callee->object : callee->value;

    write_byte(writer, callee->object != 0 ? 'm' : 'c');
    write_key(writer, callee->name);
    if (on == 0 || is_super(writer, on)) {
        write_byte(writer, 'k');
    } else {
        write_term(writer, on);
    }
    if (at(writer, arguments)->kind == KIND_GENERATOR_EXPRESSION) {
        write_term(writer, arguments);
    } else {
        bool is_place = needs_place(callee);

        for (uint32_t i = syntax_child(writer->syntax, arguments); i != 0;
             i = syntax_sibling(writer->syntax, arguments, i)) {
            if (is_place) {
                write_place(writer, i);
            } else {
                write_argument(writer, i, is_form);
            }
            is_place = false;
            is_form = false;
        }
    }
    write_byte(writer, '.');
}

static void write_call(struct writer *writer, uint32_t node)
{
    uint32_t function = node + 1;
    uint32_t arguments = syntax_sibling(writer->syntax, node, function);
    struct callee callee;

    if (arguments == 0) {
        write_term(writer, function);
        return;
    }
    find_callee(writer, function, &callee);
    if (callee.object != 0 && is_form_attribute(callee.name)) {
        write_form_call(writer, &callee, arguments);
    } else if (callee.is_operator) {
        write_operator_call(writer, arguments, is_form_function(callee.name));
    } else if (!callee.is_builtin || !write_builtin(writer, callee.name, arguments)) {
        write_open_call(writer, &callee, arguments);
    }
}

/* ---- any expression ---- */

static void write_compound(struct writer *writer, uint32_t node)
{
    switch (at(writer, node)->kind) {
    case KIND_BOOLEAN_OPERATOR:
        terms_add_text(writer->terms, "ok");
        write_children(writer, node);
        write_byte(writer, '.');
        break;
    case KIND_CONDITIONAL_EXPRESSION:
        write_choice(writer, node);
        break;
    case KIND_COMPARISON_OPERATOR:
        write_comparison(writer, node);
        break;
    case KIND_BINARY_OPERATOR:
        write_all(writer, 'p', node);
        break;
    case KIND_TUPLE:
    case KIND_LIST:
    case KIND_SET:
    case KIND_EXPRESSION_LIST:
    case KIND_PATTERN_LIST:
        write_all(writer, 'l', node);
        break;
    case KIND_LIST_SPLAT:
    case KIND_PARENTHESIZED_LIST_SPLAT:
        write_byte(writer, 'x');
        write_other(writer, node);
        break;
    case KIND_DICTIONARY:
        write_dictionary(writer, node);
        break;
    case KIND_LIST_COMPREHENSION:
    case KIND_SET_COMPREHENSION:
    case KIND_DICTIONARY_COMPREHENSION:
    case KIND_GENERATOR_EXPRESSION:
        write_comprehension(writer, node);
        break;
    default:
        write_other(writer, node);
    }
}

static void write_term(struct writer *writer, uint32_t node)
{
    if (writer->depth == TERMS_DEPTH_LIMIT || writer->terms->is_left_out) {
        writer->terms->is_left_out = true;
        return;
    }
    writer->depth++;
    switch (at(writer, node)->kind) {
    case KIND_IDENTIFIER:
        write_identifier(writer, node);
        break;
    case KIND_ATTRIBUTE:
        write_attribute(writer, node);
        break;
    case KIND_SUBSCRIPT:
        write_subscript(writer, node);
        break;
    case KIND_CALL:
        write_call(writer, node);
        break;
    case KIND_AS_PATTERN:
        write_term(writer, node + 1);
        break;
    case KIND_NAMED_EXPRESSION:
        write_term(writer, syntax_last(writer->syntax, node));
        break;
    case KIND_LAMBDA:
    case KIND_YIELD:
        write_byte(writer, 'k');
        break;
    default:
        write_compound(writer, node);
    }
    writer->depth--;
}

void terms_add(struct terms *terms, const struct terms_source *source, uint32_t node)
{
    struct writer writer = {
        .terms = terms, .source = source, .syntax = source->scope->syntax};

    write_term(&writer, node);
}
