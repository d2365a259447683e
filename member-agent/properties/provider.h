/* Where what a member tells of its cluster comes from: spec/member-agent.md 4. A provider follows by itself
 * what it needs, keeps of it what the next collection tells, and has it at hand: nothing of this parks.
 *
 * To add one: a const descriptor here, a row in properties.c. */
#pragma once

#include "common/kube/client.h"
#include "member-agent/properties/settings.h"
#include "proto/gen/kinds.h"

struct usage_watch;

struct property_options {         /* borrowed until the provider was stopped */
        struct kube_client *kube; /* of the member */
        struct fiber_group *group;
        const struct property_settings *settings;
        const struct usage_watch *usage; /* nodes and pods, which several providers tell of */
        int64_t begun_ms;                /* wall */
};

enum property_state {
        PROPERTIES_UNKNOWN, /* not heard of yet; *ret_problem says what is in the way */
        PROPERTIES_FAILED,  /* it cannot start: *ret_problem */
        PROPERTIES_STALE,   /* what it tells may be old: nothing is heard now */
        PROPERTIES_KNOWN,
};

/* One look at all providers. What they add is in the arena, or lives as long as they do. */
struct property_collection {
        struct arena *arena;
        int64_t now_ms;      /* wall */
        const char *version; /* of the API server; "" = not known */
        struct property_value_map properties;
        struct resource_usage *usage;     /* NULL = keep what was told, of the properties as well */
        struct string_map namespaces;     /* not set = keep what was told */
        struct condition_list conditions; /* without generation and time */
        bool complete;                    /* else another look is due soon */
};
/* Adds one; the value is borrowed. 1: another provider tells of the same name, nothing was added.
 * ERR_NO_MEMORY. */
int property_add(struct property_collection *c, const char *name, const char *value, int64_t observed_ms);
/* ERR_NO_MEMORY. */
int property_add_condition(struct property_collection *c, const char *type, bool status, const char *reason,
                           const char *message);

#define PROPERTY_CONDITIONS_MAX 3

struct property_provider {
        const char *name;
        bool (*wanted)(const struct property_settings *s);
        void *(*start)(const struct property_options *o, struct error *err); /* NULL: err */
        void *(*stop)(void *self);                                           /* returns NULL */
        enum property_state (*state)(const void *self, const char **ret_problem);
        int (*collect)(const void *self, struct property_collection *c, struct error *err);
        /* Types it alone writes with other settings and not with these: they go. Fills as many as
         * PROPERTY_CONDITIONS_MAX, returns how many. May be NULL: it writes none. */
        size_t (*taken_back)(const struct property_settings *s, const char **ret);
        /* Others wait for its start, as long as that may take: nothing is told that would leave out what it
         * told before the agent was started again. */
        bool patient;
        /* And its start and its collections have the conditions of spec 3.3. Others are asked after a start
         * that took too long as well, and say so themselves. */
        bool plugged;
};

extern const struct property_provider cluster_properties, namespace_properties, azure_properties,
        own_properties;
