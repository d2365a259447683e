"""A large fleet as a hub's API server would have it, without agents: members, placements with statuses, bindings. Nothing
acts on them, so they stay as they are written.

The same seed gives the same fleet; only times are counted from now, so that heartbeats are fresh."""
import base64
import datetime
import hashlib
import random
import time

REGIONS = ["eu-west", "eu-north", "us-east", "us-west", "ap-south", "ap-east", "sa-east"]
ENVIRONMENTS = ["prod", "prod", "prod", "staging", "dev"]
TIERS = ["core", "edge", "edge", "spot"]
VERSIONS = ["v1.30.4", "v1.31.2", "v1.31.6", "v1.32.1"]
TEAMS = ["shop", "search", "billing", "media", "observability"]
API = "placement.kubernetes-fleet.io/v1beta1"
PREFIX = "ClusterResourcePlacement"

# How a cluster stands with a placement, and how often.
STANDINGS = {"available": 80, "applying": 4, "failed": 4, "unavailable": 3, "drifted": 4, "differs": 3, "waiting": 2}
# How a member is, and how often.
HEALTH = {"well": 92, "silent": 2, "unhealthy": 2, "left": 2, "new": 2}


class Numbers:
    """Chance from a seed and a name: a thing is the same whatever else is made."""

    def __init__(self, seed, now):
        self.seed = seed
        self.now = now

    def of(self, name):
        return random.Random(f"{self.seed}/{name}")

    def time(self, ago=0):
        at = datetime.datetime.fromtimestamp(int(self.now - ago), datetime.timezone.utc)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def one_of(chance, shares):
    return chance.choices(list(shares), list(shares.values()))[0]


def condition(kind, status, reason, message, when):
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": when,
            "observedGeneration": 1}


# ---- members ----

def member_name(i):
    """The name of the i-th member, from 0."""
    return f"{REGIONS[i % len(REGIONS)]}-{ENVIRONMENTS[i % len(ENVIRONMENTS)]}-{i:04d}"


def usage(chance, nodes, when):
    """What a cluster of so many nodes has, and has left."""
    cores, memory = nodes * 8, nodes * 32
    left = chance.uniform(0.05, 0.7)
    return {"capacity": {"cpu": str(cores), "memory": f"{memory}Gi"},
            "allocatable": {"cpu": f"{cores * 950}m", "memory": f"{memory * 92 // 100}Gi"},
            "available": {"cpu": f"{int(cores * 950 * left)}m", "memory": f"{int(memory * 0.92 * left)}Gi"},
            "observationTime": when}


def properties(chance, nodes, tier, when):
    cost = {"core": 0.042, "edge": 0.055, "spot": 0.013}[tier] * chance.uniform(0.9, 1.2)
    values = {"kubernetes-fleet.io/node-count": nodes, "k8s.io/k8s-version": chance.choice(VERSIONS),
              "kubernetes.azure.com/per-cpu-core-cost": f"{cost:.3f}", "kubernetes.azure.com/per-gb-memory-cost": f"{cost / 4:.3f}"}
    return {name: {"value": str(value), "observationTime": when} for name, value in values.items()}


def agent(health, numbers, joined):
    """What the member's agent last said of itself."""
    heartbeat = numbers.time({"silent": 1500, "left": 4000}.get(health, 10))
    well = condition("Healthy", "True", "InternalMemberClusterHealthy", "", joined)
    if health == "unhealthy":
        well = condition("Healthy", "False", "InternalMemberClusterUnhealthy", "the API server of the member does not answer",
                         numbers.time(900))
    there = condition("Joined", "True", "InternalMemberClusterJoined", "", joined)
    if health == "left":
        there = condition("Joined", "False", "InternalMemberClusterLeft", "", heartbeat)
    return {"type": "MemberAgent", "conditions": [there, well], "lastReceivedHeartbeat": heartbeat}


