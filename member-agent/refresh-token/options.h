/* The command line: refresh-token [--file-path=F] secret --name=N --namespace=S | azure --clientid=I
 * [--scope=X]. */
#pragma once

#include "common/base/flags.h"

enum token_provider { PROVIDER_SECRET, PROVIDER_AZURE };

struct refresh_options {
        enum token_provider provider;
        bool help, json_logs;
        int64_t verbosity;
        const char *file_path, *kubeconfig;
        const char *name, *ns;         /* secret */
        const char *client_id, *scope; /* azure */
};

/* ERR_INVALID names what is missing or wrong. With --help nothing else is checked. Strings are borrowed from
 * argv. */
int refresh_options_parse(int argc, const char *const *argv, struct refresh_options *ret, struct error *err);
int refresh_options_help(struct buf *b);
