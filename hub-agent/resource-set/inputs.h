/* The sets of inputs that a ResourceSet's templates are rendered for: its own and those of its providers, one
 * after the other or in every combination. Pure. spec/resource-set.md 3. */
#pragma once

#include "hub-agent/common.h"

/* ERR_INVALID: a reference that names nothing, or whose selector is wrong. */
int inputs_check(const struct resource_set *set, struct error *err);
/* Whether inputsFrom names or selects a provider of the set's namespace. */
bool inputs_pick(const struct resource_set *set, const struct object *provider);
/* Leaves those that are picked; *ret_missing: the first that is named and not among them, NULL = none. */
void inputs_narrow(const struct resource_set *set, struct object_list *providers, const char **ret_missing);
/* The first of `providers` that has never exported anything; NULL if there is none. */
const struct input_provider *inputs_not_exported(const struct object_list *providers);

/* `providers`: those that are picked, sorted by name, each once. *ret lives in the arena: an array of
 * objects, each with `id` and `provider`. ERR_INVALID: a set that is no object, or what cannot be combined;
 * ERR_LIMIT: too many combinations. */
int inputs_collect(struct arena *arena, const struct resource_set *set, const struct object_list *providers,
                   json_t **ret, struct error *err);
/* Whether there is neither inputs nor inputsFrom: then templates are rendered once, with nothing. */
bool inputs_are_none(const struct resource_set *set);
/* Two sets of one provider with equal ids, in words; NULL if there are none. */
const char *inputs_twins(struct arena *arena, const json_t *sets);
/* The id of a set, as text; "" if it has none. */
const char *input_set_id(struct arena *arena, const json_t *set);

/* ---- within inputs_collect() ---- */

struct input_source {
        const char *kind, *ns, *name;
        const json_t *sets; /* array */
};
/* 3.4. `empty`: providers without sets count. */
int inputs_permute(struct arena *arena, const struct input_source *sources, size_t n, bool empty,
                   json_t **ret, struct error *err);
/* A provider's name as a key; "" if nothing is left. NULL on no memory. */
char *inputs_key(struct arena *arena, const char *name);
