/* Patches that only move times on are not put through all that others are put through. Two servers play the
 * same, of which one does not know that way: what they answer, store and tell watchers has to be the same,
 * byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"
#include "e2e/devcluster/store.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define LAMPS "/apis/example.com/v1/namespaces/default/lamps"
#define LAMP LAMPS "/l"
#define MERGE "application/merge-patch+json"
#define TIME "type: string, format: date-time"

/* What differs from one definition to another: a rule of the whole object, and the schema of `turns`. */
static const char definition[] =
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata: {name: lamps.example.com}\n"
        "spec:\n"
        "  group: example.com\n"
        "  names: {plural: lamps, kind: Lamp}\n"
        "  scope: Namespaced\n"
        "  versions:\n"
        "  - name: v1alpha1\n"
        "    served: true\n"
        "    storage: false\n"
        "    subresources: {status: {}}\n"
        "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"
        "  - name: v1\n"
        "    served: true\n"
        "    storage: true\n"
        "    subresources: {status: {}}\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        x-kubernetes-validations: [{rule: \"%s\"}]\n"
        "        properties:\n"
        "          spec: {type: object, properties: {size: {type: integer}}}\n"
        "          status:\n"
        "            type: object\n"
        "            x-kubernetes-validations: [{rule: \"!has(self.note) || self.note != 'bad'\"}]\n"
        "            properties:\n"
        "              beat: {" TIME "}\n"
        "              other: {" TIME "}\n"
        "              few: {" TIME ", enum: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z',"
        " '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z']}\n"
        "              shaped: {" TIME ", pattern: '[0-4]Z$'}\n"
        "              own: {" TIME ", x-kubernetes-validations: [{rule: \"self <"
        " timestamp('2026-01-01T00:00:05Z')\"}]}\n"
        "              chosen:\n"
        "                type: object\n"
        "                properties: {at: {" TIME "}}\n"
        "                not: {properties: {at: {enum: ['2026-01-01T00:00:04Z']}}}\n"
        "              span:\n"
        "                type: object\n"
        "                properties: {from: {" TIME "}, to: {" TIME "}, seen: {" TIME "}}\n"
        "                x-kubernetes-validations: [{rule: \"!has(self.from) || !has(self.to) ||"
        " self.from <= self.to\"}]\n"
        "              turns: {%s}\n"
        "              note: {type: string, default: calm}\n"
        "              plain: {type: string}\n"
        "              times: {type: object, additionalProperties: {" TIME "}}\n"
        "              list: {type: array, items: {type: object, properties: {name: {type: string},"
        " at: {" TIME "}, mood: {type: string, default: dim}}}}\n"
        "              ruled: {type: array, maxItems: 9, items: {type: object, properties: {at: {" TIME "}}},"
        " x-kubernetes-validations: [{rule: \"self.all(x, !has(x.at) || x.at <"
        " timestamp('2026-01-01T00:00:05Z'))\"}]}\n"
        "              keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type],"
        " items: {type: object, required: [type], properties: {type: {type: string}, at: {" TIME "}}}}\n"
        "              byTime: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [at],"
        " items: {type: object, required: [at], properties: {at: {" TIME "}, n: {type: integer}}}}\n"
        "              raw: {type: object, x-kubernetes-embedded-resource: true, properties: {at: {" TIME
        "}}}\n"
        "              set: {type: array, x-kubernetes-list-type: set, items: {" TIME "}}\n";

#define OF_NAME "size(self.metadata.name) < 64"
#define OF_STATUS                                                                                            \
        "!has(self.status) || !has(self.status.beat) || self.status.beat < "                                 \
        "timestamp('2026-01-01T00:00:05Z')"
#define OF_ALL                                                                                               \
        "[self].all(x, !has(x.status) || !has(x.status.beat) || x.status.beat < "                            \
        "timestamp('2026-01-01T00:00:05Z'))"
#define EACH_ANOTHER "type: integer, x-kubernetes-validations: [{rule: 'self != oldSelf'}]"

struct play {
        const void *script;
        void (*run)(struct play *p, struct rig *r);
        bool ordinarily, checks; /* that what is kept is what the text says, after each step */
        struct buf said;
        uint64_t fast;  /* patches that went the short way */
        uint64_t heard; /* version up to which events were told */
};

static struct cluster *hub_of(struct rig *r)
{
        return api_store_cluster(devcluster_store(r->devcluster), "hub");
}

