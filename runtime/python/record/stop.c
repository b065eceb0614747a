/* The stop at a NaN or an infinity: the check of values, and the exception. */
#include "runtime/python/record/stop.h"

#include "runtime/site/statement_text.h"
#include "runtime/view/why/reason/expression.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define DIMENSIONS_SHOWN 12

void stop_begin(struct stop *stop, unsigned wanted)
{
    stop_release(stop);
    stop->wanted = wanted;
}

void stop_release(struct stop *stop)
{
    buffer_release(&stop->name);
    buffer_release(&stop->file);
    buffer_release(&stop->what);
    *stop =
        (struct stop){.name = BUFFER_INIT, .file = BUFFER_INIT, .what = BUFFER_INIT};
}

/* Drops the value that was found, so that the recording continues. */
static void forget(struct stop *stop)
{
    stop->is_reached = false;
    stop->name.size = 0;
    stop->file.size = 0;
    stop->what.size = 0;
}

/* ---- the description of the value ---- */

static struct slice find_name(const struct visit *visit, uint32_t write)
{
    const struct site *site = visit->site;
    uint32_t read = write - RECORDER_READ(0);

    if (write < site->write_count) {
        return site->writes[write].name;
    }
    return write >= RECORDER_READ(0) && read < site->read_count ? site->reads[read].name
                                                                : SLICE("a value");
}

/* Stores the place of a value at which the recording stops. The caller completes the description
 * in `what`. */
static void begin(struct stop *stop,
                  uint64_t thread,
                  const struct visit *visit,
                  uint32_t write,
                  struct slice path)
{
    struct slice name = find_name(visit, write);
    bool is_returned =
        visit->site->kind == SITE_RETURN && slice_equal(name, SLICE("return"));

    stop->is_reached = true;
    stop->thread = thread;
    stop->line = visit->site->line;
    stop->is_parameter = visit->site->kind == SITE_ENTER;
    buffer_add(&stop->name, name);
    buffer_add(&stop->file, visit->module->table.path);
    buffer_add(&stop->what, is_returned ? SLICE("the returned value") : name);
    buffer_add(&stop->what, path);
}

/* Stores the kind of the infinities of a value without NaN. */
static void
note_infinite(struct stop *stop, bool is_infinite, bool is_negative, bool is_number)
{
    stop->is_infinite = is_infinite;
    stop->is_negative = is_negative;
    stop->is_number = is_number;
}

/* Whether the infinity may result from an earlier line that wrote -Inf by name. */
static bool may_come_of_meant(const struct stop *stop, bool is_negative)
{
    return is_negative && stop->has_meant;
}

/* Whether a value with NaN or infinities stops the recording. Values that a monitor measured or
 * a saver wrote do not: they were made elsewhere. */
static bool
stops_at(const struct stop *stop, const struct visit *visit, bool has_nan, bool has_inf)
{
    return stop_is_wanted(stop) && !site_table_is_reported(&visit->module->table) &&
           ((has_nan && (stop->wanted & STOP_AT_NAN) != 0) ||
            (has_inf && (stop->wanted & STOP_AT_INF) != 0));
}

static void
add_count(struct buffer *text, uint64_t count, const char *name, bool *is_first)
{
    if (count > 0) {
        buffer_add(text, *is_first ? SLICE(" holds ") : SLICE(", "));
        buffer_add_number(text, count);
        buffer_add_byte(text, ' ');
        buffer_add(text, slice_of(name));
        *is_first = false;
    }
}

static void add_counts(struct buffer *text, const struct log_nonfinite *counts)
{
    bool is_first = true;

    add_count(text, counts->nan_count, "NaN", &is_first);
    add_count(text, counts->posinf_count, "+Inf", &is_first);
    add_count(text, counts->neginf_count, "-Inf", &is_first);
}

