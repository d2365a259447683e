# shellcheck shell=sh disable=SC2034,SC2154 # variables are set here and used there, and the other way round
# What join-member.sh and leave-member.sh share: options, checks, words. POSIX sh; needs kubectl 1.20 or newer, and helm
# where a chart is installed. Sourced, not run.
#
# A check that fails calls `problem` and goes on, so that all problems are told at once; `stop_on_problems` ends them.
# Calls of kubectl are few on purpose (each costs a tenth of a second): one read gathers all that is asked of a side.

set -u
umask 077 # tokens pass through files of $work
hub_context='' member_context='' hub_kubeconfig='' member_kubeconfig='' name='' namespace=fleet-system
secret_namespace=default secret_name=hub-kubeconfig-secret release=member-agent dry_run=no
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
: >"$work/problems"
err=$work/err # error output of the last command; each side has its own while both are checked

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "$program" "$*" >&2; exit 1; }
usage_error() { printf '%s: %s\nTry %s --help.\n' "$program" "$*" "$program" >&2; exit 2; }
problem() { printf '%s\n' "$*" >>"$work/problems"; }
problems() { [ -s "$work/problems" ]; }

# Ends with all problems that were found, one a line.
stop_on_problems() {
        problems || return 0
        {
                printf '%s: nothing was changed, because:\n' "$program"
                sed 's/^/- /' "$work/problems"
        } >&2
        exit 1
}

# The last line of the error output of the last command: kubectl's own noise comes before it.
reason() { grep -v '^[WEI][0-9]\{4\} ' "$err" | grep . | tail -n 1 | sed 's/^[Ee]rror: //'; }

# All of it, in one line: helm tells what is wrong over several.
helm_reason() { grep -v '^Use --debug\|^$\|^WARNING' "$err" | sed 's/^Error: //; s/^[- ]*//' | tr '\n' ' '; }

# 'a b' -> an argument that eval gives back as it was.
quoted() { printf "'%s' " "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

# The options that both scripts have; fails at others.
take_option() { # option value
        case $1 in
        --hub-context) hub_context=$2 ;;
        --member-context) member_context=$2 ;;
        --hub-kubeconfig) hub_kubeconfig=$2 ;;
        --member-kubeconfig) member_kubeconfig=$2 ;;
        --name) name=$2 ;;
        --agent) agent=$2 ;;
        --release) release=$2 ;;
        --namespace) namespace=$2 ;;
        --secret-namespace) secret_namespace=$2 ;;
        --timeout) timeout=$2 ;;
        *) return 1 ;;
        esac
}

# ---- the two clusters -------------------------------------------------------------------------------------------

hub() { kubectl ${hub_kubeconfig:+--kubeconfig "$hub_kubeconfig"} ${hub_context:+--context "$hub_context"} "$@"; }
member() { kubectl ${member_kubeconfig:+--kubeconfig "$member_kubeconfig"} ${member_context:+--context "$member_context"} "$@"; }
member_helm() { helm ${member_kubeconfig:+--kubeconfig "$member_kubeconfig"} ${member_context:+--kube-context "$member_context"} "$@"; }

# The value of KEY in a file of `key=value` lines as the templates below print them.
value_of() { sed -n "s/^$1=//p" "$2" | head -n 1; }

# 90s, 5m, 2h, 7d -> seconds; fails where it is no such duration.
seconds() {
        case $1 in
        *[!0-9smhd]* | [smhd]* | '' | ??????????*) return 1 ;;
        esac
        digits=${1%[smhd]}
        case $digits in
        *[!0-9]*) return 1 ;;
        esac
        case $1 in
        *m) echo $((digits * 60)) ;;
        *h) echo $((digits * 3600)) ;;
        *d) echo $((digits * 86400)) ;;
        *s) echo "$digits" ;;
        *) return 1 ;;
        esac
}

# ---- checks -----------------------------------------------------------------------------------------------------

check_tools() {
        command -v kubectl >/dev/null 2>&1 && return
        problem "kubectl is not on the PATH: install kubectl 1.20 or newer"
        stop_on_problems
}

