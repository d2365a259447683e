/* Placements of a special kind: those that others roll out, and those whose namespace shows their status. */
#include "e2e/simulation/model_parts.h"

#define SYNCED "ClusterResourcePlacementStatusSynced"

static const char *text_of(const json_t *doc, const char *path)
{
        const char *text = doc_get_string(doc, path);

        return text ? text : "";
}

/* ---- strategy External ---- */

/* What all clusters are on: NULL if they are not on one thing, "" if on nothing. */
static const char *common_index(const struct wish *w, const struct model_place *p)
{
        const char *index = NULL;

        for (unsigned i = 1; i <= w->n_members; i++) {
                const char *its = p->chosen >> i & 1 ? text_of(p->entries[i], "observedResourceIndex") : NULL;

                if (index && its && !text_equal(index, its))
                        return NULL;
                index = its ? its : index;
        }
        return index;
}

/* With a rollout that is undecided nothing behind it is told. */
static int judge_undecided(const json_t *status, const char *kind, struct error *err)
{
        static const char *const behind[] = { "Overridden", "WorkSynchronized", "Applied", "Available",
                                              "DiffReported" };
        char type[96];

        for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
                snprintf(type, sizeof(type), "%s%s", kind, behind[i]);
                if (model_condition(status, type))
                        return error_set(err, ERR_INVALID, "condition %s should be absent", type);
        }
        return 0;
}

int model_judge_external(const struct wish *w, const struct model_place *p, struct error *err)
{
        const json_t *status = doc_get_object(p->doc, "status"), *started;
        const char *kind = wish_placement_resource(p->place)->kind, *index = common_index(w, p);
        bool undecided;
        char type[96];

        snprintf(type, sizeof(type), "%sRolloutStarted", kind);
        started = model_condition(status, type);
        if (!p->chosen)
                return started ? error_set(err, ERR_INVALID, "condition %s should be absent", type) : 0;
        undecided = text_equal(doc_get_string(started, "reason"), "RolloutControlledByExternalController");
        if (!text_equal(text_of(status, "observedResourceIndex"), index ? index : ""))
                return error_set(err, ERR_INVALID, "its resource index is %s, its clusters' is %s",
                                 text_of(status, "observedResourceIndex"), index ? index : "not one");
        if ((!index || !*index) && !undecided)
                return error_set(err, ERR_INVALID, "condition %s does not say that others roll it out", type);
        return undecided ? judge_undecided(status, kind, err) : 0;
}

/* ---- statusReportingScope NamespaceAccessible ---- */

/* A status without what it says of its own copy. */
static json_t *told_status(const json_t *status)
{
        json_t *copy = doc_copy(status), *conditions = json_object_get(copy, "conditions");

        for (size_t i = json_array_size(conditions); i-- > 0;)
                if (text_equal(doc_get_string(json_array_get(conditions, i), "type"), SYNCED))
                        json_array_remove(conditions, i);
        return copy;
}

static int judge_synced(const struct model_place *p, bool home, struct error *err)
{
        const json_t *synced = model_condition(doc_get_object(p->doc, "status"), SYNCED);

        if (!text_equal(doc_get_string(synced, "status"), home ? "True" : "False") ||
            doc_get_int(synced, "observedGeneration", -1) != doc_get_int(p->doc, "metadata.generation", 0))
                return error_set(err, ERR_INVALID, "condition " SYNCED " is %s of generation %lld",
                                 text_of(synced, "status"),
                                 (long long)doc_get_int(synced, "observedGeneration", -1));
        return 0;
}

int model_judge_shown(const struct wish *w, const struct model_place *p, struct error *err)
{
        const struct wish_app *a = &w->apps[p->app];
        const struct wish_placement *asked = &a->placements[p->place];
        bool home = a->exists && !a->leaving;

        if (!asked->exists || !asked->accessible || !home) {
                if (p->shown)
                        return error_set(err, ERR_INVALID, "its status is shown in its namespace");
                return asked->exists && asked->accessible ? judge_synced(p, home, err) : 0;
        }
        if (!p->shown)
                return error_set(err, ERR_INVALID, "its status is not shown in its namespace");
        AUTO_JSON json_t *told = told_status(doc_get_object(p->doc, "status"));
        if (!json_equal(told, doc_get_object(p->shown, "sourceStatus")))
                return error_set(err, ERR_INVALID, "its namespace shows another status than it has");
        return judge_synced(p, home, err);
}
