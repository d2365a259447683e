/* A free TCP port on 127.0.0.1 that stays ours while other programs listen on it: we bind it with
 * SO_REUSEPORT and never listen, so the kernel gives it to nobody who does not ask for sharing too. A server
 * may go away and come back on it without a race. */
#pragma once

#include "common/loop/loop.h"

struct held_port;

int held_port_take(struct loop *l, struct held_port **ret, struct error *err);
int held_port_number(const struct held_port *p);
struct held_port *
held_port_release(struct held_port *p); /* closed at the next turn of the loop; NULL is fine */
