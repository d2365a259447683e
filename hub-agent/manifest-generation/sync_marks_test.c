/* spec/flux-yaml.md 7.2. The sums were taken with Python's hashlib and base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/sync_marks.h"

#define URL "https://git.example/fleet/config"
#define SET "MD2O7cSmC5x7cpn74Ayjp8B2-1zyYujKpc3NT9QXT5I"

static void a_set_is_named_by_address_branch_and_paths(void **state)
{
        static const char *const paths[] = { "staging", "shared" };
        char name[SYNC_SET_SIZE];

        sync_set_name(SLICE(URL), "main", paths, 2, name);
        assert_string_equal(name, SET);
        sync_set_name(SLICE(URL), "master", NULL, 0, name);
        assert_string_equal(name, "k83yTnmbZgVG8kf8VYCnTApOvJQ7savvyxw72nOMeC8");
}

/* spec/flux-yaml.md checklist 37 */
static void the_mark_is_of_set_and_identity(void **state)
{
        char mark[SYNC_MARK_SIZE];

        sync_mark(SET, "default:deployment/web", mark);
        assert_string_equal(mark, "sha256.tVViZ1Xf63TmoOKHawZV2Bc7L_kDhpKAPjRZABZGb0E");
        assert_true(text_is_label_value(mark));
        sync_mark(SET, "<cluster>:namespace/web", mark);
        assert_string_equal(mark, "sha256.6sWY55IqkC_BYjcQEHLCY-VmmrojMMWBaeYrlauQTps");
}

/* spec/flux-yaml.md checklist 37 */
static void the_checksum_is_of_the_text_as_it_was_loaded(void **state)
{
        char sum[SYNC_CHECKSUM_SIZE];

        assert_int_equal(sync_checksum(SLICE("kind: ConfigMap\n"), sum), 0);
        assert_string_equal(sum, "79bd24e0d3c79604e6c812302b73b6726eccba98");
}

static void strips_to(const char *url, const char *wanted)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 200);
        assert_int_equal(sync_url_without_password(url, &b), 0);
        assert_string_equal(b.data, wanted);
}

static void passwords_are_taken_out_of_addresses(void **state)
{
        strips_to("https://me:secret@git.example/x", "https://me@git.example/x");
        strips_to("https://me:sec:r@et@git.example/x@y", "https://me@git.example/x@y");
        strips_to("ssh://git@git.example:22/x", "ssh://git@git.example:22/x");
        strips_to("git@git.example:x/y", "git@git.example:x/y");
        strips_to("https://git.example/a:@b", "https://git.example/a:@b");
}

static void both_keys_win_over_those_of_the_manifest(void **state)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_JSON json_t *dressed = NULL;

        assert_int_equal(doc_parse(SLICE("{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\","
                                         "\"fluxcd.io/sync-gc-mark\":\"theirs\"},\"annotations\":null}}"),
                                   &doc, NULL),
                         0);
        assert_int_equal(sync_dress(doc, "apps", "mark", "sum", &dressed, NULL), 0);
        assert_string_equal(sync_label(dressed, "x"), "y");
        assert_string_equal(sync_label(dressed, FLUX_SYNC_MARK), "mark");
        assert_string_equal(sync_annotation(dressed, FLUX_SYNC_CHECKSUM), "sum");
        assert_string_equal(doc_get_string(dressed, "metadata.namespace"), "apps");
        assert_string_equal(sync_label(doc, FLUX_SYNC_MARK), "theirs");
}

static void a_cluster_scoped_object_loses_its_namespace(void **state)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_JSON json_t *dressed = NULL;

        assert_int_equal(doc_parse(SLICE("{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}"), &doc, NULL),
                         0);
        assert_int_equal(sync_dress(doc, NULL, "mark", "sum", &dressed, NULL), 0);
        assert_null(doc_get(dressed, "metadata.namespace"));
}

static void each_allocation_that_fails_is_told(void **state)
{
        AUTO_JSON json_t *doc = NULL;
        int code = ERR_NO_MEMORY;

        mem_hook_libraries();
        assert_int_equal(doc_parse(SLICE("{\"metadata\":{\"name\":\"a\"}}"), &doc, NULL), 0);
        for (uint64_t n = 1; code < 0; n++) {
                AUTO_JSON json_t *dressed = NULL;

                mem_fail_at(n, false);
                code = sync_dress(doc, "apps", "mark", "sum", &dressed, NULL);
                mem_fail_at(0, false);
                assert_true(code == 0 || (code == ERR_NO_MEMORY && !dressed));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_is_named_by_address_branch_and_paths),
                cmocka_unit_test(the_mark_is_of_set_and_identity),
                cmocka_unit_test(the_checksum_is_of_the_text_as_it_was_loaded),
                cmocka_unit_test(passwords_are_taken_out_of_addresses),
                cmocka_unit_test(both_keys_win_over_those_of_the_manifest),
                cmocka_unit_test(a_cluster_scoped_object_loses_its_namespace),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
