#!/bin/bash
# Runs the gate and leaves its result in $FOLDER. A regression does not end the action here: it is shown first.
set -euo pipefail

mkdir -p "$FOLDER"
rm -f "$FOLDER/gate.json"
if [ "$HISTORY" = true ] && [ -s "$FOLDER/history/points" ]; then
  "$MALLOW" history import "$FOLDER/history/points" || echo "The history of earlier runs cannot be used."
fi

arguments=()
while IFS= read -r argument; do
  [ -z "$argument" ] || arguments+=("$argument")
done <<<"$GATE_ARGUMENTS"
[ "$STRICT" != true ] || arguments+=(--strict)

# Until the token comes again, the runner takes nothing for a command that a program prints.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
status=0
env -u GITHUB_STEP_SUMMARY -u GITHUB_OUTPUT -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_STATE \
  "$MALLOW" gate --save "$FOLDER/gate.json" "${arguments[@]}" || status=$?
echo
echo "::$token::"

if [ "$HISTORY" = true ]; then
  mkdir -p "$FOLDER/history"
  "$MALLOW" history export -o "$FOLDER/history/points" || echo "The history cannot be kept."
fi
{
  echo "status=$status"
  [ ! -s "$FOLDER/gate.json" ] || echo "result=$FOLDER/gate.json"
} >>"$GITHUB_OUTPUT"
