#!/bin/sh
# Takes one member cluster out of the fleet: deletes its MemberCluster, waits until the hub has let it go, uninstalls
# the member agent, removes its identity. What was placed on the member stays there. May be run again at any time.
# shellcheck source-path=SCRIPTDIR
program=leave-member.sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
. "$here/lib.sh"

help() {
        cat <<EOT
Usage: $program --hub-context H --member-context M --name NAME [options]

Takes member NAME, the cluster of context M, out of the fleet whose hub is the cluster of context H.

  --hub-context H           context of the hub                            [HUB_CLUSTER_CONTEXT]
  --member-context M        context of the member; not needed with --force  [MEMBER_CLUSTER_CONTEXT]
  --hub-kubeconfig F        kubeconfig of the hub; else kubectl's own; without --hub-context its current context
  --member-kubeconfig F     kubeconfig of the member, in the same way
  --name NAME               name of the member in the fleet               [MEMBER_CLUSTER]
  --force                   the member or its agent is gone: do not wait for its answer, and leave the member's cluster
                            alone where it cannot be reached
  --agent helm|manifest|none  how the agent was installed (default helm); none: leave it to you
  --release NAME            name of the helm release (default member-agent)
  --namespace NS            namespace of identity and agent (default fleet-system)
  --secret-namespace NS     namespace of Secret hub-kubeconfig-secret on the member (default default)
  --timeout D               how long to wait for the hub (default 5m)
  --dry-run                 check, say what would be done, change nothing
  --help                    this text

Names in brackets are environment variables that serve as defaults.
Exit code: 0 gone (or nothing to do), 1 a problem (all are told), 2 wrong usage.
EOT
}

hub_context=${HUB_CLUSTER_CONTEXT:-} member_context=${MEMBER_CLUSTER_CONTEXT:-} name=${MEMBER_CLUSTER:-}
force=no agent=helm timeout=5m
while [ $# -gt 0 ]; do
        option=$1
        case $option in
        --help | -h) help && exit 0 ;;
        --dry-run) dry_run=yes && shift && continue ;;
        --force) force=yes && shift && continue ;;
        --*=*) value=${option#*=} option=${option%%=*} && shift ;;
        --*) [ $# -ge 2 ] || usage_error "$option needs a value" && value=$2 && shift 2 ;;
        *) usage_error "unexpected argument \"$option\"" ;;
        esac
        take_option "$option" "$value" || usage_error "unknown option $option"
done
account=$name-hub-cluster-access

# ---- checks --------------------------------------------------------------------------------------------------

check_values() {
        check_name
        check_namespace --namespace "$namespace"
        check_namespace --secret-namespace "$secret_namespace"
        check_timeout
        case $agent in
        helm) check_helm ;;
        manifest | none) ;;
        *) problem "--agent \"$agent\" is none of helm, manifest and none" ;;
        esac
}

# Prints the lines of the objects that exist; of those that do not, nothing.
check_hub() {
        check_context hub "$hub_kubeconfig" "$hub_context" || return
        check_server hub || return
        check_rights hub <<EOT
delete cluster.kubernetes-fleet.io memberclusters - - $name
delete - serviceaccounts - $namespace $account
delete - secrets - $namespace $account-token
delete rbac.authorization.k8s.io roles - $namespace $account
delete rbac.authorization.k8s.io rolebindings - $namespace $account
EOT
        hub get --request-timeout=15s --ignore-not-found -n "$namespace" "customresourcedefinitions/memberclusters.cluster.kubernetes-fleet.io" \
                "memberclusters.cluster.kubernetes-fleet.io/$name" "rolebindings/$account" "roles/$account" "secrets/$account-token" \
                "serviceaccounts/$account" \
                -o go-template='{{range .items}}{{if eq .kind "MemberCluster"}}mc=yes
{{with .spec}}{{with .identity}}identity={{.kind}} {{with .namespace}}{{.}}/{{end}}{{.name}}
{{end}}{{end}}{{else if eq .kind "CustomResourceDefinition"}}{{else}}object={{.kind}}/{{.metadata.name}}
{{end}}{{end}}' >"$work/hub.state" 2>"$err" && return
        case $(reason) in
        *"resource type"*) problem "the hub knows no MemberCluster resources: is context \"$hub_context\" the hub?" ;;
        *) problem "the hub's objects cannot be read: $(reason)" ;;
        esac
}

