/// A sentence for people that can name settings: `"is \(size), but \(.depthSize) says \(given)"`.
public struct Wording: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    fileprivate enum Piece: Hashable, Sendable {
        case text(String)
        case setting(Setting)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ text: String) { pieces.append(.text(text)) }
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            pieces.append(.text(value.description))
        }
        public mutating func appendInterpolation(_ setting: Setting) { pieces.append(.setting(setting)) }
        public mutating func appendInterpolation(_ wording: Wording) { pieces += wording.pieces }
    }

    private var pieces: [Piece]

    public init(_ text: String) { pieces = [.text(text)] }
    public init(stringLiteral text: String) { self.init(text) }
    public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// The sentence with the caller's names of the settings.
    public func text(naming name: (Setting) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .setting(let setting): name(setting)
            }
        }.joined()
    }

    /// The sentence with the names that the settings have here.
    public var description: String { text(naming: \.rawValue) }
}
