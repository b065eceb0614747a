/* What a pickle works on: its bytes, a stack of values and a memo. Private to pickle_read.c.
 * All functions tell in the machine's error why they failed. */
#ifndef MONITORCH_SAVED_PT_PICKLE_MACHINE_H
#define MONITORCH_SAVED_PT_PICKLE_MACHINE_H

#include "runtime/saved/pt/pickle_read.h"

struct pickle_values {
    const struct pickle_value **items; /* owned */
    size_t count;
    size_t capacity;
};

struct pickle_machine {
    struct slice bytes;         /* borrowed: the pickle */
    size_t offset;              /* of the byte that is read next */
    struct arena *arena;        /* borrowed: holds the values */
    struct error *error;        /* borrowed */
    struct pickle_values stack; /* NULL: a mark */
    struct pickle_values memo;  /* NULL: nothing was put there */
};

void pickle_machine_release(struct pickle_machine *machine);

/* ---- bytes ---- */

bool pickle_machine_take(struct pickle_machine *machine,
                         size_t size,
                         const unsigned char **bytes);
/* Little-endian, of at most 8 bytes. */
bool pickle_machine_take_number(struct pickle_machine *machine,
                                size_t size,
                                uint64_t *number);
/* Bytes whose count stands in front of them, in `size` bytes. */
bool pickle_machine_take_counted(struct pickle_machine *machine,
                                 size_t size,
                                 struct slice *text);

/* ---- stack and memo ---- */

/* NULL is a mark. */
bool pickle_machine_push(struct pickle_machine *machine,
                         const struct pickle_value *value);
bool pickle_machine_push_new(struct pickle_machine *machine, struct pickle_value value);
bool pickle_machine_push_kind(struct pickle_machine *machine, enum pickle_kind kind);
bool pickle_machine_push_text(struct pickle_machine *machine, struct slice text);
/* The value on top; a mark is none. */
bool pickle_machine_pop(struct pickle_machine *machine,
                        const struct pickle_value **value);
bool pickle_machine_drop(struct pickle_machine *machine);
/* Forgets what stands above the last mark, and the mark. */
bool pickle_machine_drop_marked(struct pickle_machine *machine);
bool pickle_machine_memo_put(struct pickle_machine *machine, uint64_t place);
bool pickle_machine_memo_get(struct pickle_machine *machine, uint64_t place);

/* ---- values made of those on the stack ---- */

/* The topmost `count` become one. */
bool pickle_machine_fold(struct pickle_machine *machine,
                         enum pickle_kind kind,
                         size_t count);
/* Those above the last mark, and the mark. */
bool pickle_machine_fold_marked(struct pickle_machine *machine, enum pickle_kind kind);
/* A global whose module and name are the next two lines of the pickle, or two texts. */
bool pickle_machine_global(struct pickle_machine *machine);
bool pickle_machine_stack_global(struct pickle_machine *machine);
/* Puts a key and a value, or as many as stand above the last mark, into a dictionary. */
bool pickle_machine_set_item(struct pickle_machine *machine);
bool pickle_machine_set_items(struct pickle_machine *machine);

#endif
