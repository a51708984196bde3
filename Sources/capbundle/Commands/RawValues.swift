public import ArgumentParser
public import CaptureBundle
public import CaptureImport
import CapturePages

extension ColourTable: ExpressibleByArgument {}

extension LayoutChoice: ExpressibleByArgument {}

extension NameTimeForm: ExpressibleByArgument {}

extension MatchLimit: ExpressibleByArgument {}

extension NamePattern: ExpressibleByArgument {}

extension DepthScale: ExpressibleByArgument {}

extension FrameSelection: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ZoneOffset: ExpressibleByArgument {}

extension DepthSize: ExpressibleByArgument {
    /// Parses `WxH`.
    public init?(argument: String) {
        let parts = argument.pieces(by: "x", keepsEmpty: true)
        let sides = parts.map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
    }
}
