"""The table, and the picture of its ratios."""

import collections
import math
import shutil
import statistics
import subprocess
import textwrap

TIMES = {"whole": "whole", "work": "solver", "communication": "communication"}
COLOURS = {"node": "#1f4e9c", "tcp": "#d9601a", "wire": "#2f8f4e"}


def pairs_of(rows):
    """{(link, ranks, program): [(row without fab, row with fab) of each round]}, in the order of the rows."""
    found = collections.defaultdict(dict)
    for row in rows:
        found[row["link"], row["ranks"], row["program"]].setdefault(row["round"], {})[row["fab"]] = row
    return {scene: [(pair[False], pair[True]) for pair in rounds.values()] for scene, rounds in found.items()}


def ratios(pairs, time):
    """Other over fab, of each round; a time that the program rounded to nothing has none."""
    return [without[time] / with_fab[time] for without, with_fab in pairs if without[time] and with_fab[time]]


def certain(values):
    """The two values between which the median of all runs lies in 19 of 20 such measurements, by order
    statistics (Conover, Practical Nonparametric Statistics, section 3.2). Fewer than 6 values: None."""
    count = len(values)
    outside = max((k for k in range(count // 2) if sum(math.comb(count, i) for i in range(k)) <= 0.025 * 2**count),
                  default=0)
    ordered = sorted(values)
    return (ordered[outside - 1], ordered[count - outside]) if outside else None


def span(values):
    return certain(values) or (min(values), max(values))


def spread(values):
    if not values:
        return ""
    low, high = span(values)
    return f"{statistics.median(values):.2f} ({low:.2f} to {high:.2f})"


def least(pairs):
    """The ratio of the shortest whole times: what other work on the machine can only make longer."""
    return min(without["whole"] for without, _ in pairs) / min(with_fab["whole"] for _, with_fab in pairs)


def verdict(scenes):
    """Of the whole times, which differ by more than the noise: the median surely, and the shortest times alike."""
    sure = {scene: certain(ratios(pairs, "whole")) for scene, pairs in scenes.items()}
    found = {"faster": [], "slower": []}
    for (link, ranks, program), span_of_median in sure.items():
        if span_of_median is None:
            continue
        shortest = least(scenes[link, ranks, program])
        for word, differs in (("faster", min(*span_of_median, shortest) > 1),
                              ("slower", max(*span_of_median, shortest) < 1)):
            if differs:
                found[word].append(f"{program} ({link}, {ranks} ranks)")
    told = [textwrap.fill(f"Surely {word} with fab: {', '.join(names) or 'none'}.", 120)
            for word, names in found.items()]
    few = sum(span_of_median is None for span_of_median in sure.values())
    if few:
        told.append(f"{few} of {len(sure)} rows have fewer than six rounds, too few to be sure of.")
    return "\n".join(told)


def seconds(pairs, side, time):
    values = [pair[side][time] for pair in pairs if pair[side][time] is not None]
    return f"{statistics.median(values):.3f}" if values else ""


def calls(pairs):
    """Of the last round: (carried, passed on, the functions that were carried most)."""
    functions = pairs[-1][1]["carried"]
    carried = {name: row["carried"] for name, row in functions.items() if row["carried"]}
    passed = sum(row["passed"] for row in functions.values())
    most = sorted(carried, key=carried.get, reverse=True)[:3]
    return sum(carried.values()), passed, ", ".join(f"{name} {carried[name]}" for name in most)


def table(scenes, link, ranks):
    lines = [f"\n## {link}, {ranks} ranks\n",
             "| program | whole, s: without | with fab | ratio | of the least | solver, ratio "
             "| communication, s: without | with fab | ratio | calls carried | passed on | most of them |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for (_, _, program), pairs in ((scene, pairs) for scene, pairs in scenes.items() if scene[:2] == (link, ranks)):
        carried, passed, most = calls(pairs)
        cells = [program, seconds(pairs, 0, "whole"), seconds(pairs, 1, "whole"), spread(ratios(pairs, "whole")),
                 f"{least(pairs):.2f}", spread(ratios(pairs, "work")), seconds(pairs, 0, "communication"),
                 seconds(pairs, 1, "communication"),
                 spread(ratios(pairs, "communication")), str(carried), str(passed), most]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def picture(scenes, file):
    """A panel for each time: ratios with their spread, a colour for each link. False without gnuplot."""
    if shutil.which("gnuplot") is None:
        return False
    several = len({ranks for _, ranks, _ in scenes}) > 1
    labels = {scene: f"{scene[2]}, {scene[1]} ranks" if several else scene[2] for scene in scenes}
    programs = list(dict.fromkeys(labels.values()))
    links = list(dict.fromkeys(link for link, _, _ in scenes))
    ticks = ", ".join(f'"{program}" {position}' for position, program in enumerate(programs))
    height = 260 + 52 * len(programs)
    script = [f"set terminal svg size 900,{height} dynamic font 'sans-serif,12' background rgb 'white'",
              f"set output '{file}'", "set multiplot layout 2,1", "set grid back lt 1 lw 0.5 lc rgb '#cccccc'",
              f"set ytics ({ticks})", f"set yrange [{len(programs) - 0.5}:-0.5]", "set logscale x 2",
              "set key outside right top", "set lmargin 24",
              "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#b00000' lw 1.5"]
    for time in ("whole", "communication"):
        drawn = []
        for number, link in enumerate(links):
            points = [(programs.index(labels[scene]) + 0.2 * (number - 1), ratios(pairs, time))
                      for scene, pairs in scenes.items() if scene[0] == link]
            points = [f"{statistics.median(values)} {y} {' '.join(map(str, span(values)))}" for y, values in points
                      if values]
            if points:
                name = f"${time}_{link}"
                script += [f"{name} << EOD", *points, "EOD"]
                drawn.append(f"{name} using 1:2:3:4 with xerrorbars pt 7 ps 0.5 lw 2 lc rgb '{COLOURS[link]}' "
                             f"title '{link}'")
        if drawn:
            script += [f"set title '{TIMES[time]} time: without fab over with fab (above 1 fab is faster)'",
                       "plot " + ", ".join(drawn)]
    script.append("unset multiplot")
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True, timeout=60)
    return True


def write(gathered, folder):
    """The exit status: 1 if a program failed, or told other results with fab."""
    folder.mkdir(parents=True, exist_ok=True)
    scenes = pairs_of(gathered["rows"])
    numbers = sorted({len(pairs) for pairs in scenes.values()}) or [0]
    rounds = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    lines = ["# Programs with and without fab\n",
             f"FAB_DROPIN={gathered['carry']}, {rounds} rounds, medians. A ratio is the time without fab "
             "over the time with it:\nits median and, in brackets, the values between which the median of all such runs "
             "lies in 19 of 20 cases\n(with fewer than six rounds the smallest and the largest). Above 1 fab is faster. "
             "*Of the least:* the ratio of the\nshortest whole times. Times of runs in which the machine had other work "
             "are in the medians, not in these.\n", verdict(scenes)]
    for link, ranks in dict.fromkeys(scene[:2] for scene in scenes):
        lines += table(scenes, link, ranks)
    for title, key in (("Failed", "failed"), ("Left out", "left_out")):
        if gathered[key]:
            lines += [f"\n## {title}\n", *(f"- {entry['what']}: {entry['why']}" for entry in gathered[key])]
    if scenes and picture(scenes, folder / "ratios.svg"):
        lines.append("\n![Ratios of the whole time and of the time in communication](ratios.svg)")
    (folder / "README.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nreport: {folder / 'README.md'}")
    return 1 if gathered["failed"] else 0
