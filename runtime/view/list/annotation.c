/* Annotation of sources: the values and shapes that each line of the traced sources had. */
#include "runtime/view/list/annotation.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- shapes and dtypes of the values of a name ---- */

static uint32_t number_count(const struct log_event_view *event)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->shape->dimension_count;
    case VALUE_INT:
    case VALUE_BOOL:
    case VALUE_CONTAINER:
        return 1;
    default:
        return 0;
    }
}

static const int64_t *numbers_of(const struct log_event_view *event)
{
    return event->kind == VALUE_TENSOR ? event->shape->shape : &event->integer;
}

static struct slice type_of(const struct log_event_view *event)
{
    if (event->kind == VALUE_TENSOR) {
        return event->shape->dtype_text;
    }
    return event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT ? event->type
                                                                         : SLICE("");
}

static bool is_alike(const struct seen_form *form, const struct log_event_view *event)
{
    return form->kind == event->kind && form->dimension_count == number_count(event) &&
           slice_equal(form->type, type_of(event));
}

/* Whether the event belongs to the form. Numbers and containers have one form with a range from
 * the start. */
static bool holds(const struct seen_value *value,
                  const struct seen_form *form,
                  const struct log_event_view *event)
{
    return is_alike(form, event) &&
           (value->is_ranged || form->kind != VALUE_TENSOR ||
            form->dimension_count == 0 ||
            memcmp(form->low, numbers_of(event),
                   form->dimension_count * sizeof *form->low) == 0);
}

static void widen(struct seen_form *form, const int64_t *low, const int64_t *high)
{
    for (uint32_t i = 0; i < form->dimension_count; i++) {
        form->low[i] = low[i] < form->low[i] ? low[i] : form->low[i];
        form->high[i] = high[i] > form->high[i] ? high[i] : form->high[i];
    }
}

/* Merges forms that differ only in the lengths of their dimensions, if there are too many forms. */
static void merge_forms(struct seen_value *value)
{
    uint32_t kept = 0;

    value->is_ranged = true;
    for (uint32_t i = 0; i < value->form_count; i++) {
        struct seen_form form = value->forms[i];
        uint32_t k = 0;

        while (k < kept && (value->forms[k].kind != form.kind ||
                            value->forms[k].dimension_count != form.dimension_count ||
                            !slice_equal(value->forms[k].type, form.type))) {
            k++;
        }
        if (k == kept) {
            value->forms[kept++] = form;
        } else {
            widen(&value->forms[k], form.low, form.high);
            value->forms[k].count += form.count;
        }
    }
    value->form_count = kept;
}

/* Adds the form of the event. Returns NULL if memory runs out. */
static struct seen_form *add_form(struct arena *arena,
                                  struct seen_value *value,
                                  const struct log_event_view *event)
{
    struct seen_form *form = &value->forms[value->form_count];
    uint32_t count = number_count(event);
    int64_t *numbers = arena_allocate(arena, 2 * (size_t)count + 1, sizeof *numbers);
    struct slice type = arena_copy(arena, type_of(event));

    if (numbers == NULL || type.bytes == NULL) {
        return NULL;
    }
    *form = (struct seen_form){.kind = event->kind,
                               .type = type,
                               .dimension_count = count,
                               .low = numbers,
                               .high = numbers + count};
    if (count > 0) {
        memcpy(form->low, numbers_of(event), count * sizeof *numbers);
        memcpy(form->high, numbers_of(event), count * sizeof *numbers);
    }
    value->form_count++;
    return form;
}

/* The form of the event. NULL if memory runs out, or if there is no room for a new form;
 * `is_full` is set then. */
static struct seen_form *find_form(struct arena *arena,
                                   struct seen_value *value,
                                   const struct log_event_view *event,
                                   bool *is_full)
{
    *is_full = false;
    for (;;) {
        for (uint32_t i = 0; i < value->form_count; i++) {
            if (holds(value, &value->forms[i], event)) {
                return &value->forms[i];
            }
        }
        if (value->form_count < ANNOTATION_FORMS_MAX) {
            return add_form(arena, value, event);
        }
        if (value->is_ranged) {
            *is_full = true;
            return NULL;
        }
        merge_forms(value);
    }
}

