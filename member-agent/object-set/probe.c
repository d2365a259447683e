#include "member-agent/object-set/probe.h"

#include "common/base/limits.h"
#include "common/kube/selector.h"

/* What has been asserted so far. What is unknown hides what is false. */
struct judgement {
        const struct probe_input *in;
        struct arena *arena;
        struct buf words; /* of one assertion */
        struct buf unknown, failed;
        struct error *err;
};

static void conclude(struct judgement *j, enum verdict v)
{
        struct buf *b = v == VERDICT_UNKNOWN ? &j->unknown : &j->failed;

        if (v != VERDICT_TRUE)
                buf_printf(b, "%s%s", b->len ? " and " : "", j->words.data);
        if (j->words.failed)
                b->failed = j->words.failed;
        buf_clear(&j->words);
}

/* A probe asserts nothing of a status that is about an earlier generation. */
static bool is_outdated(struct judgement *j)
{
        if (!assertion_outdated(doc_get_object(j->in->live, "status"), j->in->live))
                return false;
        buf_append_str(&j->words, ".status outdated");
        conclude(j, VERDICT_UNKNOWN);
        return true;
}

/* ---- built in: 10.2 ---- */

static void has_condition(struct judgement *j, const char *type)
{
        conclude(j, assert_condition_equal(j->in->live, type, CONDITION_TRUE, &j->words));
}

static void is_established(struct judgement *j)
{
        has_condition(j, "Established");
}

static void is_ready(struct judgement *j)
{
        has_condition(j, "Ready");
}

static void is_active(struct judgement *j)
{
        conclude(j, assert_field_value(j->in->live, "status.phase", "Active", &j->words));
}

static void is_bound(struct judgement *j)
{
        if (!j->in->first_consumer || text_equal(doc_get_string(j->in->live, "status.phase"), "Lost"))
                conclude(j, assert_field_value(j->in->live, "status.phase", "Bound", &j->words));
}

/* A count that is absent is 0: a workload of no replicas has none of them. */
static void is_updated(struct judgement *j)
{
        long long updated = doc_get_int(j->in->live, "status.updatedReplicas", 0),
                  all = doc_get_int(j->in->live, "status.replicas", 0);

        if (updated != all)
                buf_printf(&j->words,
                           "\"status.updatedReplicas\" != \"status.replicas\" expected: %lld got: %lld",
                           updated, all);
        conclude(j, updated == all ? VERDICT_TRUE : VERDICT_FALSE);
}

static void is_deployed(struct judgement *j)
{
        is_updated(j);
        has_condition(j, "Available");
}

