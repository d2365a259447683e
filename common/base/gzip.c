#include "common/base/gzip.h"

#include <limits.h>
#include <zlib.h>

#include "common/base/memory.h"

#define HEADER_SIZE 10
#define TRAILER_SIZE 8
#define RAW_WINDOW (-15) /* header and trailer are ours */
#define SMALL_WINDOW (-14)
#define PIECE_SIZE 16384

enum header_how { MIDDLE = 0, BEST = 2 };
enum header_flag { HAS_HEADER_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };

static void *allocate(void *unused, unsigned n, unsigned size)
{
        return mem_calloc(n, size);
}

static void release(void *unused, void *p)
{
        mem_free(p);
}

static uint32_t load_le(const char *p)
{
        const uint8_t *b = (const uint8_t *)p;
        return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int cut_short(struct error *err)
{
        return error_set(err, ERR_INVALID, "unexpected EOF");
}

bool gzip_begins(struct slice data)
{
        return data.len >= 2 && data.data[0] == '\x1f' && data.data[1] == '\x8b';
}

static int skip(struct slice *rest, size_t n, struct error *err)
{
        if (rest->len < n)
                return cut_short(err);
        rest->data += n;
        rest->len -= n;
        return 0;
}

static int skip_text(struct slice *rest, struct error *err)
{
        const char *end = rest->len ? memchr(rest->data, '\0', rest->len) : NULL;
        return end ? skip(rest, (size_t)(end - rest->data) + 1, err) : cut_short(err);
}

static int skip_extra(struct slice *rest, struct error *err)
{
        if (rest->len < 2)
                return cut_short(err);
        size_t n = (uint8_t)rest->data[0] | (size_t)(uint8_t)rest->data[1] << 8;
        return skip(rest, 2 + n, err);
}

static int skip_header(struct slice *rest, struct error *err)
{
        struct slice whole = *rest;
        if (rest->len < HEADER_SIZE)
                return cut_short(err);
        if (!gzip_begins(*rest) || rest->data[2] != Z_DEFLATED)
                return error_set(err, ERR_INVALID, "gzip: invalid header");
        uint8_t flags = (uint8_t)rest->data[3];
        TRY(skip(rest, HEADER_SIZE, err));
        if (flags & HAS_EXTRA)
                TRY(skip_extra(rest, err));
        if (flags & HAS_NAME)
                TRY(skip_text(rest, err));
        if (flags & HAS_COMMENT)
                TRY(skip_text(rest, err));
        if (!(flags & HAS_HEADER_CRC))
                return 0;
        if (rest->len < 2)
                return cut_short(err);
        uint32_t want = crc32_z(0, (const Bytef *)whole.data, whole.len - rest->len) & 0xffff;
        if (want != ((uint8_t)rest->data[0] | (uint32_t)(uint8_t)rest->data[1] << 8))
                return error_set(err, ERR_INVALID, "gzip: invalid header");
        return skip(rest, 2, err);
}

int gzip_check_header(struct slice data, struct error *err)
{
        return skip_header(&data, err);
}

/* ---- unpacking ---- */

static void close_inflate(z_stream *z)
{
        (void)inflateEnd(z);
}

static int inflate_failed(int result, const z_stream *z, struct error *err)
{
        if (result == Z_MEM_ERROR)
                return error_no_memory(err);
        if (result == Z_BUF_ERROR)
                return cut_short(err);
        return error_set(err, ERR_INVALID, "flate: corrupt input before offset %lu", z->total_in);
}

/* One deflated stream; *rest is moved behind it. */
static int inflate_into(struct slice *rest, struct buf *ret, struct error *err)
{
        CLEANUP(close_inflate)
        z_stream z = { .zalloc = allocate,
                       .zfree = release,
                       .next_in = (Bytef *)(uintptr_t)rest->data,
                       .avail_in = (unsigned)rest->len };
        int result = inflateInit2(&z, RAW_WINDOW);
        if (result != Z_OK)
                return inflate_failed(result, &z, err);
        while (result != Z_STREAM_END) {
                uint8_t piece[PIECE_SIZE];
                z.next_out = piece;
                z.avail_out = sizeof(piece);
                result = inflate(&z, Z_NO_FLUSH);
                if (result != Z_OK && result != Z_STREAM_END)
                        return inflate_failed(result, &z, err);
                if (buf_append(ret, piece, sizeof(piece) - z.avail_out) < 0)
                        return buf_status(ret, err, "unpacked data");
        }
        return skip(rest, rest->len - z.avail_in, err);
}

static int unpack_member(struct slice *rest, struct buf *ret, struct error *err)
{
        size_t start = ret->len;
        TRY(skip_header(rest, err));
        TRY(inflate_into(rest, ret, err));
        if (rest->len < TRAILER_SIZE)
                return cut_short(err);
        uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)ret->data + start, ret->len - start);
        if (load_le(rest->data) != crc || load_le(rest->data + 4) != (uint32_t)(ret->len - start))
                return error_set(err, ERR_INVALID, "gzip: invalid checksum");
        return skip(rest, TRAILER_SIZE, err);
}

