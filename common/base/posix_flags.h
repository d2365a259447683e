/* Flags as kubectl reads them: "--name value", "--name=value", "-n value", "-nvalue", "-n=value", booleans
 * together as in "-Aw", words among them, and behind "--" words alone. Tables and values are those of
 * flags.h; the texts of errors are the ones that kubectl and its plugins give. */
#pragma once

#include "common/base/flags.h"

struct flag_table {
        const struct flag *flags;
        size_t n;
};

#define POSIX_WORDS_MAX 256

struct posix_line {
        const char *words[POSIX_WORDS_MAX]; /* what is no flag and no flag's value, borrowed */
        size_t n_words;
        const struct flag *given[POSIX_WORDS_MAX];
        size_t n_given;
        bool words_only; /* "--" was among them */
        /* The last word was a flag that still wants its value: set instead of an error where *open was asked
         * for (posix_flags_parse_open), for completion. */
        const struct flag *open;
};

/* All flags of the tables get their fallback values, then what argv[0..argc) says. ERR_INVALID. */
int posix_flags_parse(const struct flag_table *tables, size_t n, int argc, const char *const *argv,
                      void *options, struct posix_line *ret, struct error *err);
/* The same for a line that is still being written: a value that is missing at its end is no error. */
int posix_flags_parse_open(const struct flag_table *tables, size_t n, int argc, const char *const *argv,
                           void *options, struct posix_line *ret, struct error *err);
bool posix_flag_given(const struct posix_line *l, const char *name);

/* Which flag a word like "--name", "--name=x" or "-nx" begins with; NULL if none. *ret_wants: its value is
 * the next word. */
const struct flag *posix_flag_of_word(const struct flag_table *tables, size_t n, const char *word,
                                      bool *ret_wants);

/* Help, sorted by name, one line per flag: "  -n, --namespace string   Sentence. (default "x")". */
int posix_flags_help(const struct flag_table *table, struct buf *b);
