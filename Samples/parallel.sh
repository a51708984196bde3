#!/bin/sh
# Verifies all bundles below a folder with GNU parallel and counts verdicts and codes of faults with jq:
#   Samples/parallel.sh FOLDER [options of capbundle verify]
#
# On one machine `find … -print0 | capbundle verify --from0` does the same more simply. GNU parallel adds more options,
# such as --sshlogin for several machines that have the same archive. Exit 0: every bundle below FOLDER has a report.
set -eu

[ $# -ge 1 ] || {
    echo "usage: parallel.sh FOLDER [options of capbundle verify]" >&2
    exit 64
}
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

find "$folder" -type f -name '*.bundle' -print0 >"$work/names"
# The exit code of a job is that of its worst file. It is ignored, because the reports say more.
parallel -0 -X --jobs "${JOBS:-2}" capbundle verify --json --jobs 1 "$@" <"$work/names" >"$work/reports" || true

jq -r '.verdict // "unreadable", (.faults // [.error] | map(.code) | unique[])' "$work/reports" | sort | uniq -c

names=$(tr -dc '\0' <"$work/names" | wc -c)
reports=$(wc -l <"$work/reports")
if [ "$names" -ne "$reports" ]; then
    echo "parallel.sh: found $names files, but got $reports reports" >&2
    exit 1
fi
