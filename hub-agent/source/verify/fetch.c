#include "hub-agent/source/verify/fetch.h"

#include "hub-agent/source/verify/log_lookup.h"

#define BUNDLE_EMPTY "application/vnd.oci.empty.v1+json"

/* All that was found. */
struct found {
        struct registry *registry;
        struct arena *arena; /* the transfer's */
        struct signature *at;
        size_t n;
        uint64_t bytes;
};

/* ---- blobs ---- */

static int read_blob(struct found *f, const struct registry_descriptor *d, struct slice *ret,
                     struct error *err)
{
        if (d->size > SIGNATURE_BYTES)
                return error_set(err, ERR_LIMIT, "%s: a signature has more than %u bytes", d->digest,
                                 SIGNATURE_BYTES);
        f->bytes += d->size;
        if (f->bytes > SIGNATURE_TOTAL_BYTES)
                return error_set(err, ERR_LIMIT, "its signatures have more than %u bytes",
                                 SIGNATURE_TOTAL_BYTES);
        return registry_blob_read(f->registry, d, SIGNATURE_BYTES, ret, err);
}

static struct signature *next(struct found *f, struct error *err)
{
        if (f->n >= SIGNATURE_LAYERS) {
                error_set(err, ERR_LIMIT, "it has more than %d signatures", SIGNATURE_LAYERS);
                return NULL;
        }
        f->at[f->n] = (struct signature){ 0 };
        return &f->at[f->n];
}

/* ---- layers, under a tag ---- */

static const char *annotation(const struct registry_descriptor *d, const char *name)
{
        return json_string_value(json_object_get(d->annotations, name));
}

static int read_layer(struct found *f, const json_t *doc, struct error *err)
{
        struct registry_descriptor d;
        struct signature *s;

        TRY(registry_descriptor_read(doc, &d, err));
        if (!text_equal(d.media_type, SIGNATURE_LAYER_TYPE))
                return 0;
        s = next(f, err);
        if (!s)
                return ERR_LIMIT;
        TRY(read_blob(f, &d, &s->payload, err));
        s->value = annotation(&d, "dev.cosignproject.cosign/signature");
        s->certificate = annotation(&d, "dev.sigstore.cosign/certificate");
        s->chain = annotation(&d, "dev.sigstore.cosign/chain");
        s->bundle = annotation(&d, "dev.sigstore.cosign/bundle");
        f->n++;
        return 0;
}

static int read_layers(struct found *f, const json_t *manifest, struct error *err)
{
        const json_t *one;
        size_t i;

        json_array_foreach(doc_get_array(manifest, "layers"), i, one)
                if (read_layer(f, one, err) < 0)
                        return error_wrap(err, "layers[%zu]", i);
        return 0;
}

static const char *hex_of(const char *digest)
{
        const char *colon = strchr(digest, ':');

        return colon ? colon + 1 : digest;
}

static int fetch_layers(struct found *f, const char *digest, struct error *err)
{
        const char *tag = arena_printf(f->arena, "sha256-%s.sig", hex_of(digest));
        struct registry_manifest m;

        if (!tag)
                return error_no_memory(err);
        if (registry_manifest(f->registry, tag, REGISTRY_AS_IT_IS, &m, err) < 0)
                return err->code == ERR_NOT_FOUND ? 0 : err->code;
        return read_layers(f, m.doc, err) < 0 ? error_wrap(err, "%s", tag) : 0;
}

/* ---- bundles, which refer to the manifest ---- */

static int read_bundle(struct found *f, const json_t *layer, struct error *err)
{
        struct registry_descriptor d;
        struct signature *s;

        TRY(registry_descriptor_read(layer, &d, err));
        if (!text_equal(d.media_type, SIGNATURE_BUNDLE_TYPE))
                return 0;
        s = next(f, err);
        if (!s)
                return ERR_LIMIT;
        TRY(read_blob(f, &d, &s->whole, err));
        f->n++;
        return 0;
}

static int read_referrer(struct found *f, const struct registry_descriptor *d, struct error *err)
{
        struct registry_manifest m;
        const json_t *layers;

        TRY(registry_manifest(f->registry, d->digest, REGISTRY_AS_IT_IS, &m, err));
        layers = doc_get_array(m.doc, "layers");
        return json_array_size(layers) == 1 ? read_bundle(f, json_array_get(layers, 0), err) : 0;
}

