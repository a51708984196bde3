#!/bin/sh
# Packs a raw folder and sends it to a server, with capbundle and curl: Samples/upload.sh RAW URL DEVICE-ID
#
# The bundle is written beside the folder, as RAW.bundle, and stays there whatever the server answers. After a failure,
# the same command sends the same capture again: the bundle determines the body, and only the signature of the request
# is new. Prints the server's answer. Exit 0: the server accepted the capture (202 and a capture_id); 1: it did not.
set -eu

[ $# = 3 ] || {
    echo "usage: upload.sh RAW URL DEVICE-ID" >&2
    exit 64
}
raw=${1%/} url=$2 device=$3
bundle=$raw.bundle
case $url in
*/)
    # curl would append the name of the file.
    echo "upload.sh: the URL ends with a slash, expected the URL that accepts captures: $url" >&2
    exit 64
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -e "$bundle" ]; then
    capbundle multipart "$bundle" -o "$work/body" --headers "$work/headers"
else
    capbundle pack "$raw" -o "$bundle" --multipart "$work/body" --headers "$work/headers"
fi
capbundle sign-request "$work/body" --device-id "$device" >"$work/signature"

status=$(curl --silent --show-error --connect-timeout 20 --speed-limit 1 --speed-time 60 \
    --output "$work/answer" --write-out '%{http_code}' \
    -X POST -T "$work/body" -H "@$work/headers" -H "@$work/signature" --url "$url") || status=none
[ ! -s "$work/answer" ] || cat "$work/answer"
if [ "$status" != 202 ] || ! grep -q '"capture_id"' "$work/answer"; then
    echo "upload.sh: the server did not accept the capture (HTTP status: $status); the bundle is kept: $bundle" >&2
    exit 1
fi
echo "upload.sh: the server accepted the capture; the bundle is kept: $bundle" >&2
