#include "hub-agent/source/chart/tar.h"

#include <stdio.h>

#define BLOCK 512
#define SIZE_MAX_BYTES (UINT64_C(1) << 33) /* eleven octal digits */

/* POSIX.1-1988 and on. */
struct header {
        char name[100], mode[8], uid[8], gid[8], size[12], modified[12], sum[8], type, link[100], magic[6],
                version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static void put_octal(char *field, size_t size, uint64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%0*llo", (int)size - 1, (unsigned long long)value);
        memcpy(field, text, size);
}

static void seal(struct header *h)
{
        const unsigned char *bytes = (const unsigned char *)h;
        unsigned sum = 0;
        char text[8];

        memset(h->sum, ' ', sizeof(h->sum));
        for (size_t i = 0; i < BLOCK; i++)
                sum += bytes[i];
        (void)snprintf(text, sizeof(text), "%06o", sum & 0777777);
        memcpy(h->sum, text, 7);
        h->sum[7] = ' ';
}

/* As one field, or cut at a slash into two: false if it has no room. */
static bool put_name(struct header *h, const char *name, size_t n)
{
        if (n <= sizeof(h->name)) {
                memcpy(h->name, name, n);
                return true;
        }
        for (size_t at = MIN(n - 1, sizeof(h->prefix)); at > 0; at--)
                if (name[at] == '/' && n - at - 1 <= sizeof(h->name)) {
                        memcpy(h->prefix, name, at);
                        memcpy(h->name, name + at + 1, n - at - 1);
                        return at + 1 < n;
                }
        return false;
}

static int append_block(struct buf *b, const struct header *h)
{
        return buf_append(b, h, sizeof(*h));
}

size_t tar_padding(uint64_t size)
{
        return (BLOCK - size % BLOCK) % BLOCK;
}

static int append_padded(struct buf *b, struct slice data)
{
        static const char zeros[BLOCK];

        TRY(buf_append(b, data.data, data.len));
        return buf_append(b, zeros, tar_padding(data.len));
}

static void begin(struct header *h, const struct tar_entry *e, char type, uint64_t size)
{
        *h = (struct header){ .type = type, .magic = "ustar", .version = { '0', '0' } };
        put_octal(h->mode, sizeof(h->mode), e->mode & 07777);
        put_octal(h->uid, sizeof(h->uid), 0);
        put_octal(h->gid, sizeof(h->gid), 0);
        put_octal(h->size, sizeof(h->size), size);
        put_octal(h->modified, sizeof(h->modified),
                  (uint64_t)MIN(MAX(e->modified_s, 0), INT64_C(077777777777)));
}

/* "30 path=a/b\n": the number counts itself. */
static int append_pax(struct buf *b, const struct tar_entry *e, const char *name)
{
        AUTO_BUF struct buf record;
        size_t rest = strlen(" path=\n") + strlen(name), n = rest + 1;
        char digits[24];
        struct header h;

        buf_init(&record, BLOCK + 2 * strlen(name) + 64);
        while (n != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", n))
                n = rest + strlen(digits);
        TRY(buf_printf(&record, "%zu path=%s\n", n, name));
        begin(&h, e, 'x', record.len);
        memcpy(h.name, "pax_header", strlen("pax_header"));
        seal(&h);
        TRY(append_block(b, &h));
        return append_padded(b, (struct slice){ record.data, record.len });
}

static int append_header(struct buf *b, const struct tar_entry *e, const char *name, uint64_t size)
{
        size_t n = strlen(name);
        struct header h;

        begin(&h, e, e->is_folder ? '5' : '0', e->is_folder ? 0 : size);
        if (!put_name(&h, name, n)) {
                TRY(append_pax(b, e, name));
                memcpy(h.name, name, MIN(n, sizeof(h.name)));
        }
        seal(&h);
        return append_block(b, &h);
}

int tar_begin_file(struct buf *b, const struct tar_entry *e, uint64_t size, struct error *err)
{
        AUTO_BUF struct buf name;

        buf_init(&name, 1u << 20);
        if (!*e->name)
                return error_set(err, ERR_INVALID, "a file of an archive has no name");
        if (size >= SIZE_MAX_BYTES)
                return error_set(err, ERR_LIMIT, "%s: larger than a file of an archive may be", e->name);
        (void)buf_printf(&name, "%s%s", e->name, e->is_folder ? "/" : "");
        TRY(buf_status(&name, err, e->name));
        (void)append_header(b, e, name.data, size);
        return buf_status(b, err, "an archive");
}

int tar_append(struct buf *b, const struct tar_entry *e, struct error *err)
{
        TRY(tar_begin_file(b, e, e->data.len, err));
        if (!e->is_folder)
                (void)append_padded(b, e->data);
        return buf_status(b, err, "an archive");
}

int tar_end(struct buf *b, struct error *err)
{
        static const char zeros[2 * BLOCK];

        (void)buf_append(b, zeros, sizeof(zeros));
        return buf_status(b, err, "an archive");
}
