/* Arguments that were made up: notes tell of them before the call that gets them. */
#include "runtime/view/flow/build.h"

#define GUESSES_MAX 1024

/* What tells how the argument was made up; NULL: it was not. */
const struct flow_guess *
flow_find_guess(const struct flow_builder *builder, uint32_t index, uint32_t name)
{
    const struct flow_call *call = &builder->calls[index];
    const struct site_table *table = &builder->modules[call->module].module->table;
    uint32_t function;

    if (builder->guess_count == 0) {
        return NULL;
    }
    function = text_table_find(&builder->texts, table->functions[call->function].name);
    for (uint32_t i = builder->guess_count; i-- > 0;) {
        const struct flow_guess *guess = &builder->guesses[i];

        if (guess->function == function && guess->parameter == name) {
            return guess;
        }
    }
    return NULL;
}

void flow_use_guess(struct flow_builder *builder, uint32_t raw)
{
    struct flow_raw *node = &builder->raws[raw];
    const struct flow_guess *guess = flow_find_guess(builder, node->call, node->name);

    if (guess != NULL) {
        node->flags |= FLOW_NODE_GUESSED;
        node->guess = guess->how;
    }
}

/* Guesses are of the next call of that function: this one. */
void flow_drop_guesses(struct flow_builder *builder, const struct flow_call *call)
{
    const struct site_table *table = &builder->modules[call->module].module->table;
    uint32_t function =
        text_table_find(&builder->texts, table->functions[call->function].name);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < builder->guess_count; i++) {
        if (builder->guesses[i].function != function) {
            builder->guesses[kept++] = builder->guesses[i];
        }
    }
    builder->guess_count = kept;
}

bool flow_add_note(struct flow_builder *builder, const struct log_item *item)
{
    struct slice text = item->note.text;
    size_t first = slice_find(text, SLICE("\t"), 0);
    size_t second =
        first < text.size ? slice_find(text, SLICE("\t"), first + 1) : first;
    void *items = builder->guesses;
    struct flow_guess guess;

    if (item->note.tag != LOG_NOTE_GUESS || second >= text.size ||
        builder->guess_count >= GUESSES_MAX) {
        return true;
    }
    if (!flow_text(builder, slice_part(text, 0, first), &guess.function) ||
        !flow_text(builder, slice_part(text, first + 1, second), &guess.parameter) ||
        !flow_text(builder, slice_part(text, second + 1, text.size), &guess.how) ||
        !flow_grow(builder, &items, &builder->guess_capacity, builder->guess_count,
                   sizeof *builder->guesses)) {
        return false;
    }
    builder->guesses = items;
    builder->guesses[builder->guess_count++] = guess;
    return true;
}
