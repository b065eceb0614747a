/* A source with its annotation as comments. */
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/view/list/annotation.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/text_width.h"

#include <stdlib.h>

/* ---- text for the shapes and dtypes of a value ---- */

#define DIGITS 4 /* of numbers of the program */

static void add_range(struct buffer *text, int64_t low, int64_t high)
{
    integer_add(text, low);
    if (high != low) {
        buffer_add(text, SLICE(".."));
        integer_add(text, high);
    }
}

static void add_shape(struct buffer *text, const struct seen_form *form)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < form->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        add_range(text, form->low[i], form->high[i]);
    }
    buffer_add_byte(text, ']');
}

static void add_float(struct buffer *text, const struct seen_form *form)
{
    buffer_add(text, SLICE("float"));
    if (form->has_range) {
        buffer_add_byte(text, ' ');
        real_add_short(text, form->least, DIGITS);
    }
    if (form->has_range && form->least < form->most) {
        buffer_add(text, SLICE(".."));
        real_add_short(text, form->most, DIGITS);
    }
}

static void add_form(struct buffer *text, const struct seen_form *form)
{
    switch (form->kind) {
    case VALUE_TENSOR:
        buffer_add_printable(text, form->type);
        buffer_add_byte(text, ' ');
        add_shape(text, form);
        break;
    case VALUE_INT:
        buffer_add(text, SLICE("int "));
        add_range(text, form->low[0], form->high[0]);
        break;
    case VALUE_BOOL:
        buffer_add(text, form->low[0] != form->high[0] ? SLICE("bool")
                         : form->low[0] != 0           ? SLICE("True")
                                                       : SLICE("False"));
        break;
    case VALUE_FLOAT:
        add_float(text, form);
        break;
    case VALUE_CONTAINER:
        buffer_add_printable(text, slice_last_part(form->type, '.'));
        buffer_add(text, SLICE(" of "));
        add_range(text, form->low[0], form->high[0]);
        break;
    case VALUE_OBJECT:
        buffer_add_byte(text, '<');
        buffer_add_printable(text, slice_last_part(form->type, '.'));
        buffer_add_byte(text, '>');
        break;
    case VALUE_BIG_INT:
        buffer_add(text, SLICE("int"));
        break;
    case VALUE_MISSING:
        buffer_add(text, SLICE("not found"));
        break;
    default:
        buffer_add(text, slice_of(value_kind_text(form->kind)));
    }
}

static void add_times(struct buffer *text, uint64_t count)
{
    if (count > 1) {
        buffer_add(text, SLICE(" x"));
        buffer_add_number(text, count);
    }
}

static void add_nonfinite(struct buffer *text, const struct seen_value *value)
{
    uint64_t most = value->nan_count > value->infinite_count ? value->nan_count
                                                             : value->infinite_count;

    if (most == 0) {
        return;
    }
    buffer_add(text, SLICE(" !! "));
    buffer_add(text, value->infinite_count == 0 ? SLICE("NaN")
                     : value->nan_count == 0    ? SLICE("Inf")
                                                : SLICE("NaN, Inf"));
    if (most < value->count) {
        buffer_add(text, SLICE(" in "));
        buffer_add_number(text, most);
    }
}

/* Appends the forms, such as `float32 [4, 8] x12, [2, 8]`. A dtype equal to that of the form
 * before is not repeated. */
static void add_forms(struct buffer *text, const struct seen_value *value)
{
    for (uint32_t i = 0; i < value->form_count; i++) {
        const struct seen_form *form = &value->forms[i];
        bool is_same = i > 0 && form->kind == VALUE_TENSOR &&
                       form[-1].kind == VALUE_TENSOR &&
                       slice_equal(form->type, form[-1].type);

        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        if (is_same) {
            add_shape(text, form);
        } else {
            add_form(text, form);
        }
        add_times(text, form->count);
    }
    if (value->other_count > 0) {
        buffer_add(text, SLICE(", other shapes"));
        add_times(text, value->other_count);
    }
    add_nonfinite(text, value);
}

/* Appends the description of a value without its name, such as `float32 [4, 8] x12, [2, 8]`. */
static void seen_value_add_words(const struct seen_value *value, struct buffer *text)
{
    if (value->form_count > 0) {
        add_forms(text, value);
    } else if (value->kind == SITE_BRANCH) {
        buffer_add(text, SLICE("taken"));
        add_times(text, value->count);
    } else if (value->kind == SITE_ENTER) {
        buffer_add(text, SLICE("called"));
        add_times(text, value->count);
    } else if (value->kind == SITE_LOOP) {
        buffer_add_number(text, value->count);
        buffer_add(text, value->count == 1 ? SLICE(" turn") : SLICE(" turns"));
    } else {
        buffer_add_byte(text, 'x');
        buffer_add_number(text, value->count);
    }
}

/* The number of a line's values that are listed. Further ones are counted. */
#define VALUES_MAX 8
/* Comments of neighbouring lines are aligned in one column, for lines up to this width. */
#define ALIGNED_WIDTH 72
#define TAB_WIDTH     8

