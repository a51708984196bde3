import CaptureBundle
import CapturePages
import CommandSupport
import PictureClient
import SystemPackage

/// Draws the photo and the depth map of a capture on the terminal.
enum TerminalPicture {
    static func bytes(_ view: CaptureView) throws -> [UInt8] {
        let decoder = PictureDecoder()
        let columns = Output.columns ?? 80
        switch TerminalGraphics.current {
        case .kitty:
            let canvas = try view.picture(.cividis, beside: true, decoder)
            do {
                return KittyGraphics.sequences(png: try decoder.png(canvas), columns: columns)
            } catch {
                throw error.error("standard output")
            }
        case .halfBlocks(let palette):
            let depth = try view.depthPicture(.cividis)
            let photo = try view.photoPicture(decoder, height: HalfBlocks.widest)
            let lines = HalfBlocks.lines([(photo, true), (depth.image, false)], columns: columns, palette)
            return Array(((lines + [caption(depth)]).joined(separator: "\n") + "\n").utf8)
        }
    }

    private static func caption(_ depth: DepthPicture) -> String {
        guard let span = depth.span else { return "no sample of the depth map is measured" }
        let (nearest, farthest) = (Double(span.nearest), Double(span.farthest))
        let gaps = depth.hasGaps ? "; grey was not measured" : ""
        return "depth from \(Rounded.decimal(nearest, places: 2)) m (bright) to "
            + "\(Rounded.decimal(farthest, places: 2)) m (dark)\(gaps)"
    }
}
