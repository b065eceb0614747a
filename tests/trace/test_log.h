/* What the tests of traces share: a stream of records that follows from a seed, so that who
 * reads it knows each record without being told; and the program under test in a child. */
#ifndef MONITORCH_TESTS_UNIT_TEST_LOG_H
#define MONITORCH_TESTS_UNIT_TEST_LOG_H

#include "runtime/base/memory.h"
#include "runtime/trace/reader.h"
#include "runtime/trace/writer.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE        8
#define SITE_COUNT    6
#define WORD_COUNT    40
#define FORM_COUNT    30
#define PADDING_LIMIT 100

static inline uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + i * 0xbf58476d1ce4e5b9u + 1;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* ---- definitions ---- */

/* One module of SITE_COUNT sites in two functions; site 0 writes nothing, the others two
 * names. */
static inline void table_text(struct buffer *text)
{
    struct site_write writes[2] = {{SLICE("x"), SITE_SOURCE_VALUE},
                                   {SLICE("self.y"), SITE_SOURCE_PEEK}};
    struct site_function functions[2] = {{SLICE("<module>"), 1}, {SLICE("f"), 3}};
    struct site sites[SITE_COUNT];
    struct site_table table = {
        .path = SLICE("a.py"),
        .prefix = SLICE("_mt"),
        .options = SLICE("--all"),
        .functions = functions,
        .function_count = 2,
        .sites = sites,
        .site_count = SITE_COUNT,
    };

    for (uint32_t i = 0; i < SITE_COUNT; i++) {
        sites[i] = (struct site){.kind = i == 0 ? SITE_LOOP : SITE_ASSIGN,
                                 .line = 3 + i,
                                 .column = 5,
                                 .function = 1,
                                 .ordinal = i,
                                 .writes = writes,
                                 .write_count = i == 0 ? 0 : 2};
    }
    site_table_write(&table, text);
}

static inline bool define_module(struct log_writer *writer, struct slice source)
{
    struct log_table table = {.record = {.kind = LOG_TABLE}, .site_count = SITE_COUNT};
    struct log_source head = {
        .record = {.kind = LOG_SOURCE, .tag = LOG_SOURCE_INSTRUMENTED}};
    struct log_thread thread = {.record = {.kind = LOG_THREAD}, .native = 77};
    struct buffer text = BUFFER_INIT;
    bool is_defined;

    table_text(&text);
    table.module = log_writer_text(writer, SLICE("package.module"));
    table.file = log_writer_text(writer, SLICE("/tmp/a.py"));
    thread.name = log_writer_text(writer, SLICE("MainThread"));
    is_defined = !text.has_failed &&
                 log_writer_define(writer, &table, sizeof table, buffer_slice(&text)) &&
                 log_writer_define(writer, &head, sizeof head, source) &&
                 log_writer_define(writer, &thread, sizeof thread, SLICE(""));
    buffer_release(&text);
    return is_defined;
}

/* The texts that records refer to; word 0 is empty. */
static inline struct slice word_text(uint64_t word, char bytes[32])
{
    int size = word == 0 ? 0 : snprintf(bytes, 32, "['k\xc3\xa9y %d']", (int)word);

    return (struct slice){bytes, (size_t)size};
}

struct form {
    struct log_form head;
    int64_t dimensions[8];
};

static inline size_t form_fill(struct form *form, uint64_t number)
{
    uint32_t count = (uint32_t)(number % 4);
    uint32_t lists = number % 5 == 0 ? 1 : 2;

    memset(form, 0, sizeof *form);
    form->head.dtype = number % 2 == 0 ? DTYPE_FLOAT32 : DTYPE_INT64;
    form->head.dimension_count = (uint8_t)count;
    form->head.flags = lists == 1 ? LOG_FORM_NO_STRIDES : LOG_FORM_REQUIRES_GRAD;
    for (uint32_t i = 0; i < count; i++) {
        form->dimensions[i] = (int64_t)(number % 7 + i);
        if (lists == 2) {
            form->dimensions[count + i] = (int64_t)(100 * i + number);
        }
    }
    return sizeof form->head + lists * count * sizeof(int64_t);
}

/* ---- the stream ---- */

/* What record `i` is. */
static inline enum log_kind kind_of(uint64_t seed, uint64_t i)
{
    static const uint8_t kinds[] = {LOG_CALL, LOG_END, LOG_NOTE, LOG_DATA};
    uint64_t choice = mix(seed, i) % 16;

    return i == 0 || choice >= 4 ? LOG_EVENT : kinds[choice];
}

/* The numbers that a record is made of, one after the other. */
struct dice {
    uint64_t seed;
    uint64_t i;
    uint64_t next;
};

