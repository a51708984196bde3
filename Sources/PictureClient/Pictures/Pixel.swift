/// One colour: 8-bit sRGB.
package struct Pixel: Hashable, Sendable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8

    package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// - Parameter hex: 0xRRGGBB.
    package init(hex: UInt32) { self.init(UInt8(hex >> 16 & 0xff), UInt8(hex >> 8 & 0xff), UInt8(hex & 0xff)) }

    /// The colour between this one and another.
    ///
    /// - Parameter share: 0 for this colour … 255 for the other.
    package func mixed(with other: Pixel, _ share: Int) -> Pixel {
        func channel(_ from: UInt8, _ to: UInt8) -> UInt8 {
            UInt8((Int(from) * (255 - share) + Int(to) * share + 127) / 255)
        }
        return Pixel(channel(red, other.red), channel(green, other.green), channel(blue, other.blue))
    }
}
