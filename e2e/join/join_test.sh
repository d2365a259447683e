#!/usr/bin/env bash
# The join and leave scripts against a hub and two members with real agents as processes.
#
#   e2e/join/join_test.sh devcluster                     on the embedded API server
#   KUBE_ASSETS=... e2e/join/join_test.sh kube           on real Kubernetes (e2e/kube/README.md)
#
# HELM names a helm to test the charts' part with; without any, that part is skipped by name. JOIN_SHELL is the shell
# that runs the scripts (default sh). Ends with `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/build/bin
shell=${JOIN_SHELL:-sh}
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig HOME=$work
unset HUB_CLUSTER_CONTEXT HUB_CLUSTER_ADDRESS MEMBER_CLUSTER MEMBER_CLUSTER_CONTEXT REGISTRY FLEET_VERSION
processes=()
end() {
        for ((i = ${#processes[@]} - 1; i >= 0; i--)); do
                kill "${processes[i]}" 2>/dev/null && wait "${processes[i]}" 2>/dev/null
        done
        rm -rf "$work"
}
trap end EXIT
give_up() { echo "$*"; echo "0 passed, 1 failed"; exit 1; }

passed=0
failed=0
output=
code=0

# ---- how a test is written -------------------------------------------------------------------------------------

join() { run join-member.sh --hub-context hub "$@"; }
leave() { run leave-member.sh --hub-context hub "$@"; }
run() {
        local script=$1
        shift
        # shellcheck disable=SC2086 # the shell may have an argument: busybox sh
        output=$(timeout 900 $shell "charts/join/$script" "$@" 2>&1 </dev/null)
        code=$?
}

result() { # name, whether it is true
        if [ "$2" = 0 ]; then
                passed=$((passed + 1))
        else
                failed=$((failed + 1))
                printf 'FAILED %s (exit %s)\n%s\n' "$1" "$code" "$output" | sed 's/^/  /'
        fi
}

# The last run ended with CODE and said every TEXT.
says() {
        local name=$1 want=$2 text bad=0
        shift 2
        [ "$code" -eq "$want" ] || bad=1
        for text in "$@"; do
                [[ $output == *"$text"* ]] || { bad=1; output+=$'\n'"(missing: $text)"; }
        done
        result "$name" $bad
}

# A command succeeds within ten minutes: twenty seconds on a free machine.
becomes() {
        local name=$1 limit=$((SECONDS + 600))
        shift
        until output=$("$@" 2>&1) && [ -n "$output" ]; do
                [ $SECONDS -lt $limit ] || { result "$name" 1; return; }
                read -r -t 0.2 <> <(:) || true
        done
        result "$name" 0
}

hub() { kubectl --context hub "$@"; }
joined() { [ "$(hub get membercluster "$1" -o jsonpath='{.status.conditions[?(@.type=="Joined")].status}')" = True ] && echo yes; }
# All that a run could change, in one text: not the accounts that a controller makes in each namespace, when it comes to it.
everything() {
        hub get membercluster,serviceaccounts,roles,rolebindings,secrets -A -o jsonpath='{range .items[?(@.metadata.namespace!="kube-system")]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.uid}{"\n"}{end}' |
                grep -v '^ServiceAccount/default '
        kubectl --context member-1 get secret hub-kubeconfig-secret -o jsonpath='{.metadata.resourceVersion}' --ignore-not-found
        kubectl --context member-1 get namespaces -o name
}

# ---- servers and agents ----------------------------------------------------------------------------------------

start() { # log, command...
        local log=$1
        shift
        "$@" >"$work/$log.log" 2>&1 </dev/null &
        processes+=($!)
        last=$!
}

start_servers() {
        case $1 in
        devcluster) start servers "$bin/devcluster" -port 0 -clusters hub,member-1,member-2 -no-sync -data "$work/data" -kubeconfig "$KUBECONFIG" ;;
        kube) start servers "$bin/kube-clusters" --assets "$KUBE_ASSETS" --data "$work/kube" --clusters hub,member-1,member-2 --kubeconfig "$KUBECONFIG" ;;
        *) give_up "usage: join_test.sh devcluster|kube" ;;
        esac
        for _ in $(seq 6000); do
                grep -q ready "$work/servers.log" && break
                kill -0 "$last" 2>/dev/null || give_up "the servers did not start: $(tail -n 3 "$work/servers.log")"
                read -r -t 0.1 <> <(:) || true
        done
        hub_server=$(hub config view --minify -o jsonpath='{.clusters[0].cluster.server}')
}

