/* A script that makes the NaN or infinity of an answer of `why` again, alone, forward or backward.
 *
 *     if (why_find(&why, …) && repro_write(&why, &script, &report, &error)) { … file_write … }
 */
#ifndef MONITORCH_VIEW_WHY_REPRO_REPRO_H
#define MONITORCH_VIEW_WHY_REPRO_REPRO_H

#include "runtime/view/why/why.h"

struct repro_report {
    uint32_t input_count; /* tensors that the script begins with */
    uint32_t
        substitute_count; /* those whose values are not recorded: the script makes some of the same
                                figures */
};

/* Appends the script. Fails with ERROR_USAGE, and a message that names them, where the statements need
 * objects that the trace does not hold, or where no statement made the value; and where memory runs
 * out. `why` has searched with success. */
bool repro_write(struct why *why,
                 struct buffer *script,
                 struct repro_report *report,
                 struct error *error);

#endif
