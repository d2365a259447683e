#!/bin/sh
# Joins one member cluster to the fleet: makes its identity on the hub, installs the member agent with it, and waits
# until the hub says Joined. Checks everything first; may be run again at any time. README.md beside it tells the rest.
# shellcheck source-path=SCRIPTDIR
program=join-member.sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
. "$here/lib.sh"

help() {
        cat <<EOT
Usage: $program --hub-context H --member-context M --name NAME [options]

Joins the cluster of context M as member NAME to the fleet whose hub is the cluster of context H.

Clusters
  --hub-context H           context of the hub                            [HUB_CLUSTER_CONTEXT]
  --member-context M        context of the member                         [MEMBER_CLUSTER_CONTEXT]
  --hub-kubeconfig F        kubeconfig of the hub; else kubectl's own; without --hub-context its current context
  --member-kubeconfig F     kubeconfig of the member, in the same way
  --name NAME               name of the member in the fleet, at most 50 of a-z, 0-9 and '-'   [MEMBER_CLUSTER]
  --replace                 the cluster that had this name is gone; this one takes its place, and its tokens end

How the member reaches the hub
  --hub-server URL          https address of the hub as the member sees it; else that of the kubeconfig
                                                                          [HUB_CLUSTER_ADDRESS]
  --hub-ca FILE             PEM file of the hub's certificate authority; else that of the kubeconfig
  --skip-hub-server-check   the address cannot be reached from this machine; do not try
  --token bound|secret      bound (default): a token that expires and that the member renews itself;
                            secret: one that never expires, kept in a Secret on the hub
  --token-duration D        life of a bound token, such as 24h or 7d (default 7d; the hub may shorten it)
  --new-token               issue a new token though the member has a valid one
  --heartbeat SECONDS       how often the member reports, 1 to 600 (default 60)

The agent on the member
  --agent helm|manifest|none  helm (default): install or upgrade the chart as a release; manifest: render the chart
                            with helm and apply it with kubectl; none: leave the agent to you
  --chart DIR|oci://...     chart of the agent (default: ../member-agent beside this script)
  --release NAME            name of the helm release (default member-agent)
  --image-repository R      image of the agent; that of its sidecar is refresh-token beside it
                                                                          [REGISTRY/member-agent]
  --image-tag T             its tag                                       [FLEET_VERSION]
  --values FILE             passed to helm; may be repeated
  --set KEY=VALUE           passed to helm; may be repeated
  --namespace NS            namespace of identity and agent (default fleet-system)
  --secret-namespace NS     namespace of Secret hub-kubeconfig-secret on the member (default default)
  --write-credentials DIR   also write token, ca.crt and agent.env there, for an agent outside of the cluster

  --timeout D               how long to wait for the member to join (default 2m)
  --dry-run                 check, say what would be done, change nothing
  --help                    this text

Names in brackets are environment variables that serve as defaults.
Exit code: 0 joined (or nothing to do), 1 a problem (all are told), 2 wrong usage.
EOT
}

hub_context=${HUB_CLUSTER_CONTEXT:-} member_context=${MEMBER_CLUSTER_CONTEXT:-} name=${MEMBER_CLUSTER:-}
hub_server=${HUB_CLUSTER_ADDRESS:-} image_repository=${REGISTRY:+$REGISTRY/member-agent} image_tag=${FLEET_VERSION:-}
hub_ca='' server_check=yes token_kind=bound token_duration=7d new_token=no heartbeat='' agent=helm chart=$here/../member-agent
helm_args='' credentials='' timeout=2m replace=no server_given=no taking_over=no

while [ $# -gt 0 ]; do
        option=$1
        case $option in
        --help | -h) help && exit 0 ;;
        --dry-run) dry_run=yes && shift && continue ;;
        --new-token) new_token=yes && shift && continue ;;
        --replace) replace=yes && shift && continue ;;
        --skip-hub-server-check) server_check=no && shift && continue ;;
        --*=*) value=${option#*=} option=${option%%=*} && shift ;;
        --*) [ $# -ge 2 ] || usage_error "$option needs a value" && value=$2 && shift 2 ;;
        *) usage_error "unexpected argument \"$option\"" ;;
        esac
        case $option in
        --hub-server) hub_server=$value && server_given=yes ;;
        --hub-ca) hub_ca=$value ;;
        --token) token_kind=$value ;;
        --token-duration) token_duration=$value ;;
        --heartbeat) heartbeat=$value ;;
        --chart) chart=$value ;;
        --image-repository) image_repository=$value ;;
        --image-tag) image_tag=$value ;;
        --values) [ -r "$value" ] || problem "--values: file $value cannot be read" && helm_args="$helm_args$option $(quoted "$value")" ;;
        --set) helm_args="$helm_args$option $(quoted "$value")" ;;
        --write-credentials) credentials=$value ;;
        *) take_option "$option" "$value" || usage_error "unknown option $option" ;;
        esac
done
account=$name-hub-cluster-access
# HUB_CLUSTER_ADDRESS comes from scripts that tested no address: perhaps only the members reach it.
[ -z "$hub_server" ] || [ "$server_given$server_check" != noyes ] || server_check=warn
applied_works=appliedworks.placement.kubernetes-fleet.io
object_sets=clusterobjectsets.olm.operatorframework.io
hub_lease=136224848560.hub.fleet.azure.com

