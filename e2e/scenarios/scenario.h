/* Scenarios: a behaviour written down once, as steps, and run on every kind of fleet. The format is described
 * in e2e/scenarios/README.md. */
#pragma once

#include "e2e/scenarios/fleet.h"

enum step_type {
        STEP_APPLY,
        STEP_PATCH,
        STEP_DELETE,
        STEP_EXPECT,
        STEP_ABSENT,
        STEP_UNSERVED,
        STEP_COUNT,
        STEP_HOLDS,
        STEP_REFUSED,
        STEP_ADVANCE,
        STEP_START,
        STEP_STOP,
        STEP_KILL,
        STEP_ENDED,
        STEP_CUT,
        STEP_FREEZE,
        STEP_THAW,
        STEP_HEAL,
        STEP_READINESS,
        STEP_RESTART_SERVER,
        STEP_REMEMBER,
        STEP_SAME
};

struct step {
        enum step_type type;
        const char *const *on; /* clusters, NULL-terminated; ["hub"] if not said */
        bool on_said;
        const char *api_version, *kind, *ns, *name, *selector, *subresource;
        const char *as;          /* service account of fleet-system that writes; NULL = all rights */
        const char *agent;       /* start, stop, kill, ended, cut, heal */
        const char *const *that; /* CEL over `self`, NULL-terminated */
        const char *message;     /* refused: a part of the error's text */
        const json_t *manifests; /* apply, refused: array of objects */
        const json_t *patch;
        int64_t within_ms, for_ms;
        int64_t count, code; /* code: ended */
        bool ready, wait, untouched, within_said;
        const char *text; /* the step in one line, for reports */
};

struct scenario {
        struct arena arena;
        const char *name;
        unsigned members, hub_agents, shards;
        const char *namespace_account; /* NULL = none */
        bool collect_namespaces;
        const char **member_flags; /* ended by NULL; NULL = none */
        bool admission_policies, guard_policies, rule_policies, webhooks, networking_agents, resource_sets;
        struct step *steps;
        size_t n_steps;
        json_t *doc; /* owns the strings of the steps */
};

/* Every unknown key, wrong type and missing field is an error that names the step. */
int scenario_parse(struct slice text, const char *file, struct scenario **ret, struct error *err);
struct scenario *scenario_free(struct scenario *s);

/* A copy of `doc` with each $UID(CLUSTER/KIND/NAME) in its texts replaced by the uid that a "remember" step
 * noted
 * (`remembered`: its array). ERR_NOT_FOUND names one that was not noted. */
int scenario_fill_uids(const json_t *doc, const json_t *remembered, json_t **ret, struct error *err);

/* Runs all steps on a fleet that is set up; the error says which step failed and what was seen instead. */
int scenario_run(const struct scenario *s, struct fleet *f, struct error *err);
