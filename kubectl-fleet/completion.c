/* kubectl fleet completion: scripts that let a shell ask command_complete(). */
#include "kubectl-fleet/command.h"

static const char bash_script[] =
        "# Completion of kubectl-fleet for bash: source <(kubectl-fleet completion bash)\n"
        "_kubectl_fleet() {\n"
        "        local line value current answers directive words\n"
        "        read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
        "        [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')\n"
        "        mapfile -t answers < <(\"${words[0]}\" __complete \"${words[@]:1}\" 2>/dev/null)\n"
        "        [ ${#answers[@]} -gt 0 ] || return\n"
        "        directive=${answers[-1]}\n"
        "        unset 'answers[-1]'\n"
        "        current=${words[-1]}\n"
        "        COMPREPLY=()\n"
        "        for line in \"${answers[@]}\"; do\n"
        "                value=${line%%$'\\t'*}\n"
        "                [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && value=${value#*=}\n"
        "                COMPREPLY+=(\"$value\")\n"
        "        done\n"
        "        if [ \"$directive\" = :0 ]; then mapfile -t COMPREPLY < <(compgen -f -- \"${current#*=}\"); "
        "fi\n"
        "}\n"
        "complete -F _kubectl_fleet kubectl-fleet\n";

static const char zsh_script[] =
        "#compdef kubectl-fleet\n"
        "# Completion of kubectl-fleet for zsh: kubectl-fleet completion zsh "
        ">\"${fpath[1]}/_kubectl-fleet\"\n"
        "_kubectl-fleet() {\n"
        "        local line directive value\n"
        "        local -a answers offers\n"
        "        answers=(\"${(@f)$(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
        "        directive=${answers[-1]}\n"
        "        for line in \"${(@)answers[1,-2]}\"; do\n"
        "                value=${line%%$'\\t'*}\n"
        "                if [[ $line == *$'\\t'* ]]; then\n"
        "                        offers+=(\"${value//:/\\\\:}:${line#*$'\\t'}\")\n"
        "                else\n"
        "                        offers+=(\"${value//:/\\\\:}\")\n"
        "                fi\n"
        "        done\n"
        "        if [[ $directive == :0 ]]; then _files; else _describe -V completions offers; fi\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _kubectl-fleet ]; then _kubectl-fleet; else compdef _kubectl-fleet "
        "kubectl-fleet; fi\n";

static const char fish_script[] =
        "# Completion of kubectl-fleet for fish: kubectl-fleet completion fish | source\n"
        "function __kubectl_fleet_complete\n"
        "        set -l words (commandline -opc)\n"
        "        set -l answers ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)\n"
        "        if test \"$answers[-1]\" = ':0'\n"
        "                __fish_complete_path (commandline -ct)\n"
        "        else if test (count $answers) -gt 1\n"
        "                printf '%s\\n' $answers[1..-2]\n"
        "        end\n"
        "end\n"
        "complete -c kubectl-fleet -f -a '(__kubectl_fleet_complete)'\n";

static const struct {
        const char *shell, *script;
} scripts[] = { { "bash", bash_script }, { "fish", fish_script }, { "zsh", zsh_script } };

static const char *script_for(const struct session *s)
{
        for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
                if (text_equal(scripts[i].shell, session_argument(s, 0)))
                        return scripts[i].script;
        return NULL;
}

static int check_completion(const struct session *s, struct error *err)
{
        if (script_for(s))
                return 0;
        return error_set(err, ERR_INVALID, "there is no completion for \"%s\": bash, fish or zsh",
                         session_argument(s, 0));
}

static int run_completion(struct session *s, struct error *err)
{
        return buf_append_str(&s->out, script_for(s));
}

static const struct command_argument arguments[] = { { "shell", COMPLETES_SHELL } };

const struct command completion_command = {
        .name = "completion",
        .usage = "<shell>",
        .summary = "Print a script that completes words in bash, fish or zsh",
        .about = "Print a script that completes commands, flags and the names of the hub's objects in a "
                 "shell.\n\n"
                 "For `kubectl fleet` kubectl asks a program called kubectl_complete-fleet, which `make "
                 "install-plugin`\n"
                 "puts beside kubectl-fleet: `exec kubectl-fleet __complete \"$@\"`.",
        .examples = "source <(kubectl-fleet completion bash)\n"
                    "kubectl-fleet completion zsh >\"${fpath[1]}/_kubectl-fleet\"\n"
                    "kubectl-fleet completion fish | source",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .check = check_completion,
        .run = run_completion,
};