# ---- checks: each adds its problem and goes on ---------------------------------------------------------------

check_values() {
        check_name
        check_namespace --namespace "$namespace"
        check_namespace --secret-namespace "$secret_namespace"
        case $heartbeat in
        *[!0-9]* | ????*) problem "--heartbeat \"$heartbeat\" is not a number of seconds from 1 to 600" ;;
        ?*) [ "$heartbeat" -ge 1 ] && [ "$heartbeat" -le 600 ] || problem "--heartbeat \"$heartbeat\" is not a number of seconds from 1 to 600" ;;
        esac
        case $token_kind in
        bound | secret) ;;
        *) problem "--token \"$token_kind\" is neither bound nor secret" ;;
        esac
        token_seconds=$(seconds "$token_duration") && [ "$token_seconds" -ge 600 ] ||
                problem "--token-duration \"$token_duration\" is not a duration of at least 10m, such as 24h or 7d"
        check_timeout
        check_hub_server_text
        [ -z "$hub_ca" ] || grep -q 'BEGIN CERTIFICATE' "$hub_ca" 2>/dev/null ||
                problem "--hub-ca: $hub_ca is not a readable PEM file with a certificate"
}

check_hub_server_text() {
        case $hub_server in
        '') ;;
        *[!A-Za-z0-9.:/_~%\[\]-]*) problem "hub address \"$hub_server\" has characters that do not belong into it" ;;
        https://?*) ;;
        *) problem "hub address \"$hub_server\" does not begin with https:// (as in https://hub.example.com:6443)" ;;
        esac
}

check_agent() {
        case $agent in
        helm | manifest) check_helm ;;
        none) return ;;
        *) problem "--agent \"$agent\" is none of helm, manifest and none" && return ;;
        esac
        case $chart in
        oci://?*) [ "${helm_version:-3}" -gt 3 ] || helm pull --help 2>/dev/null | grep -q oci || problem "--chart $chart: this helm is too old for oci:// (3.8 or newer)" ;;
        *) [ -f "$chart" ] || [ -f "$chart/Chart.yaml" ] || problem "--chart: there is no chart in $chart" ;;
        esac
        case $release in
        '' | *[!a-z0-9-]* | -* | *-) problem "--release \"$release\" is not the name of a helm release" ;;
        esac
}

# Everything on the hub that matters, in one read, as key=value lines in $work/hub.state.
hub_state_template='{{range .items}}{{if eq .kind "MemberCluster"}}mc=yes
{{with .metadata.deletionTimestamp}}mc.leaving={{.}}
{{end}}{{with .spec}}{{with .identity}}mc.identity={{.kind}} {{with .namespace}}{{.}}/{{end}}{{.name}}
{{end}}{{with .heartbeatPeriodSeconds}}mc.heartbeat={{.}}
{{end}}{{end}}{{with .status}}{{range .conditions}}{{if eq .type "Joined"}}mc.joined={{.status}}
{{end}}{{end}}{{end}}{{else if eq .kind "ServiceAccount"}}account=yes
{{with .metadata.annotations}}{{with index . "kubernetes-fleet.io/member-cluster-id"}}account.cluster={{.}}
{{end}}{{end}}{{else if eq .kind "Role"}}role={{range .rules}}{{.apiGroups}}{{.resources}}{{.resourceNames}}{{.verbs}}{{end}}
{{else if eq .kind "RoleBinding"}}binding={{.roleRef.kind}} {{.roleRef.name}}{{range .subjects}} {{.kind}} {{.namespace}}/{{.name}}{{end}}
{{else if eq .kind "Namespace"}}namespace=yes
{{else if eq .kind "Secret"}}secret=yes
{{else if eq .kind "Lease"}}{{with .spec}}{{with .holderIdentity}}agent={{.}}
{{end}}{{end}}{{end}}{{end}}'

read_hub_state() {
        hub get --request-timeout=15s --ignore-not-found -n "$namespace" \
                "customresourcedefinitions/memberclusters.cluster.kubernetes-fleet.io" "namespaces/$namespace" \
                "memberclusters.cluster.kubernetes-fleet.io/$name" "serviceaccounts/$account" "roles/$account" \
                "rolebindings/$account" "secrets/$account-token" "leases/$hub_lease" \
                -o go-template="$hub_state_template" >"$work/hub.state" 2>"$err" && return 0
        case $(reason) in
        *"resource type \"memberclusters\""* | *'"memberclusters.cluster'*)
                problem "the hub knows no MemberCluster resources: install the hub agent first (helm install hub-agent charts/hub-agent -n $namespace --create-namespace)" ;;
        *) problem "the hub's objects cannot be read: $(reason)" ;;
        esac
        return 1
}

