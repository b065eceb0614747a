/* The text form of site tables: what is written is read again, and no text can do harm. */
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/site/site.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static bool sites_equal(const struct site *a, const struct site *b)
{
    if (a->kind != b->kind || a->line != b->line || a->column != b->column ||
        a->function != b->function || a->ordinal != b->ordinal || a->arm != b->arm ||
        a->repeats != b->repeats || a->has_condition != b->has_condition ||
        a->condition != b->condition || a->write_count != b->write_count ||
        a->read_count != b->read_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->write_count; i++) {
        if (!slice_equal(a->writes[i].name, b->writes[i].name) ||
            a->writes[i].source != b->writes[i].source) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->read_count; i++) {
        if (!slice_equal(a->reads[i].name, b->reads[i].name) ||
            a->reads[i].scope != b->reads[i].scope ||
            a->reads[i].site != b->reads[i].site) {
            return false;
        }
    }
    return true;
}

static bool tables_equal(const struct site_table *a, const struct site_table *b)
{
    if (!slice_equal(a->path, b->path) || !slice_equal(a->prefix, b->prefix) ||
        !slice_equal(a->options, b->options) ||
        a->source_hash[0] != b->source_hash[0] ||
        a->source_hash[1] != b->source_hash[1] ||
        a->function_count != b->function_count || a->site_count != b->site_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->function_count; i++) {
        if (!slice_equal(a->functions[i].name, b->functions[i].name) ||
            a->functions[i].line != b->functions[i].line) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->site_count; i++) {
        if (!sites_equal(&a->sites[i], &b->sites[i])) {
            return false;
        }
    }
    return true;
}

static struct site_write example_writes[] = {
    {{"self.scale", 10}, SITE_SOURCE_PEEK},
    {{"y", 1}, SITE_SOURCE_VALUE},
    {{"gr\xC3\xB6\xC3\x9F"
      "e",
      7},
     SITE_SOURCE_NONE},
};
static struct site_read example_reads[] = {
    {{"x", 1}, SITE_SCOPE_LOCAL, 0},
    {{"torch.nn.functional", 19}, SITE_SCOPE_GLOBAL, SITE_NONE},
    {{"later", 5}, SITE_SCOPE_FREE, 2},
};
static struct site example_sites[] = {
    {.kind = SITE_ENTER,
     .line = 3,
     .column = 5,
     .function = 1,
     .writes = &example_writes[1],
     .write_count = 1},
    {.kind = SITE_ASSIGN,
     .line = 4,
     .column = 9,
     .function = 1,
     .ordinal = 7,
     .writes = example_writes,
     .write_count = 3,
     .reads = example_reads,
     .read_count = 3},
    {.kind = SITE_BRANCH,
     .line = 2,
     .column = 9,
     .function = 0,
     .arm = 2,
     .repeats = true,
     .has_condition = true,
     .condition = 0x00C0FFEE},
};
static struct site_function example_functions[] = {
    {{"<module>", 8}, 1},
    {{"Attention.forward", 17}, 3},
    {{"Attention.forward.<locals>.f", 28}, 12},
};

static struct site_table example_table(void)
{
    return (struct site_table){
        .path = SLICE("models/a b\"\\\n\xC3\xA4'.py"),
        .prefix = SLICE("_mt"),
        .options = SLICE("--function=Attention.* --lines=3-9"),
        .source_hash = {0x0123456789ABCDEF, 0xFEDCBA9876543210},
        .functions = example_functions,
        .function_count = 3,
        .sites = example_sites,
        .site_count = 3,
    };
}

static void test_text(void)
{
    struct site_table table = example_table();
    struct buffer text = BUFFER_INIT;

    site_table_write(&table, &text);
    CHECK_TEXT(
        buffer_slice(&text),
        "monitorch2 fedcba98765432100123456789abcdef _mt "
        "models/a%20b%22%5c%0a%c3%a4%27.py --function=Attention.*%20--lines=3-9 3,3 "
        "1,0,<module> 2,0,Attention.forward 9,17,.<locals>.f "
        "e3:5/1=y a1:9.7=+self.scale=y=-gr\xC3\xB6\xC3\x9F"
        "e,x-1(torch.nn.functional;later+1 b-2/0!2*?00c0ffee .");
    buffer_release(&text);
}