static void say_stored(struct play *p, struct rig *r)
{
        const struct table *t = api_store_table(hub_of(r), "example.com/lamps", false);
        for (size_t i = 0; t && i < t->items.n; i++) {
                const struct blob *b = t->items.at[i];
                buf_printf(&p->said, "%u %u %u %u %u %u %u %u %llu %lld ", b->len, b->rest_at, b->name_at,
                           b->uid_at, b->labels_at, b->owners_at, b->n_labels, b->n_owners,
                           (unsigned long long)b->rv, (long long)b->row);
                buf_append(&p->said, b->data, b->end);
                buf_append_char(&p->said, '\n');
        }
}

static void say(struct play *p, struct rig *r)
{
        buf_printf(&p->said, "%d ", r->status);
        for (size_t i = 0; i < r->headers.n; i++)
                if (strcasecmp(r->headers.at[i].name, "Warning") == 0)
                        buf_printf(&p->said, "[%s] ", r->headers.at[i].value);
        buf_printf(&p->said, "%s\n", r->text);
        say_stored(p, r);
}

static void send(struct play *p, struct rig *r, const char *method, const char *path, const char *type,
                 const char *body)
{
        (void)rig_call(r, method, path, type, body);
        say(p, r);
        (void)fiber_sleep(r->loop, 1000);
}

/* What is kept of a document reads as its text, and so it was written. */
static void check_kept(struct rig *r)
{
        const struct table *t = api_store_table(hub_of(r), "example.com/lamps", false);
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *parsed = NULL;
                AUTO_BUF struct buf text;
                const json_t *kept = blob_kept_doc(t->items.at[i]);
                buf_init(&text, 1u << 20);
                assert_int_equal(blob_parse(t->items.at[i], &parsed, NULL), 0);
                if (!kept)
                        continue;
                assert_true(doc_equal(kept, parsed));
                assert_int_equal(doc_write(kept, &text), 0);
                assert_int_equal(text.len, t->items.at[i]->len);
                assert_memory_equal(text.data, t->items.at[i]->data, text.len);
        }
}

/* NULL: with a rule of `turns` that compares. */
static void define(struct play *p, struct rig *r, const char *rule)
{
        const char *text = arena_printf(&r->arena, definition, rule ? rule : OF_NAME,
                                        rule ? "type: integer" : EACH_ANOTHER);
        (void)rig_call(r, "PATCH", CRDS "/lamps.example.com?fieldManager=m&force=true",
                       "application/apply-patch+yaml", text);
        assert_true(r->status == 200 || r->status == 201);
        say(p, r);
}

static void say_events(struct play *p, struct rig *r)
{
        assert_int_equal(
                rig_get(r, arena_printf(&r->arena, LAMPS "?watch=true&resourceVersion=%llu&timeoutSeconds=1",
                                        (unsigned long long)p->heard)),
                200);
        p->heard = hub_of(r)->rv;
        say(p, r);
}

static void body_of(struct rig *r)
{
        struct play *p = r->ctx;
        if (p->ordinarily)
                api_store_never_repeat(devcluster_store(r->devcluster));
        p->heard = hub_of(r)->rv;
        p->run(p, r);
        say_events(p, r);
        p->fast = api_store_repeated(devcluster_store(r->devcluster));
}

static void show_difference(const char *name, const struct buf *a, const struct buf *b)
{
        size_t i = 0, from;
        while (i < a->len && i < b->len && a->data[i] == b->data[i])
                i++;
        from = i < 300 ? 0 : i - 300;
        fail_msg("%s: the short way:\n...%.600s\nthe ordinary way:\n...%.600s", name, a->data + from,
                 b->data + from);
}

/* Plays the script on both; how many patches went the short way. */
static uint64_t both_with(const char *name, void (*run)(struct play *p, struct rig *r), const void *script,
                          bool checks)
{
        struct play plays[2] = { { .script = script, .run = run, .checks = checks },
                                 { .script = script, .run = run, .ordinarily = true, .checks = checks } };
        uint64_t n;
        for (size_t i = 0; i < 2; i++) {
                buf_init(&plays[i].said, 256u << 20);
                rig_run_for(body_of, &plays[i]);
                assert_int_equal(plays[i].said.failed, 0);
        }
        assert_int_equal(plays[1].fast, 0);
        if (plays[0].said.len != plays[1].said.len ||
            memcmp(plays[0].said.data, plays[1].said.data, plays[0].said.len) != 0)
                show_difference(name, &plays[0].said, &plays[1].said);
        n = plays[0].fast;
        buf_free(&plays[0].said);
        buf_free(&plays[1].said);
        return n;
}

static uint64_t both(const char *name, void (*run)(struct play *p, struct rig *r), const void *script)
{
        return both_with(name, run, script, false);
}

/* ---- one difference at a time ---- */

