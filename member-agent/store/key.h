/* Where the key of the state file comes from, and whose file it is. */
#pragma once

#include "common/base/digest.h"
#include "common/loop/world.h"
#include "member-agent/store/store.h"

/* Reads PATH.key (hex, mode 0600), or makes it. For ":memory:" any key will do. */
int store_key(struct world *w, const char *state_path, uint8_t ret[STORE_KEY_SIZE], struct error *err);
/* store_options.random with a struct loop as ctx. */
void store_random(void *loop, void *ret, size_t n);
/* A file that was copied from another member or hub is emptied: its inventory is about other objects.
 * ret_owner: a hash of the two. */
int store_check_owner(struct store *s, const char *member_name, const char *hub_url,
                      char ret_owner[SHA256_HEX_SIZE], struct error *err);
