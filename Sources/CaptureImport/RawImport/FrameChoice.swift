import CaptureBundle
import SystemPackage

/// Chooses the frames of an export to pack: those with a photo, limited by `--frames` and `--every`.
struct FrameChoice {
    let frames: [RawFrame]
    /// The note with the number of frames that have no photo; nil if all have one.
    let note: String?

    /// - Throws: `raw.frames` if no frame can be packed, or a frame that the user asked for has no photo.
    init(_ export: RawExport, of raw: FilePath, _ options: RawCaptureOptions) throws(BundleError) {
        func isUsable(_ frame: RawFrame) -> Bool { frame.photo != nil || frame.problem != nil }
        // The frames are copied only if some cannot be packed.
        let usable = export.frames.allSatisfy(isUsable) ? export.frames : export.frames.filter(isUsable)
        // If a single capture has no photo, `FrameReader` reports it.
        let all = export.isSingle ? export.frames : usable
        guard !all.isEmpty else {
            let count = export.frames.count
            let message = count == 0 ? "has no frames" : "none of its \(count) frames has a photo"
            throw BundleError(.rawFrames, message, file: raw)
        }
        var chosen = all
        if let selection = options.frames {
            if export.isSingle {
                throw BundleError(.rawFrames, "is a single capture, so --frames cannot be used", file: raw)
            }
            chosen = try Self.frames(selection, of: all, raw)
        }
        if options.every > 1 { chosen = stride(from: 0, to: chosen.count, by: options.every).map { chosen[$0] } }
        frames = chosen
        let left = export.isSingle ? 0 : export.frames.count - usable.count
        let verbs = left == 1 ? ("has", "is") : ("have", "are")
        note =
            left == 0
            ? nil : "\(left) of \(export.frames.count) frames \(verbs.0) no photo and \(verbs.1) not packed"
    }

    private static func frames(
        _ selection: FrameSelection, of all: [RawFrame], _ raw: FilePath
    ) throws(BundleError) -> [RawFrame] {
        let numbers = all.map { $0.number ?? -1 }
        for range in selection.ranges where !numbers.contains(where: range.contains) {
            let words = range.count == 1 ? "frame \(range.lowerBound) has" : "the frames \(words(range)) have"
            let known = numbers.filter { $0 >= 0 }
            let list = known.prefix(8).map(String.init).joined(separator: ", ") + (known.count > 8 ? ", …" : "")
            throw BundleError(
                .rawFrames, "\(words) no photo", file: raw, cause: .noFrame, values: known.isEmpty ? [] : [list])
        }
        return zip(all, numbers).filter { frame in selection.ranges.contains { $0.contains(frame.1) } }.map(\.0)
    }

    private static func words(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound)-\(range.upperBound)" }
}
