/* Where remotes are: addresses of http, https and ssh. Pure. */
#pragma once

#include "hub-agent/transfer/web_url.h"

struct git_url {
        bool ssh;
        /* of ssh */
        const char *user, *host; /* the host without brackets */
        int port;
        const char *path; /* unescaped */
        /* of the web */
        struct web_url web;
        const char *web_user, *web_password; /* from the URL; NULL = not there */
};
/* ERR_INVALID says what is wrong, without the URL's secrets. */
int git_url_parse(const char *url, struct arena *arena, struct git_url *ret, struct error *err);
