/* Pushing: what is to become of which ref, and what becomes of it. */
#include "hub-agent/git/remote_internal.h"
#include "hub-agent/git/repo_internal.h"

#define NONE "0000000000000000000000000000000000000000"
#define ANSWER_BYTES (1u << 20)
#define COMMANDS_BYTES (4u << 20)

struct push {
        struct remote *remote;
        struct remote_update *updates;
        size_t n;
        bool atomic;
        bool unpacked, told; /* the remote has said that it has the pack */
        char unpack_words[PACKET_WORDS_SIZE];
        struct packet_reader inner; /* the report, within the band of data */
        struct arena *arena;
};

static int refuse(struct remote_update *u, int code, const char *why)
{
        u->outcome = code;
        u->why = why;
        return 0;
}

/* ---- before ---- */

static bool is_tag(const char *ref)
{
        return text_starts_with(ref, "refs/tags/");
}

static int judge(struct push *p, struct repo *from, struct remote_update *u, struct error *err)
{
        const struct git_ref *old = git_refs_find(&p->remote->refs, u->ref);
        bool is = false;

        refuse(u, 0, NULL);
        if (!old || u->force || git_hash_is_none(&u->to) || git_hash_equal(&old->at, &u->to))
                return 0;
        if (is_tag(u->ref))
                return refuse(u, ERR_CONFLICT, "the tag is there already");
        if (repo_has(from, &old->at))
                TRY(repo_is_ancestor(from, &old->at, &u->to, &is, err));
        return is ? 0 : refuse(u, ERR_CONFLICT, "not fast-forward: the remote has commits that are not here");
}

static bool is_sent(const struct push *p, const struct remote_update *u)
{
        const struct git_ref *old = git_refs_find(&p->remote->refs, u->ref);

        if (u->outcome < 0)
                return false;
        return old ? !git_hash_equal(&old->at, &u->to) : !git_hash_is_none(&u->to);
}

static size_t count_sent(const struct push *p)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += is_sent(p, &p->updates[i]);
        return n;
}

static bool some_refused(const struct push *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->updates[i].outcome < 0)
                        return true;
        return false;
}

static void give_up_others(struct push *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->updates[i].outcome == 0)
                        refuse(&p->updates[i], ERR_CANCELLED, "not tried, since another was refused");
}

/* ---- what is sent ---- */

static void write_commands(struct push *p, struct buf *b)
{
        const char *theirs = p->remote->capabilities;
        bool first = true;

        for (size_t i = 0; i < p->n; i++) {
                const struct remote_update *u = &p->updates[i];
                const struct git_ref *old = git_refs_find(&p->remote->refs, u->ref);

                if (!is_sent(p, u))
                        continue;
                AUTO_BUF struct buf line;

                buf_init(&line, 8192);
                (void)buf_printf(&line, "%s %s %s", old ? old->at.hex : NONE,
                                 git_hash_is_none(&u->to) ? NONE : u->to.hex, u->ref);
                if (first) {
                        (void)buf_append_char(&line, '\0');
                        (void)buf_printf(&line, " report-status%s%s%s agent=argosy",
                                         capability_is(theirs, "side-band-64k") ? " side-band-64k" : "",
                                         p->atomic && capability_is(theirs, "atomic") ? " atomic" : "",
                                         capability_is(theirs, "ofs-delta") ? " ofs-delta" : "");
                }
                if (line.failed)
                        b->failed = line.failed;
                packet_append(b, line.data, line.len);
                first = false;
        }
        packet_flush(b);
}

/* Behind the commands; none if all they do is to remove. */
static int write_pack(struct push *p, struct repo *from, struct buf *b, int64_t deadline_ms,
                      struct error *err)
{
        const struct git_refs *refs = &p->remote->refs;
        AUTO_FREE struct git_hash *to = mem_calloc(p->n, sizeof(*to));
        AUTO_FREE struct git_hash *theirs = mem_calloc(refs->n + 1, sizeof(*theirs));
        struct pack_order o = { .to = to, .has = theirs, .n_has = refs->n, .into = b };

        if (!to || !theirs)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++)
                if (is_sent(p, &p->updates[i]) && !git_hash_is_none(&p->updates[i].to))
                        to[o.n_to++] = p->updates[i].to;
        for (size_t i = 0; i < refs->n; i++)
                theirs[i] = refs->at[i].at;
        return o.n_to ? repo_pack(from, &o, deadline_ms, err) : 0;
}

/* ---- what is reported ---- */

static struct remote_update *find(struct push *p, struct slice ref)
{
        for (size_t i = 0; i < p->n; i++)
                if (slice_is(ref, p->updates[i].ref))
                        return &p->updates[i];
        return NULL;
}

/* Somebody was faster, in the words of several servers. */
static bool is_race(const char *words)
{
        static const char *const known[] = { "non-fast-forward",    "fetch first",
                                             "stale info",          "cannot lock ref",
                                             "already exists",      "failed to update ref",
                                             "incorrect old value", "atomic transaction failed" };

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
                if (strstr(words, known[i]))
                        return true;
        return false;
}

