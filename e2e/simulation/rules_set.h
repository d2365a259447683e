/* What the rules about ClusterObjectSets share: whose an object is, and how a set stands. */
#pragma once

#include "e2e/simulation/rules.h"

const json_t *rule_controller(const json_t *doc); /* the reference; NULL = nobody */
bool rule_is_of_a_set(const json_t *owner);
/* Which revision of the ship controls it, by name. */
bool rule_controlling_set(const json_t *doc, unsigned ship, unsigned *ret_revision);
const json_t *rule_set_doc(struct watch *w, const char *cluster, unsigned ship, unsigned revision);
bool rule_set_stands(const json_t *set); /* it is there, Active, and not leaving */