def member(numbers, i):
    """The i-th MemberCluster with its status."""
    name = member_name(i)
    chance = numbers.of(name)
    tier = chance.choice(TIERS)
    health = one_of(chance, HEALTH)
    document = {"apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
                "metadata": {"name": name, "labels": {"region": REGIONS[i % len(REGIONS)], "tier": tier,
                                                      "env": ENVIRONMENTS[i % len(ENVIRONMENTS)]}},
                "spec": {"identity": {"kind": "User", "name": f"{name}-agent", "apiGroup": "rbac.authorization.k8s.io"},
                         "heartbeatPeriodSeconds": 60}}
    if tier == "spot" or chance.random() < 0.04:
        key, value = ("spot", "true") if tier == "spot" else ("maintenance", "planned")
        document["spec"]["taints"] = [{"key": key, "value": value, "effect": "NoSchedule"}]
    document["status"] = member_status(numbers, chance, health, tier)
    return document


def member_status(numbers, chance, health, tier):
    joined, when = numbers.time(86400 * chance.randint(1, 300)), numbers.time(30)
    ready = condition("ReadyToJoin", "True", "MemberClusterReadyToJoin", "", joined)
    if health == "new":
        return {"conditions": [ready]}
    nodes = chance.choice([1, 3, 3, 5, 8, 20, 60])
    there = ("False", "MemberClusterLeft") if health == "left" else ("True", "MemberClusterJoined")
    return {"conditions": [ready, condition("Joined", *there, "", joined),
                           condition("ClusterPropertyCollectionSucceeded", "True", "PropertiesCollected", "", joined)],
            "properties": properties(chance, nodes, tier, when), "resourceUsage": usage(chance, nodes, when),
            "agentStatus": [agent(health, numbers, joined)]}


# ---- where a cluster stands with a placement ----

STEPS = [("RolloutStarted", "RolloutStarted", "Detected the new changes on the resources and started the rollout process"),
         ("Overridden", "NoOverrideSpecified", "No override rules are configured for the selected resources"),
         ("WorkSynchronized", "AllWorkSynced", "All of the works are synchronized to the latest"),
         ("Applied", "AllWorkHaveBeenApplied", "All corresponding work objects are applied"),
         ("Available", "AllWorkAreAvailable", "All corresponding work objects are available")]
ENDS = {  # how far it came, and what stands at its last step instead
    "applying": (3, "False", "ApplyInProgress", "In the process of applying the resources"),
    "failed": (3, "False", "NotAllWorkHaveBeenApplied", "Work object web-work has failed to apply"),
    "unavailable": (4, "False", "NotAllWorkAreAvailable", "Work object web-work is not available yet"),
    "waiting": (0, "False", "RolloutNotStartedYet", "The rollout is being blocked by the rollout strategy"),
}


def steps(standing, when):
    """The conditions of a binding that stands so."""
    if standing not in ENDS:
        return [condition(kind, "True", reason, message, when) for kind, reason, message in STEPS]
    n, status, reason, message = ENDS[standing]
    return steps("available", when)[:n] + [condition(STEPS[n][0], status, reason, message, when)]


