#include "member-agent/apply/manifest.h"

#include "common/kube/trouble.h"

static bool is_unanswered(const struct error *why)
{
        return why->code == ERR_UNAUTHORIZED || text_equal(why->reason, KUBE_REASON_NOT_KUBERNETES) ||
               (why->http_status == 0 && (error_is_retryable(why->code) || why->code == ERR_CLOSED));
}

int manifest_fail(struct manifest *m, struct arena *arena, enum result result, const char *lead,
                  const struct error *why)
{
        m->result = result;
        m->unanswered = why && is_unanswered(why);
        m->cause = arena_printf(arena, "%s%s", lead, why ? why->text : "");
        return m->cause ? 0 : ERR_NO_MEMORY;
}

const char *manifest_identity(struct arena *arena, const char *group, const char *version, const char *kind,
                              const char *ns, const char *name)
{
        return arena_printf(arena, "GV=%s/%s, Kind=%s, Namespace=%s, Name=%s", group ? group : "",
                            version ? version : "", kind ? kind : "", ns ? ns : "", name ? name : "");
}

/* "apps/v1" -> apps, v1; "v1" -> core, v1. */
static int split_api_version(struct manifest *m, const char *api_version, struct arena *arena)
{
        const char *slash = strchr(api_version, '/');

        m->group = slash ? arena_strndup(arena, api_version, (size_t)(slash - api_version)) : "";
        m->version = slash ? slash + 1 : api_version;
        return m->group ? 0 : ERR_NO_MEMORY;
}

static int identify(struct manifest *m, struct arena *arena, struct error *why)
{
        const char *api_version = NULL, *generate_name = NULL;

        if (!json_is_object(m->doc))
                return error_set(why, ERR_INVALID, "the manifest is not an object");
        TRY(doc_need_string(m->doc, "kind", &m->kind, why));
        TRY(doc_need_string(m->doc, "apiVersion", &api_version, why));
        if (text_empty(m->kind) || text_empty(api_version))
                return error_set(why, ERR_INVALID, "apiVersion and kind must not be empty");
        TRY(doc_want_string(m->doc, "metadata.name", &m->name, why));
        TRY(doc_want_string(m->doc, "metadata.namespace", &m->ns, why));
        TRY(doc_want_string(m->doc, "metadata.generateName", &generate_name, why));
        TRY(split_api_version(m, api_version, arena));
        if (text_empty(m->ns))
                m->ns = NULL;
        if (text_empty(m->name) && !text_empty(generate_name))
                return manifest_fail(m, arena, RESULT_FOUND_GENERATE_NAME,
                                     "objects with only generate name are not supported", NULL);
        if (text_empty(m->name))
                return error_set(why, ERR_INVALID, "metadata.name is missing");
        m->identity = manifest_identity(arena, m->group, m->version, m->kind, m->ns, m->name);
        return m->identity ? 0 : ERR_NO_MEMORY;
}

int manifest_decode(struct manifest *m, int ordinal, struct slice text, struct arena *arena,
                    struct error *err)
{
        struct error why = { 0 };
        int r;

        *m = (struct manifest){ .ordinal = ordinal, .cause = "", .availability_cause = "" };
        r = doc_parse(text, &m->doc, &why);
        if (r == 0)
                r = doc_keep(arena, m->doc, &why);
        if (r == 0)
                r = identify(m, arena, &why);
        if (r == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (r == 0)
                return 0;
        if (manifest_fail(m, arena, RESULT_DECODING_ERRED, "failed to decode manifest: ", &why) < 0)
                return error_no_memory(err);
        return 0;
}

int manifest_check_place(const struct manifest *m, const char *only_ns, struct error *err)
{
        if (!m->resource.namespaced && m->ns)
                return error_set(err, ERR_INVALID,
                                 "%s is cluster-scoped, but the manifest is in namespace \"%s\"", m->kind,
                                 m->ns);
        if (m->resource.namespaced && !m->ns)
                return error_set(err, ERR_INVALID, "%s is namespaced, but the manifest has no namespace",
                                 m->kind);
        if (only_ns && !m->ns)
                return error_set(err, ERR_INVALID,
                                 "%s is cluster-scoped, but this Work may reach namespace \"%s\" alone",
                                 m->kind, only_ns);
        if (only_ns && !text_equal(m->ns, only_ns))
                return error_set(
                        err, ERR_INVALID,
                        "the manifest is in namespace \"%s\", but this Work may reach namespace \"%s\" alone",
                        m->ns, only_ns);
        return 0;
}

int manifest_mark_duplicates(struct manifest *manifests, size_t n, struct error *err)
{
        struct map seen CLEANUP(map_free);

        map_init(&seen, MAP_BORROW_KEYS, NULL);
        for (size_t i = 0; i < n; i++) {
                struct manifest *m = &manifests[i];

                if (m->result != RESULT_NONE || !m->identity)
                        continue;
                if (map_has(&seen, m->identity)) {
                        m->result = RESULT_DUPLICATED;
                        m->cause = "a duplicate manifest has been found";
                } else if (map_put(&seen, m->identity, m) < 0) {
                        return error_no_memory(err);
                }
        }
        return 0;
}

/* Names may hold anything until the server has judged them: lengths keep them apart. */
const char *object_identity(const char *group, const char *kind, const char *ns, const char *name,
                            struct arena *arena)
{
        return arena_printf(arena, "%zu %zu %zu %s/%s/%s/%s", strlen(group), strlen(kind), strlen(ns), group,
                            kind, ns, name);
}

bool manifest_goes_when_finished(const struct manifest *m)
{
        return text_equal(m->group, "batch") && text_equal(m->kind, "Job") &&
               json_is_integer(json_object_get(json_object_get(m->doc, "spec"), "ttlSecondsAfterFinished"));
}
