#!/bin/sh
# What a shell script does for `capbundle verify`: unpack, check the signature, every hash, and that the depth map inflates.
# usage: verify.sh PUBLIC-KEY ARCHIVE   (an archive of pack.sh)
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
tar -xf "$2" -C "$folder"
cd "$folder"
openssl dgst -sha256 -verify "$1" -signature signature manifest >/dev/null
sha256sum --quiet --strict -c manifest
gzip -t depth.f32.gz
