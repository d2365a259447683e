/* Sends every script to two API servers and says where they answer differently. Ends in `N passed, N failed`:
 * one test for each script, one for each entry of the list of known differences. 0 = no failure, 1 = failures
 * or cannot start, 2 = bad flags. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/flags.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/differential/differential.h"

struct flags {
        const char *scripts, *a, *b, *a_context, *b_context, *known, *record, *recorded, *kubectl, *scratch,
                *only;
        int64_t jobs, shown;
        bool help;
};

static const struct flag flag_table[] = {
        { "scripts", FLAG_STRING, "e2e/differential/scripts", offsetof(struct flags, scripts),
          "script files and folders, separated by commas", 0, 0, false },
        { "a", FLAG_STRING, "", offsetof(struct flags, a), "kubeconfig of the server under test", 0, 0,
          false },
        { "a-context", FLAG_STRING, "", offsetof(struct flags, a_context), "its context", 0, 0, false },
        { "b", FLAG_STRING, "", offsetof(struct flags, b), "kubeconfig of the server that is right", 0, 0,
          false },
        { "b-context", FLAG_STRING, "", offsetof(struct flags, b_context), "its context", 0, 0, false },
        { "known", FLAG_STRING, "e2e/differential/known.yaml", offsetof(struct flags, known),
          "list of known differences", 0, 0, false },
        { "record", FLAG_STRING, "", offsetof(struct flags, record),
          "write B's answers into this file, without a comparison", 0, 0, false },
        { "recorded", FLAG_STRING, "", offsetof(struct flags, recorded),
          "take B's answers from this file; scripts that are not in it are left out", 0, 0, false },
        { "kubectl", FLAG_STRING, "", offsetof(struct flags, kubectl),
          "kubectl to run command lines with; empty leaves those scripts out", 0, 0, false },
        { "scratch", FLAG_STRING, "build/differential", offsetof(struct flags, scratch),
          "folder for files of command lines", 0, 0, false },
        { "only", FLAG_STRING, "", offsetof(struct flags, only), "run only this area or script", 0, 0,
          false },
        { "jobs", FLAG_INT, "6", offsetof(struct flags, jobs), "scripts at a time", 1, 64, false },
        { "shown", FLAG_INT, "12", offsetof(struct flags, shown), "differences printed of one step", 1,
          100000, false },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help", 0, 0, false },
};

struct program {
        struct flags flags;
        struct loop *loop;
        struct world world;
        struct log log;
        struct fiber_group *group;
        struct target targets[2];
        struct scripts scripts;
        struct known known;
        json_t *transcripts[2]; /* script name -> answers */
        char run[8];
        size_t passed, failed, requests, commands, differences;
        int code;
};

/* ---- playing all scripts ---- */

struct job {
        struct program *program;
        const struct script *script;
        size_t target;
};

static void play_one(void *ctx)
{
        AUTO_FREE struct job *j = ctx;
        struct program *p = j->program;
        struct error err = { 0 };
        json_t *answers = NULL;

        if (script_play(j->script, &p->targets[j->target], p->run, &answers, &err) < 0)
                answers = json_pack("[{s:s}]", "failed", err.text);
        json_object_set_new(p->transcripts[j->target], j->script->name, answers);
}

static bool is_wanted(const struct program *p, const struct script *s)
{
        const char *only = p->flags.only;

        if (*only && !text_equal(only, s->area) && !text_equal(only, s->name))
                return false;
        if (script_needs_kubectl(s) && (!*p->flags.kubectl || *p->flags.recorded || *p->flags.record))
                return false;
        return !*p->flags.recorded || json_object_get(p->transcripts[1], s->name);
}

static int play_all(struct program *p, struct error *err)
{
        struct fiber_group *players = fiber_group_new(p->loop, p->group, "players");

        vec_for_each(&p->scripts.at, s) {
                for (size_t i = 0; i < 2 && is_wanted(p, s); i++) {
                        struct job *j = mem_must(NEW(struct job));

                        *j = (struct job){ p, s, i };
                        if (!p->targets[i].context ||
                            fiber_group_wait_below(players, (size_t)p->flags.jobs * 2) < 0 ||
                            !fiber_spawn(players, s->name, play_one, j))
                                mem_free(j);
                }
        }
        (void)fiber_group_join(players, DEADLINE_NONE);
        fiber_group_end(players);
        return 0;
}

/* ---- comparing ---- */

static void print_difference(const struct difference *d)
{
        printf("    %s\n      %s\n      %s\n", d->path, d->a, d->b);
}

