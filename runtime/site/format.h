/* The text form of a site table, for its writer and its reader.
 *
 *   table     = "monitorch1 " hash " " prefix " " path " " options " " count "," count " "
 *               function* site* "."
 *   hash      = 32 hex digits, the high half first, as xxhsum prints it
 *   function  = line "," shared "," rest " "      its name: `shared` bytes of the name before
 *                                                 it, then `rest`
 *   site      = letter [line] [":" column] ["/" function] ["." ordinal] ["!" arm] ["*"]
 *               ["?" 8 hex digits] write* read* " "
 *   write     = "=" ["+" | "-"] name              plain: a value; +: a peek; -: the name alone
 *   read      = ("," | ";" | "(") source          local, free, global
 *   source    = name ["-" back | "+" ahead]
 *             | "-" back ["." write]              the name that the site wrote: its first
 *                                                 one, or that with this number, from 0
 *   name      = text | number | "!"               number: a text that stood before; !: empty
 *
 * A function's and a site's `line` is the distance from the line of the one before it, and is
 * left out of a site where it is 0; `column` and `function` are left out where they are those
 * of the site before; `ordinal` and `arm` where they are 0. `back` and `ahead` count sites.
 * Texts of names keep their letters, also those outside ASCII; every other byte that could
 * trouble a string literal or a separator is written %XX, and so is a digit that comes first.
 * Each text of NUMBERED_SIZE_MIN to NUMBERED_SIZE_MAX bytes in a site takes the next number,
 * counted from 0. */
#ifndef MONITORCH_SITE_FORMAT_H
#define MONITORCH_SITE_FORMAT_H

#include <stdbool.h>
#include <string.h>

#define TABLE_MAGIC   "monitorch"
#define TABLE_VERSION "1"

/* The longest run of bytes that a function's name takes from the one before, and the longest
 * name that can be told by its number: a small text must not describe very much. */
#define SHARED_LIMIT      99
#define NUMBERED_SIZE_MAX 99
#define NUMBERED_SIZE_MIN 2

/* In the order of enum site_kind, and of enum site_scope. */
static const char site_letters[] = {
#define SITE_KIND(name, letter, text) letter,
#include "runtime/site/kinds.def"
#undef SITE_KIND
};
static const char scope_marks[] = ",;(";

static inline bool is_letter_or_digit(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* What a name holds as it is, in ASCII. */
static inline bool is_name_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) || byte == '_' || byte == '.' || byte == '<' ||
           byte == '>';
}

/* What a path or an option holds as it is. Nothing outside ASCII: the encoding of the file
 * that will hold the table need not know those characters. */
static inline bool is_word_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) ||
           (byte != '\0' && strchr("_./-+=,:*<>", byte) != NULL);
}

static inline bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

#endif
