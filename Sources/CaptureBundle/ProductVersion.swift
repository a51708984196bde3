/// The version of the product: tools, libraries and receiver have it in common.
public enum ProductVersion {
    /// The version of this release, as its tag has it after the `v`. `.ci/version` reads this line.
    public static let current = "1.0.0"
}
