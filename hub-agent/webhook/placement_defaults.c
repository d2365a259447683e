/* What a placement gets that its author left out: spec/membership-webhooks-charts.md 5.1. Only those fields
 * are touched, so that what this agent does not know of stays. */
#include "hub-agent/webhook/rules.h"

struct filling {
        json_t *patch;
        bool no_memory;
};

/* null counts as unset, as for the decoder. */
static bool is_unset(const json_t *object, const char *key)
{
        const json_t *value = json_object_get(object, key);

        return !value || json_is_null(value);
}

/* `value` is taken. */
static void fill(struct filling *f, const json_t *object, const char *path, const char *key, json_t *value)
{
        if (!value) {
                f->no_memory = true;
                return;
        }
        if (!is_unset(object, key)) {
                json_decref(value);
                return;
        }
        if (json_array_append_new(f->patch, json_pack("{s:s,s:o,s:o}", "op", "add", "path",
                                                      json_sprintf("%s/%s", path, key), "value", value)) < 0)
                f->no_memory = true;
}

static void fill_each(struct filling *f, const json_t *policy, const char *list,
                      void (*each)(struct filling *f, const json_t *item, const char *path))
{
        size_t i;
        json_t *item;

        json_array_foreach(json_object_get(policy, list), i, item) {
                char path[80];

                snprintf(path, sizeof(path), "/spec/policy/%s/%zu", list, i);
                if (json_is_object(item))
                        each(f, item, path);
        }
}

static void fill_constraint(struct filling *f, const json_t *c, const char *path)
{
        fill(f, c, path, "maxSkew", json_integer(1));
        fill(f, c, path, "whenUnsatisfiable", json_string("DoNotSchedule"));
}

static void fill_toleration(struct filling *f, const json_t *t, const char *path)
{
        fill(f, t, path, "operator", json_string("Equal"));
}

static json_t *rolling_update(void)
{
        return json_pack("{s:s,s:s,s:i}", "maxUnavailable", "25%", "maxSurge", "25%",
                         "unavailablePeriodSeconds", 60);
}

static json_t *apply_strategy(void)
{
        return json_pack("{s:s,s:s,s:s,s:s}", "type", APPLY_CLIENT_SIDE, "comparisonOption",
                         COMPARISON_PARTIAL, "whenToApply", WHEN_TO_APPLY_ALWAYS, "whenToTakeOver",
                         TAKE_OVER_ALWAYS);
}

static void fill_members(struct filling *f, const json_t *object, const char *path, json_t *defaults)
{
        const char *key;
        json_t *value;

        f->no_memory = f->no_memory || !defaults;
        json_object_foreach(defaults, key, value)
                fill(f, object, path, key, json_incref(value));
        json_decref(defaults);
}

static void fill_apply_strategy(struct filling *f, const json_t *apply)
{
        static const char path[] = "/spec/strategy/applyStrategy";

        fill_members(f, apply, path, apply_strategy());
        if (text_equal(doc_get_string(apply, "type"), APPLY_SERVER_SIDE))
                fill(f, apply, path, "serverSideApplyConfig", json_pack("{s:b}", "force", 0));
}

static void fill_strategy(struct filling *f, const json_t *strategy)
{
        static const char path[] = "/spec/strategy";
        const char *type = doc_get_string(strategy, "type");

        fill(f, strategy, path, "type", json_string(ROLLOUT_ROLLING_UPDATE));
        if (!type || text_equal(type, ROLLOUT_ROLLING_UPDATE)) {
                if (is_unset(strategy, "rollingUpdate"))
                        fill(f, strategy, path, "rollingUpdate", rolling_update());
                else
                        fill_members(f, json_object_get(strategy, "rollingUpdate"),
                                     "/spec/strategy/rollingUpdate", rolling_update());
        }
        if (is_unset(strategy, "applyStrategy"))
                fill(f, strategy, path, "applyStrategy", apply_strategy());
        else
                fill_apply_strategy(f, json_object_get(strategy, "applyStrategy"));
}

static void fill_spec(struct filling *f, const json_t *spec)
{
        const json_t *policy = json_object_get(spec, "policy");

        fill(f, spec, "/spec", "policy", json_pack("{s:s}", "placementType", PLACEMENT_PICK_ALL));
        fill_each(f, policy, "topologySpreadConstraints", fill_constraint);
        fill_each(f, policy, "tolerations", fill_toleration);
        fill(f, spec, "/spec", "strategy", json_object());
        fill_strategy(f, json_object_get(spec, "strategy"));
        fill(f, spec, "/spec", "revisionHistoryLimit", json_integer(10));
}

int placement_defaults(const json_t *placement, json_t **ret, struct error *err)
{
        const json_t *spec = json_object_get(placement, "spec");
        AUTO_JSON json_t *patch = json_array();
        struct filling f = { .patch = patch };

        if (!patch)
                return error_no_memory(err);
        if (json_is_object(spec))
                fill_spec(&f, spec);
        if (f.no_memory)
                return error_no_memory(err);
        *ret = TAKE_PTR(patch);
        return 0;
}

int placement_mutate(struct admission_call *c)
{
        const struct object *o;
        int code;

        if (c->request.operation == ADMISSION_DELETE)
                return admission_allow(c);
        if (admission_cannot_decode(c, &cluster_resource_placement_kind, c->request.object, &o, &code))
                return code;
        TRY(placement_defaults(c->request.object, &c->answer.patch, c->err));
        return admission_allow(c);
}
