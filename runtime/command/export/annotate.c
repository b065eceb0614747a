/* Annotated sources, written into a folder or to standard output. */
#include "runtime/command/export/job.h"

#include "instrument/text/encoding.h"
#include "instrument/text/lexer.h"
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/base/utf8.h"
#include "runtime/view/list/annotation.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct export_source {
    struct arena arena;
    struct decoded decoded;
    bool is_decoded; /* else the text is the source's bytes */
    struct source_places places;
};

/* ---- places in a Python source after which comments can be added ---- */

/* Returns the offset after the end of the line that contains `at`. */
static size_t line_end(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
        at++;
    }
    if (at + 1 < text.size && text.bytes[at] == '\r' && text.bytes[at + 1] == '\n') {
        return at + 2;
    }
    return at < text.size ? at + 1 : at;
}

static bool find_lines(struct export_source *source)
{
    struct source_places *places = &source->places;
    struct slice text = places->text;
    size_t count = 0;

    for (size_t at = 0; at < text.size; at = line_end(text, at)) {
        count++;
    }
    places->starts = arena_allocate(&source->arena, count + 1, sizeof *places->starts);
    places->is_open =
        arena_allocate(&source->arena, count + 1, sizeof *places->is_open);
    if (places->starts == NULL || places->is_open == NULL) {
        return false;
    }
    places->starts[count] = text.size;
    for (size_t at = 0; at < text.size; at = line_end(text, at)) {
        places->starts[places->line_count] = at;
        places->is_open[places->line_count++] = false;
    }
    return true;
}

/* Returns the offset after the token, or the blank, at `at`. */
static size_t token_end(struct slice text, size_t at)
{
    char byte = text.bytes[at];

    if (byte == '"' || byte == '\'') {
        return lexer_string_end(text, at, false, false);
    }
    if (lexer_is_word_byte(byte)) {
        return lexer_prefixed_string_end(text, at, lexer_word_end(text, at));
    }
    if (byte == '#') {
        while (at < text.size && text.bytes[at] != '\n' && text.bytes[at] != '\r') {
            at++;
        }
        return at;
    }
    if (byte == '\\') {
        return line_end(text, at + 1);
    }
    return at + 1;
}

/* Finds the open lines: their end is inside a token, a string, or a backslash and its line end. */
static void find_open(struct source_places *places)
{
    struct slice text = places->text;
    size_t line = 0;

    for (size_t at = 0; at < text.size;) {
        bool is_end = text.bytes[at] == '\n' || text.bytes[at] == '\r';
        size_t end = is_end ? line_end(text, at) : token_end(text, at);

        while (line < places->line_count && places->starts[line + 1] <= end) {
            places->is_open[line] = !is_end && places->starts[line + 1] > at &&
                                    places->starts[line + 1] < text.size;
            line++;
        }
        at = end;
    }
}

/* Reads the source, which must live as long as the result. Returns false if memory runs out. To
 * be released in any case. */
static bool export_source_read(struct export_source *source,
                               struct slice bytes,
                               struct error *error)
{
    struct error ignored = ERROR_INIT;

    *source = (struct export_source){0};
    arena_init(&source->arena);
    source->is_decoded =
        encoding_decode(bytes, "", &source->arena, &source->decoded, &ignored);
    source->places.text = source->is_decoded ? source->decoded.utf8 : bytes;
    source->places.is_ascii = !source->is_decoded || !source->decoded.is_utf8;
    if (ignored.kind == ERROR_MEMORY || !find_lines(source)) {
        return error_set_memory(error);
    }
    find_open(&source->places);
    return true;
}

static void export_source_release(struct export_source *source)
{
    arena_release(&source->arena);
}

/* Appends a text in the source's encoding. */
static bool export_source_encode(const struct export_source *source,
                                 struct slice text,
                                 struct buffer *bytes,
                                 struct error *error)
{
    if (source->is_decoded) {
        return encoding_encode(&source->decoded, text, bytes, error);
    }
    buffer_add(bytes, text);
    if (bytes->has_failed) {
        return error_set_memory(error);
    }
    return true;
}

