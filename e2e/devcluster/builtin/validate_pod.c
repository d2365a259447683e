/* Pods and the templates they are made from. */
#include "common/json/quantity.h"
#include "e2e/devcluster/builtin/checks.h"

static int required(struct schema_problems *p, const char *path)
{
        return path ? problem_add(p, "FieldValueRequired", path, "Required value") : ERR_NO_MEMORY;
}

/* Whether an earlier item of the list has the same name. */
static bool is_repeated(const json_t *list, size_t i)
{
        const char *name = check_text(json_array_get(list, i), "name");

        for (size_t k = 0; k < i; k++)
                if (strcmp(check_text(json_array_get(list, k), "name"), name) == 0)
                        return true;
        return false;
}

/* A name that is needed, a DNS label, and no other's in the list. */
static int check_name(const json_t *list, size_t i, const char *at, struct schema_problems *p)
{
        const char *name = check_text(json_array_get(list, i), "name");
        const char *path = arena_printf(p->arena, "%s.name", at);

        if (!path || !*name)
                return required(p, path);
        TRY(check_dns_label(name, path, p));
        return is_repeated(list, i)
                       ? problem_add(p, "FieldValueDuplicate", path, "Duplicate value: \"%s\"", name)
                       : 0;
}

/* ---- containers ---- */

static int check_port(const json_t *ports, size_t i, const char *at, struct schema_problems *p)
{
        const json_t *port = json_array_get(ports, i);
        const char *name = check_text(port, "name"), *path = arena_printf(p->arena, "%s.name", at);
        int64_t n = doc_get_int(port, "containerPort", 0);

        if (!path)
                return ERR_NO_MEMORY;
        if (*name)
                TRY(check_port_name(name, path, p));
        if (*name && is_repeated(ports, i))
                TRY(problem_add(p, "FieldValueDuplicate", path, "Duplicate value: \"%s\"", name));
        if (n == 0)
                return required(p, arena_printf(p->arena, "%s.containerPort", at));
        if (n >= 1 && n <= 65535)
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          arena_printf(p->arena,
                                       "Invalid value: %lld: must be between 1 and 65535, inclusive",
                                       (long long)n),
                          "%s.containerPort", at);
}

static int check_variable(const json_t *e, const char *at, struct schema_problems *p)
{
        const char *name = check_text(e, "name");

        if (!*name)
                TRY(required(p, arena_printf(p->arena, "%s.name", at)));
        for (const char *c = name; *c; c++)
                if (*c == '=' || *c < ' ' || *c > '~') {
                        TRY(problem_at(
                                p, "FieldValueInvalid",
                                arena_printf(p->arena,
                                             "Invalid value: \"%s\": a valid environment variable name "
                                             "must consist only of printable ASCII characters other "
                                             "than '='",
                                             name),
                                "%s.name", at));
                        break;
                }
        if (!doc_get_object(e, "valueFrom") || !*check_text(e, "value"))
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          "Invalid value: \"\": may not be specified when `value` is not empty",
                          "%s.valueFrom", at);
}

static int check_resources(const json_t *container, const char *at, struct schema_problems *p)
{
        const json_t *limits = doc_get_object(container, "resources.limits");
        const char *key;
        json_t *v;

        json_object_foreach(doc_get_object(container, "resources.requests"), key, v) {
                struct quantity wanted, most;
                char wanted_text[64], most_text[64];

                if (!check_amount(v, &wanted) || !check_amount(json_object_get(limits, key), &most) ||
                    quantity_compare(wanted, most) <= 0)
                        continue;
                quantity_print(wanted, wanted_text);
                quantity_print(most, most_text);
                TRY(problem_at(
                        p, "FieldValueInvalid",
                        arena_printf(p->arena,
                                     "Invalid value: \"%s\": must be less than or equal to %s limit of %s",
                                     wanted_text, key, most_text),
                        "%s.resources.requests", at));
        }
        return 0;
}

static bool has_volume(const json_t *spec, const char *name)
{
        size_t i;
        json_t *v;

        json_array_foreach(doc_get_array(spec, "volumes"), i, v)
                if (strcmp(check_text(v, "name"), name) == 0)
                        return true;
        return false;
}

static int check_mounts(const json_t *spec, const json_t *container, const char *at,
                        struct schema_problems *p)
{
        size_t i;
        json_t *m;

        json_array_foreach(doc_get_array(container, "volumeMounts"), i, m)
                if (!has_volume(spec, check_text(m, "name")))
                        TRY(problem_at(p, "FieldValueNotFound",
                                       arena_printf(p->arena, "Not found: \"%s\"", check_text(m, "name")),
                                       "%s.volumeMounts[%zu].name", at, i));
        return 0;
}

static int check_container(const json_t *list, size_t i, const char *at, struct schema_problems *p)
{
        const json_t *c = json_array_get(list, i);
        const json_t *ports = doc_get_array(c, "ports");
        json_t *e;
        size_t k;

        TRY(check_name(list, i, at, p));
        if (!*check_text(c, "image"))
                TRY(required(p, arena_printf(p->arena, "%s.image", at)));
        for (k = 0; k < json_array_size(ports); k++) {
                const char *path = arena_printf(p->arena, "%s.ports[%zu]", at, k);

                TRY(path ? check_port(ports, k, path, p) : ERR_NO_MEMORY);
        }
        json_array_foreach(doc_get_array(c, "env"), k, e) {
                const char *path = arena_printf(p->arena, "%s.env[%zu]", at, k);

                TRY(path ? check_variable(e, path, p) : ERR_NO_MEMORY);
        }
        return check_resources(c, at, p);
}

static int check_containers(const json_t *spec, const char *name, const char *path, bool has_claims,
                            struct schema_problems *p)
{
        const json_t *list = doc_get_array(spec, name);

        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *at = arena_printf(p->arena, "%s.%s[%zu]", path, name, i);

                TRY(at ? check_container(list, i, at, p) : ERR_NO_MEMORY);
                if (!has_claims)
                        TRY(check_mounts(spec, json_array_get(list, i), at, p));
        }
        return 0;
}

/* ---- the spec ---- */

int check_pod_spec(const json_t *spec, const char *path, bool has_claims, struct schema_problems *p)
{
        const json_t *volumes = doc_get_array(spec, "volumes");

        for (size_t i = 0; i < json_array_size(volumes); i++) {
                const char *at = arena_printf(p->arena, "%s.volumes[%zu]", path, i);

                TRY(at ? check_name(volumes, i, at, p) : ERR_NO_MEMORY);
        }
        if (json_array_size(doc_get_array(spec, "containers")) == 0)
                TRY(required(p, arena_printf(p->arena, "%s.containers", path)));
        TRY(check_containers(spec, "initContainers", path, has_claims, p));
        return check_containers(spec, "containers", path, has_claims, p);
}

int check_pod(const json_t *doc, struct schema_problems *p)
{
        return check_pod_spec(doc_get(doc, "spec"), "spec", false, p);
}
