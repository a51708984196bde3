/// Turns pixels as EXIF's orientation says.
extension Pixels {
    /// The upright picture.
    ///
    /// - Parameter orientation: The EXIF orientation of the stored rows, 1 to 8.
    func upright(_ orientation: Int) -> Pixels {
        guard orientation > 1 else { return self }
        // Orientations 5 to 8 swap rows and columns.
        let swaps = orientation >= 5
        let (newWidth, newHeight) = swaps ? (height, width) : (width, height)
        let flipsColumns = [2, 3, 7, 8].contains(orientation)
        let flipsRows = [3, 4, 6, 7].contains(orientation)
        var turned: [UInt8] = []
        turned.reserveCapacity(bytes.count)
        for y in 0..<newHeight {
            for x in 0..<newWidth {
                var (column, row) = swaps ? (y, x) : (x, y)
                if flipsColumns { column = width - 1 - column }
                if flipsRows { row = height - 1 - row }
                let offset = (row * width + column) * 3
                turned.append(bytes[offset])
                turned.append(bytes[offset + 1])
                turned.append(bytes[offset + 2])
            }
        }
        return Pixels(width: newWidth, height: newHeight, bytes: turned)
    }
}
