"""bench/run: its report from rows that are made up, and small jobs of the build that is named by the argument."""

import contextlib
import html.parser
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "molecule"), str(ROOT / "bench" / "comparison")]
import figures  # noqa: E402
import scenes  # noqa: E402
import told  # noqa: E402

TIME_LIMIT_S = 100 * int(os.environ.get("TEST_TIME_FACTOR", "1"))  # see tests/cmake/time_limits.cmake
PROBLEM = scenes.Problem("molecule.xyz", 2, 0.5, 10)
BAR = (0x8e, 0xca, 0xe6)  # an exchange in a timeline, as fab_trace draws it
SERIAL = {"energies_hartree": [-2.0, -1.0], "steps_s": 6.0, "grid_points": 1000, "states": 2, "spacing_bohr": 0.5,
          "molecule": "molecule.xyz", "picture_bohr_per_px": 0.1, "problem": vars(PROBLEM)}
built = None


def program():
    """bench/molecule/__main__.py, a module of another name than this one's."""
    file = ROOT / "bench" / "molecule" / "__main__.py"
    spec = importlib.util.spec_from_file_location("bench_run", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench_run = program()


def row(way, whole_s, **fields):
    """A quarter of a second of set-up. Half of the whole is in exchanges, a quarter in sums."""
    return {"scene": 0, "way": way, "round": 0, "steps_s": whole_s - 0.25, "exchange_s": whole_s / 2, "sum_s": whole_s / 4,
            "setup_s": 0.25,
            "exchanges": 100, "exchange_bytes": 125000.0, "energies_hartree": [-2.0, -1.0], **fields}


def made_up(rows, ranks=2, link="wire"):
    scene = scenes.Scene(PROBLEM, link, ranks, "1gbit" if link == "wire" else "")
    return {"machine": {"processor": "<made up>"}, "rounds": 1, "serial": [SERIAL], "rows": rows, "motion": [], "failed": [], "left_out": [],
            "scenes": [{**vars(scene), "problem": vars(PROBLEM)}], "commands": [{"job": "a job", "command": "a command"}]}


THREE = [row(scenes.FAB, 2.0), row(scenes.DROP_IN, 4.0), row(scenes.OPEN_MPI, 3.0)]


def figures_of(rows, **fields):
    return bench_run.scenes_of(made_up(rows, **fields))[0]


class Page(html.parser.HTMLParser):
    """What a page holds: its title, lines of tables, images, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.title, self.lines, self.images, self.loaded, self.open = "", 0, [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.lines += tag == "tr"
        if tag == "img":
            self.images.append(found["src"])
        self.loaded += [value for name, value in attributes if name in ("src", "href") and not value.startswith("data:")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.title += data


class Figures(unittest.TestCase):
    def test_a_ratio_is_the_other_time_over_fabs(self):
        one = figures_of(THREE)
        self.assertEqual(one.ratio(scenes.FAB, figures.WHOLE).median, 1.5)
        self.assertEqual(one.ratio(scenes.DROP_IN, figures.WHOLE).median, 0.75)
        self.assertEqual(one.ratio(scenes.FAB, figures.COMMUNICATION).median, 1.5)

    def test_only_runs_of_the_same_round_are_compared(self):
        rows = [row(scenes.FAB, 1.0), row(scenes.FAB, 2.0, round=1), row(scenes.OPEN_MPI, 6.0, round=1)]
        self.assertEqual(figures_of(rows).ratio(scenes.FAB, figures.WHOLE).median, 3.0)

    def test_energies_differ_by_the_largest_difference_of_a_state(self):
        rows = [THREE[0], row(scenes.OPEN_MPI, 3.0, energies_hartree=[-2.0, -1.0 - 1e-9])]
        self.assertAlmostEqual(figures_of(rows).largest_difference(), 1e-9, delta=1e-12)
        for wrong in ([-2.0], [-2.0, float("nan")]):
            self.assertEqual(figures_of([row(scenes.FAB, 2.0, energies_hartree=wrong)]).largest_difference(), float("inf"))

    def test_the_table_marks_losses_and_too_many_ranks(self):
        many = len(os.sched_getaffinity(0)) + 1
        table = told.whole([figures_of(THREE, ranks=many, link="node")])
        self.assertEqual(table.lines[0][-1], "oversubscribed")
        self.assertEqual(table.losses, {(0, table.heads.index("Open MPI/fab_run"))})
        self.assertEqual(told.whole([figures_of(THREE, ranks=1, link="node")]).lines[0][-1], "")

    def test_the_wire_is_compared_with_the_computation(self):
        one = figures_of(THREE)
        self.assertAlmostEqual(told.transfer_ms(one), 1.0)  # 125000 bytes at 1 Gbit/s
        self.assertAlmostEqual(one.compute_ms(), 5.0)
        self.assertIn("1.50 times as fast with fab", told.verdict(one))

    def test_one_rank_has_no_ratio(self):
        self.assertEqual(told.verdict(figures_of(THREE, ranks=1, link="node")), "")


def png(width, height):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pixels = b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


class Jobs(unittest.TestCase):
    def test_only_fabs_way_runs_the_program_that_is_linked_with_fab(self):
        programs = scenes.Programs.found(ROOT, pathlib.Path("build"))
        for one in scenes.jobs_of(programs, [scenes.Scene(PROBLEM, scenes.NODE, 2)]):
            way = one.fields["way"]
            self.assertEqual("build/bench/apps/realspace" in one.command, way == scenes.FAB)
            self.assertEqual("build/bench/apps/realspace_mpi" in one.command, way != scenes.FAB)
            self.assertEqual("build/bindings/fab_run" in one.command, way == scenes.DROP_IN)


class Report(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def written(self, data):
        (self.folder / "results.json").write_text(json.dumps(data))
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = bench_run.main(["--root", str(ROOT), "--results", str(self.folder), "--from", str(self.folder / "results.json")])
        return status, out.getvalue() + err.getvalue(), (self.folder / "index.html").read_text()

    def test_the_page_loads_nothing_and_has_all_tables_and_pictures(self):
        (self.folder / "density.raw.png").write_bytes(png(40, 30))
        (self.folder / "timeline.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>")
        status, _, text = self.written(made_up(THREE))
        self.assertEqual(status, 0)
        page = Page(text)
        self.assertEqual(page.title, "fab: the main job")
        self.assertEqual(page.loaded, [])
        self.assertEqual(len(page.images), 3 if shutil.which("gnuplot") else 1)
        self.assertGreaterEqual(page.lines, 2 * 3 + len(scenes.WAYS))
        self.assertIn("&lt;made up&gt;", text)

    def test_another_energy_is_a_failure(self):
        status, text, _ = self.written(made_up([row(scenes.FAB, 2.0, energies_hartree=[-2.0, -1.0000001]), *THREE[1:]]))
        self.assertEqual(status, 1)
        self.assertIn("energies differ", text)
        self.assertIn("WRONG", text)

    def test_no_runs_are_a_failure(self):
        self.assertEqual(self.written(made_up([]))[0], 1)


class SmallJobs(unittest.TestCase):
    """Whole runs. The times of such small jobs mean nothing."""

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.folder = pathlib.Path(made.name)
        cls.done = subprocess.run(
            [str(ROOT / "bench" / "run"), "--build", built, "--quick", "--ranks", "1 2", "--states", "2", "--results", str(cls.folder)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIME_LIMIT_S, check=False)

    def test_it_succeeds_and_tells_how_far_it_is(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout)
        self.assertRegex(self.done.stdout, r"\[1/\d+\] round 1 of 1: 2 states")

    def test_it_writes_rows_of_every_way(self):
        data = json.loads((self.folder / "results.json").read_text())
        self.assertEqual(data["failed"], [])
        self.assertIn("processor", data["machine"])
        done = {(row["scene"], row["way"]) for row in data["rows"]}
        for number, scene in enumerate(data["scenes"]):
            if scene["link"] == scenes.NODE:
                self.assertTrue({(number, way) for way in scenes.WAYS} <= done)
        for row in data["rows"]:
            self.assertEqual(row["transport"], "fab" if row["way"] == scenes.FAB else "mpi")
            self.assertGreater(row["steps_s"], 0)
            self.assertEqual(row["ranks"] > 1, row["exchange_bytes"] > 0)

    def test_the_page_is_whole(self):
        page = Page((self.folder / "index.html").read_text())
        self.assertEqual(page.loaded, [])
        timeline = self.folder / "timeline.svg"
        left_out = json.loads((self.folder / "results.json").read_text())["left_out"]
        self.assertNotEqual(timeline.exists(), any("traced" in each["what"] for each in left_out))
        self.assertEqual(len(page.images), (3 if shutil.which("gnuplot") else 0) + (1 if timeline.exists() else 0))
        if shutil.which("gnuplot"):
            for picture in ("density.png", "spectrum.png"):
                self.assertEqual((self.folder / picture).read_bytes()[:4], b"\x89PNG")

    def test_the_timeline_has_three_steps_of_each_rank(self):
        timeline = self.folder / "timeline.svg"
        if not timeline.exists():
            self.skipTest("no job was traced")  # test_the_page_is_whole asks why
        steps = re.findall(r"<title>neighbor_xchg[^<]*, step (\d+):", timeline.read_text())
        of_both = [step for step in set(steps) if steps.count(step) == 2]  # and parts of others at the edges
        self.assertGreaterEqual(len(of_both), 3, steps)

    def browse(self, page, *flags):
        """What a browser without a screen writes."""
        return subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
             f"--user-data-dir={self.folder / 'browser'}", *flags, page.as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=TIME_LIMIT_S, check=True).stdout

    def with_script(self, name, script):
        """The page with a script that looks at it."""
        page = self.folder / name
        text = (self.folder / "index.html").read_text()
        page.write_text(text.replace("</body>", f"<script>addEventListener('load', () => {{ {script} }});</script></body>"))
        return page

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_a_browser_shows_the_page(self):
        """The sizes of its pictures are read from the page that the browser has laid out."""
        shown = self.browse(self.with_script("looked_at.html", "document.body.dataset.sizes = [...document.images]"
                                             ".map(image => image.naturalWidth + 'x' + image.naturalHeight).join(' ');"),
                            "--dump-dom")
        page, before = Page(shown.split("<script")[0] + "</body></html>"), Page((self.folder / "index.html").read_text())
        self.assertEqual(page.title, before.title)
        self.assertEqual(page.lines, before.lines)
        sizes = shown.partition('data-sizes="')[2].partition('"')[0].split()
        self.assertEqual(len(sizes), len(before.images))
        for size in sizes:
            self.assertTrue(all(int(count) > 0 for count in size.split("x")), size)

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_a_browser_draws_the_timeline(self):
        """The colours of the exchanges' bars are looked for in the pixels. The page's screenshot is a picture, too."""
        if not (self.folder / "timeline.svg").exists():
            self.skipTest("no job was traced")
        count = ("const image = document.querySelector('img[alt=\"Timeline of three steps\"]');"
                 "const canvas = document.createElement('canvas');"
                 "canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;"
                 "const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0);"
                 "const data = pen.getImageData(0, 0, canvas.width, canvas.height).data; let found = 0;"
                 "for (let i = 0; i < data.length; i += 4)"
                 f" if (data[i] === {BAR[0]} && data[i + 1] === {BAR[1]} && data[i + 2] === {BAR[2]}) ++found;"
                 "document.body.dataset.bars = found;")
        shown = self.browse(self.with_script("drawn.html", count), "--dump-dom")
        self.assertGreater(int(shown.partition('data-bars="')[2].partition('"')[0]), 100)
        screenshot = self.folder / "page.png"
        self.browse(self.folder / "index.html", "--window-size=1300,3000", f"--screenshot={screenshot}")
        self.assertEqual(screenshot.read_bytes()[:4], b"\x89PNG")
        self.assertGreater(screenshot.stat().st_size, 20000, "an empty page has a few thousand bytes")


if __name__ == "__main__":
    built = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
