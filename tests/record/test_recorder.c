/* The recorder without Python: which call a visit belongs to, what happened to a name, and what
 * is read back from the trace. */
#include "runtime/base/file/file.h"
#include "runtime/record/recorder.h"
#include "runtime/trace/reader.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* def f(x): y = x; y[0] = 1; return y      a site each
 * def g(x): while x: (a record before it in its header) … */
static const char table_text[] =
    "monitorch1 00000000000000000000000000000000 _mt m.py --all 3,7 "
    "1,0,<module> 1,0,f 9,0,g "
    "e2/1=x a1=y,-1 m1=y,-1 r1=return,-1 "
    "a6/2*=n l1 a1=n .";

static char path[] = "/tmp/monitorch-test-XXXXXX";

struct world {
    struct recorder *recorder;
    struct recorded_module *module;
    struct call_thread *thread;
};

static void world_init(struct world *world)
{
    struct recorder_options options = {
        .log = {.sample = 4}, .has_statistics = true, .has_hash = true, .every = 1};
    struct error error = ERROR_INIT;
    struct module_text text = {
        .table = {table_text, strlen(table_text)},
        .name = SLICE("m"),
        .file = SLICE("m.py"),
        .source = SLICE("def f(x): pass\n"),
        .source_tag = LOG_SOURCE_OTHER,
    };

    world->recorder = recorder_new(path, &options, &error);
    if (!CHECK(world->recorder != NULL)) {
        printf("%s\n", error.text);
        exit(1);
    }
    world->module = recorder_add_text(world->recorder, &text, &error);
    if (!CHECK(world->module != NULL)) {
        printf("%s\n", error.text);
        exit(1);
    }
    world->thread = recorder_thread(world->recorder, 1, 1, SLICE("main"));
}

static void world_release(struct world *world)
{
    CHECK(recorder_close(world->recorder, NULL));
}

static struct call *
begin(struct world *world, uint32_t function, uintptr_t frame, struct call *parent)
{
    struct call_start start = {
        .thread = world->thread,
        .module = world->module,
        .function = function,
        .frame = (void *)frame,
        .code = (void *)(uintptr_t)(function + 1),
        .parent = parent,
        .line = 12,
    };
    call_table_run(recorder_calls(world->recorder), world->thread, parent);
    struct call *call = recorder_begin_call(world->recorder, &start);
    if (!CHECK(call != NULL)) {
        exit(1);
    }
    call_table_run(recorder_calls(world->recorder), world->thread, call);
    return call;
}

struct seen {
    uint64_t object;
    float values[4];
    uint32_t version;
    int64_t size;
    bool is_transposed;
    bool is_hidden; /* its address is not known */
};

static void
report(struct world *world, struct call *call, uint32_t site, const struct seen *seen)
{
    int64_t shape[2] = {seen->size, 1};
    int64_t strides[2] = {seen->is_transposed ? 8 : 4, 4};
    struct array array = {.data = seen->values,
                          .dtype = DTYPE_FLOAT32,
                          .dimension_count = 2,
                          .shape = shape,
                          .strides = strides};
    struct statistics statistics;
    struct recorded_array recorded = {
        .array = &array,
        .data = seen->is_hidden ? 0 : 4096,
        .offset = seen->is_hidden ? 2 : 0,
        .version = seen->version,
        .statistics = &statistics,
        .has_hash = true,
        .is_sampled = true,
    };
    struct value value = {
        .kind = VALUE_TENSOR, .object = seen->object, .array = &recorded};
    struct visit visit;

    statistics_measure(&array, STATISTICS_WANT_VALUES | STATISTICS_WANT_HASH, 1,
                       &statistics, &recorded.hash);
    if (recorder_begin_visit(world->recorder, world->module, site, call, &visit)) {
        recorder_write(world->recorder, &visit, 0, SLICE(""), &value);
    }
}

static void report_nothing(struct world *world, struct call *call, uint32_t site)
{
    struct value value = {.kind = VALUE_NOTHING};
    struct visit visit;

    if (recorder_begin_visit(world->recorder, world->module, site, call, &visit)) {
        recorder_write(world->recorder, &visit, 0, SLICE(""), &value);
    }
}