/* A name that stood before is told by its number, or by the site that wrote it. */
static void test_short_forms(void)
{
    static struct site_write parameters[] = {{{"self", 4}, SITE_SOURCE_VALUE},
                                             {{"weight", 6}, SITE_SOURCE_VALUE}};
    static struct site_write empty[] = {{{"", 0}, SITE_SOURCE_NONE},
                                        {{"2d", 2}, SITE_SOURCE_VALUE}};
    static struct site_read reads[] = {{{"self", 4}, SITE_SCOPE_LOCAL, 0},
                                       {{"weight", 6}, SITE_SCOPE_LOCAL, 0},
                                       {{"other", 5}, SITE_SCOPE_LOCAL, 0},
                                       {{"weight", 6}, SITE_SCOPE_GLOBAL, SITE_NONE},
                                       {{"other", 5}, SITE_SCOPE_FREE, 1}};
    static struct site sites[] = {
        {.kind = SITE_ENTER, .line = 1, .writes = parameters, .write_count = 2},
        {.kind = SITE_ASSIGN,
         .line = 2,
         .writes = empty,
         .write_count = 2,
         .reads = reads,
         .read_count = 5},
    };
    struct site_table table = {.functions = example_functions,
                               .function_count = 1,
                               .sites = sites,
                               .site_count = 2};
    struct buffer text = BUFFER_INIT;
    size_t start;

    site_table_write(&table, &text);
    start = slice_find(buffer_slice(&text), SLICE("e1"), 0);
    CHECK_TEXT(slice_part(buffer_slice(&text), start, text.size),
               "e1=self=weight a1=-!=%32d,-1,-1.1,other-1(1;3+0 .");
    buffer_release(&text);
}

static void test_keys(void)
{
    struct site_table table = example_table();
    struct buffer text = BUFFER_INIT;

    table.path = SLICE("m.py");
    site_add_key(&table, &table.sites[1], &text);
    CHECK_TEXT(buffer_slice(&text),
               "m.py:Attention.forward:assign:self.scale,y,gr\xC3\xB6\xC3\x9F"
               "e:7");
    text.size = 0;
    site_add_key(&table, &table.sites[2], &text);
    CHECK_TEXT(buffer_slice(&text), "m.py:<module>:branch:00c0ffee:0");
    CHECK(strcmp(site_kind_text(SITE_SPY), "spy") == 0);
    CHECK(strcmp(site_kind_text((enum site_kind)99), "unknown") == 0);
    buffer_release(&text);
}

static bool is_literal_safe(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];

        if (byte < 0x20 || byte == 0x7F || strchr("'\"\\{}~#$@`^|", byte) != NULL) {
            return false;
        }
    }
    return true;
}

static uint32_t random_number(void)
{
    uint32_t bits = (uint32_t)rand() ^ (uint32_t)rand() << 16;

    return bits >> (rand() % 32);
}

static struct slice random_text(struct arena *arena)
{
    static const char *const parts[] = {"x",
                                        "self",
                                        ".",
                                        "weight",
                                        "\xC3\xA4",
                                        "\xE6\xBC\xA2",
                                        "\xF0\x9D\x94\xBE",
                                        " ",
                                        "'",
                                        "\n",
                                        "%",
                                        "=",
                                        "-",
                                        "\xFF",
                                        "<",
                                        "+",
                                        ",",
                                        "\xC2\x85",
                                        "\xE2\x80\xAE",
                                        "7"};
    char bytes[64];
    size_t size = 0;

