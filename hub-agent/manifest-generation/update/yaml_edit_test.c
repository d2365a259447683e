#include <stdio.h>

#include "hub-agent/manifest-generation/update/update_test.h"
#include "hub-agent/manifest-generation/update/yaml_edit.h"

/* "spec|containers|0|image" */
static struct doc_place place_of(struct arena *arena, const char *text)
{
        struct doc_step *steps = arena_calloc(arena, 16, sizeof(*steps));
        struct slice rest = slice_of(text), part;
        size_t n = 0;

        for (bool more = true; more; n++) {
                int64_t index;

                more = slice_cut(&rest, '|', &part);
                if (slice_parse_i64(part, &index))
                        steps[n].index = (size_t)index;
                else
                        steps[n].key = arena_strndup(arena, part.data, part.len);
        }
        return (struct doc_place){ steps, n };
}

struct result {
        int code;
        char *text; /* NULL: it failed */
        struct error err;
};

static struct result edit(struct arena *arena, struct slice text, const struct yaml_object *o,
                          const char *place, const char *value)
{
        struct yaml_edit e = { *o, place_of(arena, place), value };
        struct result r = { 0 };
        struct buf b;

        buf_init(&b, 64u << 20);
        r.code = yaml_edit(text, &e, &b, &r.err);
        if (r.code == 0)
                r.text = mem_must(buf_take(&b, NULL));
        buf_free(&b);
        return r;
}

#define OBJECT "kind: Deployment\nmetadata: {name: a}\n"

static void assert_edits(const char *before, const char *place, const char *value, const char *after)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct yaml_object object = { "deployment", "default", "a" };
        struct result r = edit(&arena, slice_of(before), &object, place, value);

        if (r.code < 0)
                fail_msg("%s\n%s", before, r.err.text);
        if (strcmp(r.text, after) != 0)
                fail_msg("%s\nbecame\n%s\nnot\n%s", before, r.text, after);
        mem_free(r.text);
}

static void assert_refuses(const char *before, const char *place, const char *value, int code,
                           const char *words)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct yaml_object object = { "deployment", "default", "a" };
        struct result r = edit(&arena, slice_of(before), &object, place, value);

        if (r.code == 0)
                fail_msg("%s\nbecame\n%s", before, r.text);
        assert_string_equal(r.err.text, words);
        assert_int_equal(r.code, code);
}

