#!/bin/sh
# Runs on a capture rig every few minutes: adopts new bundles, sends those that are due, and prunes old uploads.
#   cron.sh FOLDER      in a crontab: */5 * * * *  .../cron.sh /captures/outgoing | logger -t capqueue
#
# The log goes to standard output. Problems that need a person now go to standard error, which cron mails. Captures that are
# left to send (15) may go with the next call; tell.sh reports them when they are left for a day. The script needs no lock:
# if another run uses the queue, the second run exits at once with 10, and that is not a problem. A queue in another folder
# than the usual one (CAPQUEUE_DIR) is made once with: capqueue init
# Exit 0: there are no problems, although captures may be left to send.
set -u

[ $# = 1 ] || {
    echo "usage: cron.sh FOLDER" >&2
    exit 64
}
code=0
report() {
    echo "cron.sh: $1" >&2
    code=1
}

# A bundle that is already in the queue is skipped, so the files can stay until somebody empties the folder.
said=$(capqueue adopt "$1" 2>&1) || report "not all bundles in $1 were added to the queue: $said"
[ -z "$said" ] || echo "$said"

# The limit is shorter than the interval of cron, so that a bundle that is pushed meanwhile does not wait long.
status=0
capqueue run --until-empty --max-duration 4m 2>&1 || status=$?
case $status in
0 | 10 | 15) ;; # all sent; another run is active; captures are left to send
14) report "captures failed for good; list them: capqueue list --state permanently_failed,conflict,quarantined" ;;
*) report "capqueue run ended with $status" ;;
esac

capqueue prune 2>&1 || report "capqueue prune ended with $?"
exit "$code"
