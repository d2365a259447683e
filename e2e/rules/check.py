#!/usr/bin/env python3
"""What the charts bring for Prometheus and Grafana, held against everything that it names.

usage: check.py files | promtool FOLDER | metrics HUB-METRICS MEMBER-METRICS

files: metrics and labels are in the table of docs/metrics.md, links lead to sections of docs/troubleshooting.md,
dashboards are whole, and each alert has a case in cases.py. promtool: rules and panels' expressions are taken by
promtool, and the cases hold. metrics: what running agents give out has all that is named. Ends with `N passed, N failed`.
"""
import json
import re
import subprocess
import sys

from cases import CASES, VALUES

CHARTS = ("hub-agent", "member-agent")
GIVEN = {"job", "instance", "namespace", "pod", "exported_namespace", "le"}
passed = failed = 0


def check(name, problems):
    global passed, failed
    problems = list(problems)
    if problems:
        failed += 1
        print(f"FAILED {name}")
        for problem in problems[:20]:
            print(f"  {problem}")
    else:
        passed += 1


def rules_path(chart):
    return f"charts/{chart}/files/monitoring/rules.yaml"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rules_of(chart):
    """The rules of a file as dictionaries: enough of YAML for what `make generate` writes."""
    rules, one, key = [], None, None
    for line in read(rules_path(chart)).splitlines():
        begin = re.match(r"^  - (\w+): (.*)$", line)
        field = re.match(r"^    +(\w+): ?(.*)$", line)
        if begin:
            one = {begin[1]: begin[2]}
            rules.append(one)
            key = begin[1]
        elif one is not None and field and (field[1] in ("alert", "record", "expr", "for", "severity", "summary", "runbook_url",
                                                        "labels", "annotations")):
            key = field[1]
            one[key] = field[2]
        elif one is not None and line.startswith("      "):
            one[key] += " " + line.strip()
    return rules


def panels_of(chart):
    return json.loads(read(f"charts/{chart}/files/monitoring/dashboard.json"))["panels"]


def expressions_of(chart):
    """Pairs of where it stands and the expression."""
    for rule in rules_of(chart):
        yield rule.get("alert") or rule["record"], rule["expr"]
    for panel in panels_of(chart):
        for target in panel.get("targets", []):
            yield "panel " + panel["title"], target["expr"]


def metrics_table():
    """name -> (type, labels), and the recorded series, as docs/metrics.md has them."""
    metrics, recorded = {}, {}
    for line in read("docs/metrics.md").splitlines():
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            metrics[cells[0].strip("`")] = (cells[1], set(re.findall(r"`(\w+)`", cells[2])), cells[3])
        elif len(cells) == 3 and cells[0].startswith("`argosy:"):
            recorded[cells[0].strip("`")] = set(re.findall(r"`(\w+)`", cells[1]))
    return metrics, recorded


def series_in(expression):
    """Names with their labels; each stands before a brace, as all are selected by their job."""
    for name, selector in re.findall(r"([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}", expression):
        yield name, set(re.findall(r"(\w+)\s*[=!]", re.sub(r'"[^"]*"', '""', selector)))


def family_of(name, metrics):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name[: -len(suffix)] if name.endswith(suffix) else None
        if base in metrics and metrics[base][0] == "histogram":
            return base
    return name if name in metrics and metrics[name][0] != "histogram" else None


def unknown_names(chart):
    metrics, recorded = metrics_table()
    agent = chart.split("-")[0]
    for where, expression in expressions_of(chart):
        allowed, seen = set(GIVEN), False
        for name, labels in series_in(expression):
            seen = True
            family = family_of(name, metrics)
            if name in recorded:
                allowed |= recorded[name]
                own = recorded[name]
            elif family and metrics[family][2] in ("both", agent):
                allowed |= metrics[family][1]
                own = metrics[family][1]
            else:
                yield f"{where}: docs/metrics.md has no {name} of this agent"
                continue
            for label in labels - own - GIVEN:
                yield f"{where}: {name} has no label {label}"
        if not seen:
            yield f"{where}: it selects nothing"
        for inner in re.findall(r"\b(?:by|on|ignoring|without|group_left) \(([^)]*)\)", expression):
            for label in {part.strip() for part in inner.split(",")} - allowed:
                yield f"{where}: no series of it has the label {label}"


