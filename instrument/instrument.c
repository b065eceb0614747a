/* The compiler from source to source: calls the stages in order. */
#include "instrument/instrument.h"

#include "instrument/output/edits.h"
#include "instrument/output/forms.h"
#include "instrument/output/strip.h"
#include "instrument/rewrite/rewrite.h"
#include "instrument/select/selection.h"
#include "instrument/text/encoding.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <string.h>

void instrumented_init(struct instrumented *result)
{
    memset(result, 0, sizeof *result);
    arena_init(&result->arena);
    result->text = BUFFER_INIT;
}

void instrumented_release(struct instrumented *result)
{
    arena_release(&result->arena);
    buffer_release(&result->text);
    instrumented_init(result);
}

void instrumented_reset(struct instrumented *result)
{
    struct arena arena = result->arena;
    struct buffer text = result->text;

    arena_reset(&arena);
    text.size = 0;
    text.has_failed = false;
    memset(result, 0, sizeof *result);
    result->arena = arena;
    result->text = text;
}

/* Removes functions without sites from the table, and renumbers the others. */
static void keep_used_functions(struct sites *sites)
{
    uint32_t kept = 1; /* the module is always kept */

    for (uint32_t i = 0; i < sites->count; i++) {
        sites->functions[sites->items[i].function].is_used = true;
    }
    for (uint32_t i = 1; i < sites->function_count; i++) {
        sites->functions[i].new_index = kept;
        kept += sites->functions[i].is_used;
    }
    for (uint32_t i = 0; i < sites->count; i++) {
        uint32_t function = sites->items[i].function;

        sites->items[i].function =
            function == 0 ? 0 : sites->functions[function].new_index;
    }
}

static bool fill_table(struct rewriter *rewriter,
                       const char *path,
                       struct slice source,
                       struct site_table *table)
{
    struct sites *sites = &rewriter->sites;
    struct buffer options = BUFFER_INIT;
    bool is_done;

    keep_used_functions(sites);
    selection_write(rewriter->choice.selection, &options);
    table->options = arena_copy(rewriter->arena, buffer_slice(&options));
    table->path = arena_copy(rewriter->arena, slice_of(path));
    table->prefix = rewriter->forms.hook;
    hash_128(source, table->source_hash);
    table->sites = arena_allocate(rewriter->arena, sites->count, sizeof *table->sites);
    table->functions = arena_allocate(rewriter->arena, sites->function_count,
                                      sizeof *table->functions);
    is_done = !options.has_failed && !rewriter->arena->has_failed;
    buffer_release(&options);
    if (!is_done) {
        return false;
    }
    if (sites->count > 0) {
        memcpy(table->sites, sites->items, sites->count * sizeof *table->sites);
    }
    table->site_count = sites->count;
    for (uint32_t i = 0; i < sites->function_count; i++) {
        if (i == 0 || sites->functions[i].is_used) {
            table->functions[table->function_count++] = sites->functions[i].function;
        }
    }
    return true;
}

/* Inserts the bootstrap, which contains the table. */
static bool add_bootstrap(struct rewriter *rewriter, const struct site_table *table)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    site_table_write(table, &text);
    is_done = !text.has_failed;
    if (is_done) {
        insert_bootstrap(rewriter, buffer_slice(&text));
    }
    buffer_release(&text);
    return is_done;
}

static bool keep_insertions(const struct edits *edits, struct instrumented *result)
{
    result->insertions =
        arena_allocate(&result->arena, edits->count, sizeof *result->insertions);
    result->insertion_text = arena_copy(&result->arena, buffer_slice(&edits->text));
    if (result->insertions == NULL || result->insertion_text.bytes == NULL) {
        return false;
    }
    for (size_t i = 0; i < edits->count; i++) {
        result->insertions[i] = edits->items[i].insertion;
    }
    result->insertion_count = edits->count;
    return true;
}

static void sort_notes(struct instrumented *result)
{
    for (size_t i = 1; i < result->note_count; i++) {
        struct note note = result->notes[i];
        size_t at = i;

        while (at > 0 && result->notes[at - 1].line > note.line) {
            result->notes[at] = result->notes[at - 1];
            at--;
        }
        result->notes[at] = note;
    }
}

/* Whether the requested prefix is valid and not in the source. */
static bool check_prefix(struct slice prefix,
                         struct slice text,
                         const char *path,
                         struct error *error)
{
    if (prefix.size == 0) {
        return true;
    }
    if (!forms_is_prefix(prefix)) {
        error_set(error, ERROR_USAGE,
                  "the prefix is %.*s, expected _mt, _mt0x, _mt1x …",
                  (int)(prefix.size < 80 ? prefix.size : 80), prefix.bytes);
        return false;
    }
    if (slice_find(text, prefix, 0) < text.size) {
        error_set_at(error, ERROR_INPUT, path, 1, 1,
                     "the prefix %.*s occurs in the source, expected another one",
                     (int)prefix.size, prefix.bytes);
        return false;
    }
    return true;
}