/* spec/flux-yaml.md checklist 51 */
static void a_scalar_keeps_its_quotes_where_they_hold_it(void **state)
{
        static const struct {
                const char *before, *value, *after; /* of the line "x: ..." */
        } rows[] = {
                { "b", "c", "c" },
                { "b # note", "c", "c # note" },
                { "  b  # note", "c", "  c  # note" },
                { "'b'", "c", "'c'" },
                { "\"b\" # 'note'", "c", "\"c\" # 'note'" },
                { "'b'", "it's", "'it''s'" },
                { "'b'", "a\nb", "\"a\\nb\"" },
                { "b", "true", "\"true\"" },
                { "b", "1.10", "\"1.10\"" },
                { "b", "", "\"\"" },
                { "b", "a: b", "\"a: b\"" },
                { "b", "a #b", "\"a #b\"" },
                { "b", "nginx:1.25", "nginx:1.25" },
                { "b", "a:", "\"a:\"" },
                { "b", "12:30:45", "\"12:30:45\"" },
                { "b", "2020-01-01", "\"2020-01-01\"" },
                { "b", "*a", "\"*a\"" },
                { "b", "semver:~1.0", "semver:~1.0" },
                { "b", "glob:master-*", "glob:master-*" },
                { "\"b\"", "a\"\\\t\x01ü\xc2\x85", "\"a\\\"\\\\\\t\\u0001ü\\u0085\"" },
                { "true", "true", "\"true\"" },
                { "\"true\"", "true", "\"true\"" },
                { "1", "1", "\"1\"" },
                { "!!str 1", "1", "!!str 1" },
                { "!!str 1", "2", "!!str \"2\"" },
                { "&x b", "c", "&x c" },
                { "", "c", "c" },
                { "# note", "c", "c # note" },
                { "~", "c", "c" },
                { "null # note", "c", "c # note" },
                { "|\n  b\n  c", "d", "d" },
                { ">-  # note\n  b\n\n  c\n", "d", "d\n" },
                { "b\n  c", "d", "d" },
                { "\"b\n  c\" # note", "d", "\"d\" # note" },
                { "\n  b # note", "c", "\n  c # note" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char before[200], after[200];

                for (int last = 0; last < 2; last++) {
                        const char *behind = last ? "" : "y: z\n";
                        const char *after_key = *rows[i].before == '\n' ? "" : " ";

                        snprintf(before, sizeof(before), OBJECT "x:%s%s\n%s", after_key, rows[i].before,
                                 behind);
                        snprintf(after, sizeof(after), OBJECT "x:%s%s\n%s", after_key, rows[i].after, behind);
                        if (!*rows[i].before || *rows[i].before == '#')
                                snprintf(before, sizeof(before), OBJECT "x:%s%s\n%s",
                                         *rows[i].before ? " " : "", rows[i].before, behind);
                        assert_edits(before, "x", rows[i].value, after);
                }
        }
}

static void scalars_in_brackets_are_changed_too(void **state)
{
        static const struct {
                const char *before, *place, *value, *after;
        } rows[] = {
                { "x: {a: b, c: d}", "x|a", "e", "x: {a: e, c: d}" },
                { "x: {a: b, c: d}", "x|c", "1", "x: {a: b, c: \"1\"}" },
                { "x: {\"a\":\"b\"}", "x|a", "c", "x: {\"a\":\"c\"}" },
                { "x: [a, {b: c:1}]", "x|1|b", "c:2", "x: [a, {b: c:2}]" },
                { "x: [a, b]", "x|1", "a,b", "x: [a, \"a,b\"]" },
                { "x: {a: , b: c}", "x|a", "d", "x: {a: d, b: c}" },
                { "x: {a, b: c}", "x|a", "d", "x: {a: d, b: c}" },
                { "x: {a}", "x|a", "d", "x: {a: d}" },
        };
        char before[200], after[200];

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                snprintf(before, sizeof(before), OBJECT "%s # note\n", rows[i].before);
                snprintf(after, sizeof(after), OBJECT "%s # note\n", rows[i].after);
                assert_edits(before, rows[i].place, rows[i].value, after);
        }
}

