#!/bin/bash
# Shows what the gate found: the summary of the job, annotations, test cases, the comment.
set -euo pipefail

if [ -z "$RESULT" ]; then
  echo "mallow gate left no result: its step says why."
  exit 0
fi
folder=$(dirname -- "$RESULT")
arguments=(--summary "$GITHUB_STEP_SUMMARY" --annotations "$folder/annotations" --junit "$folder/gate.xml" --root "$GITHUB_WORKSPACE" --name "$NAME")
[ "$STRICT" != true ] || arguments+=(--strict)
[ "$COMMENT" != true ] || arguments+=(--comment github)
"$MALLOW" gate publish "${arguments[@]}" "$RESULT"
cat "$folder/annotations" # the runner reads them here
echo "junit=$folder/gate.xml" >>"$GITHUB_OUTPUT"
