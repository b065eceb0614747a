/* What the files of the type Gauge share. */
#ifndef MONITORCH_PYTHON_MONITOR_GAUGE_PRIVATE_H
#define MONITORCH_PYTHON_MONITOR_GAUGE_PRIVATE_H

#include "runtime/array/statistics/gauge.h"
#include "runtime/python/monitor/gauge.h"

/* One, or one for each index of the axis. */
struct slot {
    struct gauge gauge;
    struct spread
        *spread; /* owned; NULL where no metric needs it, or nothing came yet */
};

struct gauge_object {
    PyObject_HEAD PyObject *keys; /* owned: a tuple of str, one for each metric */
    unsigned char metrics[GAUGE_METRIC_COUNT];
    PyObject *histogram; /* owned: the key of it; NULL: it is not wanted */
    bool has_spread;
    bool has_axis;
    int axis;
    unsigned thread_limit;
    struct slot *slots; /* owned */
    size_t slot_count, slot_room;
};

#endif
