/* What is done beside a document that is at hand gives what is done without it: random documents, each
 * changed in a few places. */
#include "common/json/doc_beside.h"

#include "common/json/apply.h"
#include "common/json/doc_test.h"
#include "common/json/fieldset.h"
#include "common/json/patch.h"
#include "common/json/schema.h"

#define ROUNDS 3000
#define TEXT_MAX (1u << 20)

static uint32_t below(uint64_t *seed, uint32_t n)
{
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (uint32_t)(*seed >> 33) % n;
}

static const char *const keys[] = { "kind", "spec", "status", "type", "list", "time", "a\"b", "n" };
static const char *const words[] = { "",
                                     "x",
                                     "Ready",
                                     "a longer text than others have, so that it counts",
                                     "\\ and \" \xc3\xa4",
                                     "2026-01-01T00:00:00Z" };

static json_t *random_value(uint64_t *seed, unsigned depth)
{
        unsigned kind = below(seed, depth ? 8 : 5), n = below(seed, 6);
        json_t *v;
        switch (kind) {
        case 0:
        case 1:
                return json_string(words[below(seed, ARRAY_LEN(words))]);
        case 2:
                return json_integer(below(seed, 3));
        case 3:
                return below(seed, 2) ? json_true() : json_false();
        case 4:
                return json_null();
        case 5:
                v = json_array();
                while (n--)
                        assert_int_equal(json_array_append_new(v, random_value(seed, depth - 1)), 0);
                return v;
        default:
                v = json_object();
                while (n--)
                        assert_int_equal(json_object_set_new(v, keys[below(seed, ARRAY_LEN(keys))],
                                                             random_value(seed, depth - 1)),
                                         0);
                return v;
        }
}

static void change_members(uint64_t *seed, json_t *doc);

static void change_member(uint64_t *seed, json_t *doc, const char *key, json_t *value)
{
        unsigned how = below(seed, 10);
        if (how == 0)
                json_object_del(doc, key);
        else if (how < 3)
                json_object_set_new(doc, key, random_value(seed, 1));
        else if (how == 3 && value) { /* the same, behind the others */
                json_t *again = json_incref(value);
                json_object_del(doc, key);
                json_object_set_new(doc, key, again);
        } else if (value)
                change_members(seed, value);
}

/* Once in three times nothing. */
static void change_members(uint64_t *seed, json_t *doc)
{
        size_t n = json_array_size(doc), i = n ? below(seed, (uint32_t)n) : 0;
        const char *key = keys[below(seed, ARRAY_LEN(keys))];
        if (below(seed, 3) == 0)
                return;
        if (json_is_object(doc))
                change_member(seed, doc, key, json_object_get(doc, key));
        if (n && below(seed, 2))
                change_members(seed, json_array_get(doc, i));
        else if (n)
                json_array_set_new(doc, i, random_value(seed, 1));
}

static json_t *random_object(uint64_t *seed)
{
        json_t *v = random_value(seed, 4);
        while (!json_is_object(v)) {
                json_decref(v);
                v = random_value(seed, 4);
        }
        return v;
}

static json_t *changed_copy(uint64_t *seed, const json_t *of)
{
        json_t *copy = doc_copy(of);
        for (unsigned n = below(seed, 4); n > 0; n--)
                change_members(seed, copy);
        return copy;
}

static char *written(const json_t *doc)
{
        struct buf b;
        buf_init(&b, TEXT_MAX);
        assert_int_equal(doc_write(doc, &b), 0);
        return mem_must(buf_take(&b, NULL));
}

static void assert_written(const json_t *doc, const char *text)
{
        char *now = written(doc);
        assert_string_equal(now, text);
        mem_free(now);
}

static void a_text_is_read_beside_a_document_as_without_it(void **state)
{
        (void)state;
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                uint64_t seed = round;
                struct error err = { 0 };
                json_t *like = random_object(&seed), *other = changed_copy(&seed, like), *read = NULL;
                char *was = written(like), *text = written(other);
                assert_int_equal(doc_parse_beside(slice_of(text), like, &read, NULL, &err), 0);
                assert_written(read, text);
                json_decref(read);
                assert_written(like, was);
                mem_free(was);
                mem_free(text);
                json_decref(like);
                json_decref(other);
        }
}

