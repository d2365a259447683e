/* What the rules of admission share: how they answer, how they collect what is wrong, and how they print what
 * they speak of. Private to hub-agent/webhook. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/common.h"
#include "hub-agent/webhook/admission.h"

struct admission_call {
        const struct admission_world *world;
        const struct webhook *webhook;
        struct arena *arena;
        struct admission_request request;
        struct admission_answer answer;
        struct error *err;
};

/* ---- answers (spec 4.1) ---- */

/* Each fills the answer and is what a rule returns. A NULL message is ERR_NO_MEMORY. */
int admission_answer_with(struct admission_call *c, bool allowed, int code, const char *reason,
                          const char *message);
int admission_allow(struct admission_call *c);
#define ADMISSION_ALLOW(c, ...)                                                                              \
        admission_answer_with((c), true, 200, NULL, arena_printf((c)->arena, __VA_ARGS__))
#define ADMISSION_DENY(c, ...)                                                                               \
        admission_answer_with((c), false, 403, "Forbidden", arena_printf((c)->arena, __VA_ARGS__))
/* What keeps the rule from an answer is told with the code, unless it ends this process' work as well. */
int admission_fail(struct admission_call *c, int code, const struct error *why);
const char *admission_operation_name(enum admission_operation op);

/* The object, or the old one, as a typed object. Nonzero: it cannot be decoded, and what to return is in
 * *ret_code: the answer is given. */
bool admission_cannot_decode(struct admission_call *c, const struct kind *kind, const json_t *doc,
                             const struct object **ret, int *ret_code);
/* Whether an update leaves the spec as it was: then it is not the one to be told what is wrong with it. */
bool admission_keeps_spec(const struct admission_call *c);

bool is_reserved_namespace(const char *ns); /* the fleet's and Kubernetes' own */

/* ---- faults: a list of errors as the API machinery joins it (spec 4.1) ---- */

struct faults {
        struct arena *arena;
        const char **at;
        size_t n, cap, untold;
        bool no_memory;
};
/* A NULL text is no memory; one that is there already is passed over. */
void fault_add(struct faults *f, const char *text);
#define FAULT(f, ...) fault_add((f), arena_printf((f)->arena, __VA_ARGS__))
/* "fault", or "[fault, fault]"; NULL on no memory. */
const char *faults_text(const struct faults *f);
/* The text, or "" for NULL, which is no memory. */
const char *text_made(const char *text, struct faults *f);
/* Several texts as one, with "; " between them. */
const char *texts_joined(const char *const *texts, size_t n, struct faults *f);

/* Denies with the faults behind `head`. */
int admission_deny_faults(struct admission_call *c, const char *head, const struct faults *f);

/* Texts seen so far: true at the second time. A lack of memory is a fault. */
bool seen_before(struct map *seen, const char *text, struct faults *f);

/* ---- in the words of Kubernetes (spec 5.2) ---- */

#define NAME_FAULTS_MAX 4
/* What is wrong with a qualified name ("example.com/name"): fixed texts; returns how many. */
size_t qualified_name_faults(const char *s, const char *ret[NAME_FAULTS_MAX]);
size_t subdomain_faults(const char *s, const char *ret[NAME_FAULTS_MAX]);
size_t label_value_faults(const char *s, const char *ret[NAME_FAULTS_MAX]);
/* What is wrong with a selector; NULL: nothing. */
const char *label_selector_fault(const struct label_selector *s, struct faults *f);

/* As Go prints them with %+v. A lack of memory is a fault, and "". */
const char *selector_text(const struct resource_selector *s, struct faults *f);
const char *label_selector_text(const struct label_selector *s, struct faults *f);
const char *term_text(const struct cluster_selector_term *t, struct faults *f);
const char *toleration_text(const struct toleration *t, struct faults *f);
const char *taint_text(const struct taint *t, struct faults *f);

/* ---- placements (spec 5.1, 5.2) ---- */

/* JSON patch that fills what is unset; *ret is a new array, empty if nothing is. The document must decode. */
int placement_defaults(const json_t *placement, json_t **ret, struct error *err);
void placement_policy_faults(const struct placement_policy *p, struct faults *f);
void placement_strategy_faults(const struct rollout_strategy *s, struct faults *f);
void property_name_faults(const char *name, const char *format_prefix, struct faults *f);
void property_selector_faults(const struct property_selector *s, struct faults *f);
/* `the labelSelector in WHERE <ls> is invalid: why`. */
void label_selector_faults(const struct label_selector *s, const char *where, struct faults *f);
int placement_mutate(struct admission_call *c);
int cluster_placement_validate(struct admission_call *c);
int own_placement_validate(struct admission_call *c);

/* ---- overrides (spec 5.3, 5.4) ---- */

void override_policy_faults(const struct override_policy *p, struct faults *f);
int cluster_override_validate(struct admission_call *c);
int own_override_validate(struct admission_call *c);

/* ---- the others (spec 5.5-5.8) ---- */

int eviction_validate(struct admission_call *c);
int budget_validate(struct admission_call *c);
int member_validate(struct admission_call *c);
int pod_validate(struct admission_call *c);
int replica_set_validate(struct admission_call *c);
int pod_budget_validate(struct admission_call *c);

int guard_rail_validate(struct admission_call *c);
/* What the guard rail says in general: who may, who may not. */
int guard_rail_permit(struct admission_call *c, bool may, const char *more);
bool guard_rail_knows(const struct admission_call *c); /* a user who may do what is not for everybody */
bool user_in_group(const struct admission_request *r, const char *group);
int guard_rail_member_cluster(struct admission_call *c);