/* Longer names of files and folders are cut. */
#define PART_LIMIT 120
/* Most files of one name in a folder. */
#define TWIN_LIMIT   1000
#define SOURCE_LIMIT ((size_t)1 << 30)

static bool is_written(const struct seen_file *file)
{
    return file->value_count > 0 && file->source.size > 0;
}

/* ---- names ---- */

static size_t part_end(struct slice path, size_t start)
{
    return slice_find(path, SLICE("/"), start);
}

static bool is_left_out(struct slice part)
{
    return part.size == 0 || slice_equal(part, SLICE(".")) ||
           slice_equal(part, SLICE(".."));
}

/* Returns the size of the common start of all paths, up to a slash. */
static size_t common_size(const struct annotation *annotation)
{
    const struct slice *first = NULL;
    size_t size = 0;

    for (size_t i = 0; i < annotation->file_count; i++) {
        const struct slice *path = &annotation->files[i].path;
        size_t same = 0;

        if (!is_written(&annotation->files[i])) {
            continue;
        }
        if (first == NULL) {
            first = path;
            size = path->size;
        }
        while (same < size && same < path->size &&
               path->bytes[same] == first->bytes[same]) {
            same++;
        }
        size = same;
    }
    while (size > 0 && first->bytes[size - 1] != '/') {
        size--;
    }
    return size;
}

static void add_part(struct buffer *name, struct slice part)
{
    size_t size = part.size < PART_LIMIT ? part.size : PART_LIMIT;

    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)part.bytes[i];

        buffer_add_byte(name, byte < 0x20 || byte == 0x7F ? '_' : (char)byte);
    }
}

/* Makes `folder/name` from a path of a trace. The name cannot lead out of the folder. */
static void make_name(struct buffer *name, const char *folder, struct slice path)
{
    bool is_empty = true;

    name->size = 0;
    buffer_add(name, slice_of(folder));
    for (size_t start = 0; start < path.size; start = part_end(path, start) + 1) {
        struct slice part = slice_part(path, start, part_end(path, start));

        if (!is_left_out(part)) {
            buffer_add_byte(name, '/');
            add_part(name, part);
            is_empty = false;
        }
    }
    buffer_add(name, is_empty ? SLICE("/source") : SLICE(""));
}

/* The names that were used so far. */
struct name_list {
    struct buffer *names; /* owned */
    size_t count;
    size_t capacity;
};

static bool has_name(const struct name_list *list, struct slice name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(buffer_slice(&list->names[i]), name)) {
            return true;
        }
    }
    return false;
}

/* Adds a number to a name that is in the list: two versions of a file, or `a/../b.py` and
 * `b.py`, have one name, and the second becomes `b.2.py`. */
static void make_unique(const struct name_list *list, struct buffer *name)
{
    struct slice suffix =
        slice_ends(buffer_slice(name), SLICE(".py")) ? SLICE(".py") : SLICE("");
    size_t size = name->size - suffix.size;

    for (int i = 2; i < TWIN_LIMIT && has_name(list, buffer_slice(name)); i++) {
        name->size = size;
        buffer_add_format(name, ".%d", i);
        buffer_add(name, suffix);
    }
}

/* Moves the name into the list, with a NUL after it. Returns false if memory ran out. */
static bool keep_name(struct name_list *list, struct buffer *name, struct error *error)
{
    void *items = list->names;

    buffer_add_byte(name, '\0');
    if (name->has_failed ||
        !memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->names)) {
        buffer_release(name);
        return error_set_memory(error);
    }
    name->size--;
    list->names = items;
    list->names[list->count++] = *name;
    return true;
}

static void name_list_release(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        buffer_release(&list->names[i]);
    }
    memory_free(list->names);
}

/* ---- files ---- */

static bool annotate(const struct annotation *annotation,
                     size_t index,
                     struct buffer *bytes,
                     struct error *error)
{
    assert(index < annotation->file_count);

