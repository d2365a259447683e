/* How names of hosts are looked up: of the whole process, so no part of a world. */
#pragma once

#include "common/base/error.h"

/* From now on in /etc/hosts and DNS alone if this program is static, whatever nsswitch.conf says; else as the
 * system does. For mains, before the first name. */
int name_service_stand_alone(struct error *err);
