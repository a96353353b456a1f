"""Tables: a title, notes, column heads and cells, and their three renderings."""

import dataclasses
import html
import statistics

import rows
import texts


FIRST_STEPS = ["open_us", "grid_us", "first_us", "second_us"]


@dataclasses.dataclass
class Table:
    title: str
    notes: list
    heads: list
    lines: list  # of lists of texts
    losses: set  # (line, column) where fab is slower

    def plain(self):
        widths = [max(map(len, column)) for column in zip(self.heads, *self.lines)]

        def shown(cells):
            return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths)).rstrip()

        return "\n".join([f"== {self.title}", *(f"# {note}" for note in self.notes), shown(self.heads),
                          *(shown(line) for line in self.lines)])

    def markdown(self):
        def shown(cells):
            return f"| {' | '.join(cells)} |"

        body = [[f"**{cell}**" if (i, j) in self.losses else cell for j, cell in enumerate(line)]
                for i, line in enumerate(self.lines)]
        return "\n".join([f"### {self.title}", "", *(f"{note}  " for note in self.notes), "", shown(self.heads),
                          shown(["---:"] * len(self.heads)), *map(shown, body)])

    def html(self):
        def shown(tag, cells, line=None):
            marks = [' class="loss"' if (line, j) in self.losses else "" for j in range(len(cells))]
            return "<tr>" + "".join(f"<{tag}{mark}>{html.escape(cell)}</{tag}>" for cell, mark in zip(cells, marks)) + "</tr>"

        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        body = "\n".join(shown("td", line, i) for i, line in enumerate(self.lines))
        return f"{notes}\n<table>\n<thead>{shown('th', self.heads)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def heads_of(names):
    return [f"{name} us" for name in names]


def latency(scene):
    """A line for each size and form. The leads: fab against the faster of Open MPI's and MPICH's calls of that form."""
    names = scene.contestants()
    limits = scene.contestants(rows.LIMITS)
    apis = [name for name in ("fab", "native") if name in names]
    heads = ["bytes", "form", *heads_of(names), *(["limit us"] if limits else []), "fastest other",
             *(f"other/{api}" for api in apis), *(["flat/fab"] if "flat" in names else []), *(["algorithm"] if scene.algorithms else []), ""]
    lines, losses = [], set()
    for size in scene.sizes:
        for form in scene.forms:
            cells = [str(size), form, *(texts.number(scene.median(size, name, form)) for name in names)]
            if limits:
                limit = scene.limit(size) if form == "blocking" else None
                cells.append(f"{texts.number(limit[0])} ({limit[1]})" if limit else "-")
            leads = [scene.lead(size, form, of=api) for api in apis]
            cells.append(next((lead[1] for lead in leads if lead), "-"))
            slower = [api for api, lead in zip(apis, leads) if lead and lead[0].median < 1]
            for api, lead in zip(apis, leads):
                if api in slower:
                    losses.add((len(lines), len(cells)))
                cells.append(texts.spread(lead[0] if lead else None))
            if "flat" in names:
                gain = scene.gain(size, form)
                if gain and gain.median < 1:
                    losses.add((len(lines), len(cells)))
                cells.append(texts.spread(gain))
            if scene.algorithms:
                cells.append(scene.algorithms.get(size, "-"))
            lines.append([*cells, "fab slower" if apis[:1] == slower[:1] else f"{slower[0]} slower" if slower else ""])
    return Table(texts.title(scene.key), notes(scene, limits), heads, lines, losses)


def notes(scene, limits):
    told = ["Microseconds per call: mean over ranks, median over all batches of all rounds. Ratios: batches that ran "
            "next to each other, median (quartiles); above 1 fab is faster."]
    if limits:
        told.append("limit: the least that the machine takes, one copy or one message of all blocks, without a library.")
    if scene.key.memory != "user" and "MPICH" in scene.contestants():
        told.append("MPICH: in the user's memory.")
    if scene.misplaced:
        told.append("Data right, but blocks of one neighbour in each other's places: " + "; ".join(sorted(scene.misplaced))
                    + ".")
    return told


def limits(scene):
    """The limits themselves; None where none were measured, or where they stand with the user's memory."""
    names = scene.contestants(rows.NODE_LIMITS + rows.NETWORK_LIMITS)
    if not names or scene.key.memory != "user":
        return None
    lines = [[str(size), *(texts.number(scene.median(size, name, "blocking")) for name in names)] for size in scene.sizes]
    lines = [line for line in lines if any(cell != "-" for cell in line[1:])]
    return Table(f"Limits: {texts.title(scene.key)}", ["Microseconds per exchange of all blocks, no library between "
                 "(libfabric: it alone)."], ["bytes", *heads_of(names)], lines, set())


def overlap(scene):
    names = scene.contestants()
    lines, losses = [], set()
    for size in scene.sizes:
        hidden = {name: scene.spread(size, name, "nonblocking", "overlap_percent") for name in names}
        cells = [str(size), *(texts.spread(hidden[name], 0) for name in names)]
        others = [hidden[name].median for name in names if name != "fab" and hidden[name]]
        loses = bool(hidden.get("fab") and others and hidden["fab"].median < max(others))
        if loses:
            losses.add((len(lines), 1))
        cells += [texts.number(scene.median(size, name, "nonblocking", "overall_us")) for name in names]
        lines.append([*cells, "fab hides less" if loses else ""])
    heads = ["bytes", *(f"{name} %" for name in names), *(f"{name} overall us" for name in names), ""]
    told = ["Overlap, OSU's formula: max(0, 100 - 100 (overall - compute) / pure), median (quartiles) over all batches of "
            "all rounds; no calls to test while computing; each library computes as long as its own exchange alone takes."]
    return Table(texts.title(scene.key), told, heads, lines, losses)


def first(found):
    """Of rows.first; None where nothing was measured."""
    if not found:
        return None
    lines = []
    for (transport, ranks), by_whom in found.items():
        for who in rows.CONTESTANTS:
            if who not in by_whom:
                continue
            launches = by_whom[who]
            together = rows.Spread.of([rows.first_contact_us(row) / 1000 for row in launches])
            steps = [statistics.median(row[step] for row in launches) for step in FIRST_STEPS]
            lines.append([texts.TRANSPORTS[transport], str(ranks), who, *map(texts.number, steps), texts.spread(together),
                          str(len(launches))])
    told = ["Microseconds, each launch the rank that takes longest, median over launches of fresh processes. fab: MPI_Neighbor_xchg, "
            "which opens fab; native: a context of fab's after MPI_Init; Open MPI: MPI_Neighbor_alltoall.",
            "together: opening and the first exchange, and for a native program its grid: milliseconds, median (quartiles)."]
    heads = ["transport", "ranks", "", "open us", "grid us", "first us", "second us", "together ms", "launches"]
    return Table("First contact", told, heads, lines, set())


def of(scene):
    """All tables of a scene."""
    if scene.key.bench == "overlap":
        return [overlap(scene)]
    if not scene.contestants():  # the limits of a job that failed
        return [limits(scene)]
    return [table for table in (latency(scene), limits(scene)) if table]
