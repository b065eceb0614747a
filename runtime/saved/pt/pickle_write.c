/* The pickle that tells torch.load of a tensor: a few opcodes of Python's protocol 2, those that
 * `weights_only=True` takes. */
#include "runtime/saved/pt/pickle_write.h"

#include "runtime/array/expanded.h"

#define PROTOCOL         "\x80\x02"
#define MARK             "("
#define TUPLE            "t"
#define EMPTY_TUPLE      ")"
#define REDUCE           "R"
#define PERSISTENT       "Q"
#define NO               "\x89"
#define ZERO             "K\0"
#define LONG_OF_8_BYTES  "\x8a\x08"
#define STOP             "."
#define GLOBAL(m, n)     "c" m "\n" n "\n"
#define TEXT(size, text) "X" size "\0\0\0" text

/* The storages that had types of their own; the dtypes that came later are told by name, and
 * their storage is bytes. */
static const char *storage_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_BOOL:
        return "BoolStorage";
    case DTYPE_UINT8:
        return "ByteStorage";
    case DTYPE_INT8:
        return "CharStorage";
    case DTYPE_INT16:
        return "ShortStorage";
    case DTYPE_INT32:
        return "IntStorage";
    case DTYPE_INT64:
        return "LongStorage";
    case DTYPE_FLOAT16:
        return "HalfStorage";
    case DTYPE_BFLOAT16:
        return "BFloat16Storage";
    case DTYPE_FLOAT32:
        return "FloatStorage";
    case DTYPE_FLOAT64:
        return "DoubleStorage";
    case DTYPE_COMPLEX64:
        return "ComplexFloatStorage";
    case DTYPE_COMPLEX128:
        return "ComplexDoubleStorage";
    default:
        return NULL;
    }
}

static void add_integer(struct buffer *pickle, uint64_t number)
{
    int width;

    if (number < 0x100) {
        buffer_add_byte(pickle, 'K');
        width = 1;
    } else if (number < 0x80000000u) {
        buffer_add_byte(pickle, 'J');
        width = 4;
    } else {
        buffer_add(pickle, SLICE(LONG_OF_8_BYTES));
        width = 8;
    }
    for (int i = 0; i < width; i++) {
        buffer_add_byte(pickle, (char)(number >> 8 * i & 0xff));
    }
}

static void add_shape(struct buffer *pickle, const struct array *array)
{
    buffer_add(pickle, SLICE(MARK));
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        add_integer(pickle, (uint64_t)array->shape[i]);
    }
    buffer_add(pickle, SLICE(TUPLE));
}

/* In elements; a dimension of size 0 counts as 1, as in torch. */
static void add_strides(struct buffer *pickle,
                        const struct array *array,
                        const struct expanded_array *expanded)
{
    uint64_t strides[ARRAY_DIMENSION_MAX];
    uint64_t stride = 1;

    if (expanded != NULL) {
        expanded_pack_strides(expanded, (int64_t *)strides);
    }
    for (uint32_t i = array->dimension_count; i-- > 0 && expanded == NULL;) {
        strides[i] = stride;
        stride *= array->shape[i] == 0 ? 1 : (uint64_t)array->shape[i];
    }
    buffer_add(pickle, SLICE(MARK));
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        add_integer(pickle, expanded == NULL ? strides[i]
                                             : strides[i] / dtype_size(array->dtype));
    }
    buffer_add(pickle, SLICE(TUPLE));
}

void pickle_add_tensor(struct buffer *pickle, const struct array *array)
{
    const char *storage = storage_of(array->dtype);
    struct expanded_array expanded;
    bool is_once = expanded_find(array, &expanded);
    uint64_t count = array_count(is_once ? &expanded.once : array);

    buffer_add(pickle, SLICE(PROTOCOL));
    if (storage != NULL) {
        buffer_add(pickle, SLICE(GLOBAL("torch._utils", "_rebuild_tensor_v2")));
    } else {
        buffer_add(pickle, SLICE(GLOBAL("torch._utils", "_rebuild_tensor_v3")));
    }
    buffer_add(pickle, SLICE(MARK MARK TEXT("\x07", "storage")));
    if (storage != NULL) {
        buffer_add_format(pickle, GLOBAL("torch", "%s"), storage);
    } else {
        buffer_add(pickle, SLICE(GLOBAL("torch.storage", "UntypedStorage")));
        count *= dtype_size(array->dtype); /* its elements are bytes */
    }
    buffer_add(pickle, SLICE(TEXT("\x01", "0") TEXT("\x03", "cpu")));
    add_integer(pickle, count);
    buffer_add(pickle, SLICE(TUPLE PERSISTENT ZERO));
    add_shape(pickle, array);
    add_strides(pickle, array, is_once ? &expanded : NULL);
    buffer_add(pickle, SLICE(NO GLOBAL("collections", "OrderedDict")));
    buffer_add(pickle, SLICE(EMPTY_TUPLE REDUCE));
    if (storage == NULL) {
        buffer_add_format(pickle, GLOBAL("torch", "%s"), dtype_text(array->dtype));
    }
    buffer_add(pickle, SLICE(TUPLE REDUCE STOP));
}
