/* Sends every script to two API servers and says where they answer differently. Ends in `N passed, N failed`:
 * one test for each script, one for each entry of the list of known differences. 0 = no failure, 1 = failures
 * or cannot start, 2 = bad flags. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/program.h"
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

struct suite {
        struct program program;
        struct flags flags;
        struct target targets[2];
        struct scripts scripts;
        struct known known;
        json_t *transcripts[2]; /* script name -> answers */
        char run[8];
        size_t passed, failed, requests, commands, differences;
};

static struct suite *of(struct program *p)
{
        return container_of(p, struct suite, program);
}

/* ---- playing all scripts ---- */

struct job {
        struct suite *suite;
        const struct script *script;
        size_t target;
};

static void play_one(void *ctx)
{
        AUTO_FREE struct job *j = ctx;
        struct suite *t = j->suite;
        struct error err = { 0 };
        json_t *answers = NULL;

        if (script_play(j->script, &t->targets[j->target], t->run, &answers, &err) < 0)
                answers = json_pack("[{s:s}]", "failed", err.text);
        json_object_set_new(t->transcripts[j->target], j->script->name, answers);
}

static bool is_wanted(const struct suite *t, const struct script *s)
{
        const char *only = t->flags.only;

        if (*only && !text_equal(only, s->area) && !text_equal(only, s->name))
                return false;
        if (script_needs_kubectl(s) && (!*t->flags.kubectl || *t->flags.recorded || *t->flags.record))
                return false;
        return !*t->flags.recorded || json_object_get(t->transcripts[1], s->name);
}

static int play_all(struct suite *t, struct error *err)
{
        struct fiber_group *players = fiber_group_new(t->program.loop, t->program.group, "players");
        int code;

        vec_for_each(&t->scripts.at, s) {
                for (size_t i = 0; i < 2 && is_wanted(t, s); i++) {
                        struct job *j = mem_must(NEW(struct job));

                        *j = (struct job){ t, s, i };
                        if (!t->targets[i].context ||
                            fiber_group_wait_below(players, (size_t)t->flags.jobs * 2) < 0 ||
                            !fiber_spawn(players, s->name, play_one, j))
                                mem_free(j);
                }
        }
        code = fiber_group_join(players, DEADLINE_NONE);
        fiber_group_end(players);
        return code < 0 ? error_set(err, code, "interrupted") : 0;
}

/* ---- comparing ---- */

static void print_difference(const struct difference *d)
{
        printf("    %s\n      %s\n      %s\n", d->path, d->a, d->b);
}

/* Differences of one step that are not known; prints them. */
static size_t report_step(struct suite *t, const struct script *s, size_t i, const struct differences *all)
{
        const json_t *step = json_array_get(doc_get_array(s->doc, "steps"), i);
        size_t unknown = 0;

        vec_for_each(&all->at, d) {
                if (known_covers(&t->known, s->name, i, step, d->path))
                        continue;
                if (unknown++ == 0)
                        printf("  %s/%s %s\n", s->area, s->name, step_title(step, i, all->arena));
                if (unknown <= (size_t)t->flags.shown)
                        print_difference(d);
        }
        if (unknown > (size_t)t->flags.shown)
                printf("    and %zu more\n", unknown - (size_t)t->flags.shown);
        return unknown;
}

static size_t compare_step(struct suite *t, const struct script *s, size_t i, const json_t *a,
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
        unknown = report_step(t, s, i, &found);
        vec_free(&found.at);
        return unknown;
}

static void compare_script(struct suite *t, const struct script *s)
{
        const json_t *a = json_object_get(t->transcripts[0], s->name),
                     *b = json_object_get(t->transcripts[1], s->name);
        size_t n = MAX(json_array_size(a), json_array_size(b)), differences = 0;

        for (size_t i = 0; i < n; i++)
                differences += compare_step(t, s, i, json_array_get(a, i), json_array_get(b, i));
        t->requests += script_requests(s, false);
        t->commands += script_requests(s, true);
        t->differences += differences;
        printf("%s %s/%s\n", differences ? "FAILED" : "ok", s->area, s->name);
        *(differences ? &t->failed : &t->passed) += 1;
}

/* Every entry of the list must still be true. */
static void check_known(struct suite *t)
{
        for (size_t i = 0; i < t->known.n; i++) {
                const json_t *e = json_array_get(t->known.entries, i);
                const char *name = doc_get_string(e, "script");
                AUTO_FREE char *request = json_dumps(json_object_get(e, "request"), JSON_ENCODE_ANY);

                if (!name || !json_object_get(t->transcripts[0], name))
                        continue;
                if (doc_get_bool(e, "timing", false))
                        continue; /* true or not: the number of checks is the same each time */
                if (!t->known.used[i])
                        printf("FAILED known difference of %s, request %s, at %s is none any more: take it "
                               "out of the "
                               "list\n",
                               name, request ? request : "", doc_get_string(e, "path"));
                *(t->known.used[i] ? &t->passed : &t->failed) += 1;
        }
}

