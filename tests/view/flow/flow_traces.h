/* Traces for the tests of the graph: of one small program, whose values the test makes up. */
#ifndef MONITORCH_TESTS_UNIT_FLOW_TRACES_H
#define MONITORCH_TESTS_UNIT_FLOW_TRACES_H

#include "runtime/base/buffer.h"
#include "runtime/trace/writer.h"
#include "runtime/view/flow/flow.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static const char flow_source[] = "w = make()\n"
                                  "class Net:\n"
                                  "    def forward(self, x):\n"
                                  "        y = x @ w\n"
                                  "        y += self.scale\n"
                                  "        return y\n"
                                  "net = Net()\n"
                                  "a = make()\n"
                                  "for i in range(3):\n"
                                  "    a = net.forward(a)\n"
                                  "v = a[0]\n"
                                  "v.zero_()\n"
                                  "b, c = a, a + w\n"
                                  "d = {\"k\": b}\n"
                                  "e = d[\"k\"]; g = e * c\n"
                                  "def r(x):\n"
                                  "    y = x + 1\n"
                                  "    z = r(y)\n"
                                  "    return z\n"
                                  "o = r(a)\n";

/* What the compiler makes of it. */
static const char flow_table[] =
    "monitorch1 3d0400850b3c948e65c67ee23e9c01b7 _mt unit.py --all 3,20 1,0,<module> "
    "2,0,Net.forward 13,0,r a1:1=w(make e2:5/1=self=x a1:9=y,-1.1(w "
    "a1.1=y,-1,self.scale "
    "r1=return,-1 a1:1/0=net(Net a1=a(0 l1=i(range a1:5.1=a(-3(a a1:1=v(a m1=v(-1 "
    "a1=b=c(a(-11 a1=d(-1 a1=e(-1 a:13=g(-1(-3.1 e1:1/2=x a1:5=y,-1 a1=z(r,-1 r1=3,-1 "
    "a1:1/0=o(r(a .";

enum flow_site {
    FLOW_SITE_W,
    FLOW_SITE_ENTER,
    FLOW_SITE_Y,
    FLOW_SITE_ADD,
    FLOW_SITE_RETURN,
    FLOW_SITE_NET,
    FLOW_SITE_A,
    FLOW_SITE_LOOP,
    FLOW_SITE_CALL,
    FLOW_SITE_V,
    FLOW_SITE_ZERO,
    FLOW_SITE_BC,
    FLOW_SITE_D,
    FLOW_SITE_E,
    FLOW_SITE_G,
    FLOW_SITE_R_ENTER,
    FLOW_SITE_R_Y,
    FLOW_SITE_R_Z,
    FLOW_SITE_R_RETURN,
    FLOW_SITE_O,
    FLOW_SITE_COUNT
};

enum flow_function { FLOW_FUNCTION_MODULE, FLOW_FUNCTION_FORWARD, FLOW_FUNCTION_R };

struct flow_trace {
    char path[64];
    struct log_writer *writer;
    uint32_t last_call;
};

/* A value: equal addresses are the same object, which lies in memory of its own. */
struct flow_value {
    uint32_t site;
    uint32_t call;
    uint32_t visit;
    uint8_t write; /* which of the site's names; of its reads where `flags` say so */
    enum change change;
    uint8_t flags;
    const char *path;
    uint64_t address;
    uint64_t data;   /* 0: as the address */
    uint64_t origin; /* as flow_trace_add gave it; 0: none */
    uint32_t version;
    uint32_t alias_site;
    int64_t size;
    double mean;
    uint64_t nan_count;
};

static inline void flow_trace_begin(struct flow_trace *trace)
{
    struct error error = ERROR_INIT;
    struct log_options options = {.sample = 4};
    struct log_table table = {.record = {.kind = LOG_TABLE},
                              .site_count = FLOW_SITE_COUNT};
    struct log_source source = {
        .record = {.kind = LOG_SOURCE, .tag = LOG_SOURCE_ORIGINAL}};

    *trace = (struct flow_trace){.path = "/tmp/flow-XXXXXX"};
    close(mkstemp(trace->path));
    unlink(trace->path);
    trace->writer = log_writer_new(trace->path, &options, &error);
    if (trace->writer == NULL ||
        !log_writer_define(trace->writer, &table, sizeof table, slice_of(flow_table)) ||
        !log_writer_define(trace->writer, &source, sizeof source,
                           slice_of(flow_source))) {
        printf("a trace cannot be written: %s\n", error.text);
        exit(1);
    }
}

