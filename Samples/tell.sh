#!/bin/sh
# Tells somebody that captures need a person. Captures that failed for good are told at once; what `capqueue status --check`
# finds otherwise (a held capture, a blocked destination, a full spool) only when it has lasted for a day, since most of
# that is over before. Each is told again once a day.
#   tell.sh FILE [COMMAND...]     in a crontab: 0 * * * *  tell.sh ~/.capqueue-since
#
# FILE remembers since when there is something to tell. COMMAND gets the message on its standard input, such as
# `mail -s "capqueue needs you" ops@example.org`; without it the message goes to standard error, which cron mails.
# Exit 0: nothing to tell, or COMMAND took it. 1: told on standard error, or COMMAND failed.
set -u

[ $# -ge 1 ] || {
    echo "usage: tell.sh FILE [COMMAND...]" >&2
    exit 64
}
since=$1
shift
day=1440 # minutes

status=0
found=$(capqueue status --check --max-age 1d 2>&1) || status=$?
case $status in
0)
    rm -f "$since" "$since.told"
    exit 0
    ;;
13 | 15)
    [ -e "$since" ] || : >"$since"
    [ -n "$(find "$since" -mmin "+$day")" ] || exit 0
    ;;
esac
# Told less than a day ago, and nothing worse has happened since.
if [ "$(cat "$since.told" 2>/dev/null)" = "$status" ] && [ -z "$(find "$since.told" -mmin "+$day")" ]; then
    exit 0
fi

tell() {
    if [ $# = 0 ]; then
        cat >&2
        return 1
    fi
    "$@"
}
{
    echo "capqueue status --check ended with $status:"
    echo "$found"
} | tell "$@"
told=$?
# What no command took is told again by the next call.
if [ $# = 0 ] || [ "$told" = 0 ]; then echo "$status" >"$since.told"; fi
exit "$told"
