/* A trace in the JSON form of Chrome's trace events. */
#include "runtime/view/list/perfetto_log.h"

#include "runtime/base/memory.h"
#include "runtime/view/list/json_log.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

/* ---- fields of all objects ---- */

/* Appends nanoseconds as microseconds. They are exact, since no double is used. */
static void add_time(const struct perfetto_log *log, uint64_t time, struct buffer *text)
{
    uint64_t whole = time > UINT64_MAX - log->shift ? UINT64_MAX : time + log->shift;
    unsigned rest = (unsigned)(whole % 1000);

    json_number_add(text, SLICE("ts"), whole / 1000);
    if (rest != 0) {
        buffer_add_byte(text, '.');
        buffer_add_byte(text, (char)('0' + rest / 100));
        buffer_add_byte(text, (char)('0' + rest / 10 % 10));
        buffer_add_byte(text, (char)('0' + rest % 10));
    }
}

/* Starts an object, after a comma. The file's first object, which is a process's name, has no
 * comma. */
static void start(const struct perfetto_log *log,
                  char phase,
                  uint16_t thread,
                  bool is_first,
                  struct buffer *text)
{
    buffer_add(text, is_first ? SLICE("\n{\"ph\":\"") : SLICE(",\n{\"ph\":\""));
    buffer_add_byte(text, phase);
    buffer_add_byte(text, '"');
    json_number_add(text, SLICE("pid"), log->process);
    /* Some readers treat 0 as the system's idle task. */
    json_number_add(text, SLICE("tid"), (uint64_t)thread + 1);
}

static void end(struct buffer *text)
{
    buffer_add_byte(text, '}');
}

/* Starts `args`. Each field that follows has a comma before it. */
static void start_arguments(struct slice path, uint32_t line, struct buffer *text)
{
    buffer_add(text, SLICE(",\"args\":{\"at\":\""));
    text_add_json(text, path);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
    buffer_add_byte(text, '"');
}

static void add_name_of(const struct perfetto_log *log,
                        struct slice what,
                        struct slice name,
                        uint16_t thread,
                        bool is_first,
                        struct buffer *text)
{
    start(log, 'M', thread, is_first, text);
    json_text_add(text, SLICE("name"), what);
    buffer_add(text, SLICE(",\"args\":{\"name\":\""));
    text_add_json(text, name);
    buffer_add(text, SLICE("\"}"));
    end(text);
}

static void add_sort_index(const struct perfetto_log *log,
                           struct slice what,
                           uint64_t index,
                           uint16_t thread,
                           struct buffer *text)
{
    start(log, 'M', thread, false, text);
    json_text_add(text, SLICE("name"), what);
    buffer_add(text, SLICE(",\"args\":{\"sort_index\":"));
    buffer_add_number(text, index);
    buffer_add_byte(text, '}');
    end(text);
}

/* ---- threads ---- */

/* Returns NULL if memory runs out. */
static struct perfetto_thread *
find_thread(struct perfetto_log *log, uint16_t number, struct buffer *text)
{
    struct slice name = log_reader_thread_name(log->reader, number);
    struct perfetto_thread *thread;
    void *items = log->threads;

    if (number >= log->thread_count) {
        if (!memory_grow(&items, &log->thread_capacity, (size_t)number + 1,
                         sizeof *log->threads)) {
            log->has_failed = true;
            return NULL;
        }
        log->threads = items;
        while (log->thread_count <= number) {
            log->threads[log->thread_count++] = (struct perfetto_thread){0};
        }
    }
    thread = &log->threads[number];
    if (!thread->is_reported) {
        thread->is_reported = true;
        if (name.size > 0) {
            add_name_of(log, SLICE("thread_name"), name, number, false, text);
        }
        add_sort_index(log, SLICE("thread_sort_index"), number, number, text);
    }
    return thread;
}

/* Times on a track must not decrease. Times of a damaged trace may decrease, and are raised
 * here. */
static uint64_t
forward(struct perfetto_log *log, struct perfetto_thread *thread, uint64_t time)
{
    if (time < thread->last) {
        time = thread->last;
    }
    thread->last = time;
    if (time > log->newest) {
        log->newest = time;
    }
    return time;
}

