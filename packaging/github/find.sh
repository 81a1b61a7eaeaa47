#!/bin/bash
# Finds mallow, or builds it from the sources that this action came with, and tells the next steps.
set -euo pipefail

if [ -n "$MALLOW" ]; then
  mallow=$(realpath -e -- "$MALLOW")
elif ! mallow=$(command -v mallow); then
  mallow=$(realpath -e -- "$GITHUB_ACTION_PATH/../../mallow")
fi
"$mallow" version # builds it, where it is the launcher of a source tree
echo "mallow=$mallow" >>"$GITHUB_OUTPUT"
