"""One self-contained HTML page of a run."""

import base64

import page
import scenes
import told

STYLE = page.STYLE + """
body { max-width: 1380px; }
.lead { font-size: 17px; } figure { margin: 1.2em 0; } figcaption { color: #555; font-size: 13px; max-width: 60em; }
"""


def render(data, found, tables, drawn, timeline):
    """`drawn`: files by what they show, "bars" (SVG), "density" and "spectrum" (PNG); each may be missing.
    `timeline`: the text of an SVG, or None."""
    body = "\n".join([
        "".join(f'<p class="lead">{page.escape(text)}</p>' for text in told.sentences(found, data["machine"])),
        f'<p><b>How to read the tables:</b> {page.escape(told.HOW_TO_READ)}</p>',
        bars(drawn.get("bars")),
        *(f'<h2>{page.escape(table.title)}</h2><div class="wide">{table.html()}</div>' for table in tables),
        density(drawn.get("density"), data),
        spectrum(drawn.get("spectrum"), data),
        timeline_of(timeline),
        "<h2>What was run</h2>", ran(data),
        "<h2>Machine</h2>", page.words([], [[name, text] for name, text in data["machine"].items()]),
        *(section for title in ("failed", "left_out") for section in troubles(title, data[title])),
        page.commands(data),
    ])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>fab: the main job</title><style>{STYLE}</style></head>
<body>
<h1>A molecule's states on several ranks: with fab, under fab_run, and with Open MPI</h1>
{body}
</body></html>
"""


def image(file, kind, text):
    content = base64.b64encode(file.read_bytes()).decode()
    return f'<img alt="{page.escape(text)}" src="data:image/{kind};base64,{content}">'


def bars(file):
    if file is None:
        return ""
    text = "The iterations' time: computation, and the part in communication calls"
    return f"<figure>{image(file, 'svg+xml', text)}<figcaption>{text}; median over the rounds.</figcaption></figure>"


def density(file, data):
    if file is None:
        return ""
    return (f"<h2>The density</h2><figure>{image(file, 'png', 'Density in the molecular plane')}"
            f"<figcaption>{page.escape(data['caption'])}. Circles are atoms, lines bonds.</figcaption></figure>")


def spectrum(file, data):
    if file is None:
        return ""
    error = data["motion"][0]["norm_error"]
    return (f"<h2>After a kick</h2><figure>{image(file, 'png', 'Absorption spectrum')}<figcaption>Absorption spectrum of the lowest "
            "states of water, which do not interact here: a kick along x, and the sine transform of their motion. "
            f"Their norm changed by {error:.0e} at most.</figcaption></figure>")


def timeline_of(text):
    if text is None:
        return ""
    content = base64.b64encode(text.encode()).decode()
    return ('<h2>Three steps in time</h2><figure><img alt="Timeline of three steps" '
            f'src="data:image/svg+xml;base64,{content}"><figcaption>Drawn by fab_trace svg, of one more run with '
            "fab.</figcaption></figure>")


def ran(data):
    return (f"<p>The lowest states of one particle in the softened Coulomb potential of a molecule's nuclei, on a real-space grid "
            f"that METIS divides among the ranks. {data['rounds']} rounds over all jobs; in each the ways take turns. Before them one "
            "serial run of each problem, whose energies all others must have. Each makes a fixed number of iterations, which is "
            "enough to time, and not enough to converge.</p>"
            + page.words(["way", ""], [[way, scenes.EXPLAINED[way]] for way in scenes.WAYS]))


def troubles(title, entries):
    if not entries:
        return []
    return [f"<h2>{title.replace('_', ' ').capitalize()}</h2>", page.words([], [[entry["what"], entry["why"]] for entry in entries])]
