/* The differential suite: the same request scripts sent to two API servers, their answers compared.
 *
 * A script (scripts/AREA.yaml, one YAML document each; README.md has the format) is played against a target
 * and gives a transcript: one answer per step, with everything volatile already replaced by a word in angle
 * brackets (normalise.c). Transcripts of two targets, or of one and a recorded one, are compared as JSON. */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/kube/config.h"

#define DIFFERENTIAL_STEP_MS 60000 /* one request, one command line, one wait */

/* ---- one server ---- */
struct target {
        const char *name; /* in reports: "devcluster", "real" */
        struct world *world;
        const char *kubeconfig; /* file; commands get a copy with this context */
        const char *context;
        const char *kubectl; /* program; NULL = scripts with commands are left out */
        const char *scratch; /* folder for files and output of commands */
        struct kube_config config;
        const char *host;      /* "127.0.0.1:6443/clusters/hub": replaced in answers */
        struct map identities; /* "token:..", "cert:.." -> struct http_endpoint * */
        char *key_pem;         /* of every client certificate the scripts ask for */
};

int target_open(struct target *t, struct error *err);
void target_close(struct target *t);
/* The endpoint that speaks as somebody: "" = the administrator, "token:JWT", "cert:BASE64 PEM", "anonymous".
 */
int target_identity(struct target *t, const char *as, const struct http_endpoint **ret, struct error *err);

/* ---- scripts ---- */
struct script {
        const char *area, *name; /* "core", "configmaps" */
        const json_t *doc;
};
struct scripts {
        VEC(struct script) at;
        struct arena arena;
        json_t *docs; /* keeps the documents */
};
/* Reads files and folders of files; checks names, steps and their keys. */
int scripts_read(struct world *w, const char *const *paths, size_t n, struct scripts *ret, struct error *err);
void scripts_free(struct scripts *s);
/* "AREA/NAME #3 GET /api..": how reports name a step. In the arena. */
const char *step_title(const json_t *step, size_t index, struct arena *arena);
bool script_needs_kubectl(const struct script *s);
size_t script_requests(const struct script *s, bool commands);

/* ---- variables of one script on one target ---- */
struct variables {
        struct map values; /* name -> char * */
        struct arena *arena;
};
int variable_set(struct variables *v, const char *name, const char *value, struct error *err);
/* "$name" and "${name}" of known names, "$x300" = 300 times x; anything else stays. In the arena; NULL on no
 * memory. */
const char *variables_expand(const struct variables *v, const char *text);
json_t *variables_expand_doc(const struct variables *v, const json_t *doc); /* new; NULL on no memory */

/* ---- playing ---- */
/* Plays one script; *ret (new) is the array of answers. A step that cannot be done (no connection, a variable
 * that is not in the answer) gives an answer {"failed": "why"} and the script goes on. */
int script_play(const struct script *s, struct target *t, const char *run, json_t **ret, struct error *err);
/* One command line: {"exit":0,"stdout":[lines],"stderr":[lines]}. */
int play_command(struct target *t, const struct script *s, struct variables *v, const json_t *step,
                 json_t **ret, struct error *err);

/* ---- normalising ---- */
struct normaliser;
struct normaliser *normaliser_new(struct arena *arena, struct error *err); /* NULL on failure; in the arena */
/* A text that is to read as `word` from now on ("ns-of-this-run" -> "$ns"). Longer texts first. */
int normaliser_replace(struct normaliser *n, const char *text, const char *word, struct error *err);
/* The document with volatile values replaced: new. */
int normalise_doc(struct normaliser *n, const json_t *doc, json_t **ret, struct error *err);
int normalise_text(struct normaliser *n, const char *text, char **ret, struct error *err); /* mem_free */

/* ---- comparing ---- */
struct difference {
        const char *path;  /* "body.items[0].spec.replicas" */
        const char *a, *b; /* JSON texts, cut; "(absent)" */
};
struct differences {
        VEC(struct difference) at;
        struct arena *arena;
};
/* Only the paths in `only` (NULL = all) and none below a path in `ignore`. */
int transcript_compare(const json_t *a, const json_t *b, const json_t *only, const json_t *ignore,
                       struct differences *ret, struct error *err);

/* ---- the list of known differences ---- */
struct known {
        json_t *entries;
        bool *used;
        size_t n;
};
int known_read(struct world *w, const char *path, struct known *ret, struct error *err);
bool known_covers(struct known *k, const char *script, size_t step, const json_t *step_doc, const char *path);
void known_free(struct known *k);
