/* Which manifest of an index is meant. */
#include "hub-agent/registry/manifest.h"

#define CANDIDATES_MAX 16

static bool is_for_linux_amd64(const json_t *entry)
{
        return text_equal(doc_get_string(entry, "platform.os"), "linux") &&
               text_equal(doc_get_string(entry, "platform.architecture"), "amd64");
}

static bool is_manifest(const struct registry_descriptor *d)
{
        return text_equal(d->media_type, OCI_MANIFEST) || text_equal(d->media_type, DOCKER_MANIFEST);
}

static int fetch_entry(struct registry *r, const struct registry_descriptor *d, struct registry_manifest *ret,
                       struct error *err)
{
        TRY(registry_fetch_manifest(r, d->digest, ret, err));
        return registry_is_index(ret) ? error_set(err, ERR_INVALID, "%s is an index in an index", d->digest)
                                      : 0;
}

static int pick_platform(struct registry *r, const struct registry_manifest *index,
                         struct registry_manifest *ret, struct error *err)
{
        struct registry_descriptor d;
        const json_t *one;
        size_t i;

        json_array_foreach(doc_get_array(index->doc, "manifests"), i, one)
                if (is_for_linux_amd64(one)) {
                        TRY(registry_descriptor_read(one, &d, err));
                        return fetch_entry(r, &d, ret, err);
                }
        return error_set(err, ERR_INVALID, "the index %s has no manifest for linux/amd64", index->digest);
}

static bool is_chart(const struct registry_manifest *m)
{
        return text_equal(doc_get_string(m->doc, "config.mediaType"), REGISTRY_CHART_CONFIG);
}

/* Entries that say what they are of are believed; the others are looked at. */
static int look_for_chart(struct registry *r, const json_t *entry, size_t *n_looked,
                          struct registry_manifest *ret, bool *ret_found, struct error *err)
{
        struct registry_descriptor d;

        *ret_found = false;
        TRY(registry_descriptor_read(entry, &d, err));
        if (!is_manifest(&d) || (*d.artifact_type && !text_equal(d.artifact_type, REGISTRY_CHART_CONFIG)))
                return 0;
        if ((*n_looked)++ >= CANDIDATES_MAX)
                return error_set(err, ERR_LIMIT, "an index of more than %d manifests that may be a chart",
                                 CANDIDATES_MAX);
        TRY(fetch_entry(r, &d, ret, err));
        *ret_found = is_chart(ret);
        return 0;
}

static int pick_chart(struct registry *r, const struct registry_manifest *index,
                      struct registry_manifest *ret, struct error *err)
{
        size_t n_looked = 0, n_found = 0, i;
        const json_t *one;

        json_array_foreach(doc_get_array(index->doc, "manifests"), i, one) {
                struct registry_manifest m;
                bool found;

                TRY(look_for_chart(r, one, &n_looked, &m, &found, err));
                if (found && n_found++ == 0)
                        *ret = m;
        }
        if (n_found == 1)
                return 0;
        return error_set(err, ERR_INVALID, "the index %s has %s", index->digest,
                         n_found ? "several charts" : "no chart");
}

int registry_manifest(struct registry *r, const char *reference, enum registry_pick pick,
                      struct registry_manifest *ret, struct error *err)
{
        struct registry_manifest m, picked = { 0 };

        registry_begin(r);
        TRY(registry_fetch_manifest(r, reference, &m, err));
        if (pick == REGISTRY_AS_IT_IS || !registry_is_index(&m)) {
                *ret = m;
                return 0;
        }
        TRY(pick == REGISTRY_ONE_CHART ? pick_chart(r, &m, &picked, err)
                                       : pick_platform(r, &m, &picked, err));
        picked.asked = m.digest;
        *ret = picked;
        return 0;
}
