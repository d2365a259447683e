#include "hub-agent/manifest-generation/update/plan_test.h"

static const char *message_of(struct scene *s, const struct job_request *r, const struct job_plan *p,
                              const char *skip)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 10000);
        assert_int_equal(commit_message(r, p, skip, &b, NULL), 0);
        return arena_strdup(&s->arena, b.data);
}

static void assert_message(struct scene *s, const char *data, const char *want)
{
        struct job_request r = request_of(s, data);
        struct job_plan p;

        assert_int_equal(job_plan_make(&s->arena, &r, &s->all, NULL, &p, NULL), 0);
        assert_string_equal(message_of(s, &r, &p, ""), want);
}

/* spec/flux-yaml.md checklist 56 */
static void messages_of_policies_have_a_line_for_each_kind_of_change(void **state)
{
        static const struct {
                const char *fields, *message;
        } rows[] = {
                { "'add':'automated'", "Automated: shop:deployment/a, shop:deployment/b" },
                { "'add':'locked','user':'Ann','message':''", "Locked: shop:deployment/a" },
                { "'remove':'locked'", "Unlocked: shop:deployment/b" },
                { "'add':'tag_all=glob:x'", "Updated policies: shop:deployment/a, shop:deployment/b" },
                { "'add':'locked_msg=x'", "Updated policies: shop:deployment/a, shop:deployment/b" },
                { "'add':'automated=false'", "Deautomated: shop:deployment/a, shop:deployment/b" },
                { "'add':'automated','remove':'locked'",
                  "Updated workload policies\n\n- Automated: shop:deployment/a, shop:deployment/b\n"
                  "- Unlocked: shop:deployment/b" },
                { "'add':'automated\\ntag.app=x','remove':'locked','message':'More\\n\\nsaid'",
                  "More\n\nsaid\n\n- Automated: shop:deployment/a, shop:deployment/b\n"
                  "- Unlocked: shop:deployment/b\n"
                  "- Updated policies: shop:deployment/a, shop:deployment/b" },
                { "'add':'automated','message':'Said'",
                  "Said\n\n- Automated: shop:deployment/a, shop:deployment/b" },
        };
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/locked':'true','fluxcd.io/locked_user':'Ann'}",
                       "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "a", "{}", "'app':'nginx:1'");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_message(&s,
                               arena_printf(&s.arena, "{'type':'policy','workloads':'*',%s}", rows[i].fields),
                               rows[i].message);
        scene_end(&s);
}

/* spec/flux-yaml.md checklist 56 */
static void messages_of_images_name_them(void **state)
{
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_RAW, "b", "{}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "a", "{}", "'app':'nginx:1','db':'pg:1'");
        assert_message(&s, "{'type':'image','workloads':'*','image':'nginx:2'}",
                       "Release nginx:2 to all workloads");
        assert_message(&s,
                       "{'type':'image','workloads':'shop:deployment/a\\nshop:deployment/"
                       "b','image':'nginx:2\\npg:3'}",
                       "Release nginx:2, pg:3 to shop:deployment/a, shop:deployment/b");
        assert_message(&s, "{'type':'image','workloads':'*','image':'nginx:2','message':' Said '}", "Said");
        scene_end(&s);
}

/* Of two candidates, whose repositories have these tags. */
static struct job_plan automatic(struct scene *s, const char *nginx, const char *pg)
{
        static const struct image_filter all;
        struct image_repository *at = arena_calloc(&s->arena, 2, sizeof(*at));
        struct image_catalog catalog = { at, 2 };
        struct image_candidates c;
        struct job_plan p;

        at[0] = repository_of(s, "index.docker.io/library/nginx", nginx);
        at[1] = repository_of(s, "index.docker.io/library/pg", pg);
        scene_workload(s, ORIGIN_RAW, "a", "{'fluxcd.io/automated':'true'}", "'app':'nginx:1','db':'pg:1'");
        scene_workload(s, ORIGIN_RAW, "b", "{'fluxcd.io/automated':'true'}", "'app':'nginx:1'");
        assert_int_equal(automation_candidates(&s->arena, &s->all, &all, &c, NULL), 0);
        assert_int_equal(automation_plan(&s->arena, &c, &catalog, &p, NULL), 0);
        return p;
}

