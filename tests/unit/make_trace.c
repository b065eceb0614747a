/* Writes a trace from a script, for the tests of what reads traces: tests/support/traces.py
 * makes such scripts. A line is a command and its fields, `key=value`, a blank between;
 * bytes of values may be written %XX. Without an argument a script of its own is written and
 * read again. */
#include "runtime/base/arena.h"
#include "runtime/base/file/file.h"
#include "runtime/trace/reader.h"
#include "runtime/trace/writer.h"
#include "tests/unit/check.h"
#include "tests/unit/script_line.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRIPT_LIMIT ((size_t)1 << 30)

struct maker {
    const char *path;
    struct log_writer *writer;
    struct log_options options;
    struct arena arena;
    struct site_table table; /* being made */
    struct slice module_name;
    struct slice module_file;
    struct slice source;
    uint8_t source_tag;
    uint32_t table_count;
    uint32_t site_count;
    uint64_t clock;
};

static uint32_t text_number(struct maker *maker, struct slice line, const char *key)
{
    return log_writer_text(maker->writer, field(&maker->arena, line, key));
}

static void need_writer(struct maker *maker)
{
    struct error error = ERROR_INIT;

    if (maker->writer == NULL) {
        maker->writer = log_writer_new(maker->path, &maker->options, &error);
    }
    if (maker->writer == NULL) {
        give_up(error.text);
    }
}

/* ---- modules ---- */

static void *
one_more(struct maker *maker, const void *items, uint32_t count, size_t size)
{
    char *moved = arena_allocate(&maker->arena, (size_t)count + 1, size);

    if (count > 0) {
        memcpy(moved, items, count * size);
    }
    memset(moved + count * size, 0, size);
    return moved;
}

static void begin_module(struct maker *maker, struct slice line)
{
    need_writer(maker);
    maker->table = (struct site_table){
        .path = field(&maker->arena, line, "path"),
        .prefix = SLICE("_mt"),
        .options = SLICE("--all"),
    };
    maker->module_name = field(&maker->arena, line, "name");
    maker->module_file = field(&maker->arena, line, "file");
    maker->source = field(&maker->arena, line, "source");
    maker->source_tag = (uint8_t)number(&maker->arena, line, "tag");
}

static void add_function(struct maker *maker, struct slice line)
{
    struct site_table *table = &maker->table;

    table->functions = one_more(maker, table->functions, table->function_count,
                                sizeof *table->functions);
    table->functions[table->function_count++] = (struct site_function){
        .name = field(&maker->arena, line, "name"),
        .line = (uint32_t)number(&maker->arena, line, "line"),
    };
}

static enum site_kind kind_of(struct slice text)
{
    for (int kind = 0; kind < SITE_KIND_COUNT; kind++) {
        if (slice_equal(text, slice_of(site_kind_text((enum site_kind)kind)))) {
            return (enum site_kind)kind;
        }
    }
    give_up("no such kind of site");
    return SITE_ENTER;
}

static void add_writes(struct maker *maker, struct site *site, struct slice names)
{
    size_t start = 0;

    while (start < names.size) {
        size_t end = slice_find(names, SLICE(","), start);

        site->writes =
            one_more(maker, site->writes, site->write_count, sizeof *site->writes);
        site->writes[site->write_count++].name = slice_part(names, start, end);
        start = end + 1;
    }
}

static void add_site(struct maker *maker, struct slice line)
{
    struct site_table *table = &maker->table;
    struct site *site;

    table->sites =
        one_more(maker, table->sites, table->site_count, sizeof *table->sites);
    site = &table->sites[table->site_count++];
    site->kind = kind_of(field(&maker->arena, line, "kind"));
    site->line = (uint32_t)number(&maker->arena, line, "line");
    site->column = (uint32_t)number(&maker->arena, line, "column");
    site->function = (uint32_t)number(&maker->arena, line, "function");
    site->arm = (uint32_t)number(&maker->arena, line, "arm");
    add_writes(maker, site, field(&maker->arena, line, "writes"));
}

