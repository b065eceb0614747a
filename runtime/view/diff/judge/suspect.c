/* Equal values in another memory layout: a difference where something follows of it alone. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/work.h"

void diff_suspects_release(struct diff_work *work)
{
    for (uint32_t i = 0; i < work->suspect_count; i++) {
        buffer_release(&work->suspects[i].name);
        buffer_release(&work->suspects[i].words);
        buffer_release(&work->suspects[i].text);
    }
    memory_free(work->suspects);
}

static uint64_t storage_of(const struct log_event_view *event)
{
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return 0;
    }
    return event->tensor.data -
           (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

uint32_t diff_suspect_add(struct diff_work *work, struct diff_finding *finding)
{
    struct diff_suspect *suspect;

    for (uint32_t i = 0; i < work->suspect_count; i++) {
        if (work->suspects[i].items[1].event.site_number ==
            finding->items[1]->event.site_number) {
            return i;
        }
    }
    if (work->suspect_count >= DIFF_SUSPECTS_MAX) {
        return DIFF_SUSPECTS_MAX;
    }
    if (work->suspects == NULL) {
        work->suspects = memory_allocate_zeroed(DIFF_SUSPECTS_MAX, sizeof *suspect);
        if (work->suspects == NULL) {
            work->scope.has_failed = true;
            return DIFF_SUSPECTS_MAX;
        }
    }
    suspect = &work->suspects[work->suspect_count];
    for (unsigned side = 0; side < 2; side++) {
        suspect->items[side] = *finding->items[side];
        suspect->items[side].event.sample = NULL;
        suspect->items[side].event.text = SLICE("");
        suspect->storages[side] = storage_of(&finding->items[side]->event);
    }
    suspect->is_in_place = finding->items[0]->event.tensor.origin == 0 &&
                           finding->items[1]->event.tensor.origin != 0;
    buffer_add(&suspect->name, finding->name);
    buffer_add(&suspect->words, finding->words);
    if (!work->has_first) {
        diff_first_make(work, finding);
        buffer_add(&suspect->text, buffer_slice(&work->text));
    }
    work->scope.has_failed = work->scope.has_failed || suspect->name.has_failed ||
                             suspect->words.has_failed || suspect->text.has_failed;
    return work->suspect_count++;
}

uint32_t diff_suspect_find(const struct diff_work *work,
                           const struct log_event_view *a,
                           const struct log_event_view *b)
{
    uint64_t storages[2] = {storage_of(a), storage_of(b)};

    for (uint32_t i = 0; i < work->suspect_count; i++) {
        const struct diff_suspect *suspect = &work->suspects[i];

        if (suspect->is_in_place && storages[1] != 0 &&
            suspect->storages[1] == storages[1] &&
            suspect->storages[0] != storages[0]) {
            return i;
        }
    }
    return DIFF_SUSPECTS_MAX;
}

void diff_suspect_report(struct diff_work *work, uint32_t number)
{
    struct diff_suspect *suspect = &work->suspects[number];
    struct diff_finding finding = {
        .items = {&suspect->items[0], &suspect->items[1]},
        .cause = DIFF_CAUSE_STRIDES,
        .class_ = DIFF_OWN,
        .name = buffer_slice(&suspect->name),
        .words = buffer_slice(&suspect->words),
        .text = buffer_slice(&suspect->text),
    };

    if (suspect->is_reported) {
        return;
    }
    suspect->is_reported = true;
    for (unsigned side = 0; side < 2; side++) {
        struct diff_place place = diff_place_of(&suspect->items[side], NULL);

        finding.modules[side] = place.module;
        finding.lines[side] = place.line;
    }
    work->result->own++;
    work->result->equal--;
    work->result->layout--;
    diff_add_finding(work, &finding);
}