/* Differences of one step that are not known; prints them. */
static size_t report_step(struct program *p, const struct script *s, size_t i, const struct differences *all)
{
        const json_t *step = json_array_get(doc_get_array(s->doc, "steps"), i);
        size_t unknown = 0;

        vec_for_each(&all->at, d) {
                if (known_covers(&p->known, s->name, i, step, d->path))
                        continue;
                if (unknown++ == 0)
                        printf("  %s/%s %s\n", s->area, s->name, step_title(step, i, all->arena));
                if (unknown <= (size_t)p->flags.shown)
                        print_difference(d);
        }
        if (unknown > (size_t)p->flags.shown)
                printf("    and %zu more\n", unknown - (size_t)p->flags.shown);
        return unknown;
}

static size_t compare_step(struct program *p, const struct script *s, size_t i, const json_t *a,
                           const json_t *b)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const json_t *step = json_array_get(doc_get_array(s->doc, "steps"), i);
        struct differences found = { .arena = &arena };
        struct error err = { 0 };
        size_t unknown;

        if (transcript_compare(a, b, json_object_get(step, "only"), json_object_get(step, "ignore"), &found,
                               &err) < 0) {
                printf("  %s #%zu: %s\n", s->name, i + 1, err.text);
                vec_free(&found.at);
                return 1;
        }
        unknown = report_step(p, s, i, &found);
        vec_free(&found.at);
        return unknown;
}

static void compare_script(struct program *p, const struct script *s)
{
        const json_t *a = json_object_get(p->transcripts[0], s->name),
                     *b = json_object_get(p->transcripts[1], s->name);
        size_t n = MAX(json_array_size(a), json_array_size(b)), differences = 0;

        for (size_t i = 0; i < n; i++)
                differences += compare_step(p, s, i, json_array_get(a, i), json_array_get(b, i));
        p->requests += script_requests(s, false);
        p->commands += script_requests(s, true);
        p->differences += differences;
        printf("%s %s/%s\n", differences ? "FAILED" : "ok", s->area, s->name);
        *(differences ? &p->failed : &p->passed) += 1;
}

/* Every entry of the list must still be true. */
static void check_known(struct program *p)
{
        for (size_t i = 0; i < p->known.n; i++) {
                const json_t *e = json_array_get(p->known.entries, i);
                const char *name = doc_get_string(e, "script");
                AUTO_FREE char *request = json_dumps(json_object_get(e, "request"), JSON_ENCODE_ANY);

                if (!name || !json_object_get(p->transcripts[0], name))
                        continue;
                if (!p->known.used[i] && doc_get_bool(e, "timing", false))
                        continue;
                if (!p->known.used[i])
                        printf("FAILED known difference of %s, request %s, at %s is none any more: take it "
                               "out of the "
                               "list\n",
                               name, request ? request : "", doc_get_string(e, "path"));
                *(p->known.used[i] ? &p->passed : &p->failed) += 1;
        }
}

static void report(struct program *p)
{
        vec_for_each(&p->scripts.at, s)
                if (is_wanted(p, s))
                        compare_script(p, s);
        check_known(p);
        printf("%zu requests, %zu command lines, %zu differences that are not known\n", p->requests,
               p->commands, p->differences);
        printf("%zu passed, %zu failed\n", p->passed, p->failed);
        p->code = p->failed > 0;
}

/* ---- recorded answers ---- */

static int write_record(struct program *p, struct error *err)
{
        AUTO_BUF struct buf b;
        const char *name;
        json_t *answers;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        vec_for_each(&p->scripts.at, s) {
                name = s->name;
                answers = json_object_get(p->transcripts[1], name);
                if (!answers)
                        continue;
                (void)buf_append_str(&b, b.len ? ",\n" : "{\n");
                (void)buf_append_json_string(&b, name, strlen(name));
                (void)buf_append_str(&b, ":[\n");
                for (size_t i = 0; i < json_array_size(answers); i++) {
                        (void)buf_append_str(&b, i ? ",\n" : "");
                        (void)doc_write(json_array_get(answers, i), &b);
                }
                (void)buf_append_str(&b, "\n]");
        }
        (void)buf_append_str(&b, "\n}\n");
        TRY(buf_status(&b, err, "recording"));
        printf("%zu bytes recorded\n", b.len);
        return p->world.files->write(p->world.ctx, p->flags.record, b.data, b.len, err);
}

