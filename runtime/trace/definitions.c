/* Reader of a trace's definitions: the chunks that hold them, and the tables in memory. */
#include "runtime/trace/reader_private.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

#include <assert.h>

/* ---- tables by number ---- */

/* Returns false if memory runs out. */
static bool
log_numbered_add(struct log_numbered_list *list, uint32_t number, const void *thing)
{
    void *entries = list->entries;

    if (!memory_grow(&entries, &list->capacity, list->count + 1,
                     sizeof *list->entries)) {
        return false;
    }
    list->entries = entries;
    assert(list->count == 0 || list->entries[list->count - 1].number < number);
    list->entries[list->count++] = (struct log_numbered){number, thing};
    return true;
}

/* Whether the number is greater than all numbers in the list. */
static bool log_numbered_follows(const struct log_numbered_list *list, uint32_t number)
{
    return list->count == 0 || number > list->entries[list->count - 1].number;
}

static bool is_before(const void *entries, size_t place, uint64_t number)
{
    return ((const struct log_numbered *)entries)[place].number < number;
}

/* The index of a number in the list, or list->count. */
static size_t log_numbered_place(const struct log_numbered_list *list, uint32_t number)
{
    size_t place;

    if (list->count == 0 || number < list->entries[0].number) {
        return list->count;
    }
    /* If there are no gaps, the index follows from the number. */
    place = number - list->entries[0].number;
    if (place >= list->count || list->entries[place].number != number) {
        place = sorted_place(list->entries, list->count, is_before, number);
    }
    return place < list->count && list->entries[place].number == number ? place
                                                                        : list->count;
}

const void *log_numbered_find(const struct log_numbered_list *list, uint32_t number)
{
    size_t place = log_numbered_place(list, number);

    assert(place <= list->count);
    return place == list->count ? NULL : list->entries[place].thing;
}

bool log_text_find(const struct log_reader *reader, uint32_t number, struct slice *text)
{
    const struct slice *found;

    if (number == 0) {
        *text = SLICE("");
        return true;
    }
    found = log_numbered_find(&reader->texts, number);
    if (found == NULL) {
        return false;
    }
    *text = *found;
    return true;
}

const struct log_module *log_table_module(const struct log_reader *reader,
                                          uint32_t table,
                                          uint32_t *module_number)
{
    size_t place = log_numbered_place(&reader->modules, table);

    if (place == reader->modules.count) {
        return NULL;
    }
    *module_number = (uint32_t)place;
    return reader->modules.entries[place].thing;
}

/* Or at that site. */
static bool begins_before(const void *entries, size_t place, uint64_t site)
{
    const struct log_module *module =
        ((const struct log_numbered *)entries)[place].thing;

    return module->first_site <= site;
}

/* Modules are sorted by their sites. */
const struct log_module *
log_site_module(const struct log_reader *reader, uint32_t site, uint32_t *module_number)
{
    size_t next = sorted_place(reader->modules.entries, reader->modules.count,
                               begins_before, site);
    const struct log_module *module;

    /* A module without sites may start at the same site as the next one. */
    if (next == 0) {
        return NULL;
    }
    module = reader->modules.entries[next - 1].thing;
    assert(module->first_site <= site);
    *module_number = (uint32_t)(next - 1);
    return site - module->first_site < module->table.site_count ? module : NULL;
}

/* ---- one definition ---- */

/* A run has a few dozen settings. A file with far more is damaged, and each new one is compared
 * with all before it, which would take too long. */
#define SETTING_MAX 4096

static const char out_of_memory[] = "out of memory";

static struct slice rest_of(const char *bytes, size_t head_size)
{
    struct log_record record;

    memcpy(&record, bytes, sizeof record);
    return (struct slice){bytes + head_size, record.size - head_size};
}

static const char *read_text(struct log_reader *reader, const char *bytes)
{
    const struct log_text *head = (const void *)bytes;
    struct slice *text;

    if (head->number == 0 || !log_numbered_follows(&reader->texts, head->number)) {
        return "a text's number is out of order";
    }
    text = arena_allocate(&reader->arena, 1, sizeof *text);
    if (text == NULL) {
        return out_of_memory;
    }
    *text = rest_of(bytes, sizeof *head);
    return log_numbered_add(&reader->texts, head->number, text) ? NULL : out_of_memory;
}

static const char *read_thread(struct log_reader *reader, const char *bytes)
{
    const struct log_thread *head = (const void *)bytes;
    struct slice *name;

    if (!log_numbered_follows(&reader->threads, head->number)) {
        return "a thread's number is out of order";
    }
    name = arena_allocate(&reader->arena, 1, sizeof *name);
    if (name == NULL) {
        return out_of_memory;
    }
    if (!log_text_find(reader, head->name, name)) {
        return "a thread's name is not defined";
    }
    return log_numbered_add(&reader->threads, head->number, name) ? NULL
                                                                  : out_of_memory;
}

