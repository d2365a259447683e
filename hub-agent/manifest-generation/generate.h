/* What the generators of a .flux.yaml print: spec/flux-yaml.md 4, 5.1. */
#pragma once

#include "common/base/buf.h"
#include "hub-agent/manifest-generation/commands.h"

/* What was generated is kept, so that a commit that did not change runs nothing. NULL: nothing is kept. */
struct generator_cache;
#define GENERATOR_CACHE_BYTES (128u << 20)
#define GENERATOR_CACHE_ENTRIES 256
#define GENERATED_BYTES (64u << 20) /* what all generators of one file print */

struct generator_cache *generator_cache_new(void); /* NULL on no memory */
struct generator_cache *generator_cache_free(struct generator_cache *c);
void generator_cache_forget(struct generator_cache *c); /* all of it */

struct generation {
        struct commands *commands;
        struct generator_cache *cache; /* may be NULL: --generator-cache=false */
        const char *commit;            /* part of what is kept is known by */
        const char *root;              /* the checkout, absolute */
        const char *temporary;   /* an empty folder outside the checkout: TMPDIR; removed by the caller */
        const char *const *ours; /* the agent's environment, NULL-terminated */
};

/* Runs the generators top down and joins what they print to one YAML stream, in the arena. ERR_INVALID: one
 * failed, and *ret_message (else NULL) is the whole text, which has no room in err: `error executing
 * generator command "x" from file "../.flux.yaml": exit status 1\nerror output:\n...\ngenerated
 * output:\n...`. Failures are not kept. */
int generate(struct generation *g, struct arena *arena, const struct flux_target *target,
             struct slice *ret_stream, const char **ret_message, struct error *err);

/* The joined outputs: `---\n` before each, `\n---\n` if the text before lacks a final line feed. Pure. */
int generated_join(struct buf *stream, struct slice output);
