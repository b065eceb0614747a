/* Two values: which difference comes first, and what is within tolerance. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/values/compare.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>

#define SIDE 8

/* An array of SIDE x SIDE and its event. */
struct made {
    int64_t shape[2], strides[2];
    struct log_shape form;
    float sample[SIDE * SIDE];
    struct log_event_view event;
};

static void measure(struct made *made)
{
    struct statistics *statistics = &made->event.statistics;
    double sum = 0, squares = 0, min = INFINITY, max = -INFINITY;
    double count = 0;

    *statistics = (struct statistics){.count = SIDE * SIDE};
    for (int i = 0; i < SIDE * SIDE; i++) {
        double value = (double)made->sample[i];

        if (isnan(value)) {
            statistics->nan_count++;
            continue;
        }
        statistics->zero_count += value == 0;
        sum += value;
        min = fmin(min, value);
        max = fmax(max, value);
        count++;
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        double off = (double)made->sample[i] - sum / count;

        squares += isnan(off) ? 0 : off * off;
    }
    statistics->min.real = min;
    statistics->max.real = max;
    statistics->mean = sum / count;
    statistics->std = sqrt(squares / (count - 1));
    made->event.hash = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        uint32_t bits;

        memcpy(&bits, &made->sample[i], sizeof bits);
        made->event.hash = made->event.hash * 31 + bits;
    }
}

static void make(struct made *made)
{
    memset(made, 0, sizeof *made);
    made->shape[0] = made->shape[1] = SIDE;
    made->strides[0] = SIDE;
    made->strides[1] = 1;
    made->form = (struct log_shape){
        .dtype = DTYPE_FLOAT32,
        .dtype_text = SLICE("float32"),
        .dimension_count = 2,
        .shape = made->shape,
        .strides = made->strides,
        .type = SLICE(""),
        .device = SLICE("cpu"),
        .layout = SLICE("strided"),
        .note = SLICE(""),
    };
    made->event.kind = VALUE_TENSOR;
    made->event.shape = &made->form;
    made->event.has_hash = true;
    made->event.has_statistics = true;
    made->event.sample = made->sample;
    sample_grid_init(&made->event.grid, made->shape, 2, 64);
    for (int i = 0; i < SIDE * SIDE; i++) {
        made->sample[i] = sinf((float)i + 1) * 2;
    }
    measure(made);
}

static struct diff_comparison
compare_by(const struct made *a, const struct made *b, struct diff_tolerance tolerance)
{
    struct diff_compare *compare = memory_allocate(1, sizeof *compare);
    struct diff_comparison comparison;

    diff_compare_init(compare, tolerance);
    diff_compare_events(compare, &a->event, &b->event, &comparison);
    if (diff_compare_is_same(compare, &a->event, &b->event)) {
        CHECK(comparison.cause == DIFF_CAUSE_NONE);
    }
    memory_free(compare);
    return comparison;
}

static const struct diff_tolerance usual = {.rtol = -1, .atol = -1};
static const struct diff_tolerance exact = {.is_exact = true, .rtol = -1, .atol = -1};

static enum diff_cause cause_of(const struct made *a, const struct made *b)
{
    return compare_by(a, b, usual).cause;
}

static void check_words(const struct made *a, const struct made *b, const char *wanted)
{
    struct diff_comparison comparison = compare_by(a, b, usual);
    struct buffer text = BUFFER_INIT;

    diff_words_add(&text, &comparison, &a->event, &b->event);
    CHECK_TEXT(buffer_slice(&text), wanted);
    buffer_release(&text);
}

static void test_causes(void)
{
    struct made a, b;

    make(&a);
    make(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
    b.form.flags = LOG_FORM_REQUIRES_GRAD;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_GRAD);
    check_words(&a, &b, "requires_grad True, A has False");
    b.sample[9] = 7;
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
    b.strides[0] = 1;
    b.strides[1] = SIDE;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_STRIDES);
    CHECK(compare_by(&a, &b, usual).differs_in_values);
    check_words(&a, &b,
                "strides [1, 8] (not contiguous), A has [8, 1]; values too: at [1, 1] "
                "7, A has -1.088");
    b.form.device = SLICE("cuda:0");
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_DEVICE);
    b.shape[0] = 4;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_SHAPE);
    check_words(&a, &b, "shape [4, 8], A has [8, 8]");
    b.form.dtype = DTYPE_FLOAT16;
    b.form.dtype_text = SLICE("float16");
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_DTYPE);
    check_words(&a, &b, "dtype float16, A has float32");
    b.form.type = SLICE("model.Mask");
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_KIND);
    b.event.kind = VALUE_NONE;
    check_words(&a, &b, "None, A has a tensor");
}

