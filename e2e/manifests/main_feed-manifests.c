/* Feeds the documented manifests that a user applies to a fresh hub: each file is created (fields checked
 * strictly, as kubectl asks for) and applied by server-side apply on top, then taken away again, since the
 * documentation uses the same names many times. Ends in `N passed, N failed`. */
#include <glob.h>

#include "common/base/limits.h"
#include "e2e/devcluster/rig.h"
#include "proto/gen/kinds.h"
#include "proto/object.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define APPROVAL "/apis/placement.kubernetes-fleet.io/v1beta1/clusterapprovalrequests"
#define ROLE "# input"

struct feed {
        const char *folder;
        unsigned passed, failed;
};

/* What the here-documents of the pages leave to the shell. */
static const struct {
        const char *name, *value;
} shell[] = {
        { "$SERVICE_ACCOUNT_SECRET", "member-1-token" },
        { "$SERVICE_ACCOUNT", "member-1-hub-cluster-access" },
        { "$MEMBER_CLUSTER", "member-1" },
        { "$(date -u +%Y-%m-%dT%H:%M:%SZ)", "2026-01-01T00:00:00Z" },
};

/* Prerequisites the pages take for granted. */
static const char *const namespaces[] = { "fleet-system", "test-namespace", "test-app",
                                          "app",          "argocd",         "guestbook" };

static const struct {
        const char *plural, *kind;
} argo_kinds[] = { { "applications", "Application" }, { "appprojects", "AppProject" } };

static void need(struct rig *r, const char *what)
{
        if (r->status == 201)
                return;
        fprintf(stderr, "feed-manifests: %s: %d %s\n", what, r->status, r->text);
        exit(2);
}

static void make_namespaces(struct rig *r)
{
        for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
                char body[200];
                snprintf(body, sizeof(body),
                         "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
                         namespaces[i]);
                rig_post(r, "/api/v1/namespaces", body);
                need(r, namespaces[i]);
        }
}

static void install_crds(struct rig *r)
{
        for (size_t i = 0; i < n_crd_texts; i++) {
                if (!crd_texts[i].hub)
                        continue;
                rig_post(r, CRDS, crd_texts[i].json);
                need(r, crd_texts[i].name);
        }
        for (size_t i = 0; i < ARRAY_LEN(argo_kinds); i++) {
                char body[800];
                snprintf(body, sizeof(body),
                         "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
                         "metadata: {name: %s.argoproj.io}\n"
                         "spec:\n  group: argoproj.io\n  scope: Namespaced\n"
                         "  names: {plural: %s, kind: %s}\n"
                         "  versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n"
                         "    schema: {openAPIV3Schema: {type: object, "
                         "x-kubernetes-preserve-unknown-fields: true}}\n",
                         argo_kinds[i].plural, argo_kinds[i].plural, argo_kinds[i].kind);
                rig_call(r, "POST", CRDS, "application/yaml", body);
                need(r, argo_kinds[i].plural);
        }
}

/* The request whose status the page's approval.json is patched into. */
static void make_approval_request(struct rig *r)
{
        rig_post(r, APPROVAL,
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterApprovalRequest\","
                 "\"metadata\":{\"name\":\"example-run-canary\"},"
                 "\"spec\":{\"parentStageRollout\":\"example-run\",\"targetStage\":\"canary\"}}");
        need(r, "approval request");
}

static int replace(struct buf *b, const char *from, const char *to)
{
        struct buf out;
        buf_init(&out, LIMIT_YAML_BYTES);
        const char *at = b->data;
        for (const char *hit; (hit = strstr(at, from)); at = hit + strlen(from)) {
                TRY(buf_append(&out, at, (size_t)(hit - at)));
                TRY(buf_append(&out, to, strlen(to)));
        }
        TRY(buf_append(&out, at, strlen(at)));
        buf_free(b);
        *b = out;
        return 0;
}

/* Where objects of this kind are made: found in the server's discovery. False if it serves no such kind. */
static bool collection_of(struct rig *r, const json_t *doc, char *path, size_t size)
{
        const char *version = doc_get_string(doc, "apiVersion"), *kind = doc_get_string(doc, "kind");
        const char *ns = doc_get_string(doc, "metadata.namespace");
        char root[200];
        if (!version || !kind)
                return false;
        snprintf(root, sizeof(root), "%s/%s", strchr(version, '/') ? "/apis" : "/api", version);
        if (rig_get(r, root) != 200)
                return false;
        size_t i;
        json_t *one;
        json_array_foreach(doc_get_array(r->answer, "resources"), i, one) {
                const char *name = doc_get_string(one, "name");
                if (!name || strchr(name, '/') || !text_equal(doc_get_string(one, "kind"), kind))
                        continue;
                if (doc_get_bool(one, "namespaced", false))
                        snprintf(path, size, "%s/namespaces/%s/%s", root, ns ? ns : "default", name);
                else
                        snprintf(path, size, "%s/%s", root, name);
                return true;
        }
        return false;
}

