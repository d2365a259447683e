/* Fetching: what is wanted, what is there, and the pack that comes. */
#include <stdio.h>

#include "hub-agent/git/remote_internal.h"
#include "hub-agent/git/repo_internal.h"

#define HAVES_MAX 512
#define QUESTION_BYTES (GIT_REFS_MAX * 64 + HAVES_MAX * 64 + 4096)

enum { BAND_DATA = 1, BAND_PROGRESS = 2, BAND_ERROR = 3 };

/* ---- the question ---- */

static bool has(const struct remote *r, const char *capability)
{
        return capability_is(r->capabilities, capability);
}

/* Several hosts answer only who takes several acknowledgements, though one question needs none. */
static void add_first_want(struct remote *r, struct buf *b, const struct git_hash *want, unsigned depth)
{
        static const char *const wanted[] = { "multi_ack_detailed", "ofs-delta", "no-progress" };
        char words[128] = "";
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
                if (has(r, wanted[i]))
                        n += (size_t)snprintf(words + n, sizeof(words) - n, " %s", wanted[i]);
        packet_printf(b, "want %s side-band-64k%s%s agent=argosy\n", want->hex, words,
                      depth ? " shallow" : "");
}

static void add_wants(struct remote *r, struct buf *b, const struct git_hash *wants, size_t n, unsigned depth)
{
        add_first_want(r, b, &wants[0], depth);
        for (size_t i = 1; i < n; i++)
                packet_printf(b, "want %s\n", wants[i].hex);
        if (depth)
                packet_printf(b, "deepen %u\n", depth);
        packet_flush(b);
}

static int add_haves(struct repo *into, struct buf *b, struct error *err)
{
        AUTO_FREE struct git_hash *haves = mem_calloc(HAVES_MAX, sizeof(*haves));
        size_t n;

        if (!haves)
                return error_no_memory(err);
        TRY(repo_haves(into, haves, HAVES_MAX, &n, err));
        for (size_t i = 0; i < n; i++)
                packet_printf(b, "have %s\n", haves[i].hex);
        return 0;
}

static int write_question(struct remote *r, struct repo *into, const struct git_hash *wants, size_t n,
                          unsigned depth, struct buf *b, struct error *err)
{
        if (!has(r, "side-band-64k"))
                return error_set(err, ERR_UNSUPPORTED, "%s: a server without side-band-64k is not supported",
                                 r->wire->public_url);
        if (depth && !has(r, "shallow"))
                depth = 0;
        add_wants(r, b, wants, n, depth);
        if (!depth)
                TRY(add_haves(into, b, err));
        packet_printf(b, "done\n");
        return buf_status(b, err, "what is asked of the repository");
}

/* ---- the answer ---- */

struct answer {
        struct pack_intake pack;
        bool packed; /* pieces of the pack came */
        bool ended;
};

static int remote_error(struct slice said, struct error *err)
{
        char words[PACKET_WORDS_SIZE];

        packet_words(said, words);
        return error_set(err, strstr(words, "not our ref") ? ERR_NOT_FOUND : ERR_RETRY, "remote error: %s",
                         words);
}

static int take_band(struct answer *a, struct slice packet, struct error *err)
{
        const struct slice data = { packet.data + 1, packet.len - 1 };

        switch (packet.data[0]) {
        case BAND_DATA:
                a->packed = true;
                return pack_intake_feed(&a->pack, data.data, data.len, err);
        case BAND_PROGRESS:
                return 0;
        default:
                return remote_error(data, err);
        }
}

/* Before the pack: which commits are cut, and which of ours it knows. */
static int take_packet(void *ctx, struct slice packet, struct error *err)
{
        struct answer *a = ctx;

        if (!packet.data) {
                a->ended = a->packed;
                return 0;
        }
        if (packet.len > 0 && packet.data[0] >= BAND_DATA && packet.data[0] <= BAND_ERROR)
                return take_band(a, packet, err);
        if (slice_starts_with(packet, "ERR "))
                return remote_error((struct slice){ packet.data + 4, packet.len - 4 }, err);
        if (!a->packed && (slice_starts_with(packet, "NAK") || slice_starts_with(packet, "ACK ") ||
                           slice_starts_with(packet, "shallow ") || slice_starts_with(packet, "unshallow ")))
                return 0;
        return error_set(err, ERR_INVALID, "the answer is not what Git's protocol has");
}

static int receive(struct remote *r, struct repo *into, struct slice question, int64_t deadline_ms,
                   struct error *err)
{
        uint64_t most = r->access->pack_bytes ? r->access->pack_bytes : GIT_PACK_MAX;
        struct answer a = { 0 };
        struct packet_reader reader;

