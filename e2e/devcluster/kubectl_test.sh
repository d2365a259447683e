#!/usr/bin/env bash
# Runs a fixed set of kubectl lines against a fresh devcluster and compares what they print. Each `check` is a test:
#     check 'name' 'what the output must match (extended regular expression, whole output)' kubectl arguments...
# Ends with `N passed, N failed`.
# shellcheck disable=SC2016 # $ and ` in single quotes are those of templates and of answers
set -u
cd "$(dirname "$0")/../.." || exit 1

command -v kubectl >/dev/null || { echo "no kubectl on PATH: all skipped"; echo "0 passed, 0 failed"; exit 0; }

work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig HOME=$work
build/bin/devcluster -port 0 -clusters hub,member -no-sync -kubeconfig "$KUBECONFIG" >"$work/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 6000); do
        grep -q ready "$work/log" && break
        kill -0 "$server" 2>/dev/null || { cat "$work/log"; echo "devcluster did not start"; echo "0 passed, 1 failed"; exit 1; }
        read -r -t 0.1 <> <(:) || true
done

passed=0
failed=0
# Old versions of kubectl read Endpoints to describe Services, and are warned as by every API server since 1.33.
run() {
        timeout 900 kubectl "$@" 2>&1 | sed '/^Warning: v1 Endpoints is deprecated/d'
        return "${PIPESTATUS[0]}"
}

verdict() { # name, expected, output
        if [[ $3 =~ ^$2$ ]]; then
                passed=$((passed + 1))
        else
                failed=$((failed + 1))
                printf 'FAILED %s\n--- wanted\n%s\n--- got\n%s\n' "$1" "$2" "$3"
        fi
}

check() {
        local name=$1 want=$2
        shift 2
        verdict "$name" "$want" "$(run "$@")"
}

# The same for what not every kubectl can: `has PARENT NAME` looks for the subcommand in the parent's help.
has() { kubectl "$1" --help 2>/dev/null | grep -Eq "^ +(kubectl )?$2 "; }
check_if() {
        local needs=$1
        shift
        # shellcheck disable=SC2086
        if has $needs; then
                check "$@"
        else
                echo "skipped $1: this kubectl has no \`kubectl $needs\`"
        fi
}

apply() { # manifest on stdin
        local name=$1 want=$2
        verdict "$name" "$want" "$(timeout 900 kubectl apply -f - 2>&1)"
}

any='.*'
robot=system:serviceaccount:default:robot

# ---- the cluster ----
check 'namespaces' "NAME +STATUS +AGE
default +Active +[0-9]+s
kube-node-lease +Active +[0-9]+s
kube-public +Active +[0-9]+s
kube-system +Active +[0-9]+s" get namespaces
check 'kubernetes service' "NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE
kubernetes +ClusterIP +10.96.0.1 +<none> +443/TCP +[0-9]+s" get services
check 'version' "${any}Server Version${any}" version
check 'contexts' "hub
member" config get-contexts -o name
check 'health' "ok" get --raw /readyz
check 'api resources' "${any}configmaps${any}deployments.apps${any}roles.rbac.authorization.k8s.io${any}" api-resources -o name

# ---- deployments ----
check 'create deployment' 'deployment.apps/web created' create deployment web --image=nginx:1
check 'rollout status' '.*deployment "web" successfully rolled out' rollout status deployment/web --timeout=600s
check 'wait for condition' 'deployment.apps/web condition met' wait --for=condition=Available deployment/web --timeout=600s
check 'scale' 'deployment.apps/web scaled' scale deployment web --replicas=3
check 'rollout after scaling' '.*successfully rolled out' rollout status deployment/web --timeout=600s
check 'get wide' "NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR
web +3/3 +3 +3 +[0-9]+s +nginx +nginx:1 +app=web" get deployments -o wide
check 'set image' 'deployment.apps/web image updated' set image deployment/web nginx=nginx:2
check 'rollout after a new image' '.*successfully rolled out' rollout status deployment/web --timeout=600s
check 'revision' '2' get deployment web -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}'
check 'describe deployment' "${any}3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable${any}MinimumReplicasAvailable${any}NewReplicaSetAvailable${any}" \
        describe deployment web
check 'expose' 'service/web exposed' expose deployment web --port=80
check 'service address' '10\.96\.[0-9]+\.[0-9]+' get service web -o 'jsonpath={.spec.clusterIP}'
check 'label' 'deployment.apps/web labeled' label deployment web tier=front
check 'select by label' 'deployment.apps/web' get deployments -l tier=front -o name
check 'annotate' 'deployment.apps/web annotated' annotate deployment web note=hello
check 'patch' 'deployment.apps/web patched' patch deployment web -p '{"spec":{"revisionHistoryLimit":3}}'

