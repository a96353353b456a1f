"""The report: counts of each folder, and each test that does not end the same way with fab."""

import collections
import textwrap

import endings

WIDTH = 120

TITLES = {endings.WORSE: "Worse with fab", endings.BETTER: "Better with fab", endings.FLAKY: "Flaky without fab"}


def in_words(row):
    if row["verdict"] == endings.SAME:
        return f"{row['carry']} same"
    return f"{row['carry']} {row['verdict'].upper()} ({times(row['without'])}; with fab {times(row['with_fab'])})"


def times(ends):
    """Such as "3 ok, 1 timed out"."""
    return ", ".join(f"{count} {ending}" for ending, count in collections.Counter(ends).items())


def counts(name, rows):
    by_verdict = collections.Counter(row["verdict"] for row in rows)
    passed = sum(row["verdict"] == endings.SAME and row["without"] == [endings.OK] for row in rows)
    cells = [name, len(rows), by_verdict[endings.SAME], passed, by_verdict[endings.BETTER], by_verdict[endings.WORSE],
             by_verdict[endings.FLAKY], sum(row["carried"] for row in rows)]
    return f"| {' | '.join(map(str, cells))} |"


def table(link, carry, rows):
    folders = collections.defaultdict(list)
    for row in rows:
        folders[row["folder"]].append(row)
    return [f"\n## {link}, FAB_DROPIN={carry}\n",
            "| folder | runs | end the same | of them pass | better with fab | worse with fab | flaky without fab "
            "| calls carried |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(counts(folder, of_folder) for folder, of_folder in folders.items()), counts("all", rows)]


def named(verdict, rows):
    lines = collections.defaultdict(list)
    for row in rows:
        if row["verdict"] == verdict:
            lines[row["title"]].append(f"{row['link']}, {row['carry']}: without fab {times(row['without'])}; "
                                       f"with fab {times(row['with_fab'])}")
    if not lines:
        return [f"\n## {TITLES[verdict]}\n", "None."]
    return [f"\n## {TITLES[verdict]}\n", *(f"- `{title}`: {'. '.join(of_title)}" for title, of_title in lines.items())]


def failing(rows):
    """Tests that fail or time out in the same way without fab and with it."""
    found = dict.fromkeys(row["title"] for row in rows
                          if row["verdict"] == endings.SAME and row["without"] != [endings.OK])
    names = ", ".join(f"`{title}`" for title in found)
    return ["\n## Fail without fab, and with it\n", f"{names}." if found else "None."]


def left_out(gathered):
    reasons = collections.defaultdict(list)
    for title, why in gathered["left_out"].items():
        reasons[why].append(title)
    return [f"- {why}: {', '.join(f'`{title}`' for title in titles)}" for why, titles in reasons.items()]


def text(gathered):
    rows = gathered["rows"]
    packages = ", ".join(gathered["packages"].splitlines())
    lines = ["# Other people's tests and benchmarks, with and without fab\n",
             f"{gathered['date']}, {gathered['fab']}, {gathered['mpi']}, tests of {gathered['suite']}, {packages}; "
             f"{gathered['system']}.",
             f"{gathered['programs']} tests and benchmarks, at most {gathered['limit']} s a run of a test. "
             f"{len({row['title'] for row in rows})} of them were run.\n",
             f"A run that ends otherwise with fab than without is repeated {endings.REPEATS} times both ways. *Flaky* "
             "is a test that ends in several ways without fab."]
    if gathered["cut_off"]:
        lines.append("The run was cut off before its end.")
    for link, carry in dict.fromkeys((row["link"], row["carry"]) for row in rows):
        lines += table(link, carry, [row for row in rows if (row["link"], row["carry"]) == (link, carry)])
    for verdict in TITLES:
        lines += named(verdict, rows)
    lines += failing(rows)
    if gathered["left_out"]:
        lines += ["\n## Not run\n", *left_out(gathered)]
    return "\n".join(wrapped(line) for line in "\n".join(lines).split("\n")) + "\n"


def wrapped(line):
    """Of prose and lists; rows of tables stay whole."""
    if len(line) <= WIDTH or line.startswith("|"):
        return line
    return textwrap.fill(line, WIDTH, subsequent_indent="  " if line.startswith("- ") else "",
                         break_long_words=False, break_on_hyphens=False)


def write(gathered, chosen):
    """The exit status: 1 if something is worse with fab."""
    chosen.out.mkdir(parents=True, exist_ok=True)
    report = text(gathered)
    for file in filter(None, (chosen.out / "README.md", chosen.summary)):
        file.write_text(report)
    print(report)
    print(f"report: {chosen.out / 'README.md'}")
    return 1 if any(row["verdict"] == endings.WORSE for row in gathered["rows"]) else 0