install_hub() {
        hub apply --server-side -f charts/hub-agent/files/crds >/dev/null
        hub wait --for=condition=Established crd --all --timeout=600s >/dev/null
        hub create namespace fleet-system >/dev/null
}

start_hub_agent() {
        hub config view --minify --flatten >"$work/hub"
        start hub-agent "$bin/hub-agent" --kubeconfig "$work/hub" --leader-elect=true --metrics-bind-address=0 \
                --health-probe-bind-address=0 --enable-webhook=false --force-delete-wait-time=10m \
                --resource-snapshot-creation-minimum-interval=0s --resource-changes-collection-duration=0s
        becomes "the hub agent takes its lease" hub -n fleet-system get lease 136224848560.hub.fleet.azure.com -o jsonpath='{.spec.holderIdentity}'
}

start_member_agent() { # context, credentials
        kubectl --context "$1" config view --minify --flatten >"$work/$1"
        # shellcheck disable=SC2046 # one NAME=value a word
        start "$1" env $(cat "$2/agent.env") "$bin/member-agent" --kubeconfig "$work/$1" --state-file "$work/$1.db" \
                --metrics-bind-address=0 --health-probe-bind-address=0 --hub-metrics-bind-address=0 --hub-health-probe-bind-address=0
        agent=$last
}

stop_member_agent() { kill "$agent" && wait "$agent" 2>/dev/null; }

# ---- inputs ----------------------------------------------------------------------------------------------------

refuses() { # name of the test, sentence, arguments for join
        local name=$1 sentence=$2
        shift 2
        join "$@"
        says "$name" 1 "nothing was changed" "$sentence"
}

# Each wrong input on top of a right command line.
wrong_inputs() {
        local ok=(--member-context member-1 --name one --agent none) long
        long=$(printf 'a%.0s' $(seq 51))
        join "${ok[@]}" --name One --heartbeat 0 --namespace a/b --token paper --token-duration 5m --timeout 900 --agent pod \
                --hub-server http://hub:6443 --hub-ca "$work/servers.log" --values "$work/nix" --member-context nix
        says "all problems are told at once" 1 'nothing was changed' 'name "One" is not valid' 'heartbeat "0" is not a number of seconds from 1 to 600' \
                '--namespace: "a/b" is not the name of a namespace' '--token "paper" is neither bound nor secret' \
                '--token-duration "5m" is not a duration of at least 10m' '--timeout "900" is not a duration' \
                '--agent "pod" is none of helm, manifest and none' '"http://hub:6443" does not begin with https://' \
                "--hub-ca: $work/servers.log is not a readable PEM file" "--values: file $work/nix cannot be read" \
                'member context "nix" is not usable' "contexts are: hub member-1 member-2"
        join --name a.b --heartbeat soon --hub-server 'https://hub"x'
        says "and those of other inputs" 1 'name "a.b" is not valid' 'heartbeat "soon" is not a number' 'has characters that do not belong into it' \
                "give --member-context NAME"
        join "${ok[@]}" --name "$long" --member-kubeconfig "$work/nix"
        says "a name that is too long, a kubeconfig that is missing" 1 "has 51 characters: at most 50" "file $work/nix cannot be read"
        refuses "no name" "give --name NAME" --member-context member-1 --agent none
        refuses "a hub that nobody serves" 'hub address https://127.0.0.1:1 cannot be reached from here' "${ok[@]}" --hub-server https://127.0.0.1:1
        openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/other-ca" -subj /CN=other -days 2 2>/dev/null
        refuses "another CA" "is not signed by the given authority" "${ok[@]}" --hub-ca "$work/other-ca"
        refuses "a certificate for other names" "its certificate does not name that address" "${ok[@]}" --hub-server "${hub_server/127.0.0.1/0.0.0.0}"
        refuses "a cluster that is no hub" "the hub knows no MemberCluster resources" "${ok[@]}" --hub-context member-2

        join "${ok[@]}" --colour blue
        says "an unknown option" 2 "unknown option --colour"
        join --name
        says "an option without its value" 2 "--name needs a value"
        run join-member.sh --help
        says "help names every option of the usage" 0 --hub-context --member-kubeconfig --token-duration --write-credentials HUB_CLUSTER_ADDRESS
}

