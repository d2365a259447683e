/* The tokens of a template: text between actions, and what stands in them. Private to common/template. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

enum token_type {
        TOKEN_ERROR, /* text: what is wrong */
        TOKEN_EOF,
        TOKEN_TEXT,
        TOKEN_LEFT,
        TOKEN_RIGHT,
        TOKEN_SPACE,
        TOKEN_PIPE,
        TOKEN_ASSIGN,
        TOKEN_DECLARE,
        TOKEN_OPEN,
        TOKEN_CLOSE,
        TOKEN_CHAR, /* a printable character without a meaning of its own */
        TOKEN_BOOL,
        TOKEN_CHAR_CONSTANT,
        TOKEN_NUMBER,
        TOKEN_STRING,
        TOKEN_RAW_STRING,
        TOKEN_FIELD,      /* .name */
        TOKEN_VARIABLE,   /* $name */
        TOKEN_IDENTIFIER, /* name */
        /* Keywords. */
        TOKEN_DOT,
        TOKEN_NIL,
        TOKEN_BLOCK,
        TOKEN_BREAK,
        TOKEN_CONTINUE,
        TOKEN_DEFINE,
        TOKEN_ELSE,
        TOKEN_END,
        TOKEN_IF,
        TOKEN_RANGE,
        TOKEN_TEMPLATE,
        TOKEN_WITH,
};

struct token {
        enum token_type type;
        uint32_t at;   /* byte offset in the whole text */
        uint32_t line; /* where it begins, from 1 */
        struct slice text;
};

struct lexer {
        struct slice input, left, right;
        size_t start, at; /* of the token being read; where reading stands */
        uint32_t start_line, line;
        int parens;
        bool inside; /* an action */
        bool failed; /* after an error there is only EOF */
        char complaint[160];
};

void lexer_init(struct lexer *l, struct slice text, struct slice left, struct slice right);
/* The next token. The text of an error lives in the lexer. */
struct token lexer_next(struct lexer *l);
