"""The page of metrics: what hub and operator tell of themselves in figures."""

from collections.abc import Iterable

from hangar.telemetry.metrics import HUB, OPERATOR, Definition
from tools.reference.markdown import code, codes, page, sentence, table

ALERTS = "../how-to/alert.md"


def metrics() -> str:
    """Return the page of metrics."""
    return page(
        "Metrics",
        "In the text format of Prometheus. Names end in their unit, counters in `_total`; a histogram has `_bucket`, "
        "`_sum` and `_count`. Beside these there is what a process has: `process_cpu_seconds_total`, "
        f"`process_resident_memory_bytes`, `process_open_fds` and so on. [Rules to alert by]({ALERTS}).",
        "## The hub\n\n`GET /metrics`, without a token ([why](../decisions/0012-metrics-need-no-token.md)). What is "
        "told of the fleet is of the last second. Counters begin at 0 with the process.",
        _table(HUB),
        "## The operator\n\n`GET /metrics` where `HANGAR_METRICS_LISTEN` says; nowhere by default. `GET /healthz` "
        "beside it is for a liveness probe: 200 while the loop turns, also while the hub or the API server is away, "
        "which no restart would mend.",
        _table(OPERATOR),
    )


def _table(definitions: Iterable[Definition]) -> str:
    rows = [(code(each.name), each.sort.value, codes(each.labels), sentence(each.meaning)) for each in definitions]
    return table(("name", "type", "labels", "meaning"), rows)