int gzip_unpack(struct slice data, struct buf *ret, struct error *err)
{
        if (data.len > UINT_MAX)
                return error_set(err, ERR_LIMIT, "%zu bytes are too many to unpack", data.len);
        do
                TRY(unpack_member(&data, ret, err));
        while (data.len);
        return 0;
}

int deflate_unpack(struct slice data, struct buf *ret, struct error *err)
{
        if (data.len > UINT_MAX)
                return error_set(err, ERR_LIMIT, "%zu bytes are too many to unpack", data.len);
        TRY(inflate_into(&data, ret, err));
        return data.len ? error_set(err, ERR_INVALID, "something follows the end of the data") : 0;
}

/* ---- packing ---- */

static void close_deflate(z_stream *z)
{
        (void)deflateEnd(z);
}

struct effort {
        int level, window, memory;
};

static int open_deflate(z_stream *z, struct effort e, struct error *err)
{
        *z = (z_stream){ .zalloc = allocate, .zfree = release };
        return deflateInit2(z, e.level, Z_DEFLATED, e.window, e.memory, Z_DEFAULT_STRATEGY) == Z_OK
                       ? 0
                       : error_no_memory(err);
}

/* Takes all of it; to the end of the stream if it is the last. */
static int deflate_piece(z_stream *z, struct slice data, bool last, struct buf *ret, struct error *err)
{
        int result = Z_OK;
        z->next_in = (Bytef *)(uintptr_t)data.data;
        z->avail_in = (unsigned)data.len;
        do {
                uint8_t piece[PIECE_SIZE];
                z->next_out = piece;
                z->avail_out = sizeof(piece);
                result = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
                if (result == Z_STREAM_ERROR)
                        return error_set(err, ERR_INTERNAL, "data cannot be packed");
                if (buf_append(ret, piece, sizeof(piece) - z->avail_out) < 0)
                        return buf_status(ret, err, "packed data");
        } while (last ? result != Z_STREAM_END : z->avail_out == 0);
        return 0;
}

static int deflate_into(struct slice data, struct effort e, struct buf *ret, struct error *err)
{
        CLEANUP(close_deflate) z_stream z;
        if (data.len > UINT_MAX)
                return error_set(err, ERR_LIMIT, "%zu bytes are too many to pack", data.len);
        TRY(open_deflate(&z, e, err));
        return deflate_piece(&z, data, true, ret, err);
}

static void append_le(struct buf *b, uint32_t value)
{
        const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                                  (uint8_t)(value >> 24) };
        buf_append(b, bytes, sizeof(bytes));
}

static void append_header(struct buf *b, uint8_t how)
{
        const uint8_t header[HEADER_SIZE] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, how, 255 };
        buf_append(b, header, sizeof(header));
}

int deflate_pack(struct slice data, struct buf *ret, struct error *err)
{
        return deflate_into(data, (struct effort){ Z_BEST_SPEED, SMALL_WINDOW, 7 }, ret, err);
}

int gzip_pack(struct slice data, struct buf *ret, struct error *err)
{
        append_header(ret, BEST);
        TRY(deflate_into(data, (struct effort){ Z_BEST_COMPRESSION, RAW_WINDOW, 8 }, ret, err));
        append_le(ret, (uint32_t)crc32_z(0, (const Bytef *)data.data, data.len));
        append_le(ret, (uint32_t)data.len);
        return buf_status(ret, err, "packed data");
}

/* ---- packing in pieces ---- */

struct gzip_packer {
        z_stream z;
        uint32_t crc, size;
        bool began;
};

struct gzip_packer *gzip_packer_new(void)
{
        struct gzip_packer *p = NEW(struct gzip_packer);
        if (!p)
                return NULL;
        if (open_deflate(&p->z, (struct effort){ Z_DEFAULT_COMPRESSION, RAW_WINDOW, 8 }, NULL) < 0) {
                mem_free(p);
                return NULL;
        }
        p->crc = (uint32_t)crc32_z(0, NULL, 0);
        return p;
}

int gzip_packer_add(struct gzip_packer *p, struct slice data, bool last, struct buf *ret, struct error *err)
{
        if (data.len > UINT_MAX)
                return error_set(err, ERR_LIMIT, "%zu bytes are too many to pack", data.len);
        if (!p->began)
                append_header(ret, MIDDLE);
        p->began = true;
        TRY(deflate_piece(&p->z, data, last, ret, err));
        p->crc = (uint32_t)crc32_z(p->crc, (const Bytef *)data.data, data.len);
        p->size += (uint32_t)data.len;
        if (last) {
                append_le(ret, p->crc);
                append_le(ret, p->size);
        }
        return buf_status(ret, err, "packed data");
}

struct gzip_packer *gzip_packer_free(struct gzip_packer *p)
{
        if (!p)
                return NULL;
        close_deflate(&p->z);
        mem_free(p);
        return NULL;
}