static void count_real(struct seen_form *form, double real)
{
    if (!isfinite(real)) {
        return;
    }
    form->least = form->has_range && form->least < real ? form->least : real;
    form->most = form->has_range && form->most > real ? form->most : real;
    form->has_range = true;
}

static void count_nonfinite(struct seen_value *value,
                            const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    if (!value_has_nonfinite(event)) {
        return;
    }
    if (event->kind == VALUE_TENSOR) {
        value->nan_count += statistics->nan_count > 0;
        value->infinite_count +=
            statistics->posinf_count + statistics->neginf_count > 0;
    } else {
        value->nan_count += isnan(event->real) || isnan(event->imaginary);
        value->infinite_count += isinf(event->real) || isinf(event->imaginary);
    }
}

/* Counts an event in the form that it has. Returns false if memory runs out. */
static bool seen_value_count(struct seen_value *value,
                             const struct log_event_view *event,
                             struct arena *arena)
{
    struct seen_form *form;
    bool is_full;

    value->count++;
    if (event->kind == VALUE_NOTHING) {
        return true;
    }
    form = find_form(arena, value, event, &is_full);
    if (form == NULL) {
        value->other_count += is_full;
        return is_full;
    }
    form->count++;
    if (form->kind != VALUE_TENSOR || value->is_ranged) {
        widen(form, numbers_of(event), numbers_of(event));
    }
    if (form->kind == VALUE_FLOAT) {
        count_real(form, event->real);
    }
    count_nonfinite(value, event);
    return true;
}

/* Lines after this one get no comment. */
#define LINE_LIMIT 1000000
/* Names and paths are cut to this size, in bytes. */
#define NAME_LIMIT 200

void annotation_init(struct annotation *annotation)
{
    *annotation = (struct annotation){0};
    arena_init(&annotation->arena);
}

void annotation_release(struct annotation *annotation)
{
    for (size_t i = 0; i < annotation->file_count; i++) {
        memory_free(annotation->files[i].lines);
    }
    memory_free(annotation->files);
    memory_free(annotation->values);
    number_map_release(&annotation->known);
    memory_free(annotation->modules);
    arena_release(&annotation->arena);
    *annotation = (struct annotation){0};
}

/* ---- files ---- */

void annotation_start_trace(struct annotation *annotation,
                            const struct log_reader *reader)
{
    memory_free(annotation->modules);
    annotation->modules = NULL;
    annotation->module_capacity = 0;
    annotation->has_ring = annotation->has_ring || log_reader_header(reader)->last != 0;
}

static bool is_of_table(const struct seen_file *file, const struct site_table *table)
{
    return file->hash[0] == table->source_hash[0] &&
           file->hash[1] == table->source_hash[1] &&
           slice_equal(file->path, table->path);
}

static bool add_file(struct annotation *annotation, const struct site_table *table)
{
    void *items = annotation->files;
    struct slice path;

    if (!memory_grow(&items, &annotation->file_capacity, annotation->file_count + 1,
                     sizeof *annotation->files)) {
        return false;
    }
    annotation->files = items;
    path = arena_copy(&annotation->arena, table->path);
    if (path.bytes == NULL) {
        return false;
    }
    annotation->files[annotation->file_count++] = (struct seen_file){
        .path = path,
        .hash = {table->source_hash[0], table->source_hash[1]},
    };
    return true;
}

/* The file of a module of the current trace. Returns NULL if memory runs out. */
static struct seen_file *find_file(struct annotation *annotation,
                                   uint32_t module_number,
                                   const struct log_module *module)
{
    size_t before = annotation->module_capacity;
    void *items = annotation->modules;
    size_t i = 0;

    if (module_number >= before) {
        if (!memory_grow(&items, &annotation->module_capacity,
                         (size_t)module_number + 1, sizeof *annotation->modules)) {
            return NULL;
        }
        annotation->modules = items;
        memset(annotation->modules + before, 0,
               (annotation->module_capacity - before) * sizeof *annotation->modules);
    }
    if (annotation->modules[module_number] != 0) {
        return &annotation->files[annotation->modules[module_number] - 1];
    }
    while (i < annotation->file_count &&
           !is_of_table(&annotation->files[i], &module->table)) {
        i++;
    }
    if (i == annotation->file_count && !add_file(annotation, &module->table)) {
        return NULL;
    }
    annotation->modules[module_number] = (uint32_t)i + 1;
    return &annotation->files[i];
}

