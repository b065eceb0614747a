/* Statistics that come late: filled into events as long as their chunk is open, told of before it
 * is left, found by readers whenever the writer ends. */
#include "runtime/trace/late.h"
#include "tests/trace/test_log.h"

#include <math.h>

#define PATH        "late.mtrace"
#define EVENT_COUNT 5000

/* What a device would have: events whose statistics are still to come. */
struct queue {
    struct log_event *events[EVENT_COUNT];
    uint32_t numbers[EVENT_COUNT];
    size_t count;
    size_t printed_count; /* how often it was told that a chunk is left */
};

static struct statistics statistics_of(uint32_t number)
{
    return (struct statistics){
        .count = 6,
        .nan_count = number % 3,
        .posinf_count = number % 2,
        .zero_count = 1,
        .min.real = -(double)number,
        .max.real = number,
        .mean = number * 0.5,
        .std = number == 0 ? NAN : number,
    };
}

static void fill(void *context)
{
    struct queue *queue = context;

    queue->printed_count++;
    for (size_t i = 0; i < queue->count; i++) {
        struct statistics statistics = statistics_of(queue->numbers[i]);
        log_late_fill(queue->events[i], &statistics);
    }
    queue->count = 0;
}

static uint32_t define_late_form(struct log_writer *writer)
{
    struct {
        struct log_form form;
        int64_t dimensions[2];
    } record = {
        .form = {.record = {.kind = LOG_FORM},
                 .dtype = DTYPE_FLOAT32,
                 .dimension_count = 1},
        .dimensions = {6, 1},
    };

    return log_writer_form(writer, &record.form, sizeof record);
}

static bool write_late_event(struct log_writer *writer,
                             uint32_t form,
                             uint32_t number,
                             struct queue *queue)
{
    size_t size = sizeof(struct log_event) + sizeof(struct log_tensor) + LOG_LATE_SIZE;
    struct log_event *event = log_writer_begin(writer, size);

    if (event == NULL) {
        return false;
    }
    event->site = 1;
    event->visit = number;
    event->type = form;
    ((struct log_tensor *)(event + 1))->alias_site = UINT32_MAX;
    log_writer_commit(writer, (struct log_record){.size = (uint32_t)size,
                                                  .kind = LOG_EVENT,
                                                  .tag = VALUE_TENSOR});
    queue->events[queue->count] = event;
    queue->numbers[queue->count++] = number;
    return true;
}

static bool is_as_filled(const struct log_event_view *event)
{
    struct statistics wanted = statistics_of(event->visit);
    const struct statistics *got = &event->statistics;

    return got->count == wanted.count && got->nan_count == wanted.nan_count &&
           got->posinf_count == wanted.posinf_count && got->neginf_count == 0 &&
           got->zero_count == wanted.zero_count && got->min.real == wanted.min.real &&
           got->max.real == wanted.max.real && got->mean == wanted.mean &&
           (got->std == wanted.std || (isnan(got->std) && isnan(wanted.std))) &&
           !event->has_hash && event->sample == NULL;
}

/* How many events there are, and how many have their statistics: the first ones. */
static void read_events(size_t *count, size_t *filled_count)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(PATH, &error);
    struct log_item item;

    *count = *filled_count = 0;
    CHECK(reader != NULL);
    while (reader != NULL && log_reader_next(reader, &item)) {
        if (item.kind != LOG_EVENT) {
            continue;
        }
        if (item.event.has_statistics) {
            CHECK(is_as_filled(&item.event));
            CHECK(*filled_count == *count);
            (*filled_count)++;
        }
        (*count)++;
    }
    CHECK(reader == NULL || log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
}

static void test_all_are_filled(uint64_t last)
{
    static struct queue queue;
    struct error error = ERROR_INIT;
    struct log_options options = {
        .sample = SAMPLE, .last = last, .before_seal = fill, .seal_context = &queue};
    struct log_writer *writer = log_writer_new(PATH, &options, &error);
    size_t count, filled_count;

    queue = (struct queue){.count = 0};
    CHECK(writer != NULL && define_module(writer, SLICE("")));
    uint32_t form = define_late_form(writer);
    for (uint32_t i = 0; i < EVENT_COUNT; i++) {
        CHECK(write_late_event(writer, form, i, &queue));
    }
    CHECK(queue.printed_count > 1 && queue.count > 0);

    /* A reader that comes meanwhile finds all events, the last ones without statistics. */
    size_t waiting = queue.count;
    read_events(&count, &filled_count);
    CHECK(count == (last == 0 ? EVENT_COUNT : last));
    CHECK(filled_count == (count > waiting ? count - waiting : 0));

    CHECK(log_writer_close(writer, &error));
    CHECK(queue.count == 0);
    read_events(&count, &filled_count);
    CHECK(count == (last == 0 ? EVENT_COUNT : last) && filled_count == count);
}

/* Who lets go of the file after a fork touches nothing of it. */
static void test_abandoned(void)
{
    static struct queue queue;
    struct error error = ERROR_INIT;
    struct log_options options = {
        .sample = SAMPLE, .before_seal = fill, .seal_context = &queue};
    struct log_writer *writer = log_writer_new(PATH, &options, &error);

    queue = (struct queue){.count = 0};
    CHECK(writer != NULL && define_module(writer, SLICE("")));
    CHECK(write_late_event(writer, define_late_form(writer), 3, &queue));
    log_writer_abandon(writer);
    CHECK(queue.printed_count == 0 && queue.count == 1);
}

int main(void)
{
    test_all_are_filled(0);
    test_all_are_filled(1000);
    test_all_are_filled(10);
    test_abandoned();
    return check_finish();
}