check_hub() {
        check_context hub "$hub_kubeconfig" "$hub_context" || return
        check_server hub || return
        {
                echo "create - serviceaccounts - $namespace -"
                echo "create - serviceaccounts token $namespace $account"
                echo "create rbac.authorization.k8s.io roles - $namespace -"
                echo "create rbac.authorization.k8s.io rolebindings - $namespace -"
                echo "create cluster.kubernetes-fleet.io memberclusters - - -"
                [ "$replace" = no ] || echo "delete - serviceaccounts - $namespace $account"
                [ "$replace" = no ] || echo "delete - secrets - $namespace $account-token"
        } | check_rights hub
        read_hub_state || return
        [ -n "$(value_of agent "$work/hub.state")" ] || hub_agent_deployed ||
                problem "no hub agent runs on the hub (nobody holds lease $hub_lease in $namespace): install it first (helm install hub-agent charts/hub-agent -n $namespace --create-namespace)"
        check_not_another
}

# A hub agent without leader election holds no lease.
hub_agent_deployed() { hub get deployments -A -l app.kubernetes.io/name=hub-agent -o name --request-timeout=15s 2>/dev/null | grep -q .; }

check_not_another() {
        identity=$(value_of mc.identity "$work/hub.state")
        if [ -n "$(value_of mc.leaving "$work/hub.state")" ]; then
                problem "member $name is just leaving the fleet: wait until it is gone (leave-member.sh --name $name ...), then join again"
        elif [ -n "$identity" ] && [ "$identity" != "ServiceAccount $namespace/$account" ]; then
                problem "a member $name exists with another identity ($identity): choose another name, or let it leave first (leave-member.sh --name $name ...)"
        fi
}

member_state_template='{{range .items}}{{if eq .kind "Namespace"}}namespace.{{.metadata.name}}={{.metadata.uid}}
{{else if eq .kind "Secret"}}secret=yes
{{with .metadata.annotations}}{{with index . "kubernetes-fleet.io/member-name"}}secret.member={{.}}
{{end}}{{with index . "kubernetes-fleet.io/hub-server"}}secret.hub={{.}}
{{end}}{{end}}{{with .data}}{{with .token}}token={{base64decode .}}
{{end}}{{end}}{{else if eq .metadata.name "clusterobjectsets.olm.operatorframework.io"}}sets={{with .metadata.annotations}}{{with index . "meta.helm.sh/release-name"}}{{.}}{{end}}{{end}}
{{range .metadata.managedFields}}{{if eq .manager "join-member"}}sets.ours=yes
{{end}}{{end}}{{else}}definition={{with .metadata.annotations}}{{index . "meta.helm.sh/release-namespace"}}/{{index . "meta.helm.sh/release-name"}}{{end}}
{{end}}{{end}}'

check_member() {
        check_context member "$member_kubeconfig" "$member_context" || return
        check_server member || return
        {
                echo "create - secrets - $secret_namespace -"
                echo "create - namespaces - - -"
                echo "create apiextensions.k8s.io customresourcedefinitions - - -"
                [ "$agent" = none ] || echo "* * * - - -"
        } | check_rights member
        member get --request-timeout=15s --ignore-not-found -n "$secret_namespace" namespaces/kube-system \
                "namespaces/$namespace" "namespaces/$secret_namespace" "secrets/$secret_name" \
                "customresourcedefinitions/$applied_works" "customresourcedefinitions/$object_sets" -o go-template="$member_state_template" >"$work/member.state" 2>"$err" || {
                problem "the member's objects cannot be read: $(reason)"
        }
}

# A cluster has one agent and a name has one cluster: neither may be taken away from another.
check_member_is_free() {
        [ -s "$work/member.state" ] || return
        other=$(value_of secret.member "$work/member.state")
        [ -z "$other" ] || [ "$other" = "$name" ] ||
                problem "the member cluster is joined already, as $other: let it leave first (leave-member.sh --name $other ...)"
        cluster=$(value_of namespace.kube-system "$work/member.state")
        before=$(value_of account.cluster "$work/hub.state" 2>/dev/null)
        [ -z "$before" ] || [ "$before" = "$cluster" ] || [ "$replace" = yes ] ||
                problem "another cluster has joined as $name: choose another name, or give --replace if that cluster is gone for good"
        [ -z "$before" ] || [ "$before" = "$cluster" ] || taking_over=yes
        if [ "$agent" = helm ] && command -v helm >/dev/null 2>&1; then
                other=$(member_helm get values "$release" -n "$namespace" 2>/dev/null | sed -n 's/^ *memberClusterName: *"\{0,1\}\([^" ]*\).*/\1/p')
                [ -z "$other" ] || [ "$other" = "$name" ] ||
                        problem "helm release $release in $namespace is the agent of member $other: let it leave first (leave-member.sh --name $other ...)"
        fi
}