enum how {
        OURS, /* a merge patch of the status by manager a: what may take the short way */
        THEIRS,
        WHOLE, /* of the object, not its status */
        SHOWN_AS_TABLE,
        DRY,
        STRICT,
        AS_JSON_PATCH,
        OTHER_VERSION,
        PUT_META, /* an update with this metadata */
        DEFINE,
        POLICY,
        HOOK,
        AT_VERSION, /* ours with metadata.resourceVersion: of now, and so much less */
        CLOCK,
        DELETE
};

struct step {
        enum how how;
        const char *body;
};

#define T(n) "\"2026-01-01T00:00:0" #n "Z\""
#define BEAT(n) "\"beat\":" T(n)
#define S(text) "{\"status\":{" text "}}"
#define OUR(text)                                                                                            \
        {                                                                                                    \
                OURS, S(text)                                                                                \
        }
/* The second teaches the short way; two take it, if it is one. F(n): what moves beside `beat`. */
#define FOUR(F) OUR(BEAT(0) F(0)), OUR(BEAT(1) F(1)), OUR(BEAT(2) F(2)), OUR(BEAT(3) F(3))
#define NOTHING(n) ""
#define FEW(n) ",\"few\":" T(n)
#define SHAPED(n) ",\"shaped\":" T(n)
#define OWN(n) ",\"own\":" T(n)
#define CHOSEN(n) ",\"chosen\":{\"at\":" T(n) "}"
#define SPAN(from, to) ",\"span\":{\"from\":" T(from) ",\"to\":" T(to) "}"
#define EQUAL(n) SPAN(n, n)
#define SEEN(n) ",\"span\":{\"from\":" T(0) ",\"seen\":" T(n) ",\"to\":" T(0) "}"
#define TURNS(n) ",\"turns\":" #n
#define PLAIN(n) ",\"plain\":" T(n)
#define TIMES(n) ",\"times\":{\"x\":" T(0) ",\"y\":" T(n) "}"
#define LIST(n) ",\"list\":[{\"name\":\"x\",\"at\":" T(n) "},{\"at\":" T(n) ",\"mood\":\"bright\"}]"
#define RULED(n) ",\"ruled\":[{\"at\":" T(n) "}]"
#define KEYED(n) ",\"keyed\":[{\"type\":\"a\",\"at\":" T(0) "},{\"type\":\"b\",\"at\":" T(n) "}]"
#define TURNED(n) ",\"keyed\":[{\"type\":\"b\",\"at\":" T(n) "},{\"type\":\"a\",\"at\":" T(0) "}]"
#define BY_TIME(n) ",\"byTime\":[{\"at\":" T(n) ",\"n\":1}]"
#define SET(n) ",\"set\":[" T(n) "]"
#define TURNS_ALONE "\"turns\":1"
#define ODD(n) ",\"odd\":1"
#define TWICE(n) "," BEAT(n)
#define NULLS(n) ",\"note\":null"
#define ESCAPED(n) ",\"pl\\u0061in\":\"\\u0061\""
#define OTHER(n) ",\"other\":" T(n)
#define RAW(n)                                                                                               \
        ",\"raw\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"},\"at\":" T(n) "}"
#define SIX(F) FOUR(F), OUR(BEAT(4) F(4)), OUR(BEAT(5) F(5))
/* Fine until 3; at 4 or 5 it is not. */
#define UNTIL(F) FOUR(F), OUR(BEAT(4) F(3)), OUR(BEAT(5) F(5)), OUR(BEAT(5) F(4)), OUR(BEAT(6) F(3))
#define BEHIND(n)                                                                                            \
        {                                                                                                    \
                OURS, "{\"status\":{" BEAT(n) "},\"metadata\":{\"uid\":\"\",\"resourceVersion\":\"\"}}"      \
        }
#define ENTRY(manager, time, rest)                                                                           \
        "{\"manager\":\"" manager "\",\"operation\":\"Update\",\"apiVersion\":\"example.com/v1\",\"time\":"  \
        "\"" time "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" rest "}"

