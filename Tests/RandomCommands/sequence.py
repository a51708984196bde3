"""One sequence: how its seed chooses it, and how it is played.

A step is a command's name and its own seed, and chooses its arguments from what the queue contains when it is played.
So a step is possible after any others.
"""
import dataclasses
import random
import shutil
import traceback

from RandomCommands import changing, harm, interrupting, looking, losing, sending, taking
from RandomCommands.habits import Crash
from Kit.outcomes import Failed
from RandomCommands.whole import judge
from RandomCommands.world import World

COMMANDS = {**taking.COMMANDS, **changing.COMMANDS, **sending.COMMANDS, **interrupting.COMMANDS,
            **losing.COMMANDS, **harm.COMMANDS, **looking.COMMANDS}
SHORTEST = 4
WRONG_CLOCKS = 0.06
CRASHES = 0.3  # the share of steps with a crash; some of these do not write, or end before the kill


@dataclasses.dataclass(frozen=True)
class Step:
    command: str
    seed: int
    crash: Crash | None
    clock: str = ""  # by how much its clock is wrong, as faketime writes it


@dataclasses.dataclass
class Played:
    """The result of a sequence: `problem` is None if everything agreed with the model."""
    seed: int
    problem: str | None
    transcript: list
    counts: dict


def steps(seed, length):
    dice = random.Random(seed)
    names, weights = list(COMMANDS), [weight for weight, _ in COMMANDS.values()]
    chosen = dice.choices(names, weights, k=dice.randint(SHORTEST, max(length, SHORTEST)))
    if dice.random() < 0.9:
        chosen[0] = "push"  # most commands need something to work on
    return [Step(name, dice.getrandbits(32), _crash(dice), _clock(dice)) for name in chosen]


def _crash(dice):
    thrown = Crash(dice.random() < 0.6, dice.random())
    return thrown if dice.random() < CRASHES else None


def _clock(dice):
    offset = dice.choice(("+40s", "+3h", "-2d"))
    return offset if dice.random() < WRONG_CLOCKS else ""


def play(seed, steps_, bench, folder):
    """Plays the steps in a new queue and checks the result."""
    shutil.rmtree(folder, ignore_errors=True)
    world = World(folder, bench)
    try:
        for step in steps_:
            world.crash, world.clock = step.crash, step.clock
            if world.crash and bench.repeatable:
                world.crash = dataclasses.replace(world.crash, traced=True)
            world.model.step += 1
            world.model.unordered |= bool(step.clock)
            COMMANDS[step.command][1](world, random.Random(step.seed))
        world.crash, world.clock = None, ""
        judge(world)
    except Failed as reason:
        problem = str(reason)
    except Exception:  # a bug in the test must not look like a sequence without problems
        problem = "the test broke:\n" + traceback.format_exc()
    else:
        problem = None
    world.close()
    if not (problem and bench.keep):
        shutil.rmtree(folder, ignore_errors=True)
    return Played(seed, problem, world.transcript, dict(world.counts))
