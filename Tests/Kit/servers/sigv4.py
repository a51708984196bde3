"""AWS Signature Version 4 without a library, and a client that checks what an S3 store holds.

It follows the public description and uses nothing of the tool under test: signed headers and presigned URLs.
"""
import dataclasses
import datetime
import hashlib
import hmac
import http.client
import re
import urllib.parse

UNSIGNED = "UNSIGNED-PAYLOAD"
REGION = "us-east-1"


def quoted(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def stamp(seconds=0):
    """Returns the time `seconds` from now in the form that signatures need."""
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y%m%dT%H%M%SZ")


@dataclasses.dataclass(frozen=True)
class Keys:
    """A pair of credentials."""

    id: str
    secret: str

    @property
    def environment(self):
        return {"AWS_ACCESS_KEY_ID": self.id, "AWS_SECRET_ACCESS_KEY": self.secret}

    def signature(self, method, path, query, headers, payload, moment):
        """Returns the credential scope, the names of the signed headers, and the signature."""
        names = sorted(headers)
        canonical = "\n".join([method, quoted(path, "/"), query_text(query),
                               *(f"{name}:{headers[name].strip()}" for name in names), "", ";".join(names), payload])
        scope = f"{moment[:8]}/{REGION}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + self.secret.encode()
        for part in (*scope.split("/"), text):
            key = hmac.digest(key, part.encode(), "sha256")
        return scope, ";".join(names), key.hex()

    def signed(self, method, host, path, query=(), headers=None, payload=UNSIGNED):
        """Returns the headers of a request with those that sign it."""
        moment = stamp()
        headers = {name.lower(): value for name, value in (headers or {}).items()}
        headers |= {"host": host, "x-amz-date": moment, "x-amz-content-sha256": payload}
        scope, names, signature = self.signature(method, path, dict(query), headers, payload, moment)
        headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.id}/{scope}, SignedHeaders={names}, "
                                    f"Signature={signature}")
        return headers

    def presigned(self, method, host, path, life=86_400 * 2, since=0, headers=None):
        """Returns a URL that allows one request, which must have `headers`, for `life` seconds after `since`."""
        moment = stamp(since)
        headers = {"host": host} | {name.lower(): value for name, value in (headers or {}).items()}
        query = {"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Date": moment, "X-Amz-Expires": str(life),
                 "X-Amz-Credential": f"{self.id}/{moment[:8]}/{REGION}/s3/aws4_request",
                 "X-Amz-SignedHeaders": ";".join(sorted(headers))}
        _, _, signature = self.signature(method, path, query, headers, UNSIGNED, moment)
        return f"http://{host}{quoted(path, '/')}?{query_text(query)}&X-Amz-Signature={signature}"


def query_text(query):
    return "&".join(f"{quoted(name)}={quoted(query[name])}" for name in sorted(query))


class Client:
    """Asks a store directly which objects it holds."""

    def __init__(self, port, keys, bucket):
        self.host, self.keys, self.bucket = f"127.0.0.1:{port}", keys, bucket

    def request(self, method, path, query=(), headers=None, body=None, payload=UNSIGNED):
        """Returns status, headers (lower case) and body of an answer."""
        signed = self.keys.signed(method, self.host, path, query, headers, payload)
        target = quoted(path, "/") + (f"?{query_text(dict(query))}" if query else "")
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            connection.request(method, target, body, {name: value for name, value in signed.items() if name != "host"})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, answer.read()
        finally:
            connection.close()

    def path(self, key):
        return f"/{self.bucket}/{key}"

    def put(self, key, data, **headers):
        status, _, _ = self.request("PUT", self.path(key), headers=headers, body=data)
        return status

    def get(self, key):
        """Returns the bytes of an object, or None if the store does not have it."""
        status, _, data = self.request("GET", self.path(key))
        return data if status == 200 else None

    def delete(self, key):
        status, _, _ = self.request("DELETE", self.path(key))
        return status

    def head(self, key):
        """Returns the headers of an object with its checksum, or None if the store does not have it."""
        status, headers, _ = self.request("HEAD", self.path(key), headers={"x-amz-checksum-mode": "ENABLED"})
        return headers if status == 200 else None

    def put_in_parts(self, key, data):
        """Stores an object with no checksum and with an ETag that is not its MD5."""
        path = self.path(key)
        _, _, answer = self.request("POST", path, {"uploads": ""})
        upload = re.search(rb"<UploadId>(.*?)</UploadId>", answer)[1].decode()
        _, headers, _ = self.request("PUT", path, {"partNumber": "1", "uploadId": upload}, body=data)
        part = f"<Part><PartNumber>1</PartNumber><ETag>{headers['etag']}</ETag></Part>"
        status, _, _ = self.request("POST", path, {"uploadId": upload},
                                    body=f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode())
        return status

    def presigned(self, key, method="PUT", host=None, **how):
        """Returns a presigned URL for one object; `host` is that of a proxy in front of the store."""
        return self.keys.presigned(method, host or self.host, self.path(key), **how)
