/* The words of the tree log, in the language of who reads it. */
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

/* By a locale's name, as in LC_ALL: "zh", "zh_CN.UTF-8"; English for every other one. */
struct track_labels track_labels_of(struct slice locale);
/* By the environment: LC_ALL, LC_MESSAGES, LANG, the first that is set. */
struct track_labels track_labels_of_environment(void);

/* Replaces labels as `changes` say: a language, or `key:text` with commas between, texts written
 * as wish.h tells. The texts are borrowed from it. False where a key is not known; the
 * others are taken all the same. */
bool track_labels_change(struct track_labels *labels, struct slice changes);

/* The keys with blanks between, for messages. */
extern const char track_label_keys[];

/* Appends a change as track_labels_change takes it. False where there is no such key. */
bool track_labels_write(struct slice key, struct slice label, struct buffer *changes);

/* Without what a terminal could obey. */
void track_labels_add(const struct track_labels *labels,
                      enum track_label label,
                      struct buffer *text);

#endif
