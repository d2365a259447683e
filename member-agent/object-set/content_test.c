/* spec/cluster-object-set.md 6 */
#include "member-agent/object-set/content.h"

#include "common/base/gzip.h"
#include "common/base/limits.h"
#include "member-agent/apply/testing.h"

#define CM(name) "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name "'}}"
#define INLINE(name) "{'object':" CM(name) "}"
#define REF(name, key) "{'ref':{'name':'" name "','namespace':'ns','key':'" key "'}}"
#define PHASE(name, objects) "{'name':'" name "','objects':[" objects "]}"
#define SET(phases)                                                                                          \
        "{'metadata':{'name':'s'},'spec':{'lifecycleState':'Active','revision':1,'collisionProtection':"     \
        "'Prevent','phases':[" phases "]}}"
#define SYSTEM "fleet-system"

struct bench {
        struct arena arena;
        struct cluster_object_set *set;
        struct content_secrets secrets;
        struct error err;
};

static void open_bench(struct bench *b, const char *set)
{
        AUTO_JSON json_t *doc = quoted(set);
        struct object *o = NULL;

        *b = (struct bench){ 0 };
        if (object_from_doc(&cluster_object_set_kind, doc, &b->arena, &o, &b->err) < 0)
                fail_msg("%s", b->err.text);
        b->set = (struct cluster_object_set *)o;
        assert_int_equal(content_secrets(b->set, SYSTEM, &b->arena, &b->secrets, &b->err), 0);
}

static void close_bench(struct bench *b)
{
        arena_free(&b->arena);
}

/* An immutable Secret, its values as they are; gives it to the refs of that name. */
static void give(struct bench *b, size_t i, const char *key, struct slice value)
{
        json_t *doc = json_pack("{s:b, s:{s:o}}", "immutable", 1, "data", key, doc_base64(value));

        assert_non_null(doc);
        assert_int_equal(arena_defer(&b->arena, (void (*)(void *))json_decref, doc), 0);
        b->secrets.at[i].doc = doc;
}

static struct slice zipped(struct bench *b, const char *text, size_t n)
{
        AUTO_BUF struct buf out;

        buf_init(&out, 64u << 20);
        assert_int_equal(gzip_pack((struct slice){ text, n }, &out, NULL), 0);
        return (struct slice){ arena_memdup(&b->arena, out.data, out.len), out.len };
}

static int resolve(struct bench *b, struct set_phases *ret)
{
        return content_resolve(b->set, &b->secrets, SYSTEM, &b->arena, ret, &b->err);
}

