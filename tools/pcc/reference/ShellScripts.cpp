//===- ShellScripts.cpp - completion scripts of shells --------------------===//

#include "tools/pcc/reference/ShellScripts.h"

using namespace pcc::tool;

/// bash divides words at `=` and `:`, so the script joins them again, and
/// leaves the joined part out of its replies.
static constexpr char bash[] =
    R"(# Completion of pcc for bash. To load it: source <(pcc completion bash)
_pcc() {
  local -a words=() found=()
  local i word glue=
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:]* && ${#words[@]} -gt 0 ]]; then
      words[-1]+=$word
      glue=yes
    elif [[ $glue ]]; then
      words[-1]+=$word
      glue=
    else
      words+=("$word")
    fi
  done
  for i in "${!words[@]}"; do
    word=${words[i]//\\/}
    word=${word//\"/}
    words[i]=${word//\'/}
  done
  local last=${COMP_WORDS[COMP_CWORD]//[\\\"\']/}
  [[ $last == [=:]* ]] && last=
  local kept=${words[-1]}
  kept=${kept:0:${#kept}-${#last}}
  mapfile -t found < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
  COMPREPLY=()
  for word in "${found[@]}"; do
    word=${word%%$'\t'*}
    word=${word#"$kept"}
    [[ $word == *[=,/] ]] && compopt -o nospace
    [[ $word == *[^A-Za-z0-9_./,:=+@%~-]* ]] && printf -v word %q "$word"
    COMPREPLY+=("$word")
  done
}
complete -o nosort -F _pcc pcc
)";

static constexpr char zsh[] = R"(#compdef pcc
# Completion of pcc for zsh. To load it: source <(pcc completion zsh)
_pcc() {
  local line word
  local -a whole shown open openShown
  for line in "${(@f)$("${words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    word=${line%%$'\t'*}
    line=${line/$'\t'/  -- }
    if [[ $word == *[=,/] ]]; then
      open+=("$word")
      openShown+=("$line")
    else
      whole+=("$word")
      shown+=("$line")
    fi
  done
  (( $#whole )) && compadd -l -d shown -a whole
  (( $#open )) && compadd -l -S '' -d openShown -a open
  (( $#whole + $#open ))
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _pcc "$@"
else
  compdef _pcc pcc
fi
)";

static constexpr char fish[] =
    R"(# Completion of pcc for fish. To load it: pcc completion fish | source
function __pcc_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    $words[1] __complete $words[2..] "$last" 2>/dev/null
end
complete -c pcc -f -a '(__pcc_complete)'
)";

static constexpr ShellScript scripts[] = {
    {"bash", "bash-completion/completions/pcc", bash},
    {"zsh", "zsh/site-functions/_pcc", zsh},
    {"fish", "fish/vendor_completions.d/pcc.fish", fish},
};

std::span<const ShellScript> pcc::tool::shellScripts() { return scripts; }