static int read_record(struct program *p, struct error *err)
{
        AUTO_FREE char *text = NULL;
        json_t *doc = NULL;
        size_t n;

        TRY(p->world.files->read(p->world.ctx, p->flags.recorded, LIMIT_RESPONSE_BYTES, &text, &n, err));
        TRY(doc_parse((struct slice){ text, n }, &doc, err));
        json_decref(p->transcripts[1]);
        p->transcripts[1] = doc;
        return 0;
}

/* ---- starting ---- */

static int open_target(struct program *p, size_t i, const char *kubeconfig, const char *context,
                       struct error *err)
{
        struct target *t = &p->targets[i];

        if (!*kubeconfig)
                return 0;
        *t = (struct target){ .name = i ? "b" : "a",
                              .world = &p->world,
                              .kubeconfig = kubeconfig,
                              .context = context,
                              .kubectl = p->flags.kubectl,
                              .scratch = p->flags.scratch };
        return target_open(t, err);
}

static int read_scripts(struct program *p, struct error *err)
{
        const char *paths[64];
        struct slice rest = slice_of(p->flags.scripts), head;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        size_t n = 0;

        while (rest.len && n < ARRAY_LEN(paths)) {
                (void)slice_cut(&rest, ',', &head);
                paths[n++] = mem_must(arena_strndup(&arena, head.data, head.len));
        }
        return scripts_read(&p->world, paths, n, &p->scripts, err);
}

static void random_run(struct program *p)
{
        uint64_t r = loop_random_u64(p->loop);

        for (size_t i = 0; i < 5; i++, r /= 20)
                p->run[i] = "bcdfghjklmnpqrstvwxz"[r % 20];
}

static int run_all(struct program *p, struct error *err)
{
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return ERR_NO_MEMORY;
        random_run(p);
        TRY(read_scripts(p, err));
        TRY(open_target(p, 0, p->flags.a, p->flags.a_context, err));
        TRY(open_target(p, 1, p->flags.b, p->flags.b_context, err));
        if (*p->flags.recorded)
                TRY(read_record(p, err));
        TRY(play_all(p, err));
        if (*p->flags.record)
                return write_record(p, err);
        TRY(known_read(&p->world, p->flags.known, &p->known, err));
        report(p);
        return 0;
}

static void run(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };

        if (run_all(p, &err) < 0) {
                fprintf(stderr, "differential: %s\n", err.text);
                p->code = 1;
        }
        for (size_t i = 0; i < 2; i++) {
                if (p->targets[i].context)
                        target_close(&p->targets[i]);
                json_decref(p->transcripts[i]);
        }
        scripts_free(&p->scripts);
        known_free(&p->known);
        http_transport_free(p->world.transport);
        loop_stop(p->loop);
}

static int print_help(void)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        (void)buf_append_str(
                &b, "differential: the same requests to two API servers, and where they differ.\n\n");
        (void)flags_help(flag_table, ARRAY_LEN(flag_table), &b);
        fputs(b.data, stdout);
        return 0;
}

/* Command lines run in folders of their own: paths they are given must not depend on the folder. */
static const char *absolute(const char *path)
{
        char *full = *path ? realpath(path, NULL) : NULL;

        return full ? full : path;
}

int main(int argc, char **argv)
{
        struct program p = { 0 };
        struct error err = { 0 };

        mem_hook_libraries();
        if (flags_parse(flag_table, ARRAY_LEN(flag_table), argc, (const char *const *)argv, &p.flags, &err) <
            0) {
                fprintf(stderr, "differential: %s\n", err.text);
                return 2;
        }
        if (p.flags.help)
                return print_help();
        p.loop = loop_new_real(&err);
        if (!p.loop) {
                fprintf(stderr, "differential: %s\n", err.text);
                return 1;
        }
        const struct log_sink *sink = log_sink_stderr(LOG_TEXT, LOG_WARN);
        world_init_real(&p.world, p.loop, sink);
        (void)p.world.files->make_directory(p.world.ctx, p.flags.scratch, &err);
        p.flags.scratch = absolute(p.flags.scratch);
        p.flags.a = absolute(p.flags.a);
        p.flags.b = absolute(p.flags.b);
        p.transcripts[0] = mem_must(json_object());
        p.transcripts[1] = mem_must(json_object());
        p.log.sink = sink;
        p.group = fiber_group_new(p.loop, NULL, "differential");
        if (!p.group || !fiber_spawn(p.group, "differential", run, &p)) {
                fprintf(stderr, "differential: cannot start\n");
                return 1;
        }
        (void)loop_run(p.loop, &err);
        fiber_group_end(p.group);
        loop_free(p.loop);
        return p.code;
}