check_helm() {
        command -v helm >/dev/null 2>&1 || {
                problem "helm is not on the PATH: install helm 3 or newer, or use --agent none and install the agent yourself"
                return
        }
        helm_version=$(helm version --short 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p')
        [ "${helm_version:-0}" -ge 3 ] || problem "helm $(helm version --short 2>/dev/null) is too old: helm 3 or newer is needed"
}

check_name() {
        case $name in
        '') problem "no name for the member: give --name NAME (or MEMBER_CLUSTER)" ;;
        *[!a-z0-9-]* | -* | *-) problem "name \"$name\" is not valid: use a-z, 0-9 and '-', beginning and ending with a letter or digit" ;;
        esac
        [ ${#name} -le 50 ] || problem "name \"$name\" has ${#name} characters: at most 50, since namespace fleet-member-NAME may have 63"
}

check_namespace() { # option value
        case $2 in
        '' | *[!a-z0-9-]* | -* | *-) problem "$1: \"$2\" is not the name of a namespace" ;;
        esac
        [ ${#2} -le 63 ] || problem "$1: \"$2\" has ${#2} characters: at most 63"
}

check_timeout() {
        timeout_seconds=$(seconds "$timeout") && [ "$timeout_seconds" -ge 1 ] ||
                problem "--timeout \"$timeout\" is not a duration, such as 90s or 5m"
}

# Reads what the kubeconfig says of a side into $work/SIDE.config. SIDE is hub or member: also the name of its function.
check_context() {
        side=$1 kubeconfig=$2 context=$3
        if [ -n "$kubeconfig" ] && [ ! -r "$kubeconfig" ]; then
                problem "--$side-kubeconfig: file $kubeconfig cannot be read"
                return 1
        fi
        if [ -z "$context" ] && [ -z "$kubeconfig" ]; then
                problem "no context for the $side cluster: give --$side-context NAME (kubectl config get-contexts lists them)"
                return 1
        fi
        "$side" config view --minify --flatten -o go-template='{{with index .clusters 0}}{{with .cluster}}server={{.server}}
{{if index . "insecure-skip-tls-verify"}}insecure=yes
{{end}}{{with index . "certificate-authority-data"}}ca={{.}}
pem={{base64decode .}}
{{end}}{{end}}{{end}}' >"$work/$side.config" 2>"$err" || {
                problem "$side context \"$context\" is not usable: $(reason); contexts are: $("$side" config get-contexts -o name 2>/dev/null | tr '\n' ' ')"
                return 1
        }
        [ -n "$(value_of server "$work/$side.config")" ] || {
                problem "$side context \"$context\" names no server"
                return 1
        }
}

refused_user() { problem "the $side cluster's API server does not accept your user: $(reason); log in again, or choose another context"; }

# Is the API server there, and new enough? $work/SIDE.version gets its version.
check_server() {
        side=$1
        server=$(value_of server "$work/$side.config")
        "$side" version -o json --request-timeout=15s >"$work/$side.versions" 2>"$err" || {
                case $(reason) in
                *"logged in"* | *nauthorized*) refused_user ;;
                *) problem "the $side cluster's API server $server does not answer: $(reason)" ;;
                esac
                return 1
        }
        sed -n '/"serverVersion"/,$p' "$work/$side.versions" | sed -n 's/.*"gitVersion": *"\([^"]*\)".*/\1/p' | head -n 1 >"$work/$side.version"
        major=$(sed 's/^v\{0,1\}\([0-9]*\)\..*/\1/' "$work/$side.version")
        minor=$(sed 's/^v\{0,1\}[0-9]*\.\([0-9]*\).*/\1/' "$work/$side.version")
        case $major.$minor in
        . | *[!0-9.]*) problem "the $side cluster's API server $server tells no version; is it a Kubernetes API server?" && return 1 ;;
        esac
        [ "$major" -gt 1 ] || [ "$minor" -ge 20 ] ||
                problem "the $side cluster runs Kubernetes $(cat "$work/$side.version"): 1.20 or newer is needed"
}

# Asks the API server itself what the user may do; one line `VERB GROUP RESOURCE SUBRESOURCE NAMESPACE NAME` each on
# standard input, `-` for none. All questions go in one call.
check_rights() {
        side=$1
        cat >"$work/$side.rights"
        while read -r verb group resource subresource ns object; do
                printf -- '---\napiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nmetadata: {}\nspec:\n  resourceAttributes:\n'
                printf '    verb: "%s"\n    group: "%s"\n    resource: "%s"\n    subresource: "%s"\n    namespace: "%s"\n    name: "%s"\n' \
                        "$verb" "${group#-}" "$resource" "${subresource#-}" "${ns#-}" "${object#-}"
        done <"$work/$side.rights" >"$work/$side.reviews"
        "$side" create --validate=false -f "$work/$side.reviews" -o jsonpath='{.status.allowed}{"\n"}' >"$work/$side.answers" 2>"$err" || {
                refused_user
                return 1
        }
        while read -r verb group resource subresource ns object <&3 && read -r allowed <&4; do
                [ "$allowed" = true ] && continue
                if [ "$resource" = '*' ]; then
                        problem "your user is not an administrator of the $side cluster: the agent's ClusterRole can only be created by one"
                        continue
                fi
                what=$resource
                [ "$subresource" = - ] || what=$what/$subresource
                [ "$ns" = - ] || what="$what in namespace $ns"
                problem "your user may not $verb $what on the $side cluster: ask its administrator for that right"
        done 3<"$work/$side.rights" 4<"$work/$side.answers"
}

# ---- what the hub would say --------------------------------------------------------------------------------------

guarded=no
# What the API server says to $2... without doing it: rights are not all that it judges by. Each refusal is a problem of
# its own. What only the order of things brings is none: a Role of a step before, an account that is there until it is
# made anew; nor is a webhook of others that cannot judge without doing.
ask_hub() { # what is asked about, arguments of kubectl
        asked=$1
        shift
        hub "$@" --dry-run=server >"$work/out" 2>"$err" && return
        grep -v '^[WEI][0-9]\{4\} \|^Warning: \|^Error from server (AlreadyExists)\|^Error from server (NotFound)\|does not support dry run' "$err" | grep . |
                sed 's/^[Ee]rror[^:]*: //; s/^error when [a-z]* "[^"]*": //' >"$work/refusals"
        while read -r refusal; do
                problem "the hub would refuse $asked: $refusal"
                case $refusal in
                *guardrail* | *-guard-*) guarded=yes ;;
                esac
        done <"$work/refusals"
}

# Behind the refusals of the guard rail: what to do.
tell_guard() {
        [ "$guarded" = no ] ||
                problem "that is the guard rail of the fleet: be in whitelistedUsers of the hub's chart, in group system:masters, or a service account (charts/hub-agent/README.md, \"Whom the guard rail lets pass\")"
}
