/* Is an applied object available? spec/member-agent.md 2.12. Pure: looks at one document. */
#pragma once

#include "common/json/doc.h"
#include "member-agent/apply/strategy.h"

/* Dispatches by exact group, version and plural. FAILED fills err with the cause, NOT_YET where the object
 * itself says what is in the way. What is being deleted is not available, whatever its kind: it goes as soon
 * as its last finalizer does, and is made again only then. */
enum availability availability_of(const char *group, const char *version, const char *plural,
                                  const json_t *object, struct error *err);