        packet_reader_init(&reader, take_packet, &a);
        int code = pack_intake_begin(&a.pack, into, most, deadline_ms, err);

        if (code == 0)
                code = remote_ask(r, question, &reader, most + most / 64 + (1 << 20), deadline_ms, err);
        if (code == 0 && !a.packed)
                code = error_set(err, ERR_RETRY, "%s: the answer has no pack", r->wire->public_url);
        if (code == 0 && pack_intake_end(&a.pack, err) < 0)
                code = error_wrap(err, "%s", r->wire->public_url);
        r->received = a.pack.scan.bytes;
        pack_intake_free(&a.pack);
        packet_reader_free(&reader);
        return code;
}

int remote_fetch(struct remote *r, struct repo *into, const struct git_hash *wants, size_t n, unsigned depth,
                 int64_t deadline_ms, struct error *err)
{
        AUTO_BUF struct buf question;
        struct error own = { 0 };

        ASSERT(n > 0 && r->service == REMOTE_FETCH);
        err = err ? err : &own;
        buf_init(&question, QUESTION_BYTES);
        TRY(write_question(r, into, wants, n, depth, &question, err));
        return receive(r, into, (struct slice){ question.data, question.len }, deadline_ms, err);
}

/* ---- mirrors ---- */

static bool begins_with_one(const char *name, const char *const *prefixes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (text_starts_with(name, prefixes[i]))
                        return true;
        return false;
}

struct mirror {
        const char *const *prefixes;
        size_t n_prefixes;
        const struct git_refs *theirs;
        struct git_hash *wants;
        size_t n_wants;
        bool changed;
};

static void mirror_free(struct mirror *m)
{
        mem_free(m->wants);
}

/* Hashes of refs that are not here. */
static int find_wants(struct repo *r, void *ctx, struct error *err)
{
        struct mirror *m = ctx;

        m->wants = mem_calloc(m->theirs->n + 1, sizeof(*m->wants));
        if (!m->wants)
                return error_no_memory(err);
        for (size_t i = 0; i < m->theirs->n; i++)
                if (begins_with_one(m->theirs->at[i].name, m->prefixes, m->n_prefixes) &&
                    !repo_has(r, &m->theirs->at[i].at))
                        m->wants[m->n_wants++] = m->theirs->at[i].at;
        return 0;
}

static int take_refs(struct repo *r, void *ctx, struct error *err)
{
        struct mirror *m = ctx;

        for (size_t i = 0; i < m->theirs->n; i++) {
                const struct git_ref *ref = &m->theirs->at[i];
                git_oid now, wanted = repo_oid(&ref->at);

                if (!begins_with_one(ref->name, m->prefixes, m->n_prefixes) ||
                    (git_reference_name_to_id(&now, r->git, ref->name) == 0 && git_oid_equal(&now, &wanted)))
                        continue;
                CLEANUP(repo_reference_cleanup) git_reference *made = NULL;

                GIT_TRY(git_reference_create(&made, r->git, ref->name, &wanted, true, NULL), ref->name);
                m->changed = true;
        }
        return 0;
}

static int drop_refs(struct repo *r, void *ctx, struct error *err)
{
        struct mirror *m = ctx;
        git_strarray names = { 0 };
        int code = git_reference_list(&names, r->git);

        if (code < 0)
                return repo_fails(err, code, "look through refs");
        for (size_t i = 0; i < names.count && code == 0; i++) {
                if (!begins_with_one(names.strings[i], m->prefixes, m->n_prefixes) ||
                    git_refs_find(m->theirs, names.strings[i]))
                        continue;
                code = git_reference_remove(r->git, names.strings[i]);
                m->changed = true;
        }
        git_strarray_dispose(&names);
        return code < 0 ? repo_fails(err, code, "drop a ref") : 0;
}

int remote_mirror(struct remote *r, struct repo *into, const char *const *prefixes, size_t n,
                  int64_t deadline_ms, bool *ret_changed, struct error *err)
{
        CLEANUP(mirror_free) struct mirror m = { .prefixes = prefixes, .n_prefixes = n, .theirs = &r->refs };

        TRY(repo_offload(into, find_wants, &m, err));
        if (m.n_wants > 0)
                TRY(remote_fetch(r, into, m.wants, m.n_wants, 0, deadline_ms, err));
        /* First those that go: a branch may take a folder's name. */
        TRY(repo_offload(into, drop_refs, &m, err));
        TRY(repo_offload(into, take_refs, &m, err));
        if (ret_changed)
                *ret_changed = m.changed;
        return 0;
}
