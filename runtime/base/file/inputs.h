/* The files that this process reads and must not write over. The commands switch it on; elsewhere
 * nothing is kept and nothing refused. A file is known by its device and inode, whatever links
 * lead to it. */
#ifndef MONITORCH_BASE_FILE_INPUTS_H
#define MONITORCH_BASE_FILE_INPUTS_H

#include "runtime/base/error.h"

#include <stdbool.h>

/* From now on files are kept: those that are mapped to be read (runtime/base/file/mapping.h), and those
 * that are added. */
void file_inputs_begin(void);
/* Keeps the file of an open descriptor. Fails where memory runs out. */
bool file_inputs_add(int descriptor, struct error *error);
/* The same for a file that will be read; a name without a file is ignored. */
bool file_inputs_add_path(const char *path, struct error *error);
/* False, with an error of ERROR_USAGE, where `path` leads to a file that is kept. */
bool file_inputs_refuse(const char *path, struct error *error);

#endif
