/* Two traces side by side. With the names of two traces and `OLD=NEW` words it prints the steps,
 * for tests/view/diff/test_diff_align.py: a line a step, with a tab between kind, site's place, name,
 * visit, call and why it is odd, for A and then for B. */
#include "instrument/output/strip.h"
#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/align/align.h"
#include "tests/trace/test_log.h"

#include <stdlib.h>

#define RENAMES_MAX 16

static const char *const odd_texts[] = {
    [DIFF_ODD_NONE] = "=",
    [DIFF_ODD_CODE] = "code",
    [DIFF_ODD_FLOW] = "flow",
    [DIFF_ODD_PART] = "part",
    [DIFF_ODD_LEFT_OUT] = "left out",
    [DIFF_ODD_BEFORE] = "before",
};

static void print_item(const struct log_item *item, const struct open_call *call)
{
    if (item == NULL) {
        printf("\t-");
        return;
    }
    switch (item->kind) {
    case LOG_EVENT:
        printf("\t%s:%u:%.*s%.*s:%u#%u", site_kind_text(item->event.site->kind),
               item->event.site->line, (int)item->event.name.size,
               item->event.name.bytes, (int)item->event.path.size,
               item->event.path.bytes, item->event.visit, call->call);
        break;
    case LOG_CALL:
        printf("\tcall:%u:%.*s:%u#%u", item->call.line,
               (int)item->call.function->name.size, item->call.function->name.bytes,
               item->call.parent, call->call);
        break;
    case LOG_END:
        printf("\tend:::#%u", call->call);
        break;
    default:
        printf("\tdata:%llu:%zu", (unsigned long long)item->data.offset,
               item->data.bytes.size);
        break;
    }
}

static void print_step(const struct diff_step *step)
{
    printf("%s", odd_texts[step->odd]);
    print_item(step->items[0], step->calls[0]);
    print_item(step->items[1], step->calls[1]);
    putchar('\n');
}

struct pair {
    struct log_reader *readers[2];
    struct source_lines sources[2];
    struct diff_rename renames[RENAMES_MAX];
    struct diff_align_options options;
    struct diff_align *align;
};

static bool pair_open(struct pair *pair, char *const paths[2], struct error *error)
{
    *pair = (struct pair){0};
    for (unsigned side = 0; side < 2; side++) {
        pair->readers[side] = log_reader_new(paths[side], error);
        if (pair->readers[side] == NULL) {
            return false;
        }
        source_lines_init(&pair->sources[side], pair->readers[side], strip_source);
        pair->options.readers[side] = pair->readers[side];
        pair->options.sources[side] = &pair->sources[side];
    }
    pair->options.renames = pair->renames;
    return true;
}

static void pair_close(struct pair *pair)
{
    diff_align_free(pair->align);
    for (unsigned side = 0; side < 2; side++) {
        source_lines_release(&pair->sources[side]);
        log_reader_free(pair->readers[side]);
    }
}

static int print_steps(int count, char **words)
{
    struct error error = ERROR_INIT;
    bool is_quiet = getenv("QUIET") != NULL;
    uint64_t counts[2] = {0, 0};
    struct diff_step step;
    struct pair pair;

    if (!pair_open(&pair, words, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 3;
    }
    for (int i = 2; i < count && i < 2 + RENAMES_MAX; i++) {
        struct slice word = slice_of(words[i]);
        size_t middle = slice_find(word, SLICE("="), 0);

        pair.renames[pair.options.rename_count++] = (struct diff_rename){
            slice_part(word, 0, middle), slice_part(word, middle + 1, word.size)};
    }
    pair.align = diff_align_new(&pair.options, &error);
    while (diff_align_next(pair.align, &step)) {
        counts[step.odd != DIFF_ODD_NONE]++;
        if (!is_quiet) {
            print_step(&step);
        }
    }
    if (is_quiet) {
        printf("%llu %llu\n", (unsigned long long)counts[0],
               (unsigned long long)counts[1]);
    }
    pair_close(&pair);
    return 0;
}

/* ---- streams of any records ---- */

#define RECORD_COUNT 4000

static char path_a[] = "align_a.mtrace";
static char path_b[] = "align_b.mtrace";

/* Records of a seed; where `left_out` is not 0, each of that many is missing. */
static void
write_some(const char *path, uint64_t seed, uint64_t last, uint64_t left_out)
{
    struct log_options options = {.sample = SAMPLE, .last = last};
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(path, &options, &error);

    if (!CHECK(writer != NULL)) {
        return;
    }
    CHECK(define_module(writer, SLICE("x = 1\n")));
    for (uint64_t i = 0; i < RECORD_COUNT; i++) {
        /* Without the first event, values would be of none. */
        if (i == 0 || left_out == 0 || mix(seed, i + 7) % left_out != 0) {
            CHECK(write_record(writer, seed, i));
        }
    }
    CHECK(log_writer_close(writer, &error));
}

struct tally {
    uint64_t pairs;
    uint64_t odd[2];
    uint64_t unlike; /* pairs of different records */
    uint64_t events[2];
    uint64_t sums[2]; /* of the events' numbers */
    bool has_failed;
};

static void tally_step(struct tally *tally, const struct diff_step *step)
{
    if (step->items[0] != NULL && step->items[1] != NULL) {
        tally->pairs++;
        tally->unlike += step->items[0]->kind != step->items[1]->kind ||
                         item_record(step->items[0]) != item_record(step->items[1]);
        CHECK(step->odd == DIFF_ODD_NONE);
    }
    for (unsigned side = 0; side < 2; side++) {
        const struct log_item *item = step->items[side];

        if (item == NULL || item->kind == LOG_DATA) {
            continue;
        }
        CHECK(item->kind != LOG_NOTE);
        CHECK(step->calls[side] != NULL);
        tally->odd[side] += step->items[1 - side] == NULL;
        if (item->kind == LOG_EVENT) {
            tally->events[side]++;
            tally->sums[side] += mix(3, item->event.number);
            CHECK(step->calls[side]->call == item->event.call);
        }
    }
}

/* false: the traces could not be opened. */
static bool align_all(char *const paths[2], struct tally *tally, struct error *error)
{
    struct diff_step step;
    struct pair pair;
    bool is_open = pair_open(&pair, paths, error);

    *tally = (struct tally){0};
    if (is_open) {
        pair.align = diff_align_new(&pair.options, error);
        is_open = pair.align != NULL;
    }
    while (is_open && diff_align_next(pair.align, &step)) {
        tally_step(tally, &step);
    }
    tally->has_failed = is_open && diff_align_has_failed(pair.align);
    pair_close(&pair);
    return is_open;
}

/* Whether each event of a trace was given once. */
static void check_complete(const char *path, const struct tally *tally, unsigned side)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct log_item item;
    uint64_t count = 0;
    uint64_t sum = 0;

    if (!CHECK(reader != NULL)) {
        return;
    }
    while (log_reader_next(reader, &item)) {
        if (item.kind == LOG_EVENT) {
            count++;
            sum += mix(3, item.event.number);
        }
    }
    CHECK(tally->events[side] == count);
    CHECK(tally->sums[side] == sum);
    log_reader_free(reader);
}

