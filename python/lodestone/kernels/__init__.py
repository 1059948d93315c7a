"""The reference kernels, parameterised, each with its launch shape and NumPy reference."""
