/* What object stores answer with, which keys are paths, and the addresses of it all: spec/helm-chart.md 12.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/memory.h"
#include "hub-agent/source/s3/listing.h"
#include "hub-agent/source/s3/s3_url.h"
#include "hub-agent/source/s3/xml.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define PAGE(inner)                                                                                          \
        HEAD "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" inner                    \
             "</ListBucketResult>"
#define OBJECT(key, tag, size)                                                                               \
        "<Contents><Key>" key "</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;" tag      \
        "&quot;</ETag><Size>" size "</Size><Owner><ID>x</ID></Owner></Contents>"

struct scene {
        struct arena arena;
        struct s3_objects objects;
        struct s3_page page;
        struct error err;
};

static void end(struct scene *s)
{
        s3_objects_free(&s->objects);
        arena_free(&s->arena);
}
#define SCENE(name) CLEANUP(end) struct scene name = { .arena = ARENA_INIT }

static int read_page(struct scene *s, const char *xml)
{
        return s3_read_page(slice_of(xml), &s->arena, &s->objects, &s->page, &s->err);
}

static void assert_refused(const char *xml, int code, const char *text)
{
        SCENE(s);

        assert_int_equal(read_page(&s, xml), code);
        if (!strstr(s.err.text, text))
                fail_msg("%s: %s", xml, s.err.text);
}

/* ---- lists ---- */

static void a_page_tells_its_objects_and_where_it_goes_on(void **state)
{
        SCENE(s);

        assert_int_equal(
                read_page(&s, PAGE("<Name>apps</Name><IsTruncated>true</IsTruncated>" OBJECT(
                                      "b/c&amp;d.yaml", "e1", "12") OBJECT("a.yaml", "e2-3", "0")
                                           OBJECT("folder/", "e3", "0") "<NextContinuationToken>t+/=</"
                                                                        "NextContinuationToken>")),
                0);
        assert_int_equal(s.objects.all.n, 2);
        assert_string_equal(s.objects.all.at[0].key, "b/c&d.yaml");
        assert_string_equal(s.objects.all.at[0].tag, "e1");
        assert_int_equal(s.objects.all.at[0].size, 12);
        assert_string_equal(s.objects.all.at[1].tag, "e2-3");
        assert_string_equal(s.page.next, "t+/=");
        assert_int_equal(read_page(&s, PAGE("<IsTruncated>false</IsTruncated><NextContinuationToken/>")), 0);
        assert_null(s.page.next);
        assert_int_equal(s.objects.all.n, 2);
}

static void keys_are_unescaped_where_the_answer_says_so(void **state)
{
        SCENE(s);

        assert_int_equal(
                read_page(&s, PAGE(OBJECT("a%2Bb+c%C3%A4%", "e", "1") "<EncodingType>url</EncodingType>")),
                0);
        assert_string_equal(s.objects.all.at[0].key, "a+b c\xc3\xa4%");
        assert_int_equal(read_page(&s, PAGE(OBJECT("a%2Bb+c", "e", "1") "<EncodingType/>")), 0);
        assert_string_equal(s.objects.all.at[1].key, "a%2Bb+c");
}

