/* Git over ssh: one command, whose output begins with the list of refs and goes on with the answer. */
#include "common/base/memory.h"
#include "common/net/ssh.h"
#include "hub-agent/git/remote_internal.h"

struct ssh_wire {
        struct wire wire;
        struct ssh_channel *channel;
};

/* ---- the list of refs ---- */

static int take_refs(void *ctx, struct slice packet, struct error *err)
{
        return advertisement_take(ctx, packet, err);
}

/* The command ended too soon: why, it says on its standard error. */
static int ended_early(const struct ssh_wire *s, struct error *err)
{
        char words[PACKET_WORDS_SIZE];

        packet_words(slice_of(ssh_said(s->channel)), words);
        if (!*words)
                return 0;
        return error_set(err, ERR_NOT_FOUND, "remote error: %s", words);
}

static int read_refs(struct ssh_wire *s, struct advertisement *a, struct packet_reader *reader,
                     int64_t deadline_ms, struct error *err)
{
        while (!a->done) {
                struct slice piece;
                int code = ssh_read(s->channel, deadline_ms, &piece, err);

                if (code == ERR_CLOSED)
                        return ended_early(s, err);
                TRY(code);
                TRY(packet_reader_feed(reader, piece.data, piece.len, err));
        }
        return packet_reader_end(reader, err);
}

static int advertise(struct wire *w, struct advertisement *a, int64_t deadline_ms, struct error *err)
{
        struct packet_reader reader;

        packet_reader_init(&reader, take_refs, a);
        int code = read_refs((struct ssh_wire *)w, a, &reader, deadline_ms, err);

        packet_reader_free(&reader);
        return code;
}

/* ---- the question ---- */

static int ask(struct wire *w, struct slice question, struct packet_reader *answer, uint64_t most,
               int64_t deadline_ms, struct error *err)
{
        struct ssh_wire *s = (struct ssh_wire *)w;
        uint64_t bytes = 0;

        TRY(ssh_write(s->channel, question, deadline_ms, err));
        TRY(ssh_end_writing(s->channel, deadline_ms, err));
        for (;;) {
                struct slice piece;
                int code = ssh_read(s->channel, deadline_ms, &piece, err);

                if (code == ERR_CLOSED) {
                        error_clear(err);
                        return 0;
                }
                TRY(code);
                bytes += piece.len;
                if (bytes > most)
                        return error_set(err, ERR_LIMIT, "the answer exceeds %llu bytes",
                                         (unsigned long long)most);
                TRY(packet_reader_feed(answer, piece.data, piece.len, err));
        }
}

static void close_wire(struct wire *w)
{
        struct ssh_wire *s = (struct ssh_wire *)w;

        ssh_close(s->channel);
        mem_free(s);
}

static const struct wire_ops ops = { advertise, ask, close_wire };

/* ---- opening ---- */

/* "git-upload-pack '/path'", as a shell of the other side reads it. */
static const char *command_of(const struct wire *w)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64 << 10);
        (void)buf_printf(&b, "%s '", remote_service_name(w->service));
        for (const char *c = w->url.path; *c; c++)
                (void)(*c == '\'' ? buf_append_str(&b, "'\\''") : buf_append_char(&b, *c));
        (void)buf_append_char(&b, '\'');
        return b.failed ? NULL : arena_strndup(w->arena, b.data, b.len);
}

int wire_open_ssh(const struct wire *base, int64_t deadline_ms, struct wire **ret, struct error *err)
{
        const struct remote_access *a = base->access;
        const struct ssh_options o = { .host = base->url.host,
                                       .port = base->url.port,
                                       .user = base->url.user,
                                       .identity = a->identity,
                                       .key_password = a->key_password,
                                       .known_hosts = a->known_hosts,
                                       .denied = a->denied };
        const char *command = command_of(base);
        struct ssh_wire *s;

        if (!a->identity || !a->known_hosts)
                return error_set(err, ERR_UNAUTHORIZED, "%s: ssh needs a private key and known_hosts",
                                 base->public_url);
        s = command ? NEW(struct ssh_wire) : NULL;
        if (!s)
                return error_no_memory(err);
        s->wire = *base;
        s->wire.ops = &ops;
        int code = ssh_open(a->world, &o, command, deadline_ms, &s->channel, err);

        if (code < 0)
                close_wire(&s->wire);
        else
                *ret = &s->wire;
        return code;
}
