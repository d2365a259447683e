/* What is read of remotes, without remotes: packets, lists of refs, packs, addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/git/advertisement.h"
#include "hub-agent/git/git_url.h"
#include "hub-agent/git/pack_scan.h"
#include "hub-agent/git/packet.h"

#define A "1111111111111111111111111111111111111111"
#define B "2222222222222222222222222222222222222222"

/* ---- packets ---- */

static int join(void *ctx, struct slice p, struct error *err)
{
        return p.data ? buf_printf(ctx, "<%.*s>", (int)p.len, p.data) : buf_printf(ctx, "|");
}

static int read_packets(const char *text, size_t step, struct buf *ret, struct error *err)
{
        struct packet_reader r;
        size_t n = strlen(text);
        int code = 0;

        buf_clear(ret);
        packet_reader_init(&r, join, ret);
        for (size_t at = 0; at < n && code == 0; at += step)
                code = packet_reader_feed(&r, text + at, MIN(step, n - at), err);
        if (code == 0)
                code = packet_reader_end(&r, err);
        packet_reader_free(&r);
        return code;
}

static void packets_are_read_however_they_are_cut(void **state)
{
        static const struct {
                const char *text, *want;
                int code;
        } cases[] = {
                { "0006a\n00000005b", "<a\n>|<b>", 0 },
                { "0004", "<>", 0 },
                { "000Ab\n1234", "<b\n1234>", 0 },
                { "0006a", "", ERR_RETRY },
                { "00", "", ERR_RETRY },
                { "0003", "", ERR_INVALID },
                { "0001", "", ERR_INVALID },
                { "fff5", "", ERR_INVALID },
                { "<html>", "", ERR_INVALID },
        };
        AUTO_BUF struct buf got;

        buf_init(&got, 4096);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                for (size_t step = 1; step < 20; step++) {
                        struct error err = { 0 };

                        assert_int_equal(read_packets(cases[i].text, step, &got, &err), cases[i].code);
                        assert_string_equal(got.data, cases[i].want);
                }
}

static void words_of_remotes_are_one_printable_line(void **state)
{
        char words[PACKET_WORDS_SIZE], many[2000];

        packet_words(SLICE(" no\nsuch\x1b[31m thing\r\n"), words);
        assert_string_equal(words, "no such [31m thing");
        memset(many, 'x', sizeof(many));
        packet_words((struct slice){ many, sizeof(many) }, words);
        assert_int_equal(strlen(words), 300);
}

/* ---- lists of refs ---- */

struct listing {
        struct arena arena;
        struct advertisement a;
        struct error err;
};

static int take_lines(struct listing *l, const char *service, const char *const *lines, size_t n)
{
        advertisement_begin(&l->a, &l->arena, service);
        for (size_t i = 0; i < n; i++) {
                struct slice s = slice_of(lines[i]);
                char zero[512];

                /* A '|' stands for the NUL before the capabilities. */
                for (size_t k = 0; k < s.len && k < sizeof(zero); k++)
                        zero[k] = (char)(s.data[k] == '|' ? '\0' : s.data[k]);
                TRY(advertisement_take(&l->a, lines[i] ? (struct slice){ zero, s.len } : (struct slice){ 0 },
                                       &l->err));
        }
        return advertisement_end(&l->a, &l->err);
}

static void a_list_of_refs_is_read(void **state)
{
        static const char *const lines[] = {
                "# service=git-upload-pack\n",
                NULL,
                A " HEAD|multi_ack side-band-64k symref=refs/x:refs/y symref=HEAD:refs/heads/main "
                  "agent=git/2\n",
                A " refs/heads/main\n",
                B " refs/tags/v2\n",
                A " refs/tags/v2^{}\n",
                B " refs/heads/\xff\n", /* nobody could name it */
                A " refs/heads/a b\n",
                B " refs/heads/dev\n",
                NULL,
        };
        struct listing l = { 0 };

        assert_int_equal(take_lines(&l, "git-upload-pack", lines, ARRAY_LEN(lines)), 0);
        assert_int_equal(l.a.refs.n, 3);
        assert_string_equal(l.a.refs.at[0].name, "refs/heads/dev");
        assert_string_equal(l.a.refs.at[1].name, "refs/heads/main");
        assert_string_equal(l.a.refs.at[2].peeled.hex, A);
        assert_string_equal(l.a.refs.head, "refs/heads/main");
        assert_string_equal(l.a.refs.tip.hex, A);
        assert_true(capability_is(l.a.capabilities, "side-band-64k"));
        assert_false(capability_is(l.a.capabilities, "side-band"));
        assert_false(capability_is(l.a.capabilities, "git/2"));
        arena_free(&l.arena);
}