/* spec/flux-yaml.md checklist 56, 65 */
static void messages_of_automatic_releases_name_each_image_once(void **state)
{
        struct scene one = scene_new(), two = scene_new();
        struct job_request r = { .type = JOB_AUTO };
        struct job_plan p = automatic(&one, "1@1 2@2", "1@1");

        assert_string_equal(message_of(&one, &r, &p, ""), "Auto-release nginx:2");
        assert_string_equal(message_of(&one, &r, &p, "\n\n[ci skip]"), "Auto-release nginx:2\n\n[ci skip]");
        p = automatic(&two, "1@1 2@2", "1@1 3@3");
        assert_string_equal(message_of(&two, &r, &p, ""),
                            "Auto-release multiple (2) images\n\n - nginx:2\n - pg:3\n");
        scene_end(&one);
        scene_end(&two);
}

/* spec/flux-yaml.md checklist 56 */
static void what_skips_a_build_is_said_or_not(void **state)
{
        assert_string_equal(commit_skip_text(false, NULL), "");
        assert_string_equal(commit_skip_text(true, ""), "\n\n[ci skip]");
        assert_string_equal(commit_skip_text(true, " [no]"), " [no]");
        assert_string_equal(commit_skip_text(false, " [no]"), " [no]");
}

/* spec/flux-yaml.md checklist 56 */
static void people_are_read_from_names_and_addresses(void **state)
{
        static const struct commit_person committer = { "Sync", "sync@x" };
        static const struct {
                const char *text, *name, *mail; /* name NULL = refused */
        } rows[] = {
                { "Ann Lee <ann@x.org>", "Ann Lee", "ann@x.org" },
                { "  Ann<ann@x.org>  ", "Ann", "ann@x.org" },
                { "ann@x.org", "ann@x.org", "ann@x.org" },
                { "Ann Lee", "Ann Lee", "sync@x" },
                { "Ann <>", "Ann", "" },
                { "Ünal <u@x>", "Ünal", "u@x" },
                { "", NULL, NULL },
                { "<ann@x.org>", NULL, NULL },
                { "Ann <a b>", NULL, NULL },
                { "Ann <a@b> more", NULL, NULL },
                { "A\nB <a@b>", NULL, NULL },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct commit_person p;
                int code = commit_person_parse(&arena, rows[i].text, &committer, &p, NULL);

                assert_int_equal(code, rows[i].name ? 0 : ERR_INVALID);
                if (code == 0) {
                        assert_string_equal(p.name, rows[i].name);
                        assert_string_equal(p.mail, rows[i].mail);
                }
        }
}

/* spec/flux-yaml.md checklist 56 */
static void the_user_is_the_author_only_if_that_is_wanted(void **state)
{
        static const struct commit_person committer = { "Sync", "sync@x" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct job_request r = { .user = "Ann <a@x>" }, nobody = { .user = "" };
        struct commit_person p;

        assert_int_equal(commit_author(&arena, &r, &committer, true, &p, NULL), 0);
        assert_string_equal(p.name, "Ann");
        assert_int_equal(commit_author(&arena, &r, &committer, false, &p, NULL), 0);
        assert_string_equal(p.name, "Sync");
        assert_int_equal(commit_author(&arena, &nobody, &committer, true, &p, NULL), 0);
        assert_string_equal(p.mail, "sync@x");
}

/* ---- notes ---- */

static const char *note_of(struct scene *s, const struct job_request *r, const struct job_plan *p)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 10000);
        assert_int_equal(commit_note_write("job-1", r, p, &b, NULL), 0);
        return arena_strdup(&s->arena, b.data);
}

static void assert_note(struct scene *s, const struct job_request *r, const struct job_plan *p,
                        const char *want)
{
        AUTO_JSON json_t *note = NULL;

        assert_int_equal(doc_parse(slice_of(note_of(s, r, p)), &note, NULL), 0);
        assert_doc_is(TAKE_PTR(note), want);
}