static void check_itself(void)
{
    char *const paths[2] = {path_a, path_a};
    struct error error = ERROR_INIT;
    struct tally tally;

    for (uint64_t seed = 1; seed <= 4; seed++) {
        write_some(path_a, seed, seed % 2 == 0 ? 0 : 500, 0);
        CHECK(align_all(paths, &tally, &error));
        CHECK(tally.odd[0] == 0 && tally.odd[1] == 0 && tally.unlike == 0);
        CHECK(!tally.has_failed && tally.pairs >= 500);
        check_complete(path_a, &tally, 0);
        check_complete(path_a, &tally, 1);
    }
}

static void check_others(void)
{
    char *const paths[2] = {path_a, path_b};
    struct error error = ERROR_INIT;
    struct tally tally;

    for (uint64_t left_out = 1000; left_out >= 2; left_out /= 4) {
        write_some(path_a, 5, 0, 0);
        write_some(path_b, 5, 0, left_out);
        CHECK(align_all(paths, &tally, &error));
        CHECK(!tally.has_failed);
        check_complete(path_a, &tally, 0);
        check_complete(path_b, &tally, 1);
        /* Few are missing, so few are without a counterpart. */
        CHECK(left_out < 200 || tally.odd[0] + tally.odd[1] < RECORD_COUNT / 20);
        write_some(path_b, left_out, left_out == 250 ? 300 : 0, 0);
        CHECK(align_all(paths, &tally, &error));
        CHECK(!tally.has_failed);
        check_complete(path_a, &tally, 0);
        check_complete(path_b, &tally, 1);
    }
}

static void check_memory(void)
{
    char *const paths[2] = {path_a, path_b};
    struct tally whole;
    struct error error = ERROR_INIT;
    uint64_t failed = 0;

    write_some(path_a, 6, 0, 0);
    write_some(path_b, 6, 0, 20);
    CHECK(align_all(paths, &whole, &error));
    for (size_t countdown = 1; countdown < 4000; countdown += 1 + countdown / 16) {
        struct tally tally;
        bool is_open;

        error = ERROR_INIT;
        memory_fail_after(countdown, countdown % 3 == 0);
        is_open = align_all(paths, &tally, &error);
        memory_fail_after(0, false);
        failed += !is_open || tally.has_failed;
        CHECK(is_open || strstr(error.text, "memory") != NULL);
        CHECK(tally.pairs <= whole.pairs + 200);
    }
    CHECK(failed > 20);
}

/* Bytes of a copy are changed; what is read of it is aligned without harm. */
static void check_damage(void)
{
    char *const paths[2] = {path_a, path_b};
    struct error error = ERROR_INIT;
    struct buffer bytes = BUFFER_INIT;

    write_some(path_a, 8, 0, 0);
    CHECK(file_read(path_a, (size_t)1 << 30, &bytes, &error));
    for (uint64_t round = 0; round < 60; round++) {
        FILE *file = fopen(path_b, "wb");
        size_t size = bytes.size - (round % 5 == 0 ? mix(round, 1) % bytes.size : 0);
        struct tally tally;

        if (!CHECK(file != NULL)) {
            break;
        }
        CHECK(fwrite(bytes.bytes, 1, size, file) == size);
        for (uint64_t i = 0; i < 1 + round % 20; i++) {
            fseek(file, (long)(mix(round, i + 2) % size), SEEK_SET);
            fputc((int)(mix(round, i + 90) & 255), file);
        }
        fclose(file);
        if (align_all(paths, &tally, &error)) {
            CHECK(!tally.has_failed);
            check_complete(path_a, &tally, 0);
            check_complete(path_b, &tally, 1);
        }
    }
    buffer_release(&bytes);
}

int main(int count, char **words)
{
    if (count >= 3) {
        return print_steps(count - 1, words + 1);
    }
    check_itself();
    check_others();
    check_memory();
    check_damage();
    return check_finish();
}
