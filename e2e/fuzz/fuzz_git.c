/* What Git servers and repositories say: lists of refs, packs, known_hosts, .gitmodules, URLs. The first byte
 * picks which. However it is cut, reading it ends the same way. */
#include "common/net/known_hosts.h"
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/git/advertisement.h"
#include "hub-agent/git/pack_scan.h"
#include "hub-agent/git/packet.h"
#include "hub-agent/source/git_modules.h"

static int take_refs(void *ctx, struct slice packet, struct error *err)
{
        return advertisement_take(ctx, packet, err);
}

static int read_refs(struct slice input, size_t step, struct advertisement *a, struct arena *arena)
{
        struct packet_reader r;
        int code = 0;

        advertisement_begin(a, arena, NULL);
        packet_reader_init(&r, take_refs, a);
        for (size_t at = 0; at < input.len && code == 0; at += step)
                code = packet_reader_feed(&r, input.data + at, MIN(step, input.len - at), NULL);
        if (code == 0)
                code = packet_reader_end(&r, NULL);
        if (code == 0)
                code = advertisement_end(a, NULL);
        packet_reader_free(&r);
        return code;
}

static void try_refs(struct slice input)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct advertisement whole, cut;
        int code = read_refs(input, input.len + 1, &whole, &arena);

        ASSERT(read_refs(input, 3, &cut, &arena) == code);
        if (code < 0)
                return;
        ASSERT(whole.refs.n == cut.refs.n);
        for (size_t i = 0; i < whole.refs.n; i++) {
                struct git_hash again;

                ASSERT(git_hash_parse(whole.refs.at[i].at.hex, &again, NULL) == 0);
                ASSERT(text_starts_with(git_refs_find(&whole.refs, whole.refs.at[i].name)->name, "refs/"));
        }
}

static int scan(struct slice input, size_t step, const struct pack_limits *limits)
{
        struct pack_scan s;
        int code = 0;

        pack_scan_begin(&s, limits);
        for (size_t at = 0; at < input.len && code == 0; at += step)
                code = pack_scan_feed(&s, input.data + at, MIN(step, input.len - at), NULL);
        if (code == 0)
                code = pack_scan_end(&s, NULL);
        ASSERT(s.all <= limits->all_bytes + limits->object_bytes);
        pack_scan_free(&s);
        return code;
}

static void try_pack(struct slice input)
{
        static const struct pack_limits limits = { 1 << 20, 1 << 16, 1 << 15, 1 << 18, 1000 };

        ASSERT(scan(input, input.len + 1, &limits) == scan(input, 1, &limits));
}

static void try_hosts(struct slice input)
{
        struct slice key = first_line(&input);
        char kinds[KNOWN_HOSTS_KINDS_SIZE];

        (void)known_hosts_check(input, "git.example", 2222, key);
        known_hosts_kinds(input, "git.example", 22, kinds);
        ASSERT(strlen(kinds) < sizeof(kinds));
}

static void try_modules(struct slice input)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_modules m;

        if (git_modules_parse(input, &arena, &m, NULL) < 0)
                return;
        ASSERT(m.n <= GIT_MODULES_MAX);
        for (size_t i = 0; i < m.n; i++) {
                const char *full;

                if (m.at[i].url && remote_resolve_url("https://h/a/b", m.at[i].url, &arena, &full, NULL) == 0)
                        ASSERT(remote_check_url(full, NULL) == 0);
        }
}

static void try_url(struct slice input)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *url = arena_strndup(&arena, input.data, input.len);

        if (remote_check_url(url, NULL) == 0)
                ASSERT(remote_check_url(remote_public_url(url, &arena), NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const tries[])(struct slice) = { try_refs, try_pack, try_hosts, try_modules, try_url };

        if (size > 0)
                tries[data[0] % ARRAY_LEN(tries)](input_of(data + 1, size - 1));
        return 0;
}