# Address and authority that the member will use, tried from here with the member's token if it has one.
check_hub_server() {
        [ -s "$work/hub.config" ] || return
        sed -n '/^pem=/,$p' "$work/hub.config" | sed '1s/^pem=//' >"$work/ca.crt"
        [ -z "$hub_ca" ] || cat "$hub_ca" >"$work/ca.crt"
        if [ ! -s "$work/ca.crt" ] && [ -n "$(value_of insecure "$work/hub.config")" ]; then
                problem "hub context \"$hub_context\" does not verify the hub's certificate, so its authority is not known: give --hub-ca FILE"
        fi
        if [ -z "$hub_server" ]; then
                hub_server=$(value_of server "$work/hub.config")
                check_hub_server_text
                case $agent.$hub_server in
                none.*) ;;
                *//127.* | *//localhost[:/]* | *'//[::1]'*)
                        problem "the kubeconfig's address of the hub, $hub_server, is this machine's own: pods of the member cannot reach it; give --hub-server URL" ;;
                esac
        fi
        token_valid=no
        problems || seen_already || try_hub "$hub_server" || try_hub "$(value_of server "$work/hub.config")" quietly
}

# Address and authority of the kubeconfig have just served, and there is no token to try.
seen_already() {
        [ -z "$(value_of token "$work/member.state")$(value_of insecure "$work/hub.config")$hub_ca" ] &&
                [ "$hub_server" = "$(value_of server "$work/hub.config")" ]
}

# Sets token_valid. A server that refuses an anonymous or expired caller is there nevertheless.
try_hub() {
        [ "$server_check" != no ] || [ "${2:-}" = quietly ] || return 1
        write_kubeconfig "$1"
        if kubectl --kubeconfig "$work/try" version --request-timeout=15s >"$work/out" 2>"$err"; then
                [ -z "$(value_of token "$work/member.state")" ] || token_valid=yes
                return 0
        fi
        case $(reason) in
        *nauthorized* | *orbidden* | *"must be logged in"* | *"provide credentials"*) return 0 ;;
        esac
        [ "${2:-}" != quietly ] || return 0
        explain_hub_server "$1" "$(reason)"
        return 1
}

write_kubeconfig() {
        # Without any token kubectl would ask for a name and a password.
        bearer=$(value_of token "$work/member.state")
        {
                printf 'apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{ name: x, context: { cluster: x, user: x } }]\n'
                printf 'clusters:\n- name: x\n  cluster:\n    server: "%s"\n' "$1"
                [ ! -s "$work/ca.crt" ] || printf '    certificate-authority: "%s"\n' "$work/ca.crt"
                printf 'users:\n- name: x\n  user: { token: "%s" }\n' "${bearer:-none}"
        } >"$work/try"
}

explain_hub_server() {
        case $2 in
        *"unknown authority"*) problem "hub address $1: its certificate is not signed by the given authority (--hub-ca or the kubeconfig's): $2" ;;
        *"certificate is valid for"* | *"doesn't contain any IP SANs"* | *"is not valid for any names"*)
                problem "hub address $1: its certificate does not name that address: $2" ;;
        *x509*) problem "hub address $1: its certificate is not accepted: $2" ;;
        *)
                if [ "$server_check" = warn ]; then
                        say "warning: hub address $1 cannot be reached from here ($2); hoping that the member can" >&2
                else
                        problem "hub address $1 cannot be reached from here: $2; if only members reach it, add --skip-hub-server-check"
                fi
                ;;
        esac
}

