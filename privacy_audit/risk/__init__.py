"""`python -m privacy_audit.risk`: what any attack could achieve, and the ε or noise that keeps it below a limit."""
