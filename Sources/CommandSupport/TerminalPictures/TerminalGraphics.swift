import CaptureBundle
import CaptureNative
import PictureClient
package import PictureMessages

/// How the terminal of standard output can show a picture. Only the environment is checked: a terminal that does not
/// understand a query may never answer it.
package enum TerminalGraphics: Hashable, Sendable {
    /// The graphics protocol of kitty, which Ghostty and WezTerm have too.
    case kitty
    /// Characters that show two pixels each.
    /// Without 24-bit colours there are the 256 colours of xterm: 16 of the terminal's own, a cube of 6 x 6 x 6, and 24
    /// greys.
    case halfBlocks(hasAllColours: Bool)

    package static var current: TerminalGraphics {
        let terminal = ProcessEnvironment.value("TERM") ?? ""
        let program = ProcessEnvironment.value("TERM_PROGRAM") ?? ""
        // A multiplexer passes on the variables of the terminal around it, but not the protocol.
        let isMultiplexed =
            ProcessEnvironment.value("TMUX") != nil || terminal.hasPrefix("screen") || terminal.hasPrefix("tmux")
        let isKitty =
            ProcessEnvironment.value("KITTY_WINDOW_ID") != nil || ["xterm-kitty", "xterm-ghostty"].contains(terminal)
            || ["WezTerm", "ghostty"].contains(program)
        if isKitty && !isMultiplexed { return .kitty }
        let depth = ProcessEnvironment.value("COLORTERM") ?? ""
        return .halfBlocks(hasAllColours: ["truecolor", "24bit"].contains(depth))
    }
}

/// The escape sequences of kitty's graphics protocol (https://sw.kovidgoyal.net/kitty/graphics-protocol/).
package enum KittyGraphics {
    /// The maximum number of bytes of data in one sequence.
    private static let part = 4096

    /// The sequences that show a PNG file at the cursor, `columns` wide. They ask the terminal for no answer (q=2), because
    /// an answer would look like typed text.
    package static func sequences(png: [UInt8], columns: Int) -> [UInt8] {
        let data = Array(Base64.encode(png).utf8)
        var result: [UInt8] = []
        for start in stride(from: 0, to: max(data.count, 1), by: part) {
            let end = min(start + part, data.count)
            let more = end < data.count ? 1 : 0
            let head = start == 0 ? "a=T,f=100,q=2,c=\(columns),m=\(more)" : "m=\(more)"
            result += Array("\u{1b}_G\(head);".utf8) + data[start..<end] + Array("\u{1b}\\".utf8)
        }
        return result + [UInt8(ascii: "\n")]
    }
}

/// Draws pictures with the character ▀. Its colour is one pixel, and its background is the pixel below.
package enum HalfBlocks {
    private static let gap = 2
    /// The maximum width in characters, also on wider terminals.
    package static let widest = 160

    /// Returns the lines that show pictures next to each other, with the same height.
    ///
    /// - Parameters:
    ///   - columns: The width of the terminal.
    ///   - isSmooth: For each picture, whether its pixels may be mixed.
    package static func lines(
        _ pictures: [(image: PixelImage, isSmooth: Bool)], columns: Int, hasAllColours: Bool
    ) -> [String] {
        let room = min(columns, widest) - gap * (pictures.count - 1)
        let shares = pictures.map { Double($0.image.width) / Double($0.image.height) }
        let height = max(2, min(Int(Double(room) / max(shares.reduce(0, +), 0.01)), widest))
        let sized = zip(pictures, shares).compactMap { picture, share in
            let width = max(1, min(Int(share * Double(height)), room / pictures.count * 2))
            return picture.isSmooth
                ? picture.image.resized(width: width, height: height)
                : picture.image.picked(width: width, height: height)
        }
        return stride(from: 0, to: height, by: 2).map { row in
            sized.map { line(of: $0, row: row, hasAllColours) }.joined(separator: String(repeating: " ", count: gap))
        }
    }

    private static func line(of image: PixelImage, row: Int, _ hasAllColours: Bool) -> String {
        var text = ""
        var last = ""
        for column in 0..<image.width {
            let below =
                row + 1 < image.height ? "48;\(code(image[column, row + 1], hasAllColours))" : "49"
            let colours = "38;\(code(image[column, row], hasAllColours));\(below)"
            if colours != last { text += "\u{1b}[\(colours)m" }
            text += "▀"
            last = colours
        }
        return text + "\u{1b}[0m"
    }

    /// The part of an SGR sequence (ECMA-48 section 8.3.117) that names a colour.
    private static func code(_ pixel: Pixel, _ hasAllColours: Bool) -> String {
        hasAllColours ? "2;\(pixel.red);\(pixel.green);\(pixel.blue)" : "5;\(number(pixel))"
    }

    private static let cube = [0, 95, 135, 175, 215, 255]

    /// The index of the nearest of xterm's 256 colours, except the first 16, which a user can change.
    private static func number(_ pixel: Pixel) -> Int {
        let channels = [pixel.red, pixel.green, pixel.blue].map(Int.init)
        let steps = channels.map { channel in
            cube.indices.min { abs(cube[$0] - channel) < abs(cube[$1] - channel) } ?? 0
        }
        let grey = max(0, min(23, (channels.reduce(0, +) / 3 - 3) / 10))
        func distance(_ others: [Int]) -> Int {
            zip(channels, others).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        }
        let isGrey = distance([Int](repeating: 8 + 10 * grey, count: 3)) < distance(steps.map { cube[$0] })
        return isGrey ? 232 + grey : 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    }
}