static bool mark_line(struct seen_file *file, uint32_t line, enum seen_line mark)
{
    size_t before = file->line_count;
    void *items = file->lines;

    if (line > LINE_LIMIT) {
        return true;
    }
    if (line >= before) {
        if (!memory_grow(&items, &file->line_count, (size_t)line + 1, 1)) {
            return false;
        }
        file->lines = items;
        memset(file->lines + before, 0, file->line_count - before);
    }
    file->lines[line] |= (uint8_t)mark;
    return true;
}

/* ---- values ---- */

static struct slice cut(struct slice text)
{
    return slice_part(text, 0, text.size < NAME_LIMIT ? text.size : NAME_LIMIT);
}

static uint64_t
key_hash(uint32_t file, const struct site *site, struct slice name, struct slice path)
{
    uint64_t key[4] = {(uint64_t)file << 32 | site->line,
                       (uint64_t)site->kind << 32 | site->column, hash_64(name),
                       path.size == 0 ? 0 : hash_64(path)};

    return hash_64((struct slice){(const char *)key, sizeof key});
}

static bool is_of_site(const struct seen_value *value,
                       uint32_t file,
                       const struct site *site,
                       struct slice name,
                       struct slice path)
{
    return value->file == file && value->line == site->line &&
           value->column == site->column && value->kind == site->kind &&
           slice_equal(value->name, name) && slice_equal(value->path, path);
}

static struct seen_value *
add_value(struct annotation *annotation, uint64_t hash, const struct seen_value *value)
{
    void *values = annotation->values;
    struct seen_value *added = arena_allocate(&annotation->arena, 1, sizeof *added);

    if (added == NULL || value->name.bytes == NULL || value->path.bytes == NULL ||
        annotation->value_count >= NUMBER_MAP_NONE ||
        !memory_grow(&values, &annotation->value_capacity, annotation->value_count + 1,
                     sizeof *annotation->values)) {
        return NULL;
    }
    annotation->values = values;
    if (!number_map_add(&annotation->known, hash, (uint32_t)annotation->value_count)) {
        return NULL;
    }
    *added = *value;
    annotation->values[annotation->value_count++] = added;
    return added;
}

/* Returns NULL if memory runs out. */
static struct seen_value *find_value(struct annotation *annotation,
                                     uint32_t file,
                                     const struct log_event_view *event)
{
    const struct site *site = event->site;
    struct slice name = cut(event->name);
    struct slice path = cut(event->path);
    uint64_t hash = key_hash(file, site, name, path);
    struct number_map_search search = number_map_search(&annotation->known, hash);
    struct seen_value value = {
        .file = file,
        .line = site->line,
        .column = site->column,
        .order = (uint32_t)annotation->value_count,
        .kind = site->kind,
    };

    while (number_map_next(&search)) {
        assert(search.number < annotation->value_count);
        if (is_of_site(annotation->values[search.number], file, site, name, path)) {
            return annotation->values[search.number];
        }
    }
    value.name = arena_copy(&annotation->arena, name);
    value.path = arena_copy(&annotation->arena, path);
    return add_value(annotation, hash, &value);
}

/* Whether the event's value is shown. Skipped are reads, the object of a method, and the object
 * of a call, which has no shape. */
static bool is_reported(const struct log_event_view *event)
{
    if ((event->flags & LOG_EVENT_READ) != 0) {
        return false; /* shown at the line that assigned it */
    }
    return event->kind != VALUE_OBJECT || (event->site->kind != SITE_MUTATE &&
                                           !(event->site->kind == SITE_ENTER &&
                                             (slice_equal(event->name, SLICE("self")) ||
                                              slice_equal(event->name, SLICE("cls")))));
}

