/* Input files: the files that this process reads and must not overwrite. The commands enable the
 * list; without that, nothing is listed or refused. A file is identified by device and inode, so
 * links do not matter. */
#ifndef MONITORCH_BASE_FILE_INPUTS_H
#define MONITORCH_BASE_FILE_INPUTS_H

#include "runtime/base/error.h"

#include <stdbool.h>

/* Enables the list. From now on it gets files that are mapped for reading
 * (runtime/base/file/mapping.h), and those that are added explicitly. */
void file_inputs_begin(void);
/* Adds the file of an open descriptor. Returns false if memory runs out. */
bool file_inputs_add(int descriptor, struct error *error);
/* Adds a file that will be read later. A path without a file is ignored. */
bool file_inputs_add_path(const char *path, struct error *error);
/* Returns false, with an ERROR_USAGE, if `path` leads to a listed file. */
bool file_inputs_refuse(const char *path, struct error *error);

#endif
