"""Hold the coverage of src/ against its floor: 90 % of lines, 80 % of branches."""

import json
import subprocess
import sys

subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", "coverage.json"], check=True)
with open("coverage.json", encoding="utf-8") as file:
    totals = json.load(file)["totals"]
lines = 100 * totals["covered_lines"] / totals["num_statements"]
branches = 100 * totals["covered_branches"] / totals["num_branches"]
print(f"coverage: {lines:.1f} % of lines, {branches:.1f} % of branches")
sys.exit(lines < 90 or branches < 80)
