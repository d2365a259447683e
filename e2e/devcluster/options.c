#include "e2e/devcluster/options.h"

#define MANAGER_MAX 128

/* 422: KIND.meta.k8s.io "" is invalid: field: message */
static int fail_option(struct request *rq, const char *kind, const char *reason, const char *field,
                       const char *message)
{
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);

        if (!cause || !message)
                return request_fail_memory(rq);
        (void)request_fail(rq, 422, "Invalid", "%s.meta.k8s.io \"\" is invalid: %s: %s", kind, field,
                           message);
        *cause = (struct status_cause){ reason, message, field };
        rq->status.causes = cause;
        rq->status.n_causes = 1;
        rq->status.group = "meta.k8s.io";
        rq->status.kind = kind;
        return ERR_INVALID;
}

static int fail_unsupported(struct request *rq, const char *kind, const char *field, const char *value,
                            const char *supported)
{
        return fail_option(
                rq, kind, "FieldValueNotSupported", field,
                arena_printf(rq->arena, "Unsupported value: %s: supported values: %s", value, supported));
}

static int fail_forbidden(struct request *rq, const char *kind, const char *field, const char *why)
{
        return fail_option(rq, kind, "FieldValueForbidden", field,
                           arena_printf(rq->arena, "Forbidden: %s", why));
}

/* ---- writes ---- */

static const char *write_options_kind(const struct request *rq)
{
        return text_equal(rq->verb, "patch")    ? "PatchOptions"
               : text_equal(rq->verb, "update") ? "UpdateOptions"
               : text_equal(rq->verb, "create") ? "CreateOptions"
                                                : "DeleteOptions";
}

static const char *agent_name(struct request *rq)
{
        const char *agent = http_header_get(&rq->x->headers, "User-Agent");
        const char *slash = agent ? strchr(agent, '/') : NULL;
        const char *name;

        if (text_empty(agent))
                return "unknown";
        name = arena_strndup(rq->arena, agent,
                             slash ? (size_t)(slash - agent) : MIN(strlen(agent), (size_t)MANAGER_MAX));
        return text_empty(name) ? "unknown" : name;
}

static int read_manager(struct request *rq, const char *kind)
{
        const char *manager = http_query_get(rq->x, "fieldManager");

        rq->field_manager = text_empty(manager) ? agent_name(rq) : manager;
        if (text_empty(manager))
                return 0;
        if (strlen(manager) > MANAGER_MAX)
                return fail_option(
                        rq, kind, "FieldValueTooLong", "fieldManager",
                        arena_printf(rq->arena, "Too long: may not be more than %d bytes", MANAGER_MAX));
        for (size_t i = 0; manager[i]; i++)
                if ((unsigned char)manager[i] < 0x20 || manager[i] == 0x7f)
                        return fail_option(
                                rq, kind, "FieldValueInvalid", "fieldManager",
                                arena_printf(rq->arena,
                                             "Invalid value: \"%.*s%s%s\": invalid character U+%04X (at "
                                             "position %zu)",
                                             (int)i, manager, manager[i] == '\n' ? "\\n" : "?",
                                             manager + i + 1, (unsigned)manager[i], i));
        return 0;
}

static bool is_apply(const struct request *rq)
{
        const char *type = http_header_get(&rq->x->headers, "Content-Type");

        return text_equal(rq->verb, "patch") && type && text_starts_with(type, "application/apply-patch+");
}

int options_read_write(struct request *rq)
{
        const char *dry = http_query_get(rq->x, "dryRun"), *fields = http_query_get(rq->x, "fieldValidation"),
                   *force = http_query_get(rq->x, "force"), *kind = write_options_kind(rq);
        static const char *const known[] = { "Strict", "Warn", "Ignore" };

        if (!text_empty(dry) && strcmp(dry, "All") != 0)
                return fail_unsupported(rq, kind, "dryRun", arena_printf(rq->arena, "[\"%s\"]", dry),
                                        "\"All\"");
        rq->dry_run = !text_empty(dry);
        TRY(read_manager(rq, kind));
        rq->force = text_equal(force, "true") || text_equal(force, "1");
        if (rq->force && text_equal(rq->verb, "patch") && !is_apply(rq))
                return fail_forbidden(rq, kind, "force", "may not be specified for non-apply patch");
        if (!text_empty(fields) && !text_in(fields, known, ARRAY_LEN(known)))
                return fail_unsupported(rq, kind, "fieldValidation",
                                        arena_printf(rq->arena, "\"%s\"", fields),
                                        "\"\", \"Ignore\", \"Strict\", \"Warn\"");
        rq->field_validation = text_equal(fields, "Strict")   ? FIELDS_STRICT
                               : text_equal(fields, "Ignore") ? FIELDS_IGNORE
                                                              : FIELDS_WARN;
        return 0;
}