/* What the trace holds, one letter or word an item, for a comparison by eye. */
static void read_back(struct buffer *text)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct log_item item;

    if (!CHECK(reader != NULL)) {
        printf("%s\n", error.text);
        exit(1);
    }
    while (log_reader_next(reader, &item)) {
        if (item.kind == LOG_CALL) {
            buffer_add_format(text, "call %u<%u ", item.call.call, item.call.parent);
        } else if (item.kind == LOG_END) {
            buffer_add_format(text, "end %u%s ", item.end.call,
                              item.end.how == LOG_END_LEFT ? "!" : "");
        } else if (item.kind == LOG_EVENT) {
            buffer_add_format(text, "%s%u.%u ", site_kind_text(item.event.site->kind),
                              item.event.call, item.event.visit);
            if (item.event.kind != VALUE_NOTHING) {
                buffer_add_format(text, "%s:%u ", change_text(item.event.change),
                                  item.event.difference);
            }
        }
    }
    CHECK(log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
}

static void check_trace(const char *wanted)
{
    struct buffer text = BUFFER_INIT;

    read_back(&text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    buffer_release(&text);
}

static void test_changes(void)
{
    struct world world;
    struct seen x = {.object = 100, .values = {1, 2, 3, 4}, .size = 2};

    world_init(&world);
    struct call *call = begin(&world, 1, 1000, NULL);
    report(&world, call, 0, &x);
    report(&world, call, 1, &x); /* y: its first value here */
    x.version = 1;
    x.values[0] = 9;
    report(&world, call, 2, &x); /* y, written by this site */
    report(&world, call, 0, &x); /* x sees what y's site wrote */
    report(&world, call, 0, &x);
    x.object = 200;
    x.size = 3;
    report(&world, call, 0, &x);
    x.is_transposed = true;
    x.size = 2;
    report(&world, call, 1, &x);
    report(&world, call, 3, &x);
    world_release(&world);
    check_trace("call 1<0 enter1.0 new:0 assign1.0 new:0 mutate1.0 mutated:32 "
                "enter1.1 aliased:32 enter1.2 same:0 enter1.3 rebound:33 "
                "assign1.1 rebound:40 return1.0 new:0 end 1 ");
}

/* Storages that nobody knows are not one and the same. */
static void test_hidden_storages(void)
{
    struct world world;
    struct seen x = {.object = 100, .size = 2, .is_hidden = true};
    struct seen other = {.object = 200, .size = 2, .is_hidden = true};

    world_init(&world);
    struct call *call = begin(&world, 1, 1000, NULL);
    report(&world, call, 0, &x);
    report(&world, call, 2, &other);
    x.version = 1;
    report(&world, call, 0, &x);
    world_release(&world);
    check_trace("call 1<0 enter1.0 new:0 mutate1.0 new:0 enter1.1 mutated:0 ");
}

static void test_calls(void)
{
    struct world world;
    struct seen x = {.object = 100, .size = 1};

    world_init(&world);
    struct call *outer = begin(&world, 1, 1000, NULL);
    report(&world, outer, 0, &x);
    struct call *inner = begin(&world, 1, 2000, outer); /* recursion */
    report(&world, inner, 0, &x);
    struct call *third = begin(&world, 2, 3000, inner);
    report(&world, third, 6, &x);
    /* An exception passes through two calls: the next event is the outer one's. */
    struct call_table *calls = recorder_calls(world.recorder);
    CHECK(call_table_find(calls, (void *)1000, (void *)2) == outer);
    call_table_run(calls, world.thread, outer);
    report(&world, outer, 1, &x);
    CHECK(call_table_find(calls, (void *)2000, (void *)2) == NULL);
    /* The frame's address begins another call. */
    inner = begin(&world, 1, 2000, outer);
    report(&world, inner, 0, &x);
    report(&world, inner, 3, &x);
    struct call *again = begin(&world, 1, 2000, outer);
    report(&world, again, 0, &x);
    world_release(&world);
    check_trace("call 1<0 enter1.0 new:0 call 2<1 enter2.0 new:0 call 3<2 "
                "assign3.0 new:0 end 3! end 2! assign1.0 new:0 call 4<1 enter4.0 new:0 "
                "return4.0 new:0 end 4 call 5<1 enter5.0 new:0 ");
}

static void test_generators(void)
{
    struct world world;
    struct seen x = {.object = 100, .size = 1};

    world_init(&world);
    world.module->functions[2].is_generator = true;
    struct call_table *calls = recorder_calls(world.recorder);
    struct call *user = begin(&world, 1, 1000, NULL);
    struct call *one = begin(&world, 2, 2000, user);
    report(&world, one, 6, &x);
    call_table_run(calls, world.thread, user); /* it yields */
    struct call *two = begin(&world, 2, 3000, user);
    report(&world, two, 6, &x);
    CHECK(call_table_find(calls, (void *)2000, (void *)3) == one);
    call_table_run(calls, world.thread, one);
    report(&world, one, 6, &x);
    CHECK(one->visits[world.module->sites[6].local] == 2);
    /* Another thread goes on with it. */
    struct call_thread *other = recorder_thread(world.recorder, 2, 2, SLICE("other"));
    call_table_run(calls, other, one);
    CHECK(one->thread == other && other->top == one && world.thread->top != one);
    world_release(&world);
}

static void test_while_headers(void)
{
    struct world world;
    struct seen n = {.object = 100, .size = 1};

    world_init(&world);
    struct call *call = begin(&world, 2, 1000, NULL);
    report(&world, call, 4, &n); /* reached */
    report_nothing(&world, call, 5);
    report(&world, call, 4, &n); /* the header again: not told */
    report_nothing(&world, call, 5);
    report(&world, call, 4, &n); /* and again */
    report(&world, call, 4, &n); /* no turn between: reached anew */
    world_release(&world);
    check_trace("call 1<0 assign1.0 new:0 loop1.0 loop1.1 assign1.1 same:0 ");
}

/* An event has eight bits for which name it is of. */
static void test_many_names(void)
{
    struct world world;
    struct value value = {.kind = VALUE_NONE, .object = 100};
    struct visit visit;

    world_init(&world);
    struct call *call = begin(&world, 1, 1000, NULL);
    if (CHECK(recorder_begin_visit(world.recorder, world.module, 1, call, &visit))) {
        recorder_write(world.recorder, &visit, 0, SLICE(""), &value);
        recorder_write(world.recorder, &visit, 256, SLICE(""), &value);
    }
    world_release(&world);
    check_trace("call 1<0 assign1.0 new:0 ");
}

static void test_names(void)
{
    static const char *const names[] = {"q", "attn*"};
    struct recorder_options options = {.every = 1, .names = names, .name_count = 2};
    struct error error = ERROR_INIT;
    struct recorder *recorder = recorder_new(path, &options, &error);

    CHECK(recorder != NULL);
    CHECK(recorder_keeps(recorder, SLICE("q"), SLICE("")));
    CHECK(recorder_keeps(recorder, SLICE("attn_2"), SLICE("")));
    CHECK(!recorder_keeps(recorder, SLICE("k"), SLICE("")));
    CHECK(recorder_close(recorder, NULL));
}

/* ---- settings ---- */

static bool has_setting(const char *file, struct slice name, struct slice value)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(file, &error);
    bool is_there = false;

    for (size_t i = 0; reader != NULL && i < log_reader_setting_count(reader); i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);

        is_there = is_there || (slice_equal(setting->name, name) &&
                                slice_equal(setting->value, value));
    }
    log_reader_free(reader);
    return is_there;
}