void perfetto_log_init(struct perfetto_log *log,
                       const struct log_reader *reader,
                       uint32_t process,
                       uint64_t shift,
                       struct slice name,
                       size_t index,
                       struct buffer *text)
{
    *log = (struct perfetto_log){
        .reader = reader,
        .process = process,
        .shift = shift,
    };
    add_name_of(log, SLICE("process_name"), name, 0, index == 0, text);
    add_sort_index(log, SLICE("process_sort_index"), index, 0, text);
}

void perfetto_log_release(struct perfetto_log *log)
{
    for (size_t i = 0; i < log->thread_count; i++) {
        memory_free(log->threads[i].stack);
    }
    memory_free(log->threads);
    buffer_release(&log->summary);
    *log = (struct perfetto_log){0};
}

/* ---- calls ---- */

static void add_call_arguments(const struct perfetto_log *log,
                               const struct open_call *call,
                               struct buffer *text)
{
    const struct log_module *module =
        log_reader_module(log->reader, call->module_number);

    start_arguments(module->table.path, open_call_function(call, log->reader)->line,
                    text);
    json_number_add(text, SLICE("call"), call->call);
    if (call->line != 0) {
        json_number_add(text, SLICE("from_line"), call->line);
    }
    if (call->path.size > 0) {
        json_text_add(text, SLICE("module"), call->path);
    }
    if (call->class_name.size > 0) {
        json_text_add(text, SLICE("class"), call->class_name);
    }
    if (call->is_joined) {
        json_boolean_add(text, SLICE("joined"), true);
    }
    if (!call->is_begun) {
        json_boolean_add(text, SLICE("begun"), false);
    }
    buffer_add_byte(text, '}');
}

/* Appends the id that connects the two ends of an asynchronous slice. */
static void add_id(const struct open_call *call, struct buffer *text)
{
    buffer_add(text, SLICE(",\"id2\":{\"local\":\"0x"));
    buffer_add_hex(text, call->call, 8);
    buffer_add(text, SLICE("\"}"));
}

static void add_boundary(const struct perfetto_log *log,
                         char phase,
                         const struct open_call *call,
                         uint64_t time,
                         struct buffer *text)
{
    start(log, phase, call->thread, false, text);
    add_time(log, time, text);
    json_text_add(text, SLICE("cat"),
                  call->is_generator ? SLICE("generator") : SLICE("call"));
    json_text_add(text, SLICE("name"), open_call_function(call, log->reader)->name);
    if (call->is_generator) {
        add_id(call, text);
    }
}

void perfetto_log_add_call(struct perfetto_log *log,
                           const struct open_call *call,
                           struct buffer *text)
{
    struct perfetto_thread *thread = find_thread(log, call->thread, text);
    void *items;

    if (thread == NULL) {
        return;
    }
    /* A generator is left and entered again while other calls run, so it is no part of the
     * stack. */
    if (!call->is_generator) {
        items = thread->stack;
        if (!memory_grow(&items, &thread->capacity, thread->depth + 1,
                         sizeof *thread->stack)) {
            log->has_failed = true;
            return;
        }
        thread->stack = items;
        thread->stack[thread->depth++] = call->call;
    }
    add_boundary(log, call->is_generator ? 'b' : 'B', call,
                 forward(log, thread, call->time), text);
    add_call_arguments(log, call, text);
    end(text);
}

static void end_slice(const struct perfetto_log *log,
                      uint16_t number,
                      struct perfetto_thread *thread,
                      struct buffer *text)
{
    thread->depth--;
    start(log, 'E', number, false, text);
    add_time(log, thread->last, text);
    end(text);
}

void perfetto_log_add_end(struct perfetto_log *log,
                          uint64_t time,
                          const struct open_call *call,
                          struct buffer *text)
{
    struct perfetto_thread *thread = find_thread(log, call->thread, text);
    size_t place;

    if (thread == NULL) {
        return;
    }
    time = forward(log, thread, time);
    if (call->is_generator) {
        add_boundary(log, 'e', call, time, text);
        end(text);
        return;
    }
    place = thread->depth;
    while (place > 0 && thread->stack[place - 1] != call->call) {
        place--;
    }
    /* Ends the calls inside the call too. If the call is not found, its start is not in the
     * trace, or a call around it has ended already. */
    while (place > 0 && thread->depth >= place) {
        end_slice(log, call->thread, thread, text);
    }
}

