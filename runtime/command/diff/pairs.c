/* Which traces are compared with which. */
#include "runtime/command/diff/pairs.h"

#include "runtime/base/buffer.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/trace_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diff_pairs_release(struct diff_pairs *pairs)
{
    arena_release(&pairs->arena);
}

static bool name_pair(struct diff_pairs *pairs, struct diff_pair *pair, bool is_ranks)
{
    long rank = trace_rank(pair->paths[1]);
    char text[64];

    if (rank < 0 || is_ranks) {
        pair->name = trace_file_name(pair->paths[1]);
        return true;
    }
    snprintf(text, sizeof text, "rank %ld", rank);
    pair->name = arena_copy(&pairs->arena, slice_of(text)).bytes;
    return pair->name != NULL;
}

static bool is_same_trace(const char *a, const char *b)
{
    return trace_rank(a) >= 0 ? trace_rank(a) == trace_rank(b)
                              : strcmp(trace_file_name(a), trace_file_name(b)) == 0;
}

static bool
match(struct diff_pairs *pairs, const struct trace_list lists[2], struct error *error)
{
    bool is_one = lists[0].count == 1 && lists[1].count == 1;
    size_t most = lists[0].count > lists[1].count ? lists[0].count : lists[1].count;

    pairs->pairs = arena_allocate(&pairs->arena, most, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < most; i++) {
        struct diff_pair *pair = &pairs->pairs[i];

        if (i >= lists[0].count || i >= lists[1].count ||
            (!is_one && !is_same_trace(lists[0].paths[i], lists[1].paths[i]))) {
            bool is_a = i < lists[0].count &&
                        (i >= lists[1].count ||
                         trace_order(lists[0].paths[i], lists[1].paths[i]) < 0);

            error_set(error, ERROR_INPUT, "%s: the other folder has no such trace",
                      is_a ? lists[0].paths[i] : lists[1].paths[i]);
            return false;
        }
        *pair = (struct diff_pair){{lists[0].paths[i], lists[1].paths[i]}, NULL};
        if (!is_one && !name_pair(pairs, pair, false)) {
            return error_set_memory(error);
        }
        pairs->count++;
    }
    return true;
}

static bool pair_with_first(struct diff_pairs *pairs,
                            const struct trace_list *list,
                            struct error *error)
{
    if (list->count < 2) {
        error_set(error, ERROR_INPUT,
                  "%s: is one trace, expected several ranks' traces", list->paths[0]);
        return false;
    }
    pairs->pairs = arena_allocate(&pairs->arena, list->count, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 1; i < list->count; i++) {
        struct diff_pair *pair = &pairs->pairs[pairs->count++];

        *pair = (struct diff_pair){{list->paths[0], list->paths[i]}, NULL};
        if (list->count > 2 && !name_pair(pairs, pair, true)) {
            return error_set_memory(error);
        }
    }
    return true;
}

/* What WORLD_SIZE was when the trace was recorded; -1: not known. */
static long find_world_size(const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    long size = -1;

    for (size_t i = 0; reader != NULL && i < log_reader_setting_count(reader); i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);
        char text[16] = "";

        if (slice_equal(setting->name, SLICE("environment.WORLD_SIZE")) &&
            setting->value.size < sizeof text) {
            memcpy(text, setting->value.bytes, setting->value.size);
            size = strtol(text, NULL, 10);
        }
    }
    log_reader_free(reader);
    return size;
}

/* The first trace is of the job that was recorded last into that name: each job has a rank 0. */
static bool leave_out_earlier(struct diff_pairs *pairs,
                              struct trace_list *list,
                              struct error *error)
{
    size_t kept = 0;

    if (list->count == 0 || trace_rank(list->paths[0]) != 0) {
        return true;
    }
    pairs->world_size = find_world_size(list->paths[0]);
    pairs->left_out =
        arena_allocate(&pairs->arena, list->count, sizeof *pairs->left_out);
    if (pairs->left_out == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (pairs->world_size > 0 && trace_rank(list->paths[i]) >= pairs->world_size) {
            pairs->left_out[pairs->left_out_count++] = list->paths[i];
        } else {
            list->paths[kept++] = list->paths[i];
        }
    }
    list->count = kept;
    return true;
}

/* Each with the first one, of all that the words stand for. */
static bool find_ranks(struct diff_pairs *pairs,
                       const struct diff_command_options *options,
                       struct error *error)
{
    struct trace_list list;
    bool is_done = true;

    trace_list_init(&list, &pairs->arena);
    for (size_t i = 0; is_done && i < options->traces.count; i++) {
        is_done = trace_list_add(&list, options->traces.words[i], error);
    }
    is_done = is_done && leave_out_earlier(pairs, &list, error) &&
              pair_with_first(pairs, &list, error);
    trace_list_release(&list);
    return is_done;
}

bool diff_pairs_find(struct diff_pairs *pairs,
                     const struct diff_command_options *options,
                     struct error *error)
{
    struct trace_list lists[2];
    bool is_done;

    *pairs = (struct diff_pairs){.count = 0};
    arena_init(&pairs->arena);
    if (options->is_ranks) {
        return find_ranks(pairs, options, error);
    }
    trace_list_init(&lists[0], &pairs->arena);
    trace_list_init(&lists[1], &pairs->arena);
    is_done = trace_list_add(&lists[0], options->traces.words[0], error) &&
              trace_list_add(&lists[1], options->traces.words[1], error) &&
              match(pairs, lists, error);
    trace_list_release(&lists[0]);
    trace_list_release(&lists[1]);
    return is_done;
}
