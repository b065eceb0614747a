/* The tables `steps` and `parameters`: backwards, steps of optimizers and changes of their
 * settings; and recorded values of parameters, gradients and settings. */
#include "runtime/view/sql/tables/row_tables.h"

#include "runtime/base/memory.h"

#define INTERRUPT_STEP 4096

/* ---- one pass over the trace ---- */

void sql_training_release(struct sql_training *training)
{
    arena_release(&training->arena);
    memory_free(training->steps);
    memory_free(training->values);
    *training = (struct sql_training){.is_known = false};
}

static bool add_step(struct sql_training *training,
                     const struct log_step_view *step,
                     uint64_t training_step,
                     uint64_t next_event)
{
    void *steps = training->steps;

    if (!memory_grow(&steps, &training->step_capacity, training->step_count + 1,
                     sizeof *training->steps)) {
        return false;
    }
    training->steps = steps;
    training->steps[training->step_count++] = (struct sql_step){
        .step = step->number,
        .tag = step->tag,
        .name = arena_copy(&training->arena, step->name),
        .file = arena_copy(&training->arena, step->file),
        .line = step->line,
        .thread = step->thread,
        .time = step->time,
        .training_step = training_step,
        .next_event = next_event,
    };
    return !training->arena.has_failed;
}

static const char *what_of(const struct log_item *item)
{
    if (item->kind == LOG_GRADIENT) {
        return "accumulated";
    }
    return (item->event.flags & LOG_EVENT_READ) != 0 ? "read" : "written";
}

static bool add_value(struct sql_training *training, const struct log_item *item)
{
    const struct log_event_view *event = &item->event;
    void *values = training->values;
    uint32_t newest =
        training->step_count == 0 ? 0 : training->steps[training->step_count - 1].step;

    if (!memory_grow(&values, &training->value_capacity, training->value_count + 1,
                     sizeof *training->values)) {
        return false;
    }
    training->values = values;
    training->values[training->value_count++] = (struct sql_parameter){
        .name = arena_copy(&training->arena, event->name),
        .what = what_of(item),
        .step = item->kind == LOG_GRADIENT ? event->step : newest,
        .training_step = event->training_step,
        .event = event->number,
        .module = event->module_number,
        .line = event->site->line,
        .kind = event->kind,
        .integer = event->integer,
        .real = event->real,
        .dtype = event->kind == VALUE_TENSOR ? event->shape->dtype : DTYPE_OTHER,
        .has_statistics = event->has_statistics,
        .statistics = event->statistics,
    };
    return !training->arena.has_failed;
}

static bool read_items(struct sql_training *training,
                       struct log_reader *reader,
                       const atomic_bool *is_interrupted,
                       struct error *error)
{
    uint64_t training_step = 0, next_event = log_reader_first_event(reader);
    struct log_item item;

    for (uint64_t i = 0; log_reader_next(reader, &item); i++) {
        bool is_done = true;

        if (i % INTERRUPT_STEP == 0 && atomic_load(is_interrupted)) {
            *error = ERROR_INIT;
            return false;
        }
        if (item.kind == LOG_TRAINING_STEP) {
            training_step = item.training_step.number;
        } else if (item.kind == LOG_STEP) {
            is_done = add_step(training, &item.step, training_step, next_event);
        } else if ((item.kind == LOG_EVENT || item.kind == LOG_GRADIENT) &&
                   (item.event.flags & LOG_EVENT_PARAMETER) != 0) {
            is_done = add_value(training, &item);
        }
        next_event = item.kind == LOG_EVENT ? item.event.number + 1 : next_event;
        if (!is_done) {
            return error_set_memory(error);
        }
    }
    return true;
}

static bool prepare(struct sql_traces *traces, struct sql_trace *trace)
{
    struct sql_training *training = &trace->training;
    struct sql_reader *reader;

    if (training->is_known) {
        return true;
    }
    reader = sql_reader_acquire(traces, trace);
    if (reader == NULL) {
        return false;
    }
    arena_init(&training->arena);
    log_reader_show_parameters(reader->reader, true);
    training->is_known =
        read_items(training, reader->reader, &traces->is_interrupted, &traces->error);
    log_reader_show_parameters(reader->reader, false);
    sql_reader_give(reader);
    if (!training->is_known) {
        sql_training_release(training);
    }
    return trace->training.is_known;
}

