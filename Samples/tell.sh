#!/bin/sh
# Tells somebody that captures need a person. It reports captures that failed for good, and those that have waited for two
# days, at once. It reports other problems that `capqueue status --check` finds (a held capture, a blocked destination, a
# full spool) when they have lasted for a day, because most of them are over before. It repeats each report once a day.
#   tell.sh FILE [COMMAND...]     in a crontab: 0 * * * *  tell.sh ~/.capqueue-since
#
# FILE records since when there has been a problem. COMMAND gets the message on its standard input, such as
# `mail -s "capqueue needs you" ops@example.org`; without it the message goes to standard error, which cron mails.
# If COMMAND fails, the message stays in FILE.message: who makes the report later renames it to FILE.told.
# Exit 0: nothing to report, or COMMAND succeeded. 1: reported on standard error, or COMMAND failed.
set -u

[ $# -ge 1 ] || {
    echo "usage: tell.sh FILE [COMMAND...]" >&2
    exit 64
}
since=$1
shift
day=1440 # minutes

status=0
found=$(capqueue status --check --max-age 2d 2>&1) || status=$?
is_old() {
    capqueue status --prometheus --max-age 2d | grep -q '^capqueue_concerns{code="captures.old".*} [1-9]'
}
case $status in
0)
    rm -f "$since" "$since.message" "$since.told"
    exit 0
    ;;
13 | 15)
    [ -e "$since" ] || : >"$since"
    [ -n "$(find "$since" -mmin "+$day")" ] || is_old || exit 0
    ;;
esac
heading="capqueue status --check ended with $status:"
# It was reported less than a day ago, and the exit code has not changed since.
if [ "$(head -n 1 "$since.told" 2>/dev/null)" = "$heading" ] && [ -z "$(find "$since.told" -mmin "+$day")" ]; then
    exit 0
fi

tell() {
    if [ $# = 0 ]; then
        cat >&2
        return 1
    fi
    "$@"
}
# On a full disk the report is made without the file, and again by the next call.
printf '%s\n' "$heading" "$found" >"$since.message" || rm -f "$since.message"
printf '%s\n' "$heading" "$found" | tell "$@"
told=$?
# If COMMAND failed, the next call reports it again.
if [ $# = 0 ] || [ "$told" = 0 ]; then mv -f "$since.message" "$since.told"; fi
exit "$told"
