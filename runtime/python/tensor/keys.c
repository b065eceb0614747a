/* Dispatch key sets: what kind of tensor it is, in 64 bits whose meaning is each release's own. */
#include "runtime/base/peek.h"
#include "runtime/python/tensor/private.h"

/* Releases before 2.5 have no function that tells the bits of a set. They are the value of a
 * pybind11 object, which keeps a pointer to it behind its head; nothing is read that way before
 * key_sets_can_be_peeked has tried it. */
#define VALUE_OFFSET (2 * sizeof(void *))

static const void *value_of(PyObject *set)
{
    const void *value;

    memcpy(&value, (const char *)set + VALUE_OFFSET, sizeof value);
    return value;
}

bool torch_read_key_set(const struct torch_access *torch, PyObject *set, uint64_t *keys)
{
    bool is_known = false;

    if (set != NULL && torch->has_key_numbers) {
        PyObject *number = PyObject_CallMethod(set, "raw_repr", NULL);
        if (number != NULL) {
            *keys = PyLong_AsUnsignedLongLong(number);
            is_known = !PyErr_Occurred();
            Py_DECREF(number);
        }
    } else if (set != NULL && torch->peeks_key_sets) {
        memcpy(keys, value_of(set), sizeof *keys);
        is_known = true;
    }
    PyErr_Clear();
    Py_XDECREF(set);
    return is_known;
}

bool torch_ask_keys(const struct torch_access *torch, PyObject *object, uint64_t *keys)
{
    PyObject *function = torch->objects.dispatch_keys;

    return function != NULL &&
           torch_read_key_set(
               torch, PyObject_CallFunctionObjArgs(function, object, NULL), keys);
}

static PyObject *key_new(const char *name)
{
    PyObject *parse = lookup_in_module("torch._C", "_parse_dispatch_key");
    PyObject *type = lookup_in_module("torch._C", "DispatchKey");
    PyObject *key = NULL;

    if (parse != NULL) {
        key = PyObject_CallFunction(parse, "s", name);
    } else if (type != NULL) { /* torch < 2.1: not all keys are there */
        key = PyObject_GetAttrString(type, name);
    }
    PyErr_Clear();
    return key;
}

/* The set of one key. */
static PyObject *set_new(const char *name)
{
    PyObject *type = lookup_in_module("torch._C", "DispatchKeySet");
    PyObject *key = key_new(name);
    PyObject *set = key == NULL || type == NULL
                        ? NULL
                        : PyObject_CallFunctionObjArgs(type, key, NULL);

    Py_XDECREF(key);
    if (set == NULL) {
        PyErr_Clear();
    }
    return set;
}

/* 0 where this torch does not know the key. */
static uint64_t key_bits(const struct torch_access *torch, const char *name)
{
    uint64_t bits;

    return torch_read_key_set(torch, set_new(name), &bits) ? bits : 0;
}

/* The word that would be the set's bits, read so that nothing can fault; 0 where it is none. */
static uint64_t set_peek(const struct peek *peek, PyObject *set /* stolen */)
{
    uint64_t address, bits = 0;

    if (set == NULL) {
        PyErr_Clear();
        return 0;
    }
    if (peek_read(peek, (uint64_t)(uintptr_t)set + VALUE_OFFSET, &address,
                  sizeof address) != sizeof address ||
        peek_read(peek, address, &bits, sizeof bits) != sizeof bits) {
        bits = 0;
    }
    Py_DECREF(set);
    return bits;
}

/* The set of two keys, as torch adds them. */
static PyObject *set_of_two(const char *first, const char *second)
{
    PyObject *set = set_new(first);
    PyObject *key = key_new(second);
    PyObject *both =
        set == NULL || key == NULL ? NULL : PyObject_CallMethod(set, "add", "O", key);

    PyErr_Clear();
    Py_XDECREF(set);
    Py_XDECREF(key);
    return both;
}

