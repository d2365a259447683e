/* A client of WebSockets that says frames as they come, also such as no library would say. For tests of
 * servers. Plain, or over TLS. */
#pragma once

#include <openssl/ssl.h>

#include "common/net/raw_client_test.h"

#define RAW_KEY "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455 1.3 */
#define RAW_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define FRAME_TEXT 0x81
#define FRAME_CLOSE 0x88
#define FRAME_PING 0x89
#define FRAME_PONG 0x8a

struct raw_socket {
        struct raw raw;
        SSL_CTX *tls;
        SSL *ssl;
        struct buf plain; /* with TLS: what was deciphered; else raw.heard is read */
        size_t at;        /* how much of it has been read */
        struct buf message;
};

struct raw_frame {
        unsigned char first; /* FIN, reserved bits, opcode */
        const char *data;
        size_t len;
};

/* ---- bytes ---- */

static inline struct buf *raw_socket_heard(struct raw_socket *k)
{
        return k->ssl ? &k->plain : &k->raw.heard;
}

static inline void raw_socket_flush(struct raw_socket *k)
{
        char piece[4096];
        for (int n; (n = BIO_read(SSL_get_wbio(k->ssl), piece, sizeof(piece))) > 0;)
                raw_say(&k->raw, piece, (size_t)n);
}

static inline void raw_socket_say(struct raw_socket *k, const void *data, size_t n)
{
        if (!k->ssl) {
                raw_say(&k->raw, data, n);
                return;
        }
        assert_int_equal(SSL_write(k->ssl, data, (int)n), n);
        raw_socket_flush(k);
}

static inline void raw_socket_decipher(struct raw_socket *k)
{
        char piece[4096];
        int n;
        if (!k->ssl)
                return;
        BIO_write(SSL_get_rbio(k->ssl), k->raw.heard.data, (int)k->raw.heard.len);
        buf_clear(&k->raw.heard);
        while ((n = SSL_read(k->ssl, piece, sizeof(piece))) > 0)
                buf_append(&k->plain, piece, (size_t)n);
        raw_socket_flush(k);
}

/* Waits until n bytes are there that have not been read; false: the connection ended before. */
static inline bool raw_socket_wait(struct raw_socket *k, size_t n)
{
        for (;;) {
                raw_socket_decipher(k);
                if (raw_socket_heard(k)->len - k->at >= n)
                        return true;
                if (k->raw.ended)
                        return false;
                assert_int_equal(waitq_wait(k->raw.loop, &k->raw.news, raw_patience(k->raw.loop)), 0);
        }
}

/* What has to go over the wire for it. */
static inline void raw_socket_seal(struct raw_socket *k, struct buf *b)
{
        char piece[4096];
        if (!k->ssl)
                return;
        assert_int_equal(SSL_write(k->ssl, b->data, (int)b->len), b->len);
        buf_clear(b);
        for (int n; (n = BIO_read(SSL_get_wbio(k->ssl), piece, sizeof(piece))) > 0;)
                buf_append(b, piece, (size_t)n);
}

/* ---- the handshake ---- */

static inline void raw_socket_connect(struct raw_socket *k, struct loop *l, int port)
{
        *k = (struct raw_socket){ 0 };
        raw_open(&k->raw, l, port);
        buf_init(&k->plain, 8 << 20);
        buf_init(&k->message, 8 << 20);
}

