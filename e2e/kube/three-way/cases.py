"""Edits of manifests as people make them: what `record` plays to kubectl.

A case is a manifest, what somebody else changes in the cluster meanwhile (a merge patch, or None), and the manifest
that is applied then. Names are unique."""
import copy

CASES = []


def case(name, base, edit, live=None):
    """edit changes a copy of the manifest in place; live is a merge patch of the object in the cluster."""
    changed = copy.deepcopy(base)
    edit(changed)
    assert name not in [c["name"] for c in CASES], name
    CASES.append({"name": name, "first": copy.deepcopy(base), "live": live, "then": changed})


def at(document, path):
    for part in path:
        document = document[part]
    return document


def put(*path):
    """put("spec", "replicas", 3): the last one is the value."""
    *way, key, value = path
    return lambda d: at(d, way).__setitem__(key, value)


def drop(*path):
    *way, key = path
    return lambda d: at(d, way).__delitem__(key)


def add(*path):
    *way, value = path
    return lambda d: at(d, way).append(value)


def insert(*path):
    *way, value = path
    return lambda d: at(d, way).insert(0, value)


def turn(*path):
    return lambda d: at(d, path).reverse()


def clear(*path):
    return lambda d: at(d, path).clear()


def both(*edits):
    def run(d):
        for e in edits:
            e(d)
    return run


def nothing(_):
    pass


# ---- Deployment ----

POD = ("spec", "template", "spec")
FIRST = POD + ("containers", 0)
web = {
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "team": "shop"},
                 "annotations": {"contact": "shop@example.com"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": {"scrape": "true"}},
            "spec": {
                "terminationGracePeriodSeconds": 30,
                "nodeSelector": {"disk": "ssd"},
                "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}],
                "imagePullSecrets": [{"name": "registry"}],
                "initContainers": [{"name": "migrate", "image": "example.com/migrate:1"}],
                "containers": [
                    {"name": "web", "image": "example.com/web:1", "args": ["--port", "8080"],
                     "ports": [{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}],
                     "env": [{"name": "MODE", "value": "fast"}, {"name": "LEVEL", "value": "info"}],
                     "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
                     "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5},
                     "volumeMounts": [{"name": "config", "mountPath": "/etc/web"},
                                      {"name": "cache", "mountPath": "/cache"}]},
                    {"name": "log", "image": "example.com/log:1"}],
                "volumes": [{"name": "config", "configMap": {"name": "web"}}, {"name": "cache", "emptyDir": {}}],
                "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                               "labelSelector": {"matchLabels": {"app": "web"}}}],
                "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": {"topologyKey": "zone",
                                                      "labelSelector": {"matchLabels": {"app": "web"}}}}]}},
                "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a", "b"]}],
                "securityContext": {"runAsNonRoot": True, "runAsUser": 1000},
            }}}}