static void what_is_no_list_is_told(void **state)
{
        static const struct {
                const char *xml;
                int code;
                const char *text;
        } cases[] = {
                { "", ERR_INVALID, "the answer is no XML: no element found" },
                { "<html><body>Sign in</body></html>", ERR_INVALID, "the answer is no list of objects" },
                { "{\"json\":1}", ERR_INVALID, "the answer is no XML" },
                { "<ListBucketResult><Contents>", ERR_INVALID, "the answer is no XML" },
                { PAGE("<IsTruncated>true</IsTruncated>"), ERR_INVALID,
                  "the list goes on, and does not say where" },
                { PAGE("<Contents><ETag>\"e\"</ETag><Size>1</Size></Contents>"), ERR_INVALID,
                  "an object of the list has no key" },
                { PAGE("<Contents><Key>a</Key><Size>1</Size></Contents>"), ERR_INVALID,
                  "object 'a' has no ETag" },
                { PAGE("<Contents><Key>a</Key><ETag>\"\"</ETag><Size>1</Size></Contents>"), ERR_INVALID,
                  "object 'a' has no ETag" },
                { PAGE(OBJECT("a", "e", "-1")), ERR_INVALID, "object 'a' has no size" },
                { PAGE(OBJECT("a", "e", "many")), ERR_INVALID, "object 'a' has no size" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_refused(cases[i].xml, cases[i].code, cases[i].text);
}

static void no_entity_is_expanded(void **state)
{
        assert_refused(HEAD "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>"
                            "<ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>",
                       ERR_INVALID, "the answer has a document type, which is not read");
        assert_refused(HEAD "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><ListBucketResult/>", ERR_INVALID,
                       "the answer has a document type");
        assert_refused(PAGE(OBJECT("&b;", "e", "1")), ERR_INVALID, "the answer is no XML: undefined entity");
}

static void elements_have_bounds(void **state)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        for (int i = 0; i < XML_DEPTH + 1; i++)
                buf_append_str(&b, "<a>");
        assert_refused(b.data, ERR_LIMIT, "the answer has more than 16 elements in each other");
        buf_clear(&b);
        buf_append_str(&b, "<a>");
        for (unsigned i = 0; i < XML_TEXT_BYTES + 1; i++)
                buf_append_char(&b, 'x');
        buf_append_str(&b, "</a>");
        assert_int_equal(b.failed, 0);
        assert_refused(b.data, ERR_LIMIT, "a");
        buf_clear(&b);
        buf_append_char(&b, '<');
        for (unsigned i = 0; i < XML_PATH_BYTES + 1; i++)
                buf_append_char(&b, 'x');
        buf_append_str(&b, "/>");
        assert_refused(b.data, ERR_LIMIT, "the name of an element");
}

static void an_error_says_its_code_and_words(void **state)
{
        char text[300];

        s3_read_error(SLICE(HEAD "<Error><Code>NoSuchKey</Code><Message>It is\tnot there.</Message>"
                                 "<Key>k</Key></Error>"),
                      text, sizeof(text));
        assert_string_equal(text, "NoSuchKey: It is\tnot there.");
        s3_read_error(SLICE("<Error><Code>SlowDown</Code></Error>"), text, sizeof(text));
        assert_string_equal(text, "SlowDown");
        s3_read_error(SLICE("<html>"), text, sizeof(text));
        assert_string_equal(text, "");
        s3_read_error(SLICE(""), text, sizeof(text));
        assert_string_equal(text, "");
}

/* ---- keys ---- */

/* spec/helm-chart.md checklist 48 */
static void no_key_leads_out_of_the_folder(void **state)
{
        static const struct {
                struct slice key;
                const char *problem; /* NULL = it is a path */
        } cases[] = {
                { SLICE("a"), NULL },
                { SLICE("a/b.yaml"), NULL },
                { SLICE("..a/b..c/..."), NULL },
                { SLICE(""), "is empty" },
                { SLICE("/etc/passwd"), "is an absolute path" },
                { SLICE(".."), "has a part '.' or '..', which leads elsewhere" },
                { SLICE("a/../../b"), "has a part '.' or '..', which leads elsewhere" },
                { SLICE("a/.."), "has a part '.' or '..', which leads elsewhere" },
                { SLICE("./a"), "has a part '.' or '..', which leads elsewhere" },
                { SLICE("a//b"), "has an empty part" },
                { SLICE("a\\..\\b"), "has a backslash" },
                { SLICE("a\0b"), "has a NUL" },
                { SLICE("a\xff"), "is no UTF-8" },
        };
        AUTO_BUF struct buf deep;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *problem = s3_key_problem(cases[i].key);

                if (!text_equal(problem, cases[i].problem))
                        fail_msg("%s: %s", cases[i].key.data, or_empty(problem));
        }
        buf_init(&deep, 4096);
        for (int i = 0; i < S3_KEY_BYTES; i++)
                buf_append_char(&deep, 'k');
        assert_null(s3_key_problem(slice_of(deep.data)));
        buf_append_char(&deep, 'k');
        assert_string_equal(s3_key_problem(slice_of(deep.data)), "is longer than 1024 bytes");
        buf_clear(&deep);
        for (int i = 0; i < S3_DEPTH; i++)
                buf_append_str(&deep, i ? "/d" : "d");
        assert_null(s3_key_problem(slice_of(deep.data)));
        buf_append_str(&deep, "/d");
        assert_string_equal(s3_key_problem(slice_of(deep.data)), "is too deep: more than 64 folders");
}