/* spec/flux-yaml.md checklist 51 */
static void a_new_member_stands_behind_the_others(void **state)
{
        static const struct {
                const char *before, *place, *after;
        } rows[] = {
                { "x:\n    a: b # note\ny: z\n", "x|k", "x:\n    a: b # note\n    k: v\ny: z\n" },
                { "x:\n  a:\n  - b\n\n# note\ny: z\n", "x|k", "x:\n  a:\n  - b\n  k: v\n\n# note\ny: z\n" },
                { "x:\n  a: b", "x|k", "x:\n  a: b\n  k: v" },
                { "x:\n  a: |\n    t\n\ny: z\n", "x|k", "x:\n  a: |\n    t\n  k: v\n\ny: z\n" },
                { "x:\n  a: |+\n    t\n\ny: z\n", "x|k", "x:\n  a: |+\n    t\n\n  k: v\ny: z\n" },
                { "x:\n  a:\ny: z\n", "x|k", "x:\n  a:\n  k: v\ny: z\n" },
                { "x:\n  a: {b: c\n  }\n", "x|k", "x:\n  a: {b: c\n  }\n  k: v\n" },
                { "x:\n- a: b\n  c: d\n- e\n", "x|0|k", "x:\n- a: b\n  c: d\n  k: v\n- e\n" },
                { "x:\n-   a: b\n", "x|0|k", "x:\n-   a: b\n    k: v\n" },
                { "x: {a: b}\n", "x|k", "x: {a: b, k: v}\n" },
                { "x: {a: b, }\n", "x|k", "x: {a: b, k: v, }\n" },
                { "x: {a}\n", "x|k", "x: {a, k: v}\n" },
                { "x: {}\n", "x|k", "x: {k: v}\n" },
                { "x: { } # note\n", "x|k", "x: {k: v } # note\n" },
                { "x: {\"a\": \"b\"}\n", "x|k", "x: {\"a\": \"b\", \"k\": \"v\"}\n" },
                { "x: {\n  a: b # note\n  }\n", "x|k", "x: {\n  a: b,\n  k: v # note\n  }\n" },
                { "x: {\n  \"a\": {}\n}\n", "x|k", "x: {\n  \"a\": {},\n  \"k\": \"v\"\n}\n" },
                { "x: {\n  \"a\": {}\n}\n", "x|a|k", "x: {\n  \"a\": {\"k\": \"v\"}\n}\n" },
                { "x:\ny: z\n", "x|k", "x:\n  k: v\ny: z\n" },
                { "x: # note\ny: z\n", "x|k", "x: # note\n  k: v\ny: z\n" },
                { "x:\n    a:\n        b:\n", "x|a|b|k", "x:\n    a:\n        b:\n            k: v\n" },
                { "x: ~ # note\n", "x|k", "x: {k: v} # note\n" },
                { "x: {a: }\n", "x|a|k", "x: {a:  {k: v}}\n" },
                { "x:\n   a: b\n", "x|c|k", "x:\n   a: b\n   c:\n      k: v\n" },
                { "x: {a: b}\n", "x|c|k", "x: {a: b, c: {k: v}}\n" },
                { "x:\n- a: b\n", "x|0|c|k", "x:\n- a: b\n  c:\n    k: v\n" },
                { "x:\r\n  a: b\r\ny: z\r\n", "x|k", "x:\r\n  a: b\r\n  k: v\r\ny: z\r\n" },
                { "x: &n\n  a: b\n", "x|k", "x: &n\n  a: b\n  k: v\n" },
                { "x:\n  a: b\n---\nkind: Other\n", "x|k", "x:\n  a: b\n  k: v\n---\nkind: Other\n" },
                { "x:\n  a: b\n...\n", "x|k", "x:\n  a: b\n  k: v\n...\n" },
                { "x:\n  a: 'b\n\n    c'  # note\n", "x|k", "x:\n  a: 'b\n\n    c'  # note\n  k: v\n" },
                { "b: &b {a: b}\nx:\n  <<: *b\n  c: d\n", "x|a",
                  "b: &b {a: b}\nx:\n  <<: *b\n  c: d\n  a: v\n" },
        };
        char before[300], after[300];

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                bool windows = strchr(rows[i].before, '\r') != NULL;
                const char *object = windows ? "kind: Deployment\r\nmetadata: {name: a}\r\n" : OBJECT;

                snprintf(before, sizeof(before), "%s%s", object, rows[i].before);
                snprintf(after, sizeof(after), "%s%s", object, rows[i].after);
                assert_edits(before, rows[i].place, "v", after);
        }
}

/* spec/flux-yaml.md checklist 51 */
static void a_member_goes_with_its_line(void **state)
{
        static const struct {
                const char *before, *place, *after;
        } rows[] = {
                { "x:\n  a: b # note\n  c: d\n", "x|a", "x:\n  c: d\n" },
                { "x:\n  a: b\n  # note\n  c: d\n", "x|c", "x:\n  a: b\n  # note\n" },
                { "x:\n  a: |\n    t\n\n  c: d\n", "x|a", "x:\n\n  c: d\n" },
                { "x:\n  a:\n    b: {c:\n      d}\n  e: f\n", "x|a", "x:\n  e: f\n" },
                { "x:\n  a: b\ny: z\n", "x|a", "x: {}\ny: z\n" },
                { "x: # note\n  # more\n  a: b\ny: z\n", "x|a", "x: {} # note\n  # more\ny: z\n" },
                { "x: &n !!map\n  a: b\ny: z\n", "x|a", "x: &n !!map {}\ny: z\n" },
                { "x:\n- a: b # note\n  c: d\n", "x|0|a", "x:\n- c: d\n" },
                { "x:\n- a: b\n  # note\n  c: d\n", "x|0|a", "x:\n- # note\n  c: d\n" },
                { "x:\n- a: b # note\n- c\n", "x|0|a", "x:\n- {} # note\n- c\n" },
                { "x: {a: b, c: d}\n", "x|a", "x: {c: d}\n" },
                { "x: {a: b, c: d}\n", "x|c", "x: {a: b}\n" },
                { "x: {a: b, c: d,}\n", "x|c", "x: {a: b,}\n" },
                { "x: {a: b}\n", "x|a", "x: {}\n" },
                { "x: { a: b , }\n", "x|a", "x: {  }\n" },
                { "x: {a}\n", "x|a", "x: {}\n" },
                { "x: {\n  a: b, # note\n  c: d\n}\n", "x|c", "x: {\n  a: b, # note\n  \n}\n" },
                { "x: {\n  \"a\": 1,\n  \"c\": 2\n}\n", "x|c", "x: {\n  \"a\": 1\n}\n" },
                { "x: {\n  \"a\": 1,\n  \"c\": 2\n}\n", "x|a", "x: {\n  \"c\": 2\n}\n" },
                { "x:\r\n  a: b\r\n  c: d\r\n", "x|a", "x:\r\n  c: d\r\n" },
                { "x:\n  a: b\n  c: d", "x|c", "x:\n  a: b\n" },
                { "y: &y b\nx:\n  a: *y\n  c: d\n", "x|a", "y: &y b\nx:\n  c: d\n" },
                { "x:\n  a: b\n", "x|c", "x:\n  a: b\n" },
                { "x:\n  a: b\n", "z|c", "x:\n  a: b\n" },
                { "x:\n", "x|c", "x:\n" },
        };
        char before[200], after[200];

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                snprintf(before, sizeof(before), OBJECT "%s", rows[i].before);
                snprintf(after, sizeof(after), OBJECT "%s", rows[i].after);
                assert_edits(before, rows[i].place, NULL, after);
        }
}