sidecar = {"name": "sidecar", "image": "example.com/sidecar:1"}
for name, edit in {
        "nothing": nothing,
        "replicas": put("spec", "replicas", 5),
        "replicas not given any more": drop("spec", "replicas"),
        "a default that is given now": put("spec", "revisionHistoryLimit", 10),
        "another than the default": put("spec", "revisionHistoryLimit", 3),
        "minReadySeconds": put("spec", "minReadySeconds", 5),
        "paused": put("spec", "paused", True),
        "a label more": put("metadata", "labels", "tier", "front"),
        "a label less": drop("metadata", "labels", "team"),
        "a label changed": put("metadata", "labels", "team", "web"),
        "no labels": drop("metadata", "labels"),
        "labels empty": clear("metadata", "labels"),
        "an annotation changed": put("metadata", "annotations", "contact", "web@example.com"),
        "no annotations": drop("metadata", "annotations"),
        "annotations of pods": put("spec", "template", "metadata", "annotations", "restarted", "today"),
        "finalizers": put("metadata", "finalizers", ["example.com/guard"]),
        "image": put(*FIRST, "image", "example.com/web:2"),
        "args longer": add(*FIRST, "args", "--verbose"),
        "args gone": drop(*FIRST, "args"),
        "args empty": clear(*FIRST, "args"),
        "a command": put(*FIRST, "command", ["/web"]),
        "an env more": add(*FIRST, "env", {"name": "ZONE", "value": "a"}),
        "an env less": drop(*FIRST, "env", 0),
        "an env changed": put(*FIRST, "env", 0, "value", "slow"),
        "an env from elsewhere": put(*FIRST, "env", 0, {"name": "MODE", "valueFrom": {
            "configMapKeyRef": {"name": "web", "key": "mode"}}}),
        "env in another order": turn(*FIRST, "env"),
        "an env in front": insert(*FIRST, "env", {"name": "FIRST", "value": "1"}),
        "no env": drop(*FIRST, "env"),
        "env empty": clear(*FIRST, "env"),
        "an env with an empty value": put(*FIRST, "env", 0, "value", ""),
        "envFrom": put(*FIRST, "envFrom", [{"secretRef": {"name": "web"}}]),
        "a port more": add(*FIRST, "ports", {"name": "admin", "containerPort": 8081}),
        "a port less": drop(*FIRST, "ports", 1),
        "a port's number": put(*FIRST, "ports", 1, "containerPort", 9091),
        "a port's name": put(*FIRST, "ports", 1, "name", "prom"),
        "ports in another order": turn(*FIRST, "ports"),
        "one port twice with two protocols": add(*FIRST, "ports", {"name": "http-udp", "containerPort": 8080,
                                                                    "protocol": "UDP"}),
        "a container more": add(*POD, "containers", sidecar),
        "a container in front": insert(*POD, "containers", sidecar),
        "a container less": drop(*POD, "containers", 1),
        "a container renamed": put(*POD, "containers", 1, "name", "logs"),
        "containers in another order": turn(*POD, "containers"),
        "an init container more": add(*POD, "initContainers", {"name": "wait", "image": "example.com/wait:1"}),
        "no init containers": drop(*POD, "initContainers"),
        "requests": put(*FIRST, "resources", "requests", "cpu", "250m"),
        "a limit more": put(*FIRST, "resources", "limits", "cpu", "1"),
        "no limits": drop(*FIRST, "resources", "limits"),
        "an equal quantity": put(*FIRST, "resources", "requests", "cpu", "0.1"),
        "no resources": drop(*FIRST, "resources"),
        "a probe's path": put(*FIRST, "readinessProbe", "httpGet", "path", "/up"),
        "another handler of a probe": put(*FIRST, "readinessProbe", {"tcpSocket": {"port": 8080}, "periodSeconds": 5}),
        "a probe more": put(*FIRST, "livenessProbe", {"httpGet": {"path": "/live", "port": "http"}}),
        "no probe": drop(*FIRST, "readinessProbe"),
        "a probe's port by name": put(*FIRST, "readinessProbe", "httpGet", "port", "http"),
        "a mount more": add(*FIRST, "volumeMounts", {"name": "cache", "mountPath": "/tmp"}),
        "a mount less": drop(*FIRST, "volumeMounts", 1),
        "a mount's path": put(*FIRST, "volumeMounts", 1, "mountPath", "/var/cache"),
        "a volume more": add(*POD, "volumes", {"name": "data", "emptyDir": {"medium": "Memory"}}),
        "another kind of volume": put(*POD, "volumes", 0, {"name": "config", "secret": {"secretName": "web"}}),
        "items of a volume": put(*POD, "volumes", 0, "configMap", "items", [{"key": "a", "path": "b"}]),
        "volumes in another order": turn(*POD, "volumes"),
        "a volume and its mount less": both(drop(*POD, "volumes", 1), drop(*FIRST, "volumeMounts", 1)),
        "Recreate": put("spec", "strategy", {"type": "Recreate"}),
        "maxSurge in percent": put("spec", "strategy", "rollingUpdate", "maxSurge", "25%"),
        "no strategy": drop("spec", "strategy"),
        "a toleration more": add(*POD, "tolerations", {"key": "gpu", "operator": "Exists"}),
        "a toleration changed": put(*POD, "tolerations", 0, "effect", "NoExecute"),
        "no tolerations": drop(*POD, "tolerations"),
        "tolerations empty": clear(*POD, "tolerations"),
        "nodeSelector": put(*POD, "nodeSelector", {"disk": "hdd"}),
        "another key of nodeSelector": put(*POD, "nodeSelector", {"arch": "arm64"}),
        "no nodeSelector": drop(*POD, "nodeSelector"),
        "a pull secret more": add(*POD, "imagePullSecrets", {"name": "mirror"}),
        "another pull secret": put(*POD, "imagePullSecrets", [{"name": "mirror"}]),
        "a spread more": add(*POD, "topologySpreadConstraints", {
            "maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"}),
        "a spread's answer": put(*POD, "topologySpreadConstraints", 0, "whenUnsatisfiable", "ScheduleAnyway"),
        "affinity's weight": put(*POD, "affinity", "podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution",
                                 0, "weight", 50),
        "no affinity": drop(*POD, "affinity"),
        "a host alias changed": put(*POD, "hostAliases", 0, "hostnames", ["c"]),
        "a host alias more": add(*POD, "hostAliases", {"ip": "10.0.0.2", "hostnames": ["d"]}),
        "runAsUser": put(*POD, "securityContext", {"runAsNonRoot": True, "fsGroup": 5}),
        "a service account": put(*POD, "serviceAccountName", "web"),
        "hostNetwork": put(*POD, "hostNetwork", True),
        "a priority class": put(*POD, "priorityClassName", "high"),
        "grace period": put(*POD, "terminationGracePeriodSeconds", 5),
        "lifecycle": put(*FIRST, "lifecycle", {"preStop": {"exec": {"command": ["sleep", "5"]}}}),
        "pull policy": put(*FIRST, "imagePullPolicy", "Always"),
        "null for a block": put(*POD, "affinity", None),
        "null for a number": put("spec", "replicas", None),
        "much at once": both(put("spec", "replicas", 4), put(*FIRST, "image", "example.com/web:3"),
                             drop(*FIRST, "env", 1), add(*POD, "containers", sidecar),
                             put("metadata", "labels", "tier", "front"), drop(*POD, "nodeSelector")),
}.items():
    case("Deployment: " + name, web, edit)

