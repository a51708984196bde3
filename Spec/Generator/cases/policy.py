"""policy: R1 and R2, alone and together with a refusal of the key."""

from .base import KEY, TRUST, Case, Draft, trust_line
from .valid import everything, withheld


def case(name, codes, covers, comment, data, **options):
    return Case("policy_" + name, codes, covers, comment, data, **options)


def cases():
    yield case("withheld", "policy.withheld", "R1", "the position is withheld and that is not allowed", withheld())
    draft = everything()
    draft.withholdable = {"confidence.png", "location.json", "source/capture.json", "source/notes.txt"}
    draft.absent = set(draft.withholdable)
    yield case("withheld_several", "policy.withheld", "R1", "four entries are withheld", draft)
    draft = Draft()
    draft.withholdable = draft.absent = {"depth.f32.gz"}
    yield case("withheld_depth", "policy.withheld", "R1", "the depth map is withheld", draft)
    draft = Draft()
    draft.withholdable = draft.absent = {"photo.jpg"}
    yield case("withheld_photo", "policy.withheld", "R1", "the photo is withheld, the last entry", draft)
    plain = Draft(with_depth=False)
    for role in ("depth", "location", "confidence", "source", "chain"):
        yield case("required_" + role, "policy.required", "R2", "%s is required, but is not there" % role, plain,
                   arguments="--require photo,metadata," + role)
    yield case("required_entry", "policy.required", "R2", "an entry is required by its name, but is not there",
               everything(), arguments="--require source/notes.txt,source/other.txt")
    yield case("required_plausible", "policy.required", "R2", "a plausible depth map is required, and there is none",
               plain, arguments="--require plausible")
    draft = Draft()
    draft.withholdable = draft.absent = {"depth.f32.gz"}
    yield case("required_plausible_withheld", "policy.required", "R2",
               "a plausible depth map is required, and it was withheld with leave", draft,
               arguments="--allow-withheld --require plausible")
    for name, samples, comment in (
            ("millimetres", [float(1000 + index) for index in range(12)], "every sample is above 100 m"),
            ("half_near", [0.04] * 3 + [1.0] * 3 + [0.0] * 6, "half of the measured samples are below 0.05 m"),
            ("half_far", [100.5] * 3 + [1.0] * 3 + [-1.0] * 6, "half of the measured samples are above 100 m"),
            ("next_below", [b"\xcc\xcc\x4c\x3d"] * 12, "every sample is the greatest below 0.05 m"),
            ("next_above", [b"\x01\0\xc8\x42"] * 12, "every sample is the least above 100 m"),
            ("subnormal", [b"\x01\0\0\0"] * 12, "every sample is the least above 0"),
            ("none_measured", [0.0, -0.0, -1.0, float("inf"), float("-inf"), float("nan")] * 2,
             "no sample is measured")):
        yield case("not_plausible_" + name, "policy.required", "R2, section 5.2", comment, Draft().set_floats(*samples),
                   arguments="--require plausible")
    draft = Draft()
    draft.withholdable = draft.absent = {"depth.f32.gz", "photo.jpg"}
    for role in ("photo", "depth", "photo.jpg"):
        yield case("required_withheld_" + role.replace(".", "_"), "policy.required", "R2, section 8",
                   "%s is required, and was withheld with leave" % role, draft,
                   arguments="--allow-withheld --require " + role)
    yield case("required_two", "policy.required", "R2", "depth and location are required, and neither is there", plain,
               arguments="--require depth,location")
    yield case("required_withheld", "policy.required", "R2", "a position is required, and was withheld with leave",
               withheld(), arguments="--allow-withheld --require location")
    yield case("withheld_and_required", "policy.required,policy.withheld", "R1, R2",
               "a position is required, and was withheld without leave", withheld(), arguments="--require location")
    yield case("unknown_and_withheld", "policy.withheld,trust.unknown", "R1, T5",
               "the key is unknown and the position withheld: 3 is the worse", withheld(), trust=())
    yield case("unknown_and_required", "policy.required,trust.unknown", "R2, T5",
               "the key is unknown and a chain is required: 3 is the worse", Draft(), trust=(),
               arguments="--require chain")
    yield case("expired_and_withheld", "policy.withheld,trust.expired", "R1, T4",
               "the line is expired and the position withheld", withheld(),
               trust=trust_line(KEY, options="valid-before=2026-01-01"))
    yield case("revoked_and_required", "policy.required,trust.revoked", "R2, T6",
               "the key is revoked and a chain is required", Draft(),
               trust=(TRUST, trust_line(KEY, "stolen", "revoked")), arguments="--require chain")