static void what_is_no_list_of_refs_is_refused(void **state)
{
        static const struct {
                const char *lines[4];
                size_t n;
                int code;
                const char *words;
        } cases[] = {
                { { A " HEAD|x" }, 1, ERR_RETRY, "the answer ended before the list of refs did" },
                { { NULL, NULL }, 2, ERR_INVALID, "the answer is not what Git's protocol has" },
                { { A "HEAD" }, 1, ERR_INVALID, "the answer is not what Git's protocol has" },
                { { "xyz HEAD" }, 1, ERR_INVALID, "the answer is not what Git's protocol has" },
                { { "ERR access\x07 denied\n" }, 1, ERR_NOT_FOUND, "remote error: access  denied" },
                { { A " HEAD|object-format=sha256", NULL },
                  2,
                  ERR_UNSUPPORTED,
                  "repositories with hashes other than SHA-1 are not supported" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct listing l = { 0 };

                assert_int_equal(take_lines(&l, NULL, cases[i].lines, cases[i].n), cases[i].code);
                assert_string_equal(l.err.text, cases[i].words);
                arena_free(&l.arena);
        }
}

static void a_list_of_refs_has_its_bounds(void **state)
{
        struct listing l = { 0 };
        char line[128];
        int code = 0;

        advertisement_begin(&l.a, &l.arena, NULL);
        for (int i = 0; code == 0 && i <= GIT_REFS_MAX; i++) {
                int n = snprintf(line, sizeof(line), A " refs/heads/%d", i);

                code = advertisement_take(&l.a, (struct slice){ line, (size_t)n }, &l.err);
        }
        assert_int_equal(code, ERR_LIMIT);
        assert_string_equal(l.err.text, "the repository has more than 100000 refs");
        arena_free(&l.arena);
}

/* ---- packs ---- */

static void put_number(struct buf *b, uint64_t n, unsigned first_bits, unsigned type)
{
        unsigned c = (unsigned)(n & ((1u << first_bits) - 1)) | type << 4;

        for (n >>= first_bits; n; n >>= 7) {
                buf_append_char(b, (char)(c | 128));
                c = n & 127;
        }
        buf_append_char(b, (char)c);
}

static void put_packed(struct buf *b, const void *data, size_t n)
{
        unsigned char out[1 << 16];
        uLongf size = sizeof(out);

        assert_int_equal(compress2(out, &size, data, n, 9), Z_OK);
        buf_append(b, out, size);
}

static void begin_pack(struct buf *b, unsigned n)
{
        const unsigned char head[12] = { 'P',
                                         'A',
                                         'C',
                                         'K',
                                         0,
                                         0,
                                         0,
                                         2,
                                         (unsigned char)(n >> 24),
                                         (unsigned char)(n >> 16),
                                         (unsigned char)(n >> 8),
                                         (unsigned char)n };

        buf_init(b, 1 << 22);
        buf_append(b, head, sizeof(head));
}

static int scan(const struct buf *b, size_t step, const struct pack_limits *limits, struct error *err)
{
        struct pack_scan s;
        int code = 0;

        pack_scan_begin(&s, limits);
        for (size_t at = 0; at < b->len && code == 0; at += step)
                code = pack_scan_feed(&s, b->data + at, MIN(step, b->len - at), err);
        if (code == 0)
                code = pack_scan_end(&s, err);
        pack_scan_free(&s);
        return code;
}

static const struct pack_limits small = { 1 << 20, 1000, 600, 3000, 10 };

/* "a file" of a blob, and a delta of it that says what it makes. */
static void make_pack(struct buf *b, uint64_t says)
{
        unsigned char delta[64];
        struct buf d = { .data = NULL };

        begin_pack(b, 2);
        put_number(b, 6, 4, 3);
        put_packed(b, "a file", 6);
        buf_init(&d, sizeof(delta));
        put_number(&d, 6, 7, 0);
        put_number(&d, says, 7, 0);
        buf_append(&d, "\x90\x06", 2);
        put_number(b, d.len, 4, 6);
        buf_append_char(b, 15);
        put_packed(b, d.data, d.len);
        buf_free(&d);
        buf_append(b, "01234567890123456789", 20);
}

static void packs_are_seen_through_however_they_are_cut(void **state)
{
        struct error err = { 0 };
        struct buf b;

        make_pack(&b, 6);
        for (size_t step = 1; step <= b.len; step++)
                assert_int_equal(scan(&b, step, &small, &err), 0);
        for (b.len--; b.len > 0; b.len--)
                assert_int_equal(scan(&b, 7, &small, &err), ERR_RETRY);
        buf_free(&b);
}

/* spec/helm-chart.md checklist 93 */
static void bombs_are_seen_before_they_are_unpacked(void **state)
{
        static char zeros[60000];
        struct error err = { 0 };
        struct buf b;

        make_pack(&b, UINT64_C(10) << 30);
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
        assert_string_equal(err.text, "an object of the repository has 10737418240 bytes: more than 1000");
        buf_free(&b);

        begin_pack(&b, 1); /* says less than it has */
        put_number(&b, 100, 4, 3);
        put_packed(&b, zeros, sizeof(zeros));
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_INVALID);
        buf_free(&b);

        begin_pack(&b, 4);
        for (int i = 0; i < 4; i++) {
                put_number(&b, 900, 4, 3);
                put_packed(&b, zeros, 900);
        }
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
        assert_string_equal(err.text, "the objects of the repository exceed 3000 bytes");
        buf_free(&b);

        begin_pack(&b, 11);
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
        assert_string_equal(err.text, "the repository sends 11 objects: more than 10");
        buf_free(&b);
}