static void test_tolerance(void)
{
    struct made a, b;

    make(&a);
    make(&b);
    for (int i = 0; i < SIDE * SIDE; i++) {
        b.sample[i] = a.sample[i] * (1 + 1e-6f * (float)(i % 3));
    }
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE && compare_by(&a, &b, usual).is_close);
    CHECK(compare_by(&a, &b, exact).cause == DIFF_CAUSE_VALUES);
    CHECK(compare_by(&a, &b, (struct diff_tolerance){.rtol = 1e-9, .atol = 0}).cause ==
          DIFF_CAUSE_VALUES);
    /* A number near 0 is off by what the large ones are off by. */
    make(&b);
    a.sample[5] = 1e-9f;
    b.sample[5] = -4e-7f;
    measure(&a);
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
    /* Half a thousandth in each: a wrong eps. */
    for (int i = 0; i < SIDE * SIDE; i++) {
        b.sample[i] = a.sample[i] * 1.0005f;
    }
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
    /* What a mask has put in does not hide it. */
    for (int i = 0; i < SIDE; i++) {
        a.sample[i] = b.sample[i] = -1e9f;
    }
    measure(&a);
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
}

static void test_order(void)
{
    struct made a, b;

    make(&a);
    make(&b);
    b.sample[3] = a.sample[60];
    b.sample[60] = a.sample[3];
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
    /* Where no sample tells it, the figures do: noise would have changed them. */
    a.event.sample = b.event.sample = NULL;
    CHECK(compare_by(&a, &b, usual).seen == DIFF_SEEN_ORDER);
    /* But -0 is 0. */
    make(&a);
    make(&b);
    a.sample[0] = 0.0f;
    b.sample[0] = -0.0f;
    measure(&a);
    measure(&b);
    CHECK(a.event.hash != b.event.hash);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
    CHECK(compare_by(&a, &b, exact).cause == DIFF_CAUSE_VALUES);
}

static void test_nonfinite(void)
{
    struct made a, b;

    make(&a);
    make(&b);
    a.sample[1] = b.sample[1] = NAN;
    a.sample[2] = b.sample[2] * 1.0000001f;
    measure(&a);
    measure(&b);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
    a.sample[1] = 1;
    measure(&a);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
    check_words(&a, &b, "values 1 NaN of 64, A has none");
    /* As many, but elsewhere. */
    a.sample[7] = NAN;
    measure(&a);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
}

static void test_scalars(void)
{
    struct made a, b;

    make(&a);
    make(&b);
    a.event.kind = b.event.kind = VALUE_FLOAT;
    a.event.real = 1e-5;
    b.event.real = 1e-3;
    check_words(&a, &b, "0.001, A has 1e-5");
    a.event.real = b.event.real * (1 + 1e-7);
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
    CHECK(compare_by(&a, &b, exact).cause == DIFF_CAUSE_VALUES);
    a.event.real = b.event.real = NAN;
    CHECK(compare_by(&a, &b, exact).cause == DIFF_CAUSE_NONE);
    a.event.kind = b.event.kind = VALUE_INT;
    a.event.integer = INT64_MAX;
    b.event.integer = INT64_MAX - 1;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_VALUES);
    a.event.kind = VALUE_FLOAT;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_KIND);
    a.event.kind = b.event.kind = VALUE_CONTAINER;
    a.event.type = SLICE("list");
    b.event.type = SLICE("list");
    a.event.integer = 2;
    b.event.integer = 3;
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_SHAPE);
    check_words(&a, &b, "list of 3, A has list of 2");
    a.event.kind = b.event.kind = VALUE_OBJECT;
    a.event.type = SLICE("old.Config");
    b.event.type = SLICE("new.Config");
    CHECK(cause_of(&a, &b) == DIFF_CAUSE_NONE);
}

int main(void)
{
    test_causes();
    test_tolerance();
    test_order();
    test_nonfinite();
    test_scalars();
    return check_finish();
}
