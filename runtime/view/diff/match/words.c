/* The words of a statement: its operations and numbers. */
#include "runtime/view/diff/match/words.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum word {
    WORD_PRODUCT_SIGN, /* `*` */
    WORD_DIVISION,
    WORD_PLUS,
    WORD_MINUS,
    WORD_REMAINDER,
    WORD_POWER,
    WORD_NOT,
    WORD_COMPARED,
    WORD_OPERATORS,
};

/* Operations: the number of a WORD of words.def is that of the first name with that word. */
static const struct operation {
    const char *word, *name;
} operations[] = {
#define OPERATION(word, name) {#word, name},
#define COVERS(word, name)
#include "runtime/view/diff/match/words.def"
#undef OPERATION
#undef COVERS
};
/* The default number of an operation, for statements that give none. */
static const struct {
    const char *name;
    double number;
} defaults[] = {{"layer_norm", 1e-5}};
static const struct operation covered[] = {
#define OPERATION(word, name)
#define COVERS(word, name) {#word, name},
#include "runtime/view/diff/match/words.def"
#undef OPERATION
#undef COVERS
};
#define OPERATION_COUNT (sizeof operations / sizeof *operations)
_Static_assert(OPERATION_COUNT + WORD_OPERATORS <= 128, "a bit for each");

static void set(struct match_words *words, unsigned bit)
{
    words->operations[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* The bit of the operation's first name, which follows those of the operators. 0: no operation. */
static unsigned find_bit(struct slice name)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        if (slice_equal(name, slice_of(operations[i].name))) {
            while (i > 0 && strcmp(operations[i - 1].word, operations[i].word) == 0) {
                i--;
            }
            return WORD_OPERATORS + (unsigned)i;
        }
    }
    return 0;
}

static void set_name(struct match_words *words, struct slice name)
{
    unsigned bit = find_bit(name);

    if (bit != 0) {
        set(words, bit);
    }
}

void match_words_add_number(struct match_words *words, double number)
{
    if (words->number_count < MATCH_NUMBERS_MAX &&
        !match_words_has_number(words, number)) {
        words->numbers[words->number_count++] = number;
    }
}

bool match_words_implies(const struct match_words *words, double number)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        unsigned bit = find_bit(slice_of(defaults[i].name));

        if (defaults[i].number == number &&
            (words->operations[bit / 64] >> (bit % 64) & 1) != 0) {
            return true;
        }
    }
    return match_words_has_number(words, number);
}

bool match_words_has_number(const struct match_words *words, double number)
{
    for (size_t i = 0; i < words->number_count; i++) {
        if (fabs(words->numbers[i] - number) <= 1e-9 * fabs(number)) {
            return true;
        }
    }
    return false;
}

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* ---- the lexer, which skips strings and comments ---- */

struct lexer {
    struct slice text;
    size_t at;
    bool is_operand; /* the last word was a value: a minus after it is a difference */
};

static char byte_at(const struct lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->text.size ? lexer->text.bytes[lexer->at + ahead]
                                                : '\0';
}

static void skip_string(struct lexer *lexer)
{
    char quote = byte_at(lexer, 0);

    lexer->at++;
    while (byte_at(lexer, 0) != quote && lexer->at < lexer->text.size) {
        lexer->at += byte_at(lexer, 0) == '\\' ? 2 : 1;
    }
    lexer->at++;
    lexer->is_operand = true;
}

static void read_name(struct lexer *lexer, struct match_words *words)
{
    size_t start = lexer->at;
    struct slice name;

    while (is_name_byte(byte_at(lexer, 0))) {
        lexer->at++;
    }
    name = slice_part(lexer->text, start, lexer->at);
    if (byte_at(lexer, 0) == '(' || byte_at(lexer, 0) == '=') {
        set_name(words, name);
    }
    if (slice_equal(name, SLICE("not"))) {
        set(words, WORD_NOT);
    }
    lexer->is_operand = !slice_equal(name, SLICE("return")) &&
                        !slice_equal(name, SLICE("in")) &&
                        !slice_equal(name, SLICE("not"));
}

static void read_number(struct lexer *lexer, struct match_words *words)
{
    char digits[64];
    size_t size = 0;

    while (size + 1 < sizeof digits &&
           (is_name_byte(byte_at(lexer, 0)) || byte_at(lexer, 0) == '.' ||
            ((byte_at(lexer, 0) == '-' || byte_at(lexer, 0) == '+') && size > 0 &&
             (digits[size - 1] == 'e' || digits[size - 1] == 'E')))) {
        if (byte_at(lexer, 0) != '_') {
            digits[size++] = byte_at(lexer, 0);
        }
        lexer->at++;
    }
    digits[size] = '\0';
    match_words_add_number(words, strtod(digits, NULL));
    lexer->is_operand = true;
}

