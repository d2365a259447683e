#include "hub-agent/input-provider/input_provider.h"

#include "hub-agent/input-provider/source.h"

/* ---- the spec ---- */

/* Of rules that an older definition would not have held up. */
static const char *spec_problem(const struct input_provider_spec *s, struct arena *arena)
{
        const char *type = or_empty(s->type), *url = or_empty(s->url);
        bool http = text_starts_with(url, "http://") || text_starts_with(url, "https://");

        if (text_equal(type, PROVIDER_STATIC))
                return url[0] ? "spec.url must be empty when spec.type is 'Static'" : NULL;
        if (text_equal(type, PROVIDER_ARTIFACTS))
                return url[0]                ? "spec.url must be empty when spec.type is 'ExternalArtifact'"
                       : s->selectors.n == 0 ? "spec.selectors must be set when spec.type is "
                                               "'ExternalArtifact'"
                                             : NULL;
        if (!source_is_supported(type))
                return arena_printf(arena, "unsupported type: %s", type);
        if (!url[0])
                return "spec.url must not be empty when spec.type is not 'Static' or 'ExternalArtifact'";
        if (text_starts_with(type, "OCI"))
                return text_starts_with(url, "oci://")
                               ? NULL
                               : "spec.url must start with 'oci://' when spec.type is an "
                                 "OCI provider";
        if (!http)
                return arena_printf(arena,
                                    "spec.url must start with 'http://' or 'https://' when spec.type is %s",
                                    text_starts_with(type, "Git")     ? "a Git provider"
                                    : text_starts_with(type, "Azure") ? "an AzureDevOps provider"
                                                                      : "'ExternalService'");
        if (s->insecure.value && !text_equal(type, "ExternalService"))
                return "spec.insecure can only be set when spec.type is 'ExternalService' or "
                       "'OCIArtifactTag'";
        if (text_equal(type, "ExternalService") && text_starts_with(url, "http://") && !s->insecure.value)
                return "spec.url must use 'https://' unless spec.insecure is true";
        return NULL;
}

static int read_schedule(struct provider_plan *plan, const struct zone_source *zones, struct arena *arena,
                         struct error *err)
{
        const struct input_schedule_list *l = &plan->provider->spec->schedule;
        struct schedule *s = &plan->schedule;

        s->timeout_ms = plan->timeout_ms;
        s->n = l->n;
        s->at = ARENA_NEW_ARRAY(arena, struct schedule_entry, l->n + 1);
        if (!s->at)
                return error_no_memory(err);
        for (size_t i = 0; i < l->n; i++)
                s->at[i] = (struct schedule_entry){ .cron = or_empty(l->at[i].cron),
                                                    .time_zone = l->at[i].time_zone,
                                                    .window = l->at[i].window };
        return schedule_parse(s, zones, arena, err);
}

static int read_filter(struct provider_plan *plan, struct arena *arena, struct error *err)
{
        const struct input_filter *f = plan->provider->spec->filter;
        const struct filter_texts texts =
                f ? (struct filter_texts){ f->include_branch, f->exclude_branch,      f->include_tag,
                                           f->exclude_tag,    f->include_environment, f->exclude_environment,
                                           f->semver,         f->labels.at,           f->labels.n,
                                           f->limit.value }
                  : (struct filter_texts){ 0 };

        return filter_make(&texts, arena, &plan->filter, err);
}

/* Asked for with both annotations, and neither was seen to. */
static bool is_forced(const struct input_provider *p)
{
        const char *force = annotation_of(&p->object, ANNOTATION_FLUX_FORCE_AT);
        const char *asked = annotation_of(&p->object, ANNOTATION_FLUX_REQUESTED);
        const struct input_provider_status *s = p->status;

        return !text_empty(force) && text_equal(force, asked) &&
               !(s && (text_equal(s->last_handled_reconcile_at, asked) ||
                       text_equal(s->last_handled_force_at, force)));
}

