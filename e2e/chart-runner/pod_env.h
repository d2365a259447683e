/* A container's environment and words, as kubelet makes them from a pod: pure rules over documents. Facts
 * from the Kubernetes documentation ("Define dependent environment variables", "Expose pod information"). */
#pragma once

#include "common/json/doc.h"

/* Where Secrets and ConfigMaps of the pod's namespace come from. */
struct pod_lookup {
        /* `kind` is "Secret" or "ConfigMap". 0 with a borrowed document, ERR_NOT_FOUND, or another error. */
        int (*get)(void *ctx, const char *kind, const char *name, const json_t **ret, struct error *err);
        void *ctx;
};

struct env_list {
        struct env_pair {
                const char *name, *value;
        } * at;
        size_t n, cap;
};
const char *env_get(const struct env_list *env, const char *name); /* NULL if absent */
int env_put(struct env_list *env, struct arena *arena, const char *name, const char *value); /* replaces */

/* "$(NAME)" becomes the variable's value where env has it and stays as it is otherwise; "$$" becomes "$". */
int env_expand(const struct env_list *env, const char *text, struct arena *arena, const char **ret);

/* The value of a downward API field ("metadata.labels['app']"); `path` names it in errors. */
int pod_field(const json_t *pod, const char *field, struct arena *arena, const char **ret, struct error *err);
/* One key of a Secret or ConfigMap: bytes in the arena. *ret NULL when it is absent and `optional`. */
int pod_key(const struct pod_lookup *l, const char *kind, const json_t *selector, struct arena *arena,
            const char **ret, size_t *ret_n, struct error *err);

/* envFrom, then env in order, each expanded over what is there before; names that are set stay on top of
 * `env`'s former contents (the service variables). */
int pod_env(const json_t *pod, const json_t *container, const struct pod_lookup *l, struct arena *arena,
            struct env_list *env, struct error *err);

/* The NULL-terminated words to start: `entrypoint` unless the container has a command, then its args, all
 * expanded. */
int pod_words(const json_t *container, const char *entrypoint, const struct env_list *env,
              struct arena *arena, const char *const **ret, struct error *err);
