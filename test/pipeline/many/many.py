"""Runs verify-many: `pcc verify` for thousands of small models."""
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VERIFY_MANY = os.environ.get("VERIFY_MANY", os.path.join(ROOT, "build", "release", "test", "verify-many"))


def verify(cases, folder, jobs=2):
    """Returns the results of `cases`, in their order; see verify-many.cpp for both. `folder` is for temporary files."""
    processes = []
    for job in range(min(jobs, len(cases))):
        path = os.path.join(folder, f"cases-{job}.json")
        with open(path, "w") as f:
            json.dump(cases[job::jobs], f)
        results = open(os.path.join(folder, f"results-{job}.jsonl"), "w+")
        processes.append((subprocess.Popen([VERIFY_MANY, path], stdin=subprocess.DEVNULL, stdout=results), results))
    merged = [None] * len(cases)
    for job, (process, results) in enumerate(processes):
        process.wait()
        results.seek(0)
        merged[job::jobs] = [json.loads(line) for line in results]
        results.close()
    return merged