static void what_is_shared_is_not_changed_alone(void **state)
{
        assert_refuses(OBJECT "x: &i b\ny: *i\n", "y", "c", ERR_INVALID,
                       "yaml: line 4: y is shared by alias *i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i b\ny: *i\n", "x", "c", ERR_INVALID,
                       "yaml: line 3: x is shared by anchor &i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i b\ny: *i\n", "x", NULL, ERR_INVALID,
                       "yaml: line 3: x is shared by anchor &i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i {b: c}\ny: *i\n", "x|b", "d", ERR_INVALID,
                       "yaml: line 3: x.b is shared by anchor &i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i\n  b: c\ny: *i\n", "y|b", "d", ERR_INVALID,
                       "yaml: line 5: y.b is shared by alias *i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i {b: c}\ny: {<<: *i}\n", "x|b", "d", ERR_INVALID,
                       "yaml: line 3: x.b is shared by anchor &i and cannot be changed alone");
        assert_refuses(OBJECT "x: &i {b: c}\ny: {<<: *i}\n", "y|b", NULL, ERR_INVALID,
                       "yaml: line 4: y.b comes from elsewhere by << and cannot be changed alone");
        assert_refuses(OBJECT "x: &i {b: {c: d}}\ny: {<<: *i}\n", "y|b|k", "v", ERR_INVALID,
                       "yaml: line 4: y.b.k comes from elsewhere by << and cannot be changed alone");
        assert_refuses("kind: List\nitems:\n- &o\n  kind: Deployment\n  metadata: {name: a}\n  x: b\n- {<<: "
                       "*o, kind: X}\n",
                       "x", "v", ERR_INVALID,
                       "yaml: line 4: x is shared by anchor &o and cannot be changed alone");
}

static void what_is_not_there_or_no_scalar_is_told(void **state)
{
        assert_refuses("kind: X\n", "x", "v", ERR_NOT_FOUND, "there is no deployment default/a in it");
        assert_refuses(OBJECT "---\n" OBJECT, "x", "v", ERR_INVALID,
                       "there is more than one deployment default/a in it");
        assert_refuses(OBJECT "x: [b]\n", "x", "v", ERR_INVALID,
                       "yaml: line 3: there is no scalar to be changed");
        assert_refuses(OBJECT "x: !!binary aGk=\n", "x", "v", ERR_INVALID,
                       "yaml: line 3: what has the tag tag:yaml.org,2002:binary is not changed");
        assert_refuses(OBJECT "x: b\n", "x|y", "v", ERR_NOT_FOUND,
                       "yaml: line 3: x.y cannot be here: there is no mapping");
        assert_refuses(OBJECT "x: [b]\n", "x|1|y", "v", ERR_NOT_FOUND,
                       "yaml: line 3: x[1].y cannot be here: there is no such item");
        assert_refuses(OBJECT "x: {}\n", "x|y|1|z", "v", ERR_NOT_FOUND,
                       "yaml: line 3: x.y[1].z cannot be here: there is no sequence");
        assert_refuses(OBJECT "x: {b: c}\n", "x|1", "v", ERR_NOT_FOUND,
                       "yaml: line 3: x[1] cannot be here: there is no sequence");
        assert_refuses(OBJECT "x: {b: c\n", "x|b", "v", ERR_INVALID,
                       "yaml: line 4: did not find expected ',' or '}'");
        assert_refuses(OBJECT, "x", "\xff", ERR_INVALID, "a value that is no UTF-8 cannot be in YAML");
        assert_refuses(OBJECT "x: [b]\n", "x|0", NULL, ERR_INVALID,
                       "yaml: line 3: no item of a sequence is removed");
        assert_refuses(
                OBJECT "? x\n", "x", "v", ERR_INVALID,
                "its YAML is written in a way in which one value cannot be changed alone: yaml: line 3: "
                "a key must be a scalar");
}

