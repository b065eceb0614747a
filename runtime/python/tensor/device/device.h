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
typedef void (*device_report)(void *target, const struct statistics *statistics);

/* NULL: out of memory. The access must outlive it. */
struct device_queue *device_queue_new(struct tensor_access *access,
                                      device_report report);
/* Results that are not reported yet never are. */
void device_queue_free(struct device_queue *queue);
/* In the child after a fork: begins anew, and touches nothing of what the parent made on its
 * devices. */
void device_queue_forget(struct device_queue *queue);

/* Begins to measure `object`, described as `tensor` with is_on_device set. False: its statistics
 * cannot be had there (a mode, a transform or a tracer would see it; the device cannot do it; it is
 * too large), and nothing will be reported. */
bool device_queue_add(struct device_queue *queue,
                      PyObject *object,
                      const struct tensor *tensor,
                      void *target);
/* Waits for all that was begun, and reports it; nothing is reported where the device failed. */
void device_queue_flush(struct device_queue *queue);
/* Whether something was begun and not reported. */
bool device_queue_is_waiting(const struct device_queue *queue);

#endif
