/* What overrides take from the labels of a cluster. spec/rollout-and-work.md 5.3. */
#include "common/base/digest.h"
#include "hub-agent/override/override.h"
#include "hub-agent/override/rule.h"

struct labels_hash {
        struct override_applier *a;
        struct error *err;
        struct sha256 sha;
        bool any;
};

static void add_word(struct labels_hash *h, char what, const void *text, size_t n)
{
        h->any = true;
        sha256_update(&h->sha, &what, 1);
        sha256_update(&h->sha, text, n);
        sha256_update(&h->sha, "", 1); /* no label holds a NUL: words cannot run into each other */
}

static bool next_label(struct slice *rest, struct slice *ret_key)
{
        static const char open[] = OVERRIDE_LABEL_VARIABLE;
        const char *at = memmem(rest->data, rest->len, open, strlen(open)), *key, *close;
        size_t left;

        if (!at)
                return false;
        key = at + strlen(open);
        left = (size_t)(rest->data + rest->len - key);
        close = memchr(key, '}', left);
        if (!close)
                return false;
        *ret_key = (struct slice){ key, (size_t)(close - key) };
        *rest = (struct slice){ close + 1, left - ret_key->len - 1 };
        return true;
}

static void add_value(struct labels_hash *h, struct slice value)
{
        const struct string_map *labels = &h->a->cluster->object.meta.labels;
        struct slice key;

        if (!value.data)
                return;
        while (next_label(&value, &key)) {
                add_word(h, 'k', key.data, key.len);
                for (uint32_t i = 0; i < labels->n; i++)
                        if (slice_equal(slice_of(labels->at[i].key), key))
                                add_word(h, 'v', labels->at[i].value, strlen(labels->at[i].value));
        }
}

static int add_operations(struct labels_hash *h, const struct override_rule *r)
{
        for (uint32_t i = 0; i < r->json_patch_overrides.n; i++) {
                const struct json_patch_override *o = &r->json_patch_overrides.at[i];

                TRY(override_work(h->a, o->value.len, h->err));
                add_value(h, o->value);
        }
        return 0;
}

/* 1, or 0 when no rule is for the cluster. A broken selector counts as a match: applying tells of it. Which
 * of several rules apply may change while the override stays on the binding. */
static int add_rules(struct labels_hash *h, const struct override_policy *policy)
{
        bool concerned = false;

        for (uint32_t i = 0; policy && i < policy->rules.n; i++) {
                const struct override_rule *r = &policy->rules.at[i];
                bool match = override_rule_matches(r, h->a->cluster, NULL) != 0;

                TRY(override_work(h->a, OVERRIDE_WORK_OF_RULE, h->err));
                if (policy->rules.n > 1 && r->cluster_selector && r->cluster_selector->terms.n)
                        add_word(h, 'r', match ? "+" : "-", 1);
                if (!match)
                        continue;
                concerned = true;
                if (text_equal(r->override_type, "Delete"))
                        break;
                TRY(add_operations(h, r));
        }
        return concerned;
}

static int add_snapshots(struct labels_hash *h, const struct object_list *snapshots, bool *ret_concerned)
{
        for (size_t i = 0; i < snapshots->n; i++) {
                const struct override_snapshot *s = (const struct override_snapshot *)snapshots->at[i];
                int concerned = add_rules(h, s->spec->override_spec->policy);

                if (concerned < 0)
                        return concerned;
                *ret_concerned = *ret_concerned && concerned;
        }
        return 0;
}

int override_labels_hash(struct override_applier *a, struct arena *arena, const char **ret, struct error *err)
{
        struct labels_hash h = { .a = a, .err = err };
        uint8_t digest[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        bool concerned = true;

        sha256_init(&h.sha);
        TRY(add_snapshots(&h, &a->set.cluster, &concerned));
        TRY(add_snapshots(&h, &a->set.own, &concerned));
        *ret = NULL;
        if (!concerned)
                return 0;
        sha256_final(&h.sha, digest);
        text_hex_encode(digest, sizeof(digest), hex);
        *ret = arena_strdup(arena, h.any ? hex : "");
        return *ret ? 0 : error_no_memory(err);
}
