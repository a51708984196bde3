import CaptureBundle
import Testing

struct CanonicalJSONTests {
    private static func canonical(_ text: String) throws -> String {
        let value = try JSONParser.parse(Array(text.utf8), nesting: 32)
        return String(decoding: CanonicalJSON.encode(value), as: UTF8.self)
    }

    @Test(arguments: [
        (" { \"b\" : 1 , \"a\" : [ true , null ] } ", "{\"a\":[true,null],\"b\":1}"),
        ("{\"\\u20ac\":1,\"\\r\":2,\"1\":3}", "{\"\\r\":2,\"1\":3,\"€\":1}"),
        // U+1F600 is a surrogate pair in UTF-16, so it sorts before U+FB33.
        ("{\"\\ufb33\":1,\"\\ud83d\\ude00\":2}", "{\"\u{1f600}\":2,\"\u{fb33}\":1}"),
        ("\"\\u0007\\u000f\\b\\/\\\\\\\"\"", "\"\\u0007\\u000f\\b/\\\\\\\"\""),
        ("[1.50,-0,1E+3,0.1e-7]", "[1.50,-0,1E+3,0.1e-7]"),
        // A composed name and a decomposed name are two different names.
        ("{\"e\\u0301\":1,\"\\u00e9\":2}", "{\"e\u{301}\":1,\"\u{e9}\":2}"),
    ])
    func ordersMembersAndKeepsNumbers(_ text: String, _ expected: String) throws {
        #expect(try Self.canonical(text).utf8.elementsEqual(expected.utf8))
    }

    @Test(
        arguments: [
            (.infinity, "null"), (-.infinity, "null"), (.nan, "null"), (-0.0, "-0.0"), (0.1, "0.1"),
            (3.4e38, "3.4e+38"),
            (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"),
        ] as [(Double, String)])
    func writesNoNumberThatJSONLacks(_ value: Double, _ expected: String) throws {
        let bytes = CanonicalJSON.encode(.real(value))
        #expect(bytes == Array(expected.utf8))
        _ = try JSONParser.parse(bytes, nesting: 1)
    }

    @Test(arguments: [
        "", "{", "{}x", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "01", "+1", "1.", ".5",
        "1e", "NaN", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "\"\\x\"", "\"\\u00g0\"", "tru",
        "{a:1}", "'a'", "\u{feff}{}", "[1 2]", "{\"a\" 1}", "1\u{b}", "// c\n1",
        "1" + String(repeating: "0", count: 64),
        String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
        String(repeating: "[", count: 100_000),
    ])
    func refuses(_ text: String) {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(text.utf8), nesting: 32) }
    }
}