static void objects_are_found_by_kind_namespace_and_name(void **state)
{
        static const char text[] = "---\n# none\n---\nkind: Deployment\nmetadata: {name: a}\nx: 1st\n---\n"
                                   "kind: DeploymentList\nitems:\n- kind: Deployment\n  metadata: {name: a, "
                                   "namespace: two}\n  x: 2nd\n"
                                   "- kind: Deployment\n  metadata: {name: b}\n---\nkind: "
                                   "StatefulSet\nmetadata: {name: a}\nx: 3rd\n";
        static const struct {
                struct yaml_object object;
                const char *was;
        } rows[] = {
                { { "deployment", "one", "a" }, "1st" }, { { "deployment", "two", "a" }, "2nd" },
                { { "Deployment", "two", "a" }, "2nd" }, { { "statefulset", "any", "a" }, "3rd" },
                { { "statefulset", NULL, "a" }, "3rd" }, { { "deployment", "", "b" }, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct result r = edit(&arena, slice_of(text), &rows[i].object, "x", "new");

                assert_int_equal(r.code, 0);
                if (rows[i].was)
                        assert_null(strstr(r.text, rows[i].was));
                else
                        assert_non_null(strstr(r.text, "\n  x: new\n---\nkind: StatefulSet"));
                mem_free(r.text);
        }
}

static void several_edits_are_made_one_after_the_other(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct yaml_object o = { "deployment", NULL, "a" };
        const struct yaml_edit edits[] = { { o, place_of(&arena, "x|a"), "1" },
                                           { o, place_of(&arena, "x|none"), NULL },
                                           { o, place_of(&arena, "x|b"), "2" },
                                           { o, place_of(&arena, "y"), NULL },
                                           { o, place_of(&arena, "x|a"), NULL } };
        AUTO_BUF struct buf b;

        buf_init(&b, 1000);
        assert_int_equal(yaml_edit_all(SLICE(OBJECT "y: z\n"), edits, ARRAY_LEN(edits), &b, NULL), 0);
        assert_string_equal(b.data, OBJECT "x:\n  b: \"2\"\n");
        buf_clear(&b);
        assert_int_equal(yaml_edit_all(SLICE("a:  b\n"), NULL, 0, &b, NULL), 0);
        assert_string_equal(b.data, "a:  b\n");
}

/* Images and annotations of many objects. */
static void a_file_of_many_objects_is_edited_as_one(void **state)
{
        enum { OBJECTS = 1000 };
        static const struct doc_step x[] = { { "x", 0 } }, k[] = { { "k", 0 }, { "z", 0 } };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct yaml_edit *edits = arena_calloc(&arena, 2 * OBJECTS, sizeof(*edits));
        AUTO_BUF struct buf before, want, got;

        buf_init(&before, 8u << 20);
        buf_init(&want, 8u << 20);
        buf_init(&got, 8u << 20);
        for (int i = 0; i < OBJECTS; i++) {
                const struct yaml_object o = { "deployment", "default", arena_printf(&arena, "a%d", i) };

                buf_printf(&before, "---\nkind: Deployment\nmetadata: {name: a%d}\nx: 1 # note\n", i);
                buf_printf(&want, "---\nkind: Deployment\nmetadata: {name: a%d}\nx: v%d # note\nk:\n  z: w\n",
                           i, i);
                edits[i] = (struct yaml_edit){ o, { x, 1 }, arena_printf(&arena, "v%d", i) };
                edits[2 * OBJECTS - 1 - i] = (struct yaml_edit){ o, { k, 2 }, "w" };
        }
        assert_int_equal(
                yaml_edit_all((struct slice){ before.data, before.len }, edits, 2 * OBJECTS, &got, NULL), 0);
        assert_string_equal(got.data, want.data);
}

/* ---- files as people write them ---- */

static struct slice read_case(struct arena *arena, const char *name)
{
        const char *path = arena_printf(arena, "hub-agent/manifest-generation/update/cases/%s", name);
        FILE *f = fopen(path, "rb");
        char *text = arena_zalloc(arena, 64u << 10);
        size_t n;

        assert_non_null(f);
        n = fread(text, 1, (64u << 10) - 1, f);
        fclose(f);
        return (struct slice){ text, n };
}

/* Lines of one that the other does not have in that order, by the common beginning and end. */
static size_t lines_that_differ(struct slice a, struct slice b)
{
        size_t head = 0, tail = 0, n = 0;

        while (head < a.len && head < b.len && a.data[head] == b.data[head])
                head++;
        while (tail < a.len - head && tail < b.len - head &&
               a.data[a.len - tail - 1] == b.data[b.len - tail - 1])
                tail++;
        for (size_t i = head; i < a.len - tail; i++)
                n += a.data[i] == '\n';
        return n;
}

/* What the text means, but for the one value, is what it meant. */
static void assert_only_that_changed(struct arena *arena, struct slice before, struct slice after,
                                     const struct yaml_object *o, const struct doc_place *place,
                                     const char *value)
{
        json_t *was, *is, *object = NULL, *doc;
        size_t i;

        assert_int_equal(yaml_parse_all(before, &was, NULL), 0);
        assert_int_equal(yaml_parse_all(after, &is, NULL), 0);
        json_array_foreach(was, i, doc) {
                json_t *items = doc_get_array(doc, "items"), *item;
                size_t k;

                if (text_equal(doc_get_string(doc, "metadata.name"), o->name) &&
                    strcasecmp(doc_get_string(doc, "kind"), o->kind) == 0)
                        object = doc;
                json_array_foreach(items, k, item)
                        if (text_equal(doc_get_string(item, "metadata.name"), o->name))
                                object = item;
        }
        assert_non_null(object);
        if (value)
                assert_int_equal(doc_set_at(object, place, json_string(value), NULL), 0);
        else
                assert_int_equal(doc_remove_at(object, place, NULL), 0);
        if (!doc_equal(was, is))
                fail_msg("%s: %s %s", o->name, doc_place_text(arena, place), after.data);
        json_decref(was);
        json_decref(is);
}

static void try_one(const char *file, const struct yaml_object *o, const char *place, const char *value)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice before = read_case(&arena, file), after;
        struct doc_place at = place_of(&arena, place);
        struct result r = edit(&arena, before, o, place, value);

        if (r.code < 0)
                fail_msg("%s: %s: %s", file, place, r.err.text);
        after = slice_of(r.text);
        assert_only_that_changed(&arena, before, after, o, &at, value);
        if (lines_that_differ(before, after) > 1)
                fail_msg("%s: %s: %zu lines went\n%s", file, place, lines_that_differ(before, after), r.text);
        mem_free(r.text);
}