/* The state while a file is written. */
struct annotated {
    const struct annotation *annotation;
    const struct seen_file *file;
    const struct source_places *places;
    const struct seen_value **values; /* owned: values of this file, sorted by line */
    size_t value_count;
    struct buffer comments; /* owned: comments of all lines, concatenated */
    size_t *ends;           /* owned: by line, the end of its comment */
    struct buffer words,
        before; /* owned: description of a value, and of the value before it */
};

/* ---- the comment of a line ---- */

static void add_name(struct buffer *text, const struct seen_value *value)
{
    if (value->name.size > 0) {
        buffer_add_printable(text, value->name);
    } else if (value->form_count > 0) {
        buffer_add(text, slice_of(site_kind_text(value->kind)));
    }
    buffer_add_printable(text, value->path);
}

static bool has_name(const struct seen_value *value)
{
    return value->name.size > 0 || value->form_count > 0;
}

/* Appends the values of a line, such as `a, b: float32 [4, 8]; c: int 3`. Names with the same
 * description are joined. */
static void add_values(struct annotated *annotated,
                       const struct seen_value *const *values,
                       size_t count,
                       size_t start)
{
    struct buffer *text = &annotated->comments;
    bool is_named = false;

    annotated->before.size = 0;
    for (size_t i = 0; i < count && i < VALUES_MAX; i++) {
        bool is_same;

        annotated->words.size = 0;
        seen_value_add_words(values[i], &annotated->words);
        is_same = i > 0 && is_named && has_name(values[i]) &&
                  slice_equal(buffer_slice(&annotated->words),
                              buffer_slice(&annotated->before));
        if (is_same) {
            buffer_add(text, SLICE(", "));
        } else {
            if (is_named) {
                buffer_add(text, SLICE(": "));
            }
            buffer_add(text, buffer_slice(&annotated->before));
            buffer_add(text, text->size > start ? SLICE("; ") : SLICE(""));
        }
        is_named = has_name(values[i]);
        add_name(text, values[i]);
        annotated->before.size = 0;
        buffer_add(&annotated->before, buffer_slice(&annotated->words));
    }
    buffer_add(text, is_named ? SLICE(": ") : SLICE(""));
    buffer_add(text, buffer_slice(&annotated->before));
    if (count > VALUES_MAX) {
        buffer_add(text, SLICE("; and "));
        buffer_add_number(text, count - VALUES_MAX);
        buffer_add(text, SLICE(" more"));
    }
}

static struct slice find_mark(const struct annotated *annotated, size_t line)
{
    const struct seen_file *file = annotated->file;
    uint8_t marks = line < file->line_count ? file->lines[line] : 0;

    if ((marks & LINE_REACHED) != 0 || annotated->annotation->has_ring) {
        return SLICE("");
    }
    if ((marks & LINE_HAS_ENTER) != 0) {
        return SLICE("never called");
    }
    if ((marks & LINE_HAS_BRANCH) != 0) {
        return SLICE("never taken");
    }
    if ((marks & LINE_HAS_OTHER) != 0) {
        return (marks & LINE_IN_LEFT) != 0 ? SLICE("never finished")
                                           : SLICE("never reached");
    }
    return SLICE("");
}

/* Replaces non-ASCII characters by `?`, since the source's encoding may not have them. */
static void make_ascii(struct buffer *text, size_t start)
{
    size_t kept = start;

    for (size_t i = start; i < text->size && !text->has_failed; i++) {
        unsigned char byte = (unsigned char)text->bytes[i];

        if (byte < 0x80) {
            text->bytes[kept++] = (char)byte;
        } else if (byte >= 0xC0) {
            text->bytes[kept++] = '?';
        }
    }
    text->size = text->has_failed ? text->size : kept;
}

/* Makes the comments of all lines. If a line cannot have a comment, its text is added to the
 * comment of the next line that can. */
static void make_comments(struct annotated *annotated)
{
    const struct source_places *places = annotated->places;
    struct buffer *text = &annotated->comments;
    size_t next = 0;
    size_t start = 0;

    for (size_t line = 1; line <= places->line_count; line++) {
        size_t first = next;
        struct slice mark = find_mark(annotated, line);

        while (next < annotated->value_count && annotated->values[next]->line == line) {
            next++;
        }
        if ((next > first || mark.size > 0) && text->size > start) {
            buffer_add(text, SLICE("; "));
        }
        if (next > first) {
            add_values(annotated, annotated->values + first, next - first, text->size);
        } else {
            buffer_add(text, mark);
        }
        if (places->is_open[line - 1]) {
            annotated->ends[line - 1] = start;
            continue;
        }
        if (places->is_ascii) {
            make_ascii(text, start);
        }
        annotated->ends[line - 1] = text->size;
        start = text->size;
    }
}

static struct slice comment_of(const struct annotated *annotated, size_t index)
{
    size_t start = index == 0 ? 0 : annotated->ends[index - 1];

