/* The manifest-generator's program: flags in, one agent on the real loop, exit code out. 0 = ended by a
 * signal; 1 = cannot start or go on; 2 = bad flags. */
#include <limits.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "common/kube/config.h"
#include "common/net/http_files.h"
#include "hub-agent/manifest-generation/generation_flags.h"
#include "hub-agent/manifest-generation/manifest_generator.h"
#include "hub-agent/manifest-generation/repository_git.h"
#include "hub-agent/manifest-generation/sync_marks.h"
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/image_scan.h"
#include "proto/names.h"

#define DOCKER_CONFIG_BYTES (1u << 20)
#define DEPLOYMENT "manifest-generator"

struct generator_program {
        struct program program;
        struct generation_flags flags;
        struct kube_config hub;
        struct http_files_follower files;
        struct kube_client kube; /* of what is outside of the agent itself */
        struct arena arena;
        const char *folder_path; /* --work-path */
        struct repository_git_options git_options;
        struct repository_git *git;
        struct image_scan_options scan_options;
        struct image_scan *scan;
        struct volume *folder; /* where the scan keeps what it knows */
        json_t *docker_config;
        char metrics_host[FLAG_HOST_SIZE], health_host[FLAG_HOST_SIZE];
        int metrics_port, health_port;
};

static struct generator_program *of(struct program *p)
{
        return container_of(p, struct generator_program, program);
}

static int check(struct program *p, struct error *err)
{
        struct generator_program *g = of(p);

        p->log_format = g->flags.json_logs ? LOG_JSON : LOG_TEXT;
        p->log_level = g->flags.verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
        TRY(generation_flags_check(&g->flags, err));
        TRY(flags_address(g->flags.metrics_address, g->metrics_host, &g->metrics_port, err));
        return flags_address(g->flags.health_address, g->health_host, &g->health_port, err);
}

static const char *variable(const struct generator_program *g, const char *name, const char *otherwise)
{
        const struct world *w = &g->program.world;
        const char *value = w->process->getenv(w->ctx, name);

        return text_empty(value) ? otherwise : value;
}

static int find_hub(struct generator_program *g, struct error *err)
{
        struct program *p = &g->program;
        const char *kubeconfig = g->flags.kubeconfig;

        TRY(kube_config_find(&p->world, text_empty(kubeconfig) ? NULL : kubeconfig, NULL, &g->hub, err));
        g->kube = (struct kube_client){ .world = &p->world, .endpoint = &g->hub.endpoint, .log = &p->log };
        g->files = (struct http_files_follower){ &p->world, &p->log, { &g->hub.endpoint } };
        return http_files_follow(p->group, &g->files) < 0 ? error_no_memory(err) : 0;
}

/* libgit2 wants absolute paths. */
static int find_folder(struct generator_program *g, struct error *err)
{
        const char *path = g->flags.work_path;
        char here[PATH_MAX];

        if (*path == '/')
                g->folder_path = arena_strdup(&g->arena, path);
        else if (!getcwd(here, sizeof(here)))
                return error_set(err, ERR_SYSTEM, "--work-path %s: the current folder cannot be told: %m",
                                 path);
        else
                g->folder_path = arena_printf(&g->arena, "%s/%s", here, path);
        return g->folder_path ? 0 : error_no_memory(err);
}

/* ---- the repository ---- */

static int open_repository(struct generator_program *g, const char *ns, struct generation_options *o,
                           struct error *err)
{
        const struct generation_flags *f = &g->flags;
        struct program *p = &g->program;
        AUTO_BUF struct buf url;

        buf_init(&url, 8192);
        if (text_empty(f->git_url))
                return 0;
        TRY(remote_check_url(f->git_url, err) < 0 ? error_wrap(err, "git-url") : 0);
        TRY(sync_url_without_password(f->git_url, &url));
        o->url = arena_strdup(&g->arena, url.data);
        o->public_url = remote_public_url(f->git_url, &g->arena);
        if (!o->url || !o->public_url)
                return error_no_memory(err);
        g->git_options = (struct repository_git_options){ .world = &p->world,
                                                          .log = &p->log,
                                                          .kube = &g->kube,
                                                          .ns = ns,
                                                          .secret = f->git_secret_name,
                                                          .url = f->git_url,
                                                          .branch = f->git_branch,
                                                          .tag = generation_sync_tag(f),
                                                          .notes = generation_notes_ref(f),
                                                          .user = f->git_user,
                                                          .mail = f->git_email,
                                                          .folder = g->folder_path,
                                                          .timeout_ms = f->git_timeout_ms };
        TRY(repository_git_open(&g->git_options, &g->git, err));
        o->repository = (struct repository){ &repository_git_ops, g->git };
        return 0;
}

static void warn_of_state(const struct generator_program *g)
{
        const struct generation_flags *f = &g->flags;

        if (f->git_readonly && !text_equal(f->sync_state, "secret"))
                log_warn(&g->program.log, "git-readonly: the sync state is kept in the Secret, not in a tag",
                         "secret", f->git_secret_name);
}

/* ---- registries ---- */

static int find_object(void *ctx, const char *kind, const char *ns, const char *name, struct arena *arena,
                       const json_t **ret, struct error *err)
{
        static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true },
                                          accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
        struct generator_program *g = ctx;
        json_t *doc = NULL;

        TRY(kube_doc_get(&g->kube, text_equal(kind, "Secret") ? &secrets : &accounts, ns, name, &doc, err));
        TRY(doc_keep(arena, doc, err));
        *ret = doc;
        return 0;
}

