/* Events (core/v1), aggregated by name as clients do: the same reason and message on the same object within
 * ten minutes counts up instead of making a new one. Sending never blocks the caller: a fiber of the
 * recorder's group sends; the queue is bounded and says in the log when it drops. An event that nobody
 * answers to, or that the server has no time for, is sent up to twelve times, ten seconds apart, and those
 * behind it wait; while the server cannot be used at all (kube/connection.h), all wait. A refused one is
 * dropped at once; either way the log says so. */
#pragma once

#include <stdarg.h>

#include "common/kube/client.h"

struct event_recorder;
struct event_recorder *event_recorder_new(struct kube_client *k, struct fiber_group *group,
                                          const char *component);
/* Ends its fiber, so from a fiber, before `group` is ended; what waits to be sent is dropped. Returns NULL.
 */
struct event_recorder *event_recorder_free(struct event_recorder *r);
void event_record(struct event_recorder *r, const struct object *about,
                  const char *type /* Normal, Warning */, const char *reason, const char *fmt, ...)
        PRINTF_LIKE(5, 6);
/* The same by another source than the recorder's component; static, NULL = the component. */
void event_record_by(struct event_recorder *r, const char *source, const struct object *about,
                     const char *type, const char *reason, const char *fmt, ...) PRINTF_LIKE(6, 7);
/* With annotations of the event; NULL = none. */
void event_recordv(struct event_recorder *r, const char *source, const struct string_map *annotations,
                   const struct object *about, const char *type, const char *reason, const char *fmt,
                   va_list ap);
