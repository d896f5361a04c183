"""Runs a file of hostile cases against the product's own policy.

    python -m tests.conformance.redteam FILE [--only GLOB] [--json]

Plain: one line a failure, last line "N passed, M failed, K not judged", exit 0 only when M is 0. With --json: one
result object a line for each case and nothing else; only what a case gives is read, not what it expects.
"""

import argparse
import fnmatch
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.redteam_case import Result, run_case
from tests.conformance.redteam_judge import passed


def load(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open(encoding="utf-8") as file:
        document: dict[str, Any] = yaml.load(file, Loader=loader)
    cases: list[dict[str, Any]] = document["cases"]
    return cases


def run(cases: Sequence[Mapping[str, Any]]) -> list[Result]:
    """Return what the product decides on each case, with `passed` and `detail` filled in."""
    results = []
    for case in cases:
        result = run_case(case)
        result["passed"], wrong = passed(case, result)
        result["detail"] = wrong or result["detail"]
        results.append(result)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="*", help="cases whose id fits this pattern")
    parser.add_argument("--json", action="store_true", help="print results instead of a verdict")
    options = parser.parse_args(arguments)
    cases = [case for case in load(options.file) if fnmatch.fnmatchcase(case["id"], options.only)]
    results = run(cases)
    if options.json:
        for result in results:
            sys.stdout.write(f"{json.dumps(result)}\n")
        return 0
    return _report(results)


def _report(results: Sequence[Result]) -> int:
    failed = [result for result in results if result["passed"] is False]
    left = sum(not result["judged"] for result in results)
    for result in failed:
        sys.stdout.write(f"{result['id']}: {result['detail']}\n")
    good = sum(result["passed"] is True for result in results)
    sys.stdout.write(f"{good} passed, {len(failed)} failed, {left} not judged\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
