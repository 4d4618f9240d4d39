"""Paper U reproduced at toy scale: every part is made anew, resumed, drawn and written; the bounds stand."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
from etils import epath
from matplotlib.image import imread
from scipy import stats

from privacy_audit.attacks.secrets.priors import SecretPrior, numbers
from privacy_audit.bounds import success_bound
from privacy_audit.bounds.priors import Prior
from privacy_audit.bounds.profiles import GaussianDP
from privacy_audit.reproduce import __main__ as command
from privacy_audit.reproduce.adversary_aware.attributes import rates
from privacy_audit.reproduce.adversary_aware.attributes import run as attributes
from privacy_audit.reproduce.adversary_aware.attributes.game import all_cells
from privacy_audit.reproduce.adversary_aware.attributes.limits import mean_prior_bound
from privacy_audit.reproduce.adversary_aware.attributes.settings import scales
from privacy_audit.reproduce.adversary_aware.canaries import run as canaries
from privacy_audit.reproduce.adversary_aware.canaries import settings as canary_settings
from privacy_audit.reproduce.adversary_aware.tables import section as table_section
from privacy_audit.reproduce.adversary_aware.tightness import gaussian, response
from privacy_audit.reproduce.adversary_aware.tightness import section as tightness_section

SMOKE = scales("toy", None)["smoke"]


def run(*flags):
    return command.run(["reproduce", "--paper=adversary_aware", "--scale=smoke", *flags])


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    out = tmp_path_factory.mktemp("toy")
    # The language models have tests of their own.
    assert run(f"--out={out}", "--parts=tables,tightness,attributes,report") == 0
    return out


def test_every_part_is_written_and_drawn(toy):
    text = (toy / "reproduction_adversary_aware.md").read_text()
    for heading in ("Table 1", "Table 2", "Tightness", "Attributes from released marginals", "Guidance"):
        assert f"## {heading}" in text
    for printed in ("| 17.78 | 17.8 |", "| 2.375 | 2.37 |", "| 0.2504 | 0.25 |", "| 56 | 65 |"):
        assert printed in text
    pictures = [line.split("](")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) >= 3
    for picture in pictures:
        pixels = imread(toy / picture)
        assert min(pixels.shape[:2]) > 300
        assert pixels[..., :3].std() > 0.02  # not blank
    for part in ("tables", "tightness", "attributes"):
        stored = json.loads((toy / "reproduction_adversary_aware" / f"{part}.json").read_text())
        assert {"seed", "scale", "versions", "hardware", "seconds"} <= set(stored)


def test_no_attack_recovers_more_than_the_certified_bound(toy):
    results = json.loads((toy / "attributes.json").read_text())
    assert set(results["cells"]) == {cell.name for cell in all_cells(SMOKE)}
    for name, cell in results["cells"].items():
        assert (not cell["bounds"]) == ("inf" in name)
        if cell["bounds"]:
            assert rates.games_above(cell) == 0
    assert rates.exceeded(results) == []
    drawn = results["cells"]["drawn-SEX-RACE-eps1"]["bounds"]
    assert drawn["certified_unknown_only"] <= drawn["certified"] <= drawn["certified_epsilon_delta"]
    silent = results["cells"]["drawn-SEX-RACE-epsinf"]
    assert rates.attack_rate(results, silent).lower > 1.5 * silent["prior"]


def test_what_is_there_is_kept_and_what_is_damaged_is_played_again(toy):
    kept, damaged = (toy / "attributes" / f"{cell.name}.json" for cell in all_cells(SMOKE)[:2])
    before, whole = kept.stat().st_mtime_ns, json.loads(damaged.read_text())
    damaged.write_text("{")
    assert run(f"--out={toy}", "--parts=attributes") == 0
    assert kept.stat().st_mtime_ns == before
    again = json.loads(damaged.read_text())
    assert {**again, "seconds": 0} == {**whole, "seconds": 0}


def test_cells_of_another_seed_are_refused(toy, tmp_path, capsys):
    shutil.copytree(toy / "attributes", tmp_path / "attributes")
    assert run(f"--out={tmp_path}", "--parts=attributes", "--seed=1") == 2
    assert "--out must hold cells of these settings and data or none" in capsys.readouterr().err


def test_results_of_another_seed_are_refused_before_any_part_runs(toy, capsys):
    """The tables come first and hold nothing back by themselves."""
    before = {path: path.stat().st_mtime_ns for path in toy.rglob("*")}
    assert run(f"--out={toy}", "--parts=tables,tightness,attributes,report", "--seed=1") == 2
    assert capsys.readouterr().err.strip() == (
        "privacy_audit.reproduce: --out must hold tables.json of seed 1 or none, got seed 0"
    )
    assert {path: path.stat().st_mtime_ns for path in toy.rglob("*")} == before


def test_partial_results_say_what_is_missing_and_show_their_own_seeds(toy, tmp_path, capsys):
    for name, changed in {"tightness": {"seed": 7}, "attributes": {}, "tables": {"scale": "desk"}}.items():
        stored = json.loads((toy / f"{name}.json").read_text())
        (tmp_path / f"{name}.json").write_text(json.dumps(stored | changed))
    assert run(f"--out={tmp_path}", "--parts=report", "--seed=5") == 0
    assert "tables.json is passed over: it is of scale desk" in capsys.readouterr().err
    text = (tmp_path / "reproduction_adversary_aware.md").read_text()
    assert "**Partial.** Not run at this scale yet: tables, canaries." in text
    assert "--parts=tightness --seed=7" in text
    assert "--parts=attributes --seed=0" in text
    assert "--seed=5" not in text
    assert "## Table 1" not in text
    assert "reproduction.md" not in text
    (tmp_path / "reproduction.md").write_text("# Paper L")
    assert run(f"--out={tmp_path}", "--parts=report") == 0
    assert "[Paper L](reproduction.md)" in (tmp_path / "reproduction_adversary_aware.md").read_text()


def test_the_document_is_made_anew_from_what_it_stores(toy, tmp_path):
    folder = tmp_path / "docs"
    shutil.copytree(toy / "reproduction_adversary_aware", folder / "reproduction_adversary_aware")
    assert run(f"--out={folder / 'reproduction_adversary_aware'}", "--parts=report", f"--docs={folder}") == 0
    ours, theirs = ((f / "reproduction_adversary_aware.md").read_text() for f in (folder, toy))
    assert ours.replace(str(folder), str(toy)) == theirs


def test_verdicts_follow_the_numbers(toy):
    results = json.loads((toy / "tightness.json").read_text())
    assert "no bound is exceeded" in tightness_section.write(results)
    one = results["gaussian"]["numbers"]
    changed = {"numbers": one | {"add_remove": one["add_remove"] | {"least_gap": -0.01}}}
    text = tightness_section.write(results | {"gaussian": changed})
    assert "a bound IS EXCEEDED for uniform nine-digit numbers, add/remove." in text
    assert "Left out, since their lists were not installed" in text
    rows = [
        {"optimum": 0.3, "printed": 0.2, "certified": 0.4},
        {"optimum": 0.3, "printed": 0.4, "certified": 0.2},
    ]
    tables = json.loads((toy / "tables.json").read_text()) | {"counterexamples": rows, "guidance": []}
    text = table_section.write(tables)
    assert "above the printed formula in 1 of 2 rows, above the certified bound in 1." in text
    assert "): numbers, passwords, names." in text


def test_files_of_others_are_refused_before_any_is_written(toy, tmp_path):
    last = f"{all_cells(SMOKE)[-1].name}.json"
    shutil.copy(toy / "attributes" / last, tmp_path)
    with pytest.raises(ValueError, match="out must hold cells of these settings and data or none"):
        attributes.run(SMOKE, epath.Path(tmp_path), 1, print)
    assert [path.name for path in tmp_path.iterdir()] == [last]


def test_a_part_without_the_scale_or_without_its_packages_is_named(tmp_path, capsys, monkeypatch):
    def missing(settings):
        raise ImportError("zxcvbn is needed")

    monkeypatch.setattr(canaries, "check", missing)
    assert run(f"--out={tmp_path / 'out'}", "--parts=larger,canaries") == 0
    said = capsys.readouterr().err.splitlines()
    assert said == ["canaries is left out: zxcvbn is needed", "larger is left out: it has no scale smoke"]
    assert not (tmp_path / "out").exists()


def test_a_published_model_is_looked_for_before_any_part_runs(tmp_path, capsys, monkeypatch):
    paper = dataclasses.replace(canary_settings.SCALES["paper"], source=str(tmp_path / "none" / "there"))
    monkeypatch.setitem(canary_settings.SCALES, "paper", paper)
    flags = ["reproduce", "--paper=adversary_aware", "--scale=paper", "--parts=tables,canaries"]
    assert command.run([*flags, f"--out={tmp_path / 'out'}"]) == 2
    assert "source must be a folder or a name on the hub" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--parts=cells"], "--parts must be one of tables, "),
        (["--seed=-1"], "--seed must be >= 0, got -1"),
        (["--people=martians"], "--people must be one of adult, acs, toy, got martians"),
        (["--scale=desk"], "--adult_dir must be a folder with adult.data and adult.test, got nothing"),
        (["--cells=mnist-eps4"], "Unknown command line flag 'cells'"),
    ],
)
def test_wrong_flags_are_one_line_and_nothing_is_written(flags, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(f"--out={out}", *flags) == 2
    printed = capsys.readouterr().err.strip()
    assert message in printed
    assert len(printed.splitlines()) == 1
    assert not out.exists()


def test_dry_run_prints_a_line_a_part_and_writes_nothing(tmp_path, capsys):
    assert run(f"--out={tmp_path / 'out'}", "--dry_run") == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()][:3] == [
        "tables", "tightness", "attributes"
    ]  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_a_table_narrower_than_its_marginals_is_refused_before_anything_is_written(tmp_path):
    wide = dataclasses.replace(SMOKE, ways=9)
    with pytest.raises(ValueError, match="ways must be in 1 … 8"):
        attributes.run(wide, epath.Path(tmp_path / "out"), 0, print)
    assert not (tmp_path / "out").exists()


def test_the_interval_is_the_wider_of_two():
    one = rates.rate([60], 100, 0.95)
    exact = stats.binomtest(60, 100).proportion_ci(0.95)
    assert (one.lower, one.upper) == pytest.approx((exact.low, exact.high), abs=1e-9)
    spread = rates.rate([20, 100], 100, 0.95)
    assert spread.upper == 1.0
    assert spread.lower == 0.0
    assert rates.rate([100] * 10, 100, 0.95).lower < 1


@pytest.mark.parametrize("mu", [0.268, 2.0])
def test_the_mean_prior_bound_is_above_the_certified_one_for_equal_priors(mu):
    counts, profile = np.array([60, 80, 95]), GaussianDP(mu, adjacency="replace_one")
    certified = success_bound(counts, profile, [Prior(0.7, 0.0)] * 100, refine=False)
    assert np.all(mean_prior_bound(counts, profile, 0.7, 100) >= certified - 1e-12)


def test_the_ideal_attack_on_uniform_numbers_is_within_004_under_add_remove():
    epsilons = np.geomspace(1, 100, 25)
    near, far = (gaussian.curve(numbers(), adjacency, epsilons) for adjacency in gaussian.SHIFTS)
    assert near["widest_gap"] <= 0.04
    assert 0.6 < far["widest_gap"] < 0.7
    assert min(near["least_gap"], far["least_gap"]) > -1e-9


def test_the_ideal_attack_on_skewed_secrets_stays_below_both_bounds():
    p = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    secrets = SecretPrior("five", "{}", "{}", tuple("abcde"), p)
    for adjacency in gaussian.SHIFTS:
        for row in gaussian.curve(secrets, adjacency, np.array([1.0, 5.0, 30.0]))["rows"]:
            assert row["attack"] <= row["bound_whole_prior"] + 1e-9 <= row["bound"] + 2e-9


def test_the_bound_of_the_whole_prior_is_the_largest_over_laws_of_the_guess():
    p, mu = np.array([0.6, 0.3, 0.1]), 1.3
    best = gaussian.whole_prior_bound(p, mu)
    laws = np.random.default_rng(0).dirichlet(np.ones(3), size=20_000)
    values = stats.norm.cdf(stats.norm.ppf(laws) + mu) @ p
    assert values.max() <= best + 1e-12
    assert values.max() >= best - 1e-3


def test_the_mu_at_an_epsilon_is_the_one():
    for epsilon in (1.0, 33.0, 100.0):
        profile = GaussianDP(gaussian.mu_at(epsilon), adjacency="replace_one")
        assert float(profile.epsilon(gaussian.DELTA)) == pytest.approx(epsilon, rel=1e-8)


def test_randomized_response_meets_the_bound_at_a_uniform_prior_only():
    for row in response.widest_gaps(response.response_rows(20)):
        assert abs(row["gap_uniform"]) < 1e-12
        assert row["gap_widest"] > 0.1
    for row in response.response_rows(5):
        # On the output that names the heavy symbol the bound is met whatever the prior.
        assert row["on_heavy_output"] == pytest.approx(row["bound"], abs=1e-12)
        assert row["attack"] <= row["bound"] + 1e-12