static inline uint64_t roll(struct dice *dice, uint64_t sides)
{
    return mix(dice->seed ^ 0x5555, dice->i * 64 + dice->next++) % sides;
}

static inline struct dice dice_of(uint64_t seed, uint64_t i)
{
    return (struct dice){seed, i, 0};
}

/* The number of a text. New ones come up for long, so that definitions go on, but not for ever:
 * memory holds all of them. */
static inline uint64_t roll_word(struct dice *dice)
{
    return roll(dice, WORD_COUNT) + dice->i / 64 % 500 * WORD_COUNT;
}

static inline void fill_bytes(char *bytes, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(seed + i * 7);
    }
}

static inline bool bytes_match(const void *bytes, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        if (((const char *)bytes)[i] != (char)(seed + i * 7)) {
            return false;
        }
    }
    return true;
}

/* What an event is made of. */
struct event_plan {
    struct log_event event;
    struct log_scalar scalar;
    size_t text_size;
    uint64_t word;
    uint64_t form;
    struct log_tensor tensor;
    struct log_statistics statistics;
    struct log_nonfinite nonfinite;
};

static inline struct event_plan event_plan(uint64_t seed, uint64_t i)
{
    struct dice dice = dice_of(seed, i);
    struct event_plan plan;

    memset(&plan, 0, sizeof plan);
    plan.event.record.kind = LOG_EVENT;
    plan.event.record.tag = (uint8_t)roll(&dice, VALUE_KIND_COUNT);
    plan.event.record.mark = (uint8_t)roll(&dice, CHANGE_COUNT);
    plan.event.record.flags = (uint8_t)(roll(&dice, 64) & ~LOG_EVENT_PARAMETER);
    plan.event.time = i;
    plan.event.site = (uint32_t)roll(&dice, SITE_COUNT);
    plan.event.call = (uint32_t)roll(&dice, 1000);
    plan.event.visit = (uint32_t)roll(&dice, 1000);
    plan.event.write = plan.event.site == 0 ? 0 : (uint8_t)roll(&dice, 2);
    plan.event.difference = (uint8_t)roll(&dice, 128);
    plan.word = roll_word(&dice);
    plan.form = roll(&dice, FORM_COUNT);
    plan.scalar.integer = (int64_t)mix(seed, i + 1);
    plan.scalar.imaginary = (double)roll(&dice, 1000) / 8;
    if (plan.event.record.tag == VALUE_FLOAT ||
        plan.event.record.tag == VALUE_COMPLEX) {
        plan.scalar.real = (double)roll(&dice, 1000) / 4;
    }
    plan.text_size = roll(&dice, 20) == 0 ? roll(&dice, 30000) : roll(&dice, 50);
    plan.tensor.object = mix(seed, i + 2);
    plan.tensor.data = mix(seed, i + 3);
    plan.tensor.offset = (int64_t)mix(seed, i + 4);
    plan.tensor.version = (uint32_t)roll(&dice, 10);
    plan.tensor.alias_site = roll(&dice, 4) == 0 ? 3 : UINT32_MAX;
    plan.statistics.min = mix(seed, i + 5);
    plan.statistics.mean = (double)roll(&dice, 1000) / 16;
    plan.statistics.hash = mix(seed, i + 6);
    return plan;
}

static inline void *put(char **next, const void *bytes, size_t size)
{
    void *place = *next;

    memcpy(place, bytes, size);
    *next += size;
    return place;
}

/* Writes a tensor's part; more room was asked for than it takes. */
static inline void
write_tensor(char **next, const struct event_plan *plan, uint64_t seed, uint64_t i)
{
    unsigned flags = plan->event.record.flags;
    struct sample_grid grid;
    struct form form;

    put(next, &plan->tensor, sizeof plan->tensor);
    if ((flags & (LOG_EVENT_STATISTICS | LOG_EVENT_HASH)) != 0) {
        put(next, &plan->statistics, sizeof plan->statistics);
    }
    if ((flags & LOG_EVENT_NONFINITE) != 0) {
        put(next, &plan->nonfinite, sizeof plan->nonfinite);
    }
    if ((flags & LOG_EVENT_SAMPLE) != 0) {
        form_fill(&form, plan->form);
        sample_grid_init(&grid, form.dimensions, form.head.dimension_count, SAMPLE);
        fill_bytes(*next, grid.count * dtype_size(form.head.dtype), seed + i);
        *next += grid.count * dtype_size(form.head.dtype);
    }
}

