import CaptureBundle
import SystemPackage

/// Chooses one fact of a capture from the sources that have it, in order of precedence (Spec/raw-captures.md section 5).
struct FactChoice {
    /// What one source says; `words` names the source in messages.
    struct Candidate {
        let text: String
        let words: String

        /// nil if the source does not have the fact.
        init?(_ text: String?, _ words: String) {
            guard let text else { return nil }
            (self.text, self.words) = (text, words)
        }
    }

    /// The fact from the first source that has it; nil if no source has it.
    let text: String?
    /// A message with both facts, if another source disagrees; nil if all agree.
    let disagreement: String?

    private init(_ candidates: [Candidate?], agree: (String, String) -> Bool) {
        let candidates = candidates.compactMap(\.self)
        let first = candidates.first
        text = first?.text
        let other = first.flatMap { first in candidates.dropFirst().first { !agree(first.text, $0.text) } }
        disagreement = first.flatMap { first in
            other.map { "\(first.words) says \(first.text), but \($0.words) says \($0.text); the first is used" }
        }
    }

    /// Chooses a time. Times agree if they are at most 2 seconds apart. A time that cannot be parsed is refused later.
    static func time(_ candidates: [Candidate?]) -> FactChoice {
        FactChoice(candidates) { one, other in
            guard let one = CaptureTime(one), let other = CaptureTime(other) else { return true }
            return abs(one.milliseconds - other.milliseconds) <= 2000
        }
    }

    /// Chooses a model. Models agree if one contains the other, since some sources put the maker in front.
    static func model(_ candidates: [Candidate?]) -> FactChoice {
        FactChoice(candidates) { one, other in
            let (one, other) = (one.lowercased(), other.lowercased())
            return one == other || other.isEmpty || one.isEmpty || one.contains(other) || other.contains(one)
        }
    }
}

extension PhotoFacts {
    /// The time with its zone; nil if EXIF has no time, or its zone is unknown.
    func capturedAt(zone: ZoneOffset?) -> String? {
        time?.capturedAt ?? zone.flatMap { time?.capturedAt(offset: $0.description) }
    }
}
