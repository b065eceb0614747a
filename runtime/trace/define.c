/* Writes the definitions of a trace; texts and forms get their numbers here. */
#include "runtime/trace/writer_private.h"

#include "runtime/base/utf8.h"

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