# With --force an unreachable member is no problem: it is left as it is.
check_member() {
        member_there=yes
        if [ "$force" = yes ]; then
                if [ -z "$member_context$member_kubeconfig" ] || ! member version --request-timeout=10s >/dev/null 2>&1; then
                        member_there=no
                        return
                fi
        fi
        check_context member "$member_kubeconfig" "$member_context" || return
        check_server member || {
                problem "if the member is gone for good, add --force"
                return
        }
        member get --request-timeout=15s --ignore-not-found -n "$secret_namespace" namespaces/kube-system "secrets/$secret_name" \
                -o go-template='{{range .items}}{{if eq .kind "Secret"}}secret=yes
{{with .metadata.annotations}}{{with index . "kubernetes-fleet.io/member-name"}}secret.member={{.}}
{{end}}{{end}}{{end}}{{end}}' >"$work/member.state" 2>"$err" || {
                problem "the member's objects cannot be read: $(reason)"
                return
        }
        other=$(value_of secret.member "$work/member.state")
        [ -z "$other" ] || [ "$other" = "$name" ] ||
                problem "the cluster of member context \"$member_context\" is joined as $other, not as $name: choose the other context, or --name $other"
        [ "$agent" != helm ] || check_release
}

# A chart that takes its CustomResourceDefinitions with it would delete the AppliedWorks, and with them all that was placed.
check_release() {
        member_helm get manifest "$release" -n "$namespace" >"$work/release" 2>/dev/null || return
        other=$(sed -n '/MEMBER_CLUSTER_NAME/{n;s/^ *value: *"\{0,1\}\([^" ]*\).*/\1/p;}' "$work/release" | head -n 1)
        [ -z "$other" ] || [ "$other" = "$name" ] ||
                problem "helm release $release in $namespace is the agent of member $other, not of $name: choose another --member-context or --release"
        # shellcheck disable=SC2016 # awk's own
        awk '/^---/ { if (definition && !keep) exit 1; definition = keep = 0 }
                /^kind: CustomResourceDefinition/ { definition = 1 }
                /helm.sh\/resource-policy.*keep/ { keep = 1 }
                END { if (definition && !keep) exit 1 }' "$work/release" ||
                problem "uninstalling helm release $release would delete the AppliedWork definition and with it everything that was placed: upgrade it to a chart that keeps it (helm.sh/resource-policy: keep), or use --agent none"
}

# All that is going to be deleted on the hub, asked beforehand: what refused the last step would leave the account there.
check_changes() {
        [ -z "$(value_of mc "$work/hub.state")" ] ||
                ask_hub "to let $name go" delete "memberclusters.cluster.kubernetes-fleet.io/$name" --wait=false
        [ "$force" = no ] || ask_hub "to let $name go by force" -n "fleet-member-$name" \
                delete "internalmemberclusters.cluster.kubernetes-fleet.io/$name" --ignore-not-found --wait=false
        objects=$(sed -n 's/^object=//p' "$work/hub.state")
        # shellcheck disable=SC2086 # one word for each object
        [ -z "$objects" ] || ask_hub "to delete what $name had" -n "$namespace" delete $objects --ignore-not-found --wait=false
        tell_guard
}

# ---- leaving -------------------------------------------------------------------------------------------------

delete_member_cluster() {
        [ -n "$(value_of mc "$work/hub.state")" ] || return 0
        changed=yes
        hub delete "memberclusters.cluster.kubernetes-fleet.io/$name" --wait=false --ignore-not-found >/dev/null 2>"$err" || fail "the hub refused: $(reason)"
        if [ "$force" = yes ]; then
                # Without its InternalMemberCluster the hub has nobody to ask and lets the member go at once.
                hub -n "fleet-member-$name" delete "internalmemberclusters.cluster.kubernetes-fleet.io/$name" --ignore-not-found >/dev/null 2>"$err" ||
                        fail "the hub refused: $(reason)"
        fi
        say "hub: member $name is leaving (waiting at most $timeout)"
        # Versions of kubectl differ in how they end when the object is gone before they look.
        hub wait --for=delete "memberclusters.cluster.kubernetes-fleet.io/$name" --timeout="${timeout_seconds}s" >/dev/null 2>"$err"
        if hub get "memberclusters.cluster.kubernetes-fleet.io/$name" --ignore-not-found -o name >"$work/out" 2>>"$err" && [ ! -s "$work/out" ]; then
                say "hub: member $name is gone"
                return
        fi
        diagnose >&2
        exit 1
}

