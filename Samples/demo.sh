#!/bin/sh
# Packs the sample capture with a key of its own, verifies it, changes one byte, verifies again, and puts the bundle into a queue.
# usage: Samples/demo.sh CAPBUNDLE [CAPQUEUE]   (without CAPQUEUE there is no queue)
set -eu

bundle_tool=$(realpath "$1")
queue_tool=${2:+$(realpath "$2")}
raw=$(dirname "$(realpath "$0")")/desk-lamp/raw
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset CAPBUNDLE_KEY CAPBUNDLE_TRUST CAPBUNDLE_PASSPHRASE_FILE CAPQUEUE_DIR
export XDG_DATA_HOME="$folder/data" XDG_CONFIG_HOME="$folder/config"

say() { printf '\n== %s\n' "$1"; }
capbundle() {
    printf '$ capbundle %s\n' "$*"
    "$bundle_tool" "$@"
}
capqueue() {
    printf '$ capqueue %s\n' "$*"
    "$queue_tool" "$@"
}
fail() {
    echo "demo: FAILED: $1" >&2
    exit 1
}

say "a device key, in a temporary folder"
capbundle key new
say "trust it on this machine"
capbundle trust add desk-lamp data/capbundle/device.key.pub
say "pack the sample capture"
cp -r "$raw" raw
capbundle pack raw -o cap.bundle
say "verify the bundle"
capbundle verify cap.bundle
say "change one byte in the middle of the photo"
offset=$(($(wc -c <cap.bundle) - 20000))
cp cap.bundle changed.bundle
byte=$(od -An -tu1 -j "$offset" -N 1 cap.bundle)
# shellcheck disable=SC2059
printf "\\$(printf %o $((byte ^ 1)))" | dd of=changed.bundle bs=1 seek="$offset" conv=notrunc status=none
echo "byte $offset of $(wc -c <cap.bundle): $((byte)) is now $((byte ^ 1))"
say "verify again"
status=0
capbundle verify changed.bundle >report || status=$?
cat report
if [ "$status" != 1 ] || ! grep -q 'photo.jpg.*entry.sha256' report; then
    fail "the changed byte was not found (exit $status)"
fi
found="the bundle was packed and verified; one changed byte was found, in photo.jpg"
if [ -z "$queue_tool" ]; then
    printf '\ndemo: %s\n' "$found"
    exit
fi
say "put the bundle into a queue, in a temporary folder too"
capqueue push cap.bundle
say "what the queue holds"
capqueue list
capqueue status
id=$("$queue_tool" list | cut -d ' ' -f 1)
"$queue_tool" get "$id" -o - | cmp - cap.bundle || fail "the queue does not give the bundle back"
printf '\ndemo: %s; the queue holds the bundle\n' "$found"
