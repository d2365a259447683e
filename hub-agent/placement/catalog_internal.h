/* Between the files of the catalog. */
#pragma once

#include "hub-agent/placement/catalog.h"

/* "group/version/Kind"; mem_free() it. NULL on no memory. */
char *kind_key(const char *group, const char *version, const char *kind);
void enqueue_all_of_kind(struct hub_agent *a, const struct kind *placement, const char *kind);
/* An informer_handler; ctx is the entry. */
void catalog_on_change(void *entry, const struct informer_event *ev);
/* Something changed what the server serves: it is read soon, and again, as it takes a moment to be served.
 * `initial`: nothing may have changed, once will do. */
void catalog_look(struct catalog *c, bool initial);
