/* A zip archive of stored records, one after the other. Private to the files that write .pt. */
#ifndef MONITORCH_SAVED_PT_ZIP_WRITE_H
#define MONITORCH_SAVED_PT_ZIP_WRITE_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdint.h>

/* Bytes are collected in `pending`; whoever writes them to the file says so by zip_flushed. Only
 * the last record may be larger than 4 GiB. */
struct zip_writer {
    struct buffer pending;   /* owned */
    struct buffer directory; /* owned: a line for each record, for the end */
    uint64_t written;        /* how much of the archive is not in `pending` */
    uint64_t record;         /* where the last record begins */
    uint64_t count;          /* of records in the directory */
};

#define ZIP_WRITER_INIT                                                                \
    ((struct zip_writer){.pending = BUFFER_INIT, .directory = BUFFER_INIT})

void zip_release(struct zip_writer *zip);

/* A small record, whole. */
void zip_add(struct zip_writer *zip, struct slice name, struct slice bytes);

/* Begins a record whose bytes the caller writes itself behind what is pending just now. They begin
 * at a multiple of 64 in the file. */
void zip_begin(struct zip_writer *zip, struct slice name, uint64_t size);
/* So many bytes of that record have their place behind what was pending before it. */
void zip_pass(struct zip_writer *zip, uint64_t size);
/* What is pending was written. */
void zip_flushed(struct zip_writer *zip);
/* Ends that record. */
void zip_end(struct zip_writer *zip, struct slice name, uint64_t size, uint32_t crc);

/* The directory; nothing comes behind it. */
void zip_finish(struct zip_writer *zip);

/* Whether something could not be added for want of memory. */
bool zip_has_failed(const struct zip_writer *zip);

#endif
