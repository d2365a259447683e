#include "kubectl-fleet/page/page_tls.h"

#include "common/base/memory.h"

#define FILE_BYTES (1u << 20)
#define LOOK_MS 5000

static void look_at(const struct page_tls *t, uint64_t ret[2])
{
        const struct world *w = t->world;

        ret[0] = w->files->stamp(w->ctx, t->cert_file);
        ret[1] = w->files->stamp(w->ctx, t->key_file);
}

static int read_both(const struct page_tls *t, struct tls_identity *ret, struct error *err)
{
        struct world *w = t->world;
        size_t n;

        TRY(w->files->read(w->ctx, t->cert_file, FILE_BYTES, &ret->cert_pem, &n, err));
        TRY(w->files->read(w->ctx, t->key_file, FILE_BYTES, &ret->key_pem, &n, err));
        if (!cert_has_key(ret->cert_pem, ret->key_pem))
                return error_set(err, ERR_INVALID, "%s is not the key of the certificate in %s", t->key_file,
                                 t->cert_file);
        return 0;
}

int page_tls_read(struct page_tls *t, struct error *err)
{
        look_at(t, t->stamps);
        return read_both(t, &t->identity, err);
}

/* Files are replaced one after the other: a pair that does not fit is looked at again. */
static int take_over(struct page_tls *t, const uint64_t stamps[2], struct error *err)
{
        CLEANUP(tls_identity_free) struct tls_identity fresh = { 0 };

        TRY(read_both(t, &fresh, err));
        TRY(page_set_identity(t->page, &fresh, err));
        memcpy(t->stamps, stamps, sizeof(t->stamps));
        t->told(t->ctx, "The certificate was renewed.");
        return 0;
}

static void follow(void *ctx)
{
        struct page_tls *t = ctx;
        uint64_t told[2] = { 0 }, now[2];

        while (fiber_sleep(t->world->loop, LOOK_MS) == 0) {
                char text[ERROR_TEXT_MAX + 64];
                struct error err = { 0 };

                look_at(t, now);
                if (memcmp(now, t->stamps, sizeof(now)) == 0 || take_over(t, now, &err) == 0 ||
                    memcmp(now, told, sizeof(now)) == 0)
                        continue;
                memcpy(told, now, sizeof(told)); /* once */
                snprintf(text, sizeof(text), "The certificate is not renewed: %s", err.text);
                t->told(t->ctx, text);
        }
}

int page_tls_follow(struct fiber_group *group, struct page_tls *t)
{
        return fiber_spawn(group, "page certificate", follow, t) ? 0 : ERR_NO_MEMORY;
}
