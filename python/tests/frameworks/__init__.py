"""Tests with the real TensorFlow, Keras and JAX on the CPU: run by dev/checks/frameworks.sh, in its own environment."""
