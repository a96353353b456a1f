"""One self-contained HTML page."""

import base64
import html

import goals
import jobs
import texts

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1120px; margin: 2em auto; padding: 0 1em; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { border-bottom: 1px solid #ccc; padding-bottom: .2em; margin-top: 2.2em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: .6em 0; }
td, th { padding: .15em .7em; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
table.words td, table.words th { text-align: left; white-space: normal; vertical-align: top; }
thead th { position: sticky; top: 0; background: #f4f4f4; }
.loss { color: #b00000; font-weight: bold; }
.met { color: #1d7a3a; font-weight: bold; } .missed { color: #b00000; font-weight: bold; } .open { color: #777; }
.wide { overflow-x: auto; } img { max-width: 100%; }
pre { background: #f6f6f6; padding: .6em; overflow-x: auto; font-size: 12px; }
p { margin: .3em 0; } nav a { margin-right: 1em; }
"""

PARTS = [("neighbor", "node"), ("neighbor", "tcp"), ("neighbor", "wire"), ("collectives", "node"), ("collectives", "tcp"),
         *(("collectives", cluster) for cluster in jobs.CLUSTERS), ("overlap", None)]


def render(data, verdicts, shown, drawn, others, told):
    sections = [summary(data, verdicts, told)]
    for bench, transport in PARTS:
        keys = [key for key in shown if key.bench == bench and transport in (None, key.transport)]
        if not keys:
            continue
        title = "Overlap with computation" if bench == "overlap" else texts.TRANSPORTS[transport]
        if bench == "collectives":
            title = f"collectives, {title}"
        sections.append(f"<h2>{escape(title[0].upper() + title[1:])}</h2>")
        sections += [section(key, shown[key], drawn.get(key)) for key in keys]
    sections += [f"<h2>{escape(table.title)}</h2>\n{table.html()}" for table in others]
    sections.append(commands(data))
    body = "\n".join(sections)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>fab: neighbour exchanges compared</title><style>{STYLE}</style></head>
<body>
<h1>fab: neighbour exchanges compared with Open MPI, MPICH and the machine's limits</h1>
{body}
</body></html>
"""


def escape(text):
    return html.escape(str(text))


def words(heads, lines):
    """A table of texts; a cell that is a pair is (class, text)."""
    def cell(value):
        kind, text = value if isinstance(value, tuple) else ("", value)
        return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"

    head = f"<thead><tr>{''.join(f'<th>{escape(text)}</th>' for text in heads)}</tr></thead>" if heads else ""
    body = "\n".join(f"<tr>{''.join(map(cell, line))}</tr>" for line in lines)
    return f'<table class="words">{head}<tbody>\n{body}\n</tbody></table>'


def summary(data, verdicts, told):
    kinds = {goals.MET: "met", goals.MISSED: "missed", goals.OPEN: "open"}
    effort = data["effort"]
    parts = [
        "<h2>Aims</h2>",
        words(["aim", "", "figures"], [[one.goal, (kinds[one.state], one.state), one.detail] for one in verdicts]),
        "<h2>Machine</h2>",
        words([], [[name, text] for name, text in data["machine"].items()]),
        f"<p>Effort: {escape(effort['name'])}; {effort['rounds']} rounds over all jobs, in each {effort['batches']} batches of "
        f"about {effort['batch_ms']} ms of every way to make an exchange, in turns; of clusters whose nodes are far apart "
        f"{jobs.CALLS_FAR_AWAY} calls. The jobs with MPICH follow those that "
        "they are compared with. The data of every timed call is checked in an untimed pass.</p>",
    ]
    for title, entries in told.items():
        parts += [f"<h2>{title}</h2>", words([], [[entry["what"], entry["why"]] for entry in entries])]
    return "\n".join(parts)


def section(key, tables, plot):
    parts = [f'<h3 id="{texts.slug(key)}">{escape(texts.title(key))}</h3>']
    if plot:
        image = base64.b64encode(plot.read_bytes()).decode()
        parts.append(f'<p><img alt="{escape(texts.title(key))}" src="data:image/svg+xml;base64,{image}"></p>')
    for table in tables:
        parts.append(f'<details><summary>{escape(table.title)}: table</summary><div class="wide">{table.html()}</div></details>')
    return "\n".join(parts)


def commands(data):
    lines = "\n".join(f"# {escape(entry['job'])}\n{escape(entry['command'])}" for entry in data["commands"])
    return f"<h2>Commands</h2>\n<pre>{lines}</pre>"
