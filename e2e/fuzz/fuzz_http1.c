/* Requests as anybody may send them: a request read whole and read in pieces is the same request, and what is
 * accepted keeps its limits. The input's first byte says how long the pieces are. */
#include "e2e/devcluster/serving/http1_parse.h"
#include "e2e/fuzz/fuzz.h"

#define BODY_BYTES 4096

struct reading {
        struct http1_parser parser;
        int result;
        size_t used;
};

static void begin(struct reading *r)
{
        *r = (struct reading){ 0 };
        http1_parser_init(&r->parser, &(struct http1_limits){ .body_bytes = BODY_BYTES });
}

/* A copy of its own for each piece, so that a sanitizer sees every byte read beyond it. */
static void read_pieces(struct reading *r, struct slice text, size_t step)
{
        while (r->result == 0 && r->used < text.len) {
                size_t n = MIN(step, text.len - r->used), used = 0;
                AUTO_FREE char *piece = mem_must(mem_alloc(n));

                memcpy(piece, text.data + r->used, n);
                r->result = http1_parse(&r->parser, piece, n, &used, NULL);
                ASSERT(used <= n);
                r->used += used;
        }
}

static void check_accepted(const struct http1_request *rq)
{
        ASSERT(rq->method[0] && (rq->path[0] == '/' || text_equal(rq->path, "*")));
        ASSERT(rq->body.len <= BODY_BYTES && rq->headers.n <= LIMIT_HEADER_COUNT);
        for (size_t i = 0; i < rq->headers.n; i++)
                ASSERT(rq->headers.at[i].name[0] && !strpbrk(rq->headers.at[i].value, "\r\n"));
}

static void check_same(const struct http1_request *a, const struct http1_request *b)
{
        ASSERT(text_equal(a->method, b->method) && text_equal(a->path, b->path) &&
               text_equal(a->query, b->query));
        ASSERT(a->keep_alive == b->keep_alive && a->headers.n == b->headers.n);
        ASSERT(a->body.len == b->body.len &&
               (a->body.len == 0 || memcmp(a->body.data, b->body.data, a->body.len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        struct slice text = input_of(data + 1, size - 1);
        struct reading whole, pieces;
        begin(&whole);
        begin(&pieces);
        read_pieces(&whole, text, size);
        read_pieces(&pieces, text, 1 + data[0] % 16);
        ASSERT(whole.result == pieces.result);
        if (whole.result < 0)
                ASSERT(whole.parser.http_status >= 400 && whole.parser.http_status <= 505);
        if (whole.result == 1) {
                ASSERT(whole.used == pieces.used);
                check_accepted(&whole.parser.request);
                check_same(&whole.parser.request, &pieces.parser.request);
        }
        http1_parser_free(&whole.parser);
        http1_parser_free(&pieces.parser);
        return 0;
}
