"""The report: report.txt, report.md, plots, and index.html with all of it."""

import goals
import page
import plots
import rows
import tables


def write(data, folder):
    """Writes all files and returns the text for the terminal."""
    scenes = rows.scenes(data["rows"])
    first = rows.first(data["rows"])
    verdicts = goals.judge(scenes, rows.footprint(data["rows"]), first)
    shown = {scene.key: tables.of(scene) for scene in scenes}
    others = [table for table in [tables.first(first)] if table]
    drawn, missing_plots = plots.draw(scenes, folder)
    left_out = data["left_out"] + ([{"what": "plots", "why": missing_plots}] if missing_plots else [])
    told = {"Left out": left_out, "Failed": data["failed"], "Remarks": data["remarks"]}
    told = {title: entries for title, entries in told.items() if entries}
    text = plain(data, verdicts, shown, others, told)
    (folder / "report.txt").write_text(text + "\n")
    (folder / "report.md").write_text(markdown(data, verdicts, shown, others, told) + "\n")
    (folder / "index.html").write_text(page.render(data, verdicts, shown, drawn, others, told))
    return text


def plain(data, verdicts, shown, others, told):
    blocks = ["\n".join(["== Machine", *(f"{name}: {text}" for name, text in data["machine"].items())])]
    blocks += [table.plain() for some in [*shown.values(), others] for table in some]
    blocks.append("\n".join(["== Aims", *(f"{one.state:>12}: {one.goal}" + (f"\n{'':14}{one.detail}" if one.detail else "")
                                           for one in verdicts)]))
    for title, entries in told.items():
        blocks.append("\n".join([f"== {title}", *(f"{entry['what']}: {entry['why']}" for entry in entries)]))
    return "\n\n".join(blocks)


def command(data):
    effort = data["effort"]
    return f"bench/compare --{effort['name']} --rounds {effort['rounds']}"


def markdown(data, verdicts, shown, others, told):
    lines = ["<!-- Written by bench/compare: do not edit. -->", "# Comparison with Open MPI and MPICH", "",
             f"What `{command(data)}` printed, losses included (bold). A ratio is the other's time over fab's: above 1 fab is faster.",
             "", ", ".join(f"{name}: {text}" for name, text in data["machine"].items()), "",
             "| aim | | |", "| --- | --- | --- |", *(f"| {one.goal} | {one.state} | {one.detail} |" for one in verdicts), ""]
    for title, entries in told.items():
        lines += [f"{title}:", "", *(f"- {entry['what']}: {entry['why']}" for entry in entries), ""]
    lines += ["\n\n".join(table.markdown() for some in [*shown.values(), others] for table in some)]
    return "\n".join(lines)
