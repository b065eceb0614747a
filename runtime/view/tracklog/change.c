/* What has become of a name since its last value. */
#include "runtime/view/tracklog/change.h"

#include "runtime/base/hash/hash.h"
#include "runtime/view/words/paint.h"

#define NAME_LIMIT 60

static bool is_other_library(const struct log_event_view *event,
                             const struct track_name *before)
{
    return before != NULL && event->kind == VALUE_TENSOR &&
           before->kind == VALUE_TENSOR &&
           before->is_numpy != ((event->shape->flags & LOG_FORM_NUMPY) != 0);
}

/* Another object: whether its value is another one too, as far as can be told. */
static bool is_equal(const struct log_event_view *event,
                     const struct track_name *before)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        return event->has_hash;
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        return true;
    case VALUE_TEXT:
        return before != NULL && before->kind == VALUE_TEXT &&
               before->text == hash_64(event->text);
    default:
        return false;
    }
}

enum track_change track_change_of(const struct log_event_view *event,
                                  const struct track_name *before)
{
    switch (event->change) {
    case CHANGE_NEW:
        return TRACK_NEW;
    case CHANGE_REBOUND:
        if (event->difference != 0 || is_other_library(event, before) ||
            !is_equal(event, before)) {
            return TRACK_OTHER;
        }
        return event->kind == VALUE_TENSOR ? TRACK_REBOUND : TRACK_SAME;
    case CHANGE_MUTATED:
    case CHANGE_ALIASED:
        return TRACK_OTHER;
    case CHANGE_NONE:
        /* A line that may have written to it, unseen; see record/event.c. */
        return event->kind == VALUE_CONTAINER || event->kind == VALUE_OBJECT ||
                       event->kind == VALUE_BYTES
                   ? TRACK_OTHER
                   : TRACK_SAME;
    default:
        return TRACK_SAME;
    }
}

bool track_change_is_dtype(const struct log_event_view *event,
                           const struct track_name *before)
{
    struct slice dtype;

    if (before == NULL || before->kind != VALUE_TENSOR || event->kind != VALUE_TENSOR) {
        return false;
    }
    dtype = event->shape->dtype_text;
    if (dtype.size > TRACK_DTYPE_SIZE) {
        dtype.size = TRACK_DTYPE_SIZE;
    }
    return !slice_equal(dtype, (struct slice){before->dtype, before->dtype_size});
}

struct words {
    struct buffer *text;
    bool is_first;
};

static void add_word(struct words *words, bool is_so, const char *word)
{
    if (is_so) {
        buffer_add(words->text, words->is_first ? SLICE("") : SLICE(", "));
        buffer_add(words->text, slice_of(word));
        words->is_first = false;
    }
}

static void add_alias(struct words *words, const struct site *site)
{
    add_word(words, true, "alias");
    if (site == NULL) {
        return;
    }
    if (site->write_count > 0) {
        buffer_add(words->text, SLICE(" of "));
        text_add_shortened(words->text, site->writes[0].name, NAME_LIMIT);
    }
    buffer_add(words->text, SLICE(" at "));
    buffer_add_number(words->text, site->line);
}

/* Objects that can be written to: a number at the address of another one is another object. */
static bool is_mutable(enum value_kind kind)
{
    return kind == VALUE_TENSOR || kind == VALUE_CONTAINER || kind == VALUE_OBJECT ||
           kind == VALUE_BYTES;
}

void track_change_add(struct buffer *text,
                      const struct log_event_view *event,
                      const struct track_name *before,
                      const struct site *site)
{
    struct words words = {text, true};
    unsigned difference = event->difference;
    bool is_value = event->kind == VALUE_TENSOR ? (difference & LOG_DIFFERS_VALUES) != 0
                                                : !is_mutable(event->kind);
    bool is_longer = event->kind == VALUE_CONTAINER && before != NULL &&
                     before->kind == VALUE_CONTAINER &&
                     before->length != event->integer;

    add_word(&words,
             (difference & LOG_DIFFERS_TYPE) != 0 || is_other_library(event, before),
             "type");
    add_word(&words, (difference & LOG_DIFFERS_SHAPE) != 0, "shape");
    add_word(&words,
             (difference & LOG_DIFFERS_DTYPE) != 0 ||
                 track_change_is_dtype(event, before),
             "dtype");
    add_word(&words, (difference & LOG_DIFFERS_DEVICE) != 0, "device");
    add_word(&words, (difference & LOG_DIFFERS_STRIDES) != 0, "strides");
    add_word(&words, (difference & LOG_DIFFERS_REQUIRES_GRAD) != 0, "requires_grad");
    add_word(&words, is_value, "value");
    add_word(&words, is_longer, "len");
    add_word(&words,
             is_mutable(event->kind) &&
                 (event->change == CHANGE_MUTATED || event->change == CHANGE_NONE),
             "in place");
    if (event->change == CHANGE_ALIASED) {
        add_alias(&words, site);
    }
    add_word(&words, words.is_first, "rebound");
}
