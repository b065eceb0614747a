/* Cuts a picture into pages, between boxes. */
#include "runtime/view/picture/parts.h"

#include <math.h>
#include <stdlib.h>

/* Alternating cuts into rows and columns. Real pictures need two or three. */
#define DEPTH_MAX 8
#define MARGIN    9.0

struct cutter {
    struct picture *picture;
    struct picture_page *pages; /* in the picture's arena */
    size_t page_capacity;
    double width; /* of a page, at the picture's scale */
    double height;
    bool has_failed;
};

/* The parts between two cuts, and the rectangle between the cuts. */
struct piece {
    struct page_part *parts;
    size_t count;
    double left, top, right, bottom;
    int depth;
};

static int compare_y(const void *a, const void *b)
{
    const struct page_part *left = a;
    const struct page_part *right = b;

    if (left->y != right->y) {
        return left->y < right->y ? -1 : 1;
    }
    return left->x < right->x ? -1 : left->x > right->x;
}

static int compare_x(const void *a, const void *b)
{
    const struct page_part *left = a;
    const struct page_part *right = b;

    if (left->x != right->x) {
        return left->x < right->x ? -1 : 1;
    }
    return left->y < right->y ? -1 : left->y > right->y;
}

static double start_of(const struct page_part *part, bool is_down)
{
    return is_down ? part->y : part->x;
}

static double end_of(const struct page_part *part, bool is_down)
{
    return is_down ? part->y + part->height : part->x + part->width;
}

static struct picture_page bounds_of(const struct page_part *parts, size_t count)
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;

    for (size_t i = 0; i < count; i++) {
        left = fmin(left, parts[i].x);
        top = fmin(top, parts[i].y);
        right = fmax(right, parts[i].x + parts[i].width);
        bottom = fmax(bottom, parts[i].y + parts[i].height);
    }
    return (struct picture_page){left, top, right - left, bottom - top};
}

static bool has_titles_alone(const struct piece *piece)
{
    for (size_t i = 0; i < piece->count; i++) {
        if (!piece->parts[i].is_title) {
            return false;
        }
    }
    return true;
}

/* Adds a page. It reaches from cut to cut if that is no more than a page holds, so that borders
 * of groups are on it; otherwise it encloses only its parts. There is room for as many pages as
 * there are parts. */
static void
page_add(struct cutter *cutter, struct picture_page bounds, struct piece piece)
{
    struct picture *picture = cutter->picture;
    struct piece page = piece;

    if (has_titles_alone(&piece)) {
        return;
    }
    if (picture->page_count == cutter->page_capacity) {
        cutter->has_failed = true;
        return;
    }
    if (piece.right - piece.left > cutter->width + 2 * MARGIN) {
        page.left = fmax(bounds.x - MARGIN, piece.left);
        page.right = fmin(bounds.x + bounds.width + MARGIN, piece.right);
    }
    if (piece.bottom - piece.top > cutter->height + 2 * MARGIN) {
        page.top = fmax(bounds.y - MARGIN, piece.top);
        page.bottom = fmin(bounds.y + bounds.height + MARGIN, piece.bottom);
    }
    cutter->pages[picture->page_count++] = (struct picture_page){
        page.left, page.top, page.right - page.left, page.bottom - page.top};
}

static void cut(struct cutter *cutter, struct piece piece, bool is_down);

/* Turns the piece between two cuts into one page, or cuts it in the other direction. A piece
 * that cannot be cut becomes a page that is larger than the others. */
static void cut_further(struct cutter *cutter, struct piece piece, bool is_down)
{
    struct picture_page bounds = bounds_of(piece.parts, piece.count);

    if ((bounds.width <= cutter->width && bounds.height <= cutter->height) ||
        piece.depth == DEPTH_MAX || piece.count == 1) {
        page_add(cutter, bounds, piece);
        return;
    }
    piece.depth++;
    cut(cutter, piece, !is_down);
}

/* Cuts off the first `count` parts, all of which end before `position`. */
static void cut_off(struct cutter *cutter,
                    struct piece *piece,
                    size_t count,
                    double position,
                    bool is_down)
{
    struct piece before = *piece;

    before.count = count;
    if (is_down) {
        before.bottom = piece->top = position;
    } else {
        before.right = piece->left = position;
    }
    piece->parts += count;
    piece->count -= count;
    cut_further(cutter, before, is_down);
}

/* Cuts the piece across its height (is_down) or its width. Each cut is as late as a page allows. */
static void cut(struct cutter *cutter, struct piece piece, bool is_down)
{
    double length = is_down ? cutter->height : cutter->width;
    struct page_part *last = piece.parts + piece.count;
    struct page_part *gap = piece.parts; /* the last gap at which a page can end */
    double position = 0;                 /* the middle of that gap */
    double end;

    qsort(piece.parts, piece.count, sizeof *piece.parts,
          is_down ? compare_y : compare_x);
    end = end_of(piece.parts, is_down);
    for (struct page_part *part = piece.parts + 1; part < last; part++) {
        double start = start_of(part, is_down);

        if (start >= end) {
            /* If the parts up to here are too long, the page ends at the previous gap. */
            if (gap > piece.parts && end - start_of(piece.parts, is_down) > length) {
                cut_off(cutter, &piece, (size_t)(gap - piece.parts), position, is_down);
            }
            gap = part;
            position = (start + end) / 2;
        }
        end = fmax(end, end_of(part, is_down));
    }
    if (gap > piece.parts && end - start_of(piece.parts, is_down) > length) {
        cut_off(cutter, &piece, (size_t)(gap - piece.parts), position, is_down);
    }
    cut_further(cutter, piece, is_down);
}

/* Finds how much of the picture fits on a page. */
static void page_size(struct cutter *cutter, const struct picture_options *options)
{
    double width = options->page_width / PAGE_SCALE_LEAST;

    if (cutter->picture->width <= options->page_width / PAGE_SCALE_WHOLE) {
        width = fmax(width, cutter->picture->width);
    }
    cutter->width = width - 2 * MARGIN;
    cutter->height = width * options->page_height / options->page_width - 2 * MARGIN;
}

bool pages_cut(struct picture *picture,
               struct page_part *parts,
               size_t part_count,
               const struct picture_options *options)
{
    size_t capacity = part_count > 0 ? part_count : 1;
    struct cutter cutter = {.picture = picture, .page_capacity = capacity};

    cutter.pages = arena_allocate(&picture->arena, capacity, sizeof *cutter.pages);
    if (cutter.pages == NULL) {
        return false;
    }
    picture->pages = cutter.pages;
    picture->page_count = 0;
    page_size(&cutter, options);
    if (!options->has_pages || part_count == 0 || !(cutter.width > 0) ||
        !(cutter.height > 0)) {
        picture->pages[0] =
            (struct picture_page){0, 0, picture->width, picture->height};
        picture->page_count = 1;
        return true;
    }
    cut(&cutter,
        (struct piece){.parts = parts,
                       .count = part_count,
                       .right = picture->width,
                       .bottom = picture->height},
        true);
    return !cutter.has_failed;
}