static void read_power(struct lexer *lexer, struct match_words *words)
{
    static const struct {
        const char *text, *name;
    } powers[] = {{"-0.5", "sqrt"}, {"0.5", "sqrt"}, {"2", "square"}};
    struct slice rest;

    lexer->at += 2;
    while (byte_at(lexer, 0) == ' ' || byte_at(lexer, 0) == '(') {
        lexer->at++;
    }
    rest = slice_part(lexer->text, lexer->at, lexer->text.size);
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        if (slice_starts(rest, slice_of(powers[i].text))) {
            lexer->at += strlen(powers[i].text);
            set_name(words, slice_of(powers[i].name));
            lexer->is_operand = true;
            return;
        }
    }
    set(words, WORD_POWER);
    lexer->is_operand = false;
}

static void read_sign(struct lexer *lexer, struct match_words *words)
{
    char byte = byte_at(lexer, 0);
    bool is_compared = (byte == '=' || byte == '!' || byte == '<' || byte == '>') &&
                       (byte_at(lexer, 1) == '=' || byte == '<' || byte == '>');

    if (byte == '*' && byte_at(lexer, 1) == '*' && lexer->is_operand) {
        read_power(lexer, words);
        return;
    }
    if (is_compared) {
        set(words, WORD_COMPARED);
        lexer->at++;
    } else if (byte == '@') {
        set_name(words, SLICE("matmul"));
    } else if (byte == '*' && lexer->is_operand) {
        set(words, WORD_PRODUCT_SIGN);
    } else if (byte == '/') {
        set(words, WORD_DIVISION);
    } else if (byte == '%') {
        set(words, WORD_REMAINDER);
    } else if (byte == '+' && lexer->is_operand) {
        set(words, WORD_PLUS);
    } else if (byte == '-') {
        set(words, WORD_MINUS);
    } else if (byte == '~') {
        set(words, WORD_NOT);
    }
    lexer->is_operand = byte == ')' || byte == ']' || byte == '}';
    lexer->at++;
}

void match_words_add(struct match_words *words, struct slice statement)
{
    struct lexer lexer = {.text = statement};

    while (lexer.at < statement.size) {
        char byte = byte_at(&lexer, 0);

        if (byte == '#') {
            return;
        }
        if (byte == '"' || byte == '\'') {
            skip_string(&lexer);
        } else if (isdigit((unsigned char)byte) ||
                   (byte == '.' && isdigit((unsigned char)byte_at(&lexer, 1)))) {
            read_number(&lexer, words);
        } else if (is_name_byte(byte)) {
            read_name(&lexer, words);
        } else if (byte == ' ' || byte == '\t') {
            lexer.at++;
        } else if (byte == '.') {
            lexer.at++;
        } else {
            read_sign(&lexer, words);
        }
    }
}

/* ---- sets ---- */

/* The words with the operations that they cover. */
static struct match_words widen(const struct match_words *words)
{
    struct match_words wide = *words;

    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        for (size_t k = 0; k < OPERATION_COUNT; k++) {
            if (strcmp(operations[k].word, covered[i].word) == 0) {
                unsigned bit = find_bit(slice_of(operations[k].name));

                if ((words->operations[bit / 64] >> (bit % 64) & 1) != 0) {
                    set_name(&wide, slice_of(covered[i].name));
                }
                break;
            }
        }
    }
    return wide;
}

unsigned match_words_count_foreign(const struct match_words *words,
                                   const struct match_words *others)
{
    struct match_words wide = widen(others);
    uint64_t named = ~((UINT64_C(1) << WORD_OPERATORS) - 1);

    return (unsigned)(__builtin_popcountll(words->operations[0] & ~wide.operations[0] &
                                           named) +
                      __builtin_popcountll(words->operations[1] & ~wide.operations[1]));
}

unsigned match_words_count_common(const struct match_words *words,
                                  const struct match_words *others)
{
    return (
        unsigned)(__builtin_popcountll(words->operations[0] & others->operations[0]) +
                  __builtin_popcountll(words->operations[1] & others->operations[1]));
}

double match_words_foreign_number(const struct match_words *words,
                                  const struct match_words *others)
{
    for (size_t i = 0; i < words->number_count; i++) {
        double number = words->numbers[i];

        if (number != 0 && number != 1 && number != 2 && number != -1 &&
            !match_words_has_number(others, number)) {
            return number;
        }
    }
    return NAN;
}