static bool
choose_forms(struct rewriter *rewriter, struct slice prefix, struct slice text)
{
    return prefix.size > 0 ? forms_name(&rewriter->forms, prefix, rewriter->arena)
                           : forms_choose(&rewriter->forms, text, rewriter->arena);
}

static bool holds(struct slice text, struct slice part)
{
    return slice_find(text, part, 0) < text.size;
}

/* Adds a remark if the file gives code of functions other builtins: inserted calls find no name
 * there. */
static void note_other_builtins(struct rewriter *rewriter, struct slice text)
{
    struct slice name = SLICE("__builtins__");

    if (!rewriter->has_record || !holds(text, name) ||
        !(holds(text, SLICE("__code__")) || holds(text, SLICE("FunctionType")))) {
        return;
    }
    for (uint32_t i = 0; i < rewriter->syntax.count; i++) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;
        struct slice found = text_of(rewriter, i);

        if ((kind == KIND_STRING && found.size == name.size + 2 &&
             holds(found, name)) ||
            (kind == KIND_IDENTIFIER && slice_equal(found, name))) {
            note_add(rewriter, NOTE_REMARK, i,
                     "a recorded function that runs with other builtins fails with "
                     "NameError: name '%.*s' is not defined",
                     (int)rewriter->forms.hook.size, rewriter->forms.hook.bytes);
            return;
        }
    }
}

/* Runs the rewriter over the decoded text. The insertions are stored in rewriter->edits. */
static bool rewrite(struct rewriter *rewriter,
                    struct slice text,
                    struct slice source,
                    const struct selection *selection,
                    struct error *error)
{
    struct instrumented *result = rewriter->result;

    if (!check_prefix(selection->prefix, text, rewriter->path, error) ||
        !syntax_parse(&rewriter->syntax, text, rewriter->path, rewriter->arena,
                      error)) {
        return false;
    }
    if (!names_read(&rewriter->names, &rewriter->syntax, rewriter->arena) ||
        !choice_read(&rewriter->choice, selection, &rewriter->syntax,
                     rewriter->arena) ||
        !foreign_read(&rewriter->foreign, &rewriter->syntax, &rewriter->names,
                      rewriter->arena) ||
        !depth_read(&rewriter->depth, &rewriter->syntax,
                    selection->level_limit > 0 ? selection->level_limit
                                               : DEPTH_LEVEL_LIMIT,
                    rewriter->arena) ||
        !choose_forms(rewriter, selection->prefix, text)) {
        return error_set_memory(error);
    }
    sites_init(&rewriter->sites, &rewriter->syntax, rewriter->arena);
    rewrite_module(rewriter);
    note_other_builtins(rewriter, text);
    if (rewriter->has_failed || rewriter->sites.has_failed ||
        rewriter->arena->has_failed ||
        !fill_table(rewriter, rewriter->path, source, &result->table) ||
        ((rewriter->has_record || rewriter->needs_spy_import) &&
         !add_bootstrap(rewriter, &result->table))) {
        return error_set_memory(error);
    }
    if (rewriter->edits->is_too_large) {
        error_set_at(
            error, ERROR_INPUT, rewriter->path, 1, 1,
            "more than %zu bytes would be inserted: select fewer functions or lines",
            INSTRUMENT_INSERTED_LIMIT);
        return false;
    }
    if (!edits_sort(rewriter->edits) || !keep_insertions(rewriter->edits, result)) {
        return error_set_memory(error);
    }
    sort_notes(result);
    return true;
}

/* Checks that stripping the output gives the source again. This runs for every file, so that
 * there is no traced file whose original is lost. */
static bool check_strip(const struct rewriter *rewriter,
                        struct slice text,
                        struct slice output,
                        struct error *error)
{
    struct buffer back = BUFFER_INIT;
    bool is_equal;

    if (!strip_text(output, rewriter->arena, &back)) {
        buffer_release(&back);
        return error_set_memory(error);
    }
    is_equal = slice_equal(buffer_slice(&back), text);
    buffer_release(&back);
    if (!is_equal) {
        error_set_at(error, ERROR_INPUT, rewriter->path, 1, 1,
                     "the inserted calls could not be distinguished from the program: "
                     "the file stays as it is");
    }
    return is_equal;
}

