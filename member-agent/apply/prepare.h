/* From a manifest to the request that applies it: spec/member-agent.md 2.10. Pure: documents in, documents
 * out. */
#pragma once

#include "common/json/doc.h"
#include "common/kube/client.h"
#include "member-agent/apply/owner.h"
#include "proto/names.h"

struct prepared {
        json_t *doc; /* what is sent: sanitized, with hash, owner reference and last-applied annotation */
        bool last_applied_set; /* false: not wanted (server side), or too large to be kept in an annotation */
};
void prepared_free(struct prepared *p);

/* `hash` is clean_hash() of the manifest. */
int prepare_manifest(const json_t *manifest, const char *hash, const struct owner *o, enum apply_type type,
                     struct prepared *ret, struct error *err);

/* How an existing object is brought in line. */
enum request { REQUEST_NOTHING, REQUEST_PATCH, REQUEST_APPLY };
struct apply_request {
        enum request request;
        enum kube_patch_type patch_type;
        json_t *body; /* new */
        bool force;
};
void apply_request_free(struct apply_request *r);
/* With s->only_if_not_drifted the body carries the live resourceVersion, so a concurrent change is a
 * conflict. An empty three-way patch is REQUEST_NOTHING. */
int prepare_request(const struct prepared *p, const json_t *live, const char *group, const char *kind,
                    const struct strategy *s, struct apply_request *ret, struct error *err);
/* Before an apply of a manifest that changed (`hash` is not the one noted on `live`), what we wrote by other
 * means becomes our Apply entry's: managed_adoption() of managed.h. */
int prepare_adoption(const struct prepared *p, const json_t *live, const char *hash, const struct strategy *s,
                     json_t **ret, struct error *err);
/* Server-side apply is forced when every entry of managedFields is ours: otherwise our own earlier writes
 * conflict. */
bool prepare_only_own_managers(const json_t *live);