static const struct scenario {
        const char *name;
        uint64_t fast; /* patches that take the short way */
        struct step steps[14];
} scenarios[] = {
        { "times go on, and back", 5, { SIX(NOTHING), OUR(BEAT(1)) } },
        { "nothing moves", 3, { FOUR(NOTHING), OUR(BEAT(3)), OUR(BEAT(4)) } },
        { "what is no time",
          3,
          { FOUR(NOTHING), OUR("\"beat\":\"2026-13-01T00:00:04Z\""), OUR("\"beat\":\"2026-02-29T00:00:04Z\""),
            OUR("\"beat\":\"2026-01-01T24:00:04Z\""), OUR("\"beat\":\"2026-01-01T00\\u003a04\""),
            OUR(BEAT(4)), OUR("\"beat\":\"2026-01-01t00:00:04z\""), OUR("\"beat\":\"2026-01-01T00:00:4.Z\""),
            OUR(BEAT(5)) } },
        { "fractions",
          0,
          { OUR("\"beat\":\"2026-01-01T00:00:01.5Z\""), OUR("\"beat\":\"2026-01-01T00:00:02.5Z\""),
            OUR("\"beat\":\"2026-01-01T00:00:03.5Z\""), OUR("\"beat\":\"2026-01-01T00:00:04.5Z\"") } },
        { "another value",
          4,
          { FOUR(NOTHING), OUR(BEAT(4) TURNS(1)), OUR(BEAT(5) TURNS(1)), OUR(BEAT(6) TURNS(1)),
            OUR(BEAT(7) TURNS(2)) } },
        { "another name", 2, { FOUR(NOTHING), OUR("\"bear\":" T(4)) } },
        { "more of it, and less",
          4,
          { FOUR(NOTHING),
            { OURS, S(BEAT(4)) "x" },
            { OURS, S(BEAT(4)) "  " },
            { OURS, "{\"status\":{" BEAT(5) "}" },
            { OURS, "{\"status\":{" BEAT(6) },
            OUR(BEAT(7)),
            OUR(BEAT(8)),
            OUR(BEAT(9)) } },
        { "a resource within", 0, { SIX(RAW) } },
        { "another manager", 2, { FOUR(NOTHING), { THEIRS, S(BEAT(4)) }, OUR(BEAT(5)) } },
        { "another manager between",
          4,
          { FOUR(NOTHING), { THEIRS, S(BEAT(4)) }, OUR(BEAT(5)), OUR(BEAT(6)), OUR(BEAT(7)) } },
        { "another's value between",
          3,
          { FOUR(NOTHING), { THEIRS, S("\"turns\":1") }, OUR(BEAT(4)), OUR(BEAT(5)) } },
        { "another shape between",
          4,
          { FOUR(NOTHING), OUR(TURNS_ALONE), OUR(BEAT(4)), OUR(BEAT(5)), OUR(BEAT(6)) } },
        { "the object itself between",
          3,
          { FOUR(NOTHING), { WHOLE, "{\"spec\":{\"size\":3}}" }, OUR(BEAT(4)), OUR(BEAT(5)) } },
        { "the object itself", 2, { FOUR(NOTHING), { WHOLE, S(BEAT(4)) }, OUR(BEAT(3)) } },
        { "a table as answer", 2, { FOUR(NOTHING), { SHOWN_AS_TABLE, S(BEAT(4)) } } },
        { "a dry run", 3, { FOUR(NOTHING), { DRY, S(BEAT(4)) }, OUR(BEAT(5)) } },
        { "strict fields", 3, { FOUR(NOTHING), { STRICT, S(BEAT(4)) } } },
        { "another form", 3, { FOUR(NOTHING), { AS_JSON_PATCH, S(BEAT(4)) }, OUR(BEAT(5)) } },
        { "another version", 2, { FOUR(NOTHING), { OTHER_VERSION, S(BEAT(4)) }, OUR(BEAT(5)) } },
        { "unknown fields", 0, { SIX(ODD) } },
        { "members twice", 0, { SIX(TWICE), { STRICT, S(BEAT(1) TWICE(1)) } } },
        { "nulls", 0, { SIX(NULLS) } },
        { "escapes in names", 0, { SIX(ESCAPED) } },
        { "something behind the status", 0, { BEHIND(1), BEHIND(2), BEHIND(3), BEHIND(4) } },
        { "of the state that there is",
          6,
          { FOUR(NOTHING),
            { AT_VERSION, "0" },
            { AT_VERSION, "0" },
            { AT_VERSION, "1" },
            { AT_VERSION, "0" },
            OUR(BEAT(8)) } },
        { "a clock that goes back",
          5,
          { FOUR(NOTHING),
            { THEIRS, S("\"other\":" T(1)) },
            OUR(BEAT(4)),
            OUR(BEAT(5)),
            OUR(BEAT(6)),
            { CLOCK, "-60000" },
            OUR(BEAT(7)),
            OUR(BEAT(8)),
            { CLOCK, "90000" },
            OUR(BEAT(9)),
            OUR(BEAT(1)) } },
        { "an entry from the future",
          2,
          { FOUR(NOTHING),
            { PUT_META,
              "\"managedFields\":[" ENTRY("z", "2027-01-01T00:00:00Z", "{\"f:spec\":{\"f:size\":{}}}") "]" },
            FOUR(NOTHING) } },
        { "an entry that is there twice",
          2,
          { FOUR(NOTHING),
            { PUT_META,
              "\"managedFields\":[" ENTRY("a", "2025-01-01T00:00:00Z",
                                          "{\"f:status\":{\"f:beat\":{},\"f:note\":{}}},\"subresource\":"
                                          "\"status\"") "," ENTRY("a", "2025-01-01T00:00:01Z",
                                                                  "{\"f:status\":{\"f:"
                                                                  "beat\":{},\"f:other\":{}"
                                                                  "}},\"subresource\":"
                                                                  "\"status\"") "]" },
            FOUR(NOTHING) } },
        { "what another one owns",
          3,
          { { THEIRS, S("\"other\":" T(1)) },
            OUR(BEAT(1) OTHER(1)),
            OUR(BEAT(2) OTHER(1)),
            OUR(BEAT(3) OTHER(1)),
            OUR(BEAT(4) OTHER(2)),
            OUR(BEAT(5) OTHER(2)),
            OUR(BEAT(6) OTHER(3)) } },
        { "a list that another one owns, in another order",
          1,
          { { THEIRS, S("\"turns\":1" KEYED(1)) },
            OUR(BEAT(1) KEYED(1)),
            OUR(BEAT(2) TURNED(1)),
            OUR(BEAT(3) TURNED(1)),
            OUR(BEAT(4) TURNED(2)) } },
        { "times of a list", 2, { UNTIL(FEW) } },
        { "times of a pattern", 1, { UNTIL(SHAPED) } },
        { "times with a rule", 1, { UNTIL(OWN) } },
        { "times that a choice is about", 1, { UNTIL(CHOSEN) } },
        { "times that a rule compares",
          1,
          { FOUR(EQUAL), OUR(BEAT(4) SPAN(4, 3)), OUR(BEAT(5) SPAN(3, 3)) } },
        { "a time beside those of a rule", 4, { SIX(SEEN) } },
        { "elements with a rule", 1, { UNTIL(RULED) } },
        { "times without a format", 1, { SIX(PLAIN), OUR(BEAT(6) PLAIN(5)) } },
        { "times of a map", 4, { SIX(TIMES) } },
        { "times of a list as a whole", 4, { SIX(LIST) } },
        { "times of a list with keys", 4, { SIX(KEYED) } },
        { "times that are keys", 0, { SIX(BY_TIME) } },
        { "times that are elements of a set", 0, { SIX(SET) } },
        { "a rule of the object about its status", 0, { { DEFINE, OF_STATUS }, UNTIL(NOTHING) } },
        { "a rule of the object about all", 0, { { DEFINE, OF_ALL }, UNTIL(NOTHING) } },
        { "a rule about what was", 0, { { DEFINE, NULL }, FOUR(TURNS), OUR(BEAT(4) TURNS(3)) } },
        { "a definition that becomes stricter",
          2,
          { FOUR(NOTHING), { DEFINE, OF_STATUS }, OUR(BEAT(5)), OUR(BEAT(4)) } },
        { "a policy", 2, { FOUR(NOTHING), { POLICY, NULL }, OUR(BEAT(4)), OUR(BEAT(5)), OUR(BEAT(6)) } },
        { "a webhook that decides", 2, { FOUR(NOTHING), { HOOK, "validating lamps/status" }, OUR(BEAT(4)) } },
        { "a webhook that changes", 2, { FOUR(NOTHING), { HOOK, "mutating lamps/*" }, OUR(BEAT(4)) } },
        { "a webhook for others", 3, { FOUR(NOTHING), { HOOK, "validating lamps" }, OUR(BEAT(4)) } },
        { "an object that is on its way out",
          5,
          { { WHOLE, "{\"metadata\":{\"finalizers\":[\"example.com/x\"]}}" },
            FOUR(NOTHING),
            { DELETE, NULL },
            FOUR(NOTHING),
            { WHOLE, "{\"metadata\":{\"finalizers\":null}}" },
            OUR(BEAT(4)) } },
};