static inline bool write_event(struct log_writer *writer, uint64_t seed, uint64_t i)
{
    struct event_plan plan = event_plan(seed, i);
    enum value_kind kind = plan.event.record.tag;
    uint32_t number = 0;
    char word[32];
    size_t size;
    char *start;
    char *next;

    if (kind == VALUE_TENSOR) {
        struct form form;

        size = form_fill(&form, plan.form);
        number = log_writer_form(writer, &form.head, size);
    } else if (kind == VALUE_CONTAINER || kind == VALUE_OBJECT) {
        number = log_writer_text(writer, SLICE("list"));
    }
    plan.event.path = log_writer_text(writer, word_text(plan.word, word));
    plan.event.type = number;
    size = sizeof plan + plan.text_size + i % PADDING_LIMIT + SAMPLE * 8;
    start = log_writer_begin(writer, size);
    if (start == NULL) {
        return false;
    }
    next = start;
    put(&next, &plan.event, sizeof plan.event);
    memset(start, 0, sizeof(struct log_record)); /* that is the commit's to write */
    if (kind == VALUE_TENSOR) {
        write_tensor(&next, &plan, seed, i);
    } else if (kind == VALUE_OBJECT) {
        /* Every other one is of an older version, which ends before it. */
        if (i % 2 == 0) {
            put(&next, &plan.tensor.object, sizeof(struct log_object));
        }
    } else if (kind != VALUE_NOTHING && kind != VALUE_NONE && kind != VALUE_MISSING) {
        put(&next, &plan.scalar, sizeof plan.scalar);
    }
    if (kind == VALUE_TEXT || kind == VALUE_BIG_INT) {
        fill_bytes(next, plan.text_size, i);
        next += plan.text_size;
    }
    plan.event.record.size = (uint32_t)(next - start);
    /* What was asked for and not used need not be clean. */
    memset(next, 0xee, (size_t)(start + size - next));
    log_writer_commit(writer, plan.event.record);
    return true;
}

static inline bool write_other(struct log_writer *writer, uint64_t seed, uint64_t i)
{
    struct dice dice = dice_of(seed, i);
    size_t rest = roll(&dice, 200);
    char word[32];
    char *start;
    union {
        struct log_record record;
        struct log_call call;
        struct log_end end;
        struct log_data data;
        struct log_note note;
    } head;
    size_t size = 0;

    memset(&head, 0, sizeof head);
    switch (kind_of(seed, i)) {
    case LOG_CALL:
        head.call = (struct log_call){.time = i, .call = (uint32_t)i, .function = 1};
        head.call.path = log_writer_text(writer, word_text(roll_word(&dice), word));
        size = sizeof head.call;
        rest = 0;
        break;
    case LOG_END:
        head.end = (struct log_end){.time = i, .call = (uint32_t)roll(&dice, 100)};
        head.end.record.tag = LOG_END_LEFT;
        size = sizeof head.end;
        rest = 0;
        break;
    case LOG_DATA:
        head.data = (struct log_data){.offset = i};
        size = sizeof head.data;
        break;
    default:
        head.note = (struct log_note){.time = i, .site = (uint32_t)roll(&dice, 9)};
        head.note.record.tag = LOG_NOTE_WARNING;
        size = sizeof head.note;
        break;
    }
    head.record.kind = (uint8_t)kind_of(seed, i);
    head.record.size = (uint32_t)(size + rest);
    start = log_writer_begin(writer, size + rest);
    if (start == NULL) {
        return false;
    }
    memcpy(start + sizeof head.record, (char *)&head + sizeof head.record,
           size - sizeof head.record);
    fill_bytes(start + size, rest, i);
    log_writer_commit(writer, head.record);
    return true;
}

/* Writes record `i` of the stream; false where recording has stopped. */
static inline bool write_record(struct log_writer *writer, uint64_t seed, uint64_t i)
{
    return kind_of(seed, i) == LOG_EVENT ? write_event(writer, seed, i)
                                         : write_other(writer, seed, i);
}

/* ---- reading it back ---- */

/* What record an item is. */
static inline uint64_t item_record(const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return item->call.time;
    case LOG_END:
        return item->end.time;
    case LOG_EVENT:
        return item->event.time;
    case LOG_DATA:
        return item->data.offset;
    default:
        return item->note.time;
    }
}

