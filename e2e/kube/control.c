#include "e2e/kube/control.h"

#include "common/net/http_server.h"

struct call {
        struct kube_clusters *clusters;
        struct http_exchange *x;
        struct error *err;
};

/* NULL for an empty parameter: "any" in the rules. */
static const char *parameter(const struct call *c, const char *name)
{
        const char *value = http_query_get(c->x, name);

        return text_empty(value) ? NULL : value;
}

static int read_bool(const struct call *c, const char *name, bool *ret)
{
        const char *value = parameter(c, name);

        if (!text_equal(value, "true") && !text_equal(value, "false"))
                return error_set(c->err, ERR_INVALID, "query parameter %s must be true or false, not \"%s\"",
                                 name, value ? value : "");
        *ret = text_equal(value, "true");
        return 0;
}

static int set_readiness(const struct call *c)
{
        bool ready;

        TRY(read_bool(c, "ready", &ready));
        return kube_clusters_set_ready(c->clusters, parameter(c, "cluster"), parameter(c, "kind"),
                                       parameter(c, "namespace"), parameter(c, "name"), ready, c->err);
}

static int set_simulated(const struct call *c)
{
        bool simulated;

        TRY(read_bool(c, "value", &simulated));
        if (!parameter(c, "namespace"))
                return error_set(c->err, ERR_INVALID, "query parameter namespace must name a namespace");
        return kube_clusters_set_simulated(c->clusters, parameter(c, "cluster"), parameter(c, "namespace"),
                                           simulated, c->err);
}

static int restart(const struct call *c)
{
        return kube_clusters_restart(c->clusters, c->err);
}

static int checkpoint(const struct call *c)
{
        return kube_clusters_checkpoint(c->clusters, c->err);
}

static int reset(const struct call *c)
{
        return kube_clusters_reset(c->clusters, c->err);
}

static const struct {
        const char *path;
        int (*run)(const struct call *c);
} commands[] = {
        { "/kube-clusters/readiness", set_readiness },
        { "/kube-clusters/simulated", set_simulated },
        { "/kube-clusters/restart", restart },
        { "/kube-clusters/checkpoint", checkpoint },
        { "/kube-clusters/reset", reset },
};

static int dispatch(const struct call *c)
{
        if (!text_equal(c->x->method, "POST"))
                return error_set(c->err, ERR_INVALID, "only POST is known here");
        for (size_t i = 0; i < ARRAY_LEN(commands); i++)
                if (text_equal(commands[i].path, c->x->path))
                        return commands[i].run(c);
        return error_set(c->err, ERR_NOT_FOUND, "no command %s", c->x->path);
}

static int status_of(int code)
{
        switch (code) {
        case 0:
                return 200;
        case ERR_INVALID:
                return 400;
        case ERR_NOT_FOUND:
                return 404;
        case ERR_CONFLICT:
                return 409;
        default:
                return 500;
        }
}

void kube_control_handle(void *clusters, struct http_exchange *x)
{
        struct error err = { 0 };
        const struct call c = { clusters, x, &err };
        int code = dispatch(&c);

        http_reply(x, status_of(code), "text/plain", code < 0 ? slice_of(err.text) : SLICE("ok\n"), NULL);
}
