"""An analysis of recorded runs: up to how many accelerators does each network train faster, under which strategy?"""

from __future__ import annotations

import hypar_exp as hx


def main() -> None:
    """Print a line a network and strategy, of all finished runs that are recorded here."""
    runs = hx.runs(where="metrics.step_time_s > 0")
    for (network, strategy), group in runs.groupby(["tags.network", "tags.strategy"]):
        times = group.groupby("metrics.accelerators")["metrics.step_time_s"].min()
        gain = times.iloc[0] / times.min()
        print(f"{network} by {strategy}: up to {times.idxmin():.0f} accelerators, {gain:.1f} times as fast as on one")


if __name__ == "__main__":
    main()
