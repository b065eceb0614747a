/* Any bytes as the line that tells what a tensor was saved as, and as a file's name: refused, or
 * read; what is written of it reads the same, and its file's name is one. */
#include "runtime/base/arena.h"
#include "runtime/base/utf8.h"
#include "runtime/saved/saved.h"
#include "tests/fuzz/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct slice text)
{
    claim(text.bytes != NULL && utf8_find_invalid(text) == text.size);
}

static void check_file_stem(struct slice full_name)
{
    struct buffer stem = BUFFER_INIT;
    struct slice text;

    saved_add_file_stem(full_name, &stem);
    text = buffer_slice(&stem);
    claim(text.size <= 255 && memchr(text.bytes, '/', text.size) == NULL &&
          memchr(text.bytes, '\0', text.size) == NULL &&
          (text.size == 0 || text.bytes[0] != '.'));
    buffer_release(&stem);
}

static void check_line(struct slice line, struct arena *arena)
{
    struct saved_tensor once = {0};
    struct saved_tensor twice = {0};
    struct buffer text = BUFFER_INIT;

    if (!saved_read_json(&once, line, arena)) {
        return;
    }
    check_text(once.key.prefix);
    check_text(once.key.module_path);
    check_text(once.key.name);
    check_text(once.file);
    check_text(once.function);
    saved_add_json(&once, &text);
    claim(saved_read_json(&twice, buffer_slice(&text), arena));
    claim(slice_equal(once.key.prefix, twice.key.prefix) &&
          slice_equal(once.key.module_path, twice.key.module_path) &&
          slice_equal(once.key.name, twice.key.name) &&
          slice_equal(once.file, twice.file) &&
          slice_equal(once.function, twice.function) &&
          once.key.call == twice.key.call && once.order == twice.order &&
          once.line == twice.line);
    text.size = 0;
    saved_key_add_full_name(&once.key, &text);
    check_file_stem(buffer_slice(&text));
    buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {(const char *)data, size};
    struct saved_tensor tensor = {0};
    struct arena arena;

    arena_init(&arena);
    check_line(text, &arena);
    claim(saved_read_file_name(&tensor, text, &arena));
    claim(tensor.key.name.size + tensor.key.module_path.size <= size);
    check_file_stem(text);
    arena_release(&arena);
    return 0;
}