def anchors():
    for line in read("docs/troubleshooting.md").splitlines():
        heading = re.match(r"^#+ (.*)$", line)
        if heading:
            yield re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")


def dead_links(chart):
    there = set(anchors())
    for rule in rules_of(chart):
        if "alert" not in rule:
            continue
        link = re.match(r"^'?RUNBOOKS#([a-z0-9-]+)'?$", rule.get("runbook_url", ""))
        if not link or link[1] not in there:
            yield f"{rule['alert']}: {rule.get('runbook_url')} is no section of docs/troubleshooting.md"


def wanting(chart):
    for rule in rules_of(chart):
        if "alert" not in rule:
            continue
        if rule.get("severity") not in ("critical", "warning", "info"):
            yield f"{rule['alert']}: severity {rule.get('severity')}"
        if not rule.get("summary"):
            yield f"{rule['alert']}: no summary"


def broken_dashboard(chart):
    dashboard = json.loads(read(f"charts/{chart}/files/monitoring/dashboard.json"))
    variables = {v["name"]: v for v in dashboard["templating"]["list"]}
    taken = set()
    if variables["datasource"]["type"] != "datasource" or not dashboard["links"] or dashboard["uid"] != f"argosy-{chart}":
        yield "its variable for the datasource, its links or its uid are not as they should be"
    if len({p["id"] for p in dashboard["panels"]}) != len(dashboard["panels"]):
        yield "two panels have one id"
    for panel in dashboard["panels"]:
        grid = panel["gridPos"]
        cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
        if cells & taken or grid["x"] + grid["w"] > 24:
            yield f"{panel['title']}: it covers another panel or the edge"
        taken |= cells
        if panel["type"] == "row":
            continue
        if not panel["fieldConfig"]["defaults"].get("unit") or not panel["targets"]:
            yield f"{panel['title']}: no unit, or no query"
        for place in [panel, *panel["targets"]]:
            if place["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
                yield f"{panel['title']}: a datasource that is not the variable"


def untested():
    alerts = {(rule["alert"], chart) for chart in CHARTS for rule in rules_of(chart) if "alert" in rule}
    cases = {(case[0], chart) for case in CASES for chart in case[1]}
    yield from (f"{alert} of {chart} has no case" for alert, chart in sorted(alerts - cases))
    yield from (f"{alert} of {chart} has a case, and does not exist" for alert, chart in sorted(cases - alerts))


def files():
    for chart in CHARTS:
        check(f"{chart}: metrics and labels exist", unknown_names(chart))
        check(f"{chart}: runbooks exist", dead_links(chart))
        check(f"{chart}: alerts are whole", wanting(chart))
        check(f"{chart}: the dashboard is whole", broken_dashboard(chart))
    check("each alert has a case", untested())


# ---- promtool ----

def minutes(text):
    units = {"m": 1, "h": 60}
    return sum(int(n) * units[u] for n, u in re.findall(r"(\d+)([mh])", text or "0m"))


def series(given):
    for name, values in given.items():
        bare, _, labels = name.partition("{")
        own = [] if "instance=" in labels else ['instance="i"']
        labels = ",".join(['job="JOB"', *own, *([labels[:-1]] if labels else [])])
        yield {"series": f"{bare}{{{labels}}}", "values": values}


def raised(alert, at, n):
    return {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})', "eval_time": f"{at}m",
            "exp_samples": [{"value": n}] if n else []}


def tests_of(chart):
    waits = {rule["alert"]: minutes(rule.get("for")) for rule in rules_of(chart) if "alert" in rule}
    for alert, charts, raises, n, quiet, *more in CASES:
        if chart not in charts or alert not in waits:
            continue
        at = more[0] if more else max(waits[alert] + 10, 15)
        looks = [raised(alert, at, n)]
        if waits[alert] > 1:
            looks.append(raised(alert, waits[alert] - 1, 0))
        yield {"interval": "1m", "name": f"{alert} is raised", "input_series": list(series(raises)), "promql_expr_test": looks}
        yield {"interval": "1m", "name": f"{alert} is not raised", "input_series": list(series(quiet)),
               "promql_expr_test": [raised(alert, t, 0) for t in (at, at + 60)]}


