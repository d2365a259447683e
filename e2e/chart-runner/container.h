/* The inside of a container: what stands between the start of the helper process and the program's first
 * instruction. The runner writes a plan (JSON) and starts itself as `chart-runner container PLAN`; that
 * process makes the container's namespaces and root, gives up its rights and becomes the program.
 *
 *   {"root": folder to mount on, "program": host path, "entrypoint": path inside, "network": path to enter,
 *    "hostname", "directory", "parent": pid of the runner, "uid", "gid", "groups": [..],
 *    "readOnlyRoot", "noNewPrivileges", "dropCapabilities": bools, "words": [..], "env": ["N=V", ..],
 *    "mounts": [{"source": host path, "target": path inside, "readOnly": bool}, ..] with parents first}
 *
 * The root holds the program, the shared libraries it names, CA certificates, /etc/passwd, /dev/null and its
 * like, /proc and an empty /tmp: what a small image has. */
#pragma once

#include "common/json/doc.h"

/* Does not return on success. */
int container_enter(const json_t *plan, struct error *err);