/* spec/flux-yaml.md checklist 58 */
static void notes_tell_the_job_and_what_it_did(void **state)
{
        struct scene s = scene_new(), t = scene_new();
        struct job_request r, automatically = { .type = JOB_AUTO };
        struct job_plan p;

        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/tag.app':'x'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/automated':'true','fluxcd.io/locked':'true'}",
                       "'app':'pg:1'");
        r = request_of(&s,
                       "{'type':'policy','workloads':'*','add':'automated','remove':'tag.app','user':'Ann',"
                       "'message':'why'}");
        assert_int_equal(job_plan_make(&s.arena, &r, &s.all, NULL, &p, NULL), 0);
        assert_note(&s, &r, &p,
                    "{'jobID':'job-1','spec':{'type':'policy','cause':{'Message':'why','User':'Ann'},'spec':{"
                    "'shop:deployment/a':{'add':{'automated':'true'},'remove':{'tag.app':'true'}}}},"
                    "'result':{'shop:deployment/a':{'Status':'success'},'shop:deployment/"
                    "b':{'Status':'skipped'}}}");
        r = request_of(&s, "{'type':'image','workloads':'shop:deployment/a\\nshop:deployment/z',"
                           "'image':'nginx:2\\nx=*'}");
        assert_int_equal(job_plan_make(&s.arena, &r, &s.all, NULL, &p, NULL), 0);
        assert_note(&s, &r, &p,
                    "{'jobID':'job-1','spec':{'type':'image','cause':{'Message':'','User':''},'spec':{"
                    "'ServiceSpecs':['shop:deployment/a','shop:deployment/z'],'ImageSpec':'nginx:2, x=<all "
                    "latest>',"
                    "'Kind':'execute','Excludes':null,'Force':false}},'result':{"
                    "'shop:deployment/a':{'Status':'failed','Error':'container(s) not found: x'},"
                    "'shop:deployment/z':{'Status':'skipped','Error':'not found in repository'}}}");
        p = automatic(&t, "1@1 2@2", "1@1");
        assert_note(
                &t, &automatically, &p,
                "{'jobID':'job-1','spec':{'type':'auto','cause':{'Message':'','User':''},'spec':{'Changes':["
                "{'WorkloadID':'shop:deployment/"
                "a','Container':{'Name':'app','Image':'nginx:1'},'ImageID':'nginx:2'},"
                "{'WorkloadID':'shop:deployment/"
                "b','Container':{'Name':'app','Image':'nginx:1'},'ImageID':'nginx:2'}"
                "]}},'result':{'shop:deployment/a':{'Status':'success','PerContainer':[{'Container':'app',"
                "'Current':'nginx:1','Target':'nginx:2'}]},'shop:deployment/b':{'Status':'success',"
                "'PerContainer':[{'Container':'app','Current':'nginx:1','Target':'nginx:2'}]}}}");
        scene_end(&s);
        scene_end(&t);
}

/* spec/flux-yaml.md checklist 58 */
static void notes_of_ours_are_read_back(void **state)
{
        struct scene s = scene_new();
        struct job_request r = { .type = JOB_AUTO, .user = "Ann", .message = "why" };
        struct job_plan p = automatic(&s, "1@1 2@2", "1@1");
        struct commit_note n;

        assert_int_equal(commit_note_read(&s.arena, slice_of(note_of(&s, &r, &p)), &n, NULL), 0);
        assert_string_equal(n.job_id, "job-1");
        assert_int_equal(n.type, JOB_AUTO);
        assert_string_equal(n.user, "Ann");
        assert_string_equal(n.message, "why");
        assert_int_equal(n.n_workloads, 2);
        assert_string_equal(n.workloads[1], "shop:deployment/b");
        scene_end(&s);
}

