/* The controller of ResourceSetInputProviders and what it keeps. spec/resource-set.md 18. */
#pragma once

#include "hub-agent/agent.h"
#include "hub-agent/input-provider/input_provider.h"
#include "hub-agent/input-provider/source.h"

/* What all providers of an agent share. */
struct input_providers {
        struct source_memory sources;
        struct memories shown; /* series on /metrics */
};
struct input_providers *input_providers_new(void); /* NULL on no memory */
struct input_providers *input_providers_free(struct input_providers *p);
/* The one series of a provider, in place of the one before; it goes with the record. */
void input_provider_show(struct reconcile *rc, const struct input_provider *p);

/* The Secrets that the spec names, read from the server: nothing of them is kept. Into s->credentials. */
int input_provider_read_secrets(struct reconcile *rc, const struct input_provider *p, struct source *s);

/* The sets of an ExternalArtifact provider, `limit` at most; a new array. Parks. */
int input_provider_find_artifacts(struct reconcile *rc, const struct input_provider *p, size_t limit,
                                  json_t **ret);

extern const struct controller input_provider_controller;