/* spec/flux-yaml.md checklist 51 */
static void in_files_as_people_write_them_one_value_changes(void **state)
{
        static const struct {
                const char *file;
                struct yaml_object object;
                const char *images[4];
        } rows[] = {
                { "shop.yaml",
                  { "deployment", "shop", "frontend" },
                  { "spec|template|spec|containers|0|image", "spec|template|spec|containers|1|image",
                    "spec|template|spec|initContainers|0|image" } },
                { "shop.yaml",
                  { "cronjob", "shop", "report" },
                  { "spec|jobTemplate|spec|template|spec|containers|0|image" } },
                { "list.yaml", { "daemonset", "ops", "agent" }, { "spec|template|spec|containers|0|image" } },
                { "list.yaml",
                  { "statefulset", "ops", "store" },
                  { "spec|template|spec|containers|0|image" } },
                { "list.yaml",
                  { "deployment", "any", "plain" },
                  { "spec|template|spec|containers|0|image" } },
                { "deployment.json.yaml",
                  { "deployment", "default", "api" },
                  { "spec|template|spec|containers|0|image", "spec|template|spec|containers|1|image" } },
                { "windows.yaml",
                  { "deployment", "default", "windows" },
                  { "spec|template|spec|containers|0|image" } },
                { "release.yaml",
                  { "helmrelease", "demo", "podinfo" },
                  { "spec|values|image|tag", "spec|values|backend|image", "spec|values|cache|image|tag",
                    "spec|values|proxy|tag" } },
        };
        static const char *const images[] = { "example/new:2", "1.10", "a@b: #c" };
        static const char *const annotations[] = { "fluxcd.io/automated", "fluxcd.io/tag.app",
                                                   "flux.weave.works/automated",
                                                   "filter.fluxcd.io/chart-image" };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                for (size_t k = 0; k < ARRAY_LEN(rows[i].images) && rows[i].images[k]; k++)
                        for (size_t v = 0; v < ARRAY_LEN(images); v++)
                                try_one(rows[i].file, &rows[i].object, rows[i].images[k], images[v]);
                for (size_t k = 0; k < ARRAY_LEN(annotations); k++) {
                        char place[100];

                        snprintf(place, sizeof(place), "metadata|annotations|%s", annotations[k]);
                        try_one(rows[i].file, &rows[i].object, place, "true");
                        try_one(rows[i].file, &rows[i].object, place, "semver:~1.0");
                        try_one(rows[i].file, &rows[i].object, place, NULL);
                }
        }
}

