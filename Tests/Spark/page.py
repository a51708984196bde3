"""The commands of Samples/spark/README.md, in one shell, as a reader pastes them."""
import pyarrow.parquet
from Documents.run import steps
from Kit.outcomes import ROOT, expect

from Spark.archive import SAMPLES, parts

SEPARATOR = b"\n==\n"


def commands(archive):
    """Each prints what the page shows, apart from Spark's log."""
    work = archive.folder / "page"
    work.mkdir()
    (work / "Samples").symlink_to(ROOT / "Samples")
    archive.capbundle("trust", "add", "desk-lamp", ROOT / "Samples/desk-lamp/device.pem", "--trust", work / "trusted")
    inventory = {"bucket": ["b", "b"], "key": ["x/1.bundle", "x/1.txt"], "size": [7, 8]}
    pyarrow.parquet.write_table(pyarrow.table(inventory), work / "inventory")
    shown = list(steps((SAMPLES / "README.md").read_text(), True))
    script = "".join(f"{command}\necho; echo ==\n" for command, _ in shown)
    done = archive.call("bash", "-e", "-c", script, cwd=work, seconds=600, env={"SPARK_CONF_DIR": str(work)}).must(0)
    printed = done.out.split(SEPARATOR)[:-1]
    expect(len(printed) == len(shown) > 5, f"{len(printed)} of {len(shown)} commands were run")
    for (command, expected), output in zip(shown, printed):
        expect(output.decode().strip() == expected.strip(), f"$ {command}: {output.decode()}, the page: {expected}")
    listed = [row for part in parts(work / "big.parquet") for row in pyarrow.parquet.read_table(part).to_pylist()]
    expect(listed == [{"url": "s3://b/x/1.bundle", "size": 7}], f"{listed}")


TESTS = [("the commands of the page", commands)]