static const char *read_setting(struct log_reader *reader, const char *bytes)
{
    const struct log_setting_record *head = (const void *)bytes;
    struct log_setting setting;
    void *settings = reader->settings;

    if (!log_text_find(reader, head->name, &setting.name) ||
        !log_text_find(reader, head->value, &setting.value)) {
        return "a setting refers to a text that is not defined";
    }
    for (size_t i = 0; i < reader->setting_count; i++) {
        if (slice_equal(reader->settings[i].name, setting.name)) {
            reader->settings[i].value = setting.value;
            return NULL;
        }
    }
    if (reader->setting_count >= SETTING_MAX) {
        return "there are more settings than are read";
    }
    if (!memory_grow(&settings, &reader->setting_capacity, reader->setting_count + 1,
                     sizeof *reader->settings)) {
        return out_of_memory;
    }
    reader->settings = settings;
    reader->settings[reader->setting_count++] = setting;
    return NULL;
}

/* Whether the site belongs to a module. */
static bool has_site(const struct log_reader *reader, uint32_t site)
{
    for (size_t i = 0; i < reader->modules.count; i++) {
        const struct log_module *module = reader->modules.entries[i].thing;

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            return true;
        }
    }
    return false;
}

static const char *read_left_out(struct log_reader *reader, const char *bytes)
{
    const struct log_left_out *head = (const void *)bytes;
    uint32_t index = number_map_get(&reader->left_out_sites, head->site);
    struct log_left_out_view view = {head->site, head->event, head->until, head->count};
    void *views = reader->left_out;

    if (index != NUMBER_MAP_NONE) {
        reader->left_out[index] = view;
        return NULL;
    }
    if (!has_site(reader, head->site)) {
        return "what was left out belongs to a site that is not defined";
    }
    if (!memory_grow(&views, &reader->left_out_capacity, reader->left_out_count + 1,
                     sizeof *reader->left_out)) {
        return out_of_memory;
    }
    reader->left_out = views;
    if (!number_map_put(&reader->left_out_sites, head->site,
                        (uint32_t)reader->left_out_count)) {
        return out_of_memory;
    }
    reader->left_out[reader->left_out_count++] = view;
    return NULL;
}

/* Finds the texts of a form. Returns false if one of them is not defined. */
static bool shape_texts(const struct log_reader *reader,
                        const struct log_form *form,
                        struct log_shape *shape)
{
    if (!log_text_find(reader, form->type, &shape->type) ||
        !log_text_find(reader, form->dtype_text, &shape->dtype_text) ||
        !log_text_find(reader, form->device, &shape->device) ||
        !log_text_find(reader, form->layout, &shape->layout) ||
        !log_text_find(reader, form->note, &shape->note)) {
        return false;
    }
    if (shape->dtype_text.size == 0) {
        shape->dtype_text = slice_of(dtype_text(shape->dtype));
    }
    if (shape->device.size == 0) {
        shape->device = SLICE("cpu");
    }
    if (shape->layout.size == 0) {
        shape->layout = SLICE("strided");
    }
    return true;
}

static const char *check_form(const struct log_form *form)
{
    size_t lists = (form->flags & LOG_FORM_NO_STRIDES) != 0 ? 1 : 2;
    const int64_t *shape = (const void *)(form + 1);

    if (form->dtype >= DTYPE_COUNT) {
        return "a form has an unknown dtype";
    }
    if (form->dimension_count > ARRAY_DIMENSION_MAX ||
        form->record.size <
            sizeof *form + lists * form->dimension_count * sizeof *shape) {
        return "a form has an impossible number of dimensions";
    }
    for (uint32_t i = 0; i < form->dimension_count; i++) {
        if (shape[i] < 0) {
            return "a form has a negative dimension";
        }
    }
    return NULL;
}

static const char *read_form(struct log_reader *reader, const char *bytes)
{
    const struct log_form *form = (const void *)bytes;
    const int64_t *numbers = (const void *)(form + 1);
    const char *problem = check_form(form);
    struct log_shape *shape;
    struct sample_grid *grid;

    if (problem != NULL) {
        return problem;
    }
    if (form->number == 0 || !log_numbered_follows(&reader->shapes, form->number)) {
        return "a form's number is out of order";
    }
    shape = arena_allocate(&reader->arena, 1, sizeof *shape);
    grid = arena_allocate(&reader->arena, 1, sizeof *grid);
    if (shape == NULL || grid == NULL) {
        return out_of_memory;
    }
    sample_grid_init(grid, numbers, form->dimension_count, reader->header.sample);
    *shape = (struct log_shape){
        .grid = grid,
        .dtype = form->dtype,
        .dimension_count = form->dimension_count,
        .shape = numbers,
        .strides = (form->flags & LOG_FORM_NO_STRIDES) != 0
                       ? NULL
                       : numbers + form->dimension_count,
        .strides_are_bytes = (form->flags & LOG_FORM_BYTE_STRIDES) != 0,
        .flags = form->flags,
    };
    if (!shape_texts(reader, form, shape)) {
        return "a form refers to a text that is not defined";
    }
    return log_numbered_add(&reader->shapes, form->number, shape) ? NULL
                                                                  : out_of_memory;
}

