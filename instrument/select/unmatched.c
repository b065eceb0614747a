/* Globs of a selection that match nothing in a file, and the names that were probably meant. */
#include "instrument/select/unmatched.h"

#include "runtime/base/nearest_name.h"

static bool
has_site(const struct site_table *table, struct slice glob, struct nearest *nearest)
{
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];

        /* A returned value has a name in the table that no code has assigned. */
        for (uint32_t k = 0; site->kind != SITE_RETURN && k < site->write_count; k++) {
            if (name_select(site->writes[k].name, SLICE(""), glob) != NAME_OTHER) {
                return true;
            }
            nearest_add(nearest, site->writes[k].name);
        }
    }
    return false;
}

static bool
has_function(const struct site_table *table, struct slice glob, struct nearest *nearest)
{
    for (uint32_t i = 1; i < table->function_count; i++) { /* 0 is the module */
        if (glob_match(table->functions[i].name, glob)) {
            return true;
        }
        nearest_add(nearest, table->functions[i].name);
    }
    return false;
}

static void write_lines(const struct site_table *table,
                        const struct slice *globs,
                        size_t count,
                        bool are_functions,
                        struct buffer *text)
{
    for (size_t i = 0; i < count; i++) {
        struct nearest nearest;

        nearest_init(&nearest, globs[i]);
        if (are_functions ? has_function(table, globs[i], &nearest)
                          : has_site(table, globs[i], &nearest)) {
            continue;
        }
        buffer_add(text, are_functions ? SLICE("--function ") : SLICE("--spy "));
        buffer_add_printable(text, globs[i]);
        buffer_add(text, SLICE(" selects nothing"));
        nearest_write(&nearest, text);
        buffer_add_byte(text, '\n');
    }
}

bool unmatched_write(struct slice source,
                     const char *name,
                     const struct selection *selection,
                     struct buffer *text,
                     struct error *error)
{
    struct selection everything = {.everything = true};
    struct instrumented whole;
    bool is_done;

    if (selection->function_count == 0 && selection->spy_count == 0) {
        return true;
    }
    instrumented_init(&whole);
    is_done = instrument(source, name, &everything, &whole, error);
    if (is_done) {
        write_lines(&whole.table, selection->functions, selection->function_count, true,
                    text);
        write_lines(&whole.table, selection->spy_names, selection->spy_count, false,
                    text);
    }
    instrumented_release(&whole);
    return is_done;
}