# Somebody else wrote to the object before the next apply.
AUTOSCALED = {"spec": {"replicas": 7}}
INJECTED = {"spec": {"template": {"spec": {"containers": web["spec"]["template"]["spec"]["containers"] + [
    {"name": "injected", "image": "example.com/injected:1"}]}}}}
for name, live, edit in (
        ("scaled, and applied again", AUTOSCALED, nothing),
        ("scaled, then an image", AUTOSCALED, put(*FIRST, "image", "example.com/web:2")),
        ("scaled, then no replicas", AUTOSCALED, drop("spec", "replicas")),
        ("scaled to what is wanted", AUTOSCALED, put("spec", "replicas", 7)),
        ("a container injected, and applied again", INJECTED, nothing),
        ("a container injected, another added", INJECTED, add(*POD, "containers", sidecar)),
        ("a container injected, another removed", INJECTED, drop(*POD, "containers", 1)),
        ("a container injected, order turned", INJECTED, turn(*POD, "containers")),
        ("a container injected, now wanted", INJECTED, add(*POD, "containers", {
            "name": "injected", "image": "example.com/injected:2"})),
        ("a label of others", {"metadata": {"labels": {"other": "x"}}}, put("metadata", "labels", "team", "web")),
        ("a label of others, ours gone", {"metadata": {"labels": {"other": "x"}}}, drop("metadata", "labels")),
        ("our label changed by others", {"metadata": {"labels": {"team": "x"}}}, nothing),
        ("our label removed by others", {"metadata": {"labels": {"team": None}}}, nothing),
        ("our label removed by others and by us", {"metadata": {"labels": {"team": None}}},
         drop("metadata", "labels", "team")),
        ("a finalizer of others", {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}},
         put("metadata", "finalizers", ["example.com/b", "example.com/c"])),
        ("tolerations of others", {"spec": {"template": {"spec": {"tolerations": [{"key": "x"}]}}}}, nothing),
        ("strategy of others", {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}, nothing),
        ("strategy of others, then ours", {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}},
         put("spec", "strategy", "rollingUpdate", "maxSurge", 2)),
        ("nodeSelector of others", {"spec": {"template": {"spec": {"nodeSelector": {"zone": "a"}}}}},
         put(*POD, "nodeSelector", {"disk": "hdd"})),
        ("env of others", {"spec": {"template": {"spec": {"containers": [dict(
            web["spec"]["template"]["spec"]["containers"][0],
            env=[{"name": "EXTRA", "value": "1"}, {"name": "MODE", "value": "fast"},
                 {"name": "LEVEL", "value": "debug"}]),
            web["spec"]["template"]["spec"]["containers"][1]]}}}},
         put(*FIRST, "env", 0, "value", "slow")),
        ("volumes of others", {"spec": {"template": {"spec": {"volumes": [
            {"name": "token", "emptyDir": {}}] + web["spec"]["template"]["spec"]["volumes"]}}}},
         both(drop(*POD, "volumes", 0), drop(*FIRST, "volumeMounts", 0))),
        ("restarted by kubectl", {"spec": {"template": {"metadata": {"annotations": {
            "kubectl.kubernetes.io/restartedAt": "today"}}}}}, put(*FIRST, "image", "example.com/web:2")),
):
    case("Deployment: " + name, web, edit, live)

