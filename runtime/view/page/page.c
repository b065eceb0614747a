/* The HTML file of a page: the verdict and the pictures are markup, the rest is data that the
 * script shows. Without a script, the verdict and the picture are still visible. */
#include "runtime/view/page/page.h"

#include "runtime/view/page/data.h"
#include "runtime/view/words/markup_text.h"

#include <string.h>

/* The lines of page.css and page.js, which the build has converted to string literals. */
static const char *const style[] = {
#include "monitorch_page_css.inc"
};
static const char *const script[] = {
#include "monitorch_page_js.inc"
};

/* The policy ensures that the page loads nothing and runs no script but ours, whatever the
 * traces contain. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'nonce-monitorch'; base-uri 'none'; "
    "form-action 'none'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta name=\"color-scheme\" content=\"light dark\"/>\n";

static const char bar[] =
    "<a class=\"skip\" href=\"#source\">Skip to the source</a>\n"
    "<header id=\"bar\"><strong>monitorch</strong><span id=\"steps\"></span>"
    "<span class=\"room\"></span>"
    "<button id=\"previous\" type=\"button\" title=\"p\">Previous mark</button>"
    "<button id=\"next\" type=\"button\" title=\"n\">Next mark</button>"
    "<input id=\"search\" type=\"search\" aria-label=\"search\" "
    "placeholder=\"Search (/)\" autocomplete=\"off\"/>"
    "<button id=\"theme\" type=\"button\" title=\"t\">Dark</button>"
    "<button id=\"keys\" type=\"button\" title=\"?\">Keys</button>"
    "<ul id=\"results\" aria-label=\"results\"></ul></header>\n"
    "<main>\n"
    "<nav id=\"ranks\" aria-label=\"traces\" hidden=\"\"></nav>\n";

static const char body_end[] =
    "<div id=\"columns\">\n"
    "<section id=\"source\" aria-label=\"source\" tabindex=\"-1\"><div id=\"files\">"
    "</div></section>\n"
    "<div id=\"panel\"><aside id=\"details\" aria-label=\"value\"></aside>\n"
    "<nav id=\"side\" aria-label=\"modules\"><h2>Modules</h2>"
    "<input id=\"filter\" type=\"search\" aria-label=\"filter modules\" "
    "placeholder=\"Filter\"/><div id=\"tree\"></div></nav></div>\n"
    "</div>\n"
    "<section id=\"run\" aria-label=\"recording\"><h2>The recording</h2></section>\n"
    "<div id=\"status\" class=\"skip\" role=\"status\" aria-live=\"polite\"></div>\n"
    "<div id=\"help\" role=\"dialog\" aria-label=\"keys\" hidden=\"\">"
    "<kbd>/</kbd> search<br/><kbd>n</kbd> <kbd>p</kbd> next, previous NaN or difference"
    "<br/><kbd>]</kbd> <kbd>[</kbd> next, previous call<br/><kbd>}</kbd> <kbd>{</kbd> "
    "next, previous turn<br/><kbd>.</kbd> <kbd>,</kbd> next, previous "
    "rank<br/><kbd>t</kbd> dark, light<br/><kbd>?</kbd> these "
    "keys</div>\n"
    "<noscript><p>The source with its values needs JavaScript; the verdict and the "
    "picture do not.</p></noscript>\n"
    "</main>\n";

/* ---- texts from traces and sources ---- */

static void text_add(struct buffer *bytes, struct slice text)
{
    struct buffer plain = BUFFER_INIT;

    buffer_add_printable(&plain, text);
    markup_text_add(bytes, buffer_slice(&plain));
    bytes->has_failed |= plain.has_failed;
    buffer_release(&plain);
}

/* Adds a text and keeps its line ends. */
static void lines_add(struct buffer *bytes, struct slice text)
{
    while (text.size > 0) {
        size_t end = slice_find(text, SLICE("\n"), 0);

        text_add(bytes, slice_part(text, 0, end));
        buffer_add_byte(bytes, '\n');
        text = slice_part(text, end < text.size ? end + 1 : end, text.size);
    }
}

/* ---- the parts ---- */

static void asset_add(struct buffer *bytes, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add(bytes, slice_of(lines[i]));
    }
}

