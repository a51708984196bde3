# Prints what the disks have: for each command a line "@@@ NAME CODE", and then its output.
say() { echo "@@@ $*"; }
try() {
    name=$1
    shift
    "$@" >/tmp/out 2>/tmp/err </dev/null
    say "$name $?"
    cat /tmp/out
    say "$name.said 0"
    cat /tmp/err
}
try list capqueue list --json
try check capqueue check --read-data --json
try sessions capqueue session list --json
try settings capqueue config --json
say sums 0
find /mnt/q/spool /mnt/q/quarantine /mnt/b /mnt/in /mnt/dest -name '*.bundle' -type f -exec sha256sum {} + 2>/dev/null
set -- /mnt/b/*.bundle
[ ! -e "$1" ] || try bundles capbundle verify --json "$@"
if [ -d /mnt/backup ]; then
    try backup capqueue check --read-data --json --queue /mnt/backup
    try backup-list capqueue list --json --queue /mnt/backup
fi
