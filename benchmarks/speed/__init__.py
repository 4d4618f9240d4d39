"""What benchmarks/training.py and benchmarks/gpu.py share: workloads, the programs compared, stopwatches."""
