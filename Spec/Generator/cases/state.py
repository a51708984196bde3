"""state: K1, and R2 for a fresh bundle. The side files are verified first, with the same state folder."""

from bundle import signing
from capbundle.format import assertion, canonical

from .base import APP_HASH, KEY, OTHER_KEY, PHONE_TRUST, TRUST, Case, Draft, apple_draft, metadata, trust_line

LAST = 2**32 - 1
FRESH = "--require fresh"


def case(name, codes, covers, comment, data, sides=(), **options):
    return Case("state_" + name, codes, covers, comment, data, sides=[("state_" + side[0], side[1]) for side in sides],
                **options)


def bundle(counter=1, model=None, key=KEY, location=False):
    """Returns a draft; another model makes another manifest."""
    draft = Draft(with_location=location, key=key)
    draft.auth_data = signing.authenticator_data(counter)
    if model:
        draft.set_metadata(canonical.encode(metadata(device_model=model)))
    return draft


def phone(counter, model=None, low_s=True):
    draft = apple_draft(low_s=low_s)
    draft.auth_data = signing.authenticator_data(counter, APP_HASH, assertion.APPLE_FLAGS)
    if model:
        draft.set_metadata(canonical.encode(metadata(device_model=model)))
    return draft


def without_position(counter=1):
    draft = bundle(counter, location=True)
    draft.absent = {"location.json"}
    return draft


def altered():
    draft = bundle(1, "Another Phone")
    draft.manifest()
    draft.payload["photo.jpg"] = draft.payload["photo.jpg"][:-2] + b"\xff\xd8"
    return draft


def cases():
    first, other = ("counter_1", bundle()), ("counter_1_other", bundle(1, "Another Phone"))
    yield from _same(first)
    yield from _reused(first, other)
    yield from _not_remembered(first)
    yield from _apple()


def _same(first):
    yield case("first", "", "section 11.2", "the state is empty", bundle())
    yield case("first_fresh", "", "section 11.2", "the state is empty, and fresh is required", bundle(),
               arguments=FRESH)
    yield case("again", "", "section 11.2", "the same bundle again, and fresh is not required", bundle(), (first,))
    yield case("again_fresh", "policy.required", "R2", "the same bundle again, and fresh is required", bundle(),
               (first,), arguments=FRESH)
    full = ("counter_1_position", bundle(location=True))
    yield case("withheld_copy", "", "section 11.2", "a copy with an entry withheld has the same manifest",
               without_position(), (full,), arguments="--allow-withheld")
    yield case("withheld_copy_fresh", "policy.required", "R2",
               "a copy with an entry withheld counts as the same bundle", without_position(), (full,),
               arguments="--allow-withheld --require fresh")
    yield case("fresh_and_location", "policy.required", "R2",
               "a position is required and absent, so the state is not asked", bundle(), (first,),
               arguments="--require fresh,location")
    yield case("next_counter", "", "section 11.2", "the same manifest, signed again with counter 2",
               bundle(2), (first,), arguments=FRESH)
    yield case("earlier_counter", "", "section 11.2", "counter 1 after counter 2: the order does not matter", bundle(),
               (("counter_2_other", bundle(2, "Another Phone")),), arguments=FRESH)
    yield case("other_key", "", "section 11.2", "each key has its own counters", bundle(key=OTHER_KEY), (first,),
               trust=(TRUST, trust_line(OTHER_KEY, "other")), arguments=FRESH)
    yield case("far_counter", "", "section 11.2", "the last counter after the first", bundle(LAST), (first,),
               arguments=FRESH)


def _reused(first, other):
    yield case("reused", "counter.reused", "K1", "another manifest with the same counter", bundle(), (other,))
    yield case("reused_fresh", "counter.reused", "K1", "another manifest with the same counter, and fresh is required",
               bundle(), (other,), arguments=FRESH)
    yield case("reused_last", "counter.reused", "K1", "the last counter is used twice", bundle(LAST),
               (("counter_last_other", bundle(LAST, "Another Phone")),))
    yield case("reused_stays", "counter.reused", "K1",
               "the first manifest stays recorded after a second one was refused", bundle(), (other, first))
    yield case("reused_first_again", "", "section 11.2",
               "the first bundle stays acceptable after a second one was refused", bundle(), (first, other))
    yield case("reused_and_altered", "entry.sha256", "P1", "a damaged bundle is not compared with the state", altered(),
               (first,))
    yield case("reused_and_unknown", "trust.unknown", "T5", "a bundle of an unknown key is not compared with the state",
               bundle(key=OTHER_KEY), (first,))
    yield case("reused_and_withheld", "policy.withheld", "R1", "a bundle that the policy refuses is not compared",
               without_position(), (first,))


def _not_remembered(first):
    side = ("counter_1_without_position", without_position())
    yield case("refused_withheld", "", "section 11.2", "a bundle that was refused does not use up its counter",
               bundle(), (side,), arguments=FRESH)
    yield case("refused_altered", "", "section 11.2", "a bundle that was altered does not use up its counter", bundle(),
               (("counter_1_altered", altered()),), arguments=FRESH)
    yield case("refused_unknown", "", "section 11.2", "a bundle of an unknown key is not remembered",
               bundle(), (("counter_1_unknown", bundle(key=OTHER_KEY)), first))


def _apple():
    yield case("apple_again", "", "section 11.2", "the same manifest, signed again with the other value of s",
               phone(7, low_s=False), (("apple_7", phone(7)),), trust=PHONE_TRUST)
    yield case("apple_reused", "counter.reused", "K1", "an Apple key uses a counter twice", phone(7),
               (("apple_7_other", phone(7, "Another Phone")),), trust=PHONE_TRUST)
    yield case("apple_reused_0", "counter.reused", "K1", "an Apple key uses counter 0 twice", phone(0),
               (("apple_0_other", phone(0, "Another Phone")),), trust=PHONE_TRUST)
