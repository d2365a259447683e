/* What the rules of admission may ask of a running hub agent: its caches, its discovery, and the server where
 * only the present will do. Works on every replica, leading or not. */
#pragma once

#include "common/ctrl/controller.h"
#include "common/kube/mapping.h"
#include "hub-agent/placement/filter.h"
#include "hub-agent/webhook/admission.h"

/* A webhook has 5 s: what the server has not answered by then nobody waits for. */
#define HUB_VIEW_DEADLINE_MS 4000

struct hub_view {
        struct manager *manager;
        struct kube_mapper *mapper;
        const struct filter_rules *filters;
        struct kube_client kube; /* a copy with a deadline of its own */
};
/* Makes sure that the caches that rules read are there; all are borrowed. 0 or ERR_NO_MEMORY. */
int hub_view_init(struct hub_view *v, struct manager *m, struct kube_mapper *mapper,
                  const struct filter_rules *filters, const struct kube_client *kube);
/* The world of rules; `v` must outlive it. */
struct admission_world hub_view_world(struct hub_view *v, const struct admission_flags *f);
