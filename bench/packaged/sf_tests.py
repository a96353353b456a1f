"""PETSc's own tests of its scatters (PetscSF), every collective carried by fab: the outputs are those of the MPI."""

import dataclasses
import re

import catalogue
import runs

FOLDER = "vec/is/sf/tests"
# What a test says of the kind of scatter that it was told to take.
KIND = re.compile(r"\btype\b|\bSF Object\b")


@dataclasses.dataclass(frozen=True)
class Test:
    source: str
    ranks: int
    options: str = ""

    @property
    def title(self):
        return f"{self.source} {self.options}".strip() + f", {self.ranks} ranks"


# As the comments at the end of the sources have them. Missing are those for one rank, for GPUs and for MPI windows,
# ex14, which prints times, and ex17, which takes a PETSc with indices of 64 bits.
TESTS = [
    Test("ex1", 2), Test("ex1", 3),
    Test("ex3", 2, "-op replace"), Test("ex3", 2, "-op sum"), Test("ex3", 3, "-op replace"), Test("ex3", 3, "-op sum"),
    Test("ex5", 7, "-nl 5"), Test("ex6", 2), Test("ex7", 2),
    Test("ex8", 2), Test("ex8", 3), Test("ex8", 3, "-onlylocal 1"),
    Test("ex9", 7, "-world2sub"), Test("ex9", 7, "-sub2sub"), Test("ex9", 7, "-world2subs"),
    Test("ex11", 2), Test("ex12", 3), Test("ex13", 3), Test("ex15", 2),
    Test("ex16", 3, "-testnum 0"), Test("ex16", 3, "-testnum 1"), Test("ex16", 3, "-testnum 2"),
    Test("ex18", 3, "-nsfs 3 -n_leaves_per_rank 5 -leave_step 3"),
    Test("ex19", 3, "-n_leaves_per_rank 5 -leave_step 3"),
]
KINDS = ["basic", "neighbor"]


def output(tools, test, link, fab, kind):
    """Without the lines that name the kind of scatter; ranks that print side by side may do so in any order."""
    words = [f"./{test.source}", *test.options.split(), "-sf_type", kind]
    command = [*runs.launch(tools, link, test.ranks), *(runs.with_fab(tools) if fab else []), *words]
    out, _ = runs.execute(tools, command)
    return sorted(line for line in out.splitlines() if not KIND.search(line))


def verdict(tools, test, link):
    """What is wrong, or nothing. Some tests print what their kind of scatter does: they are compared with that kind."""
    reference = output(tools, test, link, False, KINDS[0])
    for kind in KINDS:
        got = output(tools, test, link, True, kind)
        if got != reference and got != output(tools, test, link, False, kind):
            different = [line for line in got if line not in reference] or [f"{len(got)} lines"]
            return f"-sf_type {kind}: {len(reference)} lines without fab; with it: {different[0]}"
    return ""


def run(tools, chosen):
    """The exit status."""
    chosen_tests = [test for test in TESTS if not chosen.only or any(name in test.title for name in chosen.only)]
    for source in {test.source for test in chosen_tests}:
        catalogue.compile_petsc(f"{FOLDER}/{source}.c", tools.folder / source)
    tools = dataclasses.replace(tools, carry="all")
    failed = 0
    tests = [(link, test) for link in chosen.links if link != "wire" for test in chosen_tests]
    for number, (link, test) in enumerate(tests):
        print(f"[{number + 1}/{len(tests)}] {link}, {test.title}: ", end="", flush=True)
        try:
            wrong = verdict(tools, test, link)
        except runs.Failed as why:
            wrong = str(why)
        failed += bool(wrong)
        print(f"FAILED: {wrong}" if wrong else "same", flush=True)
    if not tests:
        print("--only, --links: no test has such a name on such a link")
        return 2
    print(f"{len(tests) - failed} of {len(tests)} tests of PETSc's scatters have the same output with fab")
    return 1 if failed else 0
