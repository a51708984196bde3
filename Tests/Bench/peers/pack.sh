#!/bin/sh
# Does in a shell script what `capbundle pack` does: compresses, hashes, signs, and makes one archive.
# It has no fsync, lock or counter.
# usage: pack.sh KEY FOLDER RAW...   writes FOLDER/<raw name>.tar
# It makes the parts in the raw folder itself, which saves a copy of the photo and two processes.
set -eu
key=$1
folder=$2
shift 2
for raw; do
    cd "$raw"
    gzip -n <depth.f32 >depth.f32.gz
    openssl dgst -sha256 -r depth.f32.gz metadata.json photo.jpg >manifest
    openssl dgst -sha256 -sign "$key" -out signature manifest
    tar -cf "$folder/${raw##*/}.tar" manifest signature depth.f32.gz metadata.json photo.jpg
    rm depth.f32.gz manifest signature
done