static char *plain(struct bench *b, const char *text)
{
        char *copy = arena_strdup(&b->arena, text);

        for (char *p = copy; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        return copy;
}

/* spec/cluster-object-set.md checklist 24, 27 */
static void each_secret_is_named_once_in_the_order_of_first_use(void **state)
{
        struct bench b;

        open_bench(&b, SET(PHASE("a", REF("y", "1") "," INLINE("i") "," REF("x", "1")) "," PHASE(
                               "b", REF("y", "2") ",{'ref':{'name':'y','key':'k'}},{'ref':{'name':'y','"
                                                  "namespace':'','key':'l'}}")));
        assert_int_equal(b.secrets.n, 3);
        assert_string_equal(b.secrets.at[0].name, "y");
        assert_string_equal(b.secrets.at[0].ns, "ns");
        assert_string_equal(b.secrets.at[1].name, "x");
        assert_string_equal(b.secrets.at[2].name, "y");
        assert_string_equal(b.secrets.at[2].ns, SYSTEM);
        close_bench(&b);
        open_bench(&b, "{'metadata':{'name':'without a spec'}}");
        assert_int_equal(b.secrets.n, 0);
        close_bench(&b);
}

/* spec/cluster-object-set.md checklist 25 */
static void secrets_that_may_be_changed_are_listed(void **state)
{
        AUTO_JSON json_t *fixed = quoted("{'immutable':true}");
        AUTO_JSON json_t *loose = quoted("{'immutable':false}");
        AUTO_JSON json_t *silent = quoted("{}");
        const char *words = "";
        struct bench b;

        open_bench(&b, SET(PHASE("a", REF("d", "k") "," REF("c", "k") "," REF("b", "k") "," REF("a", "k"))));
        b.secrets.at[0].doc = loose;
        b.secrets.at[1].doc = fixed;
        b.secrets.at[2].doc = silent;
        assert_int_equal(content_mutable(&b.secrets, &b.arena, &words, &b.err), 0);
        assert_string_equal(words, "the following secrets are not immutable (referenced secrets must have "
                                   "immutable set to true): ns/d, ns/b");
        b.secrets.at[0].doc = b.secrets.at[2].doc = fixed; /* that "a" is missing is said elsewhere */
        assert_int_equal(content_mutable(&b.secrets, &b.arena, &words, &b.err), 0);
        assert_null(words);
        close_bench(&b);
}

/* spec/cluster-object-set.md checklist 20, 28 */
static void however_a_manifest_comes_it_is_the_same(void **state)
{
        static const char vector[] =
                "sha256:e159e3f2c46b65df156d02407c44936c0fd7349149a89dadf190d27c67019edc";
        struct set_phases phases;
        struct bench b;

        open_bench(&b, SET(PHASE("deploy", INLINE("cm1"))));
        assert_int_equal(resolve(&b, &phases), 0);
        assert_string_equal(phases.at[0].digest, vector);
        assert_string_equal(phases.at[0].at[0].name, "cm1");
        close_bench(&b);
        for (int zip = 0; zip < 2; zip++) {
                const char *text;

                open_bench(&b, SET(PHASE("deploy", REF("n", "k"))));
                text = plain(&b, " {'kind':'ConfigMap', 'metadata':{'name':'cm1'},'apiVersion':'v1'}\n");
                give(&b, 0, "k", zip ? zipped(&b, text, strlen(text)) : slice_of(text));
                assert_int_equal(resolve(&b, &phases), 0);
                assert_string_equal(phases.at[0].digest, vector);
                close_bench(&b);
        }
}

/* What Go escapes is escaped; the order of objects counts, collision protection does not. Digests computed
 * by another program over the texts. */
static void digests_are_those_of_the_canonical_text(void **state)
{
        static const struct {
                const char *phases, *digest;
        } cases[] = {
                { PHASE("a", ""), "sha256:827697ab83396f57e71f32a8b230e924949b3c2a8e4421bc267925fd186fcfc1" },
                { PHASE("a", INLINE("x") "," INLINE("y")),
                  "sha256:6a2bc0ba2ca6f207b18506f61d2dfa20eac4176c3ffdaf2d76945dcb1164ece0" },
                { PHASE("a", INLINE("y") "," INLINE("x")),
                  "sha256:7aedaea7e770eef697be200866c7de04a2566c50c57de3ea93f1d93aa271e27e" },
                { PHASE("a", "{'collisionProtection':'None','object':" CM("x") "}," INLINE("y")),
                  "sha256:6a2bc0ba2ca6f207b18506f61d2dfa20eac4176c3ffdaf2d76945dcb1164ece0" },
                { PHASE("a", "{'object':{'kind':'K','apiVersion':'v1','b':[1,-2,1.5,true,null],'a':{'z':'<&>"
                             "\\u2028','Y':'\\u00e4\\t'}}}"),
                  "sha256:899c2c257e9e7befa458205dc39b1ccfa345fbb5a1f6a1f238cdc5dde0c172a8" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct set_phases phases;
                struct bench b;
                AUTO_FREE char *set = mem_printf(SET("%s"), cases[i].phases);

                open_bench(&b, set);
                assert_int_equal(resolve(&b, &phases), 0);
                assert_string_equal(phases.at[0].digest, cases[i].digest);
                close_bench(&b);
        }
}

/* spec/cluster-object-set.md checklist 22, 26 */
static void what_is_wrong_with_a_secret_is_told(void **state)
{
        static const struct {
                const char *value, *key;
                bool zip;
                const char *says;
        } cases[] = {
                { CM("x"), "other", false, "key \"k\" not found in Secret ns/n" },
                { "\x1f\x8b\x01", "k", false,
                  "creating gzip reader for key \"k\" in Secret ns/n: unexpected EOF" },
                { "\x1f\x8b\x01..........", "k", false,
                  "creating gzip reader for key \"k\" in Secret ns/n: gzip: invalid header" },
                { "\x1f\x8b\x08\x01.......", "k", false,
                  "decompressing key \"k\" in Secret ns/n: flate: corrupt input before offset " },
                { "no JSON", "k", false, "unmarshaling object from key \"k\" in Secret ns/n: " },
                { "kind: ConfigMap\n", "k", true, "unmarshaling object from key \"k\" in Secret ns/n: " },
                { "[" CM("x") "]", "k", false,
                  "unmarshaling object from key \"k\" in Secret ns/n: a manifest must be a JSON object" },
                { CM("x") CM("y"), "k", false, "unmarshaling object from key \"k\" in Secret ns/n: " },
                { "", "k", false, "unmarshaling object from key \"k\" in Secret ns/n: " },
        };
        static const char prefix[] = "resolving ref in phase \"p\": ";

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct set_phases phases;
                struct bench b;
                const char *text;

                open_bench(&b, SET(PHASE("p", REF("n", "k"))));
                text = plain(&b, cases[i].value);
                give(&b, 0, cases[i].key, cases[i].zip ? zipped(&b, text, strlen(text)) : slice_of(text));
                assert_int_equal(resolve(&b, &phases), ERR_INVALID);
                assert_int_equal(b.err.code, ERR_INVALID);
                assert_true(text_starts_with(b.err.text, prefix));
                if (!text_starts_with(b.err.text + strlen(prefix), cases[i].says))
                        fail_msg("%s: %s", cases[i].says, b.err.text);
                close_bench(&b);
        }
}

/* spec/cluster-object-set.md checklist 22, 26: all of this may be otherwise at the next look. */
static void a_secret_that_cannot_be_read_is_read_again(void **state)
{
        struct set_phases phases;
        struct bench b;

        open_bench(&b, SET(PHASE("p", REF("n", "k"))));
        assert_int_equal(resolve(&b, &phases), ERR_NOT_FOUND);
        assert_string_equal(b.err.text,
                            "resolving ref in phase \"p\": getting Secret ns/n: Secret \"n\" not found");
        error_set(&b.secrets.at[0].why, ERR_FORBIDDEN, "not you");
        assert_int_equal(resolve(&b, &phases), ERR_FORBIDDEN);
        assert_string_equal(b.err.text, "resolving ref in phase \"p\": getting Secret ns/n: not you");
        error_set(&b.secrets.at[0].why, ERR_INVALID, "not understood");
        assert_int_equal(resolve(&b, &phases), ERR_RETRY);
        close_bench(&b);
}

/* spec/cluster-object-set.md checklist 21 */
static void a_manifest_unpacks_to_ten_mebibytes_at_most(void **state)
{
        size_t n = CONTENT_MAX_OBJECT + 1, live;
        AUTO_FREE char *text = mem_alloc(n);
        struct set_phases phases;
        struct bench b;

        memset(text, ' ', n);
        text[0] = '{', text[1] = '}';
        open_bench(&b, SET(PHASE("p", REF("n", "k\\\"y"))));
        give(&b, 0, "k\"y", zipped(&b, text, n));
        live = mem_live_bytes();
        assert_int_equal(resolve(&b, &phases), ERR_INVALID);
        assert_string_equal(
                b.err.text,
                "resolving ref in phase \"p\": decompressed data for key \"k\\\"y\" in Secret ns/n "
                "exceeds maximum size (10485760 bytes)");
        assert_true(mem_live_bytes() < live + (1u << 20));
        give(&b, 0, "k\"y", zipped(&b, text, n - 1));
        assert_int_equal(resolve(&b, &phases), 0);
        close_bench(&b);
}

static void a_manifest_too_deep_to_be_read_cannot_heal(void **state)
{
        struct set_phases phases;
        struct bench b;
        char text[601];

        for (size_t i = 0; i < 600; i++)
                text[i] = i < 300 ? '[' : ']';
        text[600] = '\0';
        open_bench(&b, SET(PHASE("p", REF("n", "k"))));
        give(&b, 0, "k", slice_of(text));
        assert_int_equal(resolve(&b, &phases), ERR_INVALID);
        assert_int_equal(b.err.code, ERR_INVALID);
        close_bench(&b);
}

/* As for API servers: the last one counts. */
static void a_field_may_be_there_twice(void **state)
{
        struct set_phases phases;
        struct bench b;

        open_bench(&b, SET(PHASE("p", REF("n", "k"))));
        give(&b, 0, "k", slice_of(plain(&b, "{'kind':'A','kind':'B'}")));
        assert_int_equal(resolve(&b, &phases), 0);
        assert_string_equal(phases.at[0].at[0].kind, "B");
        close_bench(&b);
}

/* One small Secret may be named many times. */
static void all_manifests_of_a_set_together_have_a_limit(void **state)
{
        size_t n = CONTENT_MAX_OBJECT;
        AUTO_FREE char *text = mem_alloc(n);
        struct set_phases phases;
        struct bench b;

        memset(text, ' ', n);
        text[0] = '{', text[1] = '}';
        open_bench(&b,
                   SET(PHASE("p", REF("n", "k") "," REF("n", "k") "," REF("n", "k") "," REF("n", "k") "," REF(
                                          "n", "k") "," REF("n", "k") "," REF("n", "k"))));
        give(&b, 0, "k", zipped(&b, text, n));
        assert_int_equal(resolve(&b, &phases), ERR_INVALID);
        assert_string_equal(b.err.text,
                            "resolving ref in phase \"p\": the manifests of the set exceed 67108864 "
                            "bytes together");
        close_bench(&b);
}

/* "{"a":[0,0,...]}" of that many bytes. */
static char *many_values(size_t n)
{
        char *text = mem_alloc(n);
        size_t at = (size_t)snprintf(text, n, "{\"a\":[");

        for (; at + 4 < n; at += 2)
                memcpy(text + at, "0,", 2);
        memset(text + at, ' ', n - at);
        memcpy(text + n - 3, "0]}", 3);
        return text;
}

/* Ten kilobytes in a Secret must not take hundreds of megabytes from the agent. */
static void the_values_of_a_set_have_a_limit(void **state)
{
        size_t n = CONTENT_MAX_OBJECT;
        AUTO_FREE char *text = many_values(n), *less = many_values(1u << 20);
        struct set_phases phases;
        struct bench b;

        open_bench(&b, SET(PHASE("p", REF("n", "k"))));
        give(&b, 0, "k", zipped(&b, text, n));
        mem_fail_at(1u << 30, false);
        assert_int_equal(resolve(&b, &phases), ERR_INVALID);
        assert_in_range(mem_alloc_count(), 1, 10000);
        mem_fail_at(0, false);
        assert_string_equal(b.err.text,
                            "resolving ref in phase \"p\": the manifests of the set hold more than "
                            "1000000 values together");
        give(&b, 0, "k", zipped(&b, less, 1u << 20));
        assert_int_equal(resolve(&b, &phases), 0);
        close_bench(&b);
}

/* Nor must keys that are there twice: where they are is told nobody. */
static void fields_that_are_there_twice_take_no_memory(void **state)
{
        size_t key = 100000, twice = 1000, n = key + twice * 6 + 20, at = 0;
        AUTO_FREE char *text = mem_zalloc(n);
        struct set_phases phases;
        struct bench b;

        at = (size_t)snprintf(text, n, "{\"");
        memset(text + at, 'k', key);
        at += key;
        at += (size_t)snprintf(text + at, n - at, "\":{");
        for (size_t i = 0; i < twice; i++)
                at += (size_t)snprintf(text + at, n - at, "%s\"a\":0", i ? "," : "");
        at += (size_t)snprintf(text + at, n - at, "}}");
        open_bench(&b, SET(PHASE("p", REF("n", "k"))));
        give(&b, 0, "k", (struct slice){ text, at });
        mem_fail_at(1u << 30, false);
        assert_int_equal(resolve(&b, &phases), 0);
        assert_in_range(mem_alloc_count(), 1, twice + twice / 2);
        mem_fail_at(0, false);
        close_bench(&b);
}

static void a_manifest_that_lacks_all_is_there_all_the_same(void **state)
{
        struct set_phases phases;
        struct bench b;

        open_bench(&b, SET(PHASE("p", REF("n", "k") ",{'object':{'apiVersion':'apps/v1','kind':'Deployment',"
                                                    "'metadata':{'name':'d','namespace':'x'}}}")));
        give(&b, 0, "k", SLICE("null"));
        assert_int_equal(resolve(&b, &phases), 0);
        assert_null(phases.at[0].at[0].doc);
        assert_string_equal(phases.at[0].at[0].kind, "");
        assert_string_equal(phases.at[0].at[1].group, "apps");
        assert_string_equal(phases.at[0].at[1].version, "v1");
        assert_string_equal(phases.at[0].at[1].kind, "Deployment");
        assert_string_equal(phases.at[0].at[1].ns, "x");
        close_bench(&b);
}

/* spec/cluster-object-set.md checklist 43 */
static void the_most_specific_protection_counts(void **state)
{
        static const char *const words[] = { "", "Prevent", "IfNoController", "None" };

        for (int i = 0; i < 4 * 4 * 4; i++) {
                int object = i % 4, phase = i / 4 % 4, set = i / 16,
                    want = object  ? object
                           : phase ? phase
                                   : set;
                struct set_phases phases;
                struct bench b;

                open_bench(&b, SET(PHASE("p", INLINE("x"))));
                b.set->spec->collision_protection = words[set];
                b.set->spec->phases.at[0].collision_protection = words[phase];
                b.set->spec->phases.at[0].objects.at[0].collision_protection = words[object];
                assert_int_equal(resolve(&b, &phases), 0);
                assert_int_equal(phases.at[0].at[0].protection,
                                 want ? (enum protection)want : PROTECTION_PREVENT);
                close_bench(&b);
        }
}

/* spec/cluster-object-set.md checklist 29 */
static void another_content_than_was_observed_is_told(void **state)
{
        struct observed_phase observed[] = { { "a", "sha256:1" }, { "b", "sha256:2" }, { "c", "sha256:3" } };
        struct set_phase now[] = { { .name = "a", .digest = "sha256:1" },
                                   { .name = "b", .digest = "sha256:2" },
                                   { .name = "c", .digest = "sha256:3" } };
        struct cluster_object_set_status status = { .observed_phases = { observed, 3, true } };
        struct cluster_object_set set = { .status = &status };
        struct set_phases phases = { now, 3 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *words = "";

        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_null(words);
        snprintf(now[0].digest, sizeof(now[0].digest), "sha256:9");
        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_string_equal(words,
                            "resolved content of 1 phase(s) has changed: phase \"a\" (expected digest "
                            "sha256:1, got sha256:9); a referenced object source may have been deleted "
                            "and recreated with different content");
        snprintf(now[2].digest, sizeof(now[2].digest), "sha256:8");
        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_string_equal(words,
                            "resolved content of 2 phase(s) has changed: phase \"a\" (expected digest "
                            "sha256:1, got sha256:9); phase \"c\" (expected digest sha256:3, got sha256:8); "
                            "a referenced object source may have been deleted and recreated with "
                            "different content");
        phases.n = 2;
        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_string_equal(words, "number of phases has changed (expected 3 phases, got 2)");
        status.observed_phases.n = 0;
        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_null(words);
        set.status = NULL;
        assert_int_equal(content_changed(&set, &phases, &arena, &words, NULL), 0);
        assert_null(words);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        struct bench b;
        size_t live;

        open_bench(&b, SET(PHASE("p", REF("n", "k") "," REF("m", "k") "," INLINE("x"))));
        give(&b, 0, "k", zipped(&b, "{}", 2));
        give(&b, 1, "k", SLICE("{}"));
        live = mem_live_count();
        for (uint64_t n = 1, fired = 1; fired; n++) {
                struct arena arena = ARENA_INIT;
                struct content_secrets secrets;
                struct set_phases phases;
                const char *words = NULL;
                int code;

                mem_fail_at(n, false);
                code = content_secrets(b.set, SYSTEM, &arena, &secrets, NULL);
                if (code == 0)
                        code = content_mutable(&b.secrets, &arena, &words, NULL);
                if (code == 0)
                        code = content_resolve(b.set, &b.secrets, SYSTEM, &arena, &phases, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                arena_free(&arena);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                assert_int_equal(mem_live_count(), live);
        }
        close_bench(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_secret_is_named_once_in_the_order_of_first_use),
                cmocka_unit_test(secrets_that_may_be_changed_are_listed),
                cmocka_unit_test(however_a_manifest_comes_it_is_the_same),
                cmocka_unit_test(digests_are_those_of_the_canonical_text),
                cmocka_unit_test(what_is_wrong_with_a_secret_is_told),
                cmocka_unit_test(a_secret_that_cannot_be_read_is_read_again),
                cmocka_unit_test(a_manifest_unpacks_to_ten_mebibytes_at_most),
                cmocka_unit_test(a_manifest_too_deep_to_be_read_cannot_heal),
                cmocka_unit_test(a_field_may_be_there_twice),
                cmocka_unit_test(all_manifests_of_a_set_together_have_a_limit),
                cmocka_unit_test(the_values_of_a_set_have_a_limit),
                cmocka_unit_test(fields_that_are_there_twice_take_no_memory),
                cmocka_unit_test(a_manifest_that_lacks_all_is_there_all_the_same),
                cmocka_unit_test(the_most_specific_protection_counts),
                cmocka_unit_test(another_content_than_was_observed_is_told),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