static void such_a_key_refuses_the_list_unless_it_is_ignored(void **state)
{
        struct ignore_rules rules = { 0 };
        SCENE(s);

        assert_refused(PAGE(OBJECT("../x", "e", "1")), ERR_INVALID,
                       "key '../x' has a part '.' or '..', which leads elsewhere");
        assert_refused(PAGE(OBJECT("a%00b", "e", "1") "<EncodingType>url</EncodingType>"), ERR_INVALID,
                       "has a NUL");
        assert_refused(PAGE(OBJECT("ab%FFc", "e", "1") "<EncodingType>url</EncodingType>"), ERR_INVALID,
                       "the key that begins with 'ab' is no UTF-8");
        rules.arena = &s.arena;
        assert_int_equal(ignore_add(&rules, "", SLICE("**/x\n*.txt\n"), NULL), 0);
        s.objects.ignored = &rules;
        assert_int_equal(read_page(&s, PAGE(OBJECT("../x", "e", "1") OBJECT("a/b.txt", "e", "1") OBJECT(
                                               "a/b.yaml", "e", "1") OBJECT(".sourceignore", "e", "1"))),
                         0);
        assert_int_equal(s.objects.all.n, 1);
        assert_string_equal(s.objects.all.at[0].key, "a/b.yaml");
}

/* spec/helm-chart.md checklist 93 */
static void objects_are_bounded_by_number_names_and_bytes(void **state)
{
        SCENE(s);
        char name[S3_KEY_BYTES + 1] = "";

        for (int i = 0; i < S3_OBJECTS_MAX; i++) {
                char key[16];

                snprintf(key, sizeof(key), "%d", i);
                assert_int_equal(s3_objects_add(&s.objects, slice_of(key), SLICE("e"), 1, &s.err), 0);
        }
        assert_int_equal(s3_objects_add(&s.objects, SLICE("x"), SLICE("e"), 1, &s.err), ERR_LIMIT);
        assert_string_equal(s.err.text,
                            "there are more than 100000 objects: a prefix or ignored paths make them fewer");
        s.objects.all.n = 0;
        assert_int_equal(s3_objects_add(&s.objects, SLICE("x"), SLICE("e"), S3_TOTAL_BYTES, &s.err),
                         ERR_LIMIT);
        assert_string_equal(s.err.text, "all objects together are larger than 1073741824 bytes, at 'x'");
        assert_int_equal(s3_objects_add(&s.objects, SLICE("x"), SLICE("e"), UINT64_MAX, &s.err), ERR_LIMIT);
        memset(name, 'n', S3_KEY_BYTES);
        s.objects.bytes = 0;
        int code = 0;
        for (unsigned i = 0; code == 0 && i <= S3_NAMES_BYTES / S3_KEY_BYTES; i++) {
                s.objects.all.n = 0;
                code = s3_objects_add(&s.objects, slice_of(name), SLICE("e"), 1, &s.err);
        }
        assert_int_equal(code, ERR_LIMIT);
        assert_string_equal(s.err.text, "the keys are longer than 67108864 bytes in all");
}

/* ---- order and revision ---- */

/* spec/helm-chart.md checklist 91 */
static void the_revision_is_of_keys_and_tags_in_order(void **state)
{
        static const char lines[] = "a-b e2\na/b e1\nb e3\n";
        char hex[SHA256_HEX_SIZE], revision[S3_REVISION_SIZE];
        SCENE(s);

        assert_int_equal(
                read_page(&s, PAGE(OBJECT("b", "e3", "1") OBJECT("a/b", "e1", "1") OBJECT("a-b", "e2", "1"))),
                0);
        assert_int_equal(s3_objects_sort(&s.objects, &s.err), 0);
        s3_objects_revision(&s.objects, revision);
        sha256_hex(lines, strlen(lines), hex);
        assert_true(text_starts_with(revision, "sha256:"));
        assert_string_equal(revision + 7, hex);
}

static void a_key_is_a_file_or_a_folder_and_there_once(void **state)
{
        SCENE(s);

        assert_int_equal(
                read_page(&s, PAGE(OBJECT("a", "e", "1") OBJECT("a-b", "e", "1") OBJECT("a/b/c", "e", "1"))),
                0);
        assert_int_equal(s3_objects_sort(&s.objects, &s.err), ERR_INVALID);
        assert_string_equal(s.err.text, "key 'a' is a file, and a folder in key 'a/b/c'");
        s.objects.all.n = 1;
        assert_int_equal(s3_objects_sort(&s.objects, &s.err), 0);
        assert_int_equal(read_page(&s, PAGE(OBJECT("a", "e", "1"))), 0);
        assert_int_equal(s3_objects_sort(&s.objects, &s.err), ERR_INVALID);
        assert_string_equal(s.err.text, "key 'a' was listed twice");
}

/* ---- addresses ---- */