/* A forked child's trace has its parent's settings, with their last values. */
static void test_settings_go_along(void)
{
    static const char child[] = "/tmp/monitorch-test-child.mtrace";
    struct error error = ERROR_INIT;
    struct world world;

    world_init(&world);
    recorder_write_setting(world.recorder, SLICE("seed"), SLICE("1"));
    recorder_write_setting(world.recorder, SLICE("torch.threads"), SLICE(""));
    recorder_write_setting(world.recorder, SLICE("seed"), SLICE("2"));
    recorder_write_setting(world.recorder, SLICE("seed"), SLICE("2"));
    CHECK(recorder_fork(world.recorder, child, &error));
    recorder_write_setting(world.recorder, SLICE("torch.threads"), SLICE("8"));
    world_release(&world);
    CHECK(has_setting(path, SLICE("seed"), SLICE("2")));
    CHECK(has_setting(path, SLICE("torch.threads"), SLICE("")));
    CHECK(has_setting(child, SLICE("seed"), SLICE("2")));
    CHECK(has_setting(child, SLICE("torch.threads"), SLICE("8")));
    unlink(child);
}

int main(void)
{
    int descriptor = mkstemp(path);

    if (descriptor < 0) {
        perror(path);
        return 1;
    }
    close(descriptor);
    test_changes();
    test_hidden_storages();
    test_calls();
    test_generators();
    test_while_headers();
    test_many_names();
    test_names();
    test_settings_go_along();
    unlink(path);
    return check_finish();
}