static void add_shape(struct buffer *text, const struct array *array)
{
    char number[24];

    buffer_add(text, SLICE(" ["));
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        if (i == DIMENSIONS_SHOWN) {
            buffer_add(text, SLICE("\xE2\x80\xA6"));
            break;
        }
        snprintf(number, sizeof(number), "%" PRId64, array->shape[i]);
        buffer_add(text, slice_of(number));
    }
    buffer_add_byte(text, ']');
}

bool stop_check_array(struct stop *stop,
                      uint64_t thread,
                      const struct visit *visit,
                      uint32_t write,
                      struct slice path,
                      const struct recorded_array *array,
                      const struct log_nonfinite *counts)
{
    bool has_nan = counts->nan_count > 0;
    bool has_inf = counts->posinf_count + counts->neginf_count > 0;

    if (!stops_at(stop, visit, has_nan, has_inf) ||
        (!has_nan && may_come_of_meant(stop, counts->posinf_count == 0))) {
        return false;
    }
    begin(stop, thread, visit, write, path);
    note_infinite(stop, !has_nan, counts->posinf_count == 0, false);
    add_counts(&stop->what, counts);
    buffer_add(&stop->what, SLICE(" of "));
    buffer_add_number(&stop->what, array_count(array->array));
    buffer_add(&stop->what, SLICE(": "));
    buffer_add(&stop->what, slice_of(dtype_text(array->array->dtype)));
    add_shape(&stop->what, array->array);
    if (array->device.size > 0) {
        buffer_add(&stop->what, SLICE(" on "));
        buffer_add(&stop->what, array->device);
    }
    return true;
}

static const char *number_text(double real, double imaginary)
{
    if (isnan(real) || isnan(imaginary)) {
        return " is NaN";
    }
    return (isinf(real) ? real : imaginary) > 0 ? " is +Inf" : " is -Inf";
}

bool stop_check_number(struct stop *stop,
                       uint64_t thread,
                       const struct visit *visit,
                       uint32_t write,
                       struct slice path,
                       double real,
                       double imaginary)
{
    bool has_nan = isnan(real) || isnan(imaginary);
    bool has_inf = isinf(real) || isinf(imaginary);

    if (!stops_at(stop, visit, has_nan, has_inf) ||
        (!has_nan && may_come_of_meant(stop, real < 0))) {
        return false;
    }
    begin(stop, thread, visit, write, path);
    note_infinite(stop, !has_nan && imaginary == 0, real < 0, true);
    buffer_add(&stop->what, slice_of(number_text(real, imaginary)));
    return true;
}

static struct slice find_owner_name(const struct stop_gradient *gradient)
{
    const struct site *site = &gradient->module->table.sites[gradient->site];
    uint8_t index = gradient->owner->write;

    if ((gradient->owner->flags & LOG_EVENT_READ) != 0) {
        return index < site->read_count ? site->reads[index].name : SLICE("a value");
    }
    return index < site->write_count ? site->writes[index].name : SLICE("a value");
}

bool stop_check_gradient(struct stop *stop,
                         uint64_t thread,
                         const struct stop_gradient *gradient)
{
    const struct log_nonfinite *counts = &gradient->counts;
    const struct recorded_module *module =
        gradient->maker != NULL ? gradient->maker : gradient->module;
    uint32_t site = gradient->maker != NULL ? gradient->maker_site : gradient->site;

    if (!stop_is_wanted(stop) ||
        !((counts->nan_count > 0 && (stop->wanted & STOP_AT_NAN) != 0) ||
          (counts->posinf_count + counts->neginf_count > 0 &&
           (stop->wanted & STOP_AT_INF) != 0))) {
        return false;
    }
    stop->is_reached = true;
    stop->thread = thread;
    stop->line = module->table.sites[site].line;
    stop->is_parameter = false;
    note_infinite(stop, false, false, false); /* no line names an infinite gradient */
    buffer_add(&stop->file, module->table.path);
    if (gradient->maker != NULL) {
        buffer_add(&stop->what,
                   gradient->is_first
                       ? SLICE("the backward of this line: ")
                       : SLICE("the backward of this line made the first infinity: "));
    }
    buffer_add(&stop->what, SLICE("the gradient of "));
    buffer_add(&stop->what, find_owner_name(gradient));
    add_counts(&stop->what, counts);
    buffer_add(&stop->what, SLICE(" of "));
    buffer_add_number(&stop->what, gradient->element_count);
    buffer_add(&stop->what, SLICE(": "));
    buffer_add(&stop->what, gradient->dtype);
    return true;
}

