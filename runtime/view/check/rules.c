/* The rules of a check: dtypes, and shapes in the syntax of the command line. */
#include "runtime/view/check/check.h"

#include "runtime/view/words/number_text.h"

#include <ctype.h>

void check_rules_init(struct check_rules *rules)
{
    *rules = (struct check_rules){0};
    arena_init(&rules->arena);
    event_filter_init(&rules->filter);
}

void check_rules_release(struct check_rules *rules)
{
    arena_release(&rules->arena);
    event_filter_release(&rules->filter);
}

static int shown_size(struct slice text)
{
    return (int)(text.size < 80 ? text.size : 80);
}

bool check_rules_add_dtype(struct check_rules *rules,
                           struct slice text,
                           struct error *error)
{
    enum dtype dtype = dtype_find(text);

    if (dtype == DTYPE_OTHER || rules->dtype_count == DTYPE_COUNT) {
        error_set(error, ERROR_USAGE,
                  "--dtype %.*s: expected a dtype such as float32 or bfloat16",
                  shown_size(text), text.bytes);
        return false;
    }
    rules->dtypes[rules->dtype_count++] = dtype;
    rules->is_wanted[CHECK_DTYPE] = true;
    return true;
}

/* ---- shapes ---- */

static bool read_size(struct slice text, int64_t *size)
{
    *size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9' || *size > INT64_MAX / 10 - 1) {
            return false;
        }
        *size = *size * 10 + (text.bytes[i] - '0');
    }
    return text.size > 0;
}

static bool is_word(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];

        if (!isalpha(byte) && byte != '_' && (i == 0 || !isdigit(byte))) {
            return false;
        }
    }
    return text.size > 0;
}

static bool find_letter(struct check_rules *rules, struct slice text, uint32_t *letter)
{
    for (*letter = 0; *letter < rules->letter_count; ++*letter) {
        if (slice_equal(rules->letters[*letter], text)) {
            return true;
        }
    }
    if (rules->letter_count == CHECK_LETTERS_MAX) {
        return false;
    }
    rules->letters[rules->letter_count++] = text;
    return true;
}

static bool read_dimension(struct check_rules *rules,
                           struct slice text,
                           struct check_dimension *dimension)
{
    *dimension = (struct check_dimension){.kind = CHECK_DIMENSION_SIZE};
    if (read_size(text, &dimension->size)) {
        return true;
    }
    if (slice_equal(text, SLICE("_")) || slice_equal(text, SLICE("?"))) {
        dimension->kind = CHECK_DIMENSION_ANY;
        return true;
    }
    if (slice_equal(text, SLICE("..."))) {
        dimension->kind = CHECK_DIMENSION_REST;
        return true;
    }
    dimension->kind = CHECK_DIMENSION_LETTER;
    return is_word(text) && find_letter(rules, text, &dimension->letter);
}

static bool read_dimensions(struct check_rules *rules, struct check_shape *shape)
{
    struct check_dimension dimensions[CHECK_DIMENSIONS_MAX];
    struct slice text = slice_trim(shape->text);
    size_t start = 0;
    uint32_t rests = 0;

    if (text.size > 1 && text.bytes[0] == '[' && text.bytes[text.size - 1] == ']') {
        text = slice_part(text, 1, text.size - 1);
    }
    while (slice_trim(text).size > 0 && start <= text.size) {
        size_t end = slice_find(text, SLICE(","), start);

        if (shape->dimension_count == CHECK_DIMENSIONS_MAX ||
            !read_dimension(rules, slice_trim(slice_part(text, start, end)),
                            &dimensions[shape->dimension_count])) {
            return false;
        }
        rests += dimensions[shape->dimension_count].kind == CHECK_DIMENSION_REST;
        shape->dimension_count++;
        start = end + 1;
    }
    shape->dimensions = arena_allocate(
        &rules->arena, (size_t)shape->dimension_count + 1, sizeof *shape->dimensions);
    if (shape->dimensions != NULL) {
        memcpy(shape->dimensions, dimensions,
               shape->dimension_count * sizeof *dimensions);
    }
    return rests <= 1;
}