# The chart's values; those of the user come after them and win.
chart_values() {
        printf 'config:\n  hubURL: "%s"\n  hubCA: "%s"\n  memberClusterName: "%s"\n' "$hub_server" "$ca_base64" "$name"
        printf 'secret: { name: "%s", namespace: "%s" }\nnamespace: "%s"\n' "$secret_name" "$secret_namespace" "$namespace"
        image_values image "$image_repository"
        case $image_repository in
        */*) image_values refreshtoken "${image_repository%/*}/refresh-token" ;;
        *) image_values refreshtoken "" ;;
        esac
}

image_values() {
        [ -n "$2$image_tag" ] || return 0
        echo "$1:"
        [ -z "$2" ] || printf '  repository: "%s"\n' "$2"
        [ -z "$image_tag" ] || printf '  tag: "%s"\n' "$image_tag"
}

# kubectl encodes, so that no base64 program is needed.
encode_ca() {
        ca_base64=''
        [ ! -s "$work/ca.crt" ] || ca_base64=$(kubectl create secret generic x --from-file=ca="$work/ca.crt" --dry-run=client -o jsonpath='{.data.ca}')
}

render() {
        version=$(cat "$work/member.version")
        eval "helm template \"\$release\" \"\$chart\" --kube-version '$version' -n \"\$namespace\" -f \"\$work/values\" $helm_args \"\$@\"" 2>"$err"
}

# The chart itself checks its values, so it is rendered before anything is changed.
check_rendering() {
        [ "$agent" != none ] && ! problems || return
        encode_ca
        chart_values >"$work/values"
        render >"$work/rendered" || {
                problem "chart $chart cannot be rendered: $(helm_reason)"
                return
        }
        ! grep -q 'image: "\{0,1\}registry\.example\.com/' "$work/rendered" ||
                problem "no image for the agent, and there is no public one: give --image-repository and --image-tag (charts/member-agent/README.md tells how to build it)"
}

# ---- the hub's side ------------------------------------------------------------------------------------------

role_yaml() {
        cat <<EOT
---
# Lets the member renew its own token, and no other.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: "$account", namespace: "$namespace" }
rules:
- { apiGroups: [""], resources: [serviceaccounts/token], resourceNames: ["$account"], verbs: [create] }
EOT
}

binding_yaml() {
        cat <<EOT
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: "$account", namespace: "$namespace" }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: "$account" }
subjects: [{ kind: ServiceAccount, name: "$account", namespace: "$namespace" }]
EOT
}

account_yaml() {
        cat <<EOT
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: "$account"
  namespace: "$namespace"
  annotations: { kubernetes-fleet.io/member-cluster-id: "$(value_of namespace.kube-system "$work/member.state")" }
EOT
}

secret_yaml() {
        cat <<EOT
---
apiVersion: v1
kind: Secret
metadata: { name: "$account-token", namespace: "$namespace", annotations: { kubernetes.io/service-account.name: "$account" } }
type: kubernetes.io/service-account-token
EOT
}

member_cluster_yaml() {
        cat <<EOT
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: { name: "$name" }
spec:
  identity: { kind: ServiceAccount, name: "$account", namespace: "$namespace", apiGroup: "" }
  heartbeatPeriodSeconds: ${heartbeat:-60}
EOT
}

namespace_yaml() { printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: "%s" }\n' "$1"; }

# What is missing on the hub goes to $work/hub.create, what differs to $work/hub.replace. The account of a cluster that
# another one takes the place of is made anew, so that what that cluster still holds opens nothing any more.
plan_hub() {
        state=$work/hub.state
        [ "$taking_over" = no ] || {
                grep -v '^account\|^secret=' "$state" >"$work/hub.kept"
                state=$work/hub.kept
        }
        {
                [ -n "$(value_of namespace "$state")" ] || namespace_yaml "$namespace"
                [ -n "$(value_of account "$state")" ] || account_yaml
                [ -n "$(value_of role "$state")" ] || [ "$token_kind" = secret ] || role_yaml
                [ -n "$(value_of binding "$state")" ] || [ "$token_kind" = secret ] || binding_yaml
                [ "$token_kind" = bound ] || [ -n "$(value_of secret "$state")" ] || secret_yaml
                [ -n "$(value_of mc "$state")" ] || member_cluster_yaml
        } >"$work/hub.create"
        case $(value_of role "$state") in
        '' | "[][serviceaccounts/token][$account][create]") ;;
        *) role_yaml >>"$work/hub.replace" ;;
        esac
        case $(value_of binding "$state") in
        '' | "Role $account ServiceAccount $namespace/$account") ;;
        *) binding_yaml >>"$work/hub.replace" ;;
        esac
        before=$(value_of account.cluster "$state")
        now=$(value_of namespace.kube-system "$work/member.state")
        if [ -n "$(value_of account "$state")" ] && [ "$before" != "$now" ]; then
                account_yaml >>"$work/hub.replace"
        fi
        now=$(value_of mc.heartbeat "$state")
        new_heartbeat=''
        [ -z "$now" ] || [ -z "$heartbeat" ] || [ "$now" = "$heartbeat" ] || new_heartbeat=$heartbeat
}

# All that change_hub is going to do, asked beforehand.
check_changes() {
        [ "$taking_over" = no ] || ask_hub "to delete the account that was $name" \
                -n "$namespace" delete "serviceaccounts/$account" "secrets/$account-token" --ignore-not-found --wait=false
        # In a namespace that is not there yet nothing can be tried.
        if grep -q '^kind: Namespace$' "$work/hub.create"; then
                { namespace_yaml "$namespace" && member_cluster_yaml; } >"$work/hub.try"
        else
                cp "$work/hub.create" "$work/hub.try"
        fi
        [ ! -s "$work/hub.try" ] || ask_hub "what $name needs" create --validate=false -f "$work/hub.try"
        [ ! -s "$work/hub.replace" ] || ask_hub "what $name needs" replace --validate=false -f "$work/hub.replace"
        [ -z "$new_heartbeat" ] || ask_hub "the heartbeat of $name" patch "memberclusters.cluster.kubernetes-fleet.io/$name" \
                --type=merge -p "{\"spec\":{\"heartbeatPeriodSeconds\":$new_heartbeat}}"
        tell_guard
}

change_hub() {
        [ "$taking_over" = no ] || {
                last_heartbeat=$(heartbeat_of) || last_heartbeat=unknown
                hub -n "$namespace" delete "serviceaccounts/$account" "secrets/$account-token" --ignore-not-found >"$work/out" 2>"$err" ||
                        fail "the hub refused: $(reason)"
                sed 's/^/hub: /' "$work/out"
        }
        if [ -s "$work/hub.create" ]; then
                hub create --validate=false -f "$work/hub.create" >"$work/out" 2>"$err" || fail "the hub refused: $(reason)"
                sed 's/^/hub: /' "$work/out"
        fi
        if [ -s "$work/hub.replace" ]; then
                hub replace --validate=false -f "$work/hub.replace" >"$work/out" 2>"$err" || fail "the hub refused: $(reason)"
                sed 's/^/hub: /' "$work/out"
        fi
        [ -z "$new_heartbeat" ] || {
                hub patch "memberclusters.cluster.kubernetes-fleet.io/$name" --type=merge \
                        -p "{\"spec\":{\"heartbeatPeriodSeconds\":$new_heartbeat}}" >"$work/out" 2>"$err" || fail "the hub refused: $(reason)"
                sed 's/^/hub: /' "$work/out"
        }
}

# ---- the token -----------------------------------------------------------------------------------------------

# kubectl has `create token` since 1.24. Before, a TokenRequest goes raw, and `--raw` takes the whole path of the server's
# URL, which later versions put before it themselves.
request_bound_token() {
        if hub create token --help 2>/dev/null | grep -q -- --duration; then
                hub create token "$account" -n "$namespace" --duration="${token_seconds}s" -o json
                return
        fi
        server=$(value_of server "$work/hub.config")
        path=${server#https://*/}
        [ "$path" != "$server" ] && path=/${path%/} || path=
        printf '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":%s}}' "$token_seconds" |
                hub create --raw "$path/api/v1/namespaces/$namespace/serviceaccounts/$account/token" -f -
}

