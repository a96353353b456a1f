"""What gnuplot draws: the times as bars, the density with a caption and a scale, and a spectrum."""

import shutil
import struct

import figures
import plots
import scenes

ANGSTROM_PER_BOHR = 0.529177210903
EV_PER_HARTREE = 27.211386245988
SETTING_UP, COMPUTING, COMMUNICATING = "#e3b341", "#c9ced6", "#1f4e9c"
# color_map.cpp's
DENSITY = ["#000316", "#100044", "#320061", "#590073", "#850077", "#b20070", "#d52f5e", "#ec5b4e", "#f6874e", "#f8b16c",
           "#f6d79e", "#fdf7d0"]


def missing():
    """Why nothing can be drawn; empty if it can."""
    return "" if shutil.which("gnuplot") else "gnuplot was not found: no plots"


def escaped(text):
    """As a text between quotes of gnuplot's."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def bars(found, file):
    """Of each scene three bars, the job's time in set-up, computation and communication; a panel for each scene, as
    their times differ by orders of magnitude."""
    columns = min(3, len(found))
    lines_of_panels = -(-len(found) // columns)
    lines = [f"set terminal svg size {360 * columns},{230 * lines_of_panels + 40} noenhanced font 'sans-serif,12' background rgb 'white'",
             f"set output '{plots.quoted(file)}'", "set encoding utf8", f"set multiplot layout {lines_of_panels},{columns}",
             "set style data histograms", "set style histogram rowstacked", "set style fill solid noborder", "set boxwidth 0.6",
             "set grid ytics back lt 1 lw 0.5 lc rgb '#cccccc'", "set yrange [0:*]", "set key outside bottom center horizontal",
             "set ylabel 's'", "set lmargin 8"]
    for number, one in enumerate(found):
        rows = []
        for way in scenes.WAYS:
            set_up = one.median(way, lambda row: row["setup_s"])
            steps = one.median(way, lambda row: row["steps_s"])
            talk = one.median(way, lambda row: figures.seconds(row, figures.COMMUNICATION))
            if steps is not None:
                rows.append(f'"{escaped(way)}" {set_up!r} {max(0.0, steps - talk)!r} {talk!r}')
        lines += [f"$scene{number} << EOD", *rows, "EOD", f'set title "{escaped(one.scene.title)}"',
                  f"plot $scene{number} using 2:xtic(1) title 'set-up' lc rgb '{SETTING_UP}', "
                  f"'' using 3 title 'computation' lc rgb '{COMPUTING}', "
                  f"'' using 4 title 'communication' lc rgb '{COMMUNICATING}'"]
    lines.append("unset multiplot")
    plots.draw_lines(lines)


def density(picture, size_px, bohr_per_px, caption, file):
    """`picture`, which is so many pixels wide and high, with axes in angstrom, the scale of its colours and a bar of 2
    angstrom."""
    step = bohr_per_px * ANGSTROM_PER_BOHR
    half_width, half_height = (0.5 * count * step for count in size_px)
    left, bottom = 0.4 - half_width, 0.4 - half_height
    height = round(560 * half_height / half_width) + 140
    colours = ", ".join(f"{place} '{colour}'" for place, colour in enumerate(DENSITY))
    plots.draw_lines([
        f"set terminal pngcairo size 760,{height} font 'sans-serif,12'", f"set output '{plots.quoted(file)}'",
        "set encoding utf8", f'set title "{escaped(caption).replace(", ", chr(92) + "n", 1)}" noenhanced', "set size ratio -1", "unset key",
        f"set xrange [{-half_width}:{half_width}]", f"set yrange [{-half_height}:{half_height}]", "set xlabel 'Å'",
        "set ylabel 'Å'", "set tics out nomirror", f"set palette defined ({colours})", "set cbrange [0:1]",
        "set cblabel 'root of the density, over its highest value'",
        f"set arrow 1 from {left},{bottom} rto 2,0 heads size 0.12,90 lw 2.5 lc rgb 'white' front",
        f"set label 1 '2 Å' at {left + 1},{bottom + 0.3} center tc rgb 'white' front",
        f"plot '{plots.quoted(picture)}' binary filetype=png center=(0,0) dx={step!r} dy={step!r} with rgbimage, "
        "NaN palette notitle",
    ])


def spectrum(table, file):
    """Of lines with an energy in hartree and a dipole strength for each."""
    plots.draw_lines([
        "set terminal pngcairo size 760,380 font 'sans-serif,12'", f"set output '{plots.quoted(file)}'", "unset key",
        "set grid back lt 1 lw 0.5 lc rgb '#cccccc'", "set xlabel 'energy, eV'", "set ylabel 'dipole strength, 1/eV'",
        f"plot '{plots.quoted(table)}' using ($1 * {EV_PER_HARTREE}):($2 / {EV_PER_HARTREE}) with lines lw 2 lc rgb '{COMMUNICATING}'",
    ])


def size_px(picture):
    """Of a PNG, from its head."""
    return struct.unpack(">II", picture.read_bytes()[16:24])
