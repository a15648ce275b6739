"""Line plots as small SVG files, with the Python standard library alone.

    line_plot("time.svg", "Training time", "rows", "seconds",
              [dict(name="dperm", points=[(1e4, 0.1), (1e5, 0.9, 0.05)]),
               dict(name="no noise", points=[(1e4, 0.1), (1e5, 0.7)], dashed=True)],
              log_x=True, log_y=True, note="One core.")

A point is (x, y), (x, y, error) or (x, y, low, high); an error bar reaches from y - error to y + error. A line
with band=True has a band around it from low to high instead. Points that are not finite, or not positive on a
logarithmic axis, are left out. The names of the lines stand to
the right of the plot, in the order of the line ends, so they never cover anything. The same
arguments give the same bytes.
"""
import math
import re
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 440
TOP, BOTTOM, LEFT = 64, 58, 64
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"

# Okabe and Ito's colours, which colour-blind readers can tell apart; the second of a pair is for
# text, dark enough for a white ground. Every line also has a marker of its own.
COLOURS = [("#0072b2", "#005a8e"), ("#d55e00", "#a84a00"), ("#009e73", "#00724f"),
           ("#cc79a7", "#98447a"), ("#e69f00", "#8a5f00"), ("#56b4e9", "#1f6f9f"),
           ("#444444", "#333333"), ("#8c6d31", "#6b5223")]
MARKERS = ["circle", "square", "triangle", "diamond", "down", "plus", "cross", "bar"]


def _number(value):
    """A coordinate, as short as it can be."""
    text = "%.2f" % value
    return text.rstrip("0").rstrip(".") if "." in text else text


def _tick_label(value):
    """10k, 2M, 0.05, 1e-7."""
    size = abs(value)
    if size >= 1e12 or 0 < size < 1e-4:
        mantissa, exponent = ("%.3e" % value).split("e")
        return "%se%d" % (mantissa.rstrip("0").rstrip("."), int(exponent))
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= unit and size >= 1e4:
            return "%.10g%s" % (value / unit, letter)
    return "%.10g" % (value + 0.0)


def _text_width(text, size):
    """Roughly: fonts differ."""
    return sum(0.32 if c in "iljtf.,:;|!()[]' " else 0.88 if c in "mwMW@%" else 0.6
               for c in text) * size


