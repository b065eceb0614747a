/* Script that runs the statements of an answer of `why` alone, and makes its NaN or infinity again,
 * in the forward or the backward.
 *
 *     if (why_find(&why, …) && repro_write(&why, &script, &report, &error)) { … file_write … }
 */
#ifndef MONITORCH_VIEW_WHY_REPRO_REPRO_H
#define MONITORCH_VIEW_WHY_REPRO_REPRO_H

#include "runtime/view/why/why.h"

struct repro_report {
    uint32_t input_count; /* tensors that the script defines as its inputs */
    uint32_t
        substitute_count; /* inputs with only figures recorded: the script draws numbers with these */
};

/* Appends the script. Returns false if memory runs out, or with ERROR_USAGE if no statement made
 * the value or the statements need objects that the trace does not hold; the message names the
 * objects. why_find must have succeeded for `why`. */
bool repro_write(struct why *why,
                 struct buffer *script,
                 struct repro_report *report,
                 struct error *error);

#endif