    for (int i = rand() % (rand() % 2 ? 12 : 3); i > 0; i--) {
        const char *part = parts[(size_t)rand() % (sizeof parts / sizeof *parts)];

        memcpy(bytes + size, part, strlen(part));
        size += strlen(part);
    }
    return arena_copy(arena, (struct slice){bytes, size});
}

static void
random_site(struct site *site, const struct site_table *table, struct arena *arena)
{
    *site = (struct site){
        .kind = (enum site_kind)(rand() % SITE_KIND_COUNT),
        .line = random_number(),
        .column = random_number(),
        .function = random_number() % table->function_count,
        .ordinal = random_number(),
        .arm = rand() % 3 ? 0 : random_number(),
        .repeats = rand() % 2,
        .has_condition = rand() % 2,
        .write_count = (uint32_t)(rand() % 4),
        .read_count = (uint32_t)(rand() % 4),
    };
    site->condition = site->has_condition ? random_number() : 0;
    site->writes = arena_allocate(arena, 4, sizeof *site->writes);
    site->reads = arena_allocate(arena, 4, sizeof *site->reads);
    for (uint32_t i = 0; i < 4; i++) {
        site->writes[i].name = random_text(arena);
        site->writes[i].source = (enum site_source)(rand() % 3);
        site->reads[i].name = random_text(arena);
        site->reads[i].scope = (enum site_scope)(rand() % 3);
        site->reads[i].site =
            rand() % 3 ? SITE_NONE : random_number() % table->site_count;
    }
}

static struct site_table random_table(struct arena *arena)
{
    struct site_table table = {
        .path = random_text(arena),
        .prefix = random_text(arena),
        .options = random_text(arena),
        .source_hash = {random_number(), random_number() * UINT64_C(0x123456789)},
        .function_count = 1 + (uint32_t)(rand() % 9),
        .site_count = (uint32_t)(rand() % 9),
    };

    table.functions =
        arena_allocate(arena, table.function_count, sizeof *table.functions);
    table.sites = arena_allocate(arena, table.site_count, sizeof *table.sites);
    for (uint32_t i = 0; i < table.function_count; i++) {
        table.functions[i].name = random_text(arena);
        table.functions[i].line = random_number();
    }
    for (uint32_t i = 0; i < table.site_count; i++) {
        random_site(&table.sites[i], &table, arena);
    }
    /* Half of the reads read what the site that they refer to wrote. */
    for (uint32_t i = 0; i < table.site_count; i++) {
        struct site_read *read = &table.sites[i].reads[0];
        const struct site *site =
            &table.sites[read->site != SITE_NONE ? read->site : 0];

        if (rand() % 2 && site->write_count > 0) {
            read->name = site->writes[(uint32_t)rand() % site->write_count].name;
        }
    }
    return table;
}

static void test_round_trip(void)
{
    struct arena arena;
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;
    int wrong = 0;

    arena_init(&arena);
    srand(1);
    for (int i = 0; i < 3000; i++) {
        struct site_table table = random_table(&arena);
        struct site_table again;

        text.size = 0;
        site_table_write(&table, &text);
        wrong += !is_literal_safe(buffer_slice(&text)) ||
                 !site_table_read(&again, buffer_slice(&text), &arena, &error) ||
                 !tables_equal(&table, &again);
        arena_reset(&arena);
    }
    CHECK(wrong == 0);
    buffer_release(&text);
    arena_release(&arena);
}

/* A copy of just the right size, so that a sanitizer sees any step over its end. */
static bool read_copy(struct slice text, struct error *error)
{
    struct arena arena;
    struct site_table table;
    char *copy = malloc(text.size + (text.size == 0));
    bool is_read;

    arena_init(&arena);
    memcpy(copy, text.bytes, text.size);
    is_read = site_table_read(&table, (struct slice){copy, text.size}, &arena, error);
    arena_release(&arena);
    free(copy);
    return is_read;
}

