"""A picture of three exchanges of the job, drawn by fab_trace."""

import subprocess

import runner
import scenes

STEPS = 3


def scene_of(chosen):
    """Where there is most to see: between two nodes, with most states; None if all have one rank."""
    several = [scene for scene in chosen if scene.ranks > 1 and not scene.is_oversubscribed]
    return max(several, key=lambda scene: (scene.link == scenes.WIRE, scene.problem.states), default=None)


def draw(programs, scene, picture, folder):
    """Writes `picture`. Returns the job that was traced, and what was gathered."""
    picture.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    trace = folder / "trace"
    job = scenes.traced_job(programs, scene, trace)
    gathered = runner.run([job], 1, folder)
    if gathered.rows:
        first = gathered.rows[0]["exchanges"] // 2
        command = [programs.fab_trace, "svg", str(trace), "--operation", "neighbor_xchg", "--steps", f"{first}:{first + STEPS - 1}",
                   "--title", scene.title, "--out", str(picture)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            gathered.failed.append({"what": f"timeline of {job.title}", "why": done.stderr.strip()})
    return job, gathered
