/* What a rendering gives its functions: errors, accounts, memory. */
#include "common/template/run.h"

#include <stdarg.h>

#include "common/base/limits.h"
#include "common/template/exec.h"

/* ---- errors ---- */

int call_fail(struct run *run, const char *fmt, ...)
{
        va_list args;
        va_start(args, fmt);
        vsnprintf(run->error.text, sizeof(run->error.text), fmt, args);
        va_end(args);
        return run->error.code = ERR_INVALID;
}

int run_no_memory(struct run *run)
{
        return error_no_memory(&run->error);
}

/* Line from 1, column from 0, in bytes. */
static void place_of(struct slice text, size_t at, unsigned *ret_line, size_t *ret_column)
{
        size_t line_begin = 0;
        *ret_line = 1;
        for (size_t i = 0; i < at && i < text.len; i++)
                if (text.data[i] == '\n') {
                        ++*ret_line;
                        line_begin = i + 1;
                }
        *ret_column = at - line_begin;
}

int run_error(struct run *run, int code, const char *text)
{
        AUTO_BUF struct buf context;
        char why[ERROR_TEXT_MAX]; /* `text` may be run->error's */
        unsigned line;
        size_t column;
        snprintf(why, sizeof(why), "%s", text);
        buf_init(&context, ERROR_TEXT_MAX);
        node_write(run->at, &context);
        if (context.failed == ERR_NO_MEMORY)
                return run_no_memory(run);
        place_of(run->template->text, run->at->at, &line, &column);
        return error_set(&run->error, code, "template: %s:%u:%zu: executing \"%.*s\" at <%s>: %s",
                         run->template->options->name, line, column, (int)run->tree->name.len,
                         run->tree->name.data, context.data, why);
}

static int fail_with(struct run *run, int code, const char *fmt, va_list args)
{
        char text[ERROR_TEXT_MAX];
        vsnprintf(text, sizeof(text), fmt, args);
        return run_error(run, code, text);
}

int run_fail(struct run *run, const char *fmt, ...)
{
        va_list args;
        va_start(args, fmt);
        int code = fail_with(run, ERR_INVALID, fmt, args);
        va_end(args);
        return code;
}

int run_limit(struct run *run, const char *fmt, ...)
{
        va_list args;
        va_start(args, fmt);
        int code = fail_with(run, ERR_LIMIT, fmt, args);
        va_end(args);
        return code;
}

int run_spend(struct run *run, size_t steps)
{
        run->steps += steps;
        if (run->steps <= LIMIT_TEMPLATE_STEPS)
                return 0;
        return run_limit(run, "more than %d steps", LIMIT_TEMPLATE_STEPS);
}

#define BYTES_OF_A_STEP 256

int run_spend_bytes(struct run *run, size_t bytes)
{
        return run_spend(run, bytes / BYTES_OF_A_STEP);
}

static int memory_limit(struct run *run)
{
        return run_limit(run, "values of more than %u bytes", LIMIT_TEMPLATE_MEMORY_BYTES);
}

int run_check_buf(struct run *run, const struct buf *b)
{
        if (b->failed == ERR_LIMIT)
                return memory_limit(run);
        return b->failed ? run_no_memory(run) : 0;
}

/* ---- values ---- */

int run_alloc(struct run *run, size_t n, size_t size, void *ret)
{
        size_t total;
        if (__builtin_mul_overflow(n, size, &total) || total > LIMIT_TEMPLATE_MEMORY_BYTES - run->arena.used)
                return memory_limit(run);
        void *at = arena_calloc(&run->arena, n, size);
        if (!at)
                return run_no_memory(run);
        *(void **)ret = at;
        return 0;
}

int run_copy(struct run *run, struct slice text, struct value *ret)
{
        char *copy;
        TRY(run_spend_bytes(run, text.len));
        TRY(run_alloc(run, text.len, 1, &copy));
        if (text.len)
                memcpy(copy, text.data, text.len);
        *ret = value_string((struct slice){ copy, text.len });
        return 0;
}

struct buf *run_scratch(struct run *run)
{
        buf_clear(&run->scratch);
        return &run->scratch;
}

int run_take_scratch(struct run *run, struct value *ret)
{
        TRY(run_check_buf(run, &run->scratch));
        return run_copy(run, (struct slice){ run->scratch.data, run->scratch.len }, ret);
}

int run_list(struct run *run, enum value_type type, size_t n, struct value *ret)
{
        TRY(run_spend_bytes(run, n * sizeof(struct value)));
        TRY(run_alloc(run, 1, sizeof(struct sequence), &ret->list));
        TRY(run_alloc(run, n, sizeof(struct value), &ret->list->at));
        ret->list->n = n;
        ret->type = (uint8_t)type;
        return 0;
}

int run_dict(struct run *run, enum value_type type, struct value *ret)
{
        TRY(run_alloc(run, 1, sizeof(struct dict), &ret->map));
        ret->type = (uint8_t)type;
        return 0;
}