# ---- Service ----

service = {
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web", "track": "stable"},
             "ports": [{"name": "http", "port": 80, "targetPort": 8080},
                       {"name": "https", "port": 443, "targetPort": "tls"}]}}
for name, edit in {
        "a port more": add("spec", "ports", {"name": "metrics", "port": 9090}),
        "a port less": drop("spec", "ports", 1),
        "a port's number": put("spec", "ports", 0, "port", 81),
        "a target's number": put("spec", "ports", 0, "targetPort", 8081),
        "a target by name": put("spec", "ports", 0, "targetPort", "web"),
        "a port's name": put("spec", "ports", 0, "name", "web"),
        "ports in another order": turn("spec", "ports"),
        "one port with two protocols": add("spec", "ports", {"name": "quic", "port": 443, "protocol": "UDP"}),
        "selector": drop("spec", "selector", "track"),
        "another selector": put("spec", "selector", {"run": "web"}),
        "no selector": drop("spec", "selector"),
        "type": put("spec", "type", "NodePort"),
        "a default given": put("spec", "sessionAffinity", "None"),
        "affinity of sessions": put("spec", "sessionAffinity", "ClientIP"),
        "a node's port": both(put("spec", "type", "NodePort"), put("spec", "ports", 0, "nodePort", 30080)),
        "external addresses": put("spec", "externalIPs", ["192.0.2.1"]),
        "traffic policy": put("spec", "internalTrafficPolicy", "Local"),
}.items():
    case("Service: " + name, service, edit)
case("Service: a port of others", service, put("spec", "ports", 0, "targetPort", 8081),
     {"spec": {"ports": service["spec"]["ports"] + [{"name": "extra", "port": 99}]}})

dns = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns", "namespace": "default"},
       "spec": {"selector": {"app": "dns"}, "ports": [{"name": "dns", "port": 53, "protocol": "UDP"},
                                                      {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]}}