static bool says_whether_it_is_available(const json_t *live)
{
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(live, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Available"))
                        return true;
        return false;
}

/* Kubernetes gives StatefulSets no condition Available: their counts say the same, once they are about this
 * generation. */
static void is_stateful_set_deployed(struct judgement *j)
{
        const json_t *live = j->in->live;
        long long wanted = doc_get_int(live, "spec.replicas", 1),
                  ready = doc_get_int(live, "status.readyReplicas", 0),
                  available = doc_get_int(live, "status.availableReplicas", ready);

        if (says_whether_it_is_available(live)) {
                is_deployed(j);
                return;
        }
        if (!doc_get(live, "status.observedGeneration")) {
                buf_append_str(&j->words, "missing .status.observedGeneration");
                conclude(j, VERDICT_UNKNOWN);
                return;
        }
        is_updated(j);
        if (available < wanted)
                buf_printf(&j->words,
                           "\"status.availableReplicas\" < \"spec.replicas\" expected: %lld got: %lld",
                           wanted, available);
        conclude(j, available < wanted ? VERDICT_FALSE : VERDICT_TRUE);
}

static const struct {
        const char *group, *kind;
        void (*check)(struct judgement *j);
} built_in[] = {
        { "apiextensions.k8s.io", "CustomResourceDefinition", is_established },
        { "", "Namespace", is_active },
        { "", "PersistentVolumeClaim", is_bound },
        { "apps", "Deployment", is_deployed },
        { "apps", "StatefulSet", is_stateful_set_deployed },
        { "cert-manager.io", "Certificate", is_ready },
        { "cert-manager.io", "Issuer", is_ready },
};

static bool is_kind(const struct probe_input *in, const char *group, const char *kind)
{
        return text_equal(in->group, group) && text_equal(in->kind, kind);
}

static void run_built_in(struct judgement *j)
{
        for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
                if (is_kind(j->in, built_in[i].group, built_in[i].kind) && !is_outdated(j))
                        built_in[i].check(j);
}

bool probe_needs_class(const char *group, const char *kind, const json_t *live, const char **ret_class)
{
        const char *phase = doc_get_string(live, "status.phase"),
                   *class = doc_get_string(live, "spec.storageClassName");

        /* "" asks for a volume that is there already, of no class. */
        if (!text_empty(group) || !text_equal(kind, "PersistentVolumeClaim") || text_equal(phase, "Bound") ||
            text_equal(phase, "Lost") || text_equal(class, ""))
                return false;
        *ret_class = class;
        return true;
}

/* ---- the set's own ---- */

static int labels_of(const json_t *live, struct string_map *ret, struct arena *arena, struct error *err)
{
        const char *key;
        json_t *value;

        json_object_foreach(doc_get_object(live, "metadata.labels"), key, value)
                if (json_is_string(value) && string_map_put(ret, key, json_string_value(value), arena) < 0)
                        return error_no_memory(err);
        return 0;
}

static int matches_labels(struct judgement *j, const struct label_selector *s, bool *ret)
{
        struct string_map labels = { 0 };
        struct buf text AUTO_BUF;

        buf_init(&text, 200);
        if (label_selector_check(s, j->err) < 0) {
                label_selector_print(s, &text);
                return error_wrap(j->err, "invalid label selector in progressionProbe (%s)", text.data);
        }
        TRY(labels_of(j->in->live, &labels, j->arena, j->err));
        *ret = label_selector_matches(s, &labels);
        return 0;
}

/* A selector without what its type asks for, which the server refuses, picks nothing. */
static int selects(struct judgement *j, const struct probe_selector *s, bool *ret)
{
        *ret = false;
        if (!s)
                return 0;
        if (s->label)
                return matches_labels(j, s->label, ret);
        *ret = s->group_kind && is_kind(j->in, or_empty(s->group_kind->group), s->group_kind->kind);
        return 0;
}

static enum verdict assert_one(struct judgement *j, const struct probe_assertion *a)
{
        const json_t *live = j->in->live;

        if (a->condition_equal)
                return assert_condition_equal(live, a->condition_equal->type, a->condition_equal->status,
                                              &j->words);
        if (a->fields_equal)
                return assert_fields_equal(live, a->fields_equal->field_a, a->fields_equal->field_b,
                                           &j->words);
        if (a->field_value)
                return assert_field_value(live, a->field_value->field_path, a->field_value->value, &j->words);
        return VERDICT_TRUE;
}

static int run_own(struct judgement *j, const struct progression_probe *probe)
{
        bool selected;

        TRY(selects(j, probe->selector, &selected));
        if (!selected || is_outdated(j))
                return 0;
        for (uint32_t i = 0; i < probe->assertions.n; i++)
                conclude(j, assert_one(j, &probe->assertions.at[i]));
        return 0;
}

/* ---- the verdict: 10.1 ---- */

static int verdict_of(struct judgement *j, struct probe_result *ret)
{
        const struct buf *told = j->unknown.len ? &j->unknown : &j->failed;

        TRY(buf_status(&j->unknown, j->err, "what probes say"));
        TRY(buf_status(&j->failed, j->err, "what probes say"));
        ret->verdict = j->unknown.len ? VERDICT_UNKNOWN : j->failed.len ? VERDICT_FALSE : VERDICT_TRUE;
        ret->words = arena_strndup(j->arena, told->data, told->len);
        return ret->words ? 0 : error_no_memory(j->err);
}

static int run_all(struct judgement *j, struct probe_result *ret)
{
        const struct progression_probe_list *own = j->in->probes;

        run_built_in(j);
        for (uint32_t i = 0; own && i < own->n; i++)
                TRY(run_own(j, &own->at[i]));
        return verdict_of(j, ret);
}

int probe_object(const struct probe_input *in, struct arena *arena, struct probe_result *ret,
                 struct error *err)
{
        struct judgement j = { .in = in, .arena = arena, .err = err };
        int r;

        buf_init(&j.words, LIMIT_OBJECT_BYTES);
        buf_init(&j.unknown, LIMIT_OBJECT_BYTES);
        buf_init(&j.failed, LIMIT_OBJECT_BYTES);
        r = run_all(&j, ret);
        buf_free(&j.words);
        buf_free(&j.unknown);
        buf_free(&j.failed);
        return r;
}

/* ---- what is told of it: 10.4 ---- */

const char *probe_failures_words(const struct probe_failure *at, size_t n, struct arena *arena)
{
        struct buf b AUTO_BUF;

        buf_init(&b, LIMIT_OBJECT_BYTES * PROBE_FAILURES_TOLD);
        for (size_t i = 0; i < MIN(n, PROBE_FAILURES_TOLD); i++) {
                const char *title = set_object_title(at[i].object, arena);

                if (!title)
                        return NULL;
                buf_printf(&b, "%sObject %s: %s", i ? "\n" : "", title, at[i].words);
        }
        if (n > PROBE_FAILURES_TOLD)
                buf_printf(&b, "\nand %zu more object(s)", n - PROBE_FAILURES_TOLD);
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}