/* Whether a table's sites follow those of the tables before it. */
static bool sites_follow(const struct log_reader *reader, const struct log_table *head)
{
    const struct log_module *last;

    if (head->first_site == UINT32_MAX ||
        head->site_count > UINT32_MAX - 1 - head->first_site) {
        return false;
    }
    if (reader->modules.count == 0) {
        return true;
    }
    last = reader->modules.entries[reader->modules.count - 1].thing;
    return head->first_site >= last->first_site + last->table.site_count;
}

static const char *
read_table(struct log_reader *reader, const char *bytes, uint64_t offset)
{
    const struct log_table *head = (const void *)bytes;
    struct error error = ERROR_INIT;
    struct log_module *module;

    if (!log_numbered_follows(&reader->modules, head->number) ||
        !sites_follow(reader, head)) {
        return "a site table's number is out of order";
    }
    module = arena_allocate(&reader->arena, 1, sizeof *module);
    if (module == NULL) {
        return out_of_memory;
    }
    *module = (struct log_module){
        .first_site = head->first_site,
        .source = SLICE(""),
        .source_tag = LOG_SOURCE_OTHER,
    };
    if (!log_text_find(reader, head->module, &module->name) ||
        !log_text_find(reader, head->file, &module->file)) {
        return "a site table refers to a text that is not defined";
    }
    /* A module with a damaged table is kept, without sites. */
    if (!site_table_read(&module->table, rest_of(bytes, sizeof *head), &reader->arena,
                         &error)) {
        log_reader_report(reader, offset, "%s", error.text);
        module->table = (struct site_table){0};
    } else if (module->table.site_count != head->site_count) {
        log_reader_report(reader, offset, "a site table has %lu sites, expected %lu",
                          (unsigned long)module->table.site_count,
                          (unsigned long)head->site_count);
        module->table = (struct site_table){0};
    }
    return log_numbered_add(&reader->modules, head->number, module) ? NULL
                                                                    : out_of_memory;
}

static const char *read_source(struct log_reader *reader, const char *bytes)
{
    const struct log_source *head = (const void *)bytes;
    size_t place = log_numbered_place(&reader->modules, head->table);
    struct log_module *module;

    if (place == reader->modules.count) {
        return "a source belongs to a site table that is not defined";
    }
    if (head->record.tag < LOG_SOURCE_ORIGINAL || head->record.tag > LOG_SOURCE_OTHER) {
        return "a source is of an unknown kind";
    }
    /* The list's pointers are const for its users only; this reader owns the memory. */
    module = (struct log_module *)reader->modules.entries[place].thing;
    module->source = rest_of(bytes, sizeof *head);
    module->source_tag = head->record.tag;
    return NULL;
}

/* Reads one definition. `bytes` must outlive the reader. Returns NULL, or a description of the
 * problem. */
static const char *
log_definition_read(struct log_reader *reader, const char *bytes, uint64_t offset)
{
    static const size_t head_sizes[] = {
        [LOG_TABLE] = sizeof(struct log_table),
        [LOG_SOURCE] = sizeof(struct log_source),
        [LOG_FORM] = sizeof(struct log_form),
        [LOG_TEXT] = sizeof(struct log_text),
        [LOG_THREAD] = sizeof(struct log_thread),
        [LOG_SETTING] = sizeof(struct log_setting_record),
        [LOG_LEFT_OUT] = sizeof(struct log_left_out),
    };
    const struct log_record *record = (const void *)bytes;

    if (record->kind >= LOG_TABLE && record->kind <= LOG_LEFT_OUT &&
        record->size < head_sizes[record->kind]) {
        return "a definition is too short";
    }
    switch (record->kind) {
    case LOG_TABLE:
        return read_table(reader, bytes, offset);
    case LOG_SOURCE:
        return read_source(reader, bytes);
    case LOG_FORM:
        return read_form(reader, bytes);
    case LOG_TEXT:
        return read_text(reader, bytes);
    case LOG_THREAD:
        return read_thread(reader, bytes);
    case LOG_SETTING:
        return read_setting(reader, bytes);
    case LOG_LEFT_OUT:
        return read_left_out(reader, bytes);
    default:
        if (!reader->is_unknown_kind_reported) {
            reader->is_unknown_kind_reported = true;
            log_reader_report(reader, offset,
                              "records of an unknown kind, %d, are skipped",
                              record->kind);
        }
        return NULL;
    }
}

