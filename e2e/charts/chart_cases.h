/* Chart tests: helm renders a chart with the values of a case; what comes out is compared by structure. Every
 * rendering is also held against rules that hold for all (chart_rules.c) and its command lines against the
 * programs' own flags (command_line.c). How cases are written: README.md. */
#pragma once

#include "common/json/doc.h"
#include "common/loop/world.h"

struct chart_test {
        struct world *world;
        const char *helm, *chart, *scratch; /* program, folder of the chart, folder for files */
        const char *kube_version;
};

/* What helm gave. The objects are in order, empty documents dropped. */
struct rendering {
        int exit_code;
        json_t *objects; /* of a successful one */
        char *said;      /* standard error */
};
void rendering_free(struct rendering *r);

/* Renders with the values files' contents in turn (each may be NULL) and --set words. ERR_* only if helm
 * cannot be run or prints what is no YAML. */
int chart_render(const struct chart_test *t, const char *release, const json_t *base, const json_t *values,
                 const json_t *set, struct rendering *ret, struct error *err);

/* "Deployment/hub-agent" in a list of objects; NULL if absent. */
const json_t *rendered_find(const json_t *objects, const char *kind_and_name);

/* The following add sentences to `problems` (one a line); none means all is well. */

/* The "objects" and "expect" of a case. */
void case_expect(const json_t *one, const json_t *objects, struct buf *problems);
/* Names, namespaces, pods' security, ports, probes, volumes, accounts, roles, selectors. */
void chart_rules(const json_t *objects, struct buf *problems);
/* Arguments and environment are accepted by the programs; warnings are exactly those that the case names. */
void command_lines(const json_t *objects, const json_t *warns, struct buf *problems);
