"""Implement: back through a residual stack.

input_gradient(jacobians, grad): jacobians (n, d, d), J[l] of the l-th sublayer (row = output) in x -> x + f(x); grad (d,),
the gradient at the end of the stream. Returns the gradient at its beginning, (d,).
"""

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_input_gradient(fn) -> None:
    """Check input_gradient(jacobians, grad) and print one message."""
    report(EXERCISE, fn)


def _back(step=lambda j, g: g + j.T @ g, order=reversed):
    def input_gradient(jacobians, grad):
        for j in order(list(jacobians)):
            grad = step(j, grad)
        return grad
    return input_gradient


right = _back()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, n, d):
        what = f"{n} Jacobian{'s' * (n > 1)} of shape {(d, d)}"
        return Case(stage, what, (0.7 * normal(generator, n, d, d) / d**0.5, normal(generator, d)))

    return [case("one layer", 1, 4), case("two layers", 2, 5), case("many layers", 7, 3)]


# -- the mistakes ----------------------------------------------------------------------------

def _sum_only(jacobians, grad):
    return grad + sum(j.T for j in jacobians) @ grad


def _one_skip(jacobians, grad):
    return grad + _back(lambda j, g: j.T @ g)(jacobians, grad)


MISTAKES = (
    Mistake("the Jacobians are not transposed", (_back(lambda j, g: g + j @ g), _back(lambda j, g: g + j @ g, list)),
            "Rows of J are outputs. A gradient enters at the outputs and leaves at the inputs."),
    Mistake("the plus sign is missing on the way back", (_back(lambda j, g: j.T @ g), _back(lambda j, g: j.T @ g, list),
                                                         _back(lambda j, g: j @ g)),
            "That is a plain stack. What passes each layer by has to be added."),
    Mistake("only the skip path", lambda jacobians, grad: grad + 0.0,
            "It is one path of many; the sublayers hand on gradient, too."),
    Mistake("the layers are taken in the order of the forward pass", _back(order=list),
            "The gradient meets the last layer first.", ("two layers", "many layers")),
    Mistake("paths through more than one layer are missing", _sum_only,
            "A path may pass several layers: each step must start from the result of the one before.",
            ("two layers", "many layers")),
    Mistake("one skip around the whole stack", _one_skip,
            "Every layer has its own plus sign.", ("two layers", "many layers")),
    Mistake("subtracted in place of added", _back(lambda j, g: g - j.T @ g), "The derivative of x + f(x) is I + J."),
    Mistake("the skip path is counted twice", _back(lambda j, g: 2 * g + j.T @ g), "The stream is added once in each layer."),
)

EXERCISE = Exercise(
    name="input_gradient",
    usage="input_gradient(jacobians, grad)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: jacobians (n, d, d) in the order the layers run, row = output; grad (d,); the result (d,).",
)