/* Of a blob nobody needs more at once than a piece. */
static void what_has_to_be_in_memory_whole_has_a_bound_of_its_own(void **state)
{
        static char zeros[900];
        static const unsigned kinds[] = { 1, 2, 4 };
        struct error err = { 0 };
        struct buf b, d;

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                begin_pack(&b, 1);
                put_number(&b, 601, 4, kinds[i]);
                put_packed(&b, zeros, 601);
                assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
                assert_string_equal(
                        err.text, "an object of the repository that is no file has 601 bytes: more than 600");
                buf_free(&b);
        }
        make_pack(&b, 601);
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
        assert_string_equal(
                err.text,
                "an object of the repository that is sent as a difference has 601 bytes: more than 600");
        buf_free(&b);
        begin_pack(&b, 2); /* what it is of */
        put_number(&b, 900, 4, 3);
        put_packed(&b, zeros, 900);
        buf_init(&d, 64);
        put_number(&d, 900, 7, 0);
        put_number(&d, 6, 7, 0);
        buf_append(&d, "\x90\x06", 2);
        put_number(&b, d.len, 4, 6);
        buf_append_char(&b, 15);
        put_packed(&b, d.data, d.len);
        assert_int_equal(scan(&b, 1000, &small, &err), ERR_LIMIT);
        assert_string_equal(
                err.text,
                "an object of the repository that is sent as a difference has 900 bytes: more than 600");
        buf_free(&b);
        buf_free(&d);
}

static void what_is_no_pack_is_refused(void **state)
{
        static const char *const cases[] = { "PACK\1\1\1\1\1\1\1\1", "<!DOCTYPE html>" };
        struct error err = { 0 };
        struct buf b;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                buf_init(&b, 100);
                buf_append_str(&b, cases[i]);
                assert_int_equal(scan(&b, 3, &small, &err), ERR_INVALID);
                buf_free(&b);
        }
        for (unsigned type = 0; type < 8; type++) { /* kinds that there are, but with garbage for data */
                begin_pack(&b, 1);
                put_number(&b, 5, 4, type);
                buf_append_str(&b, "garbage garbage garbage garbage");
                assert_int_equal(scan(&b, 100, &small, &err), ERR_INVALID);
                buf_free(&b);
        }
        make_pack(&b, 6);
        buf_append_char(&b, 'x');
        assert_int_equal(scan(&b, 100, &small, &err), ERR_INVALID);
        buf_free(&b);
}

static void each_allocation_of_a_pack_that_fails_is_told(void **state)
{
        struct error err = { 0 };
        bool fired = true;
        struct buf b;

        make_pack(&b, 6);
        for (uint64_t n = 1; fired; n++) {
                mem_fail_at(n, false);
                int code = scan(&b, 5, &small, &err);

                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
        }
        buf_free(&b);
}

/* ---- addresses ---- */

