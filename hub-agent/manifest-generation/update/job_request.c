/* What a ConfigMap asks for. */
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/job.h"
#include "hub-agent/manifest-generation/update/words.h"

struct reading {
        struct arena *arena;
        const json_t *data;
        struct job_request *request;
        struct error *err;
};

enum field { TYPE, WORKLOADS, ADD, REMOVE, IMAGE, USER, MESSAGE, FORCE, DRY_RUN, N_FIELDS };
static const char *const fields[N_FIELDS] = { "type", "workloads", "add",   "remove", "image",
                                              "user", "message",   "force", "dryRun" };
/* Requests that have a use for a field, by bits. */
#define OF(type) (1u << (type))
static const unsigned uses[N_FIELDS] = {
        [TYPE] = ~0u,
        [WORKLOADS] = OF(JOB_POLICY) | OF(JOB_IMAGE),
        [ADD] = OF(JOB_POLICY),
        [REMOVE] = OF(JOB_POLICY),
        [IMAGE] = OF(JOB_IMAGE),
        [USER] = ~0u,
        [MESSAGE] = ~0u,
        [FORCE] = OF(JOB_IMAGE),
        [DRY_RUN] = OF(JOB_POLICY) | OF(JOB_IMAGE),
};
static const char *const types[] = { "sync", "policy", "image", "collect", "auto" };

const char *job_type_name(enum job_type t)
{
        return types[t];
}

static const char *text_of(const struct reading *r, enum field f)
{
        return or_empty(json_string_value(json_object_get(r->data, fields[f])));
}

/* ---- one field ---- */

static int read_type(struct reading *r)
{
        const char *type = text_of(r, TYPE), *quoted;

        for (size_t i = 0; i < JOB_AUTO; i++)
                if (strcmp(type, types[i]) == 0) {
                        r->request->type = (enum job_type)i;
                        return 0;
                }
        quoted = words_quote(r->arena, type);
        if (!quoted)
                return error_no_memory(r->err);
        return error_set(r->err, ERR_INVALID, "data.type: must be one of sync, policy, image, collect, is %s",
                         quoted);
}

static int check_field(struct reading *r, const char *key, const json_t *value)
{
        enum job_type type = r->request->type;
        const char *quoted;

        for (size_t i = 0; i < N_FIELDS; i++) {
                if (strcmp(key, fields[i]) != 0)
                        continue;
                if (!json_is_string(value))
                        return error_set(r->err, ERR_INVALID, "data.%s: must be a string", key);
                if (uses[i] & OF(type))
                        return 0;
                return error_set(r->err, ERR_INVALID, "data.%s: requests of type %s have no use for it", key,
                                 types[type]);
        }
        quoted = words_quote(r->arena, key);
        if (!quoted)
                return error_no_memory(r->err);
        return error_set(r->err, ERR_INVALID, "data: there is no field %s", quoted);
}

static int read_flag(struct reading *r, enum field f, bool *ret)
{
        const char *text = text_of(r, f);

        *ret = strcmp(text, "true") == 0;
        if (*ret || !*text || strcmp(text, "false") == 0)
                return 0;
        return error_set(r->err, ERR_INVALID, "data.%s: must be true or false", fields[f]);
}

/* ---- workloads ---- */

static void to_lower(char *s)
{
        for (; *s; s++)
                if (*s >= 'A' && *s <= 'Z')
                        *s = (char)(*s | 0x20);
}

/* As identities are written: the kind in lower case. */
static int read_workload(struct reading *r, struct slice line, const char **ret)
{
        const char *text = words_slice(r->arena, line);
        struct workload_id id;
        char *kind;

        if (!text)
                return error_no_memory(r->err);
        TRY(workload_id_parse(r->arena, text, &id, r->err));
        kind = arena_strdup(r->arena, id.kind);
        if (!kind)
                return error_no_memory(r->err);
        to_lower(kind);
        *ret = arena_printf(r->arena, "%s:%s/%s", id.ns, kind, id.name);
        return *ret ? 0 : error_no_memory(r->err);
}

static size_t without_twins(const char **at, size_t n)
{
        size_t kept = 0;

        qsort(at, n, sizeof(*at), words_compare);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || strcmp(at[i], at[kept - 1]) != 0)
                        at[kept++] = at[i];
        return kept;
}

static int wrap_line(struct reading *r, enum field f, size_t line, int code)
{
        return code == ERR_NO_MEMORY ? code : error_wrap(r->err, "data.%s: line %zu", fields[f], line);
}

static int read_workloads(struct reading *r)
{
        const char *text = text_of(r, WORKLOADS), **at;
        size_t most = words_count_lines(text), n = 0;
        struct words_lines lines = words_lines_of(text);
        struct slice line;

        if (most == 0)
                return error_set(r->err, ERR_INVALID, "data.workloads: must be identities, one a line, or *");
        if (most > JOB_WORKLOADS_MAX)
                return error_set(r->err, ERR_LIMIT, "data.workloads: more than %d lines", JOB_WORKLOADS_MAX);
        at = ARENA_NEW_ARRAY(r->arena, const char *, most);
        if (!at)
                return error_no_memory(r->err);
        while (words_next_line(&lines, &line)) {
                int code;

                if (most == 1 && slice_is(line, "*")) {
                        r->request->all = true;
                        return 0;
                }
                code = read_workload(r, line, &at[n]);
                if (code < 0)
                        return wrap_line(r, WORKLOADS, lines.line, code);
                n++;
        }
        r->request->workloads = at;
        r->request->n_workloads = without_twins(at, n);
        return 0;
}