/* ---- lists ---- */

static int check_number(struct request *rq, const char *name)
{
        const char *text = http_query_get(rq->x, name);
        int64_t unused;

        if (text_empty(text) || text_parse_i64(text, &unused))
                return 0;
        return request_fail_bad(rq, "strconv.ParseInt: parsing \"%s\": invalid syntax", text);
}

/* Two problems of one field, each as "reason: sentence". */
static int fail_match_twice(struct request *rq, const struct status_cause *first,
                            const struct status_cause *second)
{
        struct status_cause *causes = ARENA_NEW_ARRAY(rq->arena, struct status_cause, 2);
        const char *field = "resourceVersionMatch";

        (void)fail_option(rq, "ListOptions", first->reason, field, first->message);
        rq->status.message =
                arena_printf(rq->arena, "ListOptions.meta.k8s.io \"\" is invalid: [%s: %s, %s: %s]", field,
                             first->message, field, second->message);
        if (!causes || !first->message || !second->message || !rq->status.message)
                return request_fail_memory(rq);
        causes[0] = (struct status_cause){ first->reason, first->message, field };
        causes[1] = (struct status_cause){ second->reason, second->message, field };
        rq->status.causes = causes;
        rq->status.n_causes = 2;
        return ERR_INVALID;
}

static int fail_initial_events(struct request *rq, const char *match)
{
        static const char forbidden[] =
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        struct status_cause first = { "FieldValueForbidden", forbidden, NULL }, second;

        if (text_empty(match))
                return fail_option(rq, "ListOptions", first.reason, "resourceVersionMatch", forbidden);
        second = (struct status_cause){
                "FieldValueNotSupported",
                arena_printf(rq->arena, "Unsupported value: \"%s\": supported values: \"NotOlderThan\"",
                             match),
                NULL
        };
        return fail_match_twice(rq, &first, &second);
}

