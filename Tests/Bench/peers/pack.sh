#!/bin/sh
# What a shell script does for `capbundle pack`: compress, hash, sign, put into one archive. No fsync, no lock, no counter.
# usage: pack.sh KEY FOLDER RAW...   writes FOLDER/<raw name>.tar
# The parts are made in the raw folder itself, which saves a copy of the photo and two processes.
set -eu
key=$1
folder=$2
shift 2
for raw; do
    cd "$raw"
    gzip -n <depth.f32 >depth.f32.gz
    sha256sum depth.f32.gz metadata.json photo.jpg >manifest
    openssl dgst -sha256 -sign "$key" -out signature manifest
    tar -cf "$folder/${raw##*/}.tar" manifest signature depth.f32.gz metadata.json photo.jpg
    rm depth.f32.gz manifest signature
done
