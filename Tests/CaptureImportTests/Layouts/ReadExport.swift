import CaptureBundle

@testable import CaptureImport

/// What a layout finds, and the facts of all frames. They are read at once, because the test deletes the files.
@dynamicMemberLookup
struct ReadExport {
    /// A frame with its facts.
    @dynamicMemberLookup
    struct Frame {
        let frame: RawFrame
        var facts = FrameFacts()
        /// Why the frame cannot be packed. A frame without a photo has no problem, because it is not packed.
        var problem: BundleError?

        subscript<Value>(dynamicMember path: KeyPath<RawFrame, Value>) -> Value { frame[keyPath: path] }
    }

    let export: RawExport
    let frames: [Frame]

    init(_ export: RawExport) {
        self.export = export
        frames = export.frames.map { frame in
            do throws(BundleError) {
                return Frame(frame: frame, facts: try export.facts(frame))
            } catch {
                return Frame(frame: frame, problem: frame.photo == nil ? nil : error)
            }
        }
    }

    subscript<Value>(dynamicMember path: KeyPath<RawExport, Value>) -> Value { export[keyPath: path] }
}
