#!/bin/sh
# What a capture rig does every few minutes: takes bundles in, sends what is due, lets go of what was uploaded long ago.
#   Samples/cron.sh FOLDER      in a crontab: */5 * * * *  Samples/cron.sh /captures/outgoing | logger -t capqueue
#
# What happens goes to standard output; standard error, which cron mails, gets what a person has to look at. There is no
# lock here: two runs on one queue do not meet, since the second ends at once (10), and that is nothing to worry about.
# Exit 0: all is well, or something waits for its next try.
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

# A bundle that the queue holds already is passed over, so the files can stay until somebody clears the folder.
said=$(capqueue adopt "$1" 2>&1) || report "not all of $1 was taken in: $said"
[ -z "$said" ] || echo "$said"

# Shorter than the time between two lines of cron, so that what is pushed meanwhile does not wait for long.
status=0
capqueue run --until-empty --max-duration 4m 2>&1 || status=$?
case $status in
0 | 10 | 15) ;; # sent; another run is at it; something waits: for its next try, a network, a disk
14) report "captures have failed for good: capqueue status --check, list and history say more" ;;
*) report "capqueue run ended with $status" ;;
esac

capqueue prune 2>&1 || report "capqueue prune ended with $?"
exit "$code"
