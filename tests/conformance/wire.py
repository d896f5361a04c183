"""Runs a file of conformance cases against the model layer.

    python -m tests.conformance.wire FILE [--only GLOB] [--json]

Plain: one line a failure, last line "N passed, M failed", exit 0 only when M is 0. With --json: one result object a
line for each case and nothing else; only what a case gives is read, not what it expects.
"""

import argparse
import asyncio
import fnmatch
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.wire_judge import judge
from tests.conformance.wire_run import CaseRun, Result

AT_ONCE = 8
"""Cases run beside each other: most of their time is waiting."""

LONGEST_CASE_S = 180.0
"""A case that takes longer hangs; the waits a server asks for may be two minutes together."""


def load(path: Path) -> dict[str, Any]:
    """Return the whole case file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open(encoding="utf-8") as file:
        document: dict[str, Any] = yaml.load(file, Loader=loader)
    return document


async def run_cases(cases: Sequence[Mapping[str, Any]], meta: Mapping[str, Any]) -> list[Result]:
    """Return the results in the order of the cases; a case that crashes the layer has the outcome crashed."""
    places = asyncio.Semaphore(AT_ONCE)

    async def run(case: Mapping[str, Any]) -> Result:
        async with places, asyncio.timeout(LONGEST_CASE_S):
            return await CaseRun(case, meta).result()

    results = await asyncio.gather(*(run(case) for case in cases), return_exceptions=True)
    return [_kept(case, result) for case, result in zip(cases, results, strict=True)]


def _kept(case: Mapping[str, Any], result: Result | BaseException) -> Result:
    """Return a result as it is, and a crash as a result too: the other cases still count."""
    if not isinstance(result, BaseException):
        return result
    message = f"{type(result).__name__}: {result}"
    return {"id": case.get("id"), "outcome": "crashed", "message": message}


def verdict(case: Mapping[str, Any], result: Result) -> list[str]:
    """Return what is wrong with a result, also when it cannot be judged."""
    if result["outcome"] == "crashed":
        return [result["message"]]
    try:
        return judge(case, result)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        return [f"cannot be judged: {type(error).__name__}: {error}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="*", help="cases whose id fits this pattern")
    parser.add_argument("--json", action="store_true", help="print results instead of a verdict")
    options = parser.parse_args(arguments)
    document = load(options.file)
    cases = [
        case
        for case in document["cases"]
        if fnmatch.fnmatchcase(str(case.get("id", "")), options.only)
    ]
    results = asyncio.run(run_cases(cases, document["meta"]))
    if options.json:
        for result in results:
            sys.stdout.write(f"{json.dumps(result)}\n")
        return 0
    return _report(cases, results)


def _report(cases: Sequence[Mapping[str, Any]], results: Sequence[Result]) -> int:
    failed = 0
    for case, result in zip(cases, results, strict=True):
        wrong = verdict(case, result)
        failed += bool(wrong)
        if wrong:
            sys.stdout.write(f"{case.get('id')}: {'; '.join(wrong)}\n")
    sys.stdout.write(f"{len(cases) - failed} passed, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
