/* What a template gave, read as objects: spec/resource-set.md 4.1. Pure. */
#pragma once

#include "common/json/doc.h"

/* An array of the arena. `documents`: all of them, those that are empty left out and lists taken apart; else
 * the first one alone. ERR_INVALID: one that is no object with apiVersion, kind and name, and which. */
int read_objects(struct arena *arena, struct slice text, bool documents, json_t **ret, struct error *err);