static inline void flow_trace_end(struct flow_trace *trace)
{
    struct error error = ERROR_INIT;

    CHECK(log_writer_close(trace->writer, &error));
}

static inline void flow_trace_remove(const struct flow_trace *trace)
{
    unlink(trace->path);
}

/* Gives the call's number. */
static inline uint32_t flow_trace_call(struct flow_trace *trace,
                                       uint32_t parent,
                                       enum flow_function function,
                                       uint32_t line,
                                       const char *path)
{
    struct log_call *call = log_writer_begin_beside(trace->writer, sizeof *call);
    uint32_t path_text = log_writer_text(trace->writer, slice_of(path));

    call->call = ++trace->last_call;
    call->parent = parent;
    call->function = (uint32_t)function;
    call->line = line;
    call->path = path_text;
    call->class_name =
        path[0] == '\0' ? 0 : log_writer_text(trace->writer, SLICE("Net"));
    log_writer_commit(trace->writer,
                      (struct log_record){.size = sizeof *call, .kind = LOG_CALL});
    return trace->last_call;
}

static inline void flow_trace_leave(struct flow_trace *trace, uint32_t call)
{
    struct log_end *end = log_writer_begin_beside(trace->writer, sizeof *end);

    end->call = call;
    log_writer_commit(trace->writer, (struct log_record){.size = sizeof *end,
                                                         .kind = LOG_END,
                                                         .tag = LOG_END_RETURNED});
}

/* Gives 1 + the event's number. */
static inline uint64_t flow_trace_add(struct flow_trace *trace,
                                      const struct flow_value *value)
{
    struct form {
        struct log_form form;
        int64_t shape_and_strides[2];
    } form = {.form = {.dtype = DTYPE_FLOAT32,
                       .dimension_count = 1,
                       .record = {.kind = LOG_FORM}},
              .shape_and_strides = {value->size == 0 ? 2 : value->size, 1}};
    struct record {
        struct log_event event;
        struct log_tensor tensor;
        struct log_statistics statistics;
        struct log_nonfinite nonfinite;
    } * record;
    uint32_t number = log_writer_form(trace->writer, &form.form, sizeof form);
    uint32_t path =
        value->path == NULL ? 0 : log_writer_text(trace->writer, slice_of(value->path));
    double bound = value->mean;

    record = log_writer_begin(trace->writer, sizeof *record);
    record->event.site = value->site;
    record->event.call = value->call;
    record->event.visit = value->visit;
    record->event.write = value->write;
    record->event.path = path;
    record->event.type = number;
    record->tensor = (struct log_tensor){
        .object = value->address,
        .data = value->data == 0 ? value->address : value->data,
        .origin = value->origin,
        .version = value->version,
        .alias_site = value->change == CHANGE_ALIASED ? value->alias_site : UINT32_MAX,
    };
    record->statistics.mean = value->mean;
    memcpy(&record->statistics.min, &bound, sizeof bound);
    memcpy(&record->statistics.max, &bound, sizeof bound);
    record->nonfinite.nan_count = value->nan_count;
    log_writer_commit(
        trace->writer,
        (struct log_record){
            .size = sizeof *record,
            .kind = LOG_EVENT,
            .tag = VALUE_TENSOR,
            .mark =
                (uint8_t)(value->change == CHANGE_NONE ? CHANGE_NEW : value->change),
            .flags =
                (uint8_t)(value->flags | LOG_EVENT_STATISTICS | LOG_EVENT_NONFINITE)});
    return log_writer_event_count(trace->writer);
}

/* A value that is no array: an integer, or `kind`. */
static inline uint64_t flow_trace_add_other(struct flow_trace *trace,
                                            uint32_t site,
                                            uint32_t call,
                                            uint32_t visit,
                                            uint8_t write,
                                            enum value_kind kind)
{
    struct record {
        struct log_event event;
        struct log_scalar scalar;
    } * record;
    uint32_t type = kind == VALUE_OBJECT || kind == VALUE_CONTAINER
                        ? log_writer_text(trace->writer, SLICE("Net"))
                        : 0;