bool check_rules_add_shape(struct check_rules *rules,
                           struct slice text,
                           struct error *error)
{
    size_t equals = slice_find(text, SLICE("="), 0);
    struct check_shape shape = {.name = slice_part(text, 0, equals)};
    struct check_shape *shapes;

    shape.text =
        equals < text.size ? slice_part(text, equals + 1, text.size) : SLICE("");
    if (equals == text.size || shape.name.size == 0 ||
        !read_dimensions(rules, &shape)) {
        error_set(error, ERROR_USAGE,
                  "--shape %.*s: expected NAME=SIZES, such as x=2,_,64: numbers, `_` "
                  "for any size, one `...` for any number of sizes, or a word for a "
                  "size that is the same everywhere; NAME= for no dimension",
                  shown_size(text), text.bytes);
        return false;
    }
    shapes =
        arena_allocate(&rules->arena, (size_t)rules->shape_count + 1, sizeof *shapes);
    if (shapes == NULL || shape.dimensions == NULL) {
        return error_set_memory(error);
    }
    if (rules->shape_count > 0) {
        memcpy(shapes, rules->shapes, rules->shape_count * sizeof *shapes);
    }
    shapes[rules->shape_count++] = shape;
    rules->shapes = shapes;
    rules->is_wanted[CHECK_SHAPE] = true;
    return true;
}

/* ---- comparison of a shape with a rule ---- */

/* Whether the size matches a dimension of the rule. A letter without a value gets this size. */
static bool dimension_fits(struct check *check,
                           const struct check_dimension *dimension,
                           int64_t size,
                           const struct log_event_view *event,
                           const struct check_dimension **wrong)
{
    struct check_letter *letter;

    if (dimension->kind == CHECK_DIMENSION_SIZE && dimension->size != size) {
        *wrong = dimension;
        return false;
    }
    if (dimension->kind != CHECK_DIMENSION_LETTER) {
        return true;
    }
    letter = &check->letters[dimension->letter];
    if (!letter->is_bound) {
        *letter = (struct check_letter){true, size, event->site->line,
                                        arena_copy(&check->arena, event->name)};
        return true;
    }
    *wrong = dimension;
    return letter->size == size;
}

static bool fits(struct check *check,
                 const struct check_shape *rule,
                 const struct log_event_view *event,
                 const struct check_dimension **wrong)
{
    const struct log_shape *shape = event->shape;
    uint32_t rest = rule->dimension_count;
    uint32_t behind;

    for (uint32_t i = 0; i < rule->dimension_count; i++) {
        rest = rule->dimensions[i].kind == CHECK_DIMENSION_REST ? i : rest;
    }
    behind = rest < rule->dimension_count ? rule->dimension_count - rest - 1 : 0;
    if (rest == rule->dimension_count ? shape->dimension_count != rest
                                      : shape->dimension_count < rest + behind) {
        return false;
    }
    for (uint32_t i = 0; i < rest; i++) {
        if (!dimension_fits(check, &rule->dimensions[i], shape->shape[i], event,
                            wrong)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < behind; i++) {
        if (!dimension_fits(check, &rule->dimensions[rule->dimension_count - 1 - i],
                            shape->shape[shape->dimension_count - 1 - i], event,
                            wrong)) {
            return false;
        }
    }
    return true;
}

bool check_shape_fits(struct check *check,
                      const struct check_shape *rule,
                      const struct log_event_view *event,
                      struct buffer *words)
{
    const struct check_dimension *wrong = NULL;

    if (fits(check, rule, event, &wrong)) {
        return true;
    }
    buffer_add(words, SLICE("has shape "));
    dimensions_add(words, event->shape->shape, event->shape->dimension_count);
    buffer_add(words, SLICE(", expected ["));
    buffer_add(words, rule->text);
    buffer_add_byte(words, ']');
    if (wrong != NULL && wrong->kind == CHECK_DIMENSION_LETTER) {
        const struct check_letter *letter = &check->letters[wrong->letter];

        buffer_add(words, SLICE(", where "));
        buffer_add(words, check->rules->letters[wrong->letter]);
        buffer_add_format(words, " is %lld, as of ", (long long)letter->size);
        buffer_add(words, letter->name);
        buffer_add_format(words, " at line %lu", (unsigned long)letter->line);
    }
    return false;
}
