/* The sidecar that keeps the member-agent's hub token in a file: spec/member-agent.md 5. 0 = ended by a
 * signal or
 * --help; 1 = wrong arguments, or it cannot start. */
#include <stdio.h>
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "member-agent/refresh-token/azure_source.h"
#include "member-agent/refresh-token/options.h"
#include "member-agent/refresh-token/secret_source.h"

struct program {
        struct refresh_options options;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct refresher refresher;
        bool stopping;
        int code;
};

static int run_secret(struct program *p, struct error *err)
{
        const struct refresh_options *o = &p->options;
        CLEANUP(kube_config_free) struct kube_config config = { 0 };
        struct kube_client kube = { .world = &p->world, .endpoint = &config.endpoint, .log = &p->log };
        struct secret_source source = {
                .kube = &kube, .ns = o->ns, .name = o->name, .refresher = &p->refresher
        };
        int r;

        TRY(kube_config_find(&p->world, text_empty(o->kubeconfig) ? NULL : o->kubeconfig, NULL, &config,
                             err));
        p->refresher.source = &source.source;
        r = secret_source_start(&source, p->group, err);
        if (r == 0)
                r = refresh_run(&p->refresher, err);
        secret_source_stop(&source);
        return r;
}

static int run_azure(struct program *p, struct error *err)
{
        const char *address = p->world.process->getenv(p->world.ctx, AZURE_IDENTITY_ENDPOINT_VARIABLE);
        struct azure_source source = { .world = &p->world,
                                       .client_id = p->options.client_id,
                                       .scope = p->options.scope };
        int r;

        source.endpoint.base_url = mem_strdup(text_empty(address) ? AZURE_IDENTITY_ENDPOINT : address);
        if (!source.endpoint.base_url)
                return error_no_memory(err);
        azure_source_init(&source);
        p->refresher.source = &source.source;
        r = refresh_run(&p->refresher, err);
        http_endpoint_free(&source.endpoint);
        return r;
}

static void refresh_fiber(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        int r;

        p->refresher.world = &p->world;
        p->refresher.log = &p->log;
        p->refresher.path = p->options.file_path;
        r = p->options.provider == PROVIDER_SECRET ? run_secret(p, &err) : run_azure(p, &err);
        if (r < 0 && !p->stopping) {
                log_error(&p->log, "refresh-token ends", "code", error_code_name(r), "error", err.text);
                p->code = 1;
        }
        loop_stop(p->loop);
}

static void on_terminate(void *ctx)
{
        struct program *p = ctx;

        p->stopping = true;
        fiber_group_cancel(p->group);
}

static int start(struct program *p, struct error *err)
{
        const struct log_sink *sink = log_sink_stderr(p->options.json_logs ? LOG_JSON : LOG_TEXT,
                                                      p->options.verbosity >= 4 ? LOG_DEBUG : LOG_INFO);

        p->log = (struct log){ .sink = sink };
        p->loop = loop_new_real(err);
        if (!p->loop)
                return err->code;
        world_init_real(&p->world, p->loop, sink);
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return err->code;
        p->group = fiber_group_new(p->loop, NULL, "program");
        if (!p->group || !fiber_spawn(p->group, "refresh", refresh_fiber, p))
                return error_no_memory(err);
        return world_on_terminate(&p->world, on_terminate, p, err);
}

static void finish(struct program *p)
{
        if (p->group)
                fiber_group_end(p->group);
        http_transport_free(p->world.transport);
        if (p->loop)
                loop_free(p->loop);
}

static void print_help(FILE *to)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        (void)refresh_options_help(&b);
        fputs(b.data, to);
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        mem_hook_libraries();
        umask(077);
        if (refresh_options_parse(argc, (const char *const *)argv, &p.options, &err) < 0) {
                fprintf(stderr, "refresh-token: %s\n", err.text);
                print_help(stderr);
                return 1;
        }
        if (p.options.help) {
                print_help(stdout);
                return 0;
        }
        if (start(&p, &err) < 0 || loop_run(p.loop, &err) < 0) {
                fprintf(stderr, "refresh-token: %s\n", err.text);
                p.code = 1;
        }
        finish(&p);
        return p.code;
}