diagnose() {
        printf '%s: %s has not left within %s: %s. What is known:\n' "$program" "$name" "$timeout" "$(reason)"
        hub get "memberclusters.cluster.kubernetes-fleet.io/$name" -o go-template='{{range .status.conditions}}  hub condition {{.type}}={{.status}} {{.reason}}: {{.message}}
{{end}}{{range .status.agentStatus}}  agent {{.type}}: last heartbeat {{.lastReceivedHeartbeat}}
{{end}}' 2>/dev/null
        hub get namespace "fleet-member-$name" -o go-template='{{range .status.conditions}}  namespace fleet-member-'"$name"' {{.type}}={{.status}}: {{.message}}
{{end}}' 2>/dev/null
        printf 'What to try: the hub waits for the member agent to answer, by default 15 minutes; see that it runs, or run this again with --force.\n'
}

uninstall_agent() {
        case $agent in
        helm)
                member_helm status "$release" -n "$namespace" >/dev/null 2>&1 || return 0
                member_helm uninstall "$release" -n "$namespace" >/dev/null 2>"$err" || fail "helm could not uninstall the agent: $(helm_reason)"
                say "member: helm release $release uninstalled"
                changed=yes
                ;;
        manifest)
                # Not the CustomResourceDefinition: with it would go what was placed.
                for kinds in "deployments,serviceaccounts,configmaps,networkpolicies -n $namespace" clusterroles,clusterrolebindings; do
                        # shellcheck disable=SC2086 # words of their own
                        member delete $kinds -l "app.kubernetes.io/instance=$release,app.kubernetes.io/name=member-agent" >"$work/out" 2>"$err" ||
                                fail "the member refused: $(reason)"
                        grep ' deleted' "$work/out" | sed 's/^/member: /'
                done
                ;;
        esac
}

clean_member() {
        uninstall_agent
        [ -n "$(value_of secret "$work/member.state")" ] || return 0
        member -n "$secret_namespace" delete secret "$secret_name" --ignore-not-found >"$work/out" 2>"$err" || fail "the member refused: $(reason)"
        sed 's/^/member: /' "$work/out"
        changed=yes
}

clean_hub() {
        objects=$(sed -n 's/^object=//p' "$work/hub.state")
        [ -n "$objects" ] || return 0
        # shellcheck disable=SC2086 # one word for each object
        hub -n "$namespace" delete $objects --ignore-not-found >"$work/out" 2>"$err" || fail "the hub refused: $(reason)"
        sed 's/^/hub: /' "$work/out"
        changed=yes
}

tell_what_remains() {
        identity=$(value_of identity "$work/hub.state")
        [ -z "$identity" ] || [ "$identity" = "ServiceAccount $namespace/$account" ] ||
                say "its identity on the hub was not made by join-member.sh and stays: $identity"
        if [ "$member_there" = no ]; then
                say "the member's cluster was not touched: its agent and what was placed there are as they were, if it still exists"
                return
        fi
        works=$(member get appliedworks.placement.kubernetes-fleet.io -o name 2>/dev/null | grep -c .)
        if [ "$works" -gt 0 ]; then
                say "what was placed stays on the member, as listed in $works AppliedWork objects; deleting those deletes it:"
                say "  kubectl --context ${member_context:-MEMBER} delete appliedworks --all"
        else
                say "nothing that the fleet placed remains on the member"
        fi
        say "namespace $namespace and the AppliedWork definition stay on the member too"
}

tell_plan() {
        say "dry run; a run would:"
        [ -z "$(value_of mc "$work/hub.state")" ] || say "  delete MemberCluster $name on the hub and wait until it is gone"
        [ "$member_there" = no ] || [ "$agent" = none ] || say "  uninstall the agent ($agent) on the member"
        [ -z "$(value_of secret "$work/member.state")" ] || say "  delete Secret $secret_namespace/$secret_name on the member"
        sed -n 's/^object=/  delete on the hub /p' "$work/hub.state"
}

: >"$work/member.state"
check_tools
check_values
check_hub
check_member
stop_on_problems
check_changes
stop_on_problems
if [ "$dry_run" = yes ]; then
        tell_plan
        exit 0
fi

changed=no
delete_member_cluster
[ "$member_there" = no ] || clean_member
clean_hub
if [ "$changed" = no ]; then
        say "nothing to do: $name is not in the fleet"
else
        say "$name has left the fleet"
        tell_what_remains
fi