def workload(placement):
    return {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": placement, "name": "web"}


def trouble(placement, standing, numbers, when):
    """The objects that failed, drifted or differ there."""
    seen = {"observationTime": numbers.time(40), "targetClusterObservedGeneration": 3}
    if standing == "failed":
        return {"failedPlacements": [{**workload(placement), "condition": condition(
            "Applied", "False", "ManifestApplyFailed",
            'Failed to apply the manifest (error: admission webhook "policy.example" denied the request: no limits are set)', when)}]}
    if standing == "unavailable":
        return {"failedPlacements": [{**workload(placement), "condition": condition(
            "Available", "False", "ManifestNotAvailableYet", "Manifest is not yet available; Fleet will check again later", when)}]}
    if standing == "drifted":
        return {"driftedPlacements": [{**workload(placement), **seen, "firstDriftedObservedTime": when,
                                       "observedDrifts": [{"path": "/spec/replicas", "valueInHub": "3", "valueInMember": "5"}]}]}
    if standing == "differs":
        return {"diffedPlacements": [{"version": "v1", "kind": "ConfigMap", "namespace": placement, "name": "settings", **seen,
                                      "firstDiffedObservedTime": when,
                                      "observedDiffs": [{"path": "/data/level", "valueInHub": "info", "valueInMember": "debug"}]}]}
    return {}


# ---- placements ----

def placement_name(i):
    """The name of the i-th placement, from 0."""
    return f"{TEAMS[i % len(TEAMS)]}-{i:04d}"


class Placement:
    """One placement: where it is, and how it stands there."""

    def __init__(self, numbers, i, clusters, per_placement):
        self.numbers = numbers
        self.name = placement_name(i)
        chance = numbers.of(self.name)
        self.when = numbers.time(chance.randint(60, 86400))
        picked = sorted(chance.sample(range(clusters), min(per_placement, clusters)))
        well = chance.random() < 0.7  # most have no trouble anywhere
        self.standings = {member_name(c): "available" if well else one_of(chance, STANDINGS) for c in picked}
        self.missing = 1 if chance.random() < 0.03 else 0
        self.policy = self._policy(chance, per_placement == clusters)

    def _policy(self, chance, everywhere):
        kind = "PickAll" if everywhere else chance.choice(["PickN", "PickN", "PickFixed"])
        if self.missing or (kind == "PickFixed" and len(self.standings) > 100):
            kind = "PickN"
        if kind == "PickFixed":
            return {"placementType": kind, "clusterNames": list(self.standings)}
        if kind == "PickAll":
            return {"placementType": kind}
        return {"placementType": kind, "numberOfClusters": len(self.standings) + self.missing,
                "tolerations": [{"key": "spot", "operator": "Exists"}]}

    def selected(self):
        return [{"version": "v1", "kind": "Namespace", "name": self.name}, workload(self.name),
                {"version": "v1", "kind": "ConfigMap", "namespace": self.name, "name": "settings"}]

    def per_cluster(self, cluster, standing):
        picked = condition("Scheduled", "True", "Scheduled", f'Successfully scheduled resources for placement in "{cluster}": picked by scheduling policy', self.when)
        return {"clusterName": cluster, "observedResourceIndex": "0", "conditions": [picked, *steps(standing, self.when)],
                **trouble(self.name, standing, self.numbers, self.when)}

    def unscheduled(self):
        return {"conditions": [condition("Scheduled", "False", "ScheduleFailed", "no cluster is left that fits", self.when)]}

    def conditions(self):
        """Of the whole: each step as it stands in the clusters that are behind, up to the first that is not done."""
        n = len(self.standings)
        scheduled = ("False", "SchedulingPolicyUnfulfilled", f"could not find all clusters needed as specified by the scheduling policy, found {n} cluster(s) instead") \
            if self.missing else ("True", "SchedulingPolicyFulfilled", f"found all cluster needed as specified by the scheduling policy, found {n} cluster(s)")
        found = [condition(PREFIX + "Scheduled", *scheduled, self.when)]
        for step, whole in enumerate(WHOLE):
            behind = sum(1 for s in self.standings.values() if s in ENDS and ENDS[s][0] == step)
            if behind:
                return [*found, condition(PREFIX + STEPS[step][0], "False", whole[2], whole[3].format(n=behind), self.when)]
            found.append(condition(PREFIX + STEPS[step][0], "True", whole[0], whole[1].format(n=n), self.when))
        return found

    def document(self):
        return {"apiVersion": API, "kind": PREFIX, "metadata": {"name": self.name, "labels": {"team": self.name.rpartition("-")[0]}},
                "spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": self.name}],
                         "policy": self.policy, "strategy": {"type": "RollingUpdate"}},
                "status": {"observedResourceIndex": "0", "selectedResources": self.selected(), "conditions": self.conditions(),
                           "placementStatuses": [self.per_cluster(c, s) for c, s in self.standings.items()] + [self.unscheduled()] * self.missing}}

    # ---- what stands behind it ----

    def labels(self, **more):
        return {"kubernetes-fleet.io/parent-CRP": self.name, **{"kubernetes-fleet.io/" + k.replace("_", "-"): v for k, v in more.items()}}

    def policy_snapshot(self):
        digest = hashlib.sha256(repr(self.policy).encode()).hexdigest()
        decisions = [{"clusterName": c, "selected": True, "reason": "picked by scheduling policy"} for c in self.standings]
        annotations = {"kubernetes-fleet.io/CRP-generation": "1"}
        if "numberOfClusters" in self.policy:
            annotations["kubernetes-fleet.io/number-of-clusters"] = str(self.policy["numberOfClusters"])
        return {"apiVersion": API, "kind": "ClusterSchedulingPolicySnapshot",
                "metadata": {"name": f"{self.name}-0", "labels": self.labels(is_latest_snapshot="true", policy_index="0"), "annotations": annotations},
                "spec": {"policy": self.policy, "policyHash": base64_of(digest)},
                "status": {"observedCRPGeneration": 1, "targetClusters": decisions[:1000],
                           "conditions": [{**self.conditions()[0], "type": "Scheduled"}]}}

    def resource_snapshot(self):
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}},
                   {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": self.name}, "data": {"level": "info"}},
                   {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": self.name},
                    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                             "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1.0"}]}}}}]
        return {"apiVersion": API, "kind": "ClusterResourceSnapshot",
                "metadata": {"name": f"{self.name}-0-snapshot", "labels": self.labels(is_latest_snapshot="true", resource_index="0"),
                             "annotations": {"kubernetes-fleet.io/resource-hash": hashlib.sha256(self.name.encode()).hexdigest(),
                                             "kubernetes-fleet.io/number-of-resource-snapshots": "1",
                                             "kubernetes-fleet.io/number-of-enveloped-object": "0"}},
                "spec": {"selectedResources": objects}}

    def binding(self, cluster, standing):
        digest = hashlib.sha256(f"{self.name}/{cluster}".encode()).hexdigest()[:8]
        return {"apiVersion": API, "kind": "ClusterResourceBinding",
                "metadata": {"name": f"{self.name[:26]}-{cluster[:27]}-{digest}", "labels": self.labels()},
                "spec": {"state": "Scheduled" if standing == "waiting" else "Bound", "targetCluster": cluster,
                         "resourceSnapshotName": "" if standing == "waiting" else f"{self.name}-0-snapshot",
                         "schedulingPolicySnapshotName": f"{self.name}-0",
                         "clusterDecision": {"clusterName": cluster, "selected": True, "reason": "picked by scheduling policy"}},
                "status": {"conditions": steps(standing, self.when), **trouble(self.name, standing, self.numbers, self.when)}}


