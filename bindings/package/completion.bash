# Completion for bash of fab_info, fab_perf, fab_run, fab_sim, fab_trace and fab_tune: the options are those that the
# --help of the tool, or of its subcommand, lists, the collectives and their algorithms those of fab_sim --list.

# The first word is a subcommand, and options are those of the subcommand; where its help has an option's values in
# braces, they are offered.
_fab_subcommands() {
  local tool=$1 current=$2 previous=$3 words files
  case ${tool##*/}:$previous in
  fab_perf:--json | fab_perf:--csv | fab_trace:-o | fab_trace:--out) files=yes ;;
  fab_trace:*) if ((COMP_CWORD > 1)) && [[ $current != -* ]]; then files=yes; fi ;;
  esac
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  if ((COMP_CWORD == 1)); then
    words=$("$tool" --help 2>/dev/null |
      awk '/^[A-Z].*:$/ { listed = $1 == "Subcommands:"; next } listed && /^  / { print $1 } /^  -/ { print $1 }' | tr ',' ' ')
  else
    local help
    help=$("$tool" "${COMP_WORDS[1]}" --help 2>/dev/null)
    words=$(sed -nE "s/^  (-.,)?$previous \\{([^}]*)\\}.*/\\2/p" <<<"$help" | tr ',' ' ')
    if [[ -z $words ]]; then words=$(grep -oE '^  -[^ ]+' <<<"$help" | tr ',' ' '); fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_fab_tool() {
  local tool=$1 current=$2 previous=$3 words
  COMPREPLY=()
  if [[ ${tool##*/} == fab_perf || ${tool##*/} == fab_trace ]]; then
    _fab_subcommands "$@"
    return
  fi
  case $previous in
  --network)
    words=$(fab_sim --list-networks 2>/dev/null | awk '{ print $1 }')
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
    return
    ;;
  --svg | --goal | -o | --out)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --choose | -c | --collective) words=$(fab_sim --list 2>/dev/null | awk '{ print $1 }' | sort -u) ;;
  --receiver-pays) words='card processor' ;;
  -a | --algorithm)
    words=$("$tool" --list 2>/dev/null | awk -v wanted="${COMP_WORDS[1]}" '$1 == wanted || wanted ~ /^-/ { print $2 }')
    ;;
  --map | --nodes | --limit | --root | --grid | -n | --ranks | -b | --bytes | --ppn | --within) return ;;  # numbers
  *)
    words=$("$tool" --help 2>/dev/null | grep -oE '^  -[^ ]+' | tr ',' ' ')
    if [[ ${tool##*/} == fab_sim && $COMP_CWORD -eq 1 && $current != -* ]]; then
      words=$("$tool" --list 2>/dev/null | awk '{ print $1 }' | sort -u)
    fi
    if [[ ${tool##*/} == fab_tune && $COMP_CWORD -eq 1 && $current != -* ]]; then words='simulate measure'; fi
    ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _fab_tool fab_info fab_perf fab_run fab_sim fab_trace fab_tune