static void test_damaged_texts(void)
{
    struct site_table table = example_table();
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;
    int wrongly_read = 0;

    site_table_write(&table, &text);
    CHECK(read_copy(buffer_slice(&text), &error));
    for (size_t size = 0; size < text.size; size++) {
        wrongly_read += read_copy((struct slice){text.bytes, size}, &error);
        wrongly_read += error.kind != ERROR_INPUT;
    }
    CHECK(wrongly_read == 0);
    for (size_t i = 0; i < text.size; i++) {
        char kept = text.bytes[i];

        for (int byte = 0; byte < 256; byte++) {
            text.bytes[i] = (char)byte;
            read_copy(buffer_slice(&text), &error);
        }
        text.bytes[i] = kept;
    }
    srand(2);
    for (int i = 0; i < 20000; i++) {
        size_t where = (size_t)rand() % text.size;
        size_t from = (size_t)rand() % text.size;
        struct buffer changed = BUFFER_INIT;

        buffer_add_bytes(&changed, text.bytes, where);
        buffer_add_bytes(&changed, text.bytes + from, text.size - from);
        read_copy(buffer_slice(&changed), &error);
        buffer_release(&changed);
    }
    buffer_release(&text);
}

#define HEAD "monitorch2 00000000000000000000000000000000 _mt a.py  "

static void test_hostile_texts(void)
{
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"", "damaged site table: byte 0 of 0: expected \"monitorch2 \""},
        {"monitorch3 x",
         "damaged site table: byte 9 of 12: expected version 2: another "
         "version of monitorch made this file"},
        {HEAD "4294967295,1 .", "damaged site table: byte 67 of 68: expected as many "
                                "functions and sites as the counts say"},
        {HEAD "1,4000000000 .", "damaged site table: byte 67 of 68: expected as many "
                                "functions and sites as the counts say"},
        {HEAD "4294967296,1 .", "damaged site table: byte 63 of 68: expected a number "
                                "below 4294967296"},
        {HEAD "1,0 1,1,f .", "damaged site table: byte 61 of 65: expected no more than "
                             "the name before holds, and at most 99"},
        {HEAD "1,0 -1,0,f .", "damaged site table: byte 60 of 66: expected a line from "
                              "0 to 4294967295"},
        {HEAD "1,1 1,0,f a/1 .",
         "damaged site table: byte 67 of 69: expected the number "
         "of a function of this table"},
        {HEAD "1,1 1,0,f a,x-1 .", "damaged site table: byte 69 of 71: expected the "
                                   "distance of a site of this table"},
        {HEAD "1,1 1,0,f a,x+1 .", "damaged site table: byte 69 of 71: expected the "
                                   "distance of a site of this table"},
        {HEAD "1,1 1,0,f z .", "damaged site table: byte 64 of 67: expected the letter "
                               "of a kind of site"},
        {HEAD "1,1 1,0,f a .x",
         "damaged site table: byte 67 of 68: expected the end of "
         "the text"},
        {HEAD "1,1 1,0,f a,-0 .", "damaged site table: byte 68 of 70: expected the "
                                  "distance of an earlier site"},
        {HEAD "1,2 1,0,f a=x a,-1.1 .",
         "damaged site table: byte 74 of 76: expected the "
         "number of a name that the site wrote"},
        {HEAD "1,1 1,0,f a=xy=1 .", "damaged site table: byte 70 of 72: expected the "
                                    "number of an earlier name"},
        {HEAD "1,1 1,0,f a= .", "damaged site table: byte 66 of 68: expected a name"},
        {HEAD "1,1 1,0,%g0 a .",
         "damaged site table: byte 63 of 69: expected a hex digit"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = ERROR_INIT;

        CHECK(!read_copy(slice_of(cases[i].text), &error));
        CHECK_TEXT(slice_of(error.text), cases[i].wanted);
    }
}

int main(void)
{
    test_text();
    test_short_forms();
    test_keys();
    test_round_trip();
    test_damaged_texts();
    test_hostile_texts();
    return check_finish();
}
