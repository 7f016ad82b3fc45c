"""Implement: a pre-norm block from a post-norm one.

pre_norm_block(x, norm, attend, feed): x (..., d); norm, attend and feed are functions (..., d) -> (..., d). Returns the
stream after both sublayers, without a final norm.
"""

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises.residual._parts import norm as layer_norm
from attnbook.exercises.residual._parts import nothing, stream, sublayer


def check_pre_norm_block(fn) -> None:
    """Check pre_norm_block(x, norm, attend, feed) and print one message."""
    report(EXERCISE, fn)


def right(x, norm, attend, feed):
    h = x + attend(norm(x))
    return h + feed(norm(h))


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, shape, what, attend=None, feed=None):
        attend, feed = (f or sublayer(generator, shape[-1]) for f in (attend, feed))
        return Case(stage, f"x of shape {shape}, {what}", (stream(generator, *shape), layer_norm, attend, feed))

    return [case("both sublayers", (5, 7), "two different sublayers"),
            case("batch", (2, 3, 6), "two different sublayers"),
            case("attention alone", (4, 5), "the feed-forward layer returns 0", None, nothing),
            case("the stream itself", (3, 4), "both sublayers return 0", nothing, nothing)]


# -- the mistakes ----------------------------------------------------------------------------

def _block(first, second):
    """A block of two wrong lines; each maps (x, norm, f) to the stream."""
    return lambda x, norm, attend, feed: second(first(x, norm, attend), norm, feed)


def _with_old(last):
    """The second line also knows the stream that came in."""
    return lambda x, norm, attend, feed: last(x, x + attend(norm(x)), norm, feed)


def _pre(x, norm, f):
    return x + f(norm(x))


MISTAKES = (
    Mistake("it is a post-norm block still", _block(*2 * [lambda x, norm, f: norm(x + f(x))]),
            "The sum passes through a norm, so no stream runs uninterrupted from the input to the output."),
    Mistake("the sublayer is added to the normed x",
            (_block(*2 * [lambda x, norm, f: norm(x) + f(norm(x))]),
             _block(_pre, lambda x, norm, f: norm(x) + f(norm(x))),
             _block(lambda x, norm, f: norm(x) + f(norm(x)), _pre)),
            "Two different things are needed in a line: what the sublayer sees, and what it is added to."),
    Mistake("a norm stands at the end", lambda *args: args[1](right(*args)),
            "The final norm belongs to the stack, once, not to every block."),
    Mistake("the residuals are missing", _block(*2 * [lambda x, norm, f: f(norm(x))]),
            "The sublayer replaces the stream. It should be added to it."),
    Mistake("one of the two residuals is missing", (_block(_pre, lambda x, norm, f: f(norm(x))),
                                                    _block(lambda x, norm, f: f(norm(x)), _pre)),
            "Both sublayers add."),
    Mistake("the second addition starts from the old x", _with_old(lambda x, h, norm, f: x + f(norm(h))),
            "What attention wrote is lost. Add to the current stream."),
    Mistake("the second sublayer sees the old x", _with_old(lambda x, h, norm, f: h + f(norm(x))),
            "Sublayers stand one behind the other: the second reads what the first has written."),
    Mistake("x is counted twice", _with_old(lambda x, h, norm, f: x + h + f(norm(h))),
            "After the first addition x is in the stream already."),
    Mistake("the norms are missing", _block(*2 * [lambda x, norm, f: x + f(x)]),
            "A sublayer should see the stream at a fixed size."),
    Mistake("one of the two norms is missing", (_block(_pre, lambda x, norm, f: x + f(x)),
                                                _block(lambda x, norm, f: x + f(x), _pre)),
            "Both sublayers see a normed stream."),
    Mistake("the output of the sublayer is normed, not its input", _block(*2 * [lambda x, norm, f: x + norm(f(x))]),
            "Pre means: before the sublayer."),
    Mistake("attention and feed-forward changed places", lambda x, norm, a, f: right(x, norm, f, a),
            "Attention comes first."),
)




EXERCISE = Exercise(
    name="pre_norm_block",
    usage="pre_norm_block(x, norm, attend, feed)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="norm, attend and feed are functions from (..., d) to (..., d); return the stream (..., d).",
)