static void end_module(struct maker *maker)
{
    struct buffer text = BUFFER_INIT;
    struct log_table head = {
        .record = {.kind = LOG_TABLE},
        .number = maker->table_count,
        .first_site = maker->site_count,
        .site_count = maker->table.site_count,
        .module = log_writer_text(maker->writer, maker->module_name),
        .file = log_writer_text(maker->writer, maker->module_file),
    };
    struct log_source source = {
        .record = {.kind = LOG_SOURCE, .tag = maker->source_tag},
        .table = maker->table_count,
    };

    site_table_write(&maker->table, &text);
    if (!log_writer_define(maker->writer, &head, sizeof head, buffer_slice(&text)) ||
        (maker->source_tag != 0 &&
         !log_writer_define(maker->writer, &source, sizeof source, maker->source))) {
        give_up("a definition was not written");
    }
    buffer_release(&text);
    maker->table_count++;
    maker->site_count += maker->table.site_count;
}

static void add_thread(struct maker *maker, struct slice line)
{
    struct log_thread head = {
        .record = {.kind = LOG_THREAD},
        .number = (uint32_t)number(&maker->arena, line, "number"),
        .native = number(&maker->arena, line, "native"),
    };

    need_writer(maker);
    head.name = text_number(maker, line, "name");
    log_writer_define(maker->writer, &head, sizeof head, SLICE(""));
}

static void add_setting(struct maker *maker, struct slice line)
{
    need_writer(maker);
    log_writer_setting(maker->writer, field(&maker->arena, line, "name"),
                       field(&maker->arena, line, "value"));
}

/* ---- the stream ---- */

static void commit(struct maker *maker, struct slice bytes)
{
    struct log_record head;
    char *room = log_writer_begin(maker->writer, bytes.size);

    memcpy(&head, bytes.bytes, sizeof head);
    head.size = (uint32_t)bytes.size;
    if (room == NULL) {
        return;
    }
    memcpy(room + sizeof head, bytes.bytes + sizeof head, bytes.size - sizeof head);
    log_writer_commit(maker->writer, head);
}

#define ADD(buffer, value)                                                             \
    buffer_add_bytes((buffer), (const char *)&(value), sizeof(value))

static uint64_t next_time(struct maker *maker)
{
    maker->clock += 1000;
    return maker->clock;
}

static void add_call(struct maker *maker, struct slice line)
{
    struct log_call call = {
        .record = {.kind = LOG_CALL,
                   .flags = (uint8_t)number(&maker->arena, line, "flags")},
        .time = next_time(maker),
        .call = (uint32_t)number(&maker->arena, line, "call"),
        .parent = (uint32_t)number(&maker->arena, line, "parent"),
        .table = (uint32_t)number(&maker->arena, line, "table"),
        .function = (uint32_t)number(&maker->arena, line, "function"),
        .line = (uint32_t)number(&maker->arena, line, "line"),
        .thread = (uint16_t)number(&maker->arena, line, "thread"),
        .path = text_number(maker, line, "path"),
        .class_name = text_number(maker, line, "class"),
    };

    commit(maker, (struct slice){(const char *)&call, sizeof call});
}

static void add_end(struct maker *maker, struct slice line)
{
    struct log_end end = {
        .record = {.kind = LOG_END, .tag = (uint8_t)number(&maker->arena, line, "how")},
        .time = next_time(maker),
        .call = (uint32_t)number(&maker->arena, line, "call"),
        .error = text_number(maker, line, "error"),
    };

    commit(maker, (struct slice){(const char *)&end, sizeof end});
}

static void add_tracked(struct maker *maker, struct slice line)
{
    struct log_tracked tracked = {
        .record = {.kind = LOG_TRACKED},
        .time = next_time(maker),
        .call = (uint32_t)number(&maker->arena, line, "call"),
        .wish = text_number(maker, line, "wish"),
        .callers = text_number(maker, line, "callers"),
    };

    commit(maker, (struct slice){(const char *)&tracked, sizeof tracked});
}

