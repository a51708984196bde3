public import CaptureBundle
public import CaptureDevice
public import PictureClient
public import SystemPackage

extension Packer {
    /// Reads, signs and writes one capture.
    ///
    /// ```swift
    /// let packer = Packer(key: DeviceKeyFile(path: DeviceKeyFile.usualPath))
    /// let packed = try packer.pack("raw", to: .file("cap.bundle"))
    /// print(packed.id)
    /// ```
    ///
    /// - Parameters:
    ///   - body: The place for the upload body; nil makes no body.
    ///   - decoder: Decodes the depth maps and photos of other layouts.
    ///   - onRemark: Receives each remark about the capture before anything is signed or written, and remarks about
    ///     links of the chain that an earlier run left pending.
    /// - Throws: `raw.capture` and the other codes of Spec/raw-captures.md section 8, `input.unreadable`,
    ///   `output.exists`, `output.unusable`, `io.failed`, and the errors of `DeviceKeyFile`.
    public func pack(
        _ raw: FilePath, to output: OutputPlace, body: BodyPlaces? = nil,
        options: RawCaptureOptions = RawCaptureOptions(), decoder: PictureDecoder = PictureDecoder(),
        isDryRun: Bool = false, onRemark: (Remark) -> Void = { _ in }
    ) throws(BundleError) -> Packed {
        let source = try RawSource.open(raw, options, decoder)
        let capture = try FrameReader.read(source.single(), of: source, options, decoder)
        return try pack(
            capture, from: raw, remarks: source.remarks, to: output, body: body, isDryRun: isDryRun, onRemark: onRemark)
    }
}
