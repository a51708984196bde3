#!/bin/sh
# Makes desk-lamp.bundle, device.pem and picture.png again from raw/, with a temporary key.
# usage: Samples/desk-lamp/pack.sh CAPBUNDLE
set -eu

tool=$(realpath "$1")
cd "$(dirname "$0")"
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT
"$tool" key new --key "$keys/device.key" >/dev/null
"$tool" pack raw -o desk-lamp.bundle --force --key "$keys/device.key"
"$tool" key public --key "$keys/device.key" >device.pem
"$tool" depth desk-lamp.bundle --beside --image picture.png --force >/dev/null