static void what_is_the_same_is_the_other_documents_own(void **state)
{
        (void)state;
        static const char text[] = "{\"a\":{\"b\":[1,{\"c\":\"d\"}]},\"e\":[true],\"f\":null,\"g\":{}}";
        static const char other[] = "{\"a\":{\"b\":[1,{\"c\":\"d\"}]},\"e\":[false],\"f\":null,\"g\":{}}";
        json_t *like, *same, *read;
        assert_int_equal(doc_parse(slice_of("{\"a\":[\"b\",{\"c\":2}]}"), &like, NULL), 0);
        assert_int_equal(doc_parse_beside(slice_of("{\"a\":[\"b\",{\"c\":2}]}"), like, &same, NULL, NULL), 0);
        assert_ptr_equal(like, same);
        json_decref(same);
        json_decref(like);
        assert_int_equal(doc_parse(slice_of(text), &like, NULL), 0);
        assert_int_equal(doc_parse_beside(slice_of(other), like, &read, NULL, NULL), 0);
        assert_ptr_equal(json_object_get(read, "a"), json_object_get(like, "a"));
        assert_ptr_equal(json_object_get(read, "g"), json_object_get(like, "g"));
        assert_ptr_not_equal(json_object_get(read, "e"), json_object_get(like, "e"));
        json_decref(read);
        json_decref(like);
}

static void assert_refused_alike(const char *text, const json_t *like)
{
        struct error alone = { 0 }, beside = { 0 };
        json_t *none = NULL;
        int code = doc_parse_loose(slice_of(text), &none, NULL, &alone);
        assert_true(code < 0);
        assert_int_equal(doc_parse_beside(slice_of(text), like, &none, NULL, &beside), code);
        assert_string_equal(beside.text, alone.text);
}

static void duplicates_and_errors_are_told_alike(void **state)
{
        (void)state;
        static const char text[] =
                "{\"a\":{\"x\":1,\"y\":2,\"x\":1},\"b\":[{\"c\":1,\"c\":{\"d\":1}}],\"a\":{\"x\":1}}";
        static const char *const broken[] = { "{\"a\":{\"x\":1,\"y\":2", "{\"a\":{\"x\":1,\"y\":2}}}",
                                              "{\"a\":{\"x\":1 \"y\"", "{\"a\":{\"x\":1e999", "" };
        json_t *like = doc_of("{'a':{'x':1,'y':2},'b':[{'c':1}]}"), *x, *y, *told_x, *told_y;
        assert_int_equal(doc_parse_loose(slice_of(text), &x, &told_x, NULL), 0);
        assert_int_equal(doc_parse_beside(slice_of(text), like, &y, &told_y, NULL), 0);
        char *values = written(x), *told = written(told_x);
        assert_written(y, values);
        assert_written(told_y, told);
        mem_free(values);
        mem_free(told);
        json_decref(told_x);
        json_decref(told_y);
        json_decref(x);
        json_decref(y);
        for (size_t i = 0; i < ARRAY_LEN(broken); i++)
                assert_refused_alike(broken[i], like);
        json_decref(like);
}

static int read_beside(void *like)
{
        static const char text[] = "{\"a\":{\"x\":1,\"y\":3},\"b\":[{\"c\":1},2],\"d\":[]}";
        json_t *read = NULL;
        struct error err = { 0 };
        TRY(doc_parse_beside(slice_of(text), like, &read, NULL, &err));
        json_decref(read);
        return 0;
}

static void it_survives_each_failing_allocation(void **state)
{
        (void)state;
        json_t *like = doc_of("{'a':{'x':1,'y':2},'b':[{'c':1}],'d':[]}");
        walk_failing_allocations(read_beside, like);
        json_decref(like);
}

/* Writes beside what was written before, and checks it; *spans and *text become its own. */
static void write_beside(const json_t *doc, struct doc_spans *spans, char **text)
{
        struct doc_known_text known = { *text, *text ? strlen(*text) : 0, spans };
        struct doc_spans now = { 0 };
        struct buf b;
        buf_init(&b, TEXT_MAX);
        assert_int_equal(doc_write_beside(doc, &known, &b, &now), 0);
        assert_written(doc, b.data);
        doc_spans_free(spans);
        *spans = now;
        mem_free(*text);
        *text = mem_must(buf_take(&b, NULL));
}

static void a_document_is_written_beside_another_as_without_it(void **state)
{
        (void)state;
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                uint64_t seed = round;
                struct doc_spans spans = { 0 };
                char *text = NULL;
                json_t *like = random_object(&seed);
                write_beside(like, &spans, &text);
                for (int i = 0; i < 3; i++) {
                        json_t *other = changed_copy(&seed, like), *next;
                        char *sent = written(other);
                        assert_int_equal(doc_parse_beside(slice_of(sent), like, &next, NULL, NULL), 0);
                        write_beside(next, &spans, &text);
                        json_decref(like);
                        json_decref(other);
                        mem_free(sent);
                        like = next;
                }
                doc_spans_free(&spans);
                mem_free(text);
                json_decref(like);
        }
}