# Contexts that lead nowhere, or to a server that does not know the user, or not as one who may do much.
wrong_access() {
        local token
        kubectl config set-cluster nowhere --server https://127.0.0.1:1 >/dev/null
        kubectl config set-context nowhere --cluster nowhere --user nobody >/dev/null
        add_user nobody nonsense
        refuses "a server that does not answer" "member cluster's API server https://127.0.0.1:1 does not answer" --name one --agent none --member-context nowhere
        kubectl config set-context stranger --cluster "$(kubectl config view -o jsonpath='{.contexts[?(@.name=="hub")].context.cluster}')" --user nobody >/dev/null
        refuses "a user whom the server does not know" "hub cluster's API server does not accept your user" --name one --agent none --member-context member-1 --hub-context stranger

        hub create serviceaccount poor >/dev/null
        hub create clusterrole poor --verb=get,list --resource=memberclusters,customresourcedefinitions,namespaces,serviceaccounts,roles,rolebindings,secrets,leases >/dev/null
        hub create clusterrolebinding poor --clusterrole=poor --serviceaccount=default:poor >/dev/null
        token=$(create_token default poor --context hub)
        add_user poor "$token"
        kubectl config set-context poor --cluster "$(kubectl config view -o jsonpath='{.contexts[?(@.name=="hub")].context.cluster}')" --user poor >/dev/null
        becomes "its few rights are in force" kubectl --context poor get leases -n fleet-system -o name
        join --name one --agent none --member-context member-1 --hub-context poor
        says "missing rights are told one by one" 1 "your user may not create serviceaccounts in namespace fleet-system on the hub cluster" \
                "may not create serviceaccounts/token in namespace fleet-system" "may not create roles" "may not create memberclusters on the hub"
}

# A policy in the place of the guard rail: nobody makes, or takes away, what is called one...
guard() { # operation
        hub apply -f - >/dev/null <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: hub-agent-guard-content }
spec:
  matchConstraints:
    resourceRules:
    - { apiGroups: [""], apiVersions: [v1], operations: [$1], resources: [serviceaccounts] }
    - { apiGroups: [cluster.kubernetes-fleet.io], apiVersions: [v1beta1], operations: [$1], resources: [memberclusters] }
  validations:
  - { expression: "!(object == null ? oldObject : object).metadata.name.startsWith('one')", message: you are not allowed to, reason: Forbidden }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: hub-agent-guard-content }
spec: { policyName: hub-agent-guard-content, validationActions: [Deny] }
YAML
}
unguard() { hub delete validatingadmissionpolicybinding,validatingadmissionpolicy hub-agent-guard-content >/dev/null; }
refuses_dry() { hub -n fleet-system "$@" --dry-run=server 2>&1 | grep "you are not allowed"; }
takes_dry() { hub -n fleet-system "$@" --dry-run=server -o name 2>&1 | grep "^serviceaccount/"; }

# What the hub's policies and webhooks would refuse is told before anything is done.
asked_beforehand() {
        guard CREATE
        becomes "a policy holds on the hub" refuses_dry create serviceaccount one
        everything >"$work/before"
        join --member-context member-1 --name one --agent none
        says "what the hub would refuse is told beforehand, each object in the hub's words" 1 "nothing was changed" \
                "the hub would refuse what one needs: serviceaccounts \"one-hub-cluster-access\" is forbidden: ValidatingAdmissionPolicy 'hub-agent-guard-content'" \
                "the hub would refuse what one needs: memberclusters.cluster.kubernetes-fleet.io \"one\" is forbidden" \
                "you are not allowed to" "whitelistedUsers"
        output=$(everything | diff "$work/before" -)
        result "and nothing is done" $?
        join --member-context member-1 --name two --agent none --dry-run
        says "what it lets in is no problem" 0 "dry run; a run would:" "create MemberCluster on the hub"
        unguard
        becomes "it holds no longer" takes_dry create serviceaccount one
}

# Else the member would be gone, and its account there.
asked_before_leaving() {
        guard DELETE
        becomes "a policy keeps accounts" refuses_dry delete serviceaccount one-hub-cluster-access --wait=false
        everything >"$work/before"
        leave --member-context member-1 --name one --agent none
        says "what the hub would refuse is told before a member leaves" 1 "nothing was changed" \
                "the hub would refuse to let one go: memberclusters.cluster.kubernetes-fleet.io \"one\" is forbidden" \
                "the hub would refuse to delete what one had: serviceaccounts \"one-hub-cluster-access\" is forbidden" "whitelistedUsers"
        output=$(everything | diff "$work/before" -)
        result "and it stays" $?
        unguard
        becomes "it keeps them no longer" takes_dry delete serviceaccount one-hub-cluster-access --wait=false
}

