/* Writes the definitions of a trace; texts and forms get their numbers here. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/trace/writer_private.h"

/* Which texts and forms have a number already. Contents are known by 128 bits of hash and not
 * kept: two that share one do not occur. */

#define CAPACITY_MIN 256
/* A program that makes up texts without end must not fill the memory: when this many places
 * are taken up to their share, the table starts anew, and what comes again gets a second
 * number. */
#define CAPACITY_MAX (1024 * 1024)

void log_intern_release(struct log_intern *intern)
{
    memory_free(intern->entries);
    *intern = (struct log_intern){0};
}

/* The entry with this hash, or the free place where it would be. */
static struct log_intern_entry *
find_place(const struct log_intern *intern, enum log_kind kind, const uint64_t hash[2])
{
    size_t i = (size_t)hash[0] & (intern->capacity - 1);

    for (;; i = (i + 1) & (intern->capacity - 1)) {
        struct log_intern_entry *entry = &intern->entries[i];

        if (entry->number == 0 || (entry->hash[0] == hash[0] &&
                                   entry->hash[1] == hash[1] && entry->kind == kind)) {
            return entry;
        }
    }
}

static bool intern_grow(struct log_intern *intern)
{
    struct log_intern larger = {.count = intern->count};

    larger.capacity = intern->capacity == 0 ? CAPACITY_MIN : 2 * intern->capacity;
    larger.entries = memory_allocate_zeroed(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < intern->capacity; i++) {
        const struct log_intern_entry *entry = &intern->entries[i];

        if (entry->number != 0) {
            *find_place(&larger, entry->kind, entry->hash) = *entry;
        }
    }
    memory_free(intern->entries);
    *intern = larger;
    return true;
}

/* Keeps a quarter of the places free. Where the table may not or cannot grow, it is emptied. */
static bool intern_make_room(struct log_intern *intern)
{
    if (intern->count < intern->capacity / 4 * 3) {
        return true;
    }
    if (intern->capacity < CAPACITY_MAX && intern_grow(intern)) {
        return true;
    }
    if (intern->capacity == 0) {
        return false;
    }
    memset(intern->entries, 0, intern->capacity * sizeof *intern->entries);
    intern->count = 0;
    return true;
}

static struct log_intern_entry *
log_intern_find(struct log_intern *intern, enum log_kind kind, struct slice content)
{
    struct log_intern_entry *entry;
    uint64_t hash[2];

    if (!intern_make_room(intern)) {
        return NULL;
    }
    hash_128(content, hash);
    entry = find_place(intern, kind, hash);
    if (entry->number == 0) {
        *entry = (struct log_intern_entry){.hash = {hash[0], hash[1]}, .kind = kind};
    }
    return entry;
}

#define REPLACEMENT "\xef\xbf\xbd"

bool log_writer_define(struct log_writer *writer,
                       const void *head,
                       size_t head_size,
                       struct slice rest)
{
    struct error error = ERROR_INIT;
    struct log_record record;
    size_t padded;
    char *place;

    if (writer->is_stopped || rest.size > LOG_DEFINITIONS_MAX / 2) {
        return false;
    }
    padded = log_record_padded(head_size + rest.size);
    if (padded > log_open_chunk_left(&writer->definitions) &&
        !log_chunks_next_definitions(writer, padded, &error)) {
        log_writer_stop(writer, &error);
        return false;
    }
    place = log_open_chunk_place(&writer->definitions);
    memcpy(&record, head, sizeof record);
    record.size = (uint32_t)(head_size + rest.size);
    memcpy(place + sizeof record, (const char *)head + sizeof record,
           head_size - sizeof record);
    if (rest.size > 0) {
        memcpy(place + head_size, rest.bytes, rest.size);
    }
    log_record_publish(place, record);
    writer->definitions.used += padded;
    return true;
}

/* The entry of a content; NULL where recording has stopped. */
static struct log_intern_entry *
writer_find(struct log_writer *writer, enum log_kind kind, struct slice content)
{
    struct log_intern_entry *entry;

    if (writer->is_stopped) {
        return NULL;
    }
    entry = log_intern_find(&writer->intern, kind, content);
    if (entry == NULL) {
        struct error error = ERROR_INIT;

        error_set(&error, ERROR_MEMORY, "%s: out of memory", writer->path);
        log_writer_stop(writer, &error);
    }
    return entry;
}

/* Numbers end some time; what would need another is lost. */
static bool number_next(struct log_writer *writer, uint32_t *count)
{
    struct error error = ERROR_INIT;

    if (*count < UINT32_MAX - 1) {
        ++*count;
        return true;
    }
    error_set(&error, ERROR_USAGE, "%s: holds too many different texts", writer->path);
    log_writer_stop(writer, &error);
    return false;
}

/* Copies text into `clean`, which has room for LOG_TEXT_MAX bytes, as valid UTF-8. */
static struct slice text_clean(struct slice text, char *clean)
{
    size_t size = 0;

    for (size_t i = 0; i < text.size;) {
        uint32_t code;
        size_t step = utf8_read(text, i, &code);
        struct slice character =
            step == 0 ? SLICE(REPLACEMENT) : slice_part(text, i, i + step);

        if (size + character.size > LOG_TEXT_MAX) {
            break;
        }
        memcpy(clean + size, character.bytes, character.size);
        size += character.size;
        i += step == 0 ? 1 : step;
    }
    return (struct slice){clean, size};
}

uint32_t log_writer_text(struct log_writer *writer, struct slice text)
{
    struct log_text head = {.record = {.kind = LOG_TEXT}};
    struct log_intern_entry *entry;
    char clean[LOG_TEXT_MAX];

    if (text.size == 0) {
        return 0;
    }
    if (text.size > LOG_TEXT_MAX || utf8_find_invalid(text) < text.size) {
        text = text_clean(text, clean);
    }
    entry = writer_find(writer, LOG_TEXT, text);
    if (entry == NULL || entry->number != 0) {
        return entry == NULL ? 0 : entry->number;
    }
    head.number = writer->text_count;
    if (!number_next(writer, &head.number) ||
        !log_writer_define(writer, &head, sizeof head, text)) {
        return 0;
    }
    writer->text_count = head.number;
    writer->intern.count++;
    entry->number = head.number;
    return head.number;
}

uint32_t log_writer_form(struct log_writer *writer, struct log_form *form, size_t size)
{
    struct slice content = {(const char *)form, size};
    struct log_intern_entry *entry;

    form->record.kind = LOG_FORM;
    form->record.size = (uint32_t)size;
    form->number = 0;
    entry = writer_find(writer, LOG_FORM, content);
    if (entry == NULL || entry->number != 0) {
        form->number = entry == NULL ? 0 : entry->number;
        return form->number;
    }
    form->number = writer->form_count;
    if (!number_next(writer, &form->number) ||
        !log_writer_define(writer, form, sizeof *form,
                           slice_part(content, sizeof *form, size))) {
        form->number = 0;
        return 0;
    }
    writer->form_count = form->number;
    writer->intern.count++;
    entry->number = form->number;
    return form->number;
}

void log_writer_setting(struct log_writer *writer,
                        struct slice name,
                        struct slice value)
{
    struct log_setting_record head = {
        .record = {.kind = LOG_SETTING},
        .name = log_writer_text(writer, name),
        .value = log_writer_text(writer, value),
    };

    (void)log_writer_define(writer, &head, sizeof head, SLICE(""));
}
