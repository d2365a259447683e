/* The command line: refresh-token [--file-path=F] secret --name=N --namespace=S | azure --clientid=I
 * [--scope=X]. */
#pragma once

#include "common/base/flags.h"

enum token_provider { PROVIDER_SECRET, PROVIDER_AZURE };

struct refresh_options {
        bool help, json_logs;
        int64_t verbosity;
        const char *file_path, *kubeconfig;
        const char *name, *ns;         /* secret */
        const char *client_id, *scope; /* azure */
};

/* What a word of the command line stands for. */
struct refresh_command {
        const char *word;
        enum token_provider provider;
        const struct flag *flags;
        size_t n_flags;
        const char *about;
};

/* Takes the word out of argv, so that the command's flags are left (they may stand on both sides of it).
 * ERR_INVALID without a word that we know; with --help or --version alone any command will do. */
int refresh_command_take(int *argc, const char **argv, const struct refresh_command **ret, struct error *err);
/* ERR_INVALID names the flag that is missing or wrong. */
int refresh_options_check(const struct refresh_options *o, enum token_provider provider, struct error *err);
