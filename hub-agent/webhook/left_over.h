/* Takes away the webhook configurations of an agent that led before: they would refuse what nobody is there
 * to judge. Told in the log and in an event on each; a missing right in the log and on /readyz. */
#pragma once

#include "hub-agent/common.h"

extern const struct controller left_over_webhooks_controller;
/* Before manager_run(): it is the first thing that is done with the lease. A term of another leader ends this
 * process, so once is enough. */
void left_over_webhooks_enqueue(struct manager *m);
