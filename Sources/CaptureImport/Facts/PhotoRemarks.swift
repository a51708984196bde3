import CaptureBundle
import CaptureDevice
import SystemPackage

/// Makes the remarks about a photo, and refuses a file that is not a JPEG.
enum PhotoRemarks {
    /// Reads the structure of the photo.
    ///
    /// - Throws: `raw.capture` if the bytes are not a JPEG.
    static func read<Value>(
        _ file: FilePath, _ read: () throws(JPEGStructure.Failure) -> Value
    ) throws(BundleError) -> Value {
        do { return try read() } catch {
            let form = error.kind?.photoForm
            throw BundleError(
                .rawCapture, error.message, file: file, cause: form.map { _ in .otherPhoto },
                values: [form].compactMap(\.self))
        }
    }

    static func acceptance(of photo: RawCapture.Photo, _ remarks: inout [Remark]) {
        if photo.size > UploadAdvice.photoBytes {
            let message = "has \(photo.size) bytes; servers refuse more than \(UploadAdvice.photoBytes)"
            remarks.add(.warning, "upload.size", file: photo.file, message: message)
        }
        if let oddity = photo.structure.oddity {
            let message = "has a structure that some programs may refuse: \(oddity); it is packed as it is"
            remarks.add(.warning, "photo.structure", file: photo.file, message: message)
        }
    }

    /// Warns if the depth map is in portrait format and the photo in landscape format, or the reverse. It does not warn
    /// if the EXIF orientation turns the photo by 90 degrees.
    static func turned(_ depth: DepthSize, photo: JPEGStructure, file: FilePath, _ remarks: inout [Remark]) {
        guard let size = photo.size, !photo.isTurned, size.isAcross(depth.pixels) else { return }
        let message = "is \(depth), but the photo is \(size) and its EXIF has no rotation; one of them may be rotated"
        remarks.add(.warning, "raw.turned", file: file, message: message)
    }
}

/// Makes the remarks about a depth map.
enum DepthRemarks {
    static func size(_ size: DepthSize, file: FilePath, _ remarks: inout [Remark]) {
        let limit = UploadAdvice.depthSide
        guard max(size.width, size.height) > limit else { return }
        remarks.add(
            .warning, "upload.size", file: file, message: "is \(size); servers refuse more than \(limit)x\(limit)")
    }

    /// Warns about samples that are not plausible.
    static func survey(_ made: DepthFloats, _ remarks: inout [Remark]) {
        let (survey, file) = (made.survey, made.depth.file)
        if !survey.isPlausible {
            let isPlain = made.depth.source == .plain
            let repair = isPlain ? "divide each sample by 1000 and pack again" : "pack again with --depth-unit mm"
            let advice = survey.looksLikeMillimetres ? "; it looks like millimetres: \(repair)" : ""
            let doubt = survey.measured == 0 ? "" : "may not be in metres: "
            remarks.add(.warning, "raw.plausible", file: file, message: "\(doubt)\(survey.finding)\(advice)")
        }
        if survey.meaningless > 0 {
            let message = "\(survey.meaningless) samples are negative or infinite; they are kept as they are"
            remarks.add(.warning, "raw.samples", file: file, message: message)
        }
    }
}
