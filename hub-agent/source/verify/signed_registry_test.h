/* Signatures in a registry of the simulated network. */
#pragma once

#include "hub-agent/registry/registry_test.h"
#include "hub-agent/source/verify/sigstore_test.h"

static inline const char *text_in_arena(struct arena *a, const json_t *doc)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        assert_int_equal(doc_write(doc, &b), 0);
        return arena_strndup(a, b.data, b.len);
}

static inline const char *sim_signature(struct registry_sim *sim, const char *repository,
                                        const struct signature *s)
{
        const char *names[] = { "dev.cosignproject.cosign/signature", "dev.sigstore.cosign/certificate",
                                "dev.sigstore.cosign/chain", "dev.sigstore.cosign/bundle" },
                   *values[] = { s->value, s->certificate, s->chain, s->bundle };
        AUTO_JSON json_t *layer = json_pack("{s:s, s:s, s:I, s:{}}", "mediaType", SIGNATURE_LAYER_TYPE,
                                            "digest", sim_blob(sim, repository, s->payload), "size",
                                            (json_int_t)s->payload.len, "annotations");

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (values[i])
                        json_object_set_new(json_object_get(layer, "annotations"), names[i],
                                            json_string(values[i]));
        return text_in_arena(&sim->arena, layer);
}

static inline const char *sim_text_of_manifest(struct registry_sim *sim, const char *repository,
                                               const char *layers, const char *more)
{
        return arena_printf(
                &sim->arena,
                "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_MANIFEST
                "\",\"config\":{\"mediaType\":\"x\",\"digest\":\"%s\",\"size\":2},\"layers\":[%s]%s}",
                sim_blob(sim, repository, SLICE("{}")), layers, more);
}

/* What the manifest of that digest is signed with, from now on. */
static inline void sim_sign(struct registry_sim *sim, const char *repository, const char *digest,
                            const char *layers)
{
        const char *tag = arena_printf(&sim->arena, "sha256-%s.sig", digest + strlen("sha256:"));

        sim_manifest(sim, repository, tag, SIM_OCI_MANIFEST,
                     sim_text_of_manifest(sim, repository, layers, ""));
}
