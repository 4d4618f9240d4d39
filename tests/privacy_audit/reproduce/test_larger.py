"""The experiment with the larger model, on a tiny one: counts within bounds, resumed, refused."""

import json
import math

import jax.numpy as jnp
import numpy as np
import pytest
from etils import epath

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.reproduce.adversary_aware.larger import game
from privacy_audit.reproduce.adversary_aware.larger import run as larger
from privacy_audit.reproduce.adversary_aware.larger.run import cost, run
from privacy_audit.reproduce.adversary_aware.larger.section import write
from privacy_audit.reproduce.adversary_aware.larger.settings import Run, Settings
from privacy_audit.train.language.bpe import Bytes
from privacy_audit.train.language.llama import Block, Shape, Weights
from privacy_audit.train.language.pretrained import Pretrained

pytest.importorskip("names", reason="optional extra: pip install 'privacy-audit[language]'")

SHAPE = Shape(
    vocab_size=256, context=64, blocks=2, width=16, hidden=16, heads=2, groups=1, base=500.0, epsilon=1e-5
)
SMOKE = Settings(kinds=("names",), runs=(Run(10.0, 3, 1e-3),), targets=4, trained_blocks=1)


def tiny() -> Pretrained:
    rng = np.random.default_rng(0)

    def drawn(*shape):
        return jnp.asarray(rng.normal(size=shape) * shape[-2] ** -0.5, jnp.float32)

    n, width, hidden = SHAPE.blocks, SHAPE.width, SHAPE.hidden
    ones, joined = jnp.ones((n, width)), (SHAPE.heads + 2 * SHAPE.groups) * SHAPE.head_width
    block = Block(
        ones,
        drawn(n, width, joined),
        drawn(n, width, width),
        ones,
        drawn(n, width, 2 * hidden),
        drawn(n, hidden, width),
    )
    return Pretrained(SHAPE, Weights(drawn(256, width), block, ones[0]), Bytes())


def test_a_run_is_counted_resumed_and_written(tmp_path, monkeypatch):
    three = SecretPrior("names", "{}:", " {}", ("Al", "Bo", "Bob"), np.array([0.5, 0.25, 0.25]))
    monkeypatch.setattr(game, "KINDS", {"names": lambda: three})
    out = epath.Path(tmp_path / "out")
    results = run(SMOKE, out, 0, lambda line: None, tiny)
    for entry in results["kinds"]["names"]["runs"]:
        assert 0 <= entry["recovered"] <= entry["bound"] <= SMOKE.targets
        assert entry["interval"][0] <= entry["recovered"] <= entry["interval"][1]
    json.dumps(results, allow_nan=False)

    def never(*arguments):
        raise AssertionError("nothing is left to be played")

    with monkeypatch.context() as patched:
        patched.setattr(larger, "play", never)
        assert run(SMOKE, out, 0, print, tiny)["kinds"] == results["kinds"]
        with pytest.raises(
            ValueError, match=r"out must hold files of these settings or none, got another's names"
        ):
            run(SMOKE, out, 1, print, tiny)
        finer = tiny()
        weights = finer.weights._replace(norm=finer.weights.norm * 1.001)
        with pytest.raises(ValueError, match=r"got another's names"):
            run(SMOKE, out, 0, print, lambda: finer._replace(weights=weights))
    assert "| first name | 0.5 | 10 |" in write(results)
    assert "1 kinds of secrets, fine-tunings of 3 steps on 4 canaries" in cost(SMOKE)


def test_the_noise_spends_the_budget_and_not_more():
    settings, run = Settings(), Run(10.0, 30, 1e-3)
    profile = game.DPSGD(game.noise_for(run, settings), 1.0, run.steps, adjacency="replace_one")
    assert 9.9 < float(profile.epsilon(settings.delta)) <= 10


def test_without_noise_nothing_is_ruled_out():
    prior, settings = game.KINDS["numbers"](), Settings()
    assert game.noise_for(Run(math.inf, 30, 1e-3), settings) == 0
    assert game.bound(prior, Run(math.inf, 30, 1e-3), settings) == 100
    assert game.bound(prior, Run(10.0, 30, 1e-3), settings) <= 2
