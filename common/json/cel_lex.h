/* Tokens of CEL source. */
#pragma once

#include "common/json/cel_internal.h"

enum cel_token {
        CEL_TOKEN_END,
        CEL_TOKEN_IDENTIFIER,  /* text */
        CEL_TOKEN_QUOTED,      /* `text` in backticks: a field name */
        CEL_TOKEN_CONSTANT,    /* constant */
        CEL_TOKEN_INT_MIN,     /* 9223372036854775808: only after a minus */
        CEL_TOKEN_PUNCTUATION, /* text */
};

struct cel_lexer {
        struct arena *arena;
        struct error *err;
        const char *source, *at, *end;
        const char *token_begin;
        enum cel_token token;
        struct slice text;
        struct cel_value constant;
};

int cel_lex_next(struct cel_lexer *lex);
int cel_lex_error(struct cel_lexer *lex, const char *fmt, ...) PRINTF_LIKE(2, 3); /* at the current token */
