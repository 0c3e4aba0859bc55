"""What stands in for `otelcol-contrib --config FILE` where that cannot be had: takes OTLP over HTTP as FILE says.

Into ClickHouse rotel inserts; a file gets a line of OTLP/JSON a request. Where it listens it writes into `address`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import yaml
from google.protobuf.json_format import MessageToDict

from tests.insight import rotel
from tests.insight.receiver import receiving


def main(config: Path) -> None:
    told = yaml.safe_load(config.read_text("utf-8"))
    assert (
        told["service"]["pipelines"]["logs"]["receivers"] == ["otlp"]
        and "http" in told["receivers"]["otlp"]["protocols"]
    )
    (exporter,) = told["service"]["pipelines"]["logs"]["exporters"]
    if exporter == "clickhouse":
        assert told["exporters"]["clickhouse"]["endpoint"] == "${env:CLICKHOUSE}"
        running, address = rotel.begun(Path.cwd(), rotel.clickhouse(os.environ["CLICKHOUSE"]))
        Path("address").write_text(f"http://{address}")
        try:
            sys.stdin.read()  # until the test has done
        finally:
            running.terminate()
            running.wait()
        return
    out = Path(told["exporters"]["file"]["path"])
    out.parent.mkdir(parents=True, exist_ok=True)
    with receiving() as receiver:
        take = receiver.take

        def written(*of: object) -> tuple[int, bytes]:
            answer = take(*of)  # type: ignore[arg-type]
            with out.open("a") as file:
                file.write(json.dumps(MessageToDict(receiver.requests[-1])) + "\n")
            return answer

        receiver.take = written  # type: ignore[method-assign]
        Path("address").write_text(receiver.url)
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[sys.argv.index("--config") + 1]))