void page_begin(struct slice title, struct buffer *bytes)
{
    buffer_add(bytes, slice_of(head));
    buffer_add(bytes, SLICE("<title>"));
    text_add(bytes, title);
    buffer_add(bytes, SLICE("</title>\n<style>\n"));
    asset_add(bytes, style, sizeof style / sizeof *style);
    buffer_add(bytes, SLICE("</style>\n</head>\n<body>\n"));
    buffer_add(bytes, slice_of(bar));
}

static void block_add(struct buffer *bytes, struct slice lines)
{
    if (lines.size > 0) {
        buffer_add(bytes, SLICE("<pre tabindex=\"0\">"));
        lines_add(bytes, lines);
        buffer_add(bytes, SLICE("</pre>\n"));
    }
}

/* Adds the verdict: the lines up to the first empty one. The others are in a block that opens on
 * request. */
static void verdict_add(const struct page *page, struct buffer *bytes)
{
    static const char *const classes[] = {
        [PAGE_FINE] = "fine", [PAGE_BAD] = "bad", [PAGE_PLAIN] = "plain"};
    struct slice first;

    buffer_add(bytes, SLICE("<section aria-label=\"verdict\" class=\"verdict "));
    buffer_add(bytes, slice_of(classes[page->state]));
    buffer_add(bytes, SLICE("\"><h1>"));
    text_add(bytes, page->title);
    buffer_add(bytes, SLICE("</h1>\n"));
    first = slice_part(page->text, 0, slice_find(page->text, SLICE("\n\n"), 0));
    block_add(bytes, first);
    buffer_add(bytes, SLICE("<div class=\"lists\"></div>\n"));
    if (page->text.size > first.size + 2) {
        buffer_add(bytes, SLICE("<details><summary>More</summary>"));
        block_add(bytes, slice_part(page->text, first.size + 2, page->text.size));
        buffer_add(bytes, SLICE("</details>\n"));
    }
    buffer_add(bytes, SLICE("</section>\n"));
}

/* Adds an SVG without its XML declaration, which HTML does not allow. */
static void picture_add(struct buffer *bytes, struct slice svg, struct slice theme)
{
    buffer_add(bytes, SLICE("<div class=\"picture "));
    buffer_add(bytes, theme);
    buffer_add(bytes, SLICE("\" tabindex=\"0\" role=\"group\" "
                            "aria-label=\"boxes and arrows\">\n"));
    buffer_add(bytes, slice_part(svg, slice_find(svg, SLICE("<svg"), 0), svg.size));
    buffer_add(bytes, SLICE("</div>\n"));
}

static void pictures_add(const struct page *page, struct buffer *bytes)
{
    if (page->pictures[0].size == 0) {
        buffer_add(
            bytes,
            page->has_large_picture
                ? SLICE("<p class=\"faint\">The picture has too many boxes for a "
                        "page: monitorch graph --function NAME -o FILE.svg "
                        "draws a part.</p>\n")
                : SLICE("<p class=\"faint\">No tensors or arrays to draw.</p>\n"));
        return;
    }
    buffer_add(bytes, SLICE("<section aria-label=\"picture\"><h2>Which value was made "
                            "from which</h2>\n"));
    picture_add(bytes, page->pictures[0], SLICE("light"));
    if (page->pictures[1].size > 0) {
        picture_add(bytes, page->pictures[1], SLICE("dark"));
    }
    buffer_add(bytes, SLICE("</section>\n"));
}

/* Returns the size of the character at `at` if the page must escape it, and sets `*code` to its
 * number. These are `<`, which could end the script element, control characters, and characters
 * that change the direction of the following text. 0: the character is copied. */
