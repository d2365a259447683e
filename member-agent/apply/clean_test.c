#include "member-agent/apply/clean.h"

#include "common/base/digest.h"
#include "member-agent/apply/testing.h"

/* spec/member-agent.md 2.11 */
static void only_what_a_user_wrote_is_compared(void **state)
{
        AUTO_JSON json_t *doc =
                quoted("{'apiVersion':'v1','kind':'X','metadata':{'name':'n','namespace':'s','generateName':'"
                       "g','uid':'u',"
                       "'resourceVersion':'1','generation':3,'selfLink':'l','creationTimestamp':'t','"
                       "deletionTimestamp':'t',"
                       "'deletionGracePeriodSeconds':3,'finalizers':['f'],'managedFields':[{}],'"
                       "ownerReferences':[{}],"
                       "'labels':{'app.kubernetes.io/name':'a','mine':'b'},"
                       "'annotations':{'kubernetes-fleet.io/spec-hash':'h','x.k8s.io/y':'z','mine':'c'}},"
                       "'spec':{'template':{'metadata':{'creationTimestamp':null,'labels':{'a':'b'}}},"
                       "'jobTemplate':{'spec':{'template':{'metadata':{'creationTimestamp':null}}}}},'status'"
                       ":{'a':1}}");

        assert_int_equal(clean_for_comparison(doc, NULL), 0);
        assert_doc_equal(doc, "{'apiVersion':'v1','kind':'X','metadata':{'finalizers':[],'managedFields':[],"
                              "'ownerReferences':[],'labels':{'mine':'b'},'annotations':{'mine':'c'}},"
                              "'spec':{'template':{'metadata':{'labels':{'a':'b'}}},"
                              "'jobTemplate':{'spec':{'template':{'metadata':{}}}}}}");
}

static void the_hash_is_that_of_the_documented_text(void **state)
{
        static const char text[] =
                "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"annotations\":{},"
                "\"finalizers\":[],\"labels\":{},\"managedFields\":[],\"ownerReferences\":[]}}";
        AUTO_JSON json_t *doc = quoted("{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'web'}}");
        char is[65], wanted[65];

        assert_int_equal(clean_hash(doc, is, NULL), 0);
        sha256_hex(text, strlen(text), wanted);
        assert_string_equal(is, wanted);
        assert_doc_equal(doc, "{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'web'}}");
}

static void what_the_server_sets_is_not_sent(void **state)
{
        AUTO_JSON json_t *doc = quoted("{'metadata':{'name':'n','labels':{'a':'b'},'finalizers':['f'],'uid':'"
                                       "u','resourceVersion':'1',"
                                       "'generation':1,'creationTimestamp':'t','deletionTimestamp':'t','"
                                       "deletionGracePeriodSeconds':1,"
                                       "'managedFields':[],'ownerReferences':[],'selfLink':'l',"
                                       "'annotations':{'deployment.kubernetes.io/"
                                       "revision':'1'}},'spec':{'clusterIP':'1'},'status':{}}");

        assert_int_equal(clean_for_apply(doc, NULL), 0);
        assert_doc_equal(
                doc,
                "{'metadata':{'name':'n','labels':{'a':'b'},'finalizers':['f']},'spec':{'clusterIP':'1'}}");
}

static void foreign_annotations_are_sent(void **state)
{
        AUTO_JSON json_t *doc =
                quoted("{'metadata':{'annotations':{'kubernetes-fleet.io/spec-hash':'old','mine':'x'}}}");

        assert_int_equal(clean_for_apply(doc, NULL), 0);
        assert_doc_equal(doc, "{'metadata':{'annotations':{'mine':'x'}}}");
}

