#include "hub-agent/git/pack_scan.h"

#include "common/base/memory.h"

enum { BLOB = 3, OF_OFFSET = 6, OF_REFERENCE = 7 };

static void *z_alloc(void *ctx, unsigned n, unsigned size)
{
        return mem_calloc(n, size);
}

static void z_free(void *ctx, void *p)
{
        mem_free(p);
}

void pack_scan_begin(struct pack_scan *s, const struct pack_limits *limits)
{
        *s = (struct pack_scan){ .limits = limits, .z = { .zalloc = z_alloc, .zfree = z_free } };
}

void pack_scan_free(struct pack_scan *s)
{
        if (s->inflating)
                inflateEnd(&s->z);
        s->inflating = false;
}

static int no_pack(struct error *err)
{
        return error_set(err, ERR_INVALID, "the pack of objects is broken");
}

/* ---- limits ---- */

static int check_size(struct pack_scan *s, uint64_t size, struct error *err)
{
        if (size > s->limits->object_bytes)
                return error_set(err, ERR_LIMIT, "an object of the repository has %llu bytes: more than %llu",
                                 (unsigned long long)size, (unsigned long long)s->limits->object_bytes);
        s->all += size;
        if (s->all > s->limits->all_bytes)
                return error_set(err, ERR_LIMIT, "the objects of the repository exceed %llu bytes",
                                 (unsigned long long)s->limits->all_bytes);
        return 0;
}

static int check_whole(const struct pack_scan *s, uint64_t size, struct error *err)
{
        if (size <= s->limits->whole_bytes)
                return 0;
        return error_set(err, ERR_LIMIT,
                         "an object of the repository that is %s has %llu bytes: more than %llu",
                         s->delta ? "sent as a difference" : "no file", (unsigned long long)size,
                         (unsigned long long)s->limits->whole_bytes);
}

/* ---- steps: each takes what it can of *data ---- */

/* True when n bytes are together in s->head. */
static bool gather(struct pack_scan *s, const unsigned char **data, size_t *left, size_t n)
{
        size_t take = MIN(n - s->n_head, *left);

        memcpy(s->head + s->n_head, *data, take);
        s->n_head += take;
        *data += take;
        *left -= take;
        if (s->n_head < n)
                return false;
        s->n_head = 0;
        return true;
}

