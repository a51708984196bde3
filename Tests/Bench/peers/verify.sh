#!/bin/sh
# Does in a shell script what `capbundle verify` does: unpacks, checks the signature and every hash, and
# inflates the depth map.
# usage: verify.sh PUBLIC-KEY ARCHIVE   (an archive of pack.sh)
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
tar -xf "$2" -C "$folder"
cd "$folder"
openssl dgst -sha256 -verify "$1" -signature signature manifest >/dev/null
openssl dgst -sha256 -r depth.f32.gz metadata.json photo.jpg | cmp - manifest
gzip -t depth.f32.gz
