"""Plots by gnuplot, one SVG file for each scene."""

import shutil
import subprocess

import rows
import texts

COLOURS = {"fab": "#1f4e9c", "native": "#5fa8e8", "flat": "#8aa4c8", "Open MPI": "#d9601a", "Open MPI by hand": "#f0a878",
           "Open MPI HAN": "#b03060",
           "MPICH": "#2f8f4e", "MPICH by hand": "#93cfa3", "limit": "#777777"}
FORM_COLOURS = {"blocking": "#1f4e9c", "nonblocking": "#8c3fa8", "persistent": "#c23b5a"}


class Script:
    """Commands for gnuplot, with the data in them."""

    def __init__(self, file, width, height):
        self.lines = [f"set terminal svg size {width},{height} dynamic font 'sans-serif,12' background rgb 'white'",
                      f"set output '{quoted(file)}'", "set grid back lt 1 lw 0.5 lc rgb '#cccccc'", "set key outside bottom center "
                      "horizontal samplen 2", "set logscale x 2", "set xlabel 'bytes'",
                      "set xtics rotate by -35 font ',10'"]
        self.blocks = 0

    def add(self, *lines):
        self.lines.extend(lines)

    def plot(self, lines):
        """`lines`: (title, points, style), or with gnuplot's kind (linespoints). Points without a value are left out,
        and so are lines without points."""
        drawn = []
        for title, points, style, *kind in lines:
            points = [(size, value) for size, value in points if value is not None]
            if not points:
                continue
            self.blocks += 1
            self.add(f"$block{self.blocks} << EOD", *(f"{size} {value!r}" for size, value in points), "EOD")
            drawn.append(f"$block{self.blocks} using 1:2 with {kind[0] if kind else 'linespoints'} {style} title '{title}'")
        if drawn:
            self.add("plot " + ", \\\n  ".join(drawn))

    def sizes(self, sizes):
        every = -(-len(sizes) // 11)
        ticks = ", ".join(f'"{texts.size(size)}" {size}' for size in sizes[::every])
        self.add(f"set xtics ({ticks})", f"set xrange [{sizes[0] / 1.5}:{sizes[-1] * 1.5}]")

    def run(self):
        draw_lines(self.lines)


def draw_lines(lines):
    """Commands for gnuplot."""
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True, capture_output=True, timeout=60)


def quoted(file):
    return str(file).replace("'", "''")


def style(colour, dashed=False, width=2):
    return f"lw {width} pt 7 ps 0.4 lc rgb '{colour}'" + (" dt 2" if dashed else "")


def latency(scene, file):
    """A panel for each form: time over size, with the limit; and one for fab's lead."""
    script = Script(file, 1080, 800)
    script.sizes(scene.sizes)
    script.add("set multiplot layout 2,2", "set logscale y", "set ylabel 'us per call'")
    limit = [(size, (scene.limit(size) or [None])[0]) for size in scene.sizes]
    for form in scene.forms:
        script.add(f"set title '{form}'")
        script.plot([(name, [(size, scene.median(size, name, form)) for size in scene.sizes],
                      style(COLOURS[name], "by hand" in name, 3 if name == scene.fab else 1.5))
                     for name in scene.contestants()] + [("limit", limit, style(COLOURS["limit"], True))])
    script.add(f"set title 'times faster: {scene.fab} against the fastest other'", "unset logscale y", "set ylabel 'ratio'",
               "set yrange [0:*]", "set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#b00000' lw 1.5")
    script.plot([(form, [(size, lead[0].median if lead else None)
                         for size in scene.sizes for lead in [scene.lead(size, form)]],
                  style(FORM_COLOURS[form])) for form in scene.forms])
    script.add("unset multiplot")
    script.run()


def overlap(scene, file):
    script = Script(file, 720, 420)
    script.sizes(scene.sizes)
    script.add("set yrange [0:105]", "set ylabel 'overlap %'",
               "set arrow from graph 0, first 90 to graph 1, first 90 nohead lc rgb '#b00000' dt 2")
    script.plot([(name, [(size, min(100, value) if value is not None else None) for size in scene.sizes
                         for value in [scene.median(size, name, "nonblocking", "overlap_percent")]],
                  style(COLOURS[name], width=3 if name == "fab" else 2)) for name in scene.contestants()])
    script.run()


def draw(scenes, folder):
    """{scene's key: file} of what was drawn, and why some is missing (a text, empty if nothing is)."""
    if shutil.which("gnuplot") is None:
        return {}, "gnuplot was not found: no plots"
    drawn = {}
    for scene in scenes:
        if not scene.contestants(rows.CONTESTANTS) or scene.sizes == [0]:
            continue
        file = folder / f"{texts.slug(scene.key)}.svg"
        (overlap if scene.key.bench == "overlap" else latency)(scene, file)
        drawn[scene.key] = file
    return drawn, ""