static void deny(struct play *p, struct rig *r)
{
#define ADMISSION "/apis/admissionregistration.k8s.io/v1/"
        static const char policy[] =
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"matchConstraints\":{\"resourceRules\":[{"
                "\"apiGroups\":"
                "[\"example.com\"],\"apiVersions\":[\"v1\"],\"operations\":[\"UPDATE\"],\"resources\":["
                "\"lamps/status\"]}]},\"validations\":[{\"expression\":\"object.status.beat < "
                "timestamp('2026-01-01T00:00:05Z')\"}]}}";
        static const char binding[] = "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\","
                                      "\"validationActions\":[\"Deny\"]}}";
        send(p, r, "POST", ADMISSION "validatingadmissionpolicies", "application/json", policy);
        send(p, r, "POST", ADMISSION "validatingadmissionpolicybindings", "application/json", binding);
}

/* Nobody is there who could be asked. */
static void hook(struct play *p, struct rig *r, const char *kind)
{
        const char *body = arena_printf(
                &r->arena,
                "{\"metadata\":{\"name\":\"w\"},\"webhooks\":[{\"name\":\"w.example.com\",\"sideEffects\":"
                "\"None\","
                "\"admissionReviewVersions\":[\"v1\"],\"clientConfig\":{\"url\":\"https://nobody/"
                "\"},\"rules\":[{"
                "\"apiGroups\":[\"example.com\"],\"apiVersions\":[\"v1\"],\"operations\":[\"UPDATE\"],"
                "\"resources\":[\"%s\"]}]}]}",
                strchr(kind, ' ') + 1);
        send(p, r, "POST",
             arena_printf(&r->arena, ADMISSION "%.*swebhookconfigurations", (int)(strchr(kind, ' ') - kind),
                          kind),
             "application/json", body);
}

