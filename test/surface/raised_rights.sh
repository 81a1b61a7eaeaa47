#!/bin/sh
# raised_rights.sh PROGRAM: a set-user-id copy of PROGRAM, which is linked with libmallow.a, is run by another user.
# Status 77 when not run by root, who alone can make such a copy and take another user's id.
set -u
[ "$(id -u)" -eq 0 ] || { echo "only root can make a set-user-id program of another user" >&2; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 0755 "$folder"
cp "$1" "$folder/program" && chmod 4755 "$folder/program" || exit 1
mkdir -m 0777 "$folder/recording" || exit 1
said=$(cd / && MALLOW_OPTIONS=record=$folder/recording:unknown=1 setpriv --reuid=65534 --regid=65534 --clear-groups \
  "$folder/program" 2>&1) || { echo "status $?: $said" >&2; exit 1; }
[ -z "$said" ] || { echo "it said: $said" >&2; exit 1; }
[ -z "$(ls "$folder/recording")" ] || { echo "it recorded" >&2; exit 1; }
# The same program without raised rights does read them.
said=$(MALLOW_OPTIONS=unknown=1 "$folder/program" 2>&1)
case $said in
  'mallow: MALLOW_OPTIONS: unknown option "unknown" is ignored'*) ;;
  *) echo "without raised rights it said: $said" >&2; exit 1 ;;
esac