static void a_patch_read_beside_a_document_merges_as_any(void **state)
{
        (void)state;
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                uint64_t seed = round;
                json_t *live = random_object(&seed), *other = changed_copy(&seed, live), *patch, *want, *got;
                char *was = written(live), *sent = written(other);
                assert_int_equal(patch_merge(live, other, &want, NULL), 0);
                assert_int_equal(doc_parse_beside(slice_of(sent), live, &patch, NULL, NULL), 0);
                assert_int_equal(patch_merge_sharing(live, patch, &got, NULL), 0);
                char *text = written(want);
                assert_written(got, text);
                json_decref(patch);
                json_decref(got);
                assert_written(live, was);
                mem_free(text);
                mem_free(was);
                mem_free(sent);
                json_decref(want);
                json_decref(other);
                json_decref(live);
        }
}

/* ---- validation ---- */

static const char crd[] =
        "{'type':'object','properties':{"
        "'spec':{'type':'object','required':['n'],'properties':{'n':{'type':'integer','minimum':1},"
        "'kind':{'type':'string','pattern':'^[a-zA-Z]*$'},'map':{'type':'object','maxProperties':3,"
        "'additionalProperties':{'type':'string','maxLength':4}}}},"
        "'status':{'type':'object','properties':{"
        "'time':{'type':'string','format':'date-time'},'x':{'type':'string','enum':['a','b']},"
        "'set':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},"
        "'plain':{'type':'array','items':{'type':'object','required':['a'],'properties':{'a':{'type':"
        "'integer','maximum':9}}}},"
        "'list':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['type'],'items':"
        "{'type':'object','required':['type','status'],'properties':{'type':{'type':'string'},'status':{"
        "'type':'string','maxLength':5},'time':{'type':'string','format':'date-time'}}}}}}}}";

static const char sound_text[] =
        "{'spec':{'n':1,'kind':'Lamp','map':{'a':'b','c':'d'}},"
        "'status':{'time':'2026-01-01T00:00:00Z','x':'a','set':['p','q'],'plain':[{'a':1},{'a':2}],"
        "'list':[{'type':'A','status':'True','time':'2026-01-01T00:00:00Z'},{'type':'B','status':'False'}]}}";

static const char *const odd[] = { "'far too long'",
                                   "0",
                                   "'p'",
                                   "'A'",
                                   "{}",
                                   "[]",
                                   "10",
                                   "'b'",
                                   "null",
                                   "'2026-01-01T00:01:00Z'",
                                   "{'a':10}",
                                   "{'type':'A','status':'x'}" };

/* Changes something that is there, anywhere. */
static void spoil(uint64_t *seed, json_t *v)
{
        size_t n = json_is_object(v) ? json_object_size(v) : json_array_size(v);
        size_t i = n ? below(seed, (uint32_t)n) : 0;
        void *at = json_object_iter(v);
        for (size_t k = 0; at && k < i; k++)
                at = json_object_iter_next(v, at);
        json_t *inner = at ? json_object_iter_value(at) : json_array_get(v, i);
        if (!n)
                return;
        if ((json_is_object(inner) || json_is_array(inner)) && below(seed, 8))
                return spoil(seed, inner);
        json_t *other = doc_of(odd[below(seed, ARRAY_LEN(odd))]);
        if (at && below(seed, 5) == 0)
                json_object_del(v, json_object_iter_key(at));
        else if (at)
                json_object_set(v, below(seed, 5) ? json_object_iter_key(at) : "added", other);
        else if (below(seed, 2))
                json_array_set(v, i, other);
        else
                json_array_append(v, other);
        json_decref(other);
}

static char *problems_of(struct arena *arena, const struct schema *s, const json_t *doc, const json_t *old,
                         const json_t *sound)
{
        struct schema_problems p = { .arena = arena };
        struct error err = { 0 };
        char *all = arena_strdup(arena, "");
        assert_int_equal(schema_validate_update(s, doc, old, sound, &p, &err), 0);
        for (size_t i = 0; i < p.n; i++)
                all = arena_printf(arena, "%s%s|%s|%s\n", all, p.at[i].reason, p.at[i].field,
                                   p.at[i].message);
        return mem_must(all);
}