static void add_note(struct maker *maker, struct slice line)
{
    struct buffer bytes = BUFFER_INIT;
    struct log_note note = {
        .record = {.kind = LOG_NOTE,
                   .tag = (uint8_t)number(&maker->arena, line, "tag")},
        .time = next_time(maker),
        .site = (uint32_t)number(&maker->arena, line, "site"),
    };

    ADD(&bytes, note);
    buffer_add(&bytes, field(&maker->arena, line, "text"));
    commit(maker, buffer_slice(&bytes));
    buffer_release(&bytes);
}

static uint32_t form_number(struct maker *maker, struct slice line, enum dtype dtype)
{
    struct {
        struct log_form form;
        int64_t numbers[2 * ARRAY_DIMENSION_MAX];
    } room = {0};
    uint8_t flags = (uint8_t)number(&maker->arena, line, "form_flags");
    struct slice device = field(&maker->arena, line, "device");
    struct slice layout = field(&maker->arena, line, "layout");
    uint32_t count =
        numbers(field(&maker->arena, line, "shape"), room.numbers, ARRAY_DIMENSION_MAX);
    uint32_t stride_count = numbers(field(&maker->arena, line, "strides"),
                                    room.numbers + count, ARRAY_DIMENSION_MAX);

    if (stride_count != count) {
        flags |= LOG_FORM_NO_STRIDES;
        stride_count = 0;
    }
    room.form = (struct log_form){
        .record = {.kind = LOG_FORM,
                   .tag = device.size > 0 ? LOG_DEVICE_OTHER : LOG_DEVICE_CPU,
                   .mark = layout.size > 0 ? LOG_LAYOUT_OTHER : LOG_LAYOUT_STRIDED},
        .dtype = (uint8_t)dtype,
        .dimension_count = (uint8_t)count,
        .flags = flags,
        .type = text_number(maker, line, "type"),
        .dtype_text = text_number(maker, line, "dtype_text"),
        .device = log_writer_text(maker->writer, device),
        .layout = log_writer_text(maker->writer, layout),
        .note = text_number(maker, line, "note"),
    };
    return log_writer_form(maker->writer, &room.form,
                           sizeof room.form + (count + stride_count) * sizeof(int64_t));
}

static uint64_t
bound(struct maker *maker, struct slice line, const char *key, enum dtype dtype)
{
    uint64_t bits = number(&maker->arena, line, key);
    double value = real(&maker->arena, line, key);

    if (dtype_class(dtype) == DTYPE_CLASS_FLOATING ||
        dtype_class(dtype) == DTYPE_CLASS_COMPLEX) {
        memcpy(&bits, &value, sizeof bits);
    }
    return bits;
}

static void add_measured(struct maker *maker,
                         struct slice line,
                         enum dtype dtype,
                         unsigned flags,
                         struct buffer *bytes)
{
    struct log_statistics statistics = {
        .min = bound(maker, line, "min", dtype),
        .max = bound(maker, line, "max", dtype),
        .mean = real(&maker->arena, line, "mean"),
        .std = real(&maker->arena, line, "std"),
        .zero_count = number(&maker->arena, line, "zeros"),
        .hash = number(&maker->arena, line, "hash"),
    };
    struct log_nonfinite nonfinite = {
        .nan_count = number(&maker->arena, line, "nan"),
        .posinf_count = number(&maker->arena, line, "posinf"),
        .neginf_count = number(&maker->arena, line, "neginf"),
    };

    if ((flags & LOG_EVENT_STATISTICS) != 0) {
        ADD(bytes, statistics);
    }
    if ((flags & LOG_EVENT_NONFINITE) != 0) {
        ADD(bytes, nonfinite);
    }
    if ((flags & LOG_EVENT_SAMPLE) != 0) {
        buffer_add(bytes, field(&maker->arena, line, "sample"));
    }
}

