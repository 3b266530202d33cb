"""Golden files: what a writer should write, kept as files and compared as text.

After a wanted change write them anew, and read the difference before you keep it:

    REGENERATE_GOLDEN=1 pytest tests/test_report_terminal.py tests/test_report_json.py tests/test_report_html.py
"""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def compare_with_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REGENERATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} holds another text; see tests/golden_files.py"
