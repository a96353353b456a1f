"""The report: report.txt, report.md, plots, and index.html with all of it."""

import goals
import page
import plots
import rows
import tables


def write(data, folder):
    """Writes all files and returns the text for the terminal."""
    scenes = rows.scenes(data["rows"])
    verdicts = goals.judge(scenes)
    shown = {scene.key: tables.of(scene) for scene in scenes}
    drawn, missing_plots = plots.draw(scenes, folder)
    left_out = list(data["left_out"])
    if missing_plots:
        left_out.append({"what": "plots", "why": missing_plots})
    text = plain(data, verdicts, shown, left_out)
    (folder / "report.txt").write_text(text + "\n")
    (folder / "report.md").write_text(markdown(data, verdicts, shown, left_out) + "\n")
    (folder / "index.html").write_text(page.render(data, verdicts, shown, drawn, left_out))
    return text


def plain(data, verdicts, shown, left_out):
    blocks = ["\n".join(["== Machine", *(f"{name}: {text}" for name, text in data["machine"].items())])]
    blocks += [table.plain() for some in shown.values() for table in some]
    blocks.append("\n".join(["== Aims", *(f"{one.state:>12}: {one.goal}" + (f"\n{'':14}{one.detail}" if one.detail else "")
                                           for one in verdicts)]))
    for title, entries in (("Left out", left_out), ("Failed", data["failed"])):
        if entries:
            blocks.append("\n".join([f"== {title}", *(f"{entry['what']}: {entry['why']}" for entry in entries)]))
    return "\n\n".join(blocks)


def markdown(data, verdicts, shown, left_out):
    lines = [", ".join(f"{name}: {text}" for name, text in data["machine"].items()), "",
             "| aim | | |", "| --- | --- | --- |", *(f"| {one.goal} | {one.state} | {one.detail} |" for one in verdicts), ""]
    for title, entries in (("Left out", left_out), ("Failed", data["failed"])):
        if entries:
            lines += [f"{title}:", "", *(f"- {entry['what']}: {entry['why']}" for entry in entries), ""]
    lines += ["\n\n".join(table.markdown() for some in shown.values() for table in some)]
    return "\n".join(lines)
