/* One provider's spec as rules want it, and its status. Pure. spec/resource-set.md 17, 18. */
#pragma once

#include "hub-agent/flux_state.h"
#include "hub-agent/input-provider/exports.h"
#include "hub-agent/input-provider/schedule.h"

#define PROVIDER_EVERY_MS (10 * 60000)
#define PROVIDER_TIMEOUT_MS (2 * 60000)
#define PROVIDER_TIMEOUT_MAX_MS (60 * 60000)
#define PROVIDER_BACKOFF_MS 750
#define PROVIDER_BACKOFF_MAX_MS (15 * 60000)
#define PROVIDER_STATIC "Static"
#define PROVIDER_ARTIFACTS "ExternalArtifact"

#define ANNOTATION_FLUX_FORCE_AT "reconcile.fluxcd.io/forceAt"
#define REASON_FLUX_INVALID_DEFAULTS "InvalidDefaultValues"
#define REASON_FLUX_INVALID_EXPORTS "InvalidExportedInputs"
#define REASON_FLUX_INVALID_SPEC "InvalidSpec"
#define REASON_FLUX_INVALID_SCHEDULE "InvalidSchedule"
#define REASON_FLUX_SKIPPED "SkippedDueToSchedule"

/* What a run needs of the spec; texts borrowed, the rest in the arena. */
struct provider_plan {
        const struct input_provider *provider; /* whole, not a projection */
        int64_t every_ms, timeout_ms;
        struct schedule schedule;
        struct filter filter;
        json_t *defaults; /* NULL = none */
        bool forced, is_static;
};

/* ERR_INVALID: *ret_reason says of which kind a stall is. */
int provider_plan(const struct input_provider *p, const struct zone_source *zones, struct arena *arena,
                  struct provider_plan *ret, const char **ret_reason, struct error *err);
/* The exports as they are, for what skip labels freeze; new. */
int provider_former_exports(const struct input_provider *p, json_t **ret, struct error *err);

/* ---- on a copy to change ---- */

/* Its status, made if there is none; NULL on no memory. */
struct input_provider_status *provider_status(struct input_provider *p, struct arena *arena);
/* requestedAt and forceAt are taken as acted on. ERR_NO_MEMORY. */
int provider_note_handled(struct input_provider *p, struct arena *arena);
/* NULL = none. ERR_NO_MEMORY. */
int provider_set_next(struct input_provider *p, const struct schedule_entry *e, int64_t when_ms,
                      struct arena *arena);
int provider_set_exports(struct input_provider *p, const json_t *exports, struct arena *arena,
                         struct error *err);
/* Whether it has never run: nothing but what a new object is given. */
bool provider_is_new(const struct input_provider *p);