WHOLE = [  # of each step: reason and message when all clusters are there, and when n are not
    ("RolloutStarted", "All {n} cluster(s) start rolling out the latest resource",
     "RolloutNotStartedYet", "The rollout is being blocked by the rollout strategy in {n} cluster(s)"),
    ("NoOverrideSpecified", "No override rules are configured for the selected resources", "OverriddenFailed", ""),
    ("WorkSynchronized", "Work(s) are successfully created or updated in {n} target cluster(s)' namespaces", "WorkNotSynchronizedYet", ""),
    ("ApplySucceeded", "The selected resources are successfully applied to {n} cluster(s)",
     "ApplyFailed", "Failed to apply resources to {n} cluster(s), please check the `failedPlacements` status"),
    ("ResourceAvailable", "The selected resources in {n} cluster(s) are available now",
     "ResourceNotAvailableYet", "The selected resources in {n} cluster(s) are still not available yet"),
]


def base64_of(text):
    return base64.b64encode(text.encode()).decode()


def bulk(hub, clusters=1000, placements=1000, per_placement=5, bindings=(), seed=1, now=None):
    """Fills a hub that has no agents: so many members and placements, each on so many members. Of the placements with the
    numbers in `bindings` (from 0) also the bindings and the latest snapshots, not the Works. Returns the Placements."""
    numbers = Numbers(seed, time.time() if now is None else now)
    made = [Placement(numbers, i, clusters, per_placement) for i in range(placements)]
    hub.api.put_all("memberclusters", (member(numbers, i) for i in range(clusters)))
    hub.api.put_all("clusterresourceplacements", (p.document() for p in made))
    told = [made[i] for i in bindings]
    hub.api.put_all("clusterschedulingpolicysnapshots", (p.policy_snapshot() for p in told))
    hub.api.put_all("clusterresourcesnapshots", (p.resource_snapshot() for p in told))
    hub.api.put_all("clusterresourcebindings", (p.binding(c, s) for p in told for c, s in p.standings.items()))
    return made
