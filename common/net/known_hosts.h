/* Whose host keys are known, as OpenSSH's files say it: names with * and ?, !, [host]:port, hashed names,
 * @revoked. Pure. */
#pragma once

#include "common/base/text.h"

enum known_host { KNOWN_HOST_NONE, KNOWN_HOST_OTHER_KEY, KNOWN_HOST_REVOKED, KNOWN_HOST_GOOD };

/* `key`: as the host sent it, in SSH's own form. */
enum known_host known_hosts_check(struct slice file, const char *host, int port, struct slice key);
/* Kinds of keys that the file has for the host, in the names that are negotiated, by comma; "" if none. */
#define KNOWN_HOSTS_KINDS_SIZE 256
void known_hosts_kinds(struct slice file, const char *host, int port, char ret[KNOWN_HOSTS_KINDS_SIZE]);
