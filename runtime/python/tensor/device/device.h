/* Statistics of tensors in another device's memory: computed there, by libtorch, without waiting;
 * the results are reported later, for many tensors at once. There is no hash of such a tensor, and
 * no sample. Called with the GIL held, which is kept.
 *
 * MONITORCH_TEST_DEVICE=1 in the environment treats tensors in the CPU's memory like those of a
 * device, so that this code runs where there is none. */
#ifndef MONITORCH_PYTHON_TENSOR_DEVICE_DEVICE_H
#define MONITORCH_PYTHON_TENSOR_DEVICE_DEVICE_H

#include "runtime/python/tensor/tensor.h"

struct device_queue;

/* Reports the result for the tensor that was added with `target`. */
typedef void (*device_report)(void *context,
                              void *target,
                              const struct statistics *statistics);

/* NULL: out of memory. The access must outlive it. */
struct device_queue *
device_queue_new(struct tensor_access *access, device_report report, void *context);
/* Drops the results that were not reported. */
void device_queue_free(struct device_queue *queue);
/* In the child after a fork: starts with an empty queue and leaves the parent's work on its
 * devices alone. */
void device_queue_forget(struct device_queue *queue);

/* Starts to measure `object`, described as `tensor` with is_on_device set. Returns false if its
 * statistics cannot be computed there (a mode, a transform or a tracer would see it; the device
 * does not support it; it is too large). Nothing is reported for it then. */
bool device_queue_add(struct device_queue *queue,
                      PyObject *object,
                      const struct tensor *tensor,
                      void *target);
/* Waits for all measurements and reports them. Measurements that the device failed are not
 * reported. */
void device_queue_flush(struct device_queue *queue);
/* Whether a measurement was started and not reported yet. */
bool device_queue_is_waiting(const struct device_queue *queue);

#endif
