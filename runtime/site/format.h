/* The text form of a site table, for its writer and its reader.
 *
 *   table     = "monitorch2 " hash " " prefix " " path " " options " " count "," count " "
 *               function* site* "."
 *   hash      = 32 hex digits, the high half first, as xxhsum prints it
 *   function  = line "," shared "," rest " "      its name: `shared` bytes of the name before
 *                                                 it, then `rest`
 *   site      = letter [line] [":" column] ["/" function] ["." ordinal] ["!" arm] ["*"]
 *               ["?" 8 hex digits] write* read* ["~" value] " "
 *   write     = "=" ["+" | "-"] name              plain: a value; +: a peek; -: the name alone
 *   read      = ("," | ";" | "(") source          local, free, global
 *   source    = name ["-" back | "+" ahead]
 *             | "-" back ["." write]              the name that the site wrote: its first
 *                                                 one, or that with this number, from 0
 *   name      = text | number | "!"               number: of an earlier text; !: empty
 *
 *   value     = term ("@" number step* ["!"])*   the parts of the value that writes get, by
 *                                                 number; !: put into the written object
 *   step      = "." number | "-" number | "*"     an item, one from the end, the rest
 *   term      = "r" number                        the value of that read
 *             | "k"                               a value that depends on no read
 *             | "f" term                          only its shape, dtype, device or length
 *             | "i" number term | "j" number term an item; one from the end, 1 is the last
 *             | "t" key term | "n" number term    an item by its text; by that read's value
 *             | "s" term term                     items of the second, chosen by the first
 *             | "a" key term                      an attribute
 *             | "e" term                          any item of it
 *             | "g" term | "h" term               a list of such values, in order; in any order
 *             | "w" number term                   the item at the same place as the current item
 *                                                 has in its list, `number` lists further out
 *             | "u" term* "." | "p" term* "."     computed from all; by a binary operator
 *             | "o" term term* "."                one of the others, chosen by the first
 *             | "l" (term | "x" term)* "."        a list; x: all items of the term
 *             | "d" ("=" key term | "?" term | "x" term)* "."
 *             | "c" key term argument* "."        a call: name, the callee or k
 *             | "m" key term argument* "."        a call of a method: name, object
 *   argument  = term | "=" key term | "x" term | "y" term
 *   key       = letters, digits, _, %XX, then ";"
 *
 * A function's and a site's `line` is the distance from the line of the previous one. A site omits
 * it if it is 0; it omits `column` and `function` if they are those of the previous site, and
 * `ordinal` and `arm` if they are 0. `back` and `ahead` count sites. Names keep their letters, also
 * those outside ASCII. All other bytes that could break a string literal or look like a separator
 * are written as %XX, and so is a first digit.
 * Each text of NUMBERED_SIZE_MIN to NUMBERED_SIZE_MAX bytes in a site gets the next number,
 * counted from 0. */
#ifndef MONITORCH_SITE_FORMAT_H
#define MONITORCH_SITE_FORMAT_H

#include <stdbool.h>
#include <string.h>

#define TABLE_MAGIC   "monitorch"
#define TABLE_VERSION "2"
/* The earlier version, whose tables have no terms. */
#define TABLE_VERSION_BEFORE "1"

/* The largest number of bytes that a function's name can share with the name before, and the
 * limits of names that can be written as a number. They keep a small text from describing a huge
 * table. */
#define SHARED_LIMIT      99
#define NUMBERED_SIZE_MAX 99
#define NUMBERED_SIZE_MIN 2

/* Letters in the order of enum site_kind, and marks in the order of enum site_scope. */
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

/* Whether names hold the ASCII byte unescaped. */
static inline bool is_name_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) || byte == '_' || byte == '.' || byte == '<' ||
           byte == '>';
}

/* Whether paths and options hold the byte unescaped. Only ASCII is allowed, because the encoding
 * of the file that will hold the table may lack other characters. */
static inline bool is_word_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) ||
           (byte != '\0' && strchr("_./-+=,:*<>", byte) != NULL);
}

/* Whether terms hold the byte. */
static inline bool is_term_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) ||
           (byte != '\0' && strchr("_%;=?@.-*!", byte) != NULL);
}

static inline bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

#endif