    struct export_source source;
    struct buffer text = BUFFER_INIT;
    bool is_done =
        export_source_read(&source, annotation->files[index].source, error) &&
        annotation_write(annotation, index, &source.places, &text, error) &&
        export_source_encode(&source, buffer_slice(&text), bytes, error);

    buffer_release(&text);
    export_source_release(&source);
    return is_done;
}

/* Whether the file may be written. Sources are never replaced: the folder may be the one that
 * holds them. */
static bool check_target(const struct seen_file *file,
                         const char *name,
                         struct slice annotated,
                         struct error *error)
{
    struct file_info info = file_inspect(name);
    struct error ignored = ERROR_INIT;
    struct buffer old = BUFFER_INIT;
    bool is_source;

    if (!info.is_there || !info.is_regular || slice_equal(annotated, file->source)) {
        return true;
    }
    is_source = file_read(name, SOURCE_LIMIT, &old, &ignored) &&
                slice_equal(buffer_slice(&old), file->source);
    buffer_release(&old);
    if (!is_source) { /* the path comes from an arena, so a NUL follows it */
        struct file_info original = file_inspect(file->path.bytes);

        is_source = original.is_there && original.device == info.device &&
                    original.inode == info.inode;
    }
    if (is_source) {
        error_set(error, ERROR_INPUT,
                  "%s: --annotate would overwrite the source: give another folder",
                  name);
    }
    return !is_source;
}

static bool write_file(const struct annotation *annotation,
                       size_t index,
                       const char *folder,
                       size_t common,
                       struct name_list *list,
                       struct error *error)
{
    assert(index < annotation->file_count);

    const struct seen_file *file = &annotation->files[index];
    struct buffer bytes = BUFFER_INIT;
    struct buffer name = BUFFER_INIT;
    const char *path;
    bool is_done;

    make_name(&name, folder, slice_part(file->path, common, file->path.size));
    make_unique(list, &name);
    if (!keep_name(list, &name, error)) {
        return false;
    }
    path = list->names[list->count - 1].bytes;
    is_done = annotate(annotation, index, &bytes, error) &&
              check_target(file, path, buffer_slice(&bytes), error) &&
              file_write(path, buffer_slice(&bytes), FILE_MODE_DEFAULT, error);
    buffer_release(&bytes);
    return is_done;
}

static bool print_file(const struct annotation *annotation,
                       size_t index,
                       bool has_heading,
                       struct error *error)
{
    struct buffer bytes = BUFFER_INIT;
    bool is_done = true;

    assert(index < annotation->file_count);
    if (has_heading) {
        buffer_add(&bytes, SLICE("# == "));
        buffer_add_printable(&bytes, annotation->files[index].path);
        buffer_add(&bytes, SLICE(" ==\n"));
    }
    if (!annotate(annotation, index, &bytes, error)) {
        is_done = false;
    } else if (!output_print(buffer_slice(&bytes))) {
        *error = ERROR_INIT;
        is_done = false;
    }
    buffer_release(&bytes);
    return is_done;
}

bool export_annotated(const struct annotation *annotation,
                      const char *folder,
                      size_t *count,
                      size_t *missing,
                      struct error *error)
{
    struct name_list list = {0};
    size_t common = common_size(annotation);
    size_t wanted = 0;
    bool is_done = true;

    *count = 0;
    *missing = 0;
    for (size_t i = 0; i < annotation->file_count; i++) {
        wanted += is_written(&annotation->files[i]);
        *missing += annotation->files[i].value_count > 0 &&
                    annotation->files[i].source.size == 0;
    }
    for (size_t i = 0; i < annotation->file_count && is_done; i++) {
        if (!is_written(&annotation->files[i])) {
            continue;
        }
        is_done = strcmp(folder, "-") == 0
                      ? print_file(annotation, i, wanted > 1, error)
                      : write_file(annotation, i, folder, common, &list, error);
        *count += is_done;
    }
    name_list_release(&list);
    return is_done;
}
