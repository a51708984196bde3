// A conformance is as public as its type, and its imports must be public too.
public import ArgumentParser
public import CaptureBundle

extension LocationPolicy: ExpressibleByArgument {}

extension ColourTable: ExpressibleByArgument {}

extension TrustLevel: ExpressibleByArgument {}

extension LayoutChoice: ExpressibleByArgument {}

extension InvalidDepth: ExpressibleByArgument {}

extension NameTimeForm: ExpressibleByArgument {}

extension MatchLimit: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension NamePattern: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension DepthScale: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension FrameSelection: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension CaptureTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ZoneOffset: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension DepthSize: ExpressibleByArgument {
    /// Parses `WxH`.
    public init?(argument: String) {
        let parts = argument.pieces(by: "x", keepsEmpty: true)
        let sides = parts.map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
    }
}
