/* The ways to the two API servers: what is wrong with one is told on the other, as an Event. */
#pragma once

#include "member-agent/agent.h"

int connections_open(struct member_agent *a, struct error *err); /* behind the clients */
void connections_close(struct member_agent *a); /* when nobody uses the clients any more; from a fiber */
