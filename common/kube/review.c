#include "common/kube/review.h"

#include "common/base/arena.h"

/* The text between `lead` and the next quote; NULL if there is none. */
static const char *quoted(struct arena *arena, const char *text, const char *lead)
{
        const char *begin = strstr(text, lead), *end;

        if (!begin)
                return NULL;
        begin += strlen(lead);
        end = strchr(begin, '"');
        return end ? arena_strndup(arena, begin, (size_t)(end - begin)) : NULL;
}

/* `pods "web" is forbidden: `; a refusal to list has no name. */
static const char *object_name(struct arena *arena, const char *text)
{
        const char *end = strstr(text, "\" is forbidden: "), *begin = end;

        while (begin && begin > text && begin[-1] != '"')
                begin--;
        return end && begin > text ? arena_strndup(arena, begin, (size_t)(end - begin)) : "";
}

static json_t *question(struct arena *arena, const char *refusal)
{
        static const char lead[] = "\" cannot ", object[] = " resource \"";
        const char *verb = strstr(refusal, lead), *end = verb ? strchr(verb + strlen(lead), ' ') : NULL;
        const char *resource, *group, *ns, *sub;

        if (!end || !text_starts_with(end, object))
                return NULL;
        verb = arena_strndup(arena, verb + strlen(lead), (size_t)(end - verb) - strlen(lead));
        resource = quoted(arena, end, object);
        group = quoted(arena, end, "\" in API group \"");
        ns = quoted(arena, end, " in the namespace \"");
        if (!verb || !resource || !group)
                return NULL;
        sub = strchr(resource, '/');
        return json_pack("{s:s, s:s%, s:s, s:s, s:s, s:s}", "verb", verb, "resource", resource,
                         sub ? (size_t)(sub - resource) : strlen(resource), "subresource", sub ? sub + 1 : "",
                         "group", group, "namespace", ns ? ns : "", "name", object_name(arena, refusal));
}

json_t *review_question(const char *refusal)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        return question(&arena, refusal);
}

int review_ask(struct kube_client *k, const char *refusal, bool *ret_allowed, struct error *err)
{
        static const struct kube_resource reviews = { "authorization.k8s.io", "v1",
                                                      "selfsubjectaccessreviews", "SelfSubjectAccessReview",
                                                      false };
        static const struct kube_write write = { 0 };
        json_t *attributes = review_question(refusal), *answer = NULL;
        AUTO_JSON json_t *review = NULL;

        if (!attributes)
                return error_set(err, ERR_INVALID, "no refusal of a right: %s", refusal);
        review = json_pack("{s:s, s:s, s:{s:o}}", "apiVersion", "authorization.k8s.io/v1", "kind",
                           "SelfSubjectAccessReview", "spec", "resourceAttributes", attributes);
        if (!review)
                return error_no_memory(err);
        TRY(kube_doc_create(k, &reviews, NULL, review, &write, &answer, err));
        *ret_allowed = doc_get_bool(answer, "status.allowed", false);
        json_decref(answer);
        return 0;
}