static uint64_t guess(const struct sql_trace *trace)
{
    return sql_trace_guess_events(trace) / 8 + 1;
}

/* ---- steps ---- */

enum step_column {
    STEP_TRACE,
    STEP_STEP,
    STEP_KIND,
    STEP_NAME,
    STEP_FILE,
    STEP_LINE,
    STEP_TRAINING_STEP,
    STEP_SEQ,
    STEP_THREAD,
    STEP_TIME,
    STEP_COLUMN_COUNT
};

static const struct column_rule step_columns[STEP_COLUMN_COUNT] = {
    {"trace", COLUMN_FORM_TEXT, "the trace's file name"},
    {"step", COLUMN_FORM_INTEGER, "number of the step, from 1"},
    {"kind", COLUMN_FORM_TEXT,
     "backward; optimizer: an optimizer's step(); gradients: a function that wrote "
     "gradients, or zero_grad(); settings: what sets later steps"},
    {"name", COLUMN_FORM_TEXT,
     "SGD.step, clip_grad_norm_, StepLR.step …; NULL: a backward"},
    {"file", COLUMN_FORM_TEXT, "source file of the line that called it"},
    {"line", COLUMN_FORM_INTEGER, "that line"},
    {"training_step", COLUMN_FORM_INTEGER, "training step, from 0"},
    {"seq", COLUMN_FORM_INTEGER, "seq that the next event has"},
    {"thread", COLUMN_FORM_INTEGER, "number of the thread"},
    {"time", COLUMN_FORM_TIME, "when it began, nanoseconds since the start"},
};

static size_t count_steps(const struct sql_trace *trace)
{
    return trace->training.step_count;
}

static void set_text(struct column_value *value, struct slice text)
{
    if (text.size > 0) {
        sql_value_set_text(value, text);
    }
}

static void get_step(struct sql_trace *trace,
                     size_t row,
                     int column,
                     struct buffer *scratch,
                     struct column_value *value)
{
    const struct sql_step *step = &trace->training.steps[row];
    const uint64_t numbers[STEP_COLUMN_COUNT] = {
        [STEP_STEP] = step->step,
        [STEP_LINE] = step->line,
        [STEP_TRAINING_STEP] = step->training_step,
        [STEP_SEQ] = step->next_event,
        [STEP_THREAD] = step->thread,
        [STEP_TIME] = step->time,
    };

    (void)scratch;
    switch (column) {
    case STEP_KIND:
        sql_value_set_text(value, log_step_text(step->tag));
        break;
    case STEP_NAME:
        set_text(value, step->name);
        break;
    case STEP_FILE:
        set_text(value, step->file);
        break;
    default:
        sql_value_set_number(value, numbers[column]);
    }
}

const struct sql_rows sql_steps_rows = {
    .table = {"steps", "backwards, and calls that write to parameters or set steps",
              step_columns, STEP_COLUMN_COUNT},
    .guess = guess,
    .prepare = prepare,
    .count = count_steps,
    .get = get_step,
};

/* ---- parameters ---- */

enum parameter_column {
    PARAMETER_TRACE,
    PARAMETER_NAME,
    PARAMETER_WHAT,
    PARAMETER_STEP,
    PARAMETER_TRAINING_STEP,
    PARAMETER_SEQ,
    PARAMETER_FILE,
    PARAMETER_LINE,
    PARAMETER_DTYPE,
    PARAMETER_VALUE,
    PARAMETER_MIN,
    PARAMETER_MAX,
    PARAMETER_MEAN,
    PARAMETER_STD,
    PARAMETER_NAN,
    PARAMETER_INF,
    PARAMETER_ZEROS,
    PARAMETER_COLUMN_COUNT
};

