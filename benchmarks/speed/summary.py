"""The ratios that count, and a table."""

from __future__ import annotations

from .workloads import Row


def row_of(result: dict) -> Row:
    """The row that a result belongs to."""
    return Row(**{name: result[name] for name in Row.__dataclass_fields__})


def ratios(results: list[dict]) -> dict[str, float]:
    """Book-keeping against the rest, network by network, by the best run of each."""
    found = {}
    for network in dict.fromkeys(result["network"] for result in results):
        own = [r for r in results if r["network"] == network and "error" not in r]
        batch = min(r["batch"] for r in own)
        rate = {
            (r["program"], r["trials"]): r["best"] for r in own if r["batch"] == batch and not r["poisson"]
        }
        peers = [v for (name, _), v in rate.items() if name.startswith(("opacus", "jax_privacy"))]
        opacus = [v for (name, _), v in rate.items() if name.startswith("opacus")]
        for trials in sorted({t for name, t in rate if name == "book_keeping"}):
            ours = rate["book_keeping", trials]
            against = {
                "non_private": rate.get(("non_private", 1)),
                "plain vmap(grad)": rate.get(("plain_vmap_grad", trials)),
                "our vmap_grad": rate.get(("vmap_grad", trials)),
                "best Opacus": max(opacus, default=None),
                "best peer": max(peers, default=None),
            }
            for other, value in against.items():
                if value:
                    found[f"{network}, {trials} trials: book_keeping / {other}"] = ours / value
        memory = {r["program"]: r.get("temporary_mib") for r in own if r["batch"] > batch}
        if all(memory.get(name) for name in ("book_keeping", "non_private")):
            ratio = memory["book_keeping"] / memory["non_private"]
            found[f"{network}: memory of book_keeping / non_private, large batch"] = ratio
    return found


def table(report: dict) -> str:
    """All rows and ratios as text."""
    lines = [
        f"{'network':16s} {'program':42s} {'examples/s':>11s} {'compile s':>9s} {'peak MiB':>9s} {'XLA MiB':>8s}"
    ]
    for result in report["rows"]:
        name = row_of(result).name
        if "error" in result:
            lines.append(f"{result['network']:16s} {name:42s} {result['error'][:60]}")
            continue
        xla = result.get("temporary_mib")
        lines.append(
            f"{result['network']:16s} {name:42s} {result['best']:11,.0f} {result['compile_s']:9.1f} "
            f"{result['peak_mib']:9.0f} {'' if xla is None else f'{xla:.1f}':>8s}"
        )
    return "\n".join([*lines, "", *(f"{name:60s} {value:8.2f}" for name, value in report["ratios"].items())])
