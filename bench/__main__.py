"""Measures the figures and prints them: `python -m bench [--json] [--only a,b]`."""

import argparse
import importlib
import json
import sys
from typing import Protocol, cast

from bench.figure import Figure

FIGURES = (
    "start",
    "step",
    "idle",
    "core_step",
    "core_step_growth",
    "request_body",
    "sse_decoding",
)
"""Each is a module with `measure`."""


class Measurement(Protocol):
    """What each figure's module offers."""

    def measure(self) -> Figure:
        """Measure it."""
        ...


def main(words: list[str] | None = None) -> int:
    """Measure and print.

    Returns:
        0 when every figure is within its target, 1 when one is not, 2 for a name that does not exist.
    """
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the figures.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--only", default=",".join(FIGURES), metavar="A,B", help="figures to measure"
    )
    options = parser.parse_args(words)
    names = [name for name in options.only.split(",") if name]
    unknown = [name for name in names if name not in FIGURES]
    if unknown or not names:
        print(
            f"There is no figure {', '.join(unknown)}. Known: {', '.join(FIGURES)}.",
            file=sys.stderr,
        )
        return 2
    figures = {name: _measure(name) for name in names}
    if options.json:
        print(json.dumps({name: figure.fields() for name, figure in figures.items()}))
    else:
        _print_table(figures)
    return 0 if all(figure.ok for figure in figures.values()) else 1


def _measure(name: str) -> Figure:
    print(f"measuring {name} ...", file=sys.stderr, flush=True)
    return cast("Measurement", importlib.import_module(f"bench.{name}")).measure()


def _print_table(figures: dict[str, Figure]) -> None:
    width = max(map(len, figures))
    print(
        f"{'figure':{width}} {'value':>10} {'':4} {'baseline':>10} {'ratio':>7} {'target':>7}  ok"
    )
    for name, figure in figures.items():
        row = f"{name:{width}} {figure.value:10.2f} {figure.unit:4} {figure.baseline:10.2f} {figure.ratio:7.2f}"
        print(f"{row} {figure.target:7g}  {'yes' if figure.ok else 'NO'}")
        print(
            "         " + ", ".join(f"{part} {number:.2f}" for part, number in figure.parts.items())
        )


if __name__ == "__main__":
    sys.exit(main())