# ---- joining ---------------------------------------------------------------------------------------------------

joining() {
        local token
        join --member-context member-1 --name one --agent none --dry-run
        says "a dry run tells what it would do" 0 "dry run" "create MemberCluster on the hub" "create ServiceAccount on the hub" "issue a token"
        hub get membercluster one >/dev/null 2>&1
        result "a dry run changes nothing" $((1 - $?))

        join --member-context member-1 --name one --agent none --heartbeat 15 --write-credentials "$work/one"
        says "the first run makes the identity" 0 "serviceaccount/one-hub-cluster-access created" "membercluster.cluster.kubernetes-fleet.io/one created" \
                "token issued, valid until 20" "secret/hub-kubeconfig-secret created" "it joins when its agent starts"
        [ "$(stat -c %a "$work/one/token")" = 600 ]
        result "credentials are for their owner only" $?
        start_member_agent member-1 "$work/one"
        becomes "the agent joins with these credentials" joined one

        everything >"$work/before"
        join --member-context member-1 --name one --agent none --heartbeat 15
        says "a second run has nothing to do" 0 "nothing to do: everything was as it should be"
        output=$(everything | diff "$work/before" -)
        result "a second run changes nothing" $?
        # As the scripts that came before: by environment alone.
        output=$(HUB_CLUSTER_CONTEXT=hub HUB_CLUSTER_ADDRESS=$hub_server MEMBER_CLUSTER=one MEMBER_CLUSTER_CONTEXT=member-1 \
                $shell charts/join/join-member.sh --agent none 2>&1)
        code=$?
        says "the environment serves as well" 0 "nothing to do"

        join --member-context member-1 --name two --agent none
        says "a cluster joins once" 1 "the member cluster is joined already, as one"
        join --member-context member-2 --name one --agent none
        says "a name is given once" 1 "another cluster has joined as one" "--replace"
        hub apply -f - >/dev/null <<'YAML'
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: { name: other }
spec: { identity: { kind: User, name: somebody, apiGroup: rbac.authorization.k8s.io } }
YAML
        join --member-context member-2 --name other --agent none
        says "a name with another identity" 1 "a member other exists with another identity (User somebody)"
        hub delete membercluster other --wait=false >/dev/null
        join --member-context member-2 --name two --agent helm --hub-context hub
        command -v helm >/dev/null || says "helm is missed before anything is done" 1 "helm is not on the PATH"

        token=$(cat "$work/one/token")
        may "a token renews itself" one-hub-cluster-access "$token" 0
        hub -n fleet-system create serviceaccount another >/dev/null
        may "a token renews no other" another "$token" 1
}

# Debian's kubectl 1.20 falls over `config set-credentials`.
add_user() { # name, token
        printf 'apiVersion: v1\nkind: Config\nusers:\n- name: %s\n  user: { token: "%s" }\n' "$1" "$2" >"$work/user-$1"
        [[ :$KUBECONFIG: == *:$work/user-$1:* ]] || KUBECONFIG=$KUBECONFIG:$work/user-$1
}

# kubectl has `create token` since 1.24; before, --raw takes the whole path of the server's URL.
create_token() { # namespace, account, flags of kubectl
        local ns=$1 account=$2 answer
        shift 2
        if kubectl create token --help 2>/dev/null | grep -q -- --duration; then
                kubectl "$@" -n "$ns" create token "$account"
                return
        fi
        answer=$(printf '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}' |
                kubectl "$@" create --raw "$(sed -E 's,^https://[^/]*,,' <<<"$hub_server")/api/v1/namespaces/$ns/serviceaccounts/$account/token" -f -) || return
        sed -n 's/.*"token":"\([^"]*\)".*/\1/p' <<<"$answer"
}

may() { # name, account, token, wanted
        request_token "$2" "$3"
        [ $? -eq "$4" ]
        result "$1" $?
}

may_not() { ! request_token "$1" "$2" && echo refused; }

request_token() { # account, token of the one who asks
        add_user m "$2"
        kubectl config set-context m --user m --cluster "$(kubectl config view -o jsonpath='{.contexts[?(@.name=="hub")].context.cluster}')" >/dev/null
        output=$(create_token fleet-system "$1" --context m 2>&1)
}