# ---- one of every kind ----
apply 'apply one of each kind' "node/n1 created
pod/p created
statefulset.apps/s created
daemonset.apps/d created
replicaset.apps/r created
job.batch/j created
ingress.networking.k8s.io/i created
persistentvolumeclaim/c created
service/lb created
secret/token created
configmap/settings created" <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: nginx}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec: {replicas: 2, serviceName: s, selector: {matchLabels: {a: s}}, template: {metadata: {labels: {a: s}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec: {selector: {matchLabels: {a: d}}, template: {metadata: {labels: {a: d}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: r}
spec: {selector: {matchLabels: {a: r}}, template: {metadata: {labels: {a: r}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: lb}
spec: {type: LoadBalancer, ports: [{port: 80}], selector: {a: s}}
---
apiVersion: v1
kind: Secret
metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: value}
YAML
check 'pod becomes ready' 'pod/p condition met' wait --for=condition=Ready pod/p --timeout=600s
check 'pod table' "NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES
p +1/1 +Running +0 +[0-9]+s +10\.244\.[0-9.]+ +n1 +<none> +<none>" get pods -o wide
check 'logs' '.*simulated' logs p
check 'exec is refused with the reason' '.*pods are simulated; there is no container to run a command in.*' exec p -- ls
check 'port-forward is refused with the reason' '.*pods are simulated; there is no container to forward a port to.*' port-forward p 1:1
check 'stateful set' '.*2 new pods have been updated...' rollout status statefulset/s --timeout=600s
check 'daemon set' '.*daemon set "d" successfully rolled out' rollout status daemonset/d --timeout=600s
check 'job completes' 'job.batch/j condition met' wait --for=condition=Complete job/j --timeout=600s
check 'node is ready' 'node/n1 condition met' wait --for=condition=Ready node/n1 --timeout=600s
check 'claim is bound' 'Bound' get persistentvolumeclaim c -o 'jsonpath={.status.phase}'
check 'load balancer' '172\.18\.[0-9.]+' get service lb -o 'jsonpath={.status.loadBalancer.ingress[0].ip}'
check 'token secret' 'ca.crt namespace token ' get secret token -o 'go-template={{range $k, $v := .data}}{{$k}} {{end}}'
check 'apply again' 'configmap/settings unchanged' apply -f - <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: value}
YAML
apply 'apply a change' 'configmap/settings configured' <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: other}
YAML
for kind in pod/p statefulset/s daemonset/d replicaset/r job/j ingress/i persistentvolumeclaim/c service/lb node/n1 \
        secret/token configmap/settings namespace/default serviceaccount/default clusterrole/view; do
        check "describe $kind" "Name: ${any}" describe "$kind"
done

# ---- mistakes ----
check 'not found' 'Error from server \(NotFound\): configmaps "none" not found' get configmap none
check 'already exists' '.*configmaps "settings" already exists' create configmap settings
apply 'selector does not match' 'The Deployment "bad" is invalid: .*`selector` does not match template `labels`' <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: [{name: c, image: i}]}}}
YAML
apply 'image is missing' 'The Pod "bad" is invalid: spec.containers\[0\].image: Required value' <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec: {containers: [{name: c}]}
YAML

# ---- who may what ----
check 'administrator may' 'yes' auth can-i create pods
check 'service account' 'serviceaccount/robot created' create serviceaccount robot
check 'robot may not yet' 'no' auth can-i list pods --as="$robot"
check 'bind view' 'rolebinding.rbac.authorization.k8s.io/robot created' \
        create rolebinding robot --clusterrole=view --serviceaccount=default:robot
check 'robot may list' 'yes' auth can-i list pods --as="$robot"
check 'robot may not delete' 'no' auth can-i delete pods --as="$robot"
check 'what robot may' "Resources +Non-Resource URLs +Resource Names +Verbs${any}pods +\[\] +\[\] +\[get list watch\]${any}" \
        auth can-i --list --as="$robot"
check 'forbidden in words' "Error from server \(Forbidden\): secrets is forbidden: User \"$robot\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\"" \
        get secrets --as="$robot"
check_if 'create token' 'create token' 'ey[A-Za-z0-9_.-]+' create token robot --duration=20m
if has create token; then
        token=$(run create token robot)
        server_url=$(run config view --raw -o 'jsonpath={.clusters[?(@.name=="hub")].cluster.server}')
        as_robot=(--kubeconfig=/dev/null --server="$server_url" --insecure-skip-tls-verify --token="$token")
        check 'token works' "NAME +READY +STATUS${any}p +1/1${any}" "${as_robot[@]}" get pods
        check 'token is bounded by RBAC' ".*pods \"p\" is forbidden: User \"$robot\" cannot delete resource${any}" \
                "${as_robot[@]}" delete pod p
        check 'bad token' '.*(Unauthorized|You must be logged in to the server).*' \
                --kubeconfig=/dev/null --server="$server_url" --insecure-skip-tls-verify --token=bad get pods
fi
check_if 'auth whoami' 'auth whoami' "ATTRIBUTE +VALUE
Username +kubernetes-admin
Groups +\[system:masters system:authenticated\]${any}" auth whoami

# ---- the end ----
check 'delete' 'deployment.apps "web" deleted.*' delete deployment web
check 'namespace' 'namespace/gone created' create namespace gone
check 'delete namespace' 'namespace "gone" deleted' delete namespace gone --timeout=600s
check 'the other cluster is another one' 'No resources found in default namespace.' --context=member get deployments

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
