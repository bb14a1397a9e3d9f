"""Reads what /metrics says, as a scraper does."""

from prometheus_client.parser import text_string_to_metric_families


def figures_in(text: str) -> dict[str, float]:
    """Return each sample as `name{label="value"}`, labels by their names, without what there is of the process."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return {name: value for name, value in found.items() if not name.startswith("process_")}
