/* The name that a mistyped one was meant to be. */
#ifndef MONITORCH_BASE_NEAREST_NAME_H
#define MONITORCH_BASE_NEAREST_NAME_H

/* Longer words and names have none. */
#define NEAREST_NAME_MAX_SIZE 32

/* The one of `names` that `word` was most likely meant to be; NULL where none is near. */
const char *nearest_name(const char *word, const char *const *names, int count);

#endif
