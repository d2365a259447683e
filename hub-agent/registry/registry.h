/* Registries of charts, images and what else is kept the same way, as a client sees them: one repository of
 * one registry at a time. spec/helm-chart.md 9, spec/resource-set.md 19.7.
 *
 * All but the parsing parks, until the transfer's deadline at most. Texts and documents that are handed out
 * are in the transfer's arena. An answer of another status than 2xx is an error with http_status, and with
 * retry_after_ms where the registry names a time: ERR_NOT_FOUND (404), ERR_UNAUTHORIZED (401), ERR_FORBIDDEN
 * (403), ERR_TOO_MANY (429), else ERR_RETRY. Its text, unless `refused` makes another:
 *
 *     GET "https://host/v2/team/app/manifests/1.0.0": response status code 404: manifest unknown: ...
 */
#pragma once

#include "common/base/map.h"
#include "common/json/doc.h"
#include "hub-agent/transfer/secret.h"
#include "hub-agent/transfer/transfer.h"

#define REGISTRY_TAGS_MAX 10000
#define REGISTRY_MANIFEST_BYTES (4u << 20)
#define REGISTRY_REFERRERS_MAX 1000
#define REGISTRY_TRIES 5

/* ---- tokens ---- */

/* What registries gave, by host, repository and credential, until it ends: kept from run to run, for all
 * objects of one agent. */
struct registry_tokens {
        struct map by_use;
};
void registry_tokens_init(struct registry_tokens *t);
void registry_tokens_free(struct registry_tokens *t);

/* ---- a repository ---- */

/* Where it is, as requests name it. */
struct registry_place {
        const char *host; /* with its port */
        const char *path;
};
/* Of "oci://host[:port]/path". A repository of the hub of Docker whose name has one part is in its library.
 * ERR_INVALID: it is no such URL. */
int registry_place_parse(const char *url, struct arena *arena, struct registry_place *ret, struct error *err);

enum registry_scheme {
        REGISTRY_HTTPS,
        REGISTRY_HTTP,
        REGISTRY_EITHER /* http where no TLS is spoken */
};

struct registry {
        /* The caller's. */
        struct transfer *transfer;
        struct registry_tokens *tokens; /* NULL = they are of this struct alone */
        struct registry_place place;
        struct docker_login login; /* username NULL = nobody's */
        enum registry_scheme scheme;
        int64_t timeout_ms; /* of each operation from when it begins; 0 = the transfer's deadline is of all */
        int tries;          /* of one request; 0 = REGISTRY_TRIES */
        /* Makes the error of a status, in place of the text above; NULL = that. */
        int (*refused)(void *ctx, const struct transfer_call *c, const struct http_response *a,
                       struct error *err);
        void *ctx;

        /* Its own. */
        const char *origin;        /* "https://host"; docker.io is where its registry is */
        const char *key;           /* of the cache of tokens */
        const char *authorization; /* NULL = none was asked for yet */
};
/* Makes the registry ready; asks nothing. ERR_NO_MEMORY. */
int registry_open(struct registry *r, struct error *err);

/* ---- what is in it ---- */

struct registry_tag_sink {
        int (*take)(void *ctx, const char *tag, struct error *err); /* the text is gone afterwards */
        void *ctx;
};
/* In the registry's order. ERR_LIMIT: more than `most` (0 = REGISTRY_TAGS_MAX). */
int registry_tags(struct registry *r, size_t most, const struct registry_tag_sink *sink, struct error *err);

/* What a tag leads to: "sha256:...". A plus in the tag is asked for as '_'. */
int registry_resolve(struct registry *r, const char *tag, const char **ret_digest, struct error *err);

#define REGISTRY_CHART_CONFIG "application/vnd.cncf.helm.config.v1+json"

enum registry_pick {
        REGISTRY_AS_IT_IS,   /* an index is handed out */
        REGISTRY_ONE_CHART,  /* of an index the one that has the config of a chart */
        REGISTRY_LINUX_AMD64 /* of an index the one for that platform */
};

struct registry_manifest {
        struct slice bytes;
        json_t *doc; /* an object */
        const char *media_type;
        const char *digest; /* of the bytes */
        const char *asked;  /* what the tag or digest led to: another than digest if that was an index */
};
/* `reference`: a tag, or "sha256:...", which the bytes then have. ERR_INVALID: a digest is not what it should
 * be, it is no manifest, or the index has not just the one that is picked; ERR_LIMIT. */
int registry_manifest(struct registry *r, const char *reference, enum registry_pick pick,
                      struct registry_manifest *ret, struct error *err);

/* What a manifest or an index says of something that it is made of. */
struct registry_descriptor {
        const char *media_type, *digest, *artifact_type; /* artifact_type "" = none */
        uint64_t size;
        const json_t *annotations; /* texts by key; NULL = none */
};
/* Borrows from the document. ERR_INVALID: no type, no size, or no digest by SHA-256. */
int registry_descriptor_read(const json_t *doc, struct registry_descriptor *ret, struct error *err);

/* The bytes, as they come; what was written is of no use after a failure. ERR_INVALID: size or digest are not
 * as the descriptor says. How much may be written is the caller's to judge by d->size, before. */
int registry_blob(struct registry *r, const struct registry_descriptor *d, const struct transfer_sink *sink,
                  struct error *err);
/* The same into the arena; ERR_LIMIT: it has more than `most` bytes. */
int registry_blob_read(struct registry *r, const struct registry_descriptor *d, size_t most,
                       struct slice *ret, struct error *err);

struct registry_referrers {
        struct registry_descriptor *at;
        size_t n;
};
/* Manifests that say they are about the one of that digest; of one artifact type, or NULL = of all.
 * Registries that do not know of this keep an index under a tag made of the digest, which is asked for then.
 * ERR_LIMIT: more than REGISTRY_REFERRERS_MAX. */
int registry_referrers(struct registry *r, const char *digest, const char *artifact_type,
                       struct registry_referrers *ret, struct error *err);