# Whatever an interrupted run or a hand left undone, the next run does.
half_done() {
        hub -n fleet-system delete role one-hub-cluster-access >/dev/null
        join --member-context member-1 --name one --agent none
        says "a missing Role comes back" 0 "role.rbac.authorization.k8s.io/one-hub-cluster-access created"
        [[ $output != *"token issued"* ]]
        result "a valid token is kept" $?
        hub -n fleet-system patch role one-hub-cluster-access --type=json -p '[{"op":"replace","path":"/rules/0/verbs","value":["create","delete"]}]' >/dev/null
        join --member-context member-1 --name one --agent none
        says "a changed Role is brought back in line" 0 "role.rbac.authorization.k8s.io/one-hub-cluster-access replaced"
        kubectl --context member-1 delete secret hub-kubeconfig-secret >/dev/null
        join --member-context member-1 --name one --agent none
        says "a lost Secret is written anew" 0 "token issued" "secret/hub-kubeconfig-secret created"
        kubectl --context member-1 patch secret hub-kubeconfig-secret -p '{"stringData":{"token":"nonsense"}}' >/dev/null
        join --member-context member-1 --name one --agent none
        says "a token that is not valid is replaced" 0 "token issued" "secret/hub-kubeconfig-secret replaced"
        hub -n fleet-system delete serviceaccount one-hub-cluster-access >/dev/null
        join --member-context member-1 --name one --agent none
        says "a lost account is made anew, with its token" 0 "serviceaccount/one-hub-cluster-access created" "token issued"
        join --member-context member-1 --name one --agent none --heartbeat 30
        says "another heartbeat is set" 0 "membercluster.cluster.kubernetes-fleet.io/one patched"
        join --member-context member-1 --name one --agent none --new-token --write-credentials "$work/one"
        says "a new token on demand" 0 "token issued"
        join --member-context member-1 --name one --agent none --token secret --new-token
        says "a token that never expires, for those who want it" 0 "it never expires" "secret/one-hub-cluster-access-token created"
        [ "$(kubectl --context member-1 get secret hub-kubeconfig-secret -o jsonpath='{.data.token}')" = "$(hub -n fleet-system get secret one-hub-cluster-access-token -o jsonpath='{.data.token}')" ]
        result "the member has that token" $?
}

# ---- leaving ---------------------------------------------------------------------------------------------------

place() {
        hub create namespace placed >/dev/null
        hub -n placed create configmap note --from-literal=text=hello >/dev/null
        hub apply -f - >/dev/null <<'YAML'
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: { name: placed }
spec:
  resourceSelectors: [{ group: "", version: v1, kind: Namespace, name: placed }]
  policy: { placementType: PickAll }
YAML
        becomes "a placement reaches the member" kubectl --context member-1 -n placed get configmap note -o name
}

leaving() {
        stop_member_agent
        start_member_agent member-1 "$work/one"
        place
        leave --member-context member-1 --name two --agent none
        says "the wrong member is not taken" 1 'is joined as one, not as two'
        leave --member-context member-1 --name one --agent none --dry-run
        says "a dry run of leaving" 0 "delete MemberCluster one" "delete on the hub ServiceAccount/one-hub-cluster-access"
        joined one >/dev/null
        result "a dry run of leaving changes nothing" $?
        asked_before_leaving
        leave --member-context member-1 --name one --agent none --timeout 600s
        says "a member leaves" 0 "member one is gone" "one has left the fleet" "what was placed stays on the member"
        output=$(hub get -A serviceaccounts,roles,rolebindings,secrets -o name | grep one-hub-cluster)
        result "its identity is gone" $((1 - $?))
        output=$(kubectl --context member-1 -n placed get configmap note -o name)
        result "what was placed stays" $?
        leave --member-context member-1 --name one --agent none
        says "leaving again has nothing to do" 0 "nothing to do: one is not in the fleet"
        stop_member_agent

        join --member-context member-1 --name one --agent none --write-credentials "$work/one"
        says "a member comes back" 0 "membercluster.cluster.kubernetes-fleet.io/one created"
        start_member_agent member-1 "$work/one"
        becomes "and joins again" joined one
        becomes "its placements are applied again" placed_again
}

placed_again() { hub get crp placed -o jsonpath='{.status.placementStatuses[?(@.clusterName=="one")].conditions[?(@.type=="Applied")].status}' | grep True; }