static inline bool tensor_matches(const struct log_event_view *view,
                                  const struct event_plan *plan,
                                  uint64_t seed,
                                  uint64_t i)
{
    unsigned flags = plan->event.record.flags;
    struct form form;

    form_fill(&form, plan->form);
    if (view->shape == NULL || view->shape->dtype != form.head.dtype ||
        view->shape->dimension_count != form.head.dimension_count ||
        view->shape->flags != form.head.flags ||
        (view->shape->strides == NULL) !=
            ((form.head.flags & LOG_FORM_NO_STRIDES) != 0) ||
        !slice_equal(view->shape->device, SLICE("cpu"))) {
        return false;
    }
    for (uint32_t d = 0; d < form.head.dimension_count; d++) {
        if (view->shape->shape[d] != form.dimensions[d] ||
            (view->shape->strides != NULL &&
             view->shape->strides[d] !=
                 form.dimensions[form.head.dimension_count + d])) {
            return false;
        }
    }
    return memcmp(&view->tensor, &plan->tensor, sizeof plan->tensor) == 0 &&
           view->has_hash == ((flags & LOG_EVENT_HASH) != 0) &&
           view->has_statistics == ((flags & LOG_EVENT_STATISTICS) != 0) &&
           (!view->has_hash || view->hash == plan->statistics.hash) &&
           (!view->has_statistics ||
            (view->statistics.min.natural == plan->statistics.min &&
             view->statistics.mean == plan->statistics.mean)) &&
           (view->sample != NULL) == ((flags & LOG_EVENT_SAMPLE) != 0) &&
           (view->sample == NULL ||
            bytes_match(view->sample, view->grid.count * dtype_size(view->shape->dtype),
                        seed + i));
}

static inline bool
event_matches(const struct log_event_view *view, uint64_t seed, uint64_t i)
{
    struct event_plan plan = event_plan(seed, i);
    char word[32];

    if (view->site_number != plan.event.site || view->call != plan.event.call ||
        view->visit != plan.event.visit || view->kind != plan.event.record.tag ||
        view->change != plan.event.record.mark ||
        view->flags != plan.event.record.flags ||
        view->difference != plan.event.difference ||
        view->site != &view->module->table.sites[plan.event.site] ||
        !slice_equal(view->path, word_text(plan.word, word))) {
        return false;
    }
    if (!slice_equal(view->name, plan.event.site == 0    ? SLICE("")
                                 : plan.event.write == 0 ? SLICE("x")
                                                         : SLICE("self.y"))) {
        return false;
    }
    switch (view->kind) {
    case VALUE_TENSOR:
        return tensor_matches(view, &plan, seed, i);
    case VALUE_FLOAT:
        return view->real == plan.scalar.real;
    case VALUE_COMPLEX:
        return view->real == plan.scalar.real &&
               view->imaginary == plan.scalar.imaginary;
    case VALUE_TEXT:
    case VALUE_BIG_INT:
        return view->integer == plan.scalar.integer &&
               view->text.size == plan.text_size &&
               bytes_match(view->text.bytes, view->text.size, i);
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BYTES:
        return view->integer == plan.scalar.integer;
    case VALUE_CONTAINER:
        return view->integer == plan.scalar.integer &&
               view->object == plan.scalar.object &&
               slice_equal(view->type, SLICE("list"));
    case VALUE_OBJECT:
        return view->object == (i % 2 == 0 ? plan.tensor.object : 0) &&
               slice_equal(view->type, SLICE("list"));
    default:
        return true;
    }
}

/* Whether an item is record `i` of the stream, in everything. */
static inline bool item_matches(const struct log_item *item, uint64_t seed, uint64_t i)
{
    struct dice dice = dice_of(seed, i);
    size_t rest = roll(&dice, 200);
    char word[32];
    uint64_t site;

    if (item->kind != kind_of(seed, i) || item_record(item) != i) {
        return false;
    }
    switch (item->kind) {
    case LOG_EVENT:
        return event_matches(&item->event, seed, i);
    case LOG_CALL:
        return item->call.call == (uint32_t)i &&
               slice_equal(item->call.function->name, SLICE("f")) &&
               slice_equal(item->call.path, word_text(roll_word(&dice), word));
    case LOG_END:
        return item->end.call == roll(&dice, 100) && item->end.how == LOG_END_LEFT;
    case LOG_DATA:
        return item->data.bytes.size == rest &&
               bytes_match(item->data.bytes.bytes, rest, i);
    default:
        site = roll(&dice, 9);
        return item->note.tag == LOG_NOTE_WARNING && item->note.text.size == rest &&
               bytes_match(item->note.text.bytes, rest, i) &&
               (item->note.site != NULL) == (site < SITE_COUNT);
    }
}

/* ---- a whole trace ---- */

