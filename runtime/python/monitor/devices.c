/* Gauges that wait for what devices compute. */
#include "runtime/python/monitor/devices.h"

#include "runtime/base/memory.h"
#include "runtime/python/monitor/gauge.h"

struct wait {
    struct wait *next; /* owned */
    PyObject *gauge;   /* owned */
    enum dtype dtype;
    bool is_reported;
};

struct gauge_devices {
    struct device_queue *queue; /* owned */
    struct wait *waits;         /* owned */
    unsigned fork_count;        /* what session_fork_count() was when it was made */
};

static void report(void *target, const struct statistics *statistics)
{
    struct wait *wait = target;

    gauge_write(wait->gauge, wait->dtype, statistics);
    wait->is_reported = true;
}

/* Whether all were told. */
static bool waits_drop(struct gauge_devices *devices)
{
    bool are_written = true;

    while (devices->waits != NULL) {
        struct wait *wait = devices->waits;

        devices->waits = wait->next;
        are_written = are_written && wait->is_reported;
        Py_DECREF(wait->gauge);
        memory_free(wait);
    }
    return are_written;
}

static struct gauge_devices *devices_get(struct session *session)
{
    struct gauge_devices *devices = session->gauge_devices;

    if (devices == NULL) {
        devices = memory_allocate_zeroed(1, sizeof *devices);
        if (devices == NULL) {
            return NULL;
        }
        devices->queue = device_queue_new(session->access, report);
        devices->fork_count = session_fork_count();
        if (devices->queue == NULL) {
            memory_free(devices);
            return NULL;
        }
        session->gauge_devices = devices;
    }
    if (devices->fork_count != session_fork_count()) {
        device_queue_forget(devices->queue);
        waits_drop(devices);
        devices->fork_count = session_fork_count();
    }
    return devices;
}

bool gauge_devices_add(struct session *session,
                       PyObject *gauge,
                       PyObject *object,
                       const struct tensor *tensor)
{
    struct gauge_devices *devices = devices_get(session);
    struct wait *wait = memory_allocate_zeroed(1, sizeof *wait);

    if (devices == NULL || wait == NULL) {
        memory_free(wait);
        return false;
    }
    wait->dtype = tensor->array.dtype;
    if (!device_queue_add(devices->queue, object, tensor, wait)) {
        memory_free(wait);
        return false;
    }
    wait->gauge = Py_NewRef(gauge);
    wait->next = devices->waits;
    devices->waits = wait;
    return true;
}

bool gauge_devices_flush(struct session *session)
{
    if (session->gauge_devices == NULL) {
        return true;
    }
    struct gauge_devices *devices = devices_get(session);
    device_queue_flush(devices->queue);
    return waits_drop(devices);
}

void gauge_devices_free(struct gauge_devices *devices)
{
    if (devices != NULL) {
        waits_drop(devices);
        device_queue_free(devices->queue);
        memory_free(devices);
    }
}
