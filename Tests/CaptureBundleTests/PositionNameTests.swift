import CaptureBundle
import Testing

/// Metadata members that look like a position are listed, and a hostile file cannot make the list long.
struct PositionNameTests {
    private static func names(_ text: String) throws -> [String] {
        CaptureMetadata.namesThatLookLikeAPosition(in: try JSONParser.parse(Array(text.utf8), nesting: 32))
    }

    @Test func findsThemAtAnyDepth() throws {
        let text =
            #"{"location":{"latitude":1},"a":[{"GPS_ImgDirection":1}],"Geo-Location":2,"my LatitudesE7":3,"b":{"Coords":"#
            + #"4},"lat_lng":5,"Place":6,"agps":7,"place_name":8,"lat/lon":9,"lat_lon_alt":10}"#
        let expected = [
            "location.latitude", "a.GPS_ImgDirection", "Geo-Location", "my LatitudesE7", "b.Coords", "lat_lng", "Place",
        ]
        #expect(try Self.names(text) == expected)
    }

    @Test func separatorsAndEmptyNamesHideNothing() throws {
        let separators = String(repeating: "_- ", count: 100)
        let names = try Self.names(#"{"":{"location":1},"\#(separators)lat":2}"#)
        #expect(names == [".location", String(separators.prefix(100))])
    }

    @Test func saysAtMostSixteenShortNames() throws {
        let long = String(repeating: "x", count: 15_000)
        let list = [String](repeating: #"{"lat":1}"#, count: 20_000).joined(separator: ",")
        let names = try Self.names(#"{"\#(long)":[\#(list)]}"#)
        #expect(names.count == 16)
        #expect(names.allSatisfy { $0.count <= 100 })
    }
}
