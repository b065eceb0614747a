/* Two traces side by side. With the names of two traces and `OLD=NEW` words it prints the steps,
 * for tests/trace/test_diff_align.py: a line a step, with a tab between kind, site's place, name,
 * visit, call and why it is odd, for A and then for B. */
#include "instrument/strip.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff_align.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <time.h>

#define RENAMES_MAX 16

static const char *const odd_texts[] = {"=", "code", "flow", "part"};

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
        printf("%llu %llu\n", (unsigned long long)counts[0], (unsigned long long)counts[1]);
    }
    pair_close(&pair);
    return 0;
}

int main(int count, char **words)
{
    if (count >= 3) {
        return print_steps(count - 1, words + 1);
    }
    return check_finish();
}
