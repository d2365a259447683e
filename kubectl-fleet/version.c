#include "common/base/version.h"
#include "kubectl-fleet/command.h"

#ifndef ARGOSY_COMMIT
#define ARGOSY_COMMIT "unknown"
#endif

static int run_version(struct session *s, struct error *err)
{
        return buf_printf(&s->out, PROGRAM_NAME " " ARGOSY_VERSION " (" ARGOSY_COMMIT ")\n");
}

const struct command version_command = {
        .name = "version",
        .summary = "Print the version",
        .most = WORDS_ANY,
        .run = run_version,
};