static void report(struct suite *t)
{
        vec_for_each(&t->scripts.at, s)
                if (is_wanted(t, s))
                        compare_script(t, s);
        check_known(t);
        printf("%zu requests, %zu command lines, %zu differences that are not known\n", t->requests,
               t->commands, t->differences);
        printf("%zu passed, %zu failed\n", t->passed, t->failed);
        t->program.code = t->failed > 0;
}

/* ---- recorded answers ---- */

static int write_record(struct suite *t, struct error *err)
{
        AUTO_BUF struct buf b;
        const char *name;
        json_t *answers;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        vec_for_each(&t->scripts.at, s) {
                name = s->name;
                answers = json_object_get(t->transcripts[1], name);
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
        return t->program.world.files->write(t->program.world.ctx, t->flags.record, b.data, b.len, err);
}

static int read_record(struct suite *t, struct error *err)
{
        AUTO_FREE char *text = NULL;
        json_t *doc = NULL;
        size_t n;

        TRY(t->program.world.files->read(t->program.world.ctx, t->flags.recorded, LIMIT_RESPONSE_BYTES, &text,
                                         &n, err));
        TRY(doc_parse((struct slice){ text, n }, &doc, err));
        json_decref(t->transcripts[1]);
        t->transcripts[1] = doc;
        return 0;
}

/* ---- starting ---- */

static int open_target(struct suite *t, size_t i, const char *kubeconfig, const char *context,
                       struct error *err)
{
        struct target *one = &t->targets[i];

        if (!*kubeconfig)
                return 0;
        *one = (struct target){ .name = i ? "b" : "a",
                                .world = &t->program.world,
                                .kubeconfig = kubeconfig,
                                .context = context,
                                .kubectl = t->flags.kubectl,
                                .scratch = t->flags.scratch };
        return target_open(one, err);
}

static int read_scripts(struct suite *t, struct error *err)
{
        const char *paths[64];
        struct slice rest = slice_of(t->flags.scripts), head;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        size_t n = 0;

        while (rest.len && n < ARRAY_LEN(paths)) {
                (void)slice_cut(&rest, ',', &head);
                paths[n++] = mem_must(arena_strndup(&arena, head.data, head.len));
        }
        return scripts_read(&t->program.world, paths, n, &t->scripts, err);
}

static void random_run(struct suite *t)
{
        uint64_t r = loop_random_u64(t->program.loop);

        for (size_t i = 0; i < 5; i++, r /= 20)
                t->run[i] = "bcdfghjklmnpqrstvwxz"[r % 20];
}

/* Command lines run in folders of their own: paths they are given must not depend on the folder. */
static const char *absolute(const char *path)
{
        char *full = *path ? realpath(path, NULL) : NULL;

        return full ? full : path;
}

static int prepare(struct suite *t, struct error *err)
{
        const struct world *w = &t->program.world;

        TRY(w->files->make_directory(w->ctx, t->flags.scratch, err));
        t->flags.scratch = absolute(t->flags.scratch);
        t->flags.a = absolute(t->flags.a);
        t->flags.b = absolute(t->flags.b);
        t->transcripts[0] = json_object();
        t->transcripts[1] = json_object();
        return t->transcripts[0] && t->transcripts[1] ? 0 : error_no_memory(err);
}

static int run(struct program *p, struct error *err)
{
        struct suite *t = of(p);

        random_run(t);
        TRY(read_scripts(t, err));
        TRY(prepare(t, err));
        TRY(open_target(t, 0, t->flags.a, t->flags.a_context, err));
        TRY(open_target(t, 1, t->flags.b, t->flags.b_context, err));
        if (*t->flags.recorded)
                TRY(read_record(t, err));
        TRY(play_all(t, err));
        if (*t->flags.record)
                return write_record(t, err);
        TRY(known_read(&p->world, t->flags.known, &t->known, err));
        report(t);
        return 0;
}

static void stop(struct program *p)
{
        struct suite *t = of(p);

        for (size_t i = 0; i < 2; i++) {
                if (t->targets[i].context)
                        target_close(&t->targets[i]);
                json_decref(t->transcripts[i]);
        }
        scripts_free(&t->scripts);
        known_free(&t->known);
}

int main(int argc, char **argv)
{
        struct suite t = { .program = { .name = "differential",
                                        .about = "differential: the same requests to two API servers, and "
                                                 "where they differ.",
                                        .flags = flag_table,
                                        .n_flags = ARRAY_LEN(flag_table),
                                        .values = &t.flags,
                                        .help = &t.flags.help,
                                        .run = run,
                                        .close = stop,
                                        .tool = true,
                                        .log_level = LOG_WARN } };

        return program_main(&t.program, argc, argv);
}