static uint32_t number_at(const unsigned char *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void next_object(struct pack_scan *s)
{
        s->step = s->left > 0 ? PACK_OBJECT : PACK_TRAILER;
        s->size = s->inflated = s->shift = 0;
        s->n_sizes = 0;
}

static int take_head(struct pack_scan *s, struct error *err)
{
        uint32_t version = number_at(s->head + 4);

        if (memcmp(s->head, "PACK", 4) != 0 || (version != 2 && version != 3))
                return no_pack(err);
        s->objects = s->left = number_at(s->head + 8);
        if (s->objects > s->limits->objects)
                return error_set(err, ERR_LIMIT, "the repository sends %llu objects: more than %llu",
                                 (unsigned long long)s->objects, (unsigned long long)s->limits->objects);
        next_object(s);
        return 0;
}

static int begin_data(struct pack_scan *s, struct error *err)
{
        int code = s->inflating ? inflateReset(&s->z) : inflateInit(&s->z);

        if (code != Z_OK)
                return error_no_memory(err);
        s->inflating = true;
        s->step = PACK_DATA;
        return 0;
}

/* Type and size: four bits of it in the first byte, seven in each further one. */
static int take_object_byte(struct pack_scan *s, unsigned char c, struct error *err)
{
        unsigned bits = s->shift == 0 ? c & 15 : c & 127;

        if (s->shift == 0) {
                unsigned type = c >> 4 & 7;

                if (type == 0 || type == 5)
                        return no_pack(err);
                s->head[0] = (unsigned char)type;
                s->delta = type == OF_OFFSET || type == OF_REFERENCE;
        }
        if (s->shift > 53)
                return no_pack(err);
        s->size |= (uint64_t)bits << s->shift;
        s->shift += s->shift == 0 ? 4 : 7;
        if (c & 128)
                return 0;
        TRY(check_size(s, s->size, err));
        if (s->head[0] != BLOB)
                TRY(check_whole(s, s->size, err));
        if (s->head[0] == OF_OFFSET)
                s->step = PACK_OFFSET;
        else if (s->head[0] == OF_REFERENCE)
                s->step = PACK_BASE;
        else
                return begin_data(s, err);
        s->shift = 0;
        return 0;
}

static int take_offset_byte(struct pack_scan *s, unsigned char c, struct error *err)
{
        if (++s->shift > 9)
                return no_pack(err);
        return c & 128 ? 0 : begin_data(s, err);
}

/* Two numbers, of seven bits a byte: the size of what it is made of, and of what it makes. */
static int check_delta(struct pack_scan *s, struct error *err)
{
        uint64_t size = 0;
        size_t at = 0;

        for (int i = 0; i < 2; i++) {
                unsigned shift = 0;

                for (size = 0;; shift += 7) {
                        if (at == s->n_sizes || shift > 56)
                                return no_pack(err);
                        size |= (uint64_t)(s->sizes[at] & 127) << shift;
                        if (!(s->sizes[at++] & 128))
                                break;
                }
                if (i == 0)
                        TRY(check_whole(s, size, err));
        }
        TRY(check_size(s, size, err));
        return check_whole(s, size, err);
}

static int end_data(struct pack_scan *s, struct error *err)
{
        if (s->inflated != s->size)
                return no_pack(err);
        if (s->delta)
                TRY(check_delta(s, err));
        s->left--;
        next_object(s);
        return 0;
}

static int inflate_some(struct pack_scan *s, const unsigned char **data, size_t *left, struct error *err)
{
        unsigned char out[8192] = { 0 };
        int code = Z_OK;

        s->z.next_in = (unsigned char *)(uintptr_t)*data;
        s->z.avail_in = (unsigned)*left;
        while (code == Z_OK) {
                s->z.next_out = out;
                s->z.avail_out = sizeof(out);
                code = inflate(&s->z, Z_NO_FLUSH);
                size_t n = sizeof(out) - s->z.avail_out, take = MIN(n, sizeof(s->sizes) - s->n_sizes);

                memcpy(s->sizes + s->n_sizes, out, take);
                s->n_sizes += take;
                s->inflated += n;
                if (s->inflated > s->size)
                        return no_pack(err);
        }
        *data += *left - s->z.avail_in;
        *left = s->z.avail_in;
        if (code == Z_STREAM_END)
                return end_data(s, err);
        if (code == Z_MEM_ERROR)
                return error_no_memory(err);
        return code == Z_BUF_ERROR ? 0 : no_pack(err); /* the former: it wants more */
}

static int step(struct pack_scan *s, const unsigned char **data, size_t *left, struct error *err)
{
        switch (s->step) {
        case PACK_HEAD:
                return gather(s, data, left, 12) ? take_head(s, err) : 0;
        case PACK_OBJECT:
                --*left;
                return take_object_byte(s, *(*data)++, err);
        case PACK_OFFSET:
                --*left;
                return take_offset_byte(s, *(*data)++, err);
        case PACK_BASE:
                return gather(s, data, left, 20) ? begin_data(s, err) : 0;
        case PACK_DATA:
                return inflate_some(s, data, left, err);
        case PACK_TRAILER:
                if (gather(s, data, left, 20))
                        s->step = PACK_DONE;
                return 0;
        case PACK_DONE:
                return no_pack(err);
        }
        return no_pack(err);
}

int pack_scan_feed(struct pack_scan *s, const void *data, size_t n, struct error *err)
{
        const unsigned char *at = data;

        s->bytes += n;
        if (s->bytes > s->limits->pack_bytes)
                return error_set(err, ERR_LIMIT, "the repository sends more than %llu bytes",
                                 (unsigned long long)s->limits->pack_bytes);
        while (n > 0)
                TRY(step(s, &at, &n, err));
        return 0;
}

int pack_scan_end(const struct pack_scan *s, struct error *err)
{
        return s->step == PACK_DONE ? 0 : error_set(err, ERR_RETRY, "the pack of objects is not whole");
}
