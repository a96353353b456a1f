# Completion for bash of fab_info, fab_run, fab_sim and fab_tune: the options are those that the tool's --help lists,
# the collectives and their algorithms those of fab_sim --list.

_fab_tool() {
  local tool=$1 current=$2 previous=$3 words
  COMPREPLY=()
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

complete -F _fab_tool fab_info fab_run fab_sim fab_tune