/* Touches everything that a view points to: sanitizers see what must not be read. */
static inline uint64_t item_touch(const struct log_item *item)
{
    uint64_t sum = item->offset;
    const struct log_event_view *event = &item->event;

#define TOUCH(text)                                                                    \
    for (size_t touch = 0; touch < (text).size; touch++)                               \
    sum += (unsigned char)(text).bytes[touch]
    switch (item->kind) {
    case LOG_EVENT:
        sum += event->site->line + event->module->table.sites[0].line;
        TOUCH(event->name);
        TOUCH(event->path);
        TOUCH(event->type);
        TOUCH(event->text);
        TOUCH(event->module->source);
        sum += (uint64_t)value_kind_text(event->kind)[0];
        sum += (uint64_t)change_text(event->change)[0];
        if (event->shape != NULL) {
            for (uint32_t i = 0; i < event->shape->dimension_count; i++) {
                sum += (uint64_t)event->shape->shape[i];
                sum += event->shape->strides == NULL
                           ? 0
                           : (uint64_t)event->shape->strides[i];
            }
            TOUCH(event->shape->dtype_text);
            TOUCH(event->shape->type);
            TOUCH(event->shape->device);
            TOUCH(event->shape->layout);
            TOUCH(event->shape->note);
            TOUCH(((struct slice){event->sample,
                                  event->sample == NULL
                                      ? 0
                                      : event->grid.count *
                                            dtype_size(event->shape->dtype)}));
        }
        break;
    case LOG_CALL:
        TOUCH(item->call.path);
        TOUCH(item->call.class_name);
        TOUCH(item->call.function->name);
        TOUCH(item->call.module->name);
        break;
    case LOG_DATA:
        TOUCH(item->data.bytes);
        break;
    case LOG_NOTE:
        TOUCH(item->note.text);
        sum += item->note.site == NULL ? 0 : item->note.site->line;
        break;
    default:
        break;
    }
#undef TOUCH
    return sum;
}

/* What was found in a trace of records 0, 1 … of a seed. */
struct findings {
    bool is_open;      /* else `error` says why not */
    bool is_right;     /* all items are what they should be, in order */
    uint64_t first;    /* the first record */
    uint64_t next;     /* the record after the last */
    uint64_t count;    /* of items */
    uint64_t events;   /* how many of them are events */
    uint64_t number;   /* of the last event, + 1 */
    size_t damage;     /* how many messages */
    char message[200]; /* the first of them */
    bool is_closed;
    uint64_t lost;
    struct error error;
};

/* Reads the trace; with `tell` what is wrong is printed. */
static inline struct findings read_trace(const char *path, uint64_t seed, bool report)
{
    struct findings findings = {.is_right = true};
    struct log_reader *reader = log_reader_new(path, &findings.error);
    volatile uint64_t sum = 0;
    struct log_item item;

    if (reader == NULL) {
        return findings;
    }
    findings.is_open = true;
    while (log_reader_next(reader, &item)) {
        uint64_t i = item_record(&item);

        sum += item_touch(&item);
        if (!item_matches(&item, seed, i) ||
            (findings.count > 0 && i < findings.next)) {
            if (report && findings.is_right) {
                printf("record %llu (expected %llu) of kind %d is wrong\n",
                       (unsigned long long)i, (unsigned long long)findings.next,
                       item.kind);
            }
            findings.is_right = false;
        }
        findings.first = findings.count == 0 ? i : findings.first;
        findings.next = i + 1;
        findings.count++;
        if (item.kind == LOG_EVENT) {
            findings.events++;
            findings.number = item.event.number + 1;
        }
    }
    findings.is_closed = log_reader_header(reader)->is_closed != 0;
    findings.lost = log_reader_header(reader)->lost_count;
    findings.damage = log_reader_damage_count(reader);
    if (findings.damage > 0) {
        snprintf(findings.message, sizeof findings.message, "%s",
                 log_reader_damage(reader, 0));
        for (size_t i = 0; report && i < findings.damage; i++) {
            printf("%s: %s\n", path, log_reader_damage(reader, i));
        }
    }
    log_reader_free(reader);
    return findings;
}

static inline uint64_t count_events_before(uint64_t seed, uint64_t end)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < end; i++) {
        count += kind_of(seed, i) == LOG_EVENT;
    }
    return count;
}

/* Writes a closed trace of `count` records. */
static inline bool write_trace(const char *path,
                               const struct log_options *options,
                               uint64_t seed,
                               uint64_t count)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(path, options, &error);
    bool is_written;

    if (writer == NULL) {
        printf("%s\n", error.text);
        return false;
    }
    is_written = define_module(writer, SLICE("x = 1\n"));
    for (uint64_t i = 0; i < count; i++) {
        is_written = write_record(writer, seed, i) && is_written;
    }
    return log_writer_close(writer, &error) && is_written;
}

#endif
