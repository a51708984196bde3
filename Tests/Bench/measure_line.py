"""capqueue run over a slow line with losses, against curl and rclone: what its own work adds where the line is the limit.

The line is that of Tests/Kit/lines.py: 40 Mbit/s, 50 ms there and back, and 0.5 % of the packets are lost. TCP with cubic sends
about 5 Mbit/s over it in one connection.
"""
from Bench import measure_send as send
from Bench import send_servers as servers
from Kit.lines import line
from Kit.servers.seaweed import BUCKET
from Kit.servers.sigv4 import REGION

SLOW = {"bits_per_second": 40e6, "one_way": 0.025, "loss": 0.005}
MUST, AIM = 0.9, 0.8


def http(rig):
    """Both send over one connection: capqueue makes the bodies, curl has them."""
    bundles = rig.bundles(rig.scaled(6, 2))
    bodies = send.bodies_of(rig, bundles)
    with line(**SLOW) as slow, servers.nginx(rig) as (url, _):
        api = f"http://{slow.exposed(servers.port_of(url))}/api/v1/captures"

        def ours(_):
            run = send.filled(rig, bundles, "http", "--url", api, "--verify-url", "none")
            seconds = rig.timed(*slow.words, *run)
            send.expect_completed(rig, len(bundles))
            return seconds

        one_curl = send.curl_with_bodies(rig, api, bodies)
        return rig.compare({"capqueue": ours, "curl": lambda _: rig.timed(*slow.words, *one_curl)}, 3,
                           (f"a bad line: {len(bundles)} by http / one curl, premade bodies", MUST, AIM), warmup=0)


def s3(rig):
    bundles = rig.bundles(rig.scaled(16, 4))
    send.linked(rig, bundles)
    with line(**SLOW) as slow, servers.seaweed(rig, slow.exposed) as url:
        def ours(turn):
            return rig.timed(*slow.words, *send.filled(rig, bundles, "s3", "--url", f"{url}/ours{turn}", "--region", REGION,
                                                       "--concurrency", send.AT_A_TIME))

        def theirs(turn):
            return rig.timed(*slow.words, "rclone", "copy", "--transfers", send.AT_A_TIME, "bundles",
                             f"seaweed:{BUCKET}/theirs{turn}")

        title = f"a bad line: {len(bundles)} by s3, {send.AT_A_TIME} at a time / rclone copy"
        rows = rig.compare({"capqueue": ours, "rclone": theirs}, 3, (title, MUST, AIM), warmup=0)
        send.expect_completed(rig, len(bundles))
    return rows


MEASURES = [("a bad line, http", http), ("a bad line, s3", s3)]
