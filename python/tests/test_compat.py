"""The calls of scikit-optimize and scipy."""

import pytest

import leafgp
from leafgp import compat

numpy = pytest.importorskip("numpy")


def branin(x):
    a, b = x[0], x[1]
    return (b - 0.1292 * a**2 + 1.5915 * a - 6) ** 2 + 9.6021 * numpy.cos(a) + 10


def test_the_call_of_scikit_optimize():
    seen = []
    result = compat.gp_minimize(branin, [(-5.0, 10.0), (0.0, 15.0)], n_calls=25, random_state=3, callback=lambda r: seen.append(r.fun) and False)
    assert result.fun == min(result.func_vals) == branin(result.x) and len(result.x_iters) == 25
    assert seen[-1] == result.fun and result.fun < 2.0
    again = compat.gp_minimize(branin, [(-5.0, 10.0), (0.0, 15.0)], n_calls=25, random_state=3)
    assert again.x_iters == result.x_iters


def test_dimensions_of_all_kinds_keep_their_types():
    def f(x):
        assert [type(value) for value in x] == [int, float, str, int] and x[3] in (8, 16, 32)
        assert x[1] >= 1e-3 and x[0] + x[1] <= 6
        return x[0] + x[1] + x[3]

    space = [(1, 9), (1e-3, 1.0, "log-uniform"), ["u", "v"], [8, 16, 32]]
    result = compat.gp_minimize(f, space, n_calls=14, constraints=["x0 + x1 <= 6"])
    assert result.fun == f(result.x)


def test_points_to_begin_with():
    calls = []

    def f(x):
        calls.append(x)
        return x[0]

    known = compat.gp_minimize(f, [(0.0, 1.0)], n_calls=3, x0=[[0.5], [0.25]], y0=[0.5, 0.25])
    assert len(calls) == 3 and len(known.func_vals) == 5 and known.fun <= 0.25
    calls.clear()
    compat.gp_minimize(f, [(0.0, 1.0)], n_calls=3, x0=[0.75])
    assert len(calls) == 3 and calls[0] == [0.75]


def test_dimensions_of_scikit_optimize():
    space = pytest.importorskip("skopt.space")
    dimensions = [space.Real(1e-3, 10, prior="log-uniform", name="rate"), space.Integer(1, 5, name="n"), space.Categorical(["a", 2], name="c")]
    result = compat.gp_minimize(lambda x: x[0] + x[1] + (x[2] == 2), dimensions, n_calls=12, constraints=["rate <= n"])
    assert result.space.names == ["rate", "n", "c"] and result.x[2] in ("a", 2)


def test_the_call_of_scipy():
    result = compat.minimize(lambda x, shift: float(((x - shift) ** 2).sum()), [(-2, 2), (0, 5)], args=(1,), constraints=["x0 + x1 >= 1"], integrality=[False, True], maxiter=25, seed=2)
    assert result.success and result.nfev == 25 and result.fun < 0.05 and result.x[1] == 1
    stopped = compat.minimize(lambda x: x[0], [(0, 1)], maxiter=9, callback=lambda x: True)
    assert stopped.nfev == 1 and stopped.message == "the callback ended it"


@pytest.mark.parametrize(
    "call",
    [
        lambda: compat.gp_minimize(branin, [()], n_calls=1),
        lambda: compat.gp_minimize(branin, [5], n_calls=1),
        lambda: compat.gp_minimize(branin, [(0.0, 1.0)], names=["a", "b"]),
        lambda: compat.gp_minimize(branin, [(0.0, 1.0)], x0=[[1, 2]]),
        lambda: compat.gp_minimize(branin, [(0.0, 1.0)], x0=[[0.5]], y0=[1, 2]),
        lambda: compat.minimize(branin, [(0, 1)], integrality=[True, True]),
        lambda: compat.minimize(branin, [(1, 0)]),
    ],
)
def test_bad_calls_are_refused(call):
    with pytest.raises(leafgp.LeafgpError):
        call()
