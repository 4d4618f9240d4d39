"""Success bounds: references, tables, laws, edges."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_audit.bounds import max_successes, success_bound, sweep_max_successes, sweep_success_bound
from privacy_audit.bounds.priors import categorical, membership, uniform
from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP, LaplaceMechanism, PureDP

REPLACE = {"adjacency": "replace_one"}
METHODS = ("certified", "optimal", "printed")


def approximate(epsilon, delta):
    return ApproximateDP(epsilon, delta, **REPLACE)


def test_printed_formula_reference(reference):
    for case in reference("success_bound"):
        priors = np.resize(case["priors"], case["n"])
        profile = approximate(case["epsilon"], case["delta"])
        v = [int(v) for v in case["log_bound_ge"]]
        expected = np.array(list(case["log_bound_ge"].values()))
        got = success_bound(v, profile, priors, "printed", log=True)
        assert np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected))) <= 1e-10
        assert max_successes(profile, priors, case["confidence"], "printed") == case["max_successes"]


@pytest.mark.parametrize(
    ("n", "symbols", "epsilon", "delta", "v", "optimum", "printed", "pure"),
    [
        (3, 2, 0.3, 0.1, 1, 0.99130, 0.94605, 0.92292),
        (8, 10, 0.1, 0.01, 2, 0.25558, 0.24656, 0.21517),
        (100, 10, 1.0, 1e-3, 32, 0.035032, 0.034136, 0.027632),
        (100, 100, 1.0, 1e-3, 5, 0.15931, 0.15101, 0.13035),
    ],
)
def test_the_printed_formula_is_no_bound(n, symbols, epsilon, delta, v, optimum, printed, pure):
    priors, profile = [uniform(symbols)] * n, approximate(epsilon, delta)
    # One unit of the last digit printed.
    digits = {"rel": 5e-5, "abs": 1.1e-5}
    assert float(success_bound(v, profile, priors, "optimal")) == pytest.approx(optimum, **digits)
    assert float(success_bound(v, profile, priors, "printed")) == pytest.approx(printed, **digits)
    assert float(success_bound(v, PureDP(epsilon, **REPLACE), priors)) == pytest.approx(pure, **digits)
    assert float(success_bound(v, profile, priors)) >= optimum


@pytest.mark.parametrize(
    ("mu", "symbols", "count"), [(0.5, 10, 32), (1.0, 10, 60), (0.5, 2, 77), (1.0, 2, 92)]
)
def test_optimum_under_gaussian_dp(mu, symbols, count):
    assert max_successes(GaussianDP(mu, **REPLACE), [uniform(symbols)] * 100, method="optimal") == count


@pytest.mark.parametrize(("symbols", "count", "printed"), [(10, 64, 66), (2, 94, 99)])
def test_certified_under_gaussian_dp(symbols, count, printed):
    profile, priors = GaussianDP(1.0, **REPLACE), [uniform(symbols)] * 100
    refined = success_bound(count + 1, profile, priors)
    assert refined <= 0.05
    assert refined < success_bound(count + 1, profile, priors, refine=False)
    # With a coarse choice of ε the first is 67; Pr[L >= 67] <= .0485 at ε = 2.33.
    assert max_successes(profile, priors, method="printed") == printed


def test_the_papers_attribute_example():
    """'SEX': κ = .56, n = 100, ε = 1, δ = 1e-5, 95 %: at most 84."""
    assert max_successes(approximate(1.0, 1e-5), [0.56] * 100) == 84
    assert max_successes(approximate(1.0, 1e-5), [categorical([0.56, 0.44])] * 100) == 84


@pytest.mark.parametrize("profile", [PureDP(1.0, **REPLACE), approximate(1.0, 0.0)])
def test_all_methods_agree_under_pure_dp(profile):
    v, n = np.arange(14), 12
    beta = np.e / (np.e + 9)
    # Independent 10-ary randomized response meets it.
    exact = scipy.stats.binom.sf(v - 1, n, beta)
    for method in METHODS:
        np.testing.assert_allclose(success_bound(v, profile, [uniform(10)] * n, method), exact, rtol=1e-11)


SMALL = st.lists(st.floats(0, 1), min_size=6, max_size=6)


@settings(deadline=None, max_examples=25)
@given(SMALL, st.floats(0, 5), st.floats(0, 1), st.randoms())
def test_laws_of_the_closed_form(kappa, epsilon, delta, random):
    v = np.arange(8)

    def bound(kappa=kappa, epsilon=epsilon, delta=delta):
        return success_bound(v, approximate(epsilon, delta), kappa, refine=False)

    base = bound()
    assert np.all(base[1:] <= base[:-1])
    np.testing.assert_allclose(bound(random.sample(kappa, 6)), base, rtol=1e-11)
    assert np.all(base <= bound(delta=min(delta + 0.01, 1)) * (1 + 1e-12))
    assert np.all(success_bound(v, PureDP(epsilon, **REPLACE), kappa) <= base * (1 + 1e-12))
    assert np.all(bound(delta=0.0) <= bound(epsilon=epsilon + 0.5, delta=0.0) * (1 + 1e-12))
    assert np.all(bound(delta=0.0) <= bound([min(k + 0.1, 1) for k in kappa], delta=0.0) * (1 + 1e-12))
    prior = scipy.stats.poisson_binom.sf(v - 1, kappa)
    np.testing.assert_allclose(bound(epsilon=0.0, delta=0.0), prior, atol=1e-12)


def test_many_epsilons_are_no_worse_than_each():
    profile, priors, v = GaussianDP(1.0, **REPLACE), [uniform(4)] * 10, np.array([7, 9])
    together = success_bound(v, profile, priors)
    for epsilon in np.linspace(0.2, 4, 7):
        alone = success_bound(v, approximate(epsilon, float(profile.delta(epsilon))), priors, refine=False)
        assert np.all(together <= alone)
    assert np.all(together >= success_bound(v, profile, priors, "optimal"))


def test_abstaining_costs():
    profile, priors = approximate(1.0, 1e-3), [uniform(2)] * 20
    for method in METHODS:
        none, few, many = (
            success_bound(18, profile, priors, method, refine=False, candidates=m) for m in (None, 20, 200)
        )
        assert few == none
        assert many > few


def test_membership_is_a_game_of_its_own():
    bits, symbols = [membership()] * 10, [uniform(2)] * 10
    inside = success_bound(9, ApproximateDP(1.0, 1e-3, adjacency="add_remove"), bits, "optimal")
    assert inside == pytest.approx(float(success_bound(9, approximate(1.0, 1e-3), symbols, "optimal")))


def test_edges():
    n, v = 5, [-3, 0, 1, 5, 6, 10**12]
    for priors, method in [([uniform(3)] * n, m) for m in METHODS] + [([0.2] * n, "certified")]:
        for profile in (
            approximate(0, 0),
            approximate(1, 1),
            approximate(1000, 0),
            approximate(np.inf, 1e-9),
        ):
            bound = success_bound(v, profile, priors, method)
            assert bound[:2].tolist() == [1, 1]
            assert bound[4:].tolist() == [0, 0]
            assert np.all((bound >= 0) & (bound <= 1))
        assert success_bound(5, approximate(1000, 0), priors, method) == pytest.approx(1)
        assert success_bound(5, approximate(0, 1), priors, method) == pytest.approx(1)
        assert max_successes(approximate(1, 1), priors, method=method) == n
    assert success_bound([0, 1], approximate(1, 0.1), []).tolist() == [1, 0]
    assert max_successes(approximate(1, 0.1), []) == 0
    assert success_bound([1, 2], approximate(1, 0.0), [0.0, 1.0]).tolist() == [1, 0]
    assert success_bound(1, approximate(1, 0.0), [uniform(1)], "optimal") == 1
    assert success_bound(100, approximate(0, 0), [0.01] * 100, log=True) == pytest.approx(100 * np.log(0.01))


def test_laplace_uses_more_than_its_epsilon():
    profile, priors = LaplaceMechanism(1.0, **REPLACE), [uniform(2)] * 10
    assert success_bound(8, profile, priors) <= success_bound(
        8, PureDP(float(profile.epsilon(0.0)), **REPLACE), priors
    )


def test_sweeps_are_the_closed_form():
    rng = np.random.default_rng(0)
    epsilon, delta, kappa = rng.uniform(0, 4, 12), 10 ** rng.uniform(-9, -2, 12), rng.integers(2, 50, 12)
    bound = np.asarray(sweep_success_bound(9, epsilon, delta, 1 / kappa, 20, exact_uniform=True))
    most = np.asarray(sweep_max_successes(epsilon, delta, 1 / kappa, 20, exact_uniform=True))
    for i in range(12):
        profile, priors = approximate(epsilon[i], delta[i]), [uniform(kappa[i])] * 20
        assert bound[i] == pytest.approx(float(success_bound(9, profile, priors, refine=False)), rel=1e-10)
        assert most[i] == max_successes(profile, priors, refine=False)
    ends = sweep_success_bound([0, 6, 3, 3], [0.0, 1, 1000, np.inf], [0, 1, 0, 0], [0.5, 1, 0.5, 0.3], 5)
    assert ends.tolist() == [1, 0, 1, 1]
    assert sweep_max_successes([0.0, 0, 1, np.inf], [0, 0, 1, 0], [0, 1, 0.1, 0.5], 5).tolist() == [
        0,
        5,
        5,
        5,
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, u: success_bound(0.5, p, u), "v must be an integer, got 0.5"),
        (lambda p, u: success_bound(np.nan, p, u), "v must be an integer, got nan"),
        (lambda p, u: success_bound("a", p, u), "v must be numbers, got 'a'"),
        (lambda p, u: success_bound(1, p, [0.5, -0.1]), r"priors must be in \[0, 1\], got -0.1"),
        (lambda p, u: success_bound(1, p, [np.nan]), r"priors must be in \[0, 1\], got nan"),
        (lambda p, u: success_bound(1, p, [[0.5]]), r"priors must be a vector .*, got shape \(1, 1\)"),
        (
            lambda p, u: success_bound(1, p, [0.5], "optimal"),
            "priors must be one uniform prior .* got κ = 0.5",
        ),
        (lambda p, u: success_bound(1, p, u, "best"), "method must be 'certified', .* got 'best'"),
        (lambda p, u: success_bound(1, p, u, candidates=3), r"candidates must be >= 5 .*, got 3"),
        (
            lambda p, u: success_bound(1, p, [0.5], candidates=3),
            "priors must be one uniform prior .* candidates .*",
        ),
        (
            lambda p, u: success_bound(1, p, [membership()]),
            "profile must have adjacency 'add_remove' .*presence.*",
        ),
        (
            lambda p, u: success_bound(1, p, [membership(), uniform(2)]),
            "priors must all belong to one game, .*",
        ),
        (
            lambda p, u: success_bound(1, None, u),
            "profile must be a privacy profile with an adjacency, got None",
        ),
        (lambda p, u: max_successes(p, u, 1.0), r"confidence must be in \(0, 1\), got 1.0"),
        (
            lambda p, u: success_bound(1, PureDP(1.0, adjacency="add_remove"), u),
            "profile must have adjacency 'replace_one' in a substitution game .* got 'add_remove'",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{message}$") as error:
        call(approximate(1.0, 1e-3), [uniform(3)] * 5)
    assert "\n" not in str(error.value)
