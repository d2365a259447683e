/* The sidecar that keeps the member-agent's hub token in a file: spec/member-agent.md 5. 0 = ended by a
 * signal; 1 = wrong arguments, or it cannot start; 2 = bad flags. */
#include <stdio.h>
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "common/kube/config.h"
#include "member-agent/refresh-token/azure_source.h"
#include "member-agent/refresh-token/options.h"
#include "member-agent/refresh-token/secret_source.h"

struct sidecar {
        struct program program;
        struct refresh_options options;
        const struct refresh_command *command;
        struct refresher refresher;
};

static struct sidecar *of(struct program *p)
{
        return container_of(p, struct sidecar, program);
}

static int check(struct program *p, struct error *err)
{
        struct sidecar *s = of(p);

        p->log_format = s->options.json_logs ? LOG_JSON : LOG_TEXT;
        p->log_level = s->options.verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
        return refresh_options_check(&s->options, s->command->provider, err);
}

static int run_secret(struct sidecar *s, struct error *err)
{
        struct program *p = &s->program;
        const struct refresh_options *o = &s->options;
        CLEANUP(kube_config_free) struct kube_config config = { 0 };
        struct kube_client kube = { .world = &p->world, .endpoint = &config.endpoint, .log = &p->log };
        struct secret_source source = {
                .kube = &kube, .ns = o->ns, .name = o->name, .refresher = &s->refresher
        };
        int r;

        TRY(kube_config_find(&p->world, text_empty(o->kubeconfig) ? NULL : o->kubeconfig, NULL, &config,
                             err));
        s->refresher.source = &source.source;
        r = secret_source_start(&source, p->group, err);
        if (r == 0)
                r = refresh_run(&s->refresher, err);
        fiber_mask_cancel(p->loop);
        secret_source_stop(&source);
        fiber_unmask_cancel(p->loop);
        return r;
}

static int run_azure(struct sidecar *s, struct error *err)
{
        struct program *p = &s->program;
        const char *address = p->world.process->getenv(p->world.ctx, AZURE_IDENTITY_ENDPOINT_VARIABLE);
        struct azure_source source = { .world = &p->world,
                                       .client_id = s->options.client_id,
                                       .scope = s->options.scope };
        int r;

        source.endpoint.base_url = mem_strdup(text_empty(address) ? AZURE_IDENTITY_ENDPOINT : address);
        if (!source.endpoint.base_url)
                return error_no_memory(err);
        azure_source_init(&source);
        s->refresher.source = &source.source;
        r = refresh_run(&s->refresher, err);
        http_endpoint_free(&source.endpoint);
        return r;
}

static int run(struct program *p, struct error *err)
{
        struct sidecar *s = of(p);

        s->refresher.world = &p->world;
        s->refresher.log = &p->log;
        s->refresher.path = s->options.file_path;
        return s->command->provider == PROVIDER_SECRET ? run_secret(s, err) : run_azure(s, err);
}

int main(int argc, char **argv)
{
        struct sidecar s = { .program = { .name = "refresh-token",
                                          .keeps_secrets = true,
                                          .values = &s.options,
                                          .help = &s.options.help,
                                          .check = check,
                                          .run = run } };
        struct error err = { 0 };

        umask(077);
        if (refresh_command_take(&argc, (const char **)argv, &s.command, &err) < 0) {
                fprintf(stderr, "refresh-token: %s\n", err.text);
                return 1;
        }
        s.program.about = s.command->about;
        s.program.flags = s.command->flags;
        s.program.n_flags = s.command->n_flags;
        return program_main(&s.program, argc, argv);
}
