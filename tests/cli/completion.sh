#!/bin/sh
# Completion in real shells: words are typed, the tab key is pressed, and what the shell makes of them is read back.
# usage: completion.sh CHASQUI WORK-FOLDER. Exit status 77: no such shell here.
set -eu
chasqui=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
PATH=$(dirname "$chasqui"):$PATH
export PATH
touch b.json
tried=0

# expect SHELL TYPED RESULT
expect() {
  printf '%s\n' "$typed" | tr -d '\r' | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >seen
  if ! grep -qF -- "$3" seen; then
    echo "$1: '$2' did not become '$3' but:"
    cat seen
    exit 1
  fi
  echo "ok: $1: $2<tab>"
}

if command -v bash >/dev/null; then
  tried=1
  chasqui completion bash >c.bash
  bash_reply() {
    typed=$(bash --norc -c 'source c.bash; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _chasqui; echo "${COMPREPLY[*]}"' bash "$1")
    expect bash "$1" "$2"
  }
  bash_reply "chasqui ver" verify
  bash_reply "chasqui plan allr" allreduce
  bash_reply "chasqui explain allr" allreduce
  bash_reply "chasqui man be" bench
  bash_reply "chasqui draw b.json --what ch" chart
  bash_reply "chasqui draw b" b.json
  bash_reply "chasqui simulate b.json --lat" --latency
fi

if command -v zsh >/dev/null && zsh -f -c 'zmodload zsh/zpty' 2>/dev/null; then
  tried=1
  chasqui completion zsh >c.zsh
  zsh_reply() {
    typed=$(zsh -f -c '
      zmodload zsh/zpty
      zpty shell "TERM=dumb zsh -f -i"
      zpty -w shell "PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source c.zsh; bindkey \"^I\" complete-word; echo READY"
      zpty -r -t shell line; for i in {1..100}; do zpty -r -t shell line && [[ $line == *READY* && $line != *echo* ]] && break; sleep 0.1; done
      zpty -n -w shell "$1"$'"'\\t'"'
      for i in {1..150}; do
        while zpty -r -t shell line; do seen+=$line; done
        [[ $seen == *$2* ]] && break
        sleep 0.1
      done
      print -r -- "$seen"
      zpty -d shell' zsh "$1" "$2")
    expect zsh "$1" "$2"
  }
  zsh_reply "chasqui ver" "chasqui verify"
  zsh_reply "chasqui plan allr" "chasqui plan allreduce"
  zsh_reply "chasqui explain allr" "chasqui explain allreduce"
  zsh_reply "chasqui man be" "chasqui man bench"
  zsh_reply "chasqui draw b.json --what ch" "--what chart"
  zsh_reply "chasqui draw b" "draw b.json"
  zsh_reply "chasqui simulate b.json --lat" "--latency"
fi
[ $tried = 1 ] || exit 77
