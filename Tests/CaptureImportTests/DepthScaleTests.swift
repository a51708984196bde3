import CaptureBundle
import CaptureImport
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import Testing

/// Samples in any unit become the nearest floats in metres.
struct DepthScaleTests {
    private static let everyCode = (0...65_535).map { UInt16($0) }

    private static func metres(
        _ scale: String, _ values: SampleGrid.Values, _ type: SampleType, count: Int
    ) throws -> [Float] {
        let size = try #require(DepthSize(width: count / 256, height: 256))
        return try #require(DepthScale(scale)).metres(SampleGrid(size: size, values: values, type: type))
    }

    /// Scales that divide a metre into whole units: the result is the code divided by their number.
    @Test(arguments: [
        ("0.001", 1000.0), ("0.0001", 10_000), ("0.0002", 5000), ("0.01", 100), ("0.00025", 4000), ("1", 1),
    ])
    func dividesByTheUnitsInAMetre(_ scale: String, _ units: Double) throws {
        let floats = try Self.metres(scale, .uint16(Self.everyCode), .uint16, count: 65_536)
        #expect(floats == Self.everyCode.map { Float(Double($0) / units) })
        #expect(floats[0].bitPattern == 0)
    }

    @Test func multipliesByOtherScales() throws {
        let floats = try Self.metres("0.3048", .uint16(Self.everyCode), .uint16, count: 65_536)
        #expect(floats == Self.everyCode.map { Float(Double($0) * 0.3048) })
        let bytes = (0...255).map { UInt8($0) }
        #expect(try Self.metres("0.01", .uint8(bytes), .uint8, count: 256) == bytes.map { Float(Double($0) / 100) })
    }

    @Test func keepsEveryBitOfMetres() throws {
        let patterns: [UInt32] = [0, 0x8000_0000, 0x7fc0_1234, 0x7f80_0000, 1, 0x3f80_0001]
        let size = try #require(DepthSize(width: 3, height: 2))
        let values = SampleGrid.Values.float32(patterns.map { Float(bitPattern: $0) })
        let grid = SampleGrid(size: size, values: values, type: .float32)
        #expect(DepthScale.metres.metres(grid).map(\.bitPattern) == patterns)
        #expect(try #require(DepthScale("1.0")).metres(grid).map(\.bitPattern) == patterns)
        let thousandth = DepthScale.millimetres.metres(grid)
        #expect(thousandth[0].bitPattern == 0)
        #expect(thousandth[1].bitPattern == 0x8000_0000)
        #expect(thousandth[2].isNaN)
        #expect(thousandth[3] == .infinity)
        #expect(thousandth[5] == Float(Double(Float(bitPattern: 0x3f80_0001)) / 1000))
    }

    @Test(arguments: [
        "", "0", "-1", "nan", "inf", "0x1", "1000001", "0.0000000001", "1e-10", "1e", "e-3", "1e-3.5",
        "-1e-3", "1.2345678901234567e-05", "1e99", "1e-99", " 1", ".", "1.2.3", "1m",
    ])
    func refusesWhatIsNotAScale(_ text: String) { #expect(DepthScale(text) == nil) }

    /// A RealSense D405 prints its unit with an exponent. The manifest has at most 20 decimals.
    @Test(arguments: [
        ("9.999999747378752e-05", "0.00009999999747378752"), ("1e-3", "0.001"), ("1.50E-1", "0.15"),
        ("2.5e+2", "250"), ("0.1e1", "1"), ("5e0", "5"), ("0.25", "0.25"),
    ])
    func readsExponents(_ text: String, _ decimal: String) throws {
        #expect(try #require(DepthScale(text)).description == decimal)
    }
}
