"""How numbers and scenes are written."""

TRANSPORTS = {
    "node": "shared memory",
    "tcp": "TCP on the loopback interface",
    "wire": "TCP between two network namespaces, 1 Gbit/s each way",
    "cluster-2x4": "2 nodes of 4 ranks, links of 1 Gbit/s",
    "cluster-2x4-far": "2 nodes of 4 ranks, links of 1 Gbit/s, 0.5 ms away",
    "cluster-4x2": "4 nodes of 2 ranks, links of 1 Gbit/s",
    "cluster-4x2-far": "4 nodes of 2 ranks, links of 1 Gbit/s, 0.5 ms away",
}
PATTERNS = {
    "ring": "ring, two neighbours",
    "pair": "pairs, one neighbour",
    "faces": "six faces of a cube of doubles in a periodic 3-D grid",
}


def number(value):
    """With four significant digits, but never in powers of ten."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    digits = 4 - len(str(int(abs(value)))) if abs(value) >= 1 else 3
    return f"{value:.{max(0, min(digits, 3))}f}"


def spread(value, digits=2):
    if value is None:
        return "-"
    return f"{value.median:.{digits}f} ({value.lower:.{digits}f}-{value.upper:.{digits}f})"


def size(count):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def title(key):
    """Of a scene."""
    parts = [TRANSPORTS[key.transport], f"{key.ranks} ranks", PATTERNS.get(key.pattern, key.pattern)]
    if key.memory != "user":
        parts.append(f"{key.memory}'s memory, mapped from 512 bytes on")
    text = ", ".join(parts)
    return f"Overlap with computation: {text}" if key.bench == "overlap" else text[0].upper() + text[1:]


def slug(key):
    """A name for files and anchors."""
    return f"{key.bench}-{key.transport}-{key.pattern}-{key.ranks}-{key.memory}"