static void notes_of_others_are_none_of_ours(void **state)
{
        static const struct {
                const char *text, *complaint;
        } rows[] = {
                { "{}", "no note of ours: there is no jobID" },
                { "[]", "no note of ours: there is no jobID" },
                { "{\"jobID\":\"a\"}", "no note of ours: spec.type is none that is known" },
                { "{\"jobID\":\"a\",\"spec\":{\"type\":\"x\"}}",
                  "no note of ours: spec.type is none that is known" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct commit_note n;
        struct error err;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(commit_note_read(&arena, slice_of(rows[i].text), &n, &err), ERR_INVALID);
                assert_string_equal(err.text, rows[i].complaint);
        }
        assert_int_equal(commit_note_read(&arena, SLICE("Reviewed-by: Ann"), &n, &err), ERR_INVALID);
        assert_true(text_starts_with(err.text, "no note of ours: "));
}

/* ---- sync events ---- */

/* spec/flux-yaml.md checklist 48 */
static void sync_events_tell_commits_and_workloads(void **state)
{
        static const char *const commits[] = { "1111111aaaa", "2222222bbbb", "3333333cccc" };
        static const char *const workloads[] = { "a:deployment/x", "b:cronjob/y" };
        static const struct {
                size_t n_commits, n_workloads;
                const char *old, *text;
        } rows[] = {
                { 1, 1, "0000000aa", "Sync: 1111111, a:deployment/x" },
                { 2, 2, "0000000aa", "Sync: 1111111, a:deployment/x, b:cronjob/y" },
                { 3, 0, "0000000aa", "Sync: 0000000..1111111, no workloads changed" },
                { 3, 1, "", "Sync: 3333333..1111111, a:deployment/x" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_BUF struct buf b;

                buf_init(&b, 1000);
                assert_int_equal(sync_event_text(commits, rows[i].n_commits, rows[i].old, workloads,
                                                 rows[i].n_workloads, &b, NULL),
                                 0);
                assert_string_equal(b.data, rows[i].text);
        }
}

/* ---- failing allocations ---- */

struct written {
        struct job_request request;
        struct job_plan plan;
};

static int write_all(struct arena *arena, void *data)
{
        struct written *w = data;
        AUTO_BUF struct buf message, note;
        struct commit_note n;
        struct commit_person p;
        struct error err;

        buf_init(&message, 10000);
        buf_init(&note, 10000);
        TRY(commit_message(&w->request, &w->plan, " x", &message, &err));
        TRY(commit_author(arena, &w->request, &(struct commit_person){ "a", "b" }, true, &p, &err));
        TRY(commit_note_write("id", &w->request, &w->plan, &note, &err));
        return commit_note_read(arena, (struct slice){ note.data, note.len }, &n, &err);
}

static void each_allocation_may_fail(void **state)
{
        static const char *const requests[] = {
                "{'type':'policy','workloads':'*','add':'automated\\ntag.app=x','user':'Ann <a@b>'}",
                "{'type':'image','workloads':'shop:deployment/a','image':'nginx:3','user':'Ann'}",
        };
        struct scene s = scene_new();
        struct written w = { .request = { .type = JOB_AUTO, .user = "Ann" },
                             .plan = automatic(&s, "1@1 2@2", "1@1 3@3") };

        walk_all_failures(write_all, &w);
        for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
                w.request = request_of(&s, requests[i]);
                assert_int_equal(job_plan_make(&s.arena, &w.request, &s.all, NULL, &w.plan, NULL), 0);
                walk_all_failures(write_all, &w);
        }
        scene_end(&s);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(messages_of_policies_have_a_line_for_each_kind_of_change),
                cmocka_unit_test(messages_of_images_name_them),
                cmocka_unit_test(messages_of_automatic_releases_name_each_image_once),
                cmocka_unit_test(what_skips_a_build_is_said_or_not),
                cmocka_unit_test(people_are_read_from_names_and_addresses),
                cmocka_unit_test(the_user_is_the_author_only_if_that_is_wanted),
                cmocka_unit_test(notes_tell_the_job_and_what_it_did),
                cmocka_unit_test(notes_of_ours_are_read_back),
                cmocka_unit_test(notes_of_others_are_none_of_ours),
                cmocka_unit_test(sync_events_tell_commits_and_workloads),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
