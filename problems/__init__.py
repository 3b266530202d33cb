"""The problems, one folder each; see docs/adding-a-problem.md. Holds no code of its own."""