static bool is_one_bit(uint64_t word)
{
    return __builtin_popcountll(word) == 1;
}

/* Sets of one key are one bit, or two with that of the backend; adding keys adds bits. What this
 * torch does not have is 0. */
static bool key_sets_can_be_peeked(const struct torch_access *torch)
{
    struct peek peek;

    if (torch->objects.dispatch_keys == NULL || !peek_init(&peek)) {
        return false;
    }
    uint64_t cpu = set_peek(&peek, set_new("CPU"));
    uint64_t sparse = set_peek(&peek, set_new("SparseCPU"));
    uint64_t cuda = set_peek(&peek, set_new("CUDA"));
    uint64_t python = set_peek(&peek, set_new("Python"));
    uint64_t autocast = set_peek(&peek, set_new("AutocastCPU"));
    uint64_t both = set_peek(&peek, set_of_two("CPU", "Python"));
    peek_release(&peek);
    return is_one_bit(cpu & sparse) && is_one_bit(cpu & ~sparse) &&
           is_one_bit(sparse & ~cpu) && is_one_bit(cpu & cuda) &&
           is_one_bit(cuda & ~cpu) && (cpu & cuda) == (cpu & ~sparse) &&
           is_one_bit(python) && is_one_bit(autocast) && python != autocast &&
           (python & (cpu | cuda | sparse)) == 0 &&
           (both == 0 || both == (cpu | python));
}

void torch_keys_find(struct torch_access *torch)
{
    struct torch_keys *keys = &torch->keys;
    static const char *const harmless[] = {
        "AutogradCPU",  "ADInplaceOrView", "AutocastCPU",
        "AutocastCUDA", "AutocastXPU",     "AutocastMPS",
    };
    static const char *const accelerators[] = {"CUDA", "HIP", "XPU", "MPS"};

    torch->has_key_numbers = true;
    if (key_bits(torch, "CPU") == 0) {
        torch->has_key_numbers = false;
        torch->peeks_key_sets = key_sets_can_be_peeked(torch);
    }
    uint64_t dense_cpu = key_bits(torch, "CPU");
    uint64_t sparse_cpu = key_bits(torch, "SparseCPU");

    keys->cpu = dense_cpu & sparse_cpu;
    keys->dense = dense_cpu & ~keys->cpu;
    keys->meta = key_bits(torch, "Meta") & ~keys->dense;
    for (size_t i = 0; i < sizeof accelerators / sizeof *accelerators; i++) {
        keys->accelerator |= key_bits(torch, accelerators[i]) & ~keys->dense;
    }
    keys->conjugate = key_bits(torch, "Conjugate");
    keys->negative = key_bits(torch, "Negative");
    keys->python = key_bits(torch, "Python") | key_bits(torch, "Fake");
    keys->batched = key_bits(torch, "FuncTorchBatched") |
                    key_bits(torch, "BatchedNestedTensor") | key_bits(torch, "Batched");
    keys->grad_wrapper = key_bits(torch, "FuncTorchGradWrapper");
    keys->functional = key_bits(torch, "Functionalize");
    keys->nested = key_bits(torch, "NestedTensorCPU") & ~keys->cpu;
    keys->sparse = (sparse_cpu | key_bits(torch, "SparseCsrCPU")) & ~keys->cpu;
    keys->quantized = key_bits(torch, "QuantizedCPU") & ~keys->cpu;
    keys->mkldnn = key_bits(torch, "MkldnnCPU");
    keys->zero = key_bits(torch, "ZeroTensor");
    keys->quiet = key_bits(torch, "BackendSelect");
    keys->plain = dense_cpu | keys->accelerator | keys->conjugate | keys->negative;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        keys->plain |= key_bits(torch, harmless[i]);
        keys->quiet |= key_bits(torch, harmless[i]);
    }
    if (keys->cpu == 0 || keys->dense == 0 || keys->python == 0) {
        *keys = (struct torch_keys){0}; /* then nothing is plain */
    }
}