/* ---- images ---- */

static int read_image(struct reading *r, struct slice line, struct job_image *ret)
{
        struct slice rest = line, container;
        bool named = slice_cut(&rest, '=', &container);
        const char *image = words_slice(r->arena, slice_trim(named ? rest : line));

        *ret = (struct job_image){ .image = { "", "", "", "", "", "" } };
        if (named)
                ret->container = words_slice(r->arena, slice_trim(container));
        if (!image || (named && !ret->container))
                return error_no_memory(r->err);
        if (named && !*ret->container)
                return error_set(r->err, ERR_INVALID, "there is no name of a container before the =");
        if (strcmp(image, "*") == 0)
                return 0;
        TRY(image_ref_parse(r->arena, image, &ret->image, r->err));
        if (*ret->image.digest)
                return error_set(r->err, ERR_INVALID, "image %s has a digest: images are released by tag",
                                 image);
        return 0;
}

static int read_images(struct reading *r)
{
        const char *text = text_of(r, IMAGE);
        size_t most = words_count_lines(text), n = 0;
        struct words_lines lines = words_lines_of(text);
        struct job_image *at = ARENA_NEW_ARRAY(r->arena, struct job_image, most + 1);
        struct slice line;

        if (!at)
                return error_no_memory(r->err);
        if (most == 0)
                return error_set(
                        r->err, ERR_INVALID,
                        "data.image: must be an image, with the tag to be released or without, or *");
        if (most > JOB_IMAGES_MAX)
                return error_set(r->err, ERR_LIMIT, "data.image: more than %d lines", JOB_IMAGES_MAX);
        while (words_next_line(&lines, &line)) {
                int code = read_image(r, line, &at[n]);

                if (code < 0)
                        return wrap_line(r, IMAGE, lines.line, code);
                n++;
        }
        r->request->images = at;
        r->request->n_images = n;
        return 0;
}

/* ---- who and why ---- */

static int read_user(struct reading *r)
{
        static const struct commit_person nobody = { "", "" };
        const char *user = words_slice(r->arena, slice_trim(slice_of(text_of(r, USER))));
        struct commit_person person;
        int code;

        if (!user)
                return error_no_memory(r->err);
        r->request->user = user;
        if (!*user)
                return 0;
        if (strlen(user) > JOB_USER_MAX)
                return error_set(r->err, ERR_LIMIT, "data.user: more than %d bytes", JOB_USER_MAX);
        code = commit_person_parse(r->arena, user, &nobody, &person, r->err);
        return code < 0 && code != ERR_NO_MEMORY ? error_wrap(r->err, "data.user") : code;
}

static int read_message(struct reading *r)
{
        struct slice text = slice_trim(slice_of(text_of(r, MESSAGE)));

        if (text.len > JOB_MESSAGE_MAX)
                return error_set(r->err, ERR_LIMIT, "data.message: more than %u bytes", JOB_MESSAGE_MAX);
        r->request->message = words_slice(r->arena, text);
        return r->request->message ? 0 : error_no_memory(r->err);
}

/* ---- all of it ---- */

static int read_policies(struct reading *r)
{
        struct job_request *q = r->request;

        TRY(policy_changes_read(r->arena, text_of(r, ADD), text_of(r, REMOVE), &q->policies, r->err));
        if (q->policies.n == 0)
                return error_set(r->err, ERR_INVALID,
                                 "data.add, data.remove: one of them must name a policy");
        return policy_changes_complete(r->arena, q->user, q->message, &q->policies, r->err);
}

static int read_all(struct reading *r)
{
        const char *key;
        json_t *value;

        TRY(read_type(r));
        json_object_foreach((json_t *)r->data, key, value)
                TRY(check_field(r, key, value));
        TRY(read_user(r));
        TRY(read_message(r));
        TRY(read_flag(r, FORCE, &r->request->force));
        TRY(read_flag(r, DRY_RUN, &r->request->dry_run));
        if (r->request->type != JOB_POLICY && r->request->type != JOB_IMAGE)
                return 0;
        TRY(read_workloads(r));
        return r->request->type == JOB_POLICY ? read_policies(r) : read_images(r);
}

int job_request_read(struct arena *arena, const json_t *config_map, struct job_request *ret,
                     struct error *err)
{
        struct job_request request = { .type = JOB_SYNC };
        struct reading r = { arena, doc_get_object(config_map, "data"), &request, err };

        TRY(read_all(&r));
        *ret = request;
        return 0;
}

bool job_request_wants_images(const struct job_request *r)
{
        for (size_t i = 0; i < r->n_images; i++)
                if (!*r->images[i].image.tag)
                        return true;
        return false;
}