static void add_value(struct maker *maker,
                      struct slice line,
                      struct log_event *event,
                      struct buffer *bytes)
{
    enum dtype dtype = dtype_find(field(&maker->arena, line, "dtype"));
    struct slice alias = field(&maker->arena, line, "alias");
    struct log_tensor tensor = {
        .object = number(&maker->arena, line, "object"),
        .data = number(&maker->arena, line, "data"),
        .offset = (int64_t)number(&maker->arena, line, "offset"),
        .origin = number(&maker->arena, line, "origin"),
        .version = (uint32_t)number(&maker->arena, line, "version"),
        .alias_site = alias.size == 0 ? UINT32_MAX
                                      : (uint32_t)number(&maker->arena, line, "alias"),
    };
    struct log_scalar scalar = {.imaginary = real(&maker->arena, line, "imaginary")};

    if (event->record.tag == VALUE_TENSOR) {
        event->type = form_number(maker, line, dtype);
        ADD(bytes, *event);
        ADD(bytes, tensor);
        add_measured(maker, line, dtype, event->record.flags, bytes);
        return;
    }
    if (event->record.tag == VALUE_CONTAINER || event->record.tag == VALUE_OBJECT) {
        event->type = text_number(maker, line, "type");
    }
    scalar.integer = (int64_t)number(
        &maker->arena, line, event->record.tag == VALUE_OBJECT ? "object" : "integer");
    if (event->record.tag == VALUE_CONTAINER) {
        scalar.object = number(&maker->arena, line, "object");
    }
    if (event->record.tag == VALUE_FLOAT || event->record.tag == VALUE_COMPLEX) {
        scalar.real = real(&maker->arena, line, "real");
    }
    ADD(bytes, *event);
    ADD(bytes, scalar);
    buffer_add(bytes, field(&maker->arena, line, "text"));
}

static void add_event(struct maker *maker, struct slice line)
{
    struct buffer bytes = BUFFER_INIT;
    struct log_event event = {
        .record = {.kind = LOG_EVENT,
                   .tag = (uint8_t)number(&maker->arena, line, "kind"),
                   .mark = (uint8_t)number(&maker->arena, line, "change"),
                   .flags = (uint8_t)number(&maker->arena, line, "flags")},
        .time = next_time(maker),
        .site = (uint32_t)number(&maker->arena, line, "site"),
        .call = (uint32_t)number(&maker->arena, line, "call"),
        .visit = (uint32_t)number(&maker->arena, line, "visit"),
        .thread = (uint16_t)number(&maker->arena, line, "thread"),
        .write = (uint8_t)number(&maker->arena, line, "write"),
        .difference = (uint8_t)number(&maker->arena, line, "difference"),
    };

    event.path = text_number(maker, line, "path");
    add_value(maker, line, &event, &bytes);
    commit(maker, buffer_slice(&bytes));
    buffer_release(&bytes);
}

/* ---- scripts ---- */

static void set_options(struct maker *maker, struct slice line)
{
    maker->options = (struct log_options){
        .last = number(&maker->arena, line, "last"),
        .size_limit = number(&maker->arena, line, "size_limit"),
        .sample = (uint32_t)number(&maker->arena, line, "sample"),
        .parent = (uint32_t)number(&maker->arena, line, "parent"),
    };
}

static void run_line(struct maker *maker, struct slice line)
{
    static const struct {
        const char *name;
        void (*run)(struct maker *maker, struct slice line);
    } commands[] = {
        {"options", set_options}, {"module", begin_module}, {"function", add_function},
        {"site", add_site},       {"thread", add_thread},   {"call", add_call},
        {"event", add_event},     {"return", add_end},      {"note", add_note},
        {"setting", add_setting}, {"tracked", add_tracked},
    };
    struct slice name = slice_part(line, 0, slice_find(line, SLICE(" "), 0));

    if (slice_equal(name, SLICE("end"))) {
        end_module(maker);
        return;
    }
    if (slice_equal(name, SLICE("kill"))) {
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (slice_equal(name, slice_of(commands[i].name))) {
            commands[i].run(maker, line);
            return;
        }
    }
    give_up("no such command");
}