static int take_refusal(struct push *p, struct slice rest, struct error *err)
{
        char words[PACKET_WORDS_SIZE];
        struct slice ref;

        slice_cut(&rest, ' ', &ref);
        struct remote_update *u = find(p, ref);

        packet_words(rest, words);
        if (!u)
                return 0;
        const char *why = arena_strdup(p->arena, *words ? words : "refused");

        if (!why)
                return error_no_memory(err);
        return refuse(u,
                      is_race(why)                 ? ERR_CONFLICT
                      : strstr(why, "atomic push") ? ERR_CANCELLED
                                                   : ERR_FORBIDDEN,
                      why);
}

static int take_report(void *ctx, struct slice packet, struct error *err)
{
        struct push *p = ctx;
        struct slice line = slice_trim(packet);

        if (!packet.data)
                return 0;
        if (slice_starts_with(line, "unpack ")) {
                p->told = true;
                p->unpacked = slice_is(line, "unpack ok");
                packet_words((struct slice){ line.data + 7, line.len - 7 }, p->unpack_words);
        } else if (slice_starts_with(line, "ok ")) {
                struct remote_update *u = find(p, (struct slice){ line.data + 3, line.len - 3 });

                if (u)
                        refuse(u, 0, NULL);
        } else if (slice_starts_with(line, "ng ")) {
                return take_refusal(p, (struct slice){ line.data + 3, line.len - 3 }, err);
        }
        return 0; /* "option ..." of later versions */
}

static int take_banded(void *ctx, struct slice packet, struct error *err)
{
        struct push *p = ctx;
        char words[PACKET_WORDS_SIZE];

        if (!packet.data || packet.len == 0 || packet.data[0] == 2)
                return 0;
        const struct slice data = { packet.data + 1, packet.len - 1 };

        if (packet.data[0] == 1)
                return packet_reader_feed(&p->inner, data.data, data.len, err);
        packet_words(data, words);
        return error_set(err, ERR_RETRY, "remote error: %s", words);
}

/* ---- the whole ---- */

/* Until the remote says otherwise. */
static void expect_nothing(struct push *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (is_sent(p, &p->updates[i]))
                        refuse(&p->updates[i], ERR_RETRY, "the remote has not said what became of it");
}

static int send_all(struct push *p, struct slice question, int64_t deadline_ms, struct error *err)
{
        bool banded = capability_is(p->remote->capabilities, "side-band-64k");
        struct packet_reader reader;

        packet_reader_init(&reader, banded ? take_banded : take_report, p);
        packet_reader_init(&p->inner, take_report, p);
        expect_nothing(p);
        int code = remote_ask(p->remote, question, &reader, ANSWER_BYTES, deadline_ms, err);

        packet_reader_free(&p->inner);
        packet_reader_free(&reader);
        TRY(code);
        if (!p->told)
                return error_set(err, ERR_RETRY, "%s: no report of what was pushed",
                                 p->remote->wire->public_url);
        if (!p->unpacked)
                return error_set(err, ERR_RETRY, "%s: the remote could not unpack: %s",
                                 p->remote->wire->public_url, p->unpack_words);
        return 0;
}

static int say_refused(const struct push *p, struct error *err)
{
        for (size_t pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < p->n; i++) {
                        const struct remote_update *u = &p->updates[i];

                        if (u->outcome < 0 && (pass > 0 || u->outcome != ERR_CANCELLED))
                                return error_set(err, u->outcome, "%s: %s: %s", p->remote->wire->public_url,
                                                 u->ref, u->why);
                }
        return 0;
}

static int push_all(struct push *p, struct repo *from, int64_t deadline_ms, struct error *err)
{
        AUTO_BUF struct buf question;

        buf_init(&question, GIT_PUSH_MAX + COMMANDS_BYTES);
        for (size_t i = 0; i < p->n; i++)
                TRY(judge(p, from, &p->updates[i], err));
        if (p->atomic && some_refused(p))
                give_up_others(p);
        if (count_sent(p) == 0)
                return say_refused(p, err);
        write_commands(p, &question);
        TRY(buf_status(&question, err, "what is to be pushed"));
        TRY(write_pack(p, from, &question, deadline_ms, err));
        TRY(send_all(p, (struct slice){ question.data, question.len }, deadline_ms, err));
        return say_refused(p, err);
}

int remote_push(struct remote *r, struct repo *from, struct remote_update *updates, size_t n, bool atomic,
                struct arena *arena, int64_t deadline_ms, struct error *err)
{
        struct push p = { .remote = r, .updates = updates, .n = n, .atomic = atomic, .arena = arena };
        struct error own = { 0 };

        ASSERT(r->service == REMOTE_PUSH);
        return push_all(&p, from, deadline_ms, err ? err : &own);
}
