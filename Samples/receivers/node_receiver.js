// Takes captures with Node into the folder `captures`: PORT=8000 node node_receiver.js
const crypto = require("node:crypto");
const fs = require("node:fs/promises");
const http = require("node:http");
const run = require("node:util").promisify(require("node:child_process").execFile);

const LIMIT = 20 << 20, STORE = "captures";
const REFUSED = { 1: [400, "ALTERED"], 2: [400, "MALFORMED"], 3: [403, "DEVICE_MISMATCH"], 4: [403, "NOT_ACCEPTABLE"] };

async function take(request) {
  const length = Number(request.headers["content-length"] ?? LIMIT + 1);
  const scratch = await fs.mkdtemp(`${STORE}/.`), hash = crypto.createHash("sha256");
  try {
    let size = 0;
    for await (const piece of request) { // to the end, also if it will be refused
      hash.update(piece);
      size += piece.length;
      if (length <= LIMIT) await fs.appendFile(`${scratch}/body`, piece);
    }
    if (length > LIMIT) return [413, "PAYLOAD_TOO_LARGE"];
    if (size !== length) return [408, "BODY_INCOMPLETE"];
    return await judge(request.headers, scratch, hash.digest("hex"));
  } finally {
    await fs.rm(scratch, { recursive: true });
  }
}

async function judge(headers, scratch, digest) {
  const [device, sent, signature] = ["id", "timestamp", "signature"].map((name) => headers[`x-device-${name}`] ?? "");
  if (!/^[0-9a-f-]{36} (0|[1-9][0-9]{0,15})$/i.test(`${device} ${sent}`)) return [401, "DEVICE_AUTH_REQUIRED"];
  const known = `${STORE}/devices/${device.toLowerCase()}`, age = Date.now() - Number(sent);
  const key = await fs.readFile(`${known}.pem`).catch((error) => error.code === "ENOENT" || Promise.reject(error));
  if (key === true) return [401, "DEVICE_AUTH_REQUIRED"];
  if (age < -60000 || age > 300000) return [401, "TIMESTAMP_EXPIRED"];
  const der = Buffer.from(signature, "base64"), message = Buffer.from(`${sent}|${digest}`);
  const isSigned = der.toString("base64") === signature && crypto.verify("sha256", message, key, der);
  if (!isSigned) return [401, "SIGNATURE_INVALID"];
  const made = `${scratch}/bundle`, kept = `${STORE}/kept/${digest}.bundle`;
  const words = ["from-body", `${scratch}/body`, "-o", made, "--trust", `${known}.trust`, "--quiet"];
  const verdict = await run("capbundle", words).then(() => 0, (error) => error.code);
  if (verdict !== 0) return REFUSED[verdict] ?? [503, "STORE_UNAVAILABLE"];
  await fs.rename(made, kept);
  await run("sync", [kept, `${STORE}/kept`]); // 202 only when the bytes and the name are on the disk
  return [202, digest];
}

async function answer(request, response) {
  let [status, word] = request.method === "POST" ? [404, "NOT_FOUND"] : [405, "POST_ONLY"];
  if (status === 404 && request.url === "/api/v1/captures")
    // Trouble, such as a full disk, is not the capture's fault: with 503 it is sent again.
    [status, word] = await take(request).catch(() => [503, "STORE_UNAVAILABLE"]);
  response.writeHead(status, { "Content-Type": "application/json", ...(status === 503 && { "Retry-After": "60" }) });
  response.end(JSON.stringify(status === 202 ? { data: { capture_id: word } } : { error: { code: word } }));
}

http.createServer(answer).listen(process.env.PORT ?? 8000, "127.0.0.1");
