"""What Paper U prints, for comparison beside what is computed here."""

CARD_TABLE_1 = {
    # Name of our baseline: columns of `SETTINGS` that the paper ticks, as U/N, M/A/R, 1/+, E/~.
    "ReRo, pure": "UN MAR 1 E~",
    "Hayes 2023": "UN MAR 1 E~",
    "Steinke 2023": "UN M 1+ E",
    "Mahloujifar 2024": "U M 1+ E",
    "Cherubin 2024": "U MA 1+ E",
    "ours": "UN MAR 1+ E~",
}
COLUMNS = {
    "uniform prior": "U",
    "non-uniform prior": "N",
    "membership": "M",
    "attribute": "A",
    "reconstruction": "R",
    "one target": "1",
    "many targets": "+",
    "exact match": "E",
    "approximate match": "~",
}

TABLE_2 = (
    # Secrets, prior success, and the paper's: ε for advantage 0.05, advantage at ε = 1, at ε = 10.
    ("uniform 9 digits", 1e-9, "17.8", "≪ 0.01", "≪ 0.01"),
    ("names (PII), as ε implies", 0.0054, "2.37", "0.08 (other prior)", "1.00"),
    ("names (PII), as 0.08 implies", 0.051, "2.37 (other prior)", "0.08", "1.00"),
    ("numeric passwords", 0.185, "0.25", "0.24", "1.00"),
)

SEX_PRIOR, SEX_SECRETS, SEX_EPSILON, SEX_DELTA, SEX_PRINTED = 0.56, 100, 1.0, 1e-5, 84

COUNTEREXAMPLES = (
    # n, symbols, ε, δ, v.
    (3, 2, 0.3, 0.1, 1),
    (8, 10, 0.1, 0.01, 2),
    (100, 10, 1.0, 1e-3, 32),
    (100, 100, 1.0, 1e-3, 5),
)
GAUSSIAN_ROWS = ((0.5, 10), (1.0, 10), (0.5, 2), (1.0, 2))