/* 0 if the API took the document in both ways; else its refusal is in r. */
static int create_and_apply(struct rig *r, const json_t *doc, const char *json)
{
        char path[500], query[800];
        const char *name = doc_get_string(doc, "metadata.name");
        if (!name || !collection_of(r, doc, path, sizeof(path)))
                return -1;
        snprintf(query, sizeof(query), "%s?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
                 path);
        if (rig_post(r, query, json) != 201)
                return -1;
        snprintf(query, sizeof(query), "%s/%s?fieldManager=kubectl&force=true&fieldValidation=Strict", path,
                 name);
        int applied = rig_apply(r, query, json);
        if (applied != 200)
                return -1;
        snprintf(query, sizeof(query), "%s/%s", path, name);
        if (rig_delete(r, query) != 200)
                return -1;
        return 0;
}

static int feed_text(struct rig *r, struct buf *text, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct buf json;
        TRY(yaml_parse((struct slice){ text->data, text->len }, &doc, err));
        buf_init(&json, LIMIT_YAML_BYTES);
        TRY(doc_write(doc, &json));
        int code;
        if (!doc_get(doc, "kind"))
                code = rig_merge(r, APPROVAL "/example-run-canary/status", json.data) == 200 ? 0 : -1;
        else
                code = create_and_apply(r, doc, json.data);
        buf_free(&json);
        return code == 0 ? 0 : error_set(err, ERR_INVALID, "%d %s", r->status, r->text);
}

static void report(struct feed *f, const char *file, int code, const char *why)
{
        if (code == 0)
                f->passed++;
        else
                f->failed++;
        printf("%s %s%s%s\n", code == 0 ? "ok    " : "FAILED", file, why[0] ? ": " : "", why);
}

static int read_file(const char *folder, const char *file, struct buf *text)
{
        char path[4096], chunk[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, file);
        FILE *f = fopen(path, "re");
        if (!f)
                return ERR_SYSTEM;
        int code = 0;
        size_t n;
        while (code == 0 && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
                code = buf_append(text, chunk, n);
        fclose(f);
        return code;
}

static void feed_file(struct rig *r, struct feed *f, const char *file)
{
        struct buf text;
        struct error err = { 0 };
        buf_init(&text, LIMIT_YAML_BYTES);
        int code = read_file(f->folder, file, &text);
        if (code < 0 || !text_starts_with(text.data ? text.data : "", ROLE)) {
                if (code < 0)
                        report(f, file, code, "cannot be read");
                buf_free(&text);
                return;
        }
        for (size_t i = 0; code == 0 && i < ARRAY_LEN(shell); i++)
                code = replace(&text, shell[i].name, shell[i].value);
        if (code == 0)
                code = feed_text(r, &text, &err);
        report(f, file, code, code == 0 ? "" : err.text);
        buf_free(&text);
}

static void feed_all(struct rig *r)
{
        struct feed *f = r->ctx;
        char pattern[4096];
        glob_t files = { 0 };
        make_namespaces(r);
        install_crds(r);
        make_approval_request(r);
        snprintf(pattern, sizeof(pattern), "%s/*.yaml", f->folder);
        if (glob(pattern, 0, NULL, &files) == 0)
                for (size_t i = 0; i < files.gl_pathc; i++)
                        feed_file(r, f, strrchr(files.gl_pathv[i], '/') + 1);
        globfree(&files);
}

static void feed_folder(struct feed *f, const char *folder)
{
        unsigned before = f->passed + f->failed;
        f->folder = folder;
        rig_run_for(feed_all, f);
        if (f->passed + f->failed > before)
                return;
        printf("FAILED %s holds no manifest of role input\n", folder);
        f->failed++;
}

int main(int argc, char **argv)
{
        struct feed f = { 0 };
        if (argc < 2) {
                fputs("usage: feed-manifests FOLDER...\n", stderr);
                return 2;
        }
        for (int i = 1; i < argc; i++)
                feed_folder(&f, argv[i]);
        printf("%u passed, %u failed\n", f.passed, f.failed);
        return f.failed ? 1 : 0;
}
