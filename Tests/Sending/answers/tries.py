"""One run to one destination, and what it left behind."""
from Kit.outcomes import IS_LONG, expect
from Kit.sending import AT_ONCE, DEVICE
from Kit.servers.capture_api import CaptureAPI


def some(cases, count):
    """Returns the first cases in the short form of the tests, and all of them in the long one."""
    if IS_LONG:
        return cases
    return dict(list(cases.items())[:count]) if isinstance(cases, dict) else cases[:count]


def added(bench, kind, url, *options, bundles=None, retry=AT_ONCE):
    """Returns a rig whose only destination is `it`, with captures that wait. Without a URL the options name a place."""
    rig = bench.rig()
    device = ("--key", rig.key, "--device-id", DEVICE) if kind == "http" else ()
    rig.dest("it", kind, *(("--url", url) if url else ()), *device, "--retry", retry, *options)
    rig.push(*(bundles or bench.stock[:1]))
    return rig


def sent(bench, kind, url, *options, mode="--once", code=None, **how):
    """Returns such a rig after one run, whose result is in `said`. `mode` is one option of `run`, or several."""
    rig = added(bench, kind, url, *options, **how)
    rig.said = rig.send(*([mode] if isinstance(mode, str) else mode), code=code)
    return rig


def posted(bench, *answers, options=(), count=1, mode="--once", code=None, retry=AT_ONCE, **settings):
    """Sends captures to a capture API that gives these answers first; returns the rig and the closed API."""
    with CaptureAPI(bench.public) as api:
        for name, value in settings.items():
            setattr(api, name, value)
        api.answer(*answers)
        rig = sent(bench, "http", api.url, *options, bundles=bench.stock[:count], mode=mode, code=code, retry=retry)
    return rig, api


def is_left(rig, state, attempts=1, held=None, bundle=None):
    """Checks a capture and the block of its destination after a run, and returns its delivery."""
    row, place = rig.delivery(bundle or rig.bench.stock[0]), rig.destination("it")
    expect((row.state, row.attempts) == (state, attempts), f"{row.state} after {row.attempts} attempts, not {state} "
           f"after {attempts}: {row.error_code} {(row.error_message or '')[:200]}")
    expect(place.blocked_reason == held, f"blocked as {place.blocked_reason}, not {held}: {place.blocked_message}")
    return row


def confirmed_by(rig, proof, bundle=None):
    receipt = rig.receipt(bundle or rig.bench.stock[0])
    expect(receipt["confirmed_by"] == proof, f"not confirmed by {proof}: {receipt}")


def token_file(bench, token):
    """Returns the options for a token in a file of its own."""
    path = bench.folder / f"token{next(bench.numbers)}"
    path.write_text(token + "\n")
    path.chmod(0o600)
    return ("--token-file", path)
