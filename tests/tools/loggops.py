"""How long schedules in GOAL take by the rules of LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP 2010)."""

import collections
import heapq

TYPES = {"send": 1, "recv": 2, "calc": 3}  # the order in which a rank asks for what became possible at a time
Operation = collections.namedtuple("Operation", "kind amount peer tag")


class Rank:
    def __init__(self):
        self.operations = {}
        self.waits_for = collections.Counter()
        self.dependents = collections.defaultdict(list)
        self.ready = []
        self.processor = self.way_out = self.way_in = 0  # free from then on
        self.receives = collections.defaultdict(collections.deque)  # by sender and tag
        self.early = collections.defaultdict(collections.deque)

    def end(self, label):
        for dependent in self.dependents[label]:
            self.waits_for[dependent] -= 1
            if self.waits_for[dependent] == 0:
                self.ready.append(dependent)


def parse(text):
    lines = iter(text.splitlines())
    ranks = [Rank() for _ in range(int(next(lines).split()[1]))]
    for words in filter(None, map(str.split, lines)):
        if words[0] == "rank":
            rank = ranks[int(words[1])]
        elif words[1:2] == ["requires"]:
            rank.waits_for[words[0]] += 1
            rank.dependents[words[2]].append(words[0])
        elif words[1:2] == ["calc"]:
            rank.operations[words[0][:-1]] = Operation("calc", int(words[2]), None, None)
        elif words[0] != "}":
            rank.operations[words[0][:-1]] = Operation(words[1], int(words[2][:-1]), int(words[4]), int(words[6]))
    for rank in ranks:
        rank.ready = [label for label in rank.operations if rank.waits_for[label] == 0]
    return ranks


class Simulation:
    def __init__(self, text, costs, eager_bytes):
        self.ranks = parse(text)
        self.costs = costs
        self.eager_bytes = eager_bytes
        self.queue = []
        self.made = 0

    def push(self, time, *event):
        self.made += 1
        heapq.heappush(self.queue, (time, self.made, *event))

    def ask(self, number):
        rank = self.ranks[number]
        ready, rank.ready = rank.ready, []
        for label in sorted(ready, key=lambda each: TYPES[rank.operations[each].kind]):
            kind = rank.operations[label].kind
            self.push(max(rank.processor, rank.way_out if kind == "send" else 0), kind, number, label, None)

    def free_from(self, kind, rank):
        if kind == "recv":
            return 0
        return max(rank.processor, {"send": rank.way_out, "message": rank.way_in}.get(kind, 0))

    def met(self, sender, label, size, time):
        """Frees the sender of a long message."""
        if size <= self.eager_bytes:
            return
        rank = self.ranks[sender]
        rank.processor = max(rank.processor, time)
        rank.way_out = max(rank.way_out, time)
        rank.end(label)
        self.ask(sender)

    def send(self, time, number, label):
        rank = self.ranks[number]
        operation = rank.operations[label]
        rank.processor = time + self.costs["o"]
        rank.way_out = time + self.costs["g"] + (operation.amount - 1) * self.costs["G"]
        arrival = time + self.costs["o"] + self.costs["L"]
        self.push(arrival, "message", operation.peer, label, (number, operation))
        if operation.amount <= self.eager_bytes:
            rank.end(label)

    def message(self, time, number, label, sent):
        rank = self.ranks[number]
        sender, operation = sent
        stretch = (operation.amount - 1) * self.costs["G"]
        rank.processor = time + self.costs["o"] + stretch
        rank.way_in = time + self.costs["g"] + stretch
        receives = rank.receives[sender, operation.tag]
        if not receives:
            rank.early[sender, operation.tag].append(label)
            return
        rank.end(receives.popleft())
        self.met(sender, label, operation.amount, time)

    def recv(self, time, number, label):
        rank = self.ranks[number]
        operation = rank.operations[label]
        early = rank.early[operation.peer, operation.tag]
        if not early:
            rank.receives[operation.peer, operation.tag].append(label)
            return
        rank.end(label)
        self.met(operation.peer, early.popleft(), operation.amount, time)

    def run(self):
        for number in range(len(self.ranks)):
            self.ask(number)
        while self.queue:
            time, made, kind, number, label, sent = heapq.heappop(self.queue)
            rank = self.ranks[number]
            free = self.free_from(kind, rank)
            if free > time:
                heapq.heappush(self.queue, (free, made, kind, number, label, sent))
                continue
            if kind == "message":
                self.message(time, number, label, sent)
            elif kind == "calc":
                rank.processor = time + rank.operations[label].amount
                rank.end(label)
            else:
                {"send": self.send, "recv": self.recv}[kind](time, number, label)
            self.ask(number)
        assert not any(any(rank.receives.values()) or any(rank.early.values()) for rank in self.ranks)
        return max(rank.processor for rank in self.ranks)


def time_of(text, costs, eager_bytes):
    """In ns; costs are LogGP's, in ns."""
    return Simulation(text, costs, eager_bytes).run()
