#include "e2e/devcluster/openapi.h"

/* A value needs a comma unless it is the first of its container or stands behind its key: the last byte
 * tells, since texts end with a quote. Failures stick to the buffer. */
static void separate(struct buf *b)
{
        char last = b->len ? b->data[b->len - 1] : '{';
        if (last != '{' && last != '[' && last != ':')
                (void)buf_append_char(b, ',');
}

void out_open(struct buf *b, char bracket)
{
        separate(b);
        (void)buf_append_char(b, bracket);
}

void out_close(struct buf *b, char bracket)
{
        (void)buf_append_char(b, bracket);
}

void out_string(struct buf *b, const char *value)
{
        separate(b);
        (void)buf_append_json_string(b, value, strlen(value));
}

void out_key(struct buf *b, const char *key)
{
        out_string(b, key);
        (void)buf_append_char(b, ':');
}

void out_value(struct buf *b, const json_t *value)
{
        separate(b);
        (void)doc_write(value, b);
}

void out_member(struct buf *b, const char *key, const char *value)
{
        if (!value)
                return;
        out_key(b, key);
        out_string(b, value);
}

void out_member_true(struct buf *b, const char *key)
{
        out_key(b, key);
        (void)buf_append_str(b, "true");
}

void out_member_strings(struct buf *b, const char *key, const char *const *list, size_t n)
{
        if (!n)
                return;
        out_key(b, key);
        out_open(b, '[');
        for (size_t i = 0; i < n; i++)
                out_string(b, list[i]);
        out_close(b, ']');
}