static const struct column_rule parameter_columns[PARAMETER_COLUMN_COUNT] = {
    {"trace", COLUMN_FORM_TEXT, "the trace's file name"},
    {"name", COLUMN_FORM_TEXT,
     "the parameter, layer.weight; its gradient, layer.weight.grad; a tensor that the "
     "optimizer keeps; a setting, SGD.lr"},
    {"what", COLUMN_FORM_TEXT,
     "read; written; accumulated: the gradient of that parameter, by a backward"},
    {"step", COLUMN_FORM_INTEGER,
     "number of the newest step; of a gradient its backward"},
    {"training_step", COLUMN_FORM_INTEGER, "training step, from 0"},
    {"seq", COLUMN_FORM_INTEGER,
     "its event; of a gradient that of the parameter's value"},
    {"file", COLUMN_FORM_TEXT, "source file of the event's line"},
    {"line", COLUMN_FORM_INTEGER, "that line"},
    {"dtype", COLUMN_FORM_TEXT, "dtype of a tensor"},
    {"value", COLUMN_FORM_REAL, "number of a setting"},
    {"min", COLUMN_FORM_REAL, "least finite element"},
    {"max", COLUMN_FORM_REAL, "largest finite element"},
    {"mean", COLUMN_FORM_REAL, "mean of the finite elements"},
    {"std", COLUMN_FORM_REAL, "their standard deviation"},
    {"nan", COLUMN_FORM_INTEGER, "number of NaN"},
    {"inf", COLUMN_FORM_INTEGER, "number of infinities"},
    {"zeros", COLUMN_FORM_INTEGER, "number of zeros"},
};

static size_t count_values(const struct sql_trace *trace)
{
    return trace->training.value_count;
}

static void set_real(struct column_value *value, double number)
{
    *value = (struct column_value){.type = COLUMN_REAL, .real = number};
}

static void get_figure(const struct sql_parameter *parameter,
                       int column,
                       struct column_value *value)
{
    const struct statistics *found = &parameter->statistics;

    if (column == PARAMETER_NAN) {
        sql_value_set_number(value, found->nan_count);
    } else if (column == PARAMETER_INF) {
        sql_value_set_number(value, found->posinf_count + found->neginf_count);
    } else if (column == PARAMETER_ZEROS) {
        sql_value_set_number(value, found->zero_count);
    } else if (statistics_finite_count(found) > 0) {
        set_real(value, column == PARAMETER_MIN
                            ? statistics_bound_real(parameter->dtype, found->min)
                        : column == PARAMETER_MAX
                            ? statistics_bound_real(parameter->dtype, found->max)
                        : column == PARAMETER_MEAN ? found->mean
                                                   : found->std);
    }
}

static void get_number(const struct sql_parameter *parameter,
                       struct column_value *value)
{
    if (parameter->kind == VALUE_FLOAT) {
        set_real(value, parameter->real);
    } else if (parameter->kind != VALUE_TENSOR) {
        set_real(value, (double)parameter->integer);
    }
}

static void get_parameter(struct sql_trace *trace,
                          size_t row,
                          int column,
                          struct buffer *scratch,
                          struct column_value *value)
{
    const struct sql_parameter *parameter = &trace->training.values[row];
    const struct log_module *module =
        log_reader_module(trace->readers->reader, parameter->module);

    (void)scratch;
    switch (column) {
    case PARAMETER_NAME:
        sql_value_set_text(value, parameter->name);
        break;
    case PARAMETER_WHAT:
        sql_value_set_text(value, slice_of(parameter->what));
        break;
    case PARAMETER_STEP:
        if (parameter->step != 0) {
            sql_value_set_number(value, parameter->step);
        }
        break;
    case PARAMETER_TRAINING_STEP:
        sql_value_set_number(value, parameter->training_step);
        break;
    case PARAMETER_SEQ:
        sql_value_set_number(value, parameter->event);
        break;
    case PARAMETER_FILE:
        set_text(value, module == NULL ? SLICE("") : module->table.path);
        break;
    case PARAMETER_LINE:
        sql_value_set_number(value, parameter->line);
        break;
    case PARAMETER_DTYPE:
        if (parameter->kind == VALUE_TENSOR) {
            sql_value_set_text(value, slice_of(dtype_text(parameter->dtype)));
        }
        break;
    case PARAMETER_VALUE:
        get_number(parameter, value);
        break;
    default:
        if (parameter->has_statistics) {
            get_figure(parameter, column, value);
        }
    }
}

const struct sql_rows sql_parameters_rows = {
    .table = {"parameters", "parameters, their gradients, and settings of optimizers",
              parameter_columns, PARAMETER_COLUMN_COUNT},
    .guess = guess,
    .prepare = prepare,
    .count = count_values,
    .get = get_parameter,
};
