/* Edits: the lines of two programs whose texts differ. Only the texts are compared.
 *
 *     if (diff_edits_find(&edits, readers, sources, align)) {
 *         … diff_edits_has(&edits, 1, module, line) …
 *     }
 *     diff_edits_release(&edits);
 *
 * A line is edited if the other program's file does not have it at that place of the sequence of
 * lines; blanks around it do not count. Comments, empty lines and texts in triple quotes are never
 * edited. */
#ifndef MONITORCH_VIEW_DIFF_JUDGE_EDITS_H
#define MONITORCH_VIEW_DIFF_JUDGE_EDITS_H

#include "runtime/trace/reader.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/walk/source_lines.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines of one module. `partner` is the module of the other side, or UINT32_MAX. */
struct diff_edited_module {
    uint32_t partner;
    uint32_t line_count;
    uint32_t *counterparts; /* owned: by line - 1: the other side's line; 0: edited */
    uint8_t *is_code;       /* owned: by line - 1 */
};

struct diff_edits {
    struct diff_edited_module *modules[2]; /* owned */
    uint32_t module_counts[2];
    uint8_t *sites[2]; /* owned: by the trace's site number: statement is edited */
    uint32_t site_counts[2];
    uint32_t count; /* edited lines of code of both sides */
};

/* Returns false if memory ran out. To be released in either case. */
bool diff_edits_find(struct diff_edits *edits,
                     struct log_reader *const readers[2],
                     struct source_lines *const sources[2],
                     const struct diff_align *align);
void diff_edits_release(struct diff_edits *edits);

/* Whether the line is edited code. */
bool diff_edits_has_line(const struct diff_edits *edits,
                         unsigned side,
                         uint32_t module,
                         uint32_t line);

/* Whether a line of the statement at that line is edited. A statement is all lines until its
 * brackets are closed. */
bool diff_edits_has(const struct diff_edits *edits,
                    struct source_lines *sources,
                    unsigned side,
                    uint32_t module,
                    uint32_t line);

/* Whether a line of the site's statement is edited. */
bool diff_edits_has_site(const struct diff_edits *edits, unsigned side, uint32_t site);

#endif
