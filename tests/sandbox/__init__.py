"""Tests of `sandbox`: the contract on real engines, and its parts."""