static int check_match(struct request *rq, const char *match)
{
        static const struct status_cause without = {
                "FieldValueForbidden",
                "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided", NULL
        };
        static const struct status_cause with = {
                "FieldValueForbidden",
                "Forbidden: resourceVersionMatch is forbidden when continue is provided", NULL
        };
        const char *rv = http_query_get(rq->x, "resourceVersion"), *field = "resourceVersionMatch";
        bool goes_on = !text_empty(http_query_get(rq->x, "continue"));

        if (text_empty(match))
                return 0;
        if (text_empty(rv) && goes_on)
                return fail_match_twice(rq, &without, &with);
        if (text_empty(rv))
                return fail_forbidden(rq, "ListOptions", field,
                                      "resourceVersionMatch is forbidden unless resourceVersion is provided");
        if (goes_on)
                return fail_forbidden(rq, "ListOptions", field,
                                      "resourceVersionMatch is forbidden when continue is provided");
        if (!text_equal(match, "Exact") && !text_equal(match, "NotOlderThan"))
                return fail_unsupported(rq, "ListOptions", field, arena_printf(rq->arena, "\"%s\"", match),
                                        "\"Exact\", \"NotOlderThan\", \"\"");
        if (text_equal(match, "Exact") && text_equal(rv, "0"))
                return fail_forbidden(
                        rq, "ListOptions", field,
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        return 0;
}

static int check_watch_match(struct request *rq, const char *match, bool initial_events)
{
        const char *field = "resourceVersionMatch";

        if (initial_events && !text_equal(match, "NotOlderThan"))
                return fail_initial_events(rq, match);
        if (!initial_events && !text_empty(match))
                return fail_forbidden(
                        rq, "ListOptions", field,
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                        "provided");
        if (!text_empty(http_query_get(rq->x, "continue")))
                return fail_forbidden(rq, "ListOptions", field,
                                      "resourceVersionMatch is forbidden when continue is provided");
        return 0;
}

int options_check_list(struct request *rq, bool watching)
{
        const char *match = http_query_get(rq->x, "resourceVersionMatch"),
                   *initial = http_query_get(rq->x, "sendInitialEvents");

        TRY(check_number(rq, "limit"));
        TRY(check_number(rq, "timeoutSeconds"));
        if (watching)
                return check_watch_match(rq, match, initial != NULL);
        if (initial)
                return fail_forbidden(rq, "ListOptions", "sendInitialEvents",
                                      "sendInitialEvents is forbidden for list");
        return check_match(rq, match);
}

/* ---- deletes ---- */

static int check_delete_types(struct request *rq, const json_t *doc)
{
        const char *kind = doc_get_string(doc, "kind"), *version = doc_get_string(doc, "apiVersion");
        const json_t *grace = json_object_get(doc, "gracePeriodSeconds");

        if (kind && strcmp(kind, "DeleteOptions") != 0)
                return request_fail_bad(rq,
                                        "no kind \"%s\" is registered for version \"%s\" in scheme "
                                        "\"pkg/runtime/scheme.go:111\"",
                                        kind, version ? version : "");
        if (grace && !json_is_integer(grace) && !json_is_null(grace))
                return request_fail_bad(rq,
                                        "json: cannot unmarshal %s into Go struct field "
                                        "DeleteOptions.gracePeriodSeconds of type int64",
                                        json_is_string(grace) ? "string" : "object");
        return 0;
}

static int check_propagation(struct request *rq, const struct delete_options *o, bool both)
{
        static const char *const known[] = { "Orphan", "Background", "Foreground" };

        if (both)
                return fail_option(
                        rq, "DeleteOptions", "FieldValueInvalid", "propagationPolicy",
                        arena_printf(rq->arena,
                                     "Invalid value: \"%s\": orphanDependents and deletionPropagation "
                                     "cannot be both set",
                                     o->propagation));
        if (o->propagation && !text_in(o->propagation, known, ARRAY_LEN(known)))
                return fail_unsupported(rq, "DeleteOptions", "propagationPolicy",
                                        arena_printf(rq->arena, "\"%s\"", o->propagation),
                                        "\"Foreground\", \"Background\", \"Orphan\", \"nil\"");
        return 0;
}

static int check_dry_run(struct request *rq, const json_t *list)
{
        const json_t *first = json_array_get(list, 0);

        if (!first || text_equal(json_string_value(first), "All"))
                return 0;
        return fail_unsupported(
                rq, "DeleteOptions", "dryRun",
                arena_printf(rq->arena, "[\"%s\"]", json_is_string(first) ? json_string_value(first) : ""),
                "\"All\"");
}

int options_read_delete(struct request *rq, const json_t *doc, struct delete_options *ret)
{
        const char *query = http_query_get(rq->x, "propagationPolicy"),
                   *grace = http_query_get(rq->x, "gracePeriodSeconds");
        const json_t *dry = doc_get_array(doc, "dryRun"), *orphan = doc_get(doc, "orphanDependents");
        bool both;

        TRY(check_delete_types(rq, doc));
        TRY(check_number(rq, "gracePeriodSeconds"));
        ret->uid = doc_get_string(doc, "preconditions.uid");
        ret->rv = doc_get_string(doc, "preconditions.resourceVersion");
        ret->propagation = doc_get_string(doc, "propagationPolicy");
        ret->grace_seconds = doc_get_int(doc, "gracePeriodSeconds", -1);
        if (!doc && !text_empty(grace))
                (void)text_parse_i64(grace, &ret->grace_seconds);
        if (!ret->propagation && !text_empty(query))
                ret->propagation = query;
        both = ret->propagation && json_is_boolean(orphan);
        if (!ret->propagation && json_is_boolean(orphan))
                ret->propagation = json_is_true(orphan) ? "Orphan" : "Background";
        TRY(check_dry_run(rq, dry));
        ret->dry_run = rq->dry_run || json_array_size(dry) > 0;
        return check_propagation(rq, ret, both);
}
