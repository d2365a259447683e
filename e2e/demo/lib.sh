# shellcheck shell=bash
# What the scripts of the demo and their tests share: where the fleet lives, how its programs are started and kept.
# DEMO_FOLDER: where the fleet lives instead of build/demo. DEMO_MEMBERS: so many members instead of 3.
export DEMO_FOLDER=${DEMO_FOLDER:-build/demo}
demo=$DEMO_FOLDER
# shellcheck disable=SC2034 # for those who read this
members=$(seq -s " " -f "member-%g" "${DEMO_MEMBERS:-3}")
# shellcheck disable=SC2034
complete=$demo/complete # is there once the first run of e2e/demo/run came to its end
drawn=()
if [ -t 1 ]; then drawn=(--color always); fi

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
note() { printf '  %s\n' "$*"; }
die() { printf '\ndemo: %s\n' "$*" >&2; exit 1; }
hub() { kubectl --kubeconfig "$demo/kubeconfig" --context hub "$@"; }
on() { local context=$1; shift; kubectl --kubeconfig "$demo/kubeconfig" --context "$context" "$@"; }
fleet() { PATH=$PWD/build/bin:$PATH kubectl fleet "$@" --kubeconfig "$demo/kubeconfig" --context hub "${drawn[@]}"; } # found as a plugin

# What a program was when it was built: changes with each build. (An agent lets nobody but root look at its /proc entries.)
build_of() { stat -L -c '%i %Y' "$(program_of "$1")"; }
program_of() {
        case $1 in
        member-*) echo build/bin/member-agent ;;
        page) echo build/bin/kubectl-fleet ;;
        git-http | chart-server) echo "e2e/sources/$1" ;;
        *) echo "build/bin/$1" ;;
        esac
}

# Whether a program runs under its keeper, and is of the build that is there now.
running() {
        local pid keeper
        pid=$(cat "$demo/$1.pid" 2>/dev/null) && keeper=$(cat "$demo/$1.keeper" 2>/dev/null) &&
                kill -0 "$pid" "$keeper" 2>/dev/null && [ "$(build_of "$1")" = "$(cat "$demo/$1.build")" ]
}

# Starts a program under a keeper, in the background, with its log and the ids beside the other demo files.
start() {
        local name=$1; shift
        e2e/demo/down --quiet "$name"
        : >>"$demo/$name.log"
        stat -c %s "$demo/$name.log" >"$demo/$name.from"
        build_of "$name" >"$demo/$name.build"
        setsid nohup e2e/demo/keep "$demo" "$name" "$@" >>"$demo/$name.log" 2>&1 </dev/null &
}

log_since_start() { tail -c "+$(($(cat "$demo/$1.from") + 1))" "$demo/$1.log"; }

# Waits until a program has written a word into its log. What would end at the first find (grep -q) would break the
# pipe of who writes a long log.
wait_for_log() {
        local name=$1 word=$2 log
        for _ in $(seq 12000); do
                log=$'\n'$(log_since_start "$name")
                [[ $log != *"$word"* ]] || return 0
                if [[ $log == *$'\ndemo: '*' is started again'* ]]; then die "$name ended: $(tail -n 3 "$demo/$name.log")"; fi
                read -r -t 0.05 <> <(:) || true
        done
        die "$name is not ready after ten minutes: see $demo/$name.log"
}

# They stay the fleet's, so that what is started again is found again.
choose_ports() { # devcluster's, two for each of four agents, the webhooks', the artifacts', charts', Git's, two for the manifest-generator, the page's, two for each more member
        local have=0
        if [ -f "$demo/ports" ]; then have=$(wc -l <"$demo/ports"); fi
        e2e/free-ports $((16 + 2 * (${DEMO_MEMBERS:-3} > 3 ? ${DEMO_MEMBERS:-3} - 3 : 0) - have)) >>"$demo/ports"
}
port() { sed -n "$1p" "$demo/ports"; }
port_of() { # program, metrics (0) or health (1)
        case $1 in
        hub-agent) port $((2 + $2)) ;;
        member-[123]) port $((2 + 2 * ${1#member-} + $2)) ;;
        member-*) port $((9 + 2 * ${1#member-} + $2)) ;;
        chart-server) port 12 ;;
        git-http) port 13 ;;
        manifest-generator) port $((14 + $2)) ;;
        page) port 16 ;;
        esac
}
endpoints() { printf -- '--metrics-bind-address=127.0.0.1:%s --health-probe-bind-address=127.0.0.1:%s' "$(port_of "$1" 0)" "$(port_of "$1" 1)"; }

# Where the page is, with its token: as it was started last.
page_link() { log_since_start page | grep -o 'http://127[^ ]*' | tail -n 1; }

# The agents take the current context of their kubeconfig.
kubeconfig_of() { (umask 077 && sed "s/^current-context:.*/current-context: $1/" "$demo/kubeconfig" >"$demo/$1.kubeconfig"); }

# build PROGRAM...: what is missing or older than its sources.
build() {
        e2e/install-packages build
        if make --no-print-directory -s -q "$@" 2>/dev/null; then return; fi
        say "0. Building devcluster, the agents and kubectl-fleet: half a minute on two cores, the first time"
        make --no-print-directory -s -j"$(nproc)" "$@" >"$demo.build.log" 2>&1 || { tail -n 20 "$demo.build.log" >&2; die "the build failed: see $demo.build.log"; }
}

# For the tests of it: counts, and shows of what failed its last words. `scratch` is a folder of the test's own.
passed=0
failed=0
check() { # name, command...
        local name=$1 began=$SECONDS
        shift
        # shellcheck disable=SC2154 # scratch: of the test
        if "$@" >"$scratch/out" 2>&1; then
                passed=$((passed + 1))
                printf 'ok %s (%d s)\n' "$name" $((SECONDS - began))
        else
                failed=$((failed + 1))
                printf 'FAILED %s\n' "$name"
                tail -n 30 "$scratch/out"
        fi
}