def _wrap(text, size, room):
    """Lines that are at most room wide, broken at spaces."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = word if not line else line + " " + word
            if line and _text_width(longer, size) > room:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


class _Axis:
    """Maps values to pixels from start to end, and knows its ticks."""

    def __init__(self, values, log, start, end, wanted):
        self.log, self.start, self.end = log, start, end
        low, high = min(values), max(values)
        (self._log_range if log else self._linear_range)(low, high, wanted)

    def _linear_range(self, low, high, wanted):
        if 0 <= low <= 0.3 * high:
            low = 0.0  # a line that falls by two thirds shall look like it
        if low == high:
            pad = abs(low) * 0.1 or 1.0
            low, high = low - pad, high + pad
        raw = (high - low) / wanted
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999999)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.low, self.high = first * step, last * step
        digits = max(0, 1 - math.floor(math.log10(step)))
        self.ticks = [round(i * step, digits) for i in range(first, last + 1)]

    def _log_range(self, low, high, wanted):
        a, b = math.log10(low), math.log10(high)
        pad = 0.05 * (b - a) or 0.3
        # a power of ten that is just outside comes in
        a = min(a - pad, math.floor(a)) if a - math.floor(a) < 0.15 else a - pad
        b = max(b + pad, math.ceil(b)) if math.ceil(b) - b < 0.15 else b + pad
        self.low, self.high = a, b
        decades = range(math.ceil(a - 1e-9), math.floor(b + 1e-9) + 1)
        every = max(1, math.ceil(len(decades) / (wanted + 3)))
        self.ticks = [10.0 ** k for k in decades if k % every == 0]
        # less than three powers of ten: 1, 2, 5 of each, or in a narrow range finer steps
        for steps in ((1, 2, 5), range(1, 10), [m / 10 for m in range(10, 100)]):
            if len(self.ticks) < 3:
                fine = [m * 10.0 ** k for k in range(math.floor(a) - 1, math.ceil(b) + 1) for m in steps]
                self.ticks = [float("%.6g" % v) for v in fine if a - 1e-9 <= math.log10(v) <= b + 1e-9]

    def minor(self):
        """Lines between powers of ten."""
        if not self.log or len(self.ticks) > 7 or any(
                not math.isclose(math.log10(v) % 1, 0, abs_tol=1e-9) for v in self.ticks):
            return []
        values = [m * 10.0 ** k for k in range(math.floor(self.low), math.ceil(self.high))
                  for m in range(2, 10)]
        return [v for v in values if self.low <= math.log10(v) <= self.high]

    def __call__(self, value):
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def _marker(kind, x, y, colour, hollow):
    fill = "#fff" if hollow else colour
    style = 'fill="%s" stroke="%s" stroke-width="1.5"' % (fill, colour)
    if kind == "circle":
        return '<circle cx="%s" cy="%s" r="3.6" %s/>' % (_number(x), _number(y), style)
    shapes = {"square": [(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
              "triangle": [(0, -4.4), (4.2, 3), (-4.2, 3)],
              "diamond": [(0, -4.8), (4.8, 0), (0, 4.8), (-4.8, 0)],
              "down": [(0, 4.4), (4.2, -3), (-4.2, -3)],
              "bar": [(-4.5, -1.8), (4.5, -1.8), (4.5, 1.8), (-4.5, 1.8)]}
    if kind in shapes:
        points = " ".join("%s,%s" % (_number(x + a), _number(y + b)) for a, b in shapes[kind])
        return '<polygon points="%s" %s/>' % (points, style)
    a, b = (4.2, 0) if kind == "plus" else (3.2, 3.2)
    path = "M%s %sL%s %sM%s %sL%s %s" % tuple(map(_number, (
        x - a, y - b, x + a, y + b, x - b, y + a, x + b, y - a)))
    return '<path d="%s" fill="none" stroke="%s" stroke-width="2.2"/>' % (path, colour)


def _spread(wanted, heights, low, high):
    """Centres as near to the wanted ones as boxes of these heights allow. In the order given."""
    groups = []  # [sum of wanted positions of the first box, boxes, height]
    for centre, height in zip(wanted, heights):
        groups.append([centre - height / 2, 1, height])
        while len(groups) > 1:
            a, b = groups[-2], groups[-1]
            if a[0] / a[1] + a[2] <= b[0] / b[1]:
                break
            groups[-2:] = [[a[0] + b[0] - b[1] * a[2], a[1] + b[1], a[2] + b[2]]]
    tops, index, floor = [], 0, low
    for position, count, height in groups:
        top = max(position / count, floor)
        for _ in range(count):
            tops.append(top)
            top += heights[index]
            index += 1
        floor = top
    over = floor - high
    for i in range(len(tops) - 1, -1, -1):  # push back what sticks out below
        limit = high - sum(heights[i:])
        if over > 0:
            tops[i] = min(tops[i], limit)
    return [top + height / 2 for top, height in zip(tops, heights)]


def _clean(series, log_x, log_y):
    """The points that can be drawn, in order of x."""
    result = []
    for one in series:
        points = []
        for point in one["points"]:
            x, y = float(point[0]), float(point[1])
            error = float(point[2]) if len(point) == 3 and point[2] is not None else 0.0
            if not (math.isfinite(x) and math.isfinite(y)) or log_x and x <= 0 or log_y and y <= 0:
                continue
            error = error if math.isfinite(error) else 0.0
            points.append((x, y, *(map(float, point[2:]) if len(point) == 4 else (y - error, y + error))))
        if points:
            result.append((one["name"], sorted(points), bool(one.get("dashed")), bool(one.get("band"))))
    if not result:
        raise ValueError("nothing to plot")
    return result


def line_plot(path, title, x_label, y_label, series, log_x=False, log_y=False, note=None):
    """Writes the plot to path. See the top of this file."""
    lines = _clean(series, log_x, log_y)
    size, row = 12.5, 15.5

    names = [_wrap(name, size, 150) for name, *_ in lines]
    legend = 34 + max(_text_width(text, size) for name in names for text in name)
    notes = _wrap(note, 11, WIDTH - 2 * 20) if note else []
    height = HEIGHT + max(0, len(notes) - 1) * 15
    right, bottom = WIDTH - 20 - legend, height - BOTTOM - len(notes) * 15

    xs = [point[0] for _, points, *_ in lines for point in points]
    ys = [v for _, points, *_ in lines for _, *values in points for v in values if not log_y or v > 0]
    y_axis = _Axis(ys, log_y, bottom, TOP, 6)
    left = max(LEFT - 16, 26 + max(_text_width(_tick_label(v), 12) for v in y_axis.ticks))
    x_axis = _Axis(xs, log_x, left, right, 7)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
           'role="img" aria-labelledby="t d" font-family="%s">' % (WIDTH, height, WIDTH, height, FONT),
           '<title id="t">%s</title>' % escape(title),
           '<desc id="d">%s against %s: %s</desc>' % (
               escape(y_label), escape(x_label),
               escape("; ".join("%s from %s at %s to %s at %s" % (
                   " ".join(name.split()), "%.3g" % p[0][1], _tick_label(p[0][0]),
                   "%.3g" % p[-1][1], _tick_label(p[-1][0])) for name, p, *_ in lines)))]
    out.append('<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="#fdfdfd" stroke="#d0d7de"/>'
               % (WIDTH - 1, height - 1))

    def text(x, y, words, size, colour="#1f2328", anchor="start", extra=""):
        out.append('<text x="%s" y="%s" font-size="%s" fill="%s"%s%s>%s</text>' % (
            _number(x), _number(y), size, colour,
            "" if anchor == "start" else ' text-anchor="%s"' % anchor, extra, escape(words)))

    text(20, 29, title, 16, extra=' font-weight="600"')
    text(20, 50, y_label, 12, "#57606a")
    text((left + right) / 2, bottom + 38, x_label, 12, "#57606a", "middle")
    for i, words in enumerate(notes):
        text(20, height - 14 - 15 * (len(notes) - 1 - i), words, 11, "#57606a")

    def grid(values, axis, colour):
        d = "".join("M%s %sH%s" % (_number(left), _number(axis(v)), _number(right)) if axis is y_axis
                    else "M%s %sV%s" % (_number(axis(v)), TOP, _number(bottom)) for v in values)
        if d:
            out.append('<path d="%s" fill="none" stroke="%s"/>' % (d, colour))

    for axis in (x_axis, y_axis):
        grid(axis.minor(), axis, "#f2f3f5")
    for axis in (x_axis, y_axis):
        grid(axis.ticks, axis, "#e1e4e8")
    out.append('<path d="M%s %sV%sH%s" fill="none" stroke="#8c959f"/>' % (
        _number(left), TOP, _number(bottom), _number(right)))
    for v in x_axis.ticks:
        text(x_axis(v), bottom + 18, _tick_label(v), 12, "#57606a", "middle")
    for v in y_axis.ticks:
        text(left - 8, y_axis(v) + 4, _tick_label(v), 12, "#57606a", "end")

    for i, (_, points, _, band) in enumerate(lines):
        if band:
            edge = [(x, high) for x, _, _, high in points] + [(x, low) for x, _, low, _ in reversed(points)]
            out.append('<polygon points="%s" fill="%s" fill-opacity="0.15" stroke="%s" stroke-opacity="0.3"/>' % (
                " ".join("%s,%s" % (_number(x_axis(x)), _number(y_axis(y))) for x, y in edge),
                *[COLOURS[i % len(COLOURS)][0]] * 2))
    for i, (_, points, dashed, band) in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)][0]
        bars = "".join("M%s %sV%sM%s %sH%sM%s %sH%s" % tuple(map(_number, (
            px, lo, hi, px - 3, lo, px + 3, px - 3, hi, px + 3)))
            for px, lo, hi in ((x_axis(x), y_axis(low), y_axis(high)) for x, _, low, high in points if high > low))
        if bars and not band:
            out.append('<path d="%s" fill="none" stroke="%s" stroke-width="1.2" opacity="0.7"/>'
                       % (bars, colour))
        if len(points) > 1:
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2.2" '
                       'stroke-linejoin="round"%s/>' % (
                           " ".join("%s,%s" % (_number(x_axis(x)), _number(y_axis(y)))
                                    for x, y, *_ in points),
                           colour, ' stroke-dasharray="6 4"' if dashed else ""))
    for i, (_, points, dashed, _) in enumerate(lines):
        for x, y, *_ in points:
            out.append(_marker(MARKERS[i % len(MARKERS)], x_axis(x), y_axis(y),
                               COLOURS[i % len(COLOURS)][0], dashed))

    # names: a sample of the line, and the words, as near to the line's end as they fit
    ends = [y_axis(points[-1][1]) for _, points, *_ in lines]
    order = sorted(range(len(lines)), key=lambda i: (ends[i], i))
    centres = _spread([ends[i] for i in order], [row * len(names[i]) + 5 for i in order],
                      TOP - 8, bottom + 8)
    for i, centre in zip(order, centres):
        colour, ink = COLOURS[i % len(COLOURS)]
        dashed, x = lines[i][2], right + 10
        out.append('<path d="M%s %sh20" fill="none" stroke="%s" stroke-width="2.2"%s/>' % (
            _number(x), _number(centre), colour, ' stroke-dasharray="6 4"' if dashed else ""))
        out.append(_marker(MARKERS[i % len(MARKERS)], x + 10, centre, colour, dashed))
        for k, words in enumerate(names[i]):
            text(x + 26, centre + 4.3 + row * (k - (len(names[i]) - 1) / 2), words, size, ink)
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def stacked(plots):
    """One picture of several plots of this module, one below the other."""
    inner, top = [], 0
    for i, plot in enumerate(plots):
        height = int(re.search(r' height="(\d+)"', plot).group(1))
        for name in "td":  # a name must be the only one of its kind
            plot = plot.replace(f'id="{name}"', f'id="{name}{i}"')
        plot = plot.replace('aria-labelledby="t d"', f'aria-labelledby="t{i} d{i}" y="{top}"', 1)
        inner.append(plot.rstrip("\n").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
        top += height + 12
    top -= 12
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}">',
                      *inner, "</svg>"]) + "\n"
