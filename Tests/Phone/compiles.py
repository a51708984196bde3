"""What no program of the tests contains compiles: the call to App Attest, and the code of README.md."""
import re

from Judges.bench import ROOT, expect

PHONE = ROOT / "Samples/Phone"
SWIFT = ["swiftc", "-swift-version", "6", "-parse-as-library", "-warnings-as-errors"]
STAND_IN = """
import Foundation
public final class DCAppAttestService {
    nonisolated(unsafe) public static let shared = DCAppAttestService()
    public func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data { clientDataHash }
}
"""
# An app around the two examples of README.md. Outside Apple's systems there is no Secure Enclave.
APP = """
import Crypto
import Foundation
import FoundationNetworking
enum SecureEnclave { enum P256 { enum Signing { struct PrivateKey {
    let key = Crypto.P256.Signing.PrivateKey()
    var publicKey: Crypto.P256.Signing.PublicKey { key.publicKey }
    init() throws {}
    func signature(for data: Data) throws -> Crypto.P256.Signing.ECDSASignature { try key.signature(for: data) }
} } } }
func send(
    jpeg: Data, date: Date, depthBytes: Data, bytesPerRow: Int, signer: any ManifestSigner, secret: Data, file: URL,
    bodyFile: URL, device: UUID, key: DeviceKey, session: URLSession, to url: URL
) async throws {
var request = URLRequest(url: url)
%s
}
func attested() -> any ManifestSigner { AppAttestSigner(keyID: "", publicKey: Data()) }
func signer(counterFile: URL) throws -> any ManifestSigner {
%s
return signer
}
"""


def library(bench):
    """The library and the examples compile beside a module that has the call to App Attest as Apple describes it."""
    modules, built = bench.scratch("modules"), bench.phone.parent / "Modules"
    source = bench.write("DeviceCheck.swift", STAND_IN.encode())
    bench.call(*SWIFT, "-emit-module", "-module-name", "DeviceCheck", source, "-o",
               modules / "DeviceCheck.swiftmodule").must(0, about="the stand-in")
    examples = re.findall(r"^```swift\n(.*?)^```", (PHONE / "README.md").read_text(), re.M | re.S)
    app = bench.write("App.swift", (APP % tuple(examples[:2])).encode())
    bench.call(*SWIFT, "-typecheck", "-module-name", "PhoneCapture", "-I", modules, "-I", built, app,
               *sorted((PHONE / "Sources/PhoneCapture").glob("*.swift"))).must(0, about="the library")


def imports(bench):
    """The library uses Foundation, CryptoKit and DeviceCheck, and has at most 600 lines."""
    files = sorted((PHONE / "Sources/PhoneCapture").glob("*.swift"))
    used = {name for file in files for name in re.findall(r"^\s*(?:\w+ )?import (\S+)", file.read_text(), re.M)}
    expect(used == {"Foundation", "CryptoKit", "Crypto", "DeviceCheck"}, f"the library imports {sorted(used)}")
    lines = sum(len(file.read_text().splitlines()) for file in files)
    expect(len(files) > 9 and lines <= 600, f"the library has {lines} lines in {len(files)} files")


TESTS = [
    ("the library with its call to App Attest, and the examples of README, beside a stand-in for DeviceCheck", library),
    ("the library uses only what an app has, and is short", imports),
]
