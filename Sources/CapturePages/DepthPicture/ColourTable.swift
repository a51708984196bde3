package import PictureClient

/// The colours for depths, from far to near. Near samples are bright in cividis and red in turbo.
package enum ColourTable: String, Sendable, CaseIterable {
    /// Colours whose order is visible to colour-blind people and in a grey print: Nuñez, Anderton and Renslow,
    /// "Optimizing colormaps with consideration for color vision deficiency", PLoS ONE 13(7), 2018.
    case cividis
    /// Colours that show more detail: Mikhailov, "Turbo, An Improved Rainbow Colormap for Visualization", Google AI
    /// Blog, 2019.
    case turbo

    /// Every eighth of the 256 published colours, rounded. The others are interpolated. No channel differs by more than 6
    /// of 255 from the published colours; Tests/Judges/judge_look.py checks this.
    private var anchors: [UInt32] {
        switch self {
        case .cividis:
            [
                0x00224e, 0x00285b, 0x002e6a, 0x053371, 0x1a386f, 0x273e6e, 0x32436d, 0x3b496c, 0x434e6c, 0x4b546c,
                0x535a6d, 0x5a5f6e, 0x61656f, 0x686a71, 0x6f7073, 0x767676, 0x7c7c78, 0x838179, 0x8b8778, 0x928d78,
                0x9a9376, 0xa29975, 0xaaa073, 0xb3a670, 0xbbad6d, 0xc3b369, 0xccba64, 0xd4c15f, 0xddc858, 0xe6d051,
                0xefd748, 0xf8df3c, 0xfee838,
            ]
        case .turbo:
            [
                0x30123b, 0x392a73, 0x4040a2, 0x4456c7, 0x466be3, 0x4680f6, 0x4293ff, 0x37a7fa, 0x28bbec, 0x1dccd9,
                0x18dcc3, 0x1ee8b0, 0x31f299, 0x4cf97e, 0x6bfe64, 0x8aff4c, 0xa2fc3c, 0xb8f735, 0xcced34, 0xdee037,
                0xedd03a, 0xf7c03a, 0xfdad35, 0xfe982c, 0xfb8022, 0xf56818, 0xec520f, 0xe14109, 0xd23105, 0xc12302,
                0xac1701, 0x950d01, 0x7a0403,
            ]
        }
    }

    /// 256 colours, the farthest first.
    package var colours: [Pixel] {
        let anchors = anchors.map(Pixel.init(hex:))
        let last = anchors.count - 1
        return (0..<256).map { index in
            // The position between two anchors, in whole 255ths, so that the result is the same on all machines.
            let place = index * last
            let before = min(place / 255, last - 1)
            return anchors[before].mixed(with: anchors[before + 1], place - before * 255)
        }
    }
}