static void addresses_are_taken_apart(void **state)
{
        static const struct {
                const char *url, *user, *host;
                int port;
                const char *path, *told;
        } cases[] = {
                { "ssh://git.example/a/b.git", "git", "git.example", 22, "/a/b.git",
                  "ssh://git.example/a/b.git" },
                { "ssh://me@git.example:2222/a", "me", "git.example", 2222, "/a",
                  "ssh://me@git.example:2222/a" },
                { "ssh://me:pw@git.example/a%20b", "me", "git.example", 22, "/a b",
                  "ssh://me@git.example/a%20b" },
                { "ssh://[::1]:22/a", "git", "::1", 22, "/a", "ssh://[::1]:22/a" },
                { "ssh://git.example/~me/a", "git", "git.example", 22, "~me/a", "ssh://git.example/~me/a" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_url u;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(git_url_parse(cases[i].url, &arena, &u, NULL), 0);
                assert_string_equal(u.user, cases[i].user);
                assert_string_equal(u.host, cases[i].host);
                assert_int_equal(u.port, cases[i].port);
                assert_string_equal(u.path, cases[i].path);
                assert_string_equal(remote_public_url(cases[i].url, &arena), cases[i].told);
        }
        assert_int_equal(git_url_parse("https://a%40b:p%3aw@h/x.git", &arena, &u, NULL), 0);
        assert_string_equal(u.web_user, "a@b");
        assert_string_equal(u.web_password, "p:w");
        assert_string_equal(remote_public_url("https://a:b@h/x.git", &arena), "https://h/x.git");
}

static void other_addresses_are_refused(void **state)
{
        static const char *const bad[] = {
                "file:///etc",     "git://h/x",      "git@h:x",     "ssh://h",         "ssh://h/",
                "ssh:///x",        "ssh://h:0/x",    "ssh://h:x/x", "ssh://h:99999/x", "ssh://@h/x",
                "ssh://-oProxy/x", "ssh://[::1]x/x", "https://",    "https://h/ x",    "ssh://h/x\n",
                "ext::sh -c x",    "ssh://h/%00",    "http:///x",
        };
        struct error err = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                if (remote_check_url(bad[i], &err) != ERR_INVALID)
                        fail_msg("%s is taken", bad[i]);
}

static void submodules_are_seen_from_their_repository(void **state)
{
        static const struct {
                const char *base, *url, *want; /* NULL = refused */
        } cases[] = {
                { "https://h/a/b.git", "../c.git", "https://h/a/c.git" },
                { "https://h/a/b.git/", "../c.git", "https://h/a/c.git" },
                { "https://h/a/b.git", "../../x/c", "https://h/x/c" },
                { "https://h/a/b.git", "./c", "https://h/a/b.git/c" },
                { "ssh://git@h:22/a/b", "../c", "ssh://git@h:22/a/c" },
                { "https://h/a/b.git", "../../../c", NULL },
                { "https://h/a/b.git", "https://o/c", "https://o/c" },
                { "https://h/a/b.git", "/etc/passwd", NULL },
                { "https://h/a/b.git", "file:///etc", NULL },
                { "https://h/a/b.git", "git@h:c", NULL },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *got = NULL;
                int code = remote_resolve_url(cases[i].base, cases[i].url, &arena, &got, NULL);

                if (code != (cases[i].want ? 0 : ERR_INVALID) || !text_equal(got, cases[i].want))
                        fail_msg("%s: %d %s", cases[i].url, code, got ? got : "");
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(packets_are_read_however_they_are_cut),
                cmocka_unit_test(words_of_remotes_are_one_printable_line),
                cmocka_unit_test(a_list_of_refs_is_read),
                cmocka_unit_test(what_is_no_list_of_refs_is_refused),
                cmocka_unit_test(a_list_of_refs_has_its_bounds),
                cmocka_unit_test(packs_are_seen_through_however_they_are_cut),
                cmocka_unit_test(bombs_are_seen_before_they_are_unpacked),
                cmocka_unit_test(what_has_to_be_in_memory_whole_has_a_bound_of_its_own),
                cmocka_unit_test(what_is_no_pack_is_refused),
                cmocka_unit_test(each_allocation_of_a_pack_that_fails_is_told),
                cmocka_unit_test(addresses_are_taken_apart),
                cmocka_unit_test(other_addresses_are_refused),
                cmocka_unit_test(submodules_are_seen_from_their_repository),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