bool annotation_add_event(struct annotation *annotation,
                          const struct log_event_view *event,
                          bool is_wanted,
                          struct error *error)
{
    struct seen_file *file = find_file(annotation, event->module_number, event->module);
    struct seen_value *value;

    if (file == NULL || !mark_line(file, event->site->line, LINE_REACHED)) {
        return error_set_memory(error);
    }
    if (!is_wanted) {
        return true;
    }
    file->value_count++;
    if (!is_reported(event)) {
        return true;
    }
    value = find_value(annotation, (uint32_t)(file - annotation->files), event);
    if (value == NULL || !seen_value_count(value, event, &annotation->arena)) {
        return error_set_memory(error);
    }
    return true;
}

/* ---- facts from other records than events ---- */

bool annotation_add_left(struct annotation *annotation,
                         const struct log_reader *reader,
                         const struct open_call *call,
                         struct error *error)
{
    struct seen_file *file = find_file(annotation, call->module_number,
                                       log_reader_module(reader, call->module_number));

    if (file == NULL ||
        !mark_line(file, open_call_function(call, reader)->line, LINE_OF_LEFT)) {
        return error_set_memory(error);
    }
    return true;
}

static bool read_source(struct annotation *annotation,
                        struct seen_file *file,
                        const struct log_module *module,
                        bool (*strip)(struct slice text, struct buffer *original))
{
    struct buffer original = BUFFER_INIT;
    struct slice source = module->source;
    bool is_done = true;

    if (file->source.size > 0 || source.size == 0 ||
        module->source_tag == LOG_SOURCE_OTHER) {
        return true;
    }
    if (module->source_tag == LOG_SOURCE_INSTRUMENTED) {
        is_done = strip(source, &original) && !original.has_failed;
        source = buffer_slice(&original);
    }
    if (is_done) {
        source = arena_copy(&annotation->arena, source);
        is_done = source.bytes != NULL;
    }
    if (is_done) {
        file->source = source;
    }
    buffer_release(&original);
    return is_done;
}

static bool is_in_left(const struct seen_file *file,
                       const struct site_table *table,
                       const struct site *site)
{
    uint32_t line = table->functions[site->function].line;

    return line < file->line_count && (file->lines[line] & LINE_OF_LEFT) != 0;
}

static enum seen_line mark_of(enum site_kind kind)
{
    switch (kind) {
    case SITE_ENTER:
        return LINE_HAS_ENTER;
    case SITE_BRANCH:
        return LINE_HAS_BRANCH;
    default:
        return LINE_HAS_OTHER;
    }
}

/* Whether an event of the site could pass the filter. Conditions on fields that only events have
 * count as not met. */
static bool site_is_wanted(const struct event_filter *filter,
                           const struct log_reader *reader,
                           uint32_t module_number,
                           const struct site *site)
{
    struct open_call call = {.module_number = module_number,
                             .function = site->function};
    struct log_event_view event = {.site = site};

    event_filter_judge(filter, &call, reader);
    if (site->write_count == 0) {
        return event_filter_match(filter, &call, &event);
    }
    for (uint32_t i = 0; i < site->write_count; i++) {
        event.name = site->writes[i].name;
        if (event_filter_match(filter, &call, &event)) {
            return true;
        }
    }
    return false;
}

bool annotation_end_trace(struct annotation *annotation,
                          const struct log_reader *reader,
                          const struct event_filter *filter,
                          bool (*strip)(struct slice text, struct buffer *original),
                          struct error *error)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);
        struct seen_file *file = find_file(annotation, i, module);

        if (file == NULL || !read_source(annotation, file, module, strip)) {
            return error_set_memory(error);
        }
        for (uint32_t k = 0; k < module->table.site_count; k++) {
            const struct site *site = &module->table.sites[k];

            if ((site_is_wanted(filter, reader, i, site) &&
                 !mark_line(file, site->line, mark_of(site->kind))) ||
                (is_in_left(file, &module->table, site) &&
                 !mark_line(file, site->line, LINE_IN_LEFT))) {
                return error_set_memory(error);
            }
        }
    }
    return true;
}