without_agent() {
        stop_member_agent
        leave --member-context member-1 --name one --agent none --timeout 2s # passes
        says "leaving without an agent takes its time" 1 "one has not left within 2s" "last heartbeat" "run this again with --force"
        join --member-context member-1 --name one --agent none
        says "who is just leaving cannot join" 1 "member one is just leaving the fleet"
        leave --name one --agent none --force --timeout 600s
        says "force needs neither agent nor member" 0 "one has left the fleet" "the member's cluster was not touched"
        join --member-context member-2 --name one --agent none
        says "the name is free again" 0 "one has its identity on the hub"
        leave --member-context nowhere --name one --agent none
        says "a member that does not answer is a problem" 1 "does not answer" "add --force"
        leave --member-context member-2 --name one --agent none --force
        says "force cleans a member that is there" 0 "secret \"hub-kubeconfig-secret\" deleted"
}

# ---- the chart, with a real helm -------------------------------------------------------------------------------

with_helm() {
        mkdir "$work/bin" && ln -s "$HELM" "$work/bin/helm"
        PATH=$work/bin:$PATH
        local ok=(--member-context member-2 --name two --hub-server "$hub_server" --timeout 600s)
        local image=(--image-repository images.test/argosy/member-agent --image-tag v1)
        join --member-context member-2 --name two "${image[@]}"
        says "an address of this machine only" 1 "is this machine's own: pods of the member cannot reach it"
        join "${ok[@]}"
        says "no image" 1 "no image for the agent"
        join "${ok[@]}" "${image[@]}" --set logVerbosity=99
        says "a value out of range" 1 "logVerbosity must be at most 10, got 99"
        join "${ok[@]}" "${image[@]}" --chart "$work"
        says "no chart" 1 "there is no chart in $work"
        hub get membercluster two >/dev/null 2>&1
        result "none of these changed anything" $((1 - $?))

        # The hub agent has to answer in that time: where it did not, in twice that.
        local seconds said=
        for seconds in 6 12 24 48 96; do
                join "${ok[@]}" "${image[@]}" --timeout ${seconds}s
                said+=$output
                [[ $output != *ReadyToJoin=True* ]] || break
        done
        output=$said
        says "who does not come in time is told of" 1 "helm release member-agent installed" "two has not joined within ${seconds}s" "hub condition ReadyToJoin=True" "What to try:"
        # No kubelet here: the agent of the chart is started by hand.
        join --member-context member-2 --name two --agent none --hub-server "$hub_server" --write-credentials "$work/two"
        start_member_agent member-2 "$work/two"
        join "${ok[@]}" "${image[@]}"
        says "the next run goes on and sees it joined" 0 "two has joined the fleet"
        join "${ok[@]}" "${image[@]}"
        says "then there is nothing to do" 0 "nothing to do" "two has joined the fleet"
        join "${ok[@]}" "${image[@]}" --set logVerbosity=2
        says "changed values are an upgrade" 0 "helm release member-agent upgraded"
        leave --member-context member-2 --name two
        says "leaving uninstalls the chart" 0 "helm release member-agent uninstalled" "two has left the fleet"
        output=$(kubectl --context member-2 get crd appliedworks.placement.kubernetes-fleet.io -o name)
        result "the AppliedWork definition is kept" $?
        stop_member_agent
        output=$(kubectl --context member-2 -n fleet-system get deployments,secrets -o name | grep member-agent)
        result "no agent remains" $((1 - $?))
}

