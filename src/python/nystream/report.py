"""Reports of calls, whose keys are attributes; plans, pictures and pages."""
from __future__ import annotations

import html
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np

_LEFT = "text-align:left;font-weight:normal"  # which notebooks have otherwise
SHOWN = 5  # entries of a list that a line of text has


class Report(Dict[str, Any]):
    """Figures of a call by name; `report.trace_error` is `report["trace_error"]`.

    A figure that does not apply is None.
    """

    def __init__(self, values: Dict[str, Any]) -> None:
        super().__init__({key: Report(value) if isinstance(value, dict) else value
                          for key, value in values.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the report has no {name}; it has {', '.join(self)}") from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        """Return the figures that apply, a line each, and why others do not."""
        told = {key: _show(value) for key, value in self.items()
                if value is not None and value != [] and key != "reasons"}
        width = max(map(len, told), default=0)
        lines = [f"{key:{width}}  {text}" for key, text in told.items()]
        lacking: Dict[str, List[str]] = {}  # figures by the reason that they lack for
        for key, reason in (self.get("reasons") or {}).items():
            if not reason.startswith("not asked for"):
                lacking.setdefault(reason, []).append(key)
        return "\n".join([*lines, *(f"no {', '.join(keys)}: {reason}"
                                    for reason, keys in lacking.items())])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th scope='row' style='{_LEFT}'>{html.escape(str(key))}</th>"
                       f"<td style='{_LEFT}'>{html.escape(_show_figure(key, value))}</td></tr>"
                       for key, value in self.items()
                       if value is not None and not isinstance(value, (dict, list)))
        return f"<table>{rows}</table>"


class Plan(Report):
    """Memory, time and disk that a fit would take, before anything runs."""

    @property
    def memory(self) -> int:
        """Bytes that the fit needs at least."""
        return int(self["memory_min_bytes"])

    def _passes(self) -> str:
        selecting = self.get("selection_passes")
        count = self["passes"] - (selecting or 0)
        words = f"{count:,} {'pass' if count == 1 else 'passes'}"
        about = f"about {selecting:,} for " if selecting else ""
        return words if selecting is None else f"{words} plus {about}landmark selection"

    def __repr__(self) -> str:
        verdict = "fits" if self["fits"] else "does not fit"
        return (f"<plan: {verdict}, needs at least {show_bytes(self.memory)}, about "
                f"{show_seconds(self['seconds'])}, {self._passes()}, "
                f"{show_bytes(self['disk_bytes'])} on disk>")

    def _repr_html_(self) -> str:
        verdict = "fits" if self["fits"] else f"does not fit: needs {show_bytes(self.memory)}"
        seconds = {stage: s for stage, s in self["stages"].items() if s}
        memory = {what: b for what, b in self["memory_bytes"].items() if b}
        return (f"<p><b>{verdict}</b>, about {show_seconds(self['seconds'])}, "
                f"{show_bytes(self['disk_bytes'])} on disk, "
                f"{self._passes()}</p>"
                + _html_bars("memory", memory, show_bytes)
                + _html_bars("time", seconds, show_seconds))


def show_bytes(count: float) -> str:
    """Spell a number of bytes as "1.5 GiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            break
        count /= 1024
    else:
        unit = "TiB"
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"


def show_seconds(seconds: float) -> str:
    """Spell a time as "4.61 s", "3 min 06 s" or "2 h 05 min"."""
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def component_errors(report: Report) -> Any:
    """Return the errors of the pairs as an array, NaN where one is not known; None without any."""
    errors = report.get("component_errors")
    return None if errors is None else np.array([np.nan if error is None else error
                                                 for error in errors])


def values_prepared(report: Report) -> Optional[str]:
    """Return how values are prepared as they are read, where twice is not as once; else None."""
    values: Optional[str] = report.get("prepared_values")
    return values if values in ("log1p", "sqrt") else None


# Properties of what has the report of a fit.
COMPONENT_ERRORS: Any = property(lambda fit: component_errors(fit.report), doc="""\
        Error ‖Au − λu‖/λ of each eigenpair, an array (pairs,), A being of all rows.

        It is about the angle, in radians, to the eigenvectors that belong to eigenvalues near λ.
        A fit with landmarks estimates it, with the standard error `report.component_errors_se`.
        NaN, or None for all of them: not known.
        """)
TRACE_ERROR: Any = property(lambda fit: fit.report["trace_error"], doc="""\
        Share of the trace of K that the approximation leaves out; None where not known.
        """)


def show_result(report: Report) -> str:
    """Spell what a result has, as "3,000,000 × 20, right to 2.1 %", or else its status."""
    status, rows = report.get("status"), report.get("embedded") or report.get("n")
    components, errors = report.get("components"), component_errors(report)
    if status != "done" or report.get("kind") != "fit" or not rows or not components:
        return str(status)
    above = report.get("components_above_noise") or None
    right = "" if errors is None else f", right to {100 * np.nanmax(errors[:above]):.2g} %"
    return f"{rows:,} × {components}{right}"


def _show_figure(key: str, value: Any) -> str:
    """Spell a figure with the unit that the end of its name tells."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.startswith("bytes_") or key.endswith("_bytes"):
        return show_bytes(value)
    if key.endswith("seconds"):
        return show_seconds(value)
    return f"{value:,}" if isinstance(value, int) and key != "seed" else _show(value)


def _show(value: Any) -> str:
    if isinstance(value, dict):  # switches of options that are off say nothing
        return ", ".join(f"{key} {_show(one)}" for key, one in value.items()
                         if one is not None and one != "no")
    if isinstance(value, list):
        shown = ", ".join(map(_show, value[:SHOWN]))
        return shown if len(value) <= SHOWN else f"{shown}, … ({len(value)} in all)"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _html_bars(title: str, values: Dict[str, float], show: Any) -> str:
    most = max(values.values(), default=1)
    rows = "".join(
        f"<tr><th scope='row' style='{_LEFT}'>{html.escape(name)}</th>"
        f"<td style='text-align:right;white-space:nowrap'>{show(value)}</td><td><div style='"
        f"background:#4477aa;height:0.8em;min-width:1px;width:{100 * value / most:.0f}px'></div>"
        f"</td></tr>"
        for name, value in values.items())
    return f"<table><caption style='{_LEFT}'><b>{title}</b></caption>{rows}</table>"


class Picture:
    """A picture, its bytes in `data`; a notebook shows png and svg.

    `file` is where plot() has written it, None: nowhere.
    """

    def __init__(self, data: bytes, suffix: str, file: Optional[Path] = None) -> None:
        self.data, self.suffix, self.file = data, suffix, file

    def __repr__(self) -> str:
        return f"<Picture: {self.suffix[1:]}, {show_bytes(len(self.data))}>"

    def _repr_png_(self) -> Optional[bytes]:
        return self.data if self.suffix == ".png" else None

    def _repr_svg_(self) -> Optional[str]:
        return self.data.decode() if self.suffix == ".svg" else None


class Page:
    """A page of HTML, its text in `text`; a notebook shows it in a frame.

    `file` is where html() has written it, None: nowhere.
    """

    def __init__(self, text: str, file: Optional[Path] = None) -> None:
        self.text, self.file = text, file

    def __repr__(self) -> str:
        return f"<Page: HTML, {show_bytes(len(self.text.encode()))}>"

    def _repr_html_(self) -> str:
        return (f"<iframe width='100%' height='700' frameborder='0' "
                f"srcdoc='{html.escape(self.text)}'></iframe>")