/* In the index that stands in for a registry that knows no referrers, cosign 2.6 has the type of the config
 * in place of the manifest's. */
static bool may_be_bundle(const struct registry_descriptor *d)
{
        return text_equal(d->artifact_type, SIGNATURE_BUNDLE_TYPE) ||
               text_equal(d->artifact_type, BUNDLE_EMPTY) || text_empty(d->artifact_type);
}

static int fetch_bundles(struct found *f, const char *digest, struct error *err)
{
        struct registry_referrers all;
        size_t n = 0;

        TRY(registry_referrers(f->registry, digest, NULL, &all, err));
        for (size_t i = 0; i < all.n; i++) {
                if (!may_be_bundle(&all.at[i]))
                        continue;
                if (++n > SIGNATURE_LAYERS)
                        return error_set(err, ERR_LIMIT, "more than %d manifests may hold its signatures",
                                         SIGNATURE_LAYERS);
                TRY(read_referrer(f, &all.at[i], err));
        }
        return 0;
}

/* ---- judging ---- */

struct job {
        const struct signature_trust *trust;
        const char *digest, *reference;
        const struct found *found;
        struct arena arena;
        struct error err;
        int code;
};

static void run_job(void *ctx)
{
        struct job *j = ctx;

        j->code = signatures_check(j->trust, j->digest, j->reference, j->found->at, j->found->n, &j->arena,
                                   &j->err);
}

/* Keys and curves are reckoned with beside the loop. */
static int judge(struct job *j, struct error *err)
{
        int code;

        j->err = (struct error){ 0 };
        code = offload(j->found->registry->transfer->world->loop, run_job, j, err);
        arena_free(&j->arena);
        if (code < 0 || j->code == 0)
                return code;
        *err = j->err;
        return j->code;
}

/* ---- both places ---- */

static bool ends_all(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

typedef int (*fetching)(struct found *f, const char *digest, struct error *err);

/* The time of the registry's operations is over by now. */
static int ask_logs(struct found *f, const struct signature_trust *t, struct error *err)
{
        struct transfer own = *f->registry->transfer;

        if (t->n_keys > 0)
                return 0;
        if (f->registry->timeout_ms > 0)
                own.deadline_ms = loop_now_ms(own.world->loop) + f->registry->timeout_ms;
        return log_look_up(&own, t->root, f->at, f->n, err);
}

/* What cannot be fetched does not take away what can. */
static int try_place(struct found *f, fetching fetch, struct job *j, struct error *ret_trouble,
                     struct error *err)
{
        int code;

        f->n = 0;
        code = fetch(f, j->digest, err);
        if (ends_all(code))
                return code;
        if (code < 0 && ret_trouble->code == 0)
                *ret_trouble = *err;
        if (f->n == 0)
                return ERR_NOT_FOUND;
        TRY(ask_logs(f, j->trust, err));
        return judge(j, err);
}

static int try_places(struct found *f, struct job *j, struct error *err)
{
        static const fetching places[] = { fetch_bundles, fetch_layers };
        struct error trouble = { 0 }, refused = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(places); i++) {
                int code = try_place(f, places[i], j, &trouble, err);

                if (code == 0 || ends_all(code))
                        return code;
                if (code != ERR_NOT_FOUND && refused.code == 0)
                        refused = *err;
        }
        if (refused.code < 0)
                *err = refused;
        else if (trouble.code < 0)
                error_set(err, ERR_FORBIDDEN, "failed to verify %s: %s", j->reference, trouble.text);
        else
                return judge(j, err); /* of none: says so */
        return err->code;
}

int signatures_verify(struct registry *r, const struct signature_trust *t, const char *digest,
                      const char *reference, struct error *err)
{
        struct found f = { .registry = r, .arena = r->transfer->arena };
        struct job j = { .trust = t, .digest = digest, .reference = reference, .found = &f };
        struct error own = { 0 };
        int code;

        f.at = ARENA_NEW_ARRAY(f.arena, struct signature, SIGNATURE_LAYERS);
        if (!f.at)
                return error_no_memory(err);
        code = try_places(&f, &j, &own);
        if (code < 0 && err)
                *err = own;
        return code;
}
