/* Reads of a value's form: `x.dtype`, `x.shape[0]`, `zeros_like(x)`, `w.to(x)`. Elements of `x` do
 * not reach what such a statement makes, so neither does a NaN among them. */
#include "runtime/view/flow/build.h"

#include "runtime/base/buffer.h"
#include "runtime/site/statement_text.h"

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

/* Attributes and methods of a tensor or array that tell its form alone. */
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
        "is_meta",      "__class__",      "__len__",
    };

    return IS_ONE_OF(word, words);
}

/* Functions that read the form alone of their first argument. */
static bool is_form_function(struct slice word)
{
    static const char *const words[] = {
        "len",        "isinstance",  "type",      "id",         "zeros_like",
        "ones_like",  "empty_like",  "rand_like", "randn_like", "randint_like",
        "full_like",  "numel",       "is_tensor", "hasattr",    "is_floating_point",
        "is_complex", "result_type", "shape",     "ndim",       "size",
    };

    return IS_ONE_OF(word, words);
}

/* Methods that read the form alone of the tensor that they are given. */
static bool is_form_method(struct slice word)
{
    static const char *const words[] = {"to", "type_as", "expand_as", "view_as",
                                        "reshape_as"};

    return IS_ONE_OF(word, words);
}

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static size_t skip_blanks(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] == ' ') {
        at++;
    }
    return at;
}

/* Behind a bracket that opens at `at`; the text's size: it does not close. */
static size_t skip_bracket(struct slice text, size_t at)
{
    int depth = 0;

    for (; at < text.size; at++) {
        depth += memchr("([{", text.bytes[at], 3) != NULL;
        depth -= memchr(")]}", text.bytes[at], 3) != NULL;
        if (depth == 0) {
            return at + 1;
        }
    }
    return at;
}

static struct slice word_at(struct slice text, size_t at)
{
    size_t end = at;

    while (end < text.size && is_word(text.bytes[end])) {
        end++;
    }
    return slice_part(text, at, end);
}

/* Whether what stands behind a use of the value asks for its form: `.shape`, `[0].dtype`. */
static bool is_asked_behind(struct slice text, size_t end)
{
    end = skip_blanks(text, end);
    while (end < text.size && text.bytes[end] == '[') {
        end = skip_blanks(text, skip_bracket(text, end));
    }
    return end < text.size && text.bytes[end] == '.' &&
           is_form_attribute(word_at(text, end + 1));
}

/* Whether the use is all of an argument that is asked for its form: `zeros_like(x)`, `w.to(x)`. */
static bool is_asked_around(struct slice text, size_t start, size_t end)
{
    size_t open = start;
    size_t begin;
    struct slice word;

    end = skip_blanks(text, end);
    while (end < text.size && text.bytes[end] == '[') {
        end = skip_blanks(text, skip_bracket(text, end));
    }
    while (open > 0 && text.bytes[open - 1] == ' ') {
        open--;
    }
    if (end == text.size || (text.bytes[end] != ')' && text.bytes[end] != ',') ||
        open == 0 || text.bytes[open - 1] != '(') {
        return false;
    }
    begin = open - 1;
    while (begin > 0 && is_word(text.bytes[begin - 1])) {
        begin--;
    }
    word = slice_part(text, begin, open - 1);
    return is_form_function(word) ||
           (begin > 0 && text.bytes[begin - 1] == '.' && is_form_method(word));
}

bool flow_is_form(struct slice rest)
{
    return rest.size > 1 && rest.bytes[0] == '.' && is_form_attribute(word_at(rest, 1));
}

/* Whether each use of the name in the statement asks for the form. */
static bool are_all_forms(struct slice text, struct slice name)
{
    bool is_form = false;

    for (size_t at = statement_find_use(text, name, 0); at < text.size;
         at = statement_find_use(text, name, at + 1)) {
        is_form = is_asked_behind(text, at + name.size) ||
                  is_asked_around(text, at, at + name.size);
        if (!is_form) {
            return false;
        }
    }
    return is_form;
}

bool flow_form_read(struct flow_builder *builder,
                    const struct site *site,
                    uint32_t read,
                    bool *is_form)
{
    uint64_t key = number_map_key(builder->visit.site, read);
    uint32_t known = number_map_get(&builder->form_index, key);
    struct buffer text = BUFFER_INIT;
    bool has_failed;

    if (known == NUMBER_MAP_NONE) {
        flow_statement_add(builder, site, &text);
        known = are_all_forms(buffer_slice(&text), site->reads[read].name);
        has_failed = text.has_failed;
        buffer_release(&text);
        if (has_failed || !number_map_put(&builder->form_index, key, known)) {
            return flow_out_of_memory(builder);
        }
    }
    *is_form = known != 0;
    return true;
}
