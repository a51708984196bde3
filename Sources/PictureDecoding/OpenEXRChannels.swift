import COpenEXR
import PictureMessages

/// The channels of an OpenEXR file, and the choice of the one that has the depth.
@safe
struct OpenEXRChannels {
    private struct Channel {
        let part: Int32
        let name: String
        /// The name after that of its part and a point, by which channels of the same name can be told apart.
        let longName: String
        let index: Int
        let type: exr_pixel_type_t
        let isSampledFully: Bool

        var words: [String] { name.pieces(by: ".") }

        /// How probably a channel of several is the depth; 0 is most. Blender writes `ViewLayer.Depth.Z` or `Depth.V`,
        /// Mitsuba `NAME.T`.
        var rank: Int? {
            if words.suffix(2) == ["Depth", "V"] { return 1 }
            return ["Z": 0, "T": 2, "Y": 3][words.last ?? ""]
        }
    }

    struct Choice {
        let part: Int32
        /// The channels to decode, by their numbers; they must be equal.
        let indices: [Int]
        /// The number of channels that the part has.
        let channels: Int
        let isHalf: Bool
        /// For channels that are not equal.
        let refusal: DecodingRefusal
    }

    private let channels: [Channel]
    private let parts: Int32

    init(_ context: exr_const_context_t?) throws(DecodingRefusal) {
        var parts: Int32 = 0
        try check(unsafe exr_get_count(context, &parts))
        var found: [Channel] = []
        for part in 0..<parts {
            var list: UnsafePointer<exr_attr_chlist_t>?
            try check(unsafe exr_get_channels(context, part, &list))
            guard let list = unsafe list?.pointee, unsafe list.num_channels > 0, let entries = unsafe list.entries
            else { continue }
            var text: UnsafePointer<CChar>?
            let partName = unsafe exr_get_name(context, part, &text) == 0 ? unsafe String(library: text) : ""
            for index in 0..<Int(unsafe list.num_channels) {
                let entry = unsafe entries[index]
                let name = unsafe String(library: entry.name.str)
                unsafe found.append(
                    Channel(
                        part: part, name: name, longName: "\(partName).\(name)", index: index, type: entry.pixel_type,
                        isSampledFully: entry.x_sampling == 1 && entry.y_sampling == 1))
            }
        }
        guard !found.isEmpty else { throw .malformed("is an OpenEXR file without a channel") }
        (channels, self.parts) = (found, parts)
    }

    /// Chooses the channel with a name, else the only one, or those that may be equal. The name of an only channel is not
    /// checked, because apps use different names.
    func choose(_ wanted: String?) throws(DecodingRefusal) -> Choice {
        var chosen = channels
        if let wanted {
            chosen = channels.filter { $0.name == wanted || $0.longName == wanted }
            guard chosen.count == 1 else {
                throw refusal(
                    "has \(chosen.isEmpty ? "no" : "more than one") channel \(wanted.cut(to: 80)), but \(list)")
            }
        } else if channels.count > 1 {
            // Transparency is left aside.
            chosen = channels.filter { $0.words.last != "A" }
        }
        let several = refusal("is an OpenEXR file of \(list), expected one, or equal ones")
        guard let first = chosen.first, chosen.count <= 4,
            chosen.allSatisfy({ $0.part == first.part && $0.type == first.type })
        else { throw several }
        guard first.type != EXR_PIXEL_UINT else {
            throw .unsupported("is an OpenEXR file of integers, expected half or float")
        }
        guard chosen.allSatisfy(\.isSampledFully) else {
            throw .unsupported("is an OpenEXR file whose channel has fewer samples than pixels")
        }
        return Choice(
            part: first.part, indices: chosen.map(\.index), channels: channels.count { $0.part == first.part },
            isHalf: first.type == EXR_PIXEL_HALF, refusal: several)
    }

    private var list: String {
        let names = channels.prefix(16).map(\.name) + (channels.count > 16 ? ["…"] : [])
        let parts = parts > 1 ? " in \(parts) parts" : ""
        return "\(channels.count) channels (\(names.joined(separator: ", ")))\(parts)"
    }

    /// The refusal with the name of the channel that probably has the depth, if there is one.
    private func refusal(_ words: String) -> DecodingRefusal {
        let best = channels.filter { $0.rank != nil }.min { ($0.rank ?? 9) < ($1.rank ?? 9) }
        let name = best.map { best in
            channels.count { $0.name == best.name } == 1 ? best.name : best.longName
        }
        return DecodingRefusal(.channels, "\(name ?? "")\n\(words)")
    }
}
