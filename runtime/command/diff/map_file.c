/* Map file: the argument of --map-file. */
#include "runtime/command/diff/map_file.h"

#include "runtime/base/file/file.h"
#include "runtime/base/json_read.h"
#include "runtime/base/memory.h"

/* A larger file is refused: it is a device, or no map. */
#define SIZE_MOST (64u << 20)

static bool read_field(struct json_reader *reader,
                       struct slice key,
                       struct match_pin *pin,
                       struct slice *record)
{
    uint64_t number;
    bool is_read = true;

    if (slice_equal(key, SLICE("record"))) {
        return json_reader_text(reader, record);
    }
    if (slice_equal(key, SLICE("name")) || slice_equal(key, SLICE("name_a"))) {
        return json_reader_text(reader, &pin->names[key.size == 4]);
    }
    if (slice_equal(key, SLICE("line")) || slice_equal(key, SLICE("line_a"))) {
        is_read = json_reader_natural(reader, &number);
        pin->lines[key.size == 4] =
            is_read && number <= UINT32_MAX ? (uint32_t)number : 0;
        return is_read;
    }
    pin->is_part |= slice_equal(key, SLICE("parts"));
    return json_reader_skip(reader);
}

static bool add_pin(struct map_file *file, const struct match_pin *pin)
{
    void *items = file->pins;

    if (!memory_grow(&items, &file->capacity, file->count + 1, sizeof *file->pins)) {
        return false;
    }
    file->pins = items;
    file->pins[file->count++] = *pin;
    return true;
}

static bool read_line(struct map_file *file, struct slice line, bool *is_valid)
{
    struct match_pin pin = {.is_found = false};
    struct json_reader reader;
    struct slice key, record = SLICE("");

    json_reader_init(&reader, line, &file->arena);
    if (json_reader_begin_object(&reader)) {
        while (json_reader_next_key(&reader, &key) &&
               read_field(&reader, key, &pin, &record)) {}
    }
    *is_valid = json_reader_finish(&reader);
    if (!*is_valid || !slice_equal(record, SLICE("map"))) {
        return true;
    }
    *is_valid = pin.names[0].size > 0 && pin.names[1].size > 0;
    return !*is_valid || add_pin(file, &pin);
}

bool map_file_read(struct map_file *file, const char *path, struct error *error)
{
    struct slice text;
    bool is_valid = true, is_done = true;
    unsigned number = 0;

    *file = (struct map_file){.text = BUFFER_INIT};
    arena_init(&file->arena);
    if (!file_read(path, SIZE_MOST, &file->text, error)) {
        return false;
    }
    text = buffer_slice(&file->text);
    for (size_t start = 0, end; is_done && is_valid && start < text.size;
         start = end + 1) {
        end = slice_find(text, SLICE("\n"), start);
        number++;
        if (end > start) {
            is_done = read_line(file, slice_part(text, start, end), &is_valid);
        }
    }
    if (!is_done || file->arena.has_failed) {
        return error_set_memory(error);
    }
    if (!is_valid) {
        error_set(error, ERROR_USAGE,
                  "%.200s:%u: expected a JSON object with name and name_a, as "
                  "`monitorch diff "
                  "--print-map --json` writes",
                  path, number);
    }
    return is_valid;
}

void map_file_release(struct map_file *file)
{
    buffer_release(&file->text);
    arena_release(&file->arena);
    memory_free(file->pins);
}
