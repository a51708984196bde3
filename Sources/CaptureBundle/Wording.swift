/// A sentence for people that can name settings: `"is \(size), but \(.depthSize) says \(given)"`.
public struct Wording: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    fileprivate enum Piece: Hashable, Sendable {
        case text(String)
        case setting(Setting)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ text: String) { append(.text(text)) }
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(.text(value.description))
        }
        public mutating func appendInterpolation(_ setting: Setting) { pieces.append(.setting(setting)) }
        public mutating func appendInterpolation(_ wording: Wording) { wording.pieces.forEach { append($0) } }

        /// Texts that follow each other become one, so that equal sentences are equal.
        private mutating func append(_ piece: Piece) {
            guard case .text(let text) = piece, case .text(let before) = pieces.last else {
                return pieces.append(piece)
            }
            pieces[pieces.count - 1] = .text(before + text)
        }
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

    /// The sentence with `rawValue` as the name of each setting.
    public var description: String { text(naming: \.rawValue) }
}

extension DefaultStringInterpolation {
    // Warnings are errors, so this use does not compile.
    @available(*, deprecated, message: "this would print the setting's raw name; interpolate into a Wording instead")
    package mutating func appendInterpolation(_ wording: Wording) { appendLiteral(wording.description) }
}