/* ---- events ---- */

static void add_event_name(const struct log_event_view *event, struct buffer *text)
{
    enum site_kind kind = event->site->kind;

    buffer_add(text, SLICE(",\"name\":\""));
    if (value_has_nonfinite(event)) {
        buffer_add(text, SLICE("!! "));
    }
    if (kind == SITE_LOOP) {
        buffer_add(text, SLICE("turn "));
        buffer_add_number(text, (uint64_t)event->visit + 1);
        buffer_add(text, event->name.size > 0 ? SLICE("  ") : SLICE(""));
    }
    if (event->name.size > 0) {
        text_add_json(text, event->name);
    } else if (kind != SITE_LOOP) {
        buffer_add(text, slice_of(site_kind_text(kind)));
    }
    text_add_json(text, event->path);
    buffer_add_byte(text, '"');
}

static void add_event_arguments(struct perfetto_log *log,
                                const struct log_event_view *event,
                                struct buffer *text)
{
    const struct json_log fields = {.reader = log->reader};
    const struct site_table *table = &event->module->table;

    start_arguments(table->path, event->site->line, text);
    if (event->kind != VALUE_NOTHING) {
        log->summary.size = 0;
        value_text_add(&log->summary, event, false);
        json_text_add(text, SLICE("is"), buffer_slice(&log->summary));
    }
    json_number_add(text, SLICE("seq"), event->number);
    json_number_add(text, SLICE("call"), event->call);
    json_text_add(text, SLICE("function"),
                  table->functions[event->site->function].name);
    json_number_add(text, SLICE("iteration"), event->visit);
    if (event->site->kind == SITE_BRANCH) {
        json_number_add(text, SLICE("arm"), event->site->arm);
    }
    if (event->change != CHANGE_NONE) {
        json_text_add(text, SLICE("change"), slice_of(change_text(event->change)));
    }
    json_log_add_value(&fields, event, text);
    buffer_add_byte(text, '}');
}

void perfetto_log_add_event(struct perfetto_log *log,
                            const struct log_event_view *event,
                            struct buffer *text)
{
    struct perfetto_thread *thread = find_thread(log, event->thread, text);

    if (thread == NULL) {
        return;
    }
    start(log, 'i', event->thread, false, text);
    add_time(log, forward(log, thread, event->time), text);
    buffer_add(text, SLICE(",\"s\":\"t\""));
    json_text_add(text, SLICE("cat"), slice_of(site_kind_text(event->site->kind)));
    add_event_name(event, text);
    add_event_arguments(log, event, text);
    end(text);
}

void perfetto_log_add_note(struct perfetto_log *log,
                           const struct log_item *item,
                           struct buffer *text)
{
    start(log, 'i', 0, false, text);
    add_time(log, item->note.time, text);
    buffer_add(text, SLICE(",\"s\":\"p\",\"cat\":\"note\""));
    json_text_add(text, SLICE("name"),
                  item->note.tag == LOG_NOTE_WARNING ? SLICE("warning")
                                                     : SLICE("remark"));
    buffer_add(text, SLICE(",\"args\":{\"text\":\""));
    text_add_json(text, item->note.text);
    buffer_add(text, SLICE("\"}"));
    end(text);
}

/* ---- the end of a trace ---- */

void perfetto_log_finish(struct perfetto_log *log,
                         const struct open_calls *calls,
                         struct buffer *text)
{
    for (size_t i = 0; i < log->thread_count; i++) {
        struct perfetto_thread *thread = &log->threads[i];

        forward(log, thread, log->newest);
        while (thread->depth > 0) {
            end_slice(log, (uint16_t)i, thread, text);
        }
    }
    for (size_t i = 0; i < calls->bucket_count; i++) {
        const struct open_call *call = calls->buckets[i];

        for (; call != NULL; call = call->next) {
            if (call->is_generator && call->is_wanted && !call->is_ended) {
                add_boundary(log, 'e', call, log->newest, text);
                end(text);
            }
        }
    }
}
