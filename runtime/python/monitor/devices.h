/* Gauges whose tensors are measured on another device: all results of a step are copied at once. */
#ifndef MONITORCH_PYTHON_MONITOR_DEVICES_H
#define MONITORCH_PYTHON_MONITOR_DEVICES_H

#include "runtime/python/record/session.h"

struct gauge_devices;

/* Begins to measure the tensor for the gauge. False: it cannot be measured there. */
bool gauge_devices_add(struct session *session,
                       PyObject *gauge,
                       PyObject *object,
                       const struct tensor *tensor);
/* Waits for all that was begun, and tells it to the gauges. False: some of it was lost. */
bool gauge_devices_flush(struct session *session);
void gauge_devices_free(struct gauge_devices *devices); /* may be NULL */

#endif
