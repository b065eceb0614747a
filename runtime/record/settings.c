/* What a run is made with: remembered, because a forked child begins a trace of its own. */
#include "runtime/record/state.h"

#include "runtime/base/memory.h"

#include <string.h>

static struct slice setting_name(const struct recorder_setting *setting)
{
    return (struct slice){setting->text, setting->name_size};
}

static struct slice setting_value(const struct recorder_setting *setting)
{
    return (struct slice){setting->text + setting->name_size, setting->value_size};
}

/* The place of a setting, or one more at the end of the list; NULL: no memory. */
static struct recorder_setting *find_place(struct recorder *recorder, struct slice name)
{
    void *settings = recorder->settings;

    for (size_t i = 0; i < recorder->setting_count; i++) {
        if (slice_equal(setting_name(&recorder->settings[i]), name)) {
            return &recorder->settings[i];
        }
    }
    if (!memory_grow(&settings, &recorder->setting_capacity,
                     recorder->setting_count + 1, sizeof(struct recorder_setting))) {
        return NULL;
    }
    recorder->settings = settings;
    recorder->settings[recorder->setting_count] = (struct recorder_setting){0};
    return &recorder->settings[recorder->setting_count];
}

/* False where it was remembered already, with this value. */
static bool remember(struct recorder *recorder, struct slice name, struct slice value)
{
    struct recorder_setting *setting = find_place(recorder, name);
    char *text;

    if (setting == NULL) {
        return true;
    }
    if (setting->text != NULL && slice_equal(setting_value(setting), value)) {
        return false;
    }
    text = memory_allocate(name.size + value.size + 1, 1);
    if (text == NULL) {
        return true;
    }
    memcpy(text, name.bytes, name.size);
    memcpy(text + name.size, value.bytes, value.size);
    recorder->setting_count += setting->text == NULL;
    memory_free(setting->text);
    *setting = (struct recorder_setting){text, name.size, value.size};
    return true;
}

void recorder_tell_setting(struct recorder *recorder,
                           struct slice name,
                           struct slice value)
{
    if (recorder->log != NULL && remember(recorder, name, value)) {
        log_writer_setting(recorder->log, name, value);
    }
}

void recorder_tell_settings(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->setting_count; i++) {
        log_writer_setting(recorder->log, setting_name(&recorder->settings[i]),
                           setting_value(&recorder->settings[i]));
    }
}

void recorder_free_settings(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->setting_count; i++) {
        memory_free(recorder->settings[i].text);
    }
    memory_free(recorder->settings);
}
