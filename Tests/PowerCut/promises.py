"""What commands have promised by ending with 0, and what they were about to change."""
import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Promise:
    """`kind` is one of

    queue, key, trust     it was made
    destinations          all were made
    packed                the bundle `name`, with `sha256` and its counter as `more`, is on the disk
    written               the file `name` with `sha256` is on the disk (get, redact)
    moving                not a promise: from now on the file `name` may be in the queue in place of its folder
    again                 not a promise: from now on a push of `sha256` may take back a cancellation of that capture
    pushed                the queue has the capture `name`, with `sha256`
    sent                  the capture `name` is at the destination `more`
    held, cancelled       deliveries of the capture `name`
    ended                 the session `name`
    backed up             the backup has the ids `more`
    setting               not a promise: from now on the retention may be `name`
    set                   the retention is `name`
    accepted              `verify --require fresh` has accepted the bundle `name`
    """

    kind: str
    name: str = ""
    sha256: str = ""
    more: object = None


def of(promises, kind):
    return [promise for promise in promises if promise.kind == kind]


def values(text):
    """Returns the JSON objects of an output, whose other lines are messages."""
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return [value for value in found if isinstance(value, dict)]