static void in_files_that_share_values_what_stands_alone_changes(void **state)
{
        static const struct yaml_object one = { "deployment", "default", "one" },
                                        two = { "deployment", "default", "two" };
        static const struct {
                const struct yaml_object *object;
                const char *place;
                bool changes;
        } rows[] = {
                { &one, "spec|template|spec|containers|0|image", false },
                { &one, "spec|template|spec|containers|1|image", false },
                { &one, "spec|template|spec|containers|2|image", true },
                { &one, "spec|template|spec|containers|3|image", false },
                { &one, "spec|template|spec|containers|4|image", true },
                { &one, "metadata|annotations|fluxcd.io/automated", true },
                { &two, "metadata|annotations|fluxcd.io/automated", false },
                { &two, "spec|template|metadata|annotations|fluxcd.io/automated", false },
                { &two, "spec|template|spec|containers|0|image", true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct slice text = read_case(&arena, "shared.yaml");
                struct result r = edit(&arena, text, rows[i].object, rows[i].place, "new:1");

                assert_int_equal(r.code, rows[i].changes ? 0 : ERR_INVALID);
                if (rows[i].changes)
                        try_one("shared.yaml", rows[i].object, rows[i].place, "new:1");
                mem_free(r.text);
        }
}

/* ---- failing allocations ---- */

static int edit_all(void *data)
{
        const struct yaml_object o = { "deployment", NULL, "a" };
        static const struct doc_step steps[] = { { "x", 0 }, { "a", 0 } };
        const struct yaml_edit edits[] = { { o, { steps, 2 }, "true" },
                                           { o, { steps, 2 }, "b: c" },
                                           { o, { steps, 2 }, NULL } };
        AUTO_BUF struct buf b;

        buf_init(&b, 1000);
        return yaml_edit_all(slice_of(data), edits, ARRAY_LEN(edits), &b, NULL);
}

static void each_allocation_may_fail(void **state)
{
        walk_failing_allocations(edit_all, OBJECT "x:\n");
        walk_failing_allocations(edit_all, OBJECT "x: {b: 'c'}\n---\ny: &a d\nz: *a\n");
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_scalar_keeps_its_quotes_where_they_hold_it),
                cmocka_unit_test(scalars_in_brackets_are_changed_too),
                cmocka_unit_test(a_new_member_stands_behind_the_others),
                cmocka_unit_test(a_member_goes_with_its_line),
                cmocka_unit_test(what_is_shared_is_not_changed_alone),
                cmocka_unit_test(what_is_not_there_or_no_scalar_is_told),
                cmocka_unit_test(objects_are_found_by_kind_namespace_and_name),
                cmocka_unit_test(several_edits_are_made_one_after_the_other),
                cmocka_unit_test(a_file_of_many_objects_is_edited_as_one),
                cmocka_unit_test(in_files_as_people_write_them_one_value_changes),
                cmocka_unit_test(in_files_that_share_values_what_stands_alone_changes),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
