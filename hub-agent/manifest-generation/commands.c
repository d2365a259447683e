#include "hub-agent/manifest-generation/commands.h"

#include <strings.h>

#include "common/base/memory.h"
#include "common/base/unicode.h"

#define SHELL "/bin/sh"

/* ---- messages ---- */

const char *command_quote(struct arena *arena, const char *text)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        if (write_quoted(&b, slice_of(text), QUOTE_PLAIN) < 0)
                return NULL;
        return arena_strndup(arena, b.data, b.len);
}

const char *command_excerpt(struct arena *arena, struct slice said)
{
        size_t n = MIN(said.len, (size_t)COMMAND_MESSAGE_BYTES);
        char *text = arena_strndup(arena, said.data, n);

        if (!text)
                return NULL;
        /* what was cut through at the end, too */
        for (size_t i = 0; i < n;) {
                size_t len = text_utf8_length(text + i, n - i);

                if (!len || !text[i])
                        text[i] = '?';
                i += len ? len : 1;
        }
        return n == said.len ? text : arena_printf(arena, "%s... (%zu more bytes)", text, said.len - n);
}

static const char *failure_of(struct arena *arena, const struct confined_end *end)
{
        const char *words;
        char *text;

        switch (end->how) {
        case CONFINED_EXITED:
                return arena_printf(arena, "exit status %d", end->number);
        case CONFINED_SIGNALLED:
                words = sigdescr_np(end->number);
                text = arena_printf(arena, "signal: %s", words ? words : "unknown");
                if (text && text[8] >= 'A' && text[8] <= 'Z')
                        text[8] |= 0x20;
                return text;
        case CONFINED_TOO_LONG:
                return "context deadline exceeded";
        case CONFINED_TOO_MUCH:
                return arena_printf(arena, "more than %u bytes of output (COMMAND_OUTPUT_BYTES)",
                                    COMMAND_OUTPUT_BYTES);
        }
        UNREACHABLE();
}

/* ---- running ---- */

const char *command_folder(struct arena *arena, const char *root, const struct flux_target *target)
{
        return arena_printf(arena, "%s%s%s", root, *target->folder ? "/" : "", target->folder);
}

/* What it said lives as long as the arena, without being copied. */
static int take_said(struct arena *arena, struct confined_end *end, struct command_run *r, struct error *err)
{
        r->output = (struct slice){ end->output, end->output_len };
        r->errors = (struct slice){ end->errors, end->errors_len };
        if (arena_defer(arena, mem_free, end->output) < 0) {
                mem_free(end->errors);
                return error_no_memory(err);
        }
        return arena_defer(arena, mem_free, end->errors) < 0 ? error_no_memory(err) : 0;
}

static int run_now(struct commands *c, struct arena *arena, struct command_run *r, struct error *err)
{
        const char *const argv[] = { c->shell ? c->shell : SHELL, "-c", r->command->line, NULL };
        const struct confined limits = {
                .argv = argv,
                .env = r->env,
                .folder = r->folder,
                .merges = r->merges,
                .max_output = COMMAND_OUTPUT_BYTES,
                .time_limit_ms = r->command->timeout_ms ? r->command->timeout_ms : c->timeout_ms,
                .grace_ms = COMMAND_GRACE_MS,
                .max_memory = COMMAND_MEMORY_BYTES,
                .max_file_bytes = COMMAND_FILE_BYTES,
                .max_processes = COMMAND_PROCESSES,
        };
        struct confined_end end = { 0 };
        int code;

        if (!c->world->process->run_confined)
                return error_set(err, ERR_UNSUPPORTED, "cannot run \"%s\": there are no processes here",
                                 argv[0]);
        code = c->world->process->run_confined(c->world->ctx, &limits, &end, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, code, "cannot run \"%s\": no such file; use an image with a shell",
                                 argv[0]);
        if (code < 0)
                return code;
        TRY(take_said(arena, &end, r, err));
        if (end.how == CONFINED_EXITED && end.number == 0)
                return 0;
        r->failure = failure_of(arena, &end);
        return r->failure ? error_set(err, ERR_INVALID, "%s", r->failure) : error_no_memory(err);
}

int command_run(struct commands *c, struct arena *arena, struct command_run *r, struct error *err)
{
        int code;

        r->output = r->errors = (struct slice){ "", 0 };
        r->failure = NULL;
        /* each of those that run has a limit of its own */
        while (c->n_running >= COMMANDS_AT_ONCE)
                if (waitq_wait(c->world->loop, &c->waiting, DEADLINE_NONE) == ERR_CANCELLED)
                        return error_set(err, ERR_CANCELLED, "a command was not run: we are ending");
        c->n_running++;
        code = run_now(c, arena, r, err);
        c->n_running--;
        waitq_wake_one(&c->waiting);
        return code;
}

/* ---- environments ---- */

static bool is_named(const char *variable, const char *name)
{
        size_t n = strlen(name);

        return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

static bool tells_a_secret(const char *variable)
{
        static const char *const ends[] = { "TOKEN", "PASSWORD", "SECRET", "KEY" };
        size_t n = strcspn(variable, "=");

        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
                size_t len = strlen(ends[i]);

                if (n >= len && strncasecmp(variable + n - len, ends[i], len) == 0)
                        return true;
        }
        return false;
}

