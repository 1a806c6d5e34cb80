"""Pictures and pages of a result, which notebooks show."""
from __future__ import annotations

import base64
import ctypes as C
import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from nystream import _lib
from nystream._append import PathLike
from nystream._lib import lib
from nystream._options import Options
from nystream.report import Page, Picture, Report, show_result

if TYPE_CHECKING:
    from nystream.store import Store


class PictureParts:
    """The methods that a result has for its pictures; store.Result is one."""

    store: "Store"
    name: str
    report: Report
    status: Any

    def plot(self, output: Optional[PathLike] = None, **options: Any) -> Picture:
        """Draw the embedding, as a picture that a notebook shows.

        Parameters
        ----------
        output : path, optional
            Also keep it, as .png, .svg or .pdf.
        **options
            axes=(1, 2), color="label", size="800x600", … as `nystream help plot --all` has them
        """
        context = self.store._context
        with tempfile.TemporaryDirectory() as folder, \
                Options(context, _lib.PLOT, options) as pointer:
            file = Path(folder, "picture.png") if output is None else Path(output)
            context.run(lib.ny_plot, context.pointer, self.store._path, self.name.encode(),
                        os.fsencode(file), pointer)
            return Picture(file.read_bytes(), file.suffix, None if output is None else file)

    def html(self, output: Optional[PathLike] = None, **options: Any) -> Page:
        """Write the page of the result, which needs no network; a notebook shows it."""
        names = (C.c_char_p * 1)(self.name.encode())
        context = self.store._context
        with tempfile.TemporaryDirectory() as folder, \
                Options(context, _lib.REPORT, options) as pointer:
            file = Path(folder, "page.html") if output is None else Path(output)
            context.run(lib.ny_write_report, context.pointer, self.store._path, names, 1,
                        os.fsencode(file), pointer)
            return Page(file.read_text(encoding="utf-8"), None if output is None else file)

    def __repr__(self) -> str:
        return f"<result {self.name!r} of {self.store.path}: {show_result(self.report)}>"

    def _repr_html_(self) -> str:
        picture = ""
        if self.status == "done" and self.report["kind"] == "fit":
            data = base64.b64encode(self.plot(size="800x600").data).decode()
            words = html.escape(f"Coordinates 1 and 2 of {self.name}", quote=True)
            picture = f"<img width='400' alt='{words}' src='data:image/png;base64,{data}'>"
        told = "".join(f"<li>{html.escape(sentence)}</li>"
                       for sentence in self.report.get("certificate") or ())
        return (f"<p>{html.escape(repr(self))}</p>{picture}<ul>{told}</ul>"
                f"{self.report._repr_html_()}")
