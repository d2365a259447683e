#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "common/loop/world.h"

/* The limit holds for files; a core_pattern that is a pipe does not ask for it, but for dumpable. */
int world_forbid_core_files(struct error *err)
{
        static const struct rlimit none = { 0, 0 };
        if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
                return error_errno(err, errno, "core files cannot be switched off");
        return 0;
}
