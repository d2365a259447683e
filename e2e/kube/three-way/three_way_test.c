/* What kubectl sends when it applies an edited manifest, as `record` saw it, beside what is made here of the
 * same three documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "common/json/patch.h"
#include "common/kube/merge_keys.h"

#define RECORD "e2e/kube/three-way/recorded.jsonl"
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define CASES_MIN 200

struct recorded {
        const char *name, *type; /* NULL: nothing was sent */
        json_t *original, *current, *modified, *patch, *result;
        const struct schema *schema;
};

/* The record leaves out the annotation of kubectl itself, of which the patch depends nevertheless: that there
 * are annotations at all. */
static void mark(json_t *doc, const char *value)
{
        json_t *metadata = json_object_get(doc, "metadata"), *all;

        if (!json_object_get(metadata, "annotations"))
                json_object_set_new(metadata, "annotations", json_object());
        all = json_object_get(metadata, "annotations");
        assert_int_equal(json_object_set_new(all, LAST_APPLIED, json_string(value)), 0);
}

static void unmark(json_t *doc)
{
        json_t *metadata = json_object_get(doc, "metadata"), *all = json_object_get(metadata, "annotations");

        json_object_del(all, LAST_APPLIED);
        if (json_is_object(all) && json_object_size(all) == 0)
                json_object_del(metadata, "annotations");
        if (json_is_object(metadata) && json_object_size(metadata) == 0)
                json_object_del(doc, "metadata");
}

static void take(const json_t *line, struct recorded *ret)
{
        const char *version = doc_get_string(line, "modified.apiVersion"), *slash = strchr(version, '/');
        char group[100] = "";

        if (slash)
                (void)snprintf(group, sizeof(group), "%.*s", (int)(slash - version), version);
        *ret = (struct recorded){ .name = doc_get_string(line, "name"),
                                  .type = doc_get_string(line, "type"),
                                  .original = json_object_get(line, "original"),
                                  .current = json_object_get(line, "current"),
                                  .modified = json_object_get(line, "modified"),
                                  .patch = json_object_get(line, "patch"),
                                  .result = json_object_get(line, "result"),
                                  .schema = merge_keys_of(group, doc_get_string(line, "modified.kind")) };
        assert_non_null(ret->name);
        assert_true(json_is_object(ret->original) && json_is_object(ret->current) &&
                    json_is_object(ret->modified) && json_is_object(ret->patch));
}

static bool same(const struct recorded *r, const char *what, const json_t *got, const json_t *want)
{
        AUTO_BUF struct buf a, b;

        buf_init(&a, 1 << 20);
        buf_init(&b, 1 << 20);
        if (doc_equal(got, want))
                return true;
        doc_write_canonical(got, &a);
        doc_write_canonical(want, &b);
        print_error("%s: %s\n  %s\nkubectl:\n  %s\n", r->name, what, a.data, b.data);
        return false;
}

/* Where another patch is sent than kubectl's, on purpose. */
static const struct difference {
        const char *name;
        bool better; /* kubectl's spoils the object; else both have the same effect */
} differences[] = {
        /* The order of deletions. */
        { "Deployment: env empty", false },
        /* kubectl also says what is so already. */
        { "Deployment: a container injected, and applied again", false },
        { "Deployment: our label removed by others and by us", false },
        { "Secret: text gone", false },
        { "Secret: from text to data", false },
        { "PodDisruptionBudget: in percent", false },
        { "PodDisruptionBudget: the other way round", false },
        { "Thing: removed by others", false },
        /* Its patches tell ports apart by their number alone: one of two is lost, or has the other's
           protocol. */
        { "Deployment: one port twice with two protocols", true },
        { "Service: one port with two protocols", true },
        { "Service, one number twice: a target", true },
        { "Service, one number twice: one of the two less", true },
        { "Service, one number twice: a port more", false },
};

static const struct difference *difference_of(const char *name)
{
        for (size_t i = 0; i < ARRAY_LEN(differences); i++)
                if (text_equal(differences[i].name, name))
                        return &differences[i];
        return NULL;
}

static json_t *patched(const struct recorded *r, const json_t *patch)
{
        json_t *result = NULL;

        assert_int_equal(r->schema ? patch_strategic(r->current, patch, r->schema, &result, NULL)
                                   : patch_merge(r->current, patch, &result, NULL),
                         0);
        return result;
}

/* All that is wanted, with lists of as many elements. */
static bool holds(const json_t *there, const json_t *wanted)
{
        const char *key;
        json_t *value;
        size_t i;

        if (json_is_object(wanted)) {
                json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
                        if (!holds(json_object_get(there, key), value))
                                return false;
                return true;
        }
        if (!json_is_array(wanted))
                return doc_equal(there, wanted);
        json_array_foreach(wanted, i, value)
                if (!holds(json_array_get(there, i), value))
                        return false;
        return json_array_size(there) == json_array_size(wanted);
}

static bool differs_as_it_may(const struct recorded *r, const struct difference *d, const json_t *patch)
{
        AUTO_JSON json_t *ours = patched(r, patch), *theirs = patched(r, r->patch);

        if (doc_equal(patch, r->patch))
                print_error("%s: is no difference\n", r->name);
        else if (!d->better)
                return same(r, "what comes of the patch", ours, theirs);
        else if (!holds(json_object_get(ours, "spec"), json_object_get(r->modified, "spec")))
                return same(r, "not what is wanted", ours, theirs);
        else if (holds(json_object_get(r->result, "spec"), json_object_get(r->modified, "spec")))
                print_error("%s: kubectl does not spoil it\n", r->name);
        else
                return true;
        return false;
}

static bool play(const struct recorded *r)
{
        AUTO_JSON json_t *patch = NULL;
        bool good;

        mark(r->modified, "then");
        mark(r->current, "first");
        assert_int_equal(r->schema
                                 ? patch_strategic_three_way(r->original, r->modified, r->current, r->schema,
                                                             &patch, NULL)
                                 : patch_merge_three_way(r->original, r->modified, r->current, &patch, NULL),
                         0);
        unmark(patch);
        const struct difference *d = difference_of(r->name);

        good = d ? differs_as_it_may(r, d, patch) : same(r, "the patch", patch, r->patch);
        if (r->type && !text_equal(r->type, r->schema ? "application/strategic-merge-patch+json"
                                                      : "application/merge-patch+json")) {
                print_error("%s: kubectl sends a %s\n", r->name, r->type);
                good = false;
        }
        return good;
}

static void read_record(struct buf *b)
{
        FILE *f = fopen(RECORD, "r");
        char piece[65536];
        size_t n;

        assert_non_null(f);
        while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
                assert_int_equal(buf_append(b, piece, n), 0);
        assert_int_equal(ferror(f), 0);
        (void)fclose(f);
}

static void patches_are_those_of_kubectl(void **state)
{
        AUTO_BUF struct buf text;
        struct slice rest, line;
        size_t n = 0, bad = 0;

        buf_init(&text, 8 << 20);
        read_record(&text);
        rest = (struct slice){ text.data, text.len };
        while (rest.len > 0) {
                AUTO_JSON json_t *doc = NULL;
                struct recorded r;

                slice_cut(&rest, '\n', &line);
                assert_int_equal(doc_parse(line, &doc, NULL), 0);
                take(doc, &r);
                n++;
                bad += !play(&r);
        }
        assert_true(n >= CASES_MIN);
        assert_int_equal(bad, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(patches_are_those_of_kubectl) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
