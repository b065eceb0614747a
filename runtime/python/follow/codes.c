/* A hash table with open addressing. What died is found again when its address is used again,
 * and left behind when the table grows. */
#include "runtime/python/follow/codes.h"

#include "runtime/base/memory.h"

#define FIRST_CAPACITY 1024

static size_t slot_of(size_t capacity, const void *code)
{
    return ((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15u >> 20 & (capacity - 1);
}

/* The entry with that address, or the free one where it belongs. */
static struct code_entry *
entry_of(struct code_entry *entries, size_t capacity, const void *code)
{
    size_t slot = slot_of(capacity, code);

    while (entries[slot].code != NULL && entries[slot].code != code) {
        slot = (slot + 1) & (capacity - 1);
    }
    return &entries[slot];
}

static bool is_alive(const struct code_entry *entry)
{
    return PyWeakref_GetObject(entry->reference) == entry->code;
}

bool codes_find(const struct code_table *table,
                PyObject *code,
                struct follow_plan **plan)
{
    struct code_entry *entry;

    if (table->capacity == 0) {
        return false;
    }
    entry = entry_of(table->entries, table->capacity, code);
    if (entry->code == NULL || !is_alive(entry)) {
        return false;
    }
    *plan = entry->plan;
    return true;
}

static void release_entries(struct code_entry *entries, size_t capacity)
{
    for (size_t i = 0; i < capacity; i++) {
        Py_XDECREF(entries[i].reference);
        Py_XDECREF(entries[i].plan);
    }
    memory_free(entries);
}

/* Makes room; what died in the meantime is left out. */
static bool grow(struct code_table *table)
{
    struct code_table old = *table;
    struct code_table new = {NULL, FIRST_CAPACITY, 0};
    size_t alive = 0;

    for (size_t i = 0; i < old.capacity; i++) {
        alive += old.entries[i].code != NULL && is_alive(&old.entries[i]);
    }
    while (new.capacity / 4 <= alive) {
        new.capacity *= 2;
    }
    new.entries = memory_allocate(new.capacity, sizeof(*new.entries));
    if (new.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < new.capacity; i++) {
        new.entries[i] = (struct code_entry){NULL, NULL, NULL};
    }
    for (size_t i = 0; i < old.capacity; i++) {
        struct code_entry *entry = &old.entries[i];
        if (entry->code != NULL && is_alive(entry)) {
            *entry_of(new.entries, new.capacity, entry->code) = *entry;
            new.count++;
            *entry = (struct code_entry){NULL, NULL, NULL};
        }
    }
    *table = new;
    release_entries(old.entries, old.capacity);
    return true;
}

bool codes_add(struct code_table *table, PyObject *code, struct follow_plan *plan)
{
    PyObject *reference = PyWeakref_NewRef(code, NULL);
    struct code_entry *entry;
    struct code_entry old;

    if (reference == NULL ||
        (table->count + 1 > table->capacity / 4 * 3 && !grow(table))) {
        Py_XDECREF(reference);
        PyErr_Clear();
        return false;
    }
    entry = entry_of(table->entries, table->capacity, code);
    old = *entry;
    table->count += old.code == NULL;
    Py_XINCREF((PyObject *)plan);
    *entry = (struct code_entry){code, reference, plan};
    Py_XDECREF(old.reference);
    Py_XDECREF(old.plan);
    return true;
}

void codes_clear(struct code_table *table)
{
    struct code_table old = *table;

    *table = (struct code_table){NULL, 0, 0};
    release_entries(old.entries, old.capacity);
}