static const char *version_of(struct rig *r)
{
        assert_int_equal(rig_get(r, LAMP), 200);
        return rig_string(r, "metadata.resourceVersion");
}

static void at_version(struct play *p, struct rig *r, const char *less)
{
        int version = (int)strtol(version_of(r), NULL, 10);
        send(p, r, "PATCH", LAMP "/status?fieldManager=a", MERGE,
             arena_printf(&r->arena,
                          "{\"metadata\":{\"resourceVersion\":\"%d\"},\"status\":{\"beat\":"
                          "\"2026-01-02T00:%02d:00Z\"}}",
                          version - (int)strtol(less, NULL, 10), version % 60));
}

static void put_meta(struct play *p, struct rig *r, const char *meta)
{
        send(p, r, "PUT", LAMP "?fieldManager=p", "application/json",
             arena_printf(&r->arena,
                          "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Lamp\",\"metadata\":{\"name\":\"l\","
                          "\"resourceVersion\":\"%s\",%s},\"spec\":{\"size\":1}}",
                          version_of(r), meta));
}

static void do_step(struct play *p, struct rig *r, const struct step *s)
{
        static const char *const paths[] = {
                [OURS] = LAMP "/status?fieldManager=a",
                [THEIRS] = LAMP "/status?fieldManager=b",
                [WHOLE] = LAMP "?fieldManager=a",
                [DRY] = LAMP "/status?fieldManager=a&dryRun=All",
                [STRICT] = LAMP "/status?fieldManager=a&fieldValidation=Strict",
                [AS_JSON_PATCH] = LAMP "/status?fieldManager=a",
                [OTHER_VERSION] =
                        "/apis/example.com/v1alpha1/namespaces/default/lamps/l/status?fieldManager=a",
        };
        switch (s->how) {
        case SHOWN_AS_TABLE:
                (void)rig_merge_as(r, paths[OURS], "application/json;as=Table;g=meta.k8s.io;v=v1", s->body);
                return say(p, r);
        case PUT_META:
                return put_meta(p, r, s->body);
        case DEFINE:
                return define(p, r, s->body);
        case POLICY:
                return deny(p, r);
        case HOOK:
                return hook(p, r, s->body);
        case AT_VERSION:
                return at_version(p, r, s->body);
        case CLOCK:
                return loop_shift_wall(r->loop, strtol(s->body, NULL, 10));
        case DELETE:
                return send(p, r, "DELETE", LAMP, NULL, NULL);
        default:
                send(p, r, "PATCH", paths[s->how],
                     s->how == AS_JSON_PATCH ? "application/json-patch+json" : MERGE, s->body);
        }
}

static void make(struct play *p, struct rig *r, const char *name)
{
        send(p, r, "POST", LAMPS "?fieldManager=m", "application/json",
             arena_printf(
                     &r->arena,
                     "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Lamp\",\"metadata\":{\"name\":\"%s\","
                     "\"labels\":{\"x\":\"y\"}},\"spec\":{\"size\":1}}",
                     name));
        assert_int_equal(r->status, 201);
}

static void run_scenario(struct play *p, struct rig *r)
{
        const struct scenario *s = p->script;
        define(p, r, OF_NAME);
        make(p, r, "l");
        for (size_t i = 0; i < ARRAY_LEN(s->steps) && (s->steps[i].body || s->steps[i].how != OURS); i++) {
                do_step(p, r, &s->steps[i]);
                if (p->checks)
                        check_kept(r);
        }
}