static int64_t timeout_of(const struct input_provider *p)
{
        int64_t ms = flux_annotated_ms(&p->object, ANNOTATION_FLUX_TIMEOUT, PROVIDER_TIMEOUT_MS);

        return MIN(ms > 0 ? ms : PROVIDER_TIMEOUT_MS, PROVIDER_TIMEOUT_MAX_MS);
}

int provider_plan(const struct input_provider *p, const struct zone_source *zones, struct arena *arena,
                  struct provider_plan *ret, const char **ret_reason, struct error *err)
{
        const char *problem;

        *ret = (struct provider_plan){
                .provider = p,
                .every_ms = flux_annotated_ms(&p->object, ANNOTATION_FLUX_EVERY, PROVIDER_EVERY_MS),
                .timeout_ms = timeout_of(p),
                .forced = is_forced(p),
                .is_static = text_equal(p->spec->type, PROVIDER_STATIC),
        };
        *ret_reason = REASON_FLUX_INVALID_SCHEDULE;
        TRY(read_schedule(ret, zones, arena, err));
        *ret_reason = REASON_FLUX_INVALID_DEFAULTS;
        TRY(exports_defaults(p->spec->default_values, arena, &ret->defaults, err));
        *ret_reason = REASON_FLUX_INVALID_SPEC;
        problem = spec_problem(p->spec, arena);
        if (problem)
                return error_set(err, ERR_INVALID, "%s", problem);
        return read_filter(ret, arena, err);
}

int provider_former_exports(const struct input_provider *p, json_t **ret, struct error *err)
{
        const struct raw_list *l = p->status ? &p->status->exported_inputs : NULL;
        AUTO_JSON json_t *all = json_array();

        if (!all)
                return error_no_memory(err);
        for (size_t i = 0; l && i < l->n; i++) {
                json_t *one = NULL;

                TRY(doc_parse(l->at[i], &one, err));
                if (json_array_append_new(all, one) < 0)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(all);
        return 0;
}

/* ---- the status ---- */

struct input_provider_status *provider_status(struct input_provider *p, struct arena *arena)
{
        if (!p->status)
                p->status = ARENA_NEW(arena, struct input_provider_status);
        return p->status;
}

int provider_note_handled(struct input_provider *p, struct arena *arena)
{
        const char *asked = annotation_of(&p->object, ANNOTATION_FLUX_REQUESTED);
        const char *force = annotation_of(&p->object, ANNOTATION_FLUX_FORCE_AT);
        struct input_provider_status *s = provider_status(p, arena);

        if (!s)
                return ERR_NO_MEMORY;
        if (!text_empty(asked))
                s->last_handled_reconcile_at = asked;
        if (!text_empty(force))
                s->last_handled_force_at = force;
        return 0;
}

int provider_set_next(struct input_provider *p, const struct schedule_entry *e, int64_t when_ms,
                      struct arena *arena)
{
        struct input_provider_status *s = provider_status(p, arena);

        if (!s)
                return ERR_NO_MEMORY;
        s->next_schedule = NULL;
        if (!e)
                return 0;
        s->next_schedule = ARENA_NEW(arena, struct input_next_schedule);
        if (!s->next_schedule)
                return ERR_NO_MEMORY;
        *s->next_schedule = (struct input_next_schedule){ .cron = e->cron,
                                                          .time_zone = e->time_zone,
                                                          .window = text_empty(e->window) ? "0s" : e->window,
                                                          .when_ms = when_ms };
        return 0;
}

int provider_set_exports(struct input_provider *p, const json_t *exports, struct arena *arena,
                         struct error *err)
{
        struct input_provider_status *s = provider_status(p, arena);

        return s ? exports_store(exports, s, arena, err) : error_no_memory(err);
}

bool provider_is_new(const struct input_provider *p)
{
        const struct condition *ready =
                p->status ? condition_find(&p->status->conditions, CONDITION_FLUX_READY) : NULL;

        return !ready || (text_equal(ready->status, CONDITION_UNKNOWN) && !p->status->last_exported_revision);
}