/* spec/helm-chart.md checklist 91 */
static void a_bucket_is_in_the_path_or_in_the_host(void **state)
{
        static const struct {
                struct s3_place place;
                const char *url;
        } cases[] = {
                { { "minio:9000", "apps", false, false }, "https://minio:9000/apps" },
                { { "minio:9000", "apps", true, false }, "http://minio:9000/apps" },
                { { "s3.amazonaws.com", "apps", false, true }, "https://apps.s3.amazonaws.com" },
                { { "s3.amazonaws.com", "my.apps", false, true }, "https://s3.amazonaws.com/my.apps" },
                { { "s3.amazonaws.com", "my.apps", true, true }, "http://my.apps.s3.amazonaws.com" },
                { { "[fd00::1]:9000", "a_b", true, true }, "http://[fd00::1]:9000/a_b" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *url;

                assert_int_equal(s3_bucket_url(&cases[i].place, &arena, &url, NULL), 0);
                assert_string_equal(url, cases[i].url);
        }
}

static void what_is_no_host_or_bucket_is_refused_without_showing_it(void **state)
{
        static const char *const hosts[] = { "",           "https://minio", "user:secret@minio",
                                             "minio/path", "minio:",        "minio:99999",
                                             "minio:90a",  "[fd00::1",      "[]",
                                             "min io",     "-minio",        "[::1]x" },
                                 *const buckets[] = {
                                         "", "a/b", "..", "-a", "a-", "a b", "secret?x", "a%2f"
                                 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *url;
        struct error err;

        for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
                const struct s3_place p = { hosts[i], "apps", false, false };

                if (s3_bucket_url(&p, &arena, &url, &err) != ERR_INVALID)
                        fail_msg("%s", hosts[i]);
                assert_true(text_starts_with(err.text, "spec.endpoint is no host"));
                assert_null(strstr(err.text, "secret"));
        }
        for (size_t i = 0; i < ARRAY_LEN(buckets); i++) {
                const struct s3_place p = { "minio", buckets[i], false, false };

                if (s3_bucket_url(&p, &arena, &url, &err) != ERR_INVALID)
                        fail_msg("%s", buckets[i]);
                assert_true(text_starts_with(err.text, "spec.bucketName is no name of a bucket"));
        }
        assert_true(s3_is_region("us-east-1") && s3_is_region("RegionOne"));
        assert_false(s3_is_region("") || s3_is_region("us:east") || s3_is_region("us east"));
}

static void queries_stand_in_order_and_keys_are_escaped(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(s3_list_url("https://h/apps", NULL, NULL, &arena),
                            "https://h/apps?encoding-type=url&list-type=2&max-keys=1000");
        assert_string_equal(s3_list_url("https://apps.h", "a b/", "t+/=", &arena),
                            "https://apps.h/?continuation-token=t%2B%2F%3D&encoding-type=url&list-type=2&"
                            "max-keys=1000&prefix=a%20b%2F");
        assert_string_equal(s3_object_url("https://h/apps", "a b/c+d?\xc3\xa4", &arena),
                            "https://h/apps/a%20b/c%2Bd%3F%C3%A4");
}

/* ---- memory ---- */

static int all_of_it(struct scene *s)
{
        char revision[S3_REVISION_SIZE];

        TRY(read_page(s, PAGE(OBJECT("b/c", "e1", "1") OBJECT("a", "e2", "2"))));
        TRY(s3_objects_sort(&s->objects, &s->err));
        s3_objects_revision(&s->objects, revision);
        return s3_object_url("https://h", "a/b", &s->arena) ? 0 : ERR_NO_MEMORY;
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        size_t live = mem_live_count();
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                SCENE(s);

                mem_fail_at(n, false);
                int code = all_of_it(&s);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (code != (fired ? ERR_NO_MEMORY : 0))
                        fail_msg("allocation %llu: %d %s", (unsigned long long)n, code, s.err.text);
        }
        assert_int_equal(mem_live_count(), live);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_page_tells_its_objects_and_where_it_goes_on),
                cmocka_unit_test(keys_are_unescaped_where_the_answer_says_so),
                cmocka_unit_test(what_is_no_list_is_told),
                cmocka_unit_test(no_entity_is_expanded),
                cmocka_unit_test(elements_have_bounds),
                cmocka_unit_test(an_error_says_its_code_and_words),
                cmocka_unit_test(no_key_leads_out_of_the_folder),
                cmocka_unit_test(such_a_key_refuses_the_list_unless_it_is_ignored),
                cmocka_unit_test(objects_are_bounded_by_number_names_and_bytes),
                cmocka_unit_test(the_revision_is_of_keys_and_tags_in_order),
                cmocka_unit_test(a_key_is_a_file_or_a_folder_and_there_once),
                cmocka_unit_test(a_bucket_is_in_the_path_or_in_the_host),
                cmocka_unit_test(what_is_no_host_or_bucket_is_refused_without_showing_it),
                cmocka_unit_test(queries_stand_in_order_and_keys_are_escaped),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