issue_bound_token() {
        request_bound_token >"$work/out" 2>"$err" || fail "the hub issued no token for $account: $(reason)"
        token=$(sed -n 's/.*"token": *"\([^"]*\)".*/\1/p' "$work/out")
        [ -n "$token" ] || fail "the hub issued no token for $account: its answer has none"
        say "hub: token issued, valid until $(sed -n 's/.*"expirationTimestamp": *"\([^"]*\)".*/\1/p' "$work/out"); the member renews it"
}

# The token controller fills the Secret in its own time.
issue_secret_token() {
        tries=0
        until token=$(hub -n "$namespace" get secret "$account-token" -o go-template='{{with .data}}{{with .token}}{{base64decode .}}{{end}}{{end}}' 2>"$err") && [ -n "$token" ]; do
                tries=$((tries + 1))
                [ "$tries" -lt 30 ] || fail "no token appeared in Secret $namespace/$account-token on the hub: $(reason)"
                sleep 1
        done
        say "hub: token taken from Secret $namespace/$account-token; it never expires"
}

# ---- the member's side ---------------------------------------------------------------------------------------

member_secret_yaml() {
        cat <<EOT
---
apiVersion: v1
kind: Secret
metadata:
  name: "$secret_name"
  namespace: "$secret_namespace"
  annotations: { kubernetes-fleet.io/member-name: "$name", kubernetes-fleet.io/hub-server: "$hub_server" }
type: Opaque
stringData: { token: "$token" }
EOT
}

# `create` and `replace` leave no copy of the token in an annotation, as `apply` would.
change_member() {
        {
                [ -n "$(value_of "namespace.$namespace" "$work/member.state")" ] || namespace_yaml "$namespace"
                [ -n "$(value_of "namespace.$secret_namespace" "$work/member.state")" ] || [ "$secret_namespace" = "$namespace" ] || namespace_yaml "$secret_namespace"
                [ -n "$(value_of secret "$work/member.state")" ] || [ "$issue_token" = no ] || member_secret_yaml
        } >"$work/member.create"
        set --
        if [ "$agent" = none ] && [ -z "$(sed -n '/^definition=/p' "$work/member.state")" ]; then
                ! definitions_folder || set -- -f "$folder" --field-manager=join-member
                [ $# -eq 0 ] || ! sets_are_there || rm -f "$folder"/*clusterobjectsets*
        fi
        if [ -s "$work/member.create" ] || [ $# -gt 0 ]; then
                [ ! -s "$work/member.create" ] || set -- -f "$work/member.create" "$@"
                member create --validate=false "$@" >"$work/out" 2>"$err" || fail "the member refused: $(reason)"
                sed 's/^/member: /' "$work/out"
        fi
        if [ "$issue_token" = yes ] && [ -n "$(value_of secret "$work/member.state")" ]; then
                member_secret_yaml | member replace --validate=false -f - >"$work/out" 2>"$err" || fail "the member refused: $(reason)"
                sed 's/^/member: /' "$work/out"
        fi
}

write_credentials() {
        mkdir -p "$credentials" && printf '%s' "$token" >"$credentials/token" && cat "$work/ca.crt" >"$credentials/ca.crt" &&
                printf 'HUB_SERVER_URL=%s\nMEMBER_CLUSTER_NAME=%s\nCONFIG_PATH=%s\nCA_BUNDLE=%s\n' "$hub_server" "$name" \
                        "$credentials/token" "$credentials/ca.crt" >"$credentials/agent.env" ||
                fail "the credentials cannot be written to $credentials"
}

install_agent() {
        if [ "$agent" = none ]; then
                update_definitions
                return
        fi
        "install_with_$agent"
}

install_with_manifest() {
        render --include-crds | leave_foreign | member apply --field-manager=join-member -f - >"$work/out" 2>"$err" || fail "the member refused the agent: $(reason)"
        grep -v ' unchanged$' "$work/out" | sed 's/^/member: /'
        ! grep -qv ' unchanged$' "$work/out" || changed=yes
}

install_with_helm() {
        status=$(member_helm status "$release" -n "$namespace" 2>/dev/null | sed -n 's/^STATUS: *//p')
        case $status in
        deployed)
                member_helm get manifest "$release" -n "$namespace" 2>/dev/null | grep . >"$work/installed"
                leave_foreign <"$work/rendered" | grep . | cmp -s - "$work/installed" && return
                ;;
        # An interrupted run leaves the release locked.
        pending-install | uninstalling) member_helm uninstall "$release" -n "$namespace" >/dev/null 2>&1 ;;
        pending-*) member_helm rollback "$release" -n "$namespace" >/dev/null 2>&1 ;;
        esac
        adopt_definition
        eval "member_helm upgrade --install \"\$release\" \"\$chart\" -n \"\$namespace\" -f \"\$work/values\" $helm_args" >"$work/out" 2>"$err" ||
                fail "helm could not install the agent: $(helm_reason)"
        say "member: helm release $release $([ "$status" = deployed ] && echo upgraded || echo installed) in $namespace"
        changed=yes
}

# A definition that kubectl or another release left behind would make helm refuse; deleting it would delete what was placed.
adopt_definition() {
        case $(sed -n 's/^definition=/x/p' "$work/member.state") in
        '' | "x$namespace/$release") ;;
        *) adopt "$applied_works" ;;
        esac
        sets_are_foreign || ! sets_are_there || [ "$(value_of sets "$work/member.state")" = "$release" ] || adopt "$object_sets"
}