static size_t find_unseen(struct slice json, size_t at, unsigned *code)
{
    const unsigned char *bytes = (const unsigned char *)json.bytes + at;
    size_t left = json.size - at;

    *code = bytes[0];
    if (bytes[0] == '<' || bytes[0] == 0x7F) {
        return 1;
    }
    if (left > 1 && (bytes[0] == 0xC2 || bytes[0] == 0xD8)) {
        *code = (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
        return *code < 0xA0 || *code == 0x61C ? 2 : 0;
    }
    if (left > 2 && bytes[0] == 0xE2 && (bytes[1] == 0x80 || bytes[1] == 0x81)) {
        *code = 0x2000 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
        return *code == 0x200E || *code == 0x200F ||
                       (*code >= 0x2028 && *code <= 0x202E) ||
                       (*code >= 0x2066 && *code <= 0x2069)
                   ? 3
                   : 0;
    }
    return 0;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Whether none of the eight bytes can start such a character, which is true of nearly all data:
 * all are below 0x7F, and none is `<`. */
static bool are_plain(const char *bytes)
{
    uint64_t eight;
    uint64_t angles;

    memcpy(&eight, bytes, sizeof eight);
    angles = eight ^ EACH_BYTE * '<';
    return ((eight | (eight + EACH_BYTE) | (angles - EACH_BYTE)) & EACH_BYTE * 0x80) ==
           0;
}

/* In JSON these characters occur only in strings, so an escape has the same meaning. */
static void data_add(struct buffer *bytes, struct slice json)
{
    size_t start = 0;

    buffer_add(bytes, SLICE("<script type=\"application/json\" class=\"data\">"));
    for (size_t i = 0; i < json.size;) {
        unsigned code;
        size_t size;

        if (json.size - i >= sizeof(uint64_t) && are_plain(json.bytes + i)) {
            i += sizeof(uint64_t);
            continue;
        }
        size = find_unseen(json, i, &code);
        if (size > 0) {
            buffer_add(bytes, slice_part(json, start, i));
            buffer_add(bytes, SLICE("\\u"));
            buffer_add_hex(bytes, code, 4);
            start = i + size;
        }
        i += size > 0 ? size : 1;
    }
    buffer_add(bytes, slice_part(json, start, json.size));
    buffer_add(bytes, SLICE("</script>\n"));
}

static bool add_data(const struct page *page,
                     uint64_t used,
                     struct buffer *bytes,
                     struct page_result *result,
                     struct error *error)
{
    uint64_t room = page->max_size > used ? page->max_size - used : 1;
    struct buffer json = BUFFER_INIT;
    bool is_done = page_data_add(page, room, &json, result, error);

    if (is_done) {
        data_add(bytes, buffer_slice(&json));
    }
    buffer_release(&json);
    return is_done;
}

/* Room for escapes of `<` in the data. */
#define ESCAPES_SIZE 16384
/* Room for style, script and the other fixed parts. */
#define FRAME_SIZE 98304

uint64_t page_part_size(uint64_t max_size, size_t count)
{
    max_size = max_size > 0 ? max_size : PAGE_SIZE_DEFAULT;
    return max_size > FRAME_SIZE + count ? (max_size - FRAME_SIZE) / count : 1;
}

bool page_part_add(const struct page *page,
                   size_t place,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error)
{
    const char *path = page->paths[page->paths[1] != NULL];
    size_t start = bytes->size;

    buffer_add(bytes, SLICE("<div class=\"part\" data-name=\""));
    text_add(bytes, slice_last_part(slice_of(path), '/'));
    buffer_add(bytes, page->is_cause ? SLICE("\" data-cause=\"") : SLICE(""));
    buffer_add(bytes, place > 0 ? SLICE("\" hidden=\"\">\n") : SLICE("\">\n"));
    verdict_add(page, bytes);
    pictures_add(page, bytes);
    if (!add_data(page, bytes->size - start + ESCAPES_SIZE, bytes, result, error)) {
        bytes->size = start;
        return false;
    }
    buffer_add(bytes, SLICE("</div>\n"));
    return true;
}

bool page_end(struct buffer *bytes, struct error *error)
{
    buffer_add(bytes, slice_of(body_end));
    buffer_add(bytes, SLICE("<script nonce=\"monitorch\">\n"));
    asset_add(bytes, script, sizeof script / sizeof *script);
    buffer_add(bytes, SLICE("</script>\n</body>\n</html>\n"));
    return !bytes->has_failed || error_set_memory(error);
}

bool page_add(const struct page *page,
              struct buffer *bytes,
              struct page_result *result,
              struct error *error)
{
    size_t start = bytes->size;
    struct page part = *page;

    part.max_size = page_part_size(page->max_size, 1);
    page_begin(page->title, bytes);
    if (!page_part_add(&part, 0, bytes, result, error)) {
        bytes->size = start;
        return false;
    }
    return page_end(bytes, error);
}