static int read_docker_config(struct generator_program *g, struct error *err)
{
        struct world *w = &g->program.world;
        AUTO_FREE char *text = NULL;
        size_t n = 0;

        if (text_empty(g->flags.docker_config))
                return 0;
        if (w->files->read(w->ctx, g->flags.docker_config, DOCKER_CONFIG_BYTES, &text, &n, err) < 0 ||
            doc_parse((struct slice){ text, n }, &g->docker_config, err) < 0)
                return error_wrap(err, "docker-config %s", g->flags.docker_config);
        return 0;
}

static int open_registries(struct generator_program *g, struct generation_options *o, struct error *err)
{
        static const char *const excluded[] = { "k8s.gcr.io/*" };
        const struct generation_flags *f = &g->flags;
        struct image_scan_options *s = &g->scan_options;
        struct images *i = &o->images;

        o->images_ms = generation_images_ms(f);
        if (f->without_scanning || !g->git)
                return 0;
        TRY(volume_open(&g->program.world, g->folder_path, &g->folder, err));
        *s = (struct image_scan_options){ .world = &g->program.world,
                                          .secrets = { find_object, g },
                                          .volume = g->folder };
        TRY(read_docker_config(g, err));
        s->docker_config = g->docker_config;
        TRY(generation_list(&f->insecure_hosts, &g->arena, &s->insecure_hosts, &s->n_insecure_hosts, err));
        TRY(generation_list(&f->exclude_images, &g->arena, &i->exclude, &i->n_exclude, err));
        TRY(generation_list(&f->include_images, &g->arena, &i->include, &i->n_include, err));
        if (f->exclude_images.n == 0) {
                i->exclude = excluded;
                i->n_exclude = ARRAY_LEN(excluded);
        }
        g->scan = image_scan_new(s);
        if (!g->scan)
                return error_no_memory(err);
        i->ops = &image_scan_ops;
        i->ctx = g->scan;
        return 0;
}

/* ---- all ---- */

static int fill_lists(struct generator_program *g, struct generation_options *o, struct error *err)
{
        const struct generation_flags *f = &g->flags;

        TRY(generation_list(&f->git_paths, &g->arena, &o->paths, &o->n_paths, err));
        TRY(generation_list(&f->generator_env, &g->arena, &o->generator_env, &o->n_generator_env, err));
        return generation_list(&f->allowed_namespaces, &g->arena, &o->namespaces, &o->n_namespaces, err);
}

static int run(struct program *p, struct error *err)
{
        struct generator_program *g = of(p);
        const struct generation_flags *f = &g->flags;
        const char *ns = variable(g, "POD_NAMESPACE", NAMESPACE_FLEET_SYSTEM);
        struct generation_options o = {
                .world = &p->world,
                .log = &p->log,
                .hub = &g->hub.endpoint,
                .lease_namespace = f->leader_election_namespace,
                .leader_election = f->leader_elect,
                .lease_duration_ms = f->lease_duration_ms,
                .renew_deadline_ms = f->renew_deadline_ms,
                .retry_period_ms = f->retry_period_ms,
                .bind = g->metrics_port >= 0 ? g->metrics_host : g->health_host,
                .metrics_port = g->metrics_port,
                .health_port = g->health_port,
                .agent_namespace = ns,
                .pod = variable(g, "POD_NAME", NULL),
                .deployment = DEPLOYMENT,
                .branch = f->git_branch,
                .readonly = f->git_readonly,
                .git_poll_ms = f->git_poll_ms,
                .state_secret = generation_state_secret(f),
                .skip_text = commit_skip_text(f->git_ci_skip, f->git_ci_skip_message),
                .git_user = f->git_user,
                .git_mail = f->git_email,
                .set_author = f->git_set_author,
                .generation = f->generation,
                .generator_cache = f->generator_cache,
                .environment = p->world.process->environment(p->world.ctx),
                .sync_interval_ms = f->sync_interval_ms,
                .sync_timeout_ms = f->sync_timeout_ms,
                .collect = f->collect || f->collect_dry,
                .collect_dry = f->collect_dry,
                .drift = f->sync_drift,
        };

        warn_of_state(g);
        TRY(find_hub(g, err));
        o.default_namespace = text_empty(f->default_namespace) ? g->hub.namespace_ : f->default_namespace;
        TRY(fill_lists(g, &o, err));
        TRY(find_folder(g, err));
        TRY(open_repository(g, ns, &o, err));
        TRY(open_registries(g, &o, err));
        return manifest_generator_run(&o, err);
}

static void close_program(struct program *p)
{
        struct generator_program *g = of(p);

        image_scan_free(g->scan);
        if (g->folder)
                volume_close(g->folder);
        json_decref(g->docker_config);
        repository_git_close(g->git);
        kube_config_free(&g->hub);
        arena_free(&g->arena);
}

int main(int argc, char **argv)
{
        struct generator_program g = { .program = { .name = "manifest-generator",
                                                    .keeps_secrets = true,
                                                    .flags = generation_flag_table,
                                                    .n_flags = n_generation_flags,
                                                    .values = &g.flags,
                                                    .help = &g.flags.help,
                                                    .check = check,
                                                    .run = run,
                                                    .close = close_program } };

        return program_main(&g.program, argc, argv);
}