bool log_definitions_add(struct log_reader *reader, uint64_t offset, uint64_t size)
{
    void *chunks = reader->definitions;

    if (!memory_grow(&chunks, &reader->definitions_capacity,
                     reader->definitions_count + 1, sizeof *reader->definitions)) {
        return false;
    }
    reader->definitions = chunks;
    reader->definitions[reader->definitions_count++] =
        (struct log_definitions_chunk){.offset = offset, .size = (size_t)size};
    return true;
}

void log_definitions_release(struct log_reader *reader)
{
    for (size_t i = 0; i < reader->definitions_count; i++) {
        memory_free(reader->definitions[i].bytes);
    }
    memory_free(reader->definitions);
    memory_free(reader->modules.entries);
    memory_free(reader->texts.entries);
    memory_free(reader->shapes.entries);
    memory_free(reader->threads.entries);
    memory_free(reader->settings);
    memory_free(reader->left_out);
    number_map_release(&reader->left_out_sites);
}

/* Allocates the chunk's bytes, at most as many as the file has, since a damaged header may claim
 * any size. */
static bool chunk_reserve(struct log_reader *reader,
                          struct log_definitions_chunk *chunk)
{
    uint64_t there =
        reader->file_size > chunk->offset ? reader->file_size - chunk->offset : 0;
    size_t size = there < chunk->size ? (size_t)there : chunk->size;

    if (chunk->bytes != NULL) {
        return true;
    }
    size = size < sizeof(struct log_chunk) ? sizeof(struct log_chunk) : size;
    chunk->bytes = memory_allocate(size, 1);
    chunk->size = size;
    chunk->parsed = sizeof(struct log_chunk);
    return chunk->bytes != NULL;
}

/* The end of the chunk's records, according to the header. */
static size_t chunk_end(struct log_reader *reader,
                        struct log_definitions_chunk *chunk,
                        const struct log_chunk_read *read)
{
    const struct log_chunk *header = &read->header;

    if (header->used_size == 0 || header->used_size > read->loaded) {
        if (header->used_size != 0) {
            log_reader_report(reader, chunk->offset, "the file ends inside this chunk");
        }
        return read->end;
    }
    chunk->is_done = true;
    if (hash_64((struct slice){chunk->bytes + sizeof *header,
                               (size_t)header->used_size - sizeof *header}) !=
        header->checksum) {
        log_reader_report(reader, chunk->offset, "the checksum of this chunk is wrong");
    }
    return (size_t)header->used_size;
}

/* Reads the new part of the chunk. Parsed bytes are never read again, because tables point into
 * them. */
static void chunk_load(struct log_reader *reader, struct log_definitions_chunk *chunk)
{
    struct error error = ERROR_INIT;
    struct log_chunk_read read;
    size_t end;

    if (!chunk_reserve(reader, chunk)) {
        error_set_memory(&error);
    } else {
        (void)log_chunk_read(reader, chunk->offset, chunk->bytes, chunk->parsed,
                             chunk->size, &read, &error);
    }
    if (error.kind != ERROR_NONE) {
        log_reader_report(reader, chunk->offset, "%s", error.text);
        chunk->is_done = true;
        return;
    }
    end = chunk_end(reader, chunk, &read);
    while (end - chunk->parsed >= sizeof(struct log_record)) {
        uint64_t offset = chunk->offset + chunk->parsed;
        struct log_record record;
        const char *problem;

        memcpy(&record, chunk->bytes + chunk->parsed, sizeof record);
        if (record.size == 0 && !chunk->is_done) {
            return; /* nothing is written here yet */
        }
        if (record.size < sizeof record || record.size > end - chunk->parsed) {
            log_reader_report(reader, offset,
                              "a definition of impossible size, %lu: the rest of its "
                              "chunk is lost",
                              (unsigned long)record.size);
            chunk->is_done = true;
            return;
        }
        problem = log_definition_read(reader, chunk->bytes + chunk->parsed, offset);
        if (problem != NULL) {
            log_reader_report(reader, offset, "%s", problem);
        }
        chunk->parsed += log_record_padded(record.size);
        if (chunk->parsed > end) {
            chunk->parsed = end;
        }
    }
}

void log_definitions_load(struct log_reader *reader)
{
    for (size_t i = 0; i < reader->definitions_count; i++) {
        if (!reader->definitions[i].is_done) {
            chunk_load(reader, &reader->definitions[i]);
        }
    }
}