def value_tests_of(chart):
    queries = {}
    for where, query in expressions_of(chart):
        queries.setdefault(where, query.replace('"$job"', '".+"').replace('"$instance"', '".+"'))
    for where, of, given, value in VALUES:
        if chart != of:
            continue
        samples = [] if value is None else [{"labels": "{}", "value": value}]
        yield {"interval": "1m", "name": f"{where} is {value}", "input_series": list(series(given)),
               "promql_expr_test": [{"expr": f"sum({queries[where]})", "eval_time": "20m", "exp_samples": samples}]}


def said(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        yield from done.stdout.splitlines()


def written(folder, chart, tests):
    path = f"{folder}/{chart}-tests.json"
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"rule_files": [f"{chart}.yaml"], "evaluation_interval": "1m", "tests": tests}, f)
    return path


def promtool(folder):
    for chart in CHARTS:
        check(f"{chart}: promtool takes the rules", said("promtool", "check", "rules", rules_path(chart)))
        with open(f"{folder}/{chart}.yaml", "w", encoding="utf-8") as f:
            f.write(read(rules_path(chart)))
        tests = [*tests_of(chart), *value_tests_of(chart)]
        # One run for all of them; only what fails is run alone, so that it gets its name.
        good = not any(True for _ in said("promtool", "test", "rules", written(folder, chart, tests)))
        for test in tests:
            check(f"{chart}: {test['name']}",
                  () if good else said("promtool", "test", "rules", written(folder, chart, [test])))
        queries = [target["expr"].replace("$__rate_interval", "5m") for panel in panels_of(chart)
                   for target in panel.get("targets", [])]
        path = f"{folder}/{chart}-panels.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"groups": [{"name": "panels", "rules": [{"record": f"panel:{i}", "expr": query}
                                                               for i, query in enumerate(queries)]}]}, f)
        check(f"{chart}: promtool takes the panels' expressions", said("promtool", "check", "rules", path))


# ---- what agents give out ----

def given_out(text):
    types, labels = {}, {}
    for line in text.splitlines():
        kind = re.match(r"^# TYPE (\S+) (\S+)$", line)
        sample = re.match(r"^([a-z_]+)(?:\{(.*)\})? [-+.eE0-9NaInf]+$", line)
        if kind:
            types[kind[1]] = kind[2]
        elif sample:
            labels.setdefault(sample[1], set()).add(frozenset(re.findall(r'(\w+)="', re.sub(r'\\.', '', sample[2] or ""))))
    return types, labels


def not_given_out(chart, path):
    metrics, recorded = metrics_table()
    types, labels = given_out(read(path))
    for where, expression in expressions_of(chart):
        for name, _ in series_in(expression):
            family = family_of(name, metrics)
            if name in recorded or family is None:
                continue
            if types.get(family) != metrics[family][0]:
                yield f"{where}: {family} is not given out as {metrics[family][0]}"
            for found in labels.get(name, ()):
                wanted = metrics[family][1] | ({"le"} if name.endswith("_bucket") and family != name else set())
                if set(found) != wanted:
                    yield f"{name} is given out with the labels {sorted(found)}, not {sorted(wanted)}"


# Of a fleet in which placements are made, these are there; others wait for an event of their own.
ALWAYS = {
    "hub-agent": ("leader_election_master_status", "argosy_connection_good", "argosy_member_heard",
                  "fleet_workload_placement_status_last_timestamp_seconds", "controller_runtime_reconcile_total",
                  "workqueue_queue_duration_seconds_bucket", "argosy_api_requests_total",
                  "argosy_api_request_duration_seconds_bucket", "process_open_fds", "process_max_fds",
                  "fleet_workload_update_run_status_last_timestamp_seconds", "controller_runtime_webhook_requests_total"),
    "member-agent": ("leader_election_master_status", "argosy_connection_good", "argosy_state_file_good",
                     "fleet_manifest_processing_requests_total", "argosy_hub_token_expiry_timestamp_seconds",
                     "argosy_hub_token_renewal_timestamp_seconds", "argosy_object_sets", "process_start_time_seconds"),
}


def metrics(*paths):
    for chart, path in zip(CHARTS, paths):
        check(f"{chart}: what is named is given out", not_given_out(chart, path))
        _, labels = given_out(read(path))
        check(f"{chart}: series are there", (f"no series of {n}" for n in ALWAYS[chart] if n not in labels))


if __name__ == "__main__":
    {"files": files, "promtool": promtool, "metrics": metrics}[sys.argv[1]](*sys.argv[2:])
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
