/// The names and values of facts about one thing.
public struct FactList: Sendable {
    private var rows: [HTML] = []

    public init() {}

    public mutating func add(_ name: String, _ value: HTML) { rows.append("<dt>\(name)</dt><dd>\(value)</dd>\n") }

    public var html: HTML { "<dl class=\"facts\">\n\(rows)</dl>\n" }
}