for name, edit in {
        "applied again": put("spec", "selector", "app", "dns2"),
        "a target": put("spec", "ports", 1, "targetPort", 5353),
        "a port more": add("spec", "ports", {"name": "metrics", "port": 9153}),
        "one of the two less": drop("spec", "ports", 0),
}.items():
    case("Service, one number twice: " + name, dns, edit)

# ---- configuration ----

config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"},
          "data": {"mode": "fast", "level": "info", "text": "a\nb\n"}, "binaryData": {"blob": "AAEC"}}
for name, edit in {
        "a key more": put("data", "zone", "a"), "a key less": drop("data", "level"),
        "a key changed": put("data", "mode", "slow"), "a text": put("data", "text", "a\nc\n"),
        "an empty text": put("data", "mode", ""), "no data": drop("data"), "data empty": clear("data"),
        "bytes": put("binaryData", "blob", "AAED"), "immutable": put("immutable", True),
        "null for a key": put("data", "mode", None),
}.items():
    case("ConfigMap: " + name, config, edit)
case("ConfigMap: a key of others", config, drop("data", "mode"), {"data": {"other": "x", "level": "debug"}})
case("ConfigMap: all removed by others", config, put("data", "mode", "slow"), {"data": None})
secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web", "namespace": "default"},
          "data": {"password": "cGFzcw=="}, "stringData": {"user": "me"}}
for name, edit in {
        "data changed": put("data", "password", "cGFzczI="), "text changed": put("stringData", "user", "you"),
        "text gone": drop("stringData"), "a key more": put("data", "token", "eA=="),
        "from text to data": both(drop("stringData"), put("data", "user", "bWU=")),
}.items():
    case("Secret: " + name, secret, edit)
account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "default"},
           "imagePullSecrets": [{"name": "registry"}], "secrets": [{"name": "token"}]}
for name, edit in {"a pull secret more": add("imagePullSecrets", {"name": "mirror"}),
                   "no pull secrets": drop("imagePullSecrets"),
                   "a secret changed": put("secrets", 0, "name", "other"),
                   "no token": put("automountServiceAccountToken", False)}.items():
    case("ServiceAccount: " + name, account, edit)

# ---- other workloads ----

stateful = {
    "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "default"},
    "spec": {"serviceName": "db", "replicas": 3, "selector": {"matchLabels": {"app": "db"}},
             "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
             "template": {"metadata": {"labels": {"app": "db"}},
                          "spec": {"containers": [{"name": "db", "image": "example.com/db:1"}]}},
             "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                 "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}
for name, edit in {"image": put(*FIRST, "image", "example.com/db:2"), "replicas": put("spec", "replicas", 1),
                   "partition": put("spec", "updateStrategy", "rollingUpdate", "partition", 0),
                   "OnDelete": put("spec", "updateStrategy", {"type": "OnDelete"}),
                   "minReadySeconds": put("spec", "minReadySeconds", 3)}.items():
    case("StatefulSet: " + name, stateful, edit)
daemon = {
    "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default"},
    "spec": {"selector": {"matchLabels": {"app": "agent"}},
             "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
                 "containers": [{"name": "agent", "image": "example.com/agent:1", "securityContext": {
                     "capabilities": {"add": ["NET_ADMIN", "SYS_TIME"]}}}],
                 "volumes": [{"name": "host", "hostPath": {"path": "/var/log"}}]}}}}
for name, edit in {"a capability less": drop(*FIRST, "securityContext", "capabilities", "add", 1),
                   "privileged": put(*FIRST, "securityContext", {"privileged": True}),
                   "a host's path": put(*POD, "volumes", 0, "hostPath", "path", "/var"),
                   "update strategy": put("spec", "updateStrategy", {"type": "OnDelete"}),
                   "tolerations": put(*POD, "tolerations", [{"operator": "Exists"}])}.items():
    case("DaemonSet: " + name, daemon, edit)