adopt() {
        member label --overwrite crd "$1" app.kubernetes.io/managed-by=Helm >/dev/null 2>"$err" &&
                member annotate --overwrite crd "$1" "meta.helm.sh/release-name=$release" "meta.helm.sh/release-namespace=$namespace" >/dev/null 2>"$err" ||
                fail "the member refused: $(reason)"
}

# ClusterObjectSets may be the hub chart's, on a cluster that is hub and member, or OLM's: then they are left alone.
sets_are_there() { grep -q '^sets=' "$work/member.state"; }
sets_are_foreign() {
        sets_are_there || return
        case $(value_of sets "$work/member.state") in
        "$release") return 1 ;;
        '') [ -z "$(value_of sets.ours "$work/member.state")" ] ;;
        esac
}

# Takes their definition out of what is rendered.
leave_foreign() {
        if ! sets_are_foreign; then
                cat
                return
        fi
        # shellcheck disable=SC2016 # awk's own
        awk '/^---/ { if (!foreign) printf "%s", document; document = ""; foreign = 0 }
                { document = document $0 "\n" }
                /^  name: clusterobjectsets\.olm\./ { foreign = 1 }
                END { if (!foreign) printf "%s", document }'
}

# Without helm, those of a chart in a folder: new ones come with the Secret, present ones are brought up to date.
definitions_folder() {
        for folder in "$chart/files/crds" "$chart/crds"; do
                [ -d "$folder" ] || continue
                rm -rf "$work/definitions" && mkdir "$work/definitions" && cp "$folder"/*.yaml "$work/definitions/" || fail "$folder cannot be read"
                folder=$work/definitions
                ! sets_are_foreign || rm -f "$folder"/*clusterobjectsets*
                return 0
        done
        say "member: no CustomResourceDefinitions found in $chart: install that of AppliedWork yourself"
        return 1
}

update_definitions() {
        [ -n "$(sed -n '/^definition=/p' "$work/member.state")" ] && definitions_folder || return 0
        member apply --server-side --force-conflicts --field-manager=join-member --validate=false -f "$folder" >"$work/out" 2>"$err" ||
                fail "the member refused the agent's CustomResourceDefinitions: $(reason)"
}

# ---- waiting, and what to tell when it was in vain -------------------------------------------------------------

heartbeat_of() {
        hub -n "fleet-member-$name" get "internalmemberclusters.cluster.kubernetes-fleet.io/$name" --ignore-not-found \
                -o go-template='{{range .status.agentStatus}}{{.lastReceivedHeartbeat}} {{end}}' 2>"$err"
}

# The hub still counts the cluster that was there before as joined: the new one has when its agent speaks.
wait_heartbeat() {
        [ "$last_heartbeat" != unknown ] || return 0
        waited=0
        while now=$(heartbeat_of) && [ "$now" = "$last_heartbeat" ] && [ "$waited" -lt "$timeout_seconds" ]; do
                waited=$((waited + 1))
                sleep 1
        done
        [ "$now" != "$last_heartbeat" ] || {
                diagnose >&2
                exit 1
        }
}

wait_joined() {
        [ "$(value_of mc.joined "$work/hub.state")$taking_over" = Trueno ] || say "waiting until $name has joined (at most $timeout)"
        [ "$taking_over" = no ] || wait_heartbeat
        hub wait --for=condition=Joined "memberclusters.cluster.kubernetes-fleet.io/$name" --timeout="${timeout_seconds}s" >/dev/null 2>"$err" && return 0
        diagnose >&2
        exit 1
}

diagnose() {
        printf '%s: %s has not joined within %s. What is known:\n' "$program" "$name" "$timeout"
        hub get "memberclusters.cluster.kubernetes-fleet.io/$name" -o go-template='{{range .status.conditions}}  hub condition {{.type}}={{.status}} {{.reason}}: {{.message}}
{{end}}{{range .status.agentStatus}}  agent {{.type}}: last heartbeat {{.lastReceivedHeartbeat}}
{{end}}' 2>/dev/null
        # shellcheck disable=SC2016 # $pod is the template's own
        member -n "$namespace" get pods -l app.kubernetes.io/name=member-agent -o go-template='{{range .items}}{{$pod := .metadata.name}}{{range .status.containerStatuses}}  {{$pod}}/{{.name}}:{{if .ready}} ready{{end}}{{with .state.waiting}} {{.reason}} {{.message}}{{end}}{{with .lastState.terminated}} ended before with {{.reason}} {{.exitCode}}{{end}}
{{end}}{{end}}' >"$work/pods" 2>/dev/null
        cat "$work/pods"
        member -n "$namespace" get events --sort-by=.metadata.creationTimestamp -o go-template='{{range .items}}  event {{.involvedObject.kind}}/{{.involvedObject.name}} {{.reason}}: {{.message}}
{{end}}' 2>/dev/null | tail -n 5
        member -n "$namespace" logs -l app.kubernetes.io/name=member-agent --tail=5 --all-containers >"$work/logs" 2>/dev/null
        sed 's/^/  log /' "$work/logs"
        advise
}

advise() {
        if grep -q 'ImagePull\|ErrImage\|InvalidImageName' "$work/pods"; then
                advice='the image cannot be pulled: see --image-repository and --image-tag'
        elif grep -q 'certificate' "$work/logs"; then
                advice='the agent does not accept the certificate of the hub: see --hub-ca and --hub-server'
        elif grep -qi 'unauthorized\| 401' "$work/logs"; then
                advice='the hub does not accept the token: run this again with --new-token'
        elif grep -qi 'connect\|resolve\|no such host\|timed out\|refused' "$work/logs"; then
                advice="the agent does not reach the hub at $hub_server: see --hub-server"
        elif [ ! -s "$work/pods" ]; then
                advice="no pod of the agent exists: kubectl -n $namespace describe deployments on the member"
        else
                advice="read the agent's log: kubectl -n $namespace logs -l app.kubernetes.io/name=member-agent on the member"
        fi
        printf 'What to try: %s. Then run this again: it goes on where it stopped.\n' "$advice"
}

# ---- all of it -----------------------------------------------------------------------------------------------

tell_plan() {
        say "dry run; a run would:"
        [ "$taking_over" = no ] || say "  delete the account of the cluster that was $name before on the hub, so that its tokens end"
        [ ! -s "$work/hub.create" ] || sed -n 's/^kind: \(.*\)/  create \1 on the hub/p' "$work/hub.create"
        [ ! -s "$work/hub.replace" ] || sed -n 's/^kind: \(.*\)/  bring \1 on the hub in line/p' "$work/hub.replace"
        [ -z "$new_heartbeat" ] || say "  set the heartbeat of $name to $new_heartbeat s"
        [ "$issue_token" = no ] || say "  issue a token ($token_kind) and put it into Secret $secret_namespace/$secret_name on the member"
        case $agent in
        none) say "  install the agent's CustomResourceDefinitions on the member, and no agent" ;;
        *) say "  install or upgrade the agent from $chart ($agent), and wait until $name has joined" ;;
        esac
}

tell_next() {
        [ "$changed" = yes ] || say "nothing to do: everything was as it should be"
        if [ "$agent" = none ]; then
                say "$name has its identity on the hub; it joins when its agent starts${credentials:+ with the settings in $credentials/agent.env}"
                return
        fi
        say "$name has joined the fleet"
        say "next: kubectl --context ${hub_context:-HUB} get membercluster $name; place something on it with a ClusterResourcePlacement"
}

check_tools
check_values
check_agent
# Both sides at once: each is a chain of calls to a server that may be far away. They meet in files of $work.
(err=$work/hub.err && check_hub) &
(err=$work/member.err && check_member) &
wait
check_member_is_free
check_hub_server
check_rendering
stop_on_problems
plan_hub
check_changes
stop_on_problems
say "checked: hub $(value_of server "$work/hub.config") ($(cat "$work/hub.version")), member $(value_of server "$work/member.config") ($(cat "$work/member.version"))"

token=$(value_of token "$work/member.state")
issue_token=yes
[ "$new_token" = yes ] || [ "$token_valid" = no ] || [ "$(value_of secret.member "$work/member.state")" != "$name" ] ||
        [ "$(value_of secret.hub "$work/member.state")" != "$hub_server" ] || [ -z "$(value_of account "$work/hub.state")" ] || [ "$taking_over" = yes ] || issue_token=no
if [ "$dry_run" = yes ]; then
        tell_plan
        exit 0
fi

changed=no
[ ! -s "$work/hub.create" ] && [ ! -s "$work/hub.replace" ] && [ -z "$new_heartbeat" ] && [ "$issue_token" = no ] || changed=yes
change_hub
[ "$issue_token" = no ] || "issue_${token_kind}_token"
change_member
[ -z "$credentials" ] || write_credentials
install_agent
[ "$agent" = none ] || wait_joined
tell_next
