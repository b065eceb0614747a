/* Any bytes as two traces: verdicts on them, by every command that gives some.
 *
 * The first byte chooses: its bit 0, two inputs as in short_trace.h, the first as long as the next
 * two bytes say. Else one input of that length, and behind it places to change for the second
 * trace: an offset in two bytes and what to put there. Bits 1 and 2 are options of diff. */
#include "runtime/view/check/check.h"
#include "runtime/view/diff/diff.h"
#include "runtime/view/why/why.h"
#include "tests/fuzz/claim.h"
#include "tests/fuzz/short_trace.h"

#include <string.h>

#define CHANGE_SIZE 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pair {
    int files[2];
    char paths[2][SHORT_TRACE_PATH_SIZE];
};

struct seen {
    uint64_t findings;
    uint64_t first; /* how many were the first divergence */
};

/* ---- the two traces ---- */

static void put_changed(int file, const uint8_t *data, size_t size, size_t length)
{
    uint8_t *copy = malloc(length + 1);

    memcpy(copy, data, length);
    for (size_t at = length; length > 0 && at + CHANGE_SIZE <= size;
         at += CHANGE_SIZE) {
        copy[(size_t)(data[at] | data[at + 1] << 8) % length] = data[at + 2];
    }
    short_trace_put(file, copy, length);
    free(copy);
}

static struct pair pair_make(const uint8_t *data, size_t size)
{
    struct pair pair;
    size_t length = (size_t)(data[1] | data[2] << 8);
    bool has_two = (data[0] & 1) != 0;

    data += 3;
    size -= 3;
    length = length > size ? size : length;
    for (int i = 0; i < 2; i++) {
        pair.files[i] = short_trace_file(pair.paths[i]);
    }
    short_trace_put(pair.files[0], data, length);
    if (has_two) {
        short_trace_put(pair.files[1], data + length, size - length);
    } else {
        put_changed(pair.files[1], data, size, length);
    }
    return pair;
}

/* ---- what is made of them ---- */

static void check_printable(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];

        claim((byte >= ' ' && byte != 0x7F) || byte == '\n');
    }
}

static bool found(void *context, const struct diff_finding *finding)
{
    struct seen *seen = context;

    claim(finding->items[0] != NULL || finding->items[1] != NULL ||
          finding->cause == DIFF_CAUSE_FLOW);
    check_printable(finding->words);
    check_printable(finding->text);
    seen->findings++;
    seen->first += finding->is_first;
    return true;
}

static void compare(const char *path_a, const char *path_b, unsigned flags)
{
    struct seen seen = {0};
    struct diff_options options = {
        .tolerance = {.is_exact = (flags & 2) != 0,
                      .is_across_precision = (flags & 4) != 0,
                      .rtol = -1,
                      .atol = -1},
        .found = found,
        .context = &seen};
    struct diff_result result;
    struct error error = ERROR_INIT;

    if (diff_traces(path_a, path_b, &options, &result, &error)) {
        claim(seen.first <= 1);
        claim(result.equal + result.own + result.inherited <= result.event_counts[0]);
        claim(result.equal + result.own + result.inherited <= result.event_counts[1]);
        if (strcmp(path_a, path_b) == 0) {
            claim(seen.first == 0 &&
                  (diff_result_is_equal(&result) || diff_result_is_empty(&result)));
        }
    } else {
        claim(error.kind != ERROR_NONE && error.kind != ERROR_USAGE);
    }
}

static void ask_why(const char *path)
{
    struct why_ask ask = {
        .event = {"", 0}, .depth = 8, .has_source = true, .wants_texts = true};
    struct error error = ERROR_INIT;
    struct buffer text = BUFFER_INIT;
    struct why why;

    why_init(&why);
    if (why_find(&why, path, &ask, &error) && why.target != FLOW_NONE) {
        why_text_add(&why, &text);
        check_printable(buffer_slice(&text));
        text.size = 0;
        why_json_add(&why, NULL, SLICE(""), &text);
        claim(slice_starts(buffer_slice(&text), SLICE("{")));
    }
    why_release(&why);
    buffer_release(&text);
}

static void check_trace(const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct source_lines sources;
    struct check_rules rules;
    struct check check;
    struct log_item item;

    if (reader == NULL) {
        return;
    }
    source_lines_init(&sources, reader, NULL);
    check_rules_init(&rules);
    for (int i = 0; i < CHECK_KIND_COUNT; i++) {
        rules.is_wanted[i] = true;
    }
    rules.max_abs = 1;
    claim(check_rules_add_dtype(&rules, SLICE("float32"), &error));
    claim(check_rules_add_shape(&rules, SLICE("*=...,B,_"), &error));
    if (check_init(&check, &rules, reader, &sources, &error)) {
        while (log_reader_next(reader, &item) && check_visit(&check, &item, &error)) {
            /* on */
        }
        claim(check_finish(&check, &error));
        for (uint32_t i = 0; i < check.group_count; i++) {
            check_printable(check.groups[i].words);
            claim(check.groups[i].count > 0);
        }
        check_release(&check);
    }
    check_rules_release(&rules);
    source_lines_release(&sources);
    log_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pair pair;

    if (size < 3) {
        return 0;
    }
    pair = pair_make(data, size);
    compare(pair.paths[0], pair.paths[1], data[0]);
    compare(pair.paths[1], pair.paths[1], data[0]);
    ask_why(pair.paths[1]);
    check_trace(pair.paths[1]);
    close(pair.files[0]);
    close(pair.files[1]);
    return 0;
}
