#!/bin/sh
# Packs the sample capture with a new key, verifies the bundle, changes one byte and verifies again. Then it pushes the
# bundle into a queue, sends it to a server that it starts on loopback, shows the receipt and prunes the queue's copy.
# usage: Samples/demo.sh CAPBUNDLE [CAPQUEUE]   (without CAPQUEUE it skips the queue and the server)
set -eu

bundle_tool=$(realpath "$1")
queue_tool=${2:+$(realpath "$2")}
samples=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$folder"
unset CAPBUNDLE_KEY CAPBUNDLE_TRUST CAPBUNDLE_PASSPHRASE_FILE CAPQUEUE_DIR http_proxy all_proxy ALL_PROXY
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
cp -r "$samples/desk-lamp/raw" raw
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
say "start a receiving server on loopback, which knows this device and trusts its key"
device=3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c
mkdir received
PATH=$(dirname "$bundle_tool"):$PATH python3 "$samples/receive.py" received "$device" data/capbundle/device.key.pub \
    config/capbundle/trusted_devices >url 2>server.log &
server=$!
tries=0
until [ -s url ]; do
    tries=$((tries + 1))
    [ "$tries" -le 300 ] || fail "the server does not start: $(cat server.log)"
    sleep 0.1
done
cat url
say "add it as the destination of a queue, and push the bundle"
capqueue dest add api --kind http --url "$(cat url)" --device-id "$device" --key data/capbundle/device.key
capqueue push cap.bundle
id=$("$queue_tool" list | cut -d ' ' -f 1)
"$queue_tool" get "$id" -o - | cmp - cap.bundle || fail "the queue does not give the bundle back"
say "send what is due"
capqueue run --until-empty || fail "it was not sent (exit $?)"
cmp "received/$id.bundle" cap.bundle || fail "the server has another bundle"
echo "the server has the same bundle, byte for byte"
say "the receipt"
capqueue show "$id"
say "prune deletes nothing before the retention has passed, unless --older-than asks for it"
capqueue prune --dry-run
capqueue prune --older-than 0s
capqueue status
[ -z "$(find data/capqueue/spool -name '*.bundle')" ] || fail "the bundle is still in the spool"
printf '\ndemo: %s; a server accepted it, and the queue deleted its copy\n' "$found"