static inline void raw_socket_encrypt(struct raw_socket *k)
{
        k->tls = SSL_CTX_new(TLS_client_method());
        k->ssl = SSL_new(k->tls);
        SSL_set_bio(k->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_connect_state(k->ssl);
        while (SSL_do_handshake(k->ssl) != 1) {
                raw_socket_flush(k);
                assert_false(k->raw.ended);
                if (k->raw.heard.len == 0)
                        assert_int_equal(waitq_wait(k->raw.loop, &k->raw.news, raw_patience(k->raw.loop)), 0);
                BIO_write(SSL_get_rbio(k->ssl), k->raw.heard.data, (int)k->raw.heard.len);
                buf_clear(&k->raw.heard);
        }
        raw_socket_flush(k);
}

/* Asks for a WebSocket; `more` are further headers, each with its line's end. */
static inline void raw_socket_ask(struct raw_socket *k, const char *target, const char *more)
{
        char request[2048];
        int n = snprintf(
                request, sizeof(request),
                "GET %s HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " RAW_KEY "\r\n%s\r\n",
                target, more);
        raw_socket_say(k, request, (size_t)n);
}

/* Reads an answer's head, and leaves what is behind it. */
static inline const char *raw_socket_head(struct raw_socket *k)
{
        while (!strstr(raw_socket_heard(k)->data + k->at, "\r\n\r\n"))
                if (!raw_socket_wait(k, raw_socket_heard(k)->len - k->at + 1))
                        fail_msg("ended; heard only: %s", raw_socket_heard(k)->data + k->at);
        const char *head = raw_socket_heard(k)->data + k->at;
        k->at += (size_t)(strstr(head, "\r\n\r\n") - head) + 4;
        return head;
}

static inline void raw_socket_greet(struct raw_socket *k, const char *target)
{
        raw_socket_ask(k, target, "");
        const char *head = raw_socket_head(k);
        if (strncmp(head, "HTTP/1.1 101 ", 13) != 0 || !strstr(head, RAW_ACCEPT "\r\n"))
                fail_msg("no WebSocket: %s", head);
}

static inline void raw_socket_open(struct raw_socket *k, struct loop *l, int port)
{
        raw_socket_connect(k, l, port);
        raw_socket_greet(k, "/");
}

static inline void raw_socket_close(struct raw_socket *k)
{
        raw_close(&k->raw);
        SSL_free(k->ssl);
        SSL_CTX_free(k->tls);
        buf_free(&k->plain);
        buf_free(&k->message);
}

/* ---- frames ---- */

/* Appends one as a client has to say it. */
static inline void raw_frame_append(struct buf *b, unsigned char first, const void *data, size_t n)
{
        static const char mask[4] = { 0x12, 0x34, (char)0xab, 0x0f };
        buf_append_char(b, (char)first);
        if (n < 126) {
                buf_append_char(b, (char)(0x80 | n));
        } else if (n <= UINT16_MAX) {
                buf_append_char(b, (char)(0x80 | 126));
                buf_append(b, (char[]){ (char)(n >> 8), (char)n }, 2);
        } else {
                buf_append_char(b, (char)(0x80 | 127));
                for (int shift = 56; shift >= 0; shift -= 8)
                        buf_append_char(b, (char)((uint64_t)n >> shift));
        }
        buf_append(b, mask, 4);
        size_t from = b->len;
        buf_append(b, data, n);
        for (size_t i = 0; i < n; i++)
                b->data[from + i] ^= mask[i % 4];
}

static inline void raw_socket_frame(struct raw_socket *k, unsigned char first, const void *data, size_t n)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 8 << 20);
        raw_frame_append(&b, first, data, n);
        raw_socket_say(k, b.data, b.len);
}

static inline void raw_socket_text(struct raw_socket *k, const char *text)
{
        raw_socket_frame(k, FRAME_TEXT, text, strlen(text));
}

/* The server's next frame, which is good until more is read; false: the connection ended. */
static inline bool raw_socket_read(struct raw_socket *k, struct raw_frame *ret)
{
        size_t n, extra;
        if (!raw_socket_wait(k, 2))
                return false;
        n = (unsigned char)raw_socket_heard(k)->data[k->at + 1];
        assert_true(n < 128); /* a server does not mask */
        extra = n == 126 ? 2 : n == 127 ? 8 : 0;
        if (!raw_socket_wait(k, 2 + extra))
                return false;
        for (size_t i = 0, more = 0; i < extra; i++) {
                more = more << 8 | (unsigned char)raw_socket_heard(k)->data[k->at + 2 + i];
                n = more;
        }
        if (!raw_socket_wait(k, 2 + extra + n))
                return false;
        const char *at = raw_socket_heard(k)->data + k->at;
        *ret = (struct raw_frame){ (unsigned char)at[0], at + 2 + extra, n };
        k->at += 2 + extra + n;
        return true;
}

/* Of a frame that closes; 1005: it holds none. */
static inline unsigned raw_frame_code(const struct raw_frame *f)
{
        assert_int_equal(f->first, FRAME_CLOSE);
        return f->len < 2 ? 1005 : (unsigned)((unsigned char)f->data[0] << 8 | (unsigned char)f->data[1]);
}

/* The next message, of one or more frames, in k->message. */
static inline void raw_socket_message(struct raw_socket *k)
{
        struct raw_frame f;
        buf_clear(&k->message);
        do {
                assert_true(raw_socket_read(k, &f));
                assert_int_equal(f.first & 0x7f, k->message.len > 0 ? 0 : 1);
                buf_append(&k->message, f.data, f.len);
        } while (!(f.first & 0x80));
}

static inline void raw_socket_expect(struct raw_socket *k, const char *text)
{
        raw_socket_message(k);
        assert_string_equal(k->message.data, text);
}

/* That the server closes: with this code, or 0 = it just ends. What else it says is dropped. */
static inline void raw_socket_expect_close(struct raw_socket *k, unsigned code)
{
        struct raw_frame f;
        unsigned heard = 0;
        while (raw_socket_read(k, &f))
                if (f.first == FRAME_CLOSE) {
                        heard = raw_frame_code(&f);
                        break;
                }
        if (heard != code)
                fail_msg("closed with %u, not %u", heard, code);
}
