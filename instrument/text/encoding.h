/* The encoding of a Python source: found by Python's rules (byte order mark, PEP 263 comment),
 * decoded to UTF-8 for the parser, and encoded again. */
#ifndef MONITORCH_INSTRUMENT_TEXT_ENCODING_H
#define MONITORCH_INSTRUMENT_TEXT_ENCODING_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"

#include <stdbool.h>

struct decoded {
    /* without byte order mark; borrowed from the source if is_utf8, else from the arena */
    struct slice utf8;
    /* as declared, borrowed from the source, or "utf-8" */
    struct slice encoding_name;
    const char *iconv_name; /* of static lifetime */
    bool has_bom;
    bool is_utf8;     /* its bytes are the source's without byte order mark */
    bool is_declared; /* a comment names the encoding */
};

/* Decodes a source. Fails, with `path:line:column: ` before the message, if the bytes are not
 * text in the declared encoding, contain a NUL or would not be encoded to the same bytes again,
 * or if the encoding is not known. */
bool encoding_decode(struct slice source,
                     const char *path,
                     struct arena *arena,
                     struct decoded *decoded,
                     struct error *error);

/* Appends the text in the encoding of `decoded`, after the byte order mark if the source had
 * one. Fails if the encoding lacks a character of the text; `out` is unchanged then. */
bool encoding_encode(const struct decoded *decoded,
                     struct slice utf8,
                     struct buffer *out,
                     struct error *error);

#endif