cron = {
    "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "report", "namespace": "default"},
    "spec": {"schedule": "0 3 * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": {"spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "report", "image": "example.com/report:1", "args": ["daily"]}]}}}}}}
JOB = ("spec", "jobTemplate", "spec")
for name, edit in {"schedule": put("spec", "schedule", "30 3 * * *"), "suspended": put("spec", "suspend", True),
                   "args": put(*JOB, "template", "spec", "containers", 0, "args", ["weekly"]),
                   "back-off": put(*JOB, "backoffLimit", 2),
                   "no policy": drop("spec", "concurrencyPolicy"),
                   "history": put("spec", "successfulJobsHistoryLimit", 0)}.items():
    case("CronJob: " + name, cron, edit)
budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
          "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
for name, edit in {"in percent": put("spec", "minAvailable", "50%"),
                   "the other way round": both(drop("spec", "minAvailable"), put("spec", "maxUnavailable", 1)),
                   "selector": put("spec", "selector", {"matchExpressions": [
                       {"key": "app", "operator": "In", "values": ["web", "api"]}]})}.items():
    case("PodDisruptionBudget: " + name, budget, edit)
scaler = {
    "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"minReplicas": 1, "maxReplicas": 5,
             "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
             "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
                 "type": "Utilization", "averageUtilization": 80}}}]}}
for name, edit in {"bounds": put("spec", "maxReplicas", 9), "no minimum": drop("spec", "minReplicas"),
                   "a metric more": add("spec", "metrics", {"type": "Resource", "resource": {
                       "name": "memory", "target": {"type": "Utilization", "averageUtilization": 70}}}),
                   "a target": put("spec", "metrics", 0, "resource", "target", "averageUtilization", 60),
                   "behaviour": put("spec", "behavior", {"scaleDown": {"stabilizationWindowSeconds": 60}}),
                   }.items():
    case("HorizontalPodAutoscaler: " + name, scaler, edit)

# ---- network, rights, storage ----

ingress = {
    "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"ingressClassName": "nginx", "tls": [{"hosts": ["a.example.com"], "secretName": "a"}],
             "rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {
                 "service": {"name": "web", "port": {"number": 80}}}}]}}]}}
PATHS = ("spec", "rules", 0, "http", "paths")
for name, edit in {"a path more": add(*PATHS, {"path": "/api", "pathType": "Prefix", "backend": {
                       "service": {"name": "api", "port": {"name": "http"}}}}),
                   "a port by name": put(*PATHS, 0, "backend", "service", "port", {"name": "http"}),
                   "a host more": add("spec", "rules", {"host": "b.example.com"}),
                   "no tls": drop("spec", "tls"), "class": put("spec", "ingressClassName", "other")}.items():
    case("Ingress: " + name, ingress, edit)
policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
          "metadata": {"name": "web", "namespace": "default"},
          "spec": {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"],
                   "ingress": [{"from": [{"namespaceSelector": {}}], "ports": [{"port": 80}]}]}}
for name, edit in {"all pods": put("spec", "podSelector", {}), "a type more": add("spec", "policyTypes", "Egress"),
                   "a range": put("spec", "ingress", 0, "from", [{"ipBlock": {"cidr": "10.0.0.0/8"}}]),
                   "nobody": clear("spec", "ingress")}.items():
    case("NetworkPolicy: " + name, policy, edit)
role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "web", "namespace": "default"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}
for name, edit in {"a verb more": add("rules", 0, "verbs", "watch"),
                   "a rule more": add("rules", {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}),
                   "no rules": clear("rules")}.items():
    case("Role: " + name, role, edit)
binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
           "metadata": {"name": "web", "namespace": "default"},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "web"},
           "subjects": [{"kind": "ServiceAccount", "name": "web", "namespace": "default"}]}
for name, edit in {"a subject more": add("subjects", {"kind": "User", "name": "jane",
                                                      "apiGroup": "rbac.authorization.k8s.io"}),
                   "another subject": put("subjects", 0, "name", "api"),
                   "no subjects": drop("subjects")}.items():
    case("RoleBinding: " + name, binding, edit)
claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
         "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
                  "resources": {"requests": {"storage": "1Gi"}}}}
for name, edit in {"labels": put("metadata", "labels", {"a": "b"}),
                   "finalizers": put("metadata", "finalizers", ["example.com/keep"])}.items():
    case("PersistentVolumeClaim: " + name, claim, edit)
quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all", "namespace": "default"},
         "spec": {"hard": {"pods": "10", "requests.cpu": "4"}, "scopes": ["NotTerminating"]}}
for name, edit in {"a bound": put("spec", "hard", "pods", "20"), "a bound as a number": put("spec", "hard", "pods", 20),
                   "a bound less": drop("spec", "hard", "pods")}.items():
    case("ResourceQuota: " + name, quota, edit)
hook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "check"},
        "webhooks": [{"name": n + ".example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                      "failurePolicy": "Ignore", "timeoutSeconds": 5,
                      "clientConfig": {"url": "https://%s.example.com/check" % n},
                      "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"],
                                 "resources": ["things"]}]} for n in ("a", "b")]}
for name, edit in {"a hook less": drop("webhooks", 0), "policy": put("webhooks", 1, "failurePolicy", "Fail"),
                   "an operation more": add("webhooks", 0, "rules", 0, "operations", "UPDATE"),
                   "hooks in another order": turn("webhooks"),
                   "a condition": put("webhooks", 0, "matchConditions", [{"name": "mine", "expression": "true"}]),
                   }.items():
    case("ValidatingWebhookConfiguration: " + name, hook, edit)
case("ValidatingWebhookConfiguration: a condition of others", hook,
     put("webhooks", 0, "matchConditions", [{"name": "mine", "expression": "true"}]),
     {"webhooks": [dict(hook["webhooks"][0], matchConditions=[{"name": "theirs", "expression": "false"}]),
                   hook["webhooks"][1]]})
namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}}
case("Namespace: a label", namespace, put("metadata", "labels", "team", "web"))
case("Namespace: a label of others", namespace, nothing, {"metadata": {"labels": {"team": "x", "y": "z"}}})

# ---- a kind of a definition: merge patches, lists as a whole ----

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced",
             "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "properties": {"spec": {"type": "object",
                                                           "x-kubernetes-preserve-unknown-fields": True}}}}}]}}
thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": "default"},
         "spec": {"size": 1, "ratio": 0.5, "on": True, "names": ["a", "b"], "parts": [{"name": "x", "n": 1}],
                  "map": {"a": {"b": "c"}, "d": "e"}}}
for name, edit in {"a number": put("spec", "size", 2), "a real": put("spec", "ratio", 0.25),
                   "a boolean": put("spec", "on", False), "a list": add("spec", "names", "c"),
                   "an element of a list": put("spec", "parts", 0, "n", 2), "no list": drop("spec", "names"),
                   "an empty list": clear("spec", "names"), "a map": put("spec", "map", "a", {"f": "g"}),
                   "a key less": drop("spec", "map", "d"), "an empty map": clear("spec", "map"),
                   "a text in place of a map": put("spec", "map", "a", "text"),
                   "a map in place of a text": put("spec", "map", "d", {"e": "f"}),
                   "no spec": drop("spec"), "labels": put("metadata", "labels", {"a": "b"})}.items():
    case("Thing: " + name, thing, edit)
case("Thing: fields of others", thing, put("spec", "map", "d", "x"),
     {"spec": {"size": 9, "extra": [1], "map": {"g": "h"}, "names": ["z"]}})
case("Thing: removed by others", thing, drop("spec", "map", "d"), {"spec": {"map": None, "on": None}})
case("Thing: a null for what others set", thing, put("spec", "extra", None), {"spec": {"extra": 1}})
thing_with_null = dict(thing, spec=dict(thing["spec"], extra=None))
case("Thing: a null again for what others set", thing_with_null, put("spec", "size", 2), {"spec": {"extra": 1}})
