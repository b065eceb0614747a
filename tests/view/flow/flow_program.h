/* What the program of flow_traces.h does, as a trace: its beginning, its method, its loop. */
#ifndef MONITORCH_TESTS_UNIT_FLOW_PROGRAM_H
#define MONITORCH_TESTS_UNIT_FLOW_PROGRAM_H

#include "tests/view/flow/flow_traces.h"

/* w = make(); net = Net(); a = make() */
struct begun {
    uint32_t module; /* the call */
    uint64_t w, a;
};

static inline struct begun begin(struct flow_trace *trace)
{
    struct begun begun;

    flow_trace_begin(trace);
    begun.module = flow_trace_call(trace, 0, FLOW_FUNCTION_MODULE, 0, "");
    begun.w = flow_trace_add(trace, &(struct flow_value){.site = FLOW_SITE_W,
                                                         .call = begun.module,
                                                         .address = 0x100});
    flow_trace_add_other(trace, FLOW_SITE_NET, begun.module, 0, 0, VALUE_OBJECT);
    begun.a = flow_trace_add(trace, &(struct flow_value){.site = FLOW_SITE_A,
                                                         .call = begun.module,
                                                         .address = 0x200});
    return begun;
}

/* One call of the method: gives the returned value's event. `turn` makes the values differ. */
static inline uint64_t forward(struct flow_trace *trace,
                               uint32_t caller,
                               uint32_t turn,
                               uint64_t address,
                               uint64_t origin,
                               const char *path)
{
    uint32_t call = flow_trace_call(trace, caller, FLOW_FUNCTION_FORWARD, 10, path);
    struct flow_value x = {.site = FLOW_SITE_ENTER,
                           .call = call,
                           .write = 1,
                           .address = address,
                           .origin = origin};
    struct flow_value y = {.site = FLOW_SITE_Y,
                           .call = call,
                           .address = 0x1000 + 0x100 * (uint64_t)turn,
                           .size = 2 + turn,
                           .mean = turn};
    uint64_t made;

    flow_trace_add_other(trace, FLOW_SITE_ENTER, call, 0, 0, VALUE_OBJECT);
    flow_trace_add(trace, &x);
    made = flow_trace_add(trace, &y);
    y.site = FLOW_SITE_ADD;
    y.change = CHANGE_MUTATED;
    y.origin = made;
    y.version = 1;
    made = flow_trace_add(trace, &y);
    y.site = FLOW_SITE_RETURN;
    y.change = CHANGE_NEW;
    y.origin = made;
    made = flow_trace_add(trace, &y);
    flow_trace_leave(trace, call);
    return made;
}

/* for i in range(turns): a = net.forward(a) */
static inline uint64_t loop(struct flow_trace *trace,
                            const struct begun *begun,
                            uint32_t turns,
                            bool has_paths)
{
    uint64_t address = 0x200;
    uint64_t origin = begun->a;

    for (uint32_t i = 0; i < turns; i++) {
        char path[32] = "";

        if (has_paths) {
            snprintf(path, sizeof path, "blocks.%u", i);
        }
        flow_trace_add_other(trace, FLOW_SITE_LOOP, begun->module, i, 0, VALUE_INT);
        origin = forward(trace, begun->module, i, address, origin, path);
        address = 0x1000 + 0x100 * (uint64_t)i;
        origin = flow_trace_add(trace, &(struct flow_value){.site = FLOW_SITE_CALL,
                                                            .call = begun->module,
                                                            .visit = i,
                                                            .address = address,
                                                            .origin = origin,
                                                            .version = 1,
                                                            .size = 2 + i,
                                                            .mean = i,
                                                            .change = CHANGE_REBOUND});
    }
    return origin;
}

#endif