# The rendered chart, applied with kubectl; and a cluster that takes the name of one that is gone.
with_manifest() {
        local old ok=(--member-context member-2 --name one --agent manifest --hub-server "$hub_server"
                --image-repository images.test/argosy/member-agent --image-tag v1)
        join --member-context member-1 --name one --agent none --write-credentials "$work/one"
        start_member_agent member-1 "$work/one"
        becomes "the member whose place is taken joins" joined one
        stop_member_agent
        old=$(cat "$work/one/token")
        join "${ok[@]}" --replace --dry-run
        says "a dry run tells that tokens end" 0 "so that its tokens end" "create ServiceAccount on the hub"
        join "${ok[@]}" --replace --timeout 2s # passes
        says "who takes a name over is waited for, though that name had joined" 1 'serviceaccount "one-hub-cluster-access" deleted' \
                "serviceaccount/one-hub-cluster-access created" "token issued" "deployment.apps/member-agent created" "one has not joined within 2s"
        # An API server remembers for ten seconds whom it let in.
        becomes "the token of the cluster that is gone has ended" may_not one-hub-cluster-access "$old"

        join --member-context member-2 --name one --agent none --hub-server "$hub_server" --write-credentials "$work/one-again"
        start_member_agent member-2 "$work/one-again"
        join "${ok[@]}" --timeout 600s
        says "the applied manifests are as they should be" 0 "one has joined the fleet"
        join "${ok[@]}" --set logVerbosity=2
        says "changed values are applied" 0 "deployment.apps/member-agent configured" "one has joined the fleet"
        becomes "its placements are applied on the new cluster" kubectl --context member-2 -n placed get configmap note -o name
        leave --member-context member-2 --name one --agent manifest --timeout 600s
        says "leaving deletes what was applied" 0 'deployment.apps "member-agent" deleted' 'clusterrole' "one has left the fleet"
        stop_member_agent
        output=$(kubectl --context member-2 get crd appliedworks.placement.kubernetes-fleet.io -o name)
        result "and keeps the AppliedWork definition" $?
}

# helm would delete the definition, and with it every AppliedWork and what it owns.
guarded() {
        local ok=(--member-context member-2 --name two --hub-server "$hub_server" --timeout 1s # passes
                --image-repository images.test/argosy/member-agent --image-tag v1)
        join "${ok[@]}" --set crds.keep=false
        says "a release that does not keep its definition" 1 "helm release member-agent installed"
        leave --member-context member-2 --name two
        says "is not uninstalled" 1 "nothing was changed" "would delete the AppliedWork definition and with it everything that was placed"
        join "${ok[@]}" --set crds.keep=true
        says "upgraded to keep it" 1 "helm release member-agent upgraded"
        leave --member-context member-2 --name two --force --timeout 600s
        says "it may go" 0 "helm release member-agent uninstalled" "two has left the fleet"
}

# On a cluster that is hub and member it is the hub's chart's, elsewhere perhaps OLM's.
foreign_definition() {
        local sets=clusterobjectsets.olm.operatorframework.io ok=(--member-context member-2 --name two --hub-server "$hub_server" --timeout 600s)
        kubectl --context member-2 delete crd --all >/dev/null
        sed 's/^  name: clusterobjectsets/  annotations: { theirs: "yes" }\n&/' "charts/member-agent/files/crds/olm.operatorframework.io_clusterobjectsets.yaml" |
                kubectl --context member-2 create -f - >/dev/null
        join "${ok[@]}" --agent none --write-credentials "$work/two-again"
        says "a definition of sets that is somebody else's is no hindrance" 0 "appliedworks.placement.kubernetes-fleet.io created" "two has its identity on the hub"
        start_member_agent member-2 "$work/two-again"
        join "${ok[@]}" --agent none
        says "nor later" 0 "nothing to do"
        [ -z "$HELM" ] || with_foreign_and_helm
        output=$(kubectl --context member-2 get crd "$sets" -o jsonpath='{.metadata.annotations}{.metadata.labels}{.metadata.managedFields[*].manager}')
        [[ $output == *'"theirs":"yes"'* && $output != *Helm* && $output != *join-member* ]]
        result "and it is left as it is" $?
        stop_member_agent
        leave --member-context member-2 --name two --agent "$([ -n "$HELM" ] && echo helm || echo none)" --force --timeout 600s
        kubectl --context member-2 delete crd --all >/dev/null
}

with_foreign_and_helm() {
        local image=(--image-repository images.test/argosy/member-agent --image-tag v1)
        join "${ok[@]}" "${image[@]}"
        says "nor for helm" 0 "helm release member-agent installed" "two has joined the fleet"
        join "${ok[@]}" "${image[@]}"
        says "which sees that nothing has changed" 0 "nothing to do"
}

start_servers "${1:-devcluster}"

install_hub
refuses "a hub without its agent" "no hub agent runs on the hub" --member-context member-1 --name one --agent none
start_hub_agent
wrong_inputs
wrong_access
asked_beforehand
joining
half_done
leaving
without_agent
HELM=${HELM:-$(command -v helm)}
if [ -n "$HELM" ]; then with_helm && guarded; else echo "skipped the chart: no helm"; fi
foreign_definition
[ -z "$HELM" ] || with_manifest
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
