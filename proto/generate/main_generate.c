/* Writes everything that is derived from the descriptions of kinds, and the page of metrics from their table.
 * Usage: generate [ROOT] */
#include <stdio.h>

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "proto/generate/generate.h"

#define MAX_OUTPUT (16u << 20)

static void write_file(const char *root, const char *path, const struct buf *b)
{
        AUTO_FREE char *whole = mem_must(mem_printf("%s/%s", root, path));
        if (buf_status(b, NULL, path) < 0)
                fail("%s: output too large, or out of memory", path);
        FILE *f = fopen(whole, "wb");
        if (!f || fwrite(b->data, 1, b->len, f) != b->len || fclose(f) != 0)
                fail("%s: cannot be written", whole);
}

static void write_one(const struct model *m, const char *root, const char *path,
                      void (*writer)(const struct model *, struct buf *))
{
        AUTO_BUF struct buf b;
        buf_init(&b, MAX_OUTPUT);
        writer(m, &b);
        write_file(root, path, &b);
}

/* charts/hub-agent/files/crds/placement.kubernetes-fleet.io_works.yaml */
static void write_crd(const char *root, const struct kind_def *k, const char *cluster)
{
        if (k->external || !installed_on(k, cluster))
                return;
        AUTO_BUF struct buf b;
        buf_init(&b, MAX_OUTPUT);
        AUTO_JSON json_t *crd = crd_of(k);
        buf_append_str(&b, "# Written by `make generate` from proto/kinds/; do not edit.\n");
        if (yaml_write(crd, &b) < 0)
                fail("%s: cannot be written as YAML", k->kind);
        AUTO_FREE char *path =
                mem_must(mem_printf("charts/%s-agent/files/crds/%s_%s.yaml", cluster, k->group, k->plural));
        write_file(root, path, &b);
}

/* charts/hub-agent/files/monitoring/: rules.yaml and dashboard.json */
static void write_monitoring(const char *root, enum metric_of agent, const char *name)
{
        AUTO_JSON json_t *rules = rules_of(agent, name), *dashboard = dashboard_of(agent, name);
        AUTO_FREE char *rules_path = mem_must(mem_printf("charts/%s/files/monitoring/rules.yaml", name));
        AUTO_FREE char *dashboard_path =
                mem_must(mem_printf("charts/%s/files/monitoring/dashboard.json", name));
        AUTO_FREE char *text = dashboard ? json_dumps(dashboard, JSON_INDENT(1)) : NULL;
        AUTO_BUF struct buf b, d;

        buf_init(&b, MAX_OUTPUT);
        buf_append_str(&b, "# Written by `make generate` from proto/alerts.c; do not edit.\n");
        if (!rules || yaml_write(rules, &b) < 0)
                fail("%s: cannot be written as YAML", rules_path);
        write_file(root, rules_path, &b);
        buf_init(&d, MAX_OUTPUT);
        if (!text)
                fail("%s: cannot be written as JSON", dashboard_path);
        buf_printf(&d, "%s\n", text);
        write_file(root, dashboard_path, &d);
}

int main(int argc, char **argv)
{
        const char *root = argc > 1 ? argv[1] : ".";
        AUTO_FREE char *folder = mem_must(mem_printf("%s/proto/kinds", root));
        struct model m = { 0 };
        model_load(&m, folder);
        write_one(&m, root, "proto/gen/types.h", write_types_header);
        write_one(&m, root, "proto/gen/kinds.h", write_kinds_header);
        write_one(&m, root, "proto/gen/tables.c", write_tables);
        write_one(&m, root, "proto/gen/crds.c", write_crd_texts);
        write_one(&m, root, "docs/reference.md", write_reference);
        write_one(&m, root, "docs/metrics.md", write_metrics_page);
        write_monitoring(root, METRIC_OF_HUB, "hub-agent");
        write_monitoring(root, METRIC_OF_MEMBER, "member-agent");
        for (size_t i = 0; i < m.n_kinds; i++) {
                write_crd(root, &m.kinds[i], "hub");
                write_crd(root, &m.kinds[i], "member");
        }
        return 0;
}
