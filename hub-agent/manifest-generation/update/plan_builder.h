/* Plans, put together workload by workload in the order of identities. Private to this folder. */
#pragma once

#include "hub-agent/manifest-generation/update/automation.h"

struct plan_builder {
        struct arena *arena;
        struct error *err;
        struct update_result *results;
        size_t n_results, cap_results;
        struct job_change *changes;
        size_t n_changes, cap_changes;
        bool sets_automated;
};
int plan_add_result(struct plan_builder *b, const char *id, enum update_status status, const char *text);
int plan_add_change(struct plan_builder *b, const struct job_change *change);
/* Another tag for a container, and what its result says of that. */
int plan_add_image(struct plan_builder *b, const struct update_object *object,
                   const struct workload_container *c, const char *tag, struct container_update *ret);
struct job_plan plan_of(const struct plan_builder *b);

/* The objects in the order of identities. ERR_NO_MEMORY. */
int plan_sort_objects(struct arena *arena, const struct update_objects *objects,
                      const struct update_object *const **ret, struct error *err);
/* By binary search; NULL = absent. */
const struct update_object *plan_find_object(const struct update_object *const *sorted, size_t n,
                                             const char *id);

/* What an image request does to one workload. */
int plan_images(struct plan_builder *b, const struct job_request *r, const struct update_object *object,
                bool named, const struct image_catalog *catalog);

/* Of all tags that the pattern has; *ret NULL: it has none. As automation_newest() fails. */
int newest_find(const struct image_repository *r, const struct tag_pattern *p, const struct image_tag **ret,
                struct error *err);
/* What automation_newest() makes of it. ERR_NO_MEMORY. */
int newest_choose(const struct image_repository *r, const struct tag_pattern *p,
                  const struct image_tag *newest, const char *current, const char **ret_tag,
                  const char **ret_why);
