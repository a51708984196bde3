import CaptureTestSupport

/// Small photos, EXIF and XMP for the seeds.
enum PhotoSeeds {
    /// TIFF bytes with and without a position.
    static func tiffs(isLittle: Bool) -> [[UInt8]] {
        var exif = ExifBuilder(isLittle: isLittle)
        exif.main = [.text(0x010f, "Maker"), .text(0x0110, "Model"), .short(0x0112, 6), .text(0x0131, "Software")]
        exif.exif = [
            .text(0x9003, "2026:03:14 15:09:26"), .text(0x9291, "535"), .text(0x9011, "+01:00"),
            .short(0xa002, 8), .short(0xa003, 8), .bytes(0x927c, Array("Apple iOS\0\0\u{1}MM".utf8)),
        ]
        let plain = exif.tiff
        exif.gps = ExifBuilder.gpsFields
        return [exif.tiff, plain]
    }

    private static let namespaces =
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:p='http://ns.apple.com/pixeldatainfo/1.0/' "
        + "xmlns:d='http://ns.apple.com/depthData/1.0/'"

    private static let depthPacket = """
        <x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \(namespaces)><rdf:Description p:AuxiliaryImageType='disparity' \
        p:NativeFormat='1751411059' p:FloatMinValue='0.5' p:FloatMaxValue='2.5'><d:Accuracy>absolute</d:Accuracy>\
        <d:IntrinsicMatrix><rdf:Seq><rdf:li>8</rdf:li><rdf:li>0</rdf:li><rdf:li>0</rdf:li><rdf:li>0</rdf:li>\
        <rdf:li>8</rdf:li><rdf:li>0</rdf:li><rdf:li>4</rdf:li><rdf:li>4</rdf:li><rdf:li>1</rdf:li></rdf:Seq>\
        </d:IntrinsicMatrix><d:IntrinsicMatrixReferenceWidth>8</d:IntrinsicMatrixReferenceWidth>\
        <d:IntrinsicMatrixReferenceHeight>8</d:IntrinsicMatrixReferenceHeight></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    static let packets: [[UInt8]] = [
        Array(JPEGPieces.packetWithPosition.utf8), Array(depthPacket.utf8),
        Array(
            "<a xmlns='b'><!-- c --><![CDATA[d]]>&#x41;&amp;<e f=\"g\"/></a>".utf8),
    ]

    /// A second picture that is a disparity map.
    static let disparity = JPEGPieces.photo(with: JPEGPieces.xmp(Array(depthPacket.utf8)))

    /// Photos with EXIF, XMP, IPTC, and without all of them.
    static let photos: [[UInt8]] = {
        var photos = [RawFolder.photo]
        for isLittle in [true, false] {
            photos += tiffs(isLittle: isLittle).map {
                JPEGPieces.photo(with: JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + $0))
            }
        }
        photos += packets.map { JPEGPieces.photo(with: JPEGPieces.xmp($0)) }
        let resources = Array("Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\u{8}".utf8) + [0x1c, 2, 90, 0, 3, 65, 66, 67]
        photos.append(JPEGPieces.photo(with: JPEGPieces.segment(0xed, resources)))
        photos.append(JPEGPieces.photo(with: JPEGPieces.exifWithPosition, at: 71))
        return photos
    }()
}
