"""What any adversary could achieve: success bounds, privacy profiles, calibration (Paper U)."""