    record = log_writer_begin(trace->writer, sizeof *record);
    record->event.site = site;
    record->event.call = call;
    record->event.visit = visit;
    record->event.write = write;
    record->event.type = type;
    record->scalar.integer = 1;
    log_writer_commit(trace->writer, (struct log_record){.size = sizeof *record,
                                                         .kind = LOG_EVENT,
                                                         .tag = (uint8_t)kind,
                                                         .mark = CHANGE_NEW});
    return log_writer_event_count(trace->writer);
}

/* A container at that address, of so many items; `flags` as LOG_EVENT_CONTINUED. */
static inline void flow_trace_add_container(struct flow_trace *trace,
                                            const struct flow_value *value,
                                            int64_t item_count)
{
    struct record {
        struct log_event event;
        struct log_scalar scalar;
    } * record;
    uint32_t type = log_writer_text(trace->writer, SLICE("list"));

    record = log_writer_begin(trace->writer, sizeof *record);
    record->event.site = value->site;
    record->event.call = value->call;
    record->event.visit = value->visit;
    record->event.type = type;
    record->scalar.integer = item_count;
    record->scalar.object = value->address;
    log_writer_commit(trace->writer, (struct log_record){.size = sizeof *record,
                                                         .kind = LOG_EVENT,
                                                         .tag = VALUE_CONTAINER,
                                                         .mark = (uint8_t)value->change,
                                                         .flags = value->flags});
}

static inline void flow_trace_note(struct flow_trace *trace, const char *text)
{
    size_t size = sizeof(struct log_note) + strlen(text);
    struct log_note *note = log_writer_begin_beside(trace->writer, size);

    note->site = UINT32_MAX;
    memcpy(note + 1, text, strlen(text));
    log_writer_commit(trace->writer, (struct log_record){.size = (uint32_t)size,
                                                         .kind = LOG_NOTE,
                                                         .tag = LOG_NOTE_GUESS});
}

/* ---- the graph of it ---- */

static inline bool flow_graph_of(struct flow_graph *graph,
                                 const struct flow_trace *trace,
                                 const struct flow_options *options,
                                 struct error *error)
{
    struct log_reader *reader = log_reader_new(trace->path, error);
    struct source_lines sources;
    bool is_done;

    flow_graph_init(graph);
    if (reader == NULL) {
        return false;
    }
    source_lines_init(&sources, reader, NULL);
    is_done = flow_graph_build(graph, reader, &sources, options, error);
    /* Where memory runs out below the graph, reader and sources say so. */
    if (is_done && (log_reader_damage_count(reader) > 0 || sources.has_failed)) {
        error_set_memory(error);
        is_done = false;
    }
    source_lines_release(&sources);
    log_reader_free(reader);
    return is_done;
}

/* The graph in words, a line for each box, node and edge: what tests compare. */
static inline void flow_graph_write(const struct flow_graph *graph, struct buffer *text)
{
    static const char *const kinds[] = {"", "=", "!", "~"};
    static const char *const flags[] = {"source",    "argument", "result",
                                        "guessed",   "in place", "alias",
                                        "parameter", "nonfinite"};

    for (uint32_t i = 0; i < graph->group_count; i++) {
        const struct flow_group *group = &graph->groups[i];

        buffer_add_format(text, "[%d in %d: %.*s%.*s %.*s x%d%s]\n", (int)i,
                          (int)group->parent, (int)group->function.size,
                          group->function.bytes, (int)group->code.size,
                          group->code.bytes, (int)group->path.size, group->path.bytes,
                          (int)group->count, group->is_recursive ? " recursive" : "");
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct flow_node *node = &graph->nodes[i];

        buffer_add_format(text, "%d %.*s x%d in %d", (int)i, (int)node->name.size,
                          node->name.bytes, (int)node->count, (int)node->group);
        for (int k = 0; k < 8; k++) {
            if ((node->flags >> k & 1) != 0) {
                buffer_add_format(text, " %s", flags[k]);
            }
        }
        buffer_add(text, SLICE(":"));
        for (uint32_t k = 0; k < graph->edge_count; k++) {
            const struct flow_edge *edge = &graph->edges[k];

            if (edge->target == i) {
                buffer_add_format(text, " %s%d%s", kinds[edge->kind], (int)edge->source,
                                  edge->is_carried ? "^" : "");
            }
        }
        buffer_add_byte(text, '\n');
    }
}

#endif
