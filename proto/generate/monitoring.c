/* Writes the rules for Prometheus and the dashboards for Grafana of both charts, and the tables of alerts in
 * docs/metrics.md. What names a metric or label that is not there ends the generator. */
#include "common/base/memory.h"
#include "common/json/doc.h"
#include "proto/dashboards.h"
#include "proto/generate/generate.h"

/* Replaced by the chart's template. */
#define JOB_SELECTOR "job=\"JOB\""
#define RUNBOOK_BASE "RUNBOOKS"
#define DASHBOARD_SELECTOR "job=~\"$job\",instance=~\"$instance\""

static struct expression_scope rules_scope(enum metric_of of)
{
        return (struct expression_scope){ of, recorded_series, JOB_SELECTOR };
}

static bool is_of(enum metric_of what, enum metric_of agent)
{
        return (what & agent) != 0;
}

static json_t *expanded(const char *owner, const char *text, const struct expression_scope *scope)
{
        AUTO_BUF struct buf b;
        struct error err = { 0 };

        buf_init(&b, 16384);
        if (expression_expand(text, scope, &b, &err) < 0)
                fail("%s: %s", owner, err.text);
        return json_stringn(b.data, b.len);
}

static json_t *rule_of_record(const struct recorded *r, const struct expression_scope *scope)
{
        return json_pack("{s:s, s:o}", "record", r->name, "expr", expanded(r->name, r->expression, scope));
}

static char *anchor_of(const char *name)
{
        char *anchor = mem_must(mem_strdup(name));

        for (char *c = anchor; *c; c++)
                *c |= 0x20; /* letters only: `the_tables...` */
        return anchor;
}

static json_t *rule_of_alert(const struct alert *a, const struct expression_scope *scope)
{
        AUTO_FREE char *anchor = anchor_of(a->name);
        json_t *rule =
                json_pack("{s:s, s:o}", "alert", a->name, "expr", expanded(a->name, a->expression, scope));
        struct error err = { 0 };

        if (expression_check_summary(a->summary, a->expression, scope, &err) < 0)
                fail("%s: %s", a->name, err.text);
        if (a->wait)
                json_object_set_new(rule, "for", json_string(a->wait));
        json_object_set_new(rule, "labels", json_pack("{s:s}", "severity", severities[a->severity]));
        json_object_set_new(rule, "annotations",
                            json_pack("{s:s, s:o}", "summary", a->summary, "runbook_url",
                                      json_sprintf(RUNBOOK_BASE "#%s", anchor)));
        return rule;
}

json_t *rules_of(enum metric_of agent, const char *name)
{
        const struct expression_scope scope = rules_scope(agent);
        json_t *records = json_array(), *told = json_array();

        for (const struct recorded *r = recorded_series; r->name; r++)
                if (is_of(r->of, agent))
                        json_array_append_new(records, rule_of_record(r, &scope));
        for (size_t i = 0; i < n_alerts; i++)
                if (is_of(alerts[i].of, agent))
                        json_array_append_new(told, rule_of_alert(&alerts[i], &scope));
        return json_pack("{s:[{s:o, s:o}, {s:o, s:o}]}", "groups", "name",
                         json_sprintf("argosy-%s.recorded", name), "rules", records, "name",
                         json_sprintf("argosy-%s.alerts", name), "rules", told);
}

/* ---- dashboards ---- */

#define GRID 24

/* Where the next panel comes. */
struct place {
        unsigned x, y, height;
        int id;
};

static json_t *place_of(struct place *p, unsigned width, unsigned height)
{
        json_t *grid;

        if (p->x + width > GRID || (p->height && height != p->height)) {
                p->y += p->height;
                p->x = 0;
        }
        grid = json_pack("{s:i, s:i, s:i, s:i}", "x", p->x, "y", p->y, "w", width, "h", height);
        p->x += width;
        p->height = height;
        return grid;
}

static json_t *datasource(void)
{
        return json_pack("{s:s, s:s}", "type", "prometheus", "uid", "${datasource}");
}

static json_t *targets_of(const struct panel *p, const struct expression_scope *scope)
{
        json_t *targets = json_array();

        for (size_t i = 0; i < PANEL_QUERIES_MAX && p->queries[i].expression; i++) {
                const char id[] = { (char)('A' + i), '\0' };

                json_array_append_new(
                        targets, json_pack("{s:o, s:o, s:s, s:s, s:b}", "datasource", datasource(), "expr",
                                           expanded(p->title, p->queries[i].expression, scope),
                                           "legendFormat", p->queries[i].legend, "refId", id, "range", true));
        }
        return targets;
}

static json_t *panel_of(const struct panel *p, struct place *at, const struct expression_scope *scope)
{
        json_t *panel = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o}", "id", ++at->id, "type",
                                  p->single ? "stat" : "timeseries", "title", p->title, "description",
                                  p->about, "datasource", datasource(), "gridPos",
                                  place_of(at, p->single ? 4 : 8, p->single ? 4 : 8), "targets",
                                  targets_of(p, scope));

        json_object_set_new(panel, "fieldConfig",
                            json_pack("{s:{s:s}, s:[]}", "defaults", "unit", p->unit, "overrides"));
        return panel;
}

