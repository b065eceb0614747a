/* The encoding of a Python source: found as Python finds it (byte order mark, PEP 263 comment),
 * the text turned into UTF-8 for the parser, and turned back. */
#ifndef MONITORCH_INSTRUMENT_TEXT_ENCODING_H
#define MONITORCH_INSTRUMENT_TEXT_ENCODING_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

struct decoded {
    struct slice utf8; /* without byte order mark; borrowed from the source where
                                   is_utf8, else from the arena */
    /* As it is declared, borrowed from the source, or "utf-8". */
    struct slice encoding_name;
    const char *iconv_name; /* of static lifetime */
    bool has_bom;
    bool is_utf8;     /* the text's bytes are the source's, less the byte order mark */
    bool is_declared; /* a comment names the encoding */
};

/* Fails, with `path:line:column: ` before the message, where the bytes are not text in the
 * encoding they declare, where a NUL is among them, where the encoding is not known, or where
 * the text would not turn back into the very same bytes. */
bool encoding_decode(struct slice source,
                     const char *path,
                     struct arena *arena,
                     struct decoded *decoded,
                     struct error *error);

/* Appends the text in the encoding of `decoded`, after the byte order mark if it had one.
 * Fails where the text holds a character that the encoding lacks; `out` then holds what it
 * held before. */
bool encoding_encode(const struct decoded *decoded,
                     struct slice utf8,
                     struct buffer *out,
                     struct error *error);

#endif
