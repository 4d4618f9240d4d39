"""How far the bounds lie above the best attacks that are known exactly."""