    return slice_part(buffer_slice(&annotated->comments), start,
                      annotated->ends[index]);
}

/* ---- lines ---- */

static struct slice line_of(const struct source_places *places, size_t index)
{
    size_t start = places->starts[index];
    size_t end = places->starts[index + 1];

    while (end > start && (places->text.bytes[end - 1] == '\n' ||
                           places->text.bytes[end - 1] == '\r')) {
        end--;
    }
    return slice_part(places->text, start, end);
}

static bool is_blank(struct slice line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t' && line.bytes[i] != '\f') {
            return false;
        }
    }
    return true;
}

/* The width of the line in columns of a terminal. */
static size_t width_of(struct slice line)
{
    size_t width = 0;
    uint32_t code;

    for (size_t i = 0; i < line.size;) {
        size_t size = utf8_read(line, i, &code);

        if (size == 0) {
            size = 1;
            width++;
        } else if (code == '\t') {
            width += TAB_WIDTH - width % TAB_WIDTH;
        } else if (code == '\f') {
            width = 0;
        } else {
            uint32_t advance = code < 0x300 ? 1 : text_advance(PICTURE_MONO, code);

            width += advance == 0 ? 0 : advance >= 1000 ? 2 : 1;
        }
        i += size;
    }
    return width;
}

/* The column for the comments of the lines from `first` up to the next blank line, whose index
 * is stored in `behind`. */
static size_t
find_column(const struct annotated *annotated, size_t first, size_t *behind)
{
    size_t column = 0;
    size_t i = first;

    for (; i < annotated->places->line_count; i++) {
        struct slice line = line_of(annotated->places, i);
        size_t width;

        if (is_blank(line)) {
            break;
        }
        width = comment_of(annotated, i).size == 0 ? 0 : width_of(line);
        column = width > column && width <= ALIGNED_WIDTH ? width : column;
    }
    *behind = i;
    return column;
}

static void add_line(const struct annotated *annotated,
                     size_t index,
                     size_t column,
                     struct buffer *text)
{
    const struct source_places *places = annotated->places;
    struct slice line = line_of(places, index);
    struct slice comment = comment_of(annotated, index);

    buffer_add(text, line);
    if (comment.size > 0) {
        for (size_t width = width_of(line); width < column; width++) {
            buffer_add_byte(text, ' ');
        }
        buffer_add(text, SLICE("  # "));
        buffer_add(text, comment);
    }
    buffer_add(text, slice_part(places->text, places->starts[index] + line.size,
                                places->starts[index + 1]));
}

static void add_lines(const struct annotated *annotated, struct buffer *text)
{
    size_t column = 0;
    size_t behind = 0;

    for (size_t i = 0; i < annotated->places->line_count; i++) {
        if (i >= behind) {
            column = find_column(annotated, i, &behind);
            behind = behind == i ? i + 1 : behind;
        }
        add_line(annotated, i, column, text);
    }
}

/* ---- a file ---- */

static int compare_values(const void *left, const void *right)
{
    const struct seen_value *a = *(const struct seen_value *const *)left;
    const struct seen_value *b = *(const struct seen_value *const *)right;

    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool collect_values(struct annotated *annotated, uint32_t file)
{
    const struct annotation *annotation = annotated->annotation;

    annotated->values =
        memory_allocate(annotation->value_count + 1, sizeof *annotated->values);
    if (annotated->values == NULL) {
        return false;
    }
    for (size_t i = 0; i < annotation->value_count; i++) {
        const struct seen_value *value = annotation->values[i];

        /* Values without a known line have line 0. */
        if (value->file == file && value->line > 0) {
            annotated->values[annotated->value_count++] = value;
        }
    }
    qsort(annotated->values, annotated->value_count, sizeof *annotated->values,
          compare_values);
    return true;
}

bool annotation_write(const struct annotation *annotation,
                      size_t file,
                      const struct source_places *places,
                      struct buffer *text,
                      struct error *error)
{
    struct annotated annotated = {
        .annotation = annotation,
        .file = &annotation->files[file],
        .places = places,
        .comments = BUFFER_INIT,
        .words = BUFFER_INIT,
        .before = BUFFER_INIT,
        .ends = memory_allocate(places->line_count + 1, sizeof *annotated.ends),
    };
    bool is_done = annotated.ends != NULL && collect_values(&annotated, (uint32_t)file);

    if (is_done) {
        make_comments(&annotated);
        is_done = !annotated.comments.has_failed && !annotated.words.has_failed &&
                  !annotated.before.has_failed;
    }
    if (is_done) {
        add_lines(&annotated, text);
        is_done = !text->has_failed;
    }
    if (!is_done) {
        error_set_memory(error);
    }
    memory_free(annotated.values);
    memory_free(annotated.ends);
    buffer_release(&annotated.comments);
    buffer_release(&annotated.words);
    buffer_release(&annotated.before);
    return is_done;
}
