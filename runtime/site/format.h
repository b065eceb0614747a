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
 *   name      = text | number | "!"               number: an earlier text; !: empty
 *
 *   value     = term ("@" number step* ["!"])*   the writes, by number, that are a part of it;
 *                                                 !: the value was put into what was written
 *   step      = "." number | "-" number | "*"     an item, one from the end, the rest
 *   term      = "r" number                        the value of that read
 *             | "k"                               something that is made of no read
 *             | "f" term                          the shape, dtype, device, length of it alone
 *             | "i" number term | "j" number term an item; one from the end, 1 is the last
 *             | "t" key term | "n" number term    an item by its text; by that read's value
 *             | "s" term term                     items of the second that the first chooses
 *             | "a" key term                      an attribute
 *             | "e" term                          any item of it
 *             | "g" term | "h" term               a list of such, in order; in any order
 *             | "w" number term                   the item at the place that the item being made
 *                                                 has in its list, so many lists out
 *             | "u" term* "." | "p" term* "."     made of all; by an operator of two
 *             | "o" term term* "."                one of the others, as the first says
 *             | "l" (term | "x" term)* "."        a list; x: the items of it
 *             | "d" ("=" key term | "?" term | "x" term)* "."
 *             | "c" key term argument* "."        a call: name, what is called or k
 *             | "m" key term argument* "."        the same, of a method: name, object
 *   argument  = term | "=" key term | "x" term | "y" term
 *   key       = letters, digits, _, %XX, then ";"
 *
 * A function's and a site's `line` is the distance from the line of the one before it, and is
 * left out of a site where it is 0; `column` and `function` are left out where they are those
 * of the site before; `ordinal` and `arm` where they are 0. `back` and `ahead` count sites.
 * Texts of names keep their letters, also those outside ASCII; every other byte that could
 * trouble a string literal or a separator is written %XX, and so is a first digit.
 * Each text of NUMBERED_SIZE_MIN to NUMBERED_SIZE_MAX bytes in a site gets the next number,
 * counted from 0. */
#ifndef MONITORCH_SITE_FORMAT_H
#define MONITORCH_SITE_FORMAT_H

#include <stdbool.h>
#include <string.h>

#define TABLE_MAGIC   "monitorch"
#define TABLE_VERSION "2"
/* Its tables have no terms. */
#define TABLE_VERSION_BEFORE "1"

/* The longest run of bytes that a function's name shares with the one before, and the longest name
 * that can be written as its number: a small text must not describe very much. */
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

/* What terms hold. */
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
