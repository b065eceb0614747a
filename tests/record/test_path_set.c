/* Paths of variables: what they say, what they match, and what is refused. */
#include "runtime/record/path_set.h"
#include "tests/unit/check.h"

#include <stdio.h>

/* Whether the path matches the segments, which stand with spaces between them. */
static bool matches(const char *path, const char *segments)
{
    struct slice text = slice_of(path);
    struct slice rest = slice_of(segments);
    struct path_set set;
    struct error error = ERROR_INIT;
    uint32_t state = PATH_STATE_START;
    bool is_end;

    CHECK(path_set_init(&set, &text, 1, &error));
    for (size_t start = 0; start <= rest.size;) {
        size_t end = slice_find(rest, SLICE(" "), start);
        CHECK(path_set_step(&set, state, slice_part(rest, start, end), &state, &error));
        start = end + 1;
    }
    is_end = path_set_is_end(&set, state, NULL);
    path_set_release(&set);
    return is_end;
}

static void test_matches(void)
{
    static const struct {
        const char *path, *segments;
        bool is_match;
    } cases[] = {
        {"forward", "forward", true},
        {"forward", "forwar", false},
        {"forward", "forward x", false},
        {"forward.x", "forward", false},
        {"forward.x", "forward x", true},
        {"*", "encoder", true},
        {"*", "encoder 1", false},
        {"*.*", "encoder 1", true},
        {"encoder.*.forward.x", "encoder 12 forward x", true},
        {"encoder.*.forward.x", "encoder forward x", false},
        {"forward.self.*.running_var", "forward self bn running_var", true},
        {"forward.self.*.running_var", "forward self bn running_mean", false},
        {"layer*.forward", "layer1 forward", true},
        {"layer*.forward", "layer forward", true},
        {"layer*.forward", "xlayer forward", false},
        {"*1.x", "layer11 x", true},
        {"a*b*c", "aXXbYYc", true},
        {"a*b*c", "aXXcYYb", false},
        {"**", "anything", true},
        {"f.a\\.b", "f a.b", true},
        {"f.a\\.b", "f a", false},
        {"f.\\*", "f *", true},
        {"f.\\*", "f x", false},
        {"f.\\**", "f *x", true},
        {"f.\\**", "f x", false},
        {"f.\\\\", "f \\", true},
        {"f.?", "f ?", true},
        {"f.?", "f a", false},
        {"f.[0]", "f [0]", true},
        {"\xc3\xa9.x", "\xc3\xa9 x", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_match = matches(cases[i].path, cases[i].segments);

        if (is_match != cases[i].is_match) {
            printf("%s against %s\n", cases[i].path, cases[i].segments);
        }
        CHECK(is_match == cases[i].is_match);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *path, *text;
    } cases[] = {
        {"", "path '': segment 1 is empty, expected a name or *"},
        {".", "path '.': segment 1 is empty, expected a name or *"},
        {"a..b", "path 'a..b': segment 2 is empty, expected a name or *"},
        {"a.b.", "path 'a.b.': segment 3 is empty, expected a name or *"},
        {"a.b\\", "path 'a.b\\': its last \\ escapes nothing"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice texts[2] = {SLICE("good"), slice_of(cases[i].path)};
        struct path_set set;
        struct error error = ERROR_INIT;

        CHECK(!path_set_init(&set, texts, 2, &error));
        CHECK(error.kind == ERROR_USAGE);
        CHECK(strcmp(error.text, cases[i].text) == 0);
    }
}

static void test_many_at_once(void)
{
    struct slice paths[] = {SLICE("a.*"), SLICE("a.b"), SLICE("a.b.c"), SLICE("x.b")};
    struct path_set set;
    struct error error = ERROR_INIT;
    uint32_t state, again, at = 0;
    bool is_named = false;
    const struct path_segment *segment;

    CHECK(path_set_init(&set, paths, 4, &error));
    CHECK(path_set_step(&set, PATH_STATE_START, SLICE("a"), &state, &error));
    CHECK(!path_set_is_end(&set, state, &is_named) && !is_named);
    CHECK(path_set_step(&set, PATH_STATE_START, SLICE("a"), &again, &error));
    CHECK(again == state);
    CHECK(path_set_step(&set, state, SLICE("z"), &again, &error));
    CHECK(path_set_is_end(&set, again, &is_named) && !is_named);
    CHECK(path_set_step(&set, state, SLICE("b"), &state, &error));
    CHECK(path_set_is_end(&set, state, &is_named) && is_named);
    /* What is left: the ends of the first two, and c of the third. */
    segment = path_set_next(&set, state, &at);
    CHECK(segment != NULL && segment->is_end && segment->path == 0);
    segment = path_set_next(&set, state, &at);
    CHECK(segment != NULL && segment->is_end && segment->path == 1);
    segment = path_set_next(&set, state, &at);
    CHECK(segment != NULL && slice_equal(segment->name, SLICE("c")) &&
          segment->path == 2 && segment->depth == 2);
    CHECK(path_set_next(&set, state, &at) == NULL);
    CHECK(path_set_step(&set, state, SLICE("d"), &state, &error));
    CHECK(state == PATH_STATE_DEAD);
    CHECK(path_set_step(&set, state, SLICE("d"), &state, &error));
    CHECK(state == PATH_STATE_DEAD);
    path_set_release(&set);
}

/* More segments than a word has bits. */
static void test_long(void)
{
    struct slice paths[100];
    struct path_set set;
    struct error error = ERROR_INIT;
    uint32_t state = PATH_STATE_START, at = 0, count = 0;

    for (size_t i = 0; i < 100; i++) {
        paths[i] = i % 2 ? SLICE("a.b.c") : SLICE("a.*.d");
    }
    CHECK(path_set_init(&set, paths, 100, &error));
    CHECK(path_set_step(&set, state, SLICE("a"), &state, &error));
    CHECK(path_set_step(&set, state, SLICE("b"), &state, &error));
    CHECK(path_set_step(&set, state, SLICE("d"), &state, &error));
    while (path_set_next(&set, state, &at) != NULL) {
        count++;
    }
    CHECK(count == 50);
    path_set_release(&set);
}

static void test_none(void)
{
    struct path_set set;
    struct error error = ERROR_INIT;
    uint32_t state = PATH_STATE_START;

    CHECK(path_set_init(&set, NULL, 0, &error));
    CHECK(path_set_step(&set, state, SLICE("a"), &state, &error));
    CHECK(state == PATH_STATE_DEAD);
    path_set_release(&set);
}

static void test_no_memory(void)
{
    struct slice paths[] = {SLICE("a.b"), SLICE("*.c")};

    for (size_t i = 1; i < 20; i++) {
        struct path_set set;
        struct error error = ERROR_INIT;
        uint32_t state;

        memory_fail_after(i, false);
        if (path_set_init(&set, paths, 2, &error)) {
            if (!path_set_step(&set, PATH_STATE_START, SLICE("a"), &state, &error)) {
                CHECK(error.kind == ERROR_MEMORY);
            }
            path_set_release(&set);
        } else {
            CHECK(error.kind == ERROR_MEMORY);
        }
        memory_fail_after(0, false);
    }
}

static void test_written(void)
{
    struct buffer path = BUFFER_INIT;

    path_add_segment(&path, SLICE("forward"));
    path_add_segment(&path, SLICE("a.b*\\"));
    CHECK(slice_equal(buffer_slice(&path), SLICE("forward.a\\.b\\*\\\\")));
    buffer_release(&path);
}

int main(void)
{
    test_matches();
    test_refused();
    test_many_at_once();
    test_long();
    test_none();
    test_no_memory();
    test_written();
    return check_finish();
}
