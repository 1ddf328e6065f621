# SPDX-License-Identifier: GPL-2.0
"""Pictures as SVG that can be read on white and on dark, alone and in a page, and need nothing else."""
from xml.sax.saxutils import escape, quoteattr

STOCK, OURS = "#c8553d", "#3b7dc4"
# Shapes with a class take their colour from the reader's choice of white or dark.
STYLE = """text{font-family:ui-sans-serif,system-ui,"DejaVu Sans",sans-serif;fill:#1f2328}
.page{fill:#fff}.quiet{fill:#59636e}.line{stroke:#d1d9e0}.axis{stroke:#59636e}
.bar{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:11px;fill:#111}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.quiet{fill:#9198a1}
.line{stroke:#3d444d}.axis{stroke:#9198a1}.bar{fill:#111}}"""


def readable(n):
    """A figure with three digits or so: 1234567 is 1.23 M."""
    for size, unit in (1e9, " G"), (1e6, " M"), (1e4, " k"):
        if abs(n) >= size:
            return f"{n / (1e3 if unit == ' k' else size):.3g}{unit}"
    return f"{n:,.0f}" if n == int(n) or abs(n) >= 100 else f"{n:,.3g}"


def cut(text, letters):
    return text if len(text) <= letters else text[:letters - 1] + "…"


class Drawing:
    """Collects shapes; x goes right and y down. The title describes it to readers that cannot see it."""

    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.shapes = [f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                       f'<rect class="page" width="{width}" height="{height}"/>']

    def text(self, x, y, text, anchor="start", size=12, quiet=False, colour=""):
        style = f' style="fill:{colour}"' if colour else ""
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
                           f'{" class=" + quoteattr("quiet") if quiet else ""}{style}>{escape(text)}</text>')

    def line(self, x, y, to_x, to_y, kind="line"):
        self.shapes.append(f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>')

    def bar(self, x, y, width, height, colour, title="", label=""):
        """With a title that is seen when it is pointed at, and a label inside."""
        inside = f"<title>{escape(title)}</title>" if title else ""
        inside += f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}" rx="1.5" fill="{colour}"/>'
        if label:
            inside += f'<text class="bar" x="{x + 3:.1f}" y="{y + height - 5:.1f}">{escape(label)}</text>'
        self.shapes.append(f"<g>{inside}</g>")

    def curve(self, points, colour, titles):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for (x, y), title in zip(points, titles):
            self.shapes.append(f'<g><title>{escape(title)}</title>'
                               f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/></g>')

    def svg(self):
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                          f'width="{self.width}" role="img">', *self.shapes, "</svg>", ""])