static bool is_shown(const struct commands *c, const char *variable)
{
        for (size_t i = 0; i < c->n_shown; i++)
                if (is_named(variable, c->shown[i]))
                        return true;
        return !tells_a_secret(variable);
}

int generator_environment(const struct commands *c, struct arena *arena, const char *const *ours,
                          const char *temporary, const char *const **ret, struct error *err)
{
        const char **env;
        size_t n = 0, at = 0;

        while (ours && ours[n])
                n++;
        env = ARENA_NEW_ARRAY(arena, const char *, n + 2);
        if (!env)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                if (is_shown(c, ours[i]) && !is_named(ours[i], "TMPDIR"))
                        env[at++] = ours[i];
        env[at] = arena_printf(arena, "TMPDIR=%s", temporary);
        if (!env[at])
                return error_no_memory(err);
        *ret = env;
        return 0;
}

static const char *lower_case(struct arena *arena, const char *text)
{
        char *copy = arena_strdup(arena, text);

        for (char *c = copy; c && *c; c++)
                *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
        return copy;
}

struct variables {
        struct arena *arena;
        const char *at[12];
        size_t n;
        bool failed;
};

static void add(struct variables *v, const char *name, const char *value)
{
        ASSERT(v->n + 1 < ARRAY_LEN(v->at));
        v->at[v->n] = value ? arena_printf(v->arena, "%s=%s", name, value) : NULL;
        v->failed = v->failed || !v->at[v->n];
        v->n++;
}

int updater_environment(struct arena *arena, const char *const *ours, const struct update_change *c,
                        const char *const **ret, struct error *err)
{
        struct variables v = { .arena = arena };
        const char *kind = lower_case(arena, c->kind);

        for (; ours && *ours; ours++)
                if (is_named(*ours, "PATH") && !v.n)
                        v.at[v.n++] = *ours;
        add(&v, "FLUX_WORKLOAD", kind ? arena_printf(arena, "%s:%s/%s", c->namespace, kind, c->name) : NULL);
        add(&v, "FLUX_WL_NS", c->namespace);
        add(&v, "FLUX_WL_KIND", kind);
        add(&v, "FLUX_WL_NAME", c->name);
        if (c->container) {
                add(&v, "FLUX_CONTAINER", c->container);
                add(&v, "FLUX_IMG", c->image);
                add(&v, "FLUX_TAG", c->tag);
        } else {
                add(&v, "FLUX_POLICY", c->policy);
                if (c->value)
                        add(&v, "FLUX_POLICY_VALUE", c->value);
        }
        *ret = v.failed ? NULL : arena_memdup(arena, v.at, sizeof(v.at));
        return *ret ? 0 : error_no_memory(err);
}

/* ---- updaters ---- */

static int no_updaters(const struct flux_target *target, bool image, struct error *err)
{
        return error_set(err, ERR_INVALID, "no %s commands to run in %s (from path %s)",
                         image ? "update.containerImage" : "updaters.policy", target->config->relative,
                         *target->path ? target->path : ".");
}

/* spec/flux-yaml.md 4.6 */
static int tell_failure(struct arena *arena, const struct command_run *r, const struct flux_target *target,
                        bool image, const char **ret_message, struct error *err)
{
        const char *command = command_quote(arena, r->command->line);
        const char *file = command_quote(arena, target->config->relative);
        const char *said = command_excerpt(arena, r->output);
        const char *kind = image ? "image" : "annotation";

        if (!command || !file || !said)
                return error_no_memory(err);
        *ret_message =
                arena_printf(arena, "error executing %s updater command %s from file %s: %s\noutput:\n%s",
                             kind, command, file, r->failure, said);
        if (!*ret_message)
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "error executing %s updater command %s from file %s: %s", kind,
                         command, file, r->failure);
}

int run_updaters(struct commands *c, struct arena *arena, const char *root, const struct flux_target *target,
                 const char *const *ours, const struct update_change *change, const char **ret_message,
                 struct error *err)
{
        const struct flux_config *config = target->config;
        bool image = change->container != NULL;
        const char *folder = command_folder(arena, root, target);
        const char *const *env;
        size_t n_run = 0;

        *ret_message = NULL;
        if (!folder)
                return error_no_memory(err);
        TRY(updater_environment(arena, ours, change, &env, err));
        for (size_t i = 0; i < config->n_updaters; i++) {
                const struct flux_updater *u = &config->updaters[i];
                struct command_run r = { .command = image ? &u->image : &u->policy,
                                         .folder = folder,
                                         .env = env,
                                         .merges = true };
                int code;

                if (!r.command->line)
                        continue;
                n_run++;
                code = command_run(c, arena, &r, err);
                if (code == ERR_INVALID && r.failure)
                        return tell_failure(arena, &r, target, image, ret_message, err);
                TRY(code);
        }
        return n_run ? 0 : no_updaters(target, image, err);
}
