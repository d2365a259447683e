#include "hub-agent/git/remote_internal.h"

#include "common/base/memory.h"

const char *remote_service_name(enum remote_service s)
{
        return s == REMOTE_PUSH ? "git-receive-pack" : "git-upload-pack";
}

static int open_wire(struct remote *r, int64_t deadline_ms, struct error *err)
{
        struct wire base = { .access = r->access, .service = r->service, .arena = r->arena };

        TRY(git_url_parse(r->access->url, r->arena, &base.url, err));
        base.public_url = remote_public_url(r->access->url, r->arena);
        if (!base.public_url)
                return error_no_memory(err);
        return base.url.ssh ? wire_open_ssh(&base, deadline_ms, &r->wire, err)
                            : wire_open_http(&base, &r->wire, err);
}

struct ending {
        struct advertisement *a;
        struct error *err;
        int code;
};

static void end_refs(void *ctx)
{
        struct ending *e = ctx;

        e->code = advertisement_end(e->a, e->err);
}

static int read_refs(struct remote *r, int64_t deadline_ms, struct error *err)
{
        struct advertisement a;
        struct ending e = { &a, err, 0 };

        advertisement_begin(&a, r->arena, r->wire->url.ssh ? NULL : remote_service_name(r->service));
        int code = r->wire->ops->advertise(r->wire, &a, deadline_ms, err);

        if (code == 0)
                code = offload(r->access->world->loop, end_refs, &e, err); /* it sorts 100,000 names */
        if (code == 0)
                code = e.code;
        if (code < 0)
                return error_wrap(err, "%s", r->wire->public_url);
        r->refs = a.refs;
        r->capabilities = a.capabilities;
        return 0;
}

int remote_open(const struct remote_access *a, enum remote_service service, struct arena *arena,
                int64_t deadline_ms, struct remote **ret, struct error *err)
{
        struct error own = { 0 };
        struct remote *r = NEW(struct remote);

        err = err ? err : &own;
        if (!r)
                return error_no_memory(err);
        *r = (struct remote){ .access = a, .arena = arena, .service = service, .capabilities = "" };
        int code = open_wire(r, deadline_ms, err);

        if (code == 0)
                code = read_refs(r, deadline_ms, err);
        if (code < 0)
                remote_close(r);
        else
                *ret = r;
        return code;
}

struct remote *remote_close(struct remote *r)
{
        if (!r)
                return NULL;
        if (r->wire)
                r->wire->ops->close(r->wire);
        mem_free(r);
        return NULL;
}

const struct git_refs *remote_refs(const struct remote *r)
{
        return &r->refs;
}

uint64_t remote_received(const struct remote *r)
{
        return r->received;
}

bool remote_gives_any(const struct remote *r)
{
        return capability_is(r->capabilities, "allow-reachable-sha1-in-want");
}

int remote_ask(struct remote *r, struct slice question, struct packet_reader *answer, uint64_t most,
               int64_t deadline_ms, struct error *err)
{
        ASSERT(!r->asked);
        r->asked = true;
        int code = r->wire->ops->ask(r->wire, question, answer, most, deadline_ms, err);

        if (code == 0)
                code = packet_reader_end(answer, err);
        return code < 0 ? error_wrap(err, "%s", r->wire->public_url) : 0;
}
