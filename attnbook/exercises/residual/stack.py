"""Find the bugs: a pre-norm stack that adds to the wrong thing and has no final norm.

run_stack(x, sublayers, norm): x (..., d); sublayers is a list of functions (..., d) -> (..., d), norm is one, too. Returns
what a pre-norm stack hands to its output layer: the stream after all sublayers, normed once more.
"""

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises.residual._parts import norm as layer_norm
from attnbook.exercises.residual._parts import stream, sublayer


def check_run_stack(fn) -> None:
    """Check run_stack(x, sublayers, norm) and print one message."""
    report(EXERCISE, fn)


def _run(step=lambda x, f, norm, start: x + f(norm(x)), end=lambda x, norm: norm(x), order=list):
    """A stack of which one stage is replaced; start is what came in."""
    def run_stack(x, sublayers, norm):
        start = x
        for f in order(sublayers):
            x = step(x, f, norm, start)
        return end(x, norm)
    return run_stack


right = _run()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, shape, n):
        layers = [sublayer(generator, shape[-1]) for _ in range(n)]
        return Case(stage, f"x of shape {shape}, {n} sublayer{'s' * (n > 1)}", (stream(generator, *shape), layers, layer_norm))

    return [case("three sublayers", (3, 7), 3), case("one sublayer", (4, 5), 1), case("no sublayer", (3, 4), 0),
            case("batch", (2, 3, 6), 4)]


# -- the mistakes ----------------------------------------------------------------------------

def _normed(x, f, norm, start):
    return norm(x) + f(norm(x))


def _keep(x, norm):
    return x


MISTAKES = (
    Mistake("the final norm is missing", _run(end=_keep),
            "The stream of pre-norm grows with every layer, and the output layer expects a fixed size. Nothing has "
            "normed the stream itself so far."),
    Mistake("the sublayer is added to the normed stream", (_run(_normed), _run(_normed, _keep)),
            "Inside the loop the norm is only for what the sublayer sees; the stream that is added to stays as it is."),
    Mistake("this is post-norm", (_run(lambda x, f, norm, start: norm(x + f(x))),
                                  _run(lambda x, f, norm, start: norm(x + f(x)), _keep)),
            "The norm comes before the sublayer, in the branch."),
    Mistake("every sublayer is added to the first x", _run(lambda x, f, norm, start: start + f(norm(x))),
            "What the sublayers in between have written is lost."),
    Mistake("every sublayer reads the first x", _run(lambda x, f, norm, start: x + f(norm(start))),
            "Then depth is of no use: each should read what the earlier ones have written."),
    Mistake("the residual is missing", _run(lambda x, f, norm, start: f(norm(x))), "Each sublayer is added to the stream."),
    Mistake("the sublayers see the stream without a norm", _run(lambda x, f, norm, start: x + f(x)),
            "The final norm alone is not enough."),
    Mistake("the output of the sublayer is normed, not its input", _run(lambda x, f, norm, start: x + norm(f(x))),
            "Pre means: before the sublayer."),
    Mistake("the sublayers run in the opposite order", _run(order=lambda fs: list(fs)[::-1]), "The first of the list is the first to run."),
    Mistake("only the first or only the last sublayer runs", (_run(order=lambda fs: fs[:1]), _run(order=lambda fs: fs[-1:])),
            "Is the return inside the loop, or does each turn begin anew?"),
)

EXERCISE = Exercise(
    name="run_stack",
    usage="run_stack(x, sublayers, norm)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="sublayers is a list of functions and norm is one, all from (..., d) to (..., d); return (..., d).",
)
