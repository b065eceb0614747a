/* Zip writer: an archive of uncompressed records. Private to the files that write .pt. */
#ifndef MONITORCH_SAVED_PT_ZIP_WRITE_H
#define MONITORCH_SAVED_PT_ZIP_WRITE_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdint.h>

/* The archive so far. Bytes are collected in `pending`; zip_flushed must be called when they are
 * written to the file. Only the last record may be larger than 4 GiB. */
struct zip_writer {
    struct buffer pending;   /* owned */
    struct buffer directory; /* owned: an entry for each record, written at the end */
    uint64_t written;        /* bytes of the archive before `pending` */
    uint64_t record;         /* start of the last record */
    uint64_t count;          /* number of records in the directory */
};

#define ZIP_WRITER_INIT                                                                \
    ((struct zip_writer){.pending = BUFFER_INIT, .directory = BUFFER_INIT})

void zip_release(struct zip_writer *zip);

/* Adds a small record as a whole. */
void zip_add(struct zip_writer *zip, struct slice name, struct slice bytes);

/* Adds the directory, which ends the archive. */
void zip_finish(struct zip_writer *zip);

#endif