static bool write_output(const struct rewriter *rewriter,
                         const struct decoded *decoded,
                         struct slice source,
                         struct error *error)
{
    struct instrumented *result = rewriter->result;
    struct buffer output = BUFFER_INIT;
    bool is_done;

    result->is_changed = rewriter->edits->count > 0;
    if (!result->is_changed) {
        buffer_add(&result->text, source);
        if (result->text.has_failed) {
            error_set_memory(error);
        }
        return !result->text.has_failed;
    }
    if (decoded->is_utf8 && !decoded->has_bom) {
        is_done = edits_apply(rewriter->edits, decoded->utf8, &result->text);
        if (!is_done) {
            error_set_memory(error);
        }
        return is_done &&
               check_strip(rewriter, decoded->utf8, buffer_slice(&result->text), error);
    }
    is_done = edits_apply(rewriter->edits, decoded->utf8, &output);
    if (!is_done) {
        error_set_memory(error);
    }
    is_done = is_done &&
              check_strip(rewriter, decoded->utf8, buffer_slice(&output), error) &&
              encoding_encode(decoded, buffer_slice(&output), &result->text, error);
    buffer_release(&output);
    return is_done;
}

static bool check_source(struct slice source, const char *path, struct error *error)
{
    if (source.size > INSTRUMENT_SIZE_LIMIT) {
        error_set_at(error, ERROR_INPUT, path, 1, 1,
                     "the file has %zu bytes, expected at most %zu", source.size,
                     INSTRUMENT_SIZE_LIMIT);
        return false;
    }
    if (instrument_is_instrumented(source)) {
        error_set_at(
            error, ERROR_INPUT, path, 1, 1,
            "the file is instrumented already, expected its original (see --strip)");
        return false;
    }
    return true;
}

bool instrument(struct slice source,
                const char *path,
                const struct selection *selection,
                struct instrumented *result,
                struct error *error)
{
    struct rewriter *rewriter;
    struct decoded decoded;
    struct edits edits;
    struct slice text;
    bool is_done = false;

    if (!check_source(source, path, error) ||
        !encoding_decode(source, path, &result->arena, &decoded, error)) {
        return false;
    }
    rewriter = memory_allocate_zeroed(1, sizeof *rewriter);
    text = decoded.is_utf8 ? arena_copy(&result->arena, decoded.utf8) : decoded.utf8;
    edits_init(&edits);
    if (rewriter == NULL || text.bytes == NULL) {
        error_set_memory(error);
    } else {
        rewriter->path = path;
        rewriter->edits = &edits;
        rewriter->result = result;
        rewriter->arena = &result->arena;
        rewriter->first_module_edit = UINT32_MAX;
        decoded.utf8 = text;
        is_done = rewrite(rewriter, text, source, selection, error) &&
                  write_output(rewriter, &decoded, source, error);
        sites_release(&rewriter->sites);
    }
    memory_free(rewriter);
    edits_release(&edits);
    if (!is_done) {
        instrumented_reset(result);
    }
    return is_done;
}

bool instrument_is_instrumented(struct slice text)
{
    return strip_find_hook(text).size > 0;
}

bool instrument_find_table(struct slice text, struct slice *table)
{
    return strip_find_table(text, table);
}

/* Whether the stripped bytes are the source of the table. */
static bool is_original(struct slice text, struct slice original, struct arena *arena)
{
    struct slice table_text;
    struct site_table table;
    struct error ignored = ERROR_INIT;
    uint64_t hash[2];

    if (!instrument_find_table(text, &table_text)) {
        return !instrument_is_instrumented(text);
    }
    if (!site_table_read(&table, table_text, arena, &ignored)) {
        return false;
    }
    hash_128(original, hash);
    return hash[0] == table.source_hash[0] && hash[1] == table.source_hash[1];
}

bool instrument_strip(struct slice text,
                      const char *path,
                      struct buffer *original,
                      bool *is_exact,
                      struct error *error)
{
    struct buffer stripped = BUFFER_INIT;
    size_t before = original->size;
    struct decoded decoded;
    struct arena arena;
    bool is_done;

    arena_init(&arena);
    is_done = encoding_decode(text, path, &arena, &decoded, error);
    if (is_done && !strip_text(decoded.utf8, &arena, &stripped)) {
        error_set_memory(error);
        is_done = false;
    }
    is_done =
        is_done && encoding_encode(&decoded, buffer_slice(&stripped), original, error);
    if (is_done) {
        *is_exact = is_original(
            decoded.utf8, slice_part(buffer_slice(original), before, original->size),
            &arena);
    }
    buffer_release(&stripped);
    arena_release(&arena);
    return is_done;
}
