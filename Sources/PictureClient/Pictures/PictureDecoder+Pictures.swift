import CaptureBundle
package import PictureMessages

extension PictureDecoder {
    package typealias SampleFormat = PictureRequest.SampleFormat
    package typealias PixelFormat = PictureRequest.PixelFormat

    /// Decodes a picture with one channel. The samples keep the values of the file.
    ///
    /// PNG: 8 or 16 bits. TIFF: a `SampleType`. OpenEXR: half or float. JPEG: grey. Several channels that are equal count
    /// as one. Other pictures of these formats are `unsupported`.
    ///
    /// - Parameter channel: The channel to take of an OpenEXR file.
    package func samples(
        _ file: [UInt8], _ format: SampleFormat, channel: String = ""
    ) throws(PictureFailure) -> SampleGrid {
        let name = Array(channel.utf8)
        guard name.count <= PictureLimits.channelBytes else {
            throw PictureFailure(.unsupported, "has no channel with a name of \(name.count) bytes")
        }
        let parts = try ask(
            .samples(format, nameCount: name.count), name + file, library: format == .tiff ? .tiff : nil)
        guard case .samples(var grid)? = parts.first else { throw .misunderstood }
        for part in parts.dropFirst() {
            guard case .bytes(let head, let text) = part, head.kind == .note else { throw .misunderstood }
            grid.notes.append(String(decoding: text, as: UTF8.self))
        }
        return grid
    }

    /// Decodes a JPEG or PNG to pixels. Transparency is ignored, and 16 bits become 8.
    ///
    /// - Parameter eighths: The size of the result in eighths of the picture's size, rounded up: 1, 2, 4 or 8. For PNG it
    ///   must be 8.
    package func pixels(
        _ file: [UInt8], _ format: PixelFormat, eighths: Int = 8
    ) throws(PictureFailure) -> PixelImage {
        guard case .bytes(let head, let rgb)? = try ask(.pixels(format, eighths: eighths), file).first,
            head.kind == .pixels, let image = PixelImage(width: head.width, height: head.height, rgb: rgb)
        else { throw .misunderstood }
        return image
    }

    /// Makes an upright JPEG of an eighth of the size, without metadata.
    ///
    /// - Parameters:
    ///   - orientation: The photo's EXIF orientation, 1 to 8; other values count as 1.
    ///   - quality: 1 to 100.
    package func thumbnail(_ jpeg: [UInt8], orientation: Int, quality: Int) throws(PictureFailure) -> [UInt8] {
        let turn = (1...8).contains(orientation) ? orientation : 1
        return try file(.thumbnail(orientation: turn, quality: min(max(quality, 1), 100)), jpeg)
    }

    /// Encodes a picture as a PNG file.
    package func png(_ image: PixelImage) throws(PictureFailure) -> [UInt8] {
        try check(image)
        return try file(.png(width: image.width, height: image.height), image.rgb)
    }

    /// Encodes a picture as a JPEG file without metadata.
    package func jpeg(_ image: PixelImage, quality: Int) throws(PictureFailure) -> [UInt8] {
        try check(image)
        let task = PictureRequest.Task.jpeg(
            width: image.width, height: image.height, quality: min(max(quality, 1), 100))
        return try file(task, image.rgb)
    }

    private func check(_ image: PixelImage) throws(PictureFailure) {
        guard PictureLimits.bytes(width: image.width, height: image.height, each: 3) != nil else {
            throw PictureFailure(.tooLarge, "is larger than \(PictureLimits.side) pixels on a side")
        }
    }

    private func file(_ task: PictureRequest.Task, _ bytes: [UInt8]) throws(PictureFailure) -> [UInt8] {
        guard case .bytes(let head, let file)? = try ask(task, bytes).first, head.kind == .file else {
            throw .misunderstood
        }
        return file
    }
}

extension PictureFailure {
    /// The failure for an answer whose parts do not match the request.
    static let misunderstood = PictureFailure(
        .died, "cannot be decoded: \(DecoderProgram.name) sent an invalid answer")
}