/* `repeat N` … `again`: what stands between is run N times; they do not nest. */
static void run_script(struct maker *maker, struct slice script)
{
    size_t repeat_start = 0;
    uint64_t repeats = 0;

    for (size_t start = 0; start < script.size;) {
        size_t end = slice_find(script, SLICE("\n"), start);
        struct slice line = slice_part(script, start, end);

        start = end + 1;
        if (slice_starts(line, SLICE("repeat"))) {
            repeats = number(&maker->arena, line, "count");
            repeat_start = start;
        } else if (slice_equal(line, SLICE("again"))) {
            start = repeats > 1 ? repeat_start : start;
            repeats -= repeats > 1;
        } else if (line.size > 0) {
            run_line(maker, line);
        }
        if (maker->table_count > 0 && slice_starts(line, SLICE("event"))) {
            arena_reset(&maker->arena);
        }
    }
}

static void make(const char *path, struct slice script)
{
    struct error error = ERROR_INIT;
    struct maker maker = {.path = path};

    arena_init(&maker.arena);
    run_script(&maker, script);
    need_writer(&maker);
    if (!log_writer_close(maker.writer, &error)) {
        give_up(error.text);
    }
    arena_release(&maker.arena);
}

/* ---- the check of itself ---- */

static void check_itself(void)
{
    static const char script[] =
        "module name=m path=m.py file=m.py source=def%20f(a):%0A%20%20return%20a%0A "
        "tag=1\n"
        "function name=%3Cmodule%3E line=1\n"
        "function name=f line=1\n"
        "site kind=enter line=1 column=1 function=1 writes=a\n"
        "site kind=return line=2 column=3 function=1 writes=return\n"
        "end\n"
        "thread number=0 name=MainThread\n"
        "call call=1 function=1 path=layers.0 class=Block\n"
        "event site=0 call=1 kind=9 change=1 dtype=float32 shape=2,3 strides=3,1 "
        "flags=1 "
        "min=-1.5 max=2.5\n"
        "repeat count=3\n"
        "event site=1 call=1 kind=3 change=1 integer=-7\n"
        "again\n"
        "return call=1 how=1\n";
    static const enum log_kind kinds[] = {LOG_CALL,  LOG_EVENT, LOG_EVENT,
                                          LOG_EVENT, LOG_EVENT, LOG_END};
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    struct log_item item;
    size_t count = 0;

    make("made.mtrace", SLICE(script));
    reader = log_reader_new("made.mtrace", &error);
    if (!CHECK(reader != NULL)) {
        printf("%s\n", error.text);
        return;
    }
    for (; count < 6 && log_reader_next(reader, &item); count++) {
        CHECK(item.kind == kinds[count]);
        if (count == 1 && CHECK(item.event.shape != NULL)) {
            CHECK(item.event.shape->shape[1] == 3);
            CHECK(item.event.statistics.min.real == -1.5);
            CHECK_TEXT(item.event.name, "a");
        }
        CHECK(count != 2 || item.event.integer == -7);
    }
    CHECK(count == 6);
    CHECK(!log_reader_next(reader, &item));
    CHECK(log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
}

int main(int word_count, char **words)
{
    struct buffer script = BUFFER_INIT;
    struct error error = ERROR_INIT;

    if (word_count < 2) {
        check_itself();
        return check_finish();
    }
    if (!file_read_descriptor(STDIN_FILENO, "<stdin>", SCRIPT_LIMIT, &script, &error)) {
        give_up(error.text);
    }
    make(words[1], buffer_slice(&script));
    buffer_release(&script);
    return 0;
}