static void each_difference_goes_the_way_that_it_has_to_go(void **state)
{
        size_t wrong = 0;
        for (size_t i = 0; i < ARRAY_LEN(scenarios); i++) {
                const struct scenario *s = &scenarios[i];
                uint64_t n = both(s->name, run_scenario, s);
                assert_int_equal(both_with(s->name, run_scenario, s, true), n);
                if (n == s->fast)
                        continue;
                wrong++;
                print_error("%s: %llu patches took the short way, not %llu\n", s->name, (unsigned long long)n,
                            (unsigned long long)s->fast);
        }
        assert_int_equal(wrong, 0);
}

/* ---- any series ---- */

#define OBJECTS 3
#define PATCHES 1500

/* Shapes of what the writers say, in which each %s is a time, which is one of few. */
#define AB "\"keyed\":[{\"type\":\"a\",\"at\":\"%s\"},{\"type\":\"b\",\"at\":\"%s\"}]"
static const char *const shapes[] = {
        "\"beat\":\"%s\",\"turns\":%u,\"times\":{\"x\":\"%s\",\"y\":\"%s\"}",
        "\"beat\":\"%s\",\"turns\":%u,\"list\":[{\"name\":\"\\\"2026\",\"at\":\"%s\"},{\"at\":\"%s\"}]",
        ("\"other\":\"%s\",\"turns\":%u," AB),
};

static unsigned draw(uint64_t *seed, unsigned n)
{
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned)(*seed >> 33) % n;
}

static const char *some_time(struct rig *r, uint64_t *seed)
{
        static const char *const odd[] = { "2026-13-01T00:00:00Z", "2026-01-01T00:00:00.5Z",
                                           "2026-01-01T00:60:00Z", "2026-01-01T00:00:0\\u0030" };
        if (draw(seed, 60) == 0)
                return odd[draw(seed, ARRAY_LEN(odd))];
        return arena_printf(&r->arena, "2026-01-01T%02u:00:%02uZ", draw(seed, 24), draw(seed, 3));
}

static void patch_some(struct play *p, struct rig *r, uint64_t *seed)
{
        unsigned i = draw(seed, OBJECTS), shape = draw(seed, 8) ? i : draw(seed, ARRAY_LEN(shapes));
        const char *options = draw(seed, 30) ? "" : draw(seed, 2) ? "&dryRun=All" : "&fieldValidation=Strict";
        const char *status, *head = "", *manager = draw(seed, 15) ? "a" : "b";
        const char *a = some_time(r, seed), *b = some_time(r, seed), *c = some_time(r, seed);
        status = arena_printf(&r->arena, shapes[shape], a, draw(seed, 20) ? 1 : draw(seed, 9), b, c);
        if (draw(seed, 2) && rig_get(r, arena_printf(&r->arena, LAMPS "/l%u", i)) == 200)
                head = arena_printf(&r->arena, "\"metadata\":{\"resourceVersion\":\"%s\"},",
                                    rig_string(r, "metadata.resourceVersion"));
        send(p, r, "PATCH",
             arena_printf(&r->arena, LAMPS "/l%u/status?fieldManager=%s%s", i, manager, options), MERGE,
             arena_printf(&r->arena, "{%s\"status\":{%s}}", head, status));
}

static void disturb(struct play *p, struct rig *r, uint64_t *seed)
{
        const char *path = arena_printf(&r->arena, LAMPS "/l%u", draw(seed, OBJECTS));
        switch (draw(seed, 5)) {
        case 0:
                return send(p, r, "PATCH", path, MERGE,
                            arena_printf(&r->arena, "{\"spec\":{\"size\":%u}}", draw(seed, 9)));
        case 1:
                return send(p, r, "PATCH", path, MERGE,
                            arena_printf(&r->arena, "{\"metadata\":{\"labels\":{\"n\":\"%u\"}}}",
                                         draw(seed, 1000)));
        case 2:
                send(p, r, "DELETE", path, NULL, NULL);
                return make(p, r, strrchr(path, '/') + 1);
        case 3:
                return send(p, r, "PATCH", arena_printf(&r->arena, "%s/status?fieldManager=c", path), MERGE,
                            "{\"status\":{\"note\":\"seen\",\"times\":null}}");
        default:
                define(p, r, draw(seed, 2) ? OF_NAME : OF_STATUS);
        }
}

