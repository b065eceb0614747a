/* Where a tensor object keeps its dtype, its place in its storage, and the storage its memory: looked
 * for as the rest of the layout is (layout.c). */
#include "runtime/python/tensor/samples.h"

#define STORAGE_SIZE 128 /* bytes of a storage that are looked at */

/* A sample's storage, as far as a place holds it. */
struct storage {
    char bytes[STORAGE_SIZE];
    size_t size; /* that could be read */
};

/* What the C interface says of a sample. */
struct answers {
    int32_t dtype;
    int64_t size;   /* of the storage */
    uint64_t start; /* of its memory; 0: there is none */
};

static bool ask(const struct search *search, size_t i, struct answers *answers)
{
    const struct torch_functions *functions = &search->torch->functions;
    const struct sample *sample = &search->samples[i];
    void *impl = (void *)(uintptr_t)sample->impl;
    int64_t item;

    if (functions->get_dtype(&impl, &answers->dtype) != 0 ||
        functions->get_storage_size(&impl, &answers->size) != 0) {
        return false;
    }
    item = (int64_t)dtype_size(torch_find_dtype(answers->dtype));
    answers->start = (sample->keys & search->torch->keys.meta) != 0
                         ? 0
                         : sample->data - (uint64_t)(sample->offset * item);
    return true;
}

static bool
find_dtype(const struct search *search, const struct answers *answers, uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint16_t) <= search->impl_size;
         offset += sizeof(uint16_t)) {
        size_t fitting = 0;
        uint16_t number;

        while (fitting < search->count) {
            memcpy(&number, search->samples[fitting].bytes + offset, sizeof number);
            if (number != answers[fitting].dtype) {
                break;
            }
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

static bool find_offset(const struct search *search, uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= search->impl_size;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;

        while (fitting < search->count &&
               word_of(search->samples[fitting].bytes, offset) ==
                   (uint64_t)search->samples[fitting].offset) {
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

/* Where all storages hold what is wanted of theirs, of those that have memory. */
static bool find_in_storages(const struct search *search,
                             const struct storage *storages,
                             const struct answers *answers,
                             bool is_size,
                             uint16_t *found)
{
    for (uint16_t offset = 0; offset + sizeof(uint64_t) <= STORAGE_SIZE;
         offset += sizeof(uint64_t)) {
        size_t fitting = 0;

        while (fitting < search->count &&
               (answers[fitting].start == 0 ||
                (offset + sizeof(uint64_t) <= storages[fitting].size &&
                 word_of(storages[fitting].bytes, offset) ==
                     (is_size ? (uint64_t)answers[fitting].size
                              : answers[fitting].start)))) {
            fitting++;
        }
        if (fitting == search->count) {
            *found = offset;
            return true;
        }
    }
    return false;
}

static void read_storages(const struct search *search,
                          size_t offset,
                          struct storage storages[SAMPLE_MAX])
{
    for (size_t i = 0; i < search->count; i++) {
        uint64_t address = word_of(search->samples[i].bytes, offset);

        storages[i].size =
            address == 0 || address % sizeof(void *) != 0
                ? 0
                : peek_read(&search->peek, address, storages[i].bytes, STORAGE_SIZE);
    }
}

void storage_search(const struct search *search, struct tensor_layout *layout)
{
    struct answers answers[SAMPLE_MAX];
    struct storage storages[SAMPLE_MAX];

    layout->storage = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (!ask(search, i, &answers[i])) {
            return;
        }
    }
    if (!find_dtype(search, answers, &layout->dtype) ||
        !find_offset(search, &layout->offset)) {
        return;
    }
    for (uint16_t offset = sizeof(uint64_t);
         offset + sizeof(uint64_t) <= search->impl_size; offset += sizeof(uint64_t)) {
        read_storages(search, offset, storages);
        if (find_in_storages(search, storages, answers, false, &layout->storage_data) &&
            find_in_storages(search, storages, answers, true, &layout->storage_size)) {
            layout->storage = offset;
            return;
        }
    }
}
