import CaptureBundle
import CaptureQueue
import GRDB
import Hummingbird

let router = Router()
router.get("/healthz") { _, _ in "ok\n" }
let application = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: 8080)))
try await application.runService()
