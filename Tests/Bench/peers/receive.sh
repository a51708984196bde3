#!/bin/sh
# Stores the upload bodies of one device with nginx, hashes each twice, and syncs it.
# usage: receive.sh LIST FOLDER   LIST is curl's list of uploads, and FOLDER is where nginx stores them
set -eu
curl --fail-early -K "$1"
for file in "$2"/*; do
    openssl dgst -sha256 "$file"
    openssl dgst -sha256 "$file"
    sync "$file"
done
