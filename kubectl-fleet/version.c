#include "common/base/version.h"
#include "kubectl-fleet/command.h"

#ifndef ARGOSY_COMMIT
#define ARGOSY_COMMIT "unknown"
#endif

const char fleet_version[] = ARGOSY_VERSION " (" ARGOSY_COMMIT ")";

static int run_version(struct session *s, struct error *err)
{
        return buf_printf(&s->out, PROGRAM_NAME " %s\n", fleet_version);
}

const struct command version_command = {
        .name = "version",
        .summary = "Print the version",
        .most = WORDS_ANY,
        .run = run_version,
};