static json_t *row_of(const char *title, struct place *at)
{
        return json_pack("{s:i, s:s, s:s, s:b, s:o, s:[]}", "id", ++at->id, "type", "row", "title", title,
                         "collapsed", false, "gridPos", place_of(at, GRID, 1), "panels");
}

/* The row of a panel; a row is there for an agent that has panels in it. */
static json_t *panels_of(enum metric_of agent)
{
        const struct expression_scope scope = { agent, recorded_series, DASHBOARD_SELECTOR };
        struct place at = { 0 };
        const char *row = NULL, *begun = NULL;
        json_t *all = json_array();

        for (size_t i = 0; i < n_panels; i++) {
                if (panels[i].row)
                        row = panels[i].row;
                if (!is_of(panels[i].of, agent))
                        continue;
                if (row != begun)
                        json_array_append_new(all, row_of(row, &at));
                begun = row;
                json_array_append_new(all, panel_of(&panels[i], &at, &scope));
        }
        return all;
}

/* One that offers the values of a label. */
static json_t *variable(const char *name, const char *query)
{
        return json_pack("{s:s, s:s, s:o, s:s, s:i, s:b, s:b, s:{s:s, s:s}}", "name", name, "type", "query",
                         "datasource", datasource(), "query", query, "refresh", 2, "includeAll", true,
                         "multi", true, "current", "text", "All", "value", "$__all");
}

json_t *dashboard_of(enum metric_of agent, const char *name)
{
        json_t *variables = json_pack(
                "[{s:s, s:s, s:s, s:s}, o, o]", "name", "datasource", "label", "Prometheus", "type",
                "datasource", "query", "prometheus",
                variable("job", "label_values(argosy_connection_good, job)"),
                variable("instance", "label_values(argosy_connection_good{job=~\"$job\"}, instance)"));

        return json_pack("{s:o, s:o, s:[s], s:s, s:i, s:b, s:s, s:{s:s, s:s}, s:{s:o},"
                         " s:[{s:s, s:s, s:[s], s:b, s:b}], s:o}",
                         "uid", json_sprintf("argosy-%s", name), "title", json_sprintf("Argosy: %s", name),
                         "tags", "argosy", "timezone", "", "schemaVersion", 38, "editable", true, "refresh",
                         "30s", "time", "from", "now-3h", "to", "now", "templating", "list", variables,
                         "links", "type", "dashboards", "title", "Argosy", "tags", "argosy", "asDropdown",
                         false, "includeVars", false, "panels", panels_of(agent));
}

/* ---- docs/metrics.md ---- */

static void write_recorded(enum metric_of of, struct buf *b)
{
        static const char *const agents[] = {
                [METRIC_OF_HUB] = "hub", [METRIC_OF_MEMBER] = "member", [METRIC_OF_BOTH] = "both"
        };

        for (const struct recorded *r = recorded_series; r->name; r++) {
                if (r->of != of)
                        continue;
                buf_printf(b, "| `%s` | ", r->name);
                for (size_t i = 0; r->labels[i]; i++)
                        buf_printf(b, "%s`%s`", i ? ", " : "", r->labels[i]);
                buf_printf(b, " | %s |\n", agents[of]);
        }
}

static void write_alerts(enum metric_of of, struct buf *b)
{
        static const char *const agents[] = {
                [METRIC_OF_HUB] = "hub", [METRIC_OF_MEMBER] = "member", [METRIC_OF_BOTH] = "both"
        };

        for (size_t i = 0; i < n_alerts; i++) {
                AUTO_FREE char *anchor = anchor_of(alerts[i].name);

                if (alerts[i].of == of)
                        buf_printf(b, "| [`%s`](troubleshooting.md#%s) | %s | %s | %s |\n", alerts[i].name,
                                   anchor, severities[alerts[i].severity],
                                   alerts[i].wait ? alerts[i].wait : "at once", agents[of]);
        }
}

void write_alerts_page(struct buf *b)
{
        static const enum metric_of order[] = { METRIC_OF_BOTH, METRIC_OF_HUB, METRIC_OF_MEMBER };

        buf_append_str(b,
                       "\n## Rules of the charts\n\n"
                       "With `prometheusRule.enabled` or `prometheusRule.configMap` the charts bring these "
                       "series and alerts;\n`grafanaDashboard.enabled` brings a dashboard "
                       "(docs/guide/operations.md).\n\n"
                       "| recorded series | labels | agent |\n| --- | --- | --- |\n");
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
                write_recorded(order[i], b);
        buf_append_str(b, "\n| alert | severity | holds for | agent |\n| --- | --- | --- | --- |\n");
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
                write_alerts(order[i], b);
}
