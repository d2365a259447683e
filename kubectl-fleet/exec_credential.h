/* Credential programs of a kubeconfig (users[].user.exec), as those of managed clusters:
 * client.authentication.k8s.io/v1 and v1beta1. The program is run before the first request, again when what
 * it told expires, and once more for a request that was refused with 401; requests that come meanwhile wait
 * for it. What it told is kept in memory only, as long as this program runs. */
#pragma once

#include "common/kube/config.h"

struct exec_login {
        struct http_login login; /* the endpoint's */
        struct world *world;
        struct kube_config *config; /* borrowed; its endpoint gets the credentials */
        const char *api_version, *command, *install_hint;
        const char **argv, **env; /* NULL-terminated */
        bool provides_cluster, reads_input;
        struct arena arena;
        int64_t expires_ms; /* wall clock; TIME_NONE */
        bool running;
        struct waitq done;
        struct error failure; /* of the last run; code 0 = it went well */
};

/* Checks the entry and makes it the endpoint's login; runs nothing. `interactive`: somebody is there to
 * answer what the program asks. Errors name kubeconfig, user and field. Closed, also after an error, before
 * the kubeconfig is freed. */
int exec_login_open(struct exec_login *l, struct world *w, struct kube_config *config, bool interactive,
                    struct error *err);
void exec_login_close(struct exec_login *l); /* of a zeroed one: nothing */
