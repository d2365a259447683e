/* Providers of inputs at rest: what they export, and say. spec/resource-set.md 18, 19.1, 19.8. */
#include "e2e/simulation/model_parts.h"
#include "proto/names.h"

/* The checksum of RFC 1950, written once more. */
static uint32_t adler(const char *text)
{
        uint32_t a = 1, b = 0;

        for (; *text; text++) {
                a = (a + (unsigned char)*text) % 65521;
                b = (b + a) % 65521;
        }
        return b << 16 | a;
}

static bool is_equal(const struct wish_inputs *a, const struct wish_inputs *b)
{
        return memcmp(a, b, sizeof(*a)) == 0;
}

static bool was_given(const struct wish_source *s, const struct wish_inputs *exports)
{
        vec_for_each(&s->given, in)
                if (is_equal(in, exports))
                        return true;
        return false;
}

static int judge_ids(const json_t *doc, bool is_static, struct error *err)
{
        char of_uid[16];
        json_t *set;
        size_t i;

        snprintf(of_uid, sizeof(of_uid), "%u", adler(doc_get_string(doc, "metadata.uid")));
        json_array_foreach(doc_get_array(doc, "status.exportedInputs"), i, set) {
                const char *id = doc_get_string(set, "id");

                if (!text_equal(id, is_static ? of_uid : doc_get_string(set, "tenant")))
                        return error_set(err, ERR_INVALID, "input %zu has id \"%s\"", i, id ? id : "");
        }
        return 0;
}

static int judge_exports(const struct wish_source *s, const json_t *doc, bool is_static, struct error *err)
{
        struct wish_inputs exports;
        bool any = wish_source_exports(doc, &exports);

        if (any)
                TRY(judge_ids(doc, is_static, err));
        if (s->service != SERVICE_ANSWERS && !is_static)
                return !any || was_given(s, &exports)
                               ? 0
                               : error_set(err, ERR_INVALID, "it exports what its service never said");
        return any && is_equal(&exports, &s->inputs)
                       ? 0
                       : error_set(err, ERR_INVALID, "it exports %s",
                                   any ? "other inputs than it is given" : "nothing that is known");
}

int model_judge_source(const struct wish_desk *desk, unsigned source, const struct model_desk *live,
                       struct error *err)
{
        const struct wish_source *s = &desk->sources[source];
        bool is_static = wish_source_is_static(source);
        char name[WISH_TABLE_NAME];
        const json_t *doc = model_find(live->sources, wish_source_name(source, name)), *ready;
        const char *status, *reason;

        if (!doc != !s->exists)
                return error_set(err, ERR_INVALID, "provider %s is%s there", name, doc ? "" : " not");
        if (!doc || s->suspended)
                return 0;
        if (judge_exports(s, doc, is_static, err) < 0)
                return error_wrap(err, "provider %s", name);
        ready = model_condition(doc_get_object(doc, "status"), CONDITION_FLUX_READY);
        status = doc_get_string(ready, "status");
        reason = doc_get_string(ready, "reason");
        if (text_equal(reason, REASON_FLUX_PROGRESSING) && !is_static)
                return 0; /* it asks just now */
        if (s->service != SERVICE_ANSWERS && !is_static
                    ? text_equal(status, "False") && text_equal(reason, REASON_FLUX_FAILED)
                    : text_equal(status, "True") && text_equal(reason, REASON_FLUX_SUCCEEDED) &&
                              doc_get_int(ready, "observedGeneration", -1) ==
                                      doc_get_int(doc, "metadata.generation", 0))
                return 0;
        return error_set(err, ERR_INVALID, "provider %s: Ready is %s %s (%s)", name, status ? status : "not",
                         reason ? reason : "", or_empty(doc_get_string(ready, "message")));
}