static void run_series(struct play *p, struct rig *r)
{
        uint64_t seed = *(const uint64_t *)p->script;
        define(p, r, OF_NAME);
        make(p, r, "l0");
        make(p, r, "l1");
        make(p, r, "l2");
        for (int i = 0; i < PATCHES; i++) {
                if (draw(&seed, 40) == 0)
                        disturb(p, r, &seed);
                else
                        patch_some(p, r, &seed);
                if (i % 100 == 99)
                        say_events(p, r);
                if (p->checks)
                        check_kept(r);
        }
}

static void any_series_is_stored_and_told_as_the_ordinary_way_does(void **state)
{
        for (uint64_t seed = 1; seed <= 2; seed++) {
                uint64_t n = both("a series", run_series, &seed);
                assert_int_equal(both_with("a series that is looked at", run_series, &seed, true), n);
                print_message("series %llu: %llu of %d patches took the short way\n",
                              (unsigned long long)seed, (unsigned long long)n, PATCHES);
                assert_true(n >= 250);
        }
}

/* ---- versions that grow ---- */

#define BEATS 1100 /* the version becomes one of three digits, and of four */

static void beats(struct play *p, struct rig *r, int n)
{
        for (int i = 0; i < n; i++)
                send(p, r, "PATCH", LAMP "/status?fieldManager=a", MERGE,
                     arena_printf(&r->arena, "{\"status\":{\"beat\":\"2026-01-01T00:%02d:%02dZ\"}}", i / 60,
                                  i % 60));
}

static void run_beats(struct play *p, struct rig *r)
{
        define(p, r, OF_NAME);
        make(p, r, "l");
        beats(p, r, BEATS / 2);
        put_meta(p, r, "\"labels\":{\"x\":\"z\"}"); /* so the version stands before managedFields */
        beats(p, r, BEATS / 2);
        assert_int_equal(strlen(version_of(r)), 4);
}

static void the_short_way_goes_on_when_versions_become_longer(void **state)
{
        assert_int_equal(both("beats", run_beats, NULL), BEATS - 3); /* one more behind the update */
}

/* ---- what an ordinary patch finds behind them ---- */

static void find_document(struct rig *r)
{
        struct play p = { 0 };
        const struct store *s = devcluster_store(r->devcluster);
        buf_init(&p.said, 1u << 20);
        define(&p, r, OF_NAME);
        make(&p, r, "l");
        beats(&p, r, 9);
        assert_int_equal(api_store_repeated(s), 7);
        assert_int_equal(api_store_read_again(s), 0);
        assert_int_equal(rig_merge(r, LAMP, "{\"spec\":{\"size\":7}}"), 200);
        assert_int_equal(api_store_read_again(s), 1);
        assert_int_equal(rig_merge(r, LAMP, "{\"spec\":{\"size\":8}}"), 200);
        assert_int_equal(api_store_read_again(s), 1);
        check_kept(r);
        buf_free(&p.said);
}

static void an_ordinary_patch_behind_them_finds_a_sound_document(void **state)
{
        rig_run(find_document);
}

static void beat_before(struct rig *r)
{
        struct play p = { 0 };
        buf_init(&p.said, 1u << 20);
        define(&p, r, OF_NAME);
        make(&p, r, "l");
        beats(&p, r, 4);
        assert_int_equal(api_store_repeated(devcluster_store(r->devcluster)), 2);
        buf_free(&p.said);
}

static void beat_behind(struct rig *r)
{
        struct play p = { 0 };
        buf_init(&p.said, 1u << 20);
        loop_shift_wall(r->loop, 3600000);
        beats(&p, r, 4);
        assert_int_equal(api_store_repeated(devcluster_store(r->devcluster)), 3);
        buf_free(&p.said);
}

static void behind_a_restart_one_patch_is_enough(void **state)
{
        char folder[] = "/tmp/devcluster-again-XXXXXX";
        assert_non_null(mkdtemp(folder));
        AUTO_FREE char *path = mem_printf("%s/store", folder);
        const struct devcluster_options o = { .path = path, .anonymous_admin = true };
        rig_run_with(beat_before, &o);
        rig_run_with(beat_behind, &o);
        static const char *const left[] = { "", "-wal", "-shm", "-journal" };
        for (size_t i = 0; i < ARRAY_LEN(left); i++) {
                AUTO_FREE char *file = mem_printf("%s%s", path, left[i]);
                (void)unlink(file);
        }
        assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_difference_goes_the_way_that_it_has_to_go),
                cmocka_unit_test(the_short_way_goes_on_when_versions_become_longer),
                cmocka_unit_test(an_ordinary_patch_behind_them_finds_a_sound_document),
                cmocka_unit_test(behind_a_restart_one_patch_is_enough),
                cmocka_unit_test(any_series_is_stored_and_told_as_the_ordinary_way_does),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
