#include "e2e/devcluster/readiness.h"

#include <stdio.h>

#define KEY_SIZE 700
#define NEVER_READY "devcluster.argosy.dev/never-ready"

static void make_key(char ret[KEY_SIZE], const char *kind, const char *ns, const char *name)
{
        snprintf(ret, KEY_SIZE, "%s/%s/%s", kind ? kind : "", ns ? ns : "", name ? name : "");
}

int readiness_set(struct map *rules, const char *kind, const char *ns, const char *name, bool ready)
{
        char key[KEY_SIZE];

        make_key(key, kind, ns, name);
        if (!ready)
                return map_put(rules, key, rules);
        map_remove(rules, key);
        return 0;
}

bool readiness_is_held(const struct map *rules, const char *kind, const char *ns, const char *name)
{
        char key[KEY_SIZE];

        for (unsigned any = 0; map_count(rules) && any < 8; any++) {
                make_key(key, any & 1 ? NULL : kind, any & 2 ? NULL : ns, any & 4 ? NULL : name);
                if (map_has(rules, key))
                        return true;
        }
        return false;
}

static bool says_never(const json_t *metadata)
{
        static const char *const keys[] = { "annotations", NEVER_READY };

        return text_equal(json_string_value(doc_get_keys(metadata, keys, ARRAY_LEN(keys))), "true");
}

bool readiness_is_refused(const json_t *doc)
{
        return says_never(doc_get(doc, "metadata")) || says_never(doc_get(doc, "spec.template.metadata"));
}
