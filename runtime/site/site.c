/* Sites: the names of their kinds, and their keys. */
#include "runtime/site/site.h"

static const char *const site_texts[SITE_KIND_COUNT] = {
#define SITE_KIND(name, letter, text) text,
#include "runtime/site/kinds.def"
#undef SITE_KIND
};

const char *site_kind_text(enum site_kind kind)
{
    return (unsigned)kind < SITE_KIND_COUNT ? site_texts[kind] : "unknown";
}

/* Adds the site's name in keys: its written names joined by commas, or the hash of a branch's
 * condition, or "". */
static void site_add_name(const struct site *site, struct buffer *text)
{
    if (site->has_condition) {
        buffer_add_hex(text, site->condition, 8);
        return;
    }
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        buffer_add(text, site->writes[i].name);
    }
}

void site_add_key(const struct site_table *table,
                  const struct site *site,
                  struct buffer *text)
{
    buffer_add(text, table->path);
    buffer_add_byte(text, ':');
    if (site->function < table->function_count) {
        buffer_add(text, table->functions[site->function].name);
    }
    buffer_add_byte(text, ':');
    buffer_add(text, slice_of(site_kind_text(site->kind)));
    buffer_add_byte(text, ':');
    site_add_name(site, text);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->ordinal);
}

static bool is_site_sound(const struct site_table *table, const struct site *site)
{
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (site->writes[i].source > SITE_SOURCE_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        if (site->reads[i].scope > SITE_SCOPE_GLOBAL ||
            (site->reads[i].site != SITE_NONE &&
             site->reads[i].site >= table->site_count)) {
            return false;
        }
    }
    return site->kind < SITE_KIND_COUNT && site->function < table->function_count;
}

bool site_table_is_sound(const struct site_table *table)
{
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (!is_site_sound(table, &table->sites[i])) {
            return false;
        }
    }
    return true;
}
