import CaptureBundle
import CaptureImport
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import SystemPackage
import Testing

/// The depth picture of a portrait photo is found by its XMP, and its codes become metres.
struct PortraitDepthTests {
    private static func packet(_ properties: [(String, String)], more: String = "") -> [UInt8] {
        let elements = properties.map { "<a:\($0.0)>\($0.1)</a:\($0.0)>" }.joined()
        return JPEGPieces.xmp(
            Array(
                ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
                    + "<rdf:Description rdf:about='' xmlns:a='http://ns.apple.com/pixeldatainfo/1.0/'"
                    + " xmlns:d='http://ns.apple.com/depthData/1.0/'>\(elements)\(more)</rdf:Description></rdf:RDF>"
                    + "</x:xmpmeta>").utf8))
    }

    private static let disparity = [
        ("AuxiliaryImageType", "disparity"), ("NativeFormat", "1751411059"), ("StoredFormat", "1278226488"),
        ("FloatMinValue", "0.25"), ("FloatMaxValue", "4.25"), ("IntMinValue", "0"), ("IntMaxValue", "255"),
    ]
    private static let matte = [
        ("AuxiliaryImageType", "depth"), ("AuxiliaryImageSubType", "portraiteffectsmatte"),
        ("NativeFormat", "1278226488"),
    ]
    private static let more =
        "<d:Accuracy>relative</d:Accuracy><d:IntrinsicMatrix><rdf:Seq>"
        + ["80.5", "0.0", "0", "0", "81", "0", "31.5", "23", "1"].map { "<rdf:li>\($0)</rdf:li>" }.joined()
        + "</rdf:Seq></d:IntrinsicMatrix><d:IntrinsicMatrixReferenceWidth>64</d:IntrinsicMatrixReferenceWidth>"
        + "<d:IntrinsicMatrixReferenceHeight>48</d:IntrinsicMatrixReferenceHeight>"

    static let portrait = JPEGPieces.photo(andSecond: JPEGPieces.photo(with: packet(disparity)))

    @Test func findsTheDisparityAndItsCamera() throws {
        let second = JPEGPieces.photo(with: Self.packet(Self.disparity, more: Self.more))
        let photo = JPEGPieces.photo(andSecond: second)
        let depth = try #require(PortraitDepth.find(in: photo))
        #expect(Array(photo[depth.picture]) == second)
        #expect(depth.codes.isDisparity)
        #expect([depth.codes.minimum, depth.codes.maximum] == [0.25, 4.25])
        #expect(depth.accuracy == "relative")
        let camera = try #require(depth.intrinsics)
        #expect([camera.fx, camera.fy, camera.cx, camera.cy] == [80.5, 81, 31.5, 23])
        #expect(camera.width == 64 && camera.height == 48)
    }

    /// Without an index, the images are found one behind the other, with zeros between and after them.
    @Test func walksWhereThereIsNoIndex() throws {
        let gainMap = JPEGPieces.photo(with: Self.packet([("AuxiliaryImageType", "urn:x:hdrgainmap")]))
        let matte = JPEGPieces.photo(with: Self.packet(Self.matte))
        let second = JPEGPieces.photo(with: Self.packet(Self.disparity))
        let photo = RawFolder.photo + gainMap + [0, 0, 0] + matte + second + [UInt8](repeating: 0, count: 100)
        let depth = try #require(PortraitDepth.find(in: photo))
        #expect(Array(photo[depth.picture]) == second)
        #expect(depth.intrinsics == nil)
    }

    static let others: [[(String, String)]] = [
        matte, disparity.filter { $0.0 != "FloatMinValue" }, disparity.filter { $0.0 != "NativeFormat" },
        disparity + [("AuxiliaryImageSubType", "x")],
        disparity.map { $0.0 == "NativeFormat" ? ($0.0, "1278226488") : $0 },
        disparity.map { $0.0 == "FloatMaxValue" ? ($0.0, "nan") : $0 },
        disparity.map { $0.0 == "FloatMaxValue" ? ($0.0, "0.1") : $0 },
        disparity.map { $0.0 == "IntMaxValue" ? ($0.0, "65535") : $0 },
    ]

    @Test(arguments: others.indices)
    func takesNothingElseForDepth(_ index: Int) {
        let second = JPEGPieces.photo(with: Self.packet(Self.others[index]))
        #expect(PortraitDepth.find(in: JPEGPieces.photo(andSecond: second)) == nil)
    }

    @Test func givesZeroWhereNothingWasMeasured() {
        let metres: [Float] = [4, 1 / Float(4.25)]
        #expect(DepthCodes(minimum: 0.25, maximum: 4.25, isDisparity: true)?.metres([0, 255]) == metres)
        #expect(DepthCodes(minimum: 0, maximum: 255, isDisparity: true)?.metres([0, 1]) == [0, 1])
        #expect(DepthCodes(minimum: -1, maximum: 2, isDisparity: false)?.metres([0, 255]) == [0, 2])
        #expect(DepthCodes(minimum: 1e-45, maximum: 1, isDisparity: true)?.metres([0]) == [0])
    }

    @Test(
        .enabled(if: Places.shared("captures") != nil, "needs the captures of the shared folder"),
        arguments: ["portrait-iphone12mini", "portrait-iphonex-depth"])
    func givesTheFloatsOfGenuinePhotosBitForBit(_ name: String) throws {
        let folder = try #require(Places.shared("captures/\(name)"))
        let photo = try folder.appending(path: "photo.jpg").bytes
        let depth = try #require(PortraitDepth.find(in: photo))
        let picture = Array(photo[depth.picture])
        #expect(picture == (try folder.appending(path: "depth_original.jpg").bytes))
        #expect(depth.accuracy == "relative")
        #expect(depth.intrinsics?.width == PhotoFacts(jpeg: photo)?.size?.width)
        let decoder = PictureDecoder(executable: FilePath(Places.product("capbundle-decode").path()))
        guard case .uint8(let codes) = try decoder.samples(picture, .jpeg).values else {
            Issue.record("the picture is not 8-bit grey")
            return
        }
        let floats = RawFolder.floats(
            depth.codes.metres(codes))
        #expect(floats == (try folder.appending(path: "depth.f32").bytes))
    }
}