static void what_a_server_chose_for_a_job_is_left_to_the_next_one(void **state)
{
        static const struct {
                const char *is, *wanted;
        } lines[] = {
                { "{'apiVersion':'batch/"
                  "v1','kind':'Job','metadata':{'name':'j','labels':{'controller-uid':'u',"
                  "'batch.kubernetes.io/"
                  "controller-uid':'u','job-name':'j'}},'spec':{'selector':{'matchLabels':"
                  "{}},'template':{'metadata':{'labels':{'controller-uid':'u'}}}}}",
                  "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','labels':{'job-name':'j'}},"
                  "'spec':{'template':{'metadata':{}}}}" },
                { "{'apiVersion':'batch/v1','kind':'Job','spec':{'selector':{'matchLabels':{'a':'b',"
                  "'controller-uid':'u'}}}}",
                  "{'apiVersion':'batch/v1','kind':'Job','spec':{'selector':{'matchLabels':{'a':'b'}}}}" },
                { "{'apiVersion':'batch/v1','kind':'Job','spec':{'manualSelector':true,'selector':{"
                  "'matchLabels':{'controller-uid':'u'}}}}",
                  "{'apiVersion':'batch/v1','kind':'Job','spec':{'manualSelector':true,'selector':{"
                  "'matchLabels':{'controller-uid':'u'}}}}" },
                { "{'apiVersion':'apps/v1','kind':'Deployment','spec':{'selector':{'matchLabels':{}}}}",
                  "{'apiVersion':'apps/v1','kind':'Deployment','spec':{'selector':{'matchLabels':{}}}}" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *doc = quoted(lines[i].is);

                clean_generated(doc);
                assert_doc_equal(doc, lines[i].wanted);
        }
}

static void metadata_of_another_form_is_made_anew(void **state)
{
        static const struct {
                const char *is, *compared, *applied;
        } rows[] = {
                { "{'kind':'X'}",
                  "{'kind':'X','metadata':{'annotations':{},'finalizers':[],'labels':{},'managedFields':[],"
                  "'ownerReferences':[]}}",
                  "{'kind':'X','metadata':{}}" },
                { "{'metadata':['a']}",
                  "{'metadata':{'annotations':{},'finalizers':[],'labels':{},'managedFields':[],"
                  "'ownerReferences':[]}}",
                  "{'metadata':{}}" },
                { "{'metadata':{'annotations':['a'],'labels':'b'}}",
                  "{'metadata':{'annotations':{},'finalizers':[],'labels':{},'managedFields':[],"
                  "'ownerReferences':[]}}",
                  "{'metadata':{'annotations':['a'],'labels':'b'}}" },
                { "{'metadata':{'labels':{'k8s.io/a':'1','a.kubernetes-fleet.io/b':'2','kubernetes.iox':'3',"
                  "'plain':'4'}}}",
                  "{'metadata':{'annotations':{},'finalizers':[],'labels':{'kubernetes.iox':'3','plain':'4'},"
                  "'managedFields':[],'ownerReferences':[]}}",
                  "{'metadata':{'labels':{'k8s.io/a':'1','a.kubernetes-fleet.io/b':'2','kubernetes.iox':'3',"
                  "'plain':'4'}}}" },
                { "{'metadata':{'annotations':{}}}",
                  "{'metadata':{'annotations':{},'finalizers':[],'labels':{},'managedFields':[],"
                  "'ownerReferences':[]}}",
                  "{'metadata':{}}" },
                { "{'metadata':{'annotations':{'kubectl.kubernetes.io/last-applied-configuration':'x',"
                  "'kubernetes-fleet.io/last-applied-configuration':'y','k8s.io/z':'z'}}}",
                  "{'metadata':{'annotations':{},'finalizers':[],'labels':{},'managedFields':[],"
                  "'ownerReferences':[]}}",
                  "{'metadata':{'annotations':{'k8s.io/z':'z'}}}" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *compared = quoted(rows[i].is);
                AUTO_JSON json_t *applied = quoted(rows[i].is);

                assert_int_equal(clean_for_comparison(compared, NULL), 0);
                assert_doc_equal(compared, rows[i].compared);
                assert_int_equal(clean_for_apply(applied, NULL), 0);
                assert_doc_equal(applied, rows[i].applied);
        }
}

static void only_jobs_lose_what_a_server_chose(void **state)
{
#define REST ",'spec':{'selector':{'matchLabels':{'controller-uid':'u'}}}}"
        static const char *const rows[] = {
                "{'apiVersion':'batch/v1','kind':'CronJob'" REST,
                "{'apiVersion':'batch.example/v1','kind':'Job'" REST,
                "{'kind':'Job'" REST,
                "{'apiVersion':'batch/v1'" REST,
                "{'apiVersion':'batch/v1','kind':'Job','metadata':{'labels':{}},'spec':{'selector':7}}",
        };

        for (size_t i = 0; i < ARRAY_LEN(rows) - 1; i++) {
                AUTO_JSON json_t *doc = quoted(rows[i]);

                clean_generated(doc);
                assert_doc_equal(doc, rows[i]);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_what_a_user_wrote_is_compared),
                cmocka_unit_test(the_hash_is_that_of_the_documented_text),
                cmocka_unit_test(what_the_server_sets_is_not_sent),
                cmocka_unit_test(foreign_annotations_are_sent),
                cmocka_unit_test(what_a_server_chose_for_a_job_is_left_to_the_next_one),
                cmocka_unit_test(metadata_of_another_form_is_made_anew),
                cmocka_unit_test(only_jobs_lose_what_a_server_chose),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