/* ---- infinities that the source names ---- */

static PyObject *make_text(const struct buffer *buffer)
{
    return PyUnicode_DecodeUTF8(buffer->size > 0 ? buffer->bytes : "",
                                (Py_ssize_t)buffer->size, "replace");
}

/* Whether the source names an infinity in these lines, or passes on a number that another line
 * named. Returns false if the source cannot be read. */
static bool is_named(const struct stop *stop, struct slice lines)
{
    struct buffer text = BUFFER_INIT;
    struct slice named;
    bool is_it;

    statement_add(&text, lines);
    named = buffer_slice(&text);
    if (stop->is_parameter) {
        named = parameter_default(named, buffer_slice(&stop->name));
    }
    is_it =
        infinity_is_named(named) || (stop->is_number && stop->has_meant_number &&
                                     (stop->is_parameter || statement_hands_on(named)));
    is_it = is_it && !text.has_failed;
    buffer_release(&text);
    return is_it;
}

/* Whether the infinity is intended: the line names it, or it is the default of the parameter. */
static bool is_meant(struct stop *stop)
{
    PyObject *module = PyImport_ImportModule("monitorch._record.nonfinite");
    PyObject *lines = module == NULL ? NULL
                                     : PyObject_CallMethod(module, "lines", "Nk",
                                                           make_text(&stop->file),
                                                           (unsigned long)stop->line);
    Py_ssize_t size = 0;
    const char *bytes = lines == NULL ? NULL : PyUnicode_AsUTF8AndSize(lines, &size);
    bool is_it = bytes != NULL && is_named(stop, (struct slice){bytes, (size_t)size});

    PyErr_Clear();
    Py_XDECREF(lines);
    Py_XDECREF(module);
    return is_it;
}

/* ---- raising ---- */

/* Ends the recording and makes the exception. Returns NULL without an exception set if there is
 * none. */
static PyObject *make_exception(const struct stop *stop)
{
    PyObject *module = PyImport_ImportModule("monitorch._record.nonfinite");
    PyObject *reach =
        module == NULL ? NULL : PyObject_GetAttrString(module, "report_found");
    PyObject *arguments =
        Py_BuildValue("(NkN)", make_text(&stop->file), (unsigned long)stop->line,
                      make_text(&stop->what));
    PyObject *exception = NULL;

    if (reach != NULL && arguments != NULL) {
        exception = PyObject_CallObject(reach, arguments);
    }
    if (exception == NULL) {
        PyErr_WriteUnraisable(reach);
    }
    Py_XDECREF(arguments);
    Py_XDECREF(reach);
    Py_XDECREF(module);
    return exception;
}

bool stop_raise(struct stop *stop)
{
    struct stop reached;
    PyObject *exception;

    if (stop->is_infinite && is_meant(stop)) {
        stop->has_meant = stop->has_meant || stop->is_negative;
        stop->has_meant_number = stop->has_meant_number || stop->is_number;
        forget(stop);
        return false;
    }
    reached = *stop;
    *stop =
        (struct stop){.name = BUFFER_INIT, .file = BUFFER_INIT, .what = BUFFER_INIT};
    exception = make_exception(&reached);
    stop_release(&reached);
    if (exception != NULL && PyExceptionInstance_Check(exception)) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    }
    Py_XDECREF(exception);
    return PyErr_Occurred() != NULL;
}
