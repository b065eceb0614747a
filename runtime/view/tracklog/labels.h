/* The labels of the tree log, in the user's language. */
#ifndef MONITORCH_VIEW_TRACKLOG_LABELS_H
#define MONITORCH_VIEW_TRACKLOG_LABELS_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

enum track_label {
#define LABEL(name, key, english, chinese) TRACK_LABEL_##name,
#include "runtime/view/tracklog/labels.def"
#undef LABEL
    TRACK_LABEL_COUNT
};

/* Borrowed texts. */
struct track_labels {
    struct slice texts[TRACK_LABEL_COUNT];
};

/* The labels for a locale's name, as in LC_ALL: "zh", "zh_CN.UTF-8". English for all others. */
struct track_labels track_labels_of(struct slice locale);
/* The labels for the environment: the first of LC_ALL, LC_MESSAGES and LANG that is set. */
struct track_labels track_labels_of_environment(void);

/* Replaces labels. `changes` is a language, or `key:text` separated by commas, with the escapes
 * of wish.h. The new labels are borrowed from `changes`. Returns false if a key is unknown; the
 * other changes are still made. */
bool track_labels_change(struct track_labels *labels, struct slice changes);

/* The keys, separated by blanks, for messages. */
extern const char track_label_keys[];

/* Appends a change in the form of track_labels_change. Returns false if there is no such key. */
bool track_labels_write(struct slice key, struct slice label, struct buffer *changes);

/* Adds the label without characters that control a terminal. */
void track_labels_add(const struct track_labels *labels,
                      enum track_label label,
                      struct buffer *text);

#endif
