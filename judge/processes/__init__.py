"""The processes of a judging: zygote, oracle worker, student worker, the wire between them, and their supervision.

CLI process ──boot──> zygote (python -I -S, imports torch, never holds an answer)
    │                    ├──fork──> oracle worker    draws, runs the reference, compares, diagnoses
    │                    └──fork──> student worker   locked; runs the submission's calls
    └── pipes to both workers: commands in, frames out, log out
"""
