"""Grounds on which the game would mean nothing are refused in one line."""

import dataclasses

import jax.numpy as jnp
import objax
import pytest

from privacy_audit.attacks import check_task
from privacy_audit.train.functional import from_objax


def test_a_sound_ground_is_accepted(task):
    check_task(task)


def test_a_shadow_set_that_overlaps_d_is_refused(task):
    inputs, labels = task.shadow
    overlapping = inputs.at[:2].set(task.members[0][5:7]), labels
    with pytest.raises(ValueError, match="shadow must share no example with D, got 2 inputs in both"):
        check_task(dataclasses.replace(task, shadow=overlapping))


def test_labels_out_of_range_are_refused(task):
    inputs, labels = task.members
    with pytest.raises(ValueError, match="labels of members must be classes 0 to 2, got 3"):
        check_task(dataclasses.replace(task, members=(inputs, labels.at[4].set(3))))


def test_images_out_of_range_are_refused(task):
    inputs, labels = task.fresh
    for value in (1.5, -0.1, jnp.nan):
        with pytest.raises(ValueError, match=r"inputs of fresh must lie in \[0, 1\]"):
            check_task(dataclasses.replace(task, fresh=(inputs.at[0, 0].set(value), labels)))


def test_batch_normalisation_is_refused_by_name():
    with pytest.raises(ValueError, match="must not mix the examples of a batch.*BatchNorm0D"):
        from_objax(lambda: objax.nn.Sequential([objax.nn.Linear(12, 3), objax.nn.BatchNorm0D(3)]))


def test_any_layer_that_mixes_examples_is_refused_by_name(make_task, network):
    def centred(values):
        return values - values.mean(0)

    def build():
        return objax.nn.Sequential([*network(), centred])

    with pytest.raises(ValueError, match="must not mix the examples of a batch.*layer centred"):
        check_task(make_task(build=build))
