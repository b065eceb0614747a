/* Names of the one program as the other one writes them. */
#include "runtime/view/diff/sites/names.h"

#include "runtime/base/hash/hash.h"

void diff_names_init(struct diff_names *names,
                     const struct diff_rename *renames,
                     size_t count)
{
    *names = (struct diff_names){renames, count, BUFFER_INIT};
}

void diff_names_release(struct diff_names *names)
{
    buffer_release(&names->text);
}

/* Whether whole dotted parts of `name` from `start` on are `part`. */
static bool stands_at(struct slice name, size_t start, struct slice part)
{
    size_t end = start + part.size;

    return part.size > 0 && end <= name.size &&
           (start == 0 || name.bytes[start - 1] == '.') &&
           (end == name.size || name.bytes[end] == '.') &&
           slice_equal(slice_part(name, start, end), part);
}

static const struct diff_rename *
find_rename(const struct diff_names *names, struct slice name, size_t start)
{
    for (size_t i = 0; i < names->count; i++) {
        if (stands_at(name, start, names->renames[i].old_name)) {
            return &names->renames[i];
        }
    }
    return NULL;
}

/* A name of A in terms of B: dotted parts that are renamed are replaced, wherever they stand
 * (`self.scale` by `scale=factor`). Valid until the next one is asked for. */
static struct slice translate(struct diff_names *names, struct slice name)
{
    size_t start = 0;

    if (names->count == 0) {
        return name;
    }
    names->text.size = 0;
    while (start < name.size) {
        const struct diff_rename *rename = find_rename(names, name, start);

        if (rename != NULL) {
            buffer_add(&names->text, rename->new_name);
            start += rename->old_name.size;
        }
        while (start < name.size && name.bytes[start] != '.') {
            buffer_add_byte(&names->text, name.bytes[start++]);
        }
        if (start < name.size) {
            buffer_add_byte(&names->text, name.bytes[start++]);
        }
    }
    return buffer_slice(&names->text);
}

uint64_t diff_names_hash(struct diff_names *names, unsigned side, struct slice name)
{
    return hash_64(side == 0 ? translate(names, name) : name);
}

static bool ends_with_path(struct slice path, struct slice end)
{
    return end.size > 0 && slice_ends(path, end) &&
           (path.size == end.size || path.bytes[path.size - end.size - 1] == '/');
}

bool diff_names_map_file(const struct diff_names *names, struct slice a, struct slice b)
{
    for (size_t i = 0; i < names->count; i++) {
        if (ends_with_path(a, names->renames[i].old_name) &&
            ends_with_path(b, names->renames[i].new_name)) {
            return true;
        }
    }
    return false;
}