static void the_same_is_wrong_beside_a_sound_document(void **state)
{
        (void)state;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *s;
        json_t *openapi = doc_of(crd), *sound = doc_of(sound_text);
        size_t n_wrong = 0;
        assert_int_equal(schema_from_crd(&arena, openapi, &s, NULL), 0);
        assert_string_equal(problems_of(&arena, s, sound, NULL, NULL), "");
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                uint64_t seed = round;
                AUTO_ARENA struct arena mine = ARENA_INIT;
                json_t *other = doc_copy(sound), *read;
                for (unsigned n = 1 + below(&seed, 3); n > 0; n--)
                        spoil(&seed, other);
                char *text = written(other);
                assert_int_equal(doc_parse_beside(slice_of(text), sound, &read, NULL, NULL), 0);
                const char *want = problems_of(&mine, s, other, sound, NULL);
                assert_string_equal(problems_of(&mine, s, read, sound, sound), want);
                n_wrong += *want != '\0';
                mem_free(text);
                json_decref(read);
                json_decref(other);
        }
        assert_true(n_wrong > ROUNDS / 4 && n_wrong < ROUNDS);
        json_decref(sound);
        json_decref(openapi);
}

/* ---- who owns what an update changes ---- */

/* Adds what a set has to one of the other owners' sets, now and then. */
static json_t *random_part(uint64_t *seed, const json_t *set)
{
        json_t *part = json_object();
        const char *key;
        json_t *node;
        json_object_foreach((json_t *)set, key, node) {
                unsigned how = below(seed, 8);
                if (how == 0)
                        json_object_set_new(part, key, json_object());
                else if (how > 1)
                        json_object_set_new(part, key, random_part(seed, node));
        }
        return part;
}

/* By sets: nothing is removed, all that is taken is the first's, and nobody else's. */
static bool is_own_by_sets(const json_t *old, const json_t *new, const struct schema *s, json_t *const *sets,
                           size_t n)
{
        CLEANUP(fieldset_changes_free) struct fieldset_changes c = { 0 };
        AUTO_JSON json_t *taken = NULL;
        assert_int_equal(fieldset_compare(old, new, s, &c, NULL), 0);
        assert_int_equal(fieldset_unite(c.added, c.modified, &taken), 0);
        bool own = fieldset_empty(c.removed) && !fieldset_empty(taken) && fieldset_contains(sets[0], taken);
        for (size_t i = 1; i < n; i++)
                own = own && !fieldset_overlaps(sets[i], taken);
        return own;
}

static void what_is_found_to_be_the_writers_own_is_by_sets_too(void **state)
{
        (void)state;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *s;
        json_t *openapi = doc_of(crd), *old = doc_of(sound_text);
        size_t n_own = 0, n_by_sets = 0;
        assert_int_equal(schema_from_crd(&arena, openapi, &s, NULL), 0);
        json_t *all = mem_must(fieldset_of(old, s));
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                uint64_t seed = round;
                json_t *new = doc_copy(old), *sets[3];
                for (unsigned n = 1 + below(&seed, 2); n > 0; n--)
                        spoil(&seed, new);
                sets[0] = below(&seed, 2) ? json_incref(all) : random_part(&seed, all);
                for (size_t i = 1; i < ARRAY_LEN(sets); i++)
                        sets[i] = below(&seed, 2) ? json_object() : random_part(&seed, all);
                bool own = fieldset_change_is_own(old, new, s, (const json_t *const *)sets, ARRAY_LEN(sets));
                bool by_sets = is_own_by_sets(old, new, s, sets, ARRAY_LEN(sets));
                assert_true(!own || by_sets);
                n_own += own;
                n_by_sets += by_sets;
                for (size_t i = 0; i < ARRAY_LEN(sets); i++)
                        json_decref(sets[i]);
                json_decref(new);
        }
        assert_true(n_own > ROUNDS / 20 && n_own * 5 > n_by_sets * 4); /* most of what it is for */
        json_decref(all);
        json_decref(old);
        json_decref(openapi);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_text_is_read_beside_a_document_as_without_it),
                cmocka_unit_test(what_is_the_same_is_the_other_documents_own),
                cmocka_unit_test(duplicates_and_errors_are_told_alike),
                cmocka_unit_test(it_survives_each_failing_allocation),
                cmocka_unit_test(a_document_is_written_beside_another_as_without_it),
                cmocka_unit_test(a_patch_read_beside_a_document_merges_as_any),
                cmocka_unit_test(the_same_is_wrong_beside_a_sound_document),
                cmocka_unit_test(what_is_found_to_be_the_writers_own_is_by_sets_too),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
