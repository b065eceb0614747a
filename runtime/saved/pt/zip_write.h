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

/* The directory; nothing follows it. */
void zip_finish(struct zip_writer *zip);

#endif
