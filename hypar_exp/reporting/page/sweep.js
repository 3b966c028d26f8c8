// A sweep's runs: a table to sort and filter, and any number against any other with its Pareto front.
const SHAPES = {  // by matplotlib's letters
  o: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0", s: "M-4.5,-4.5h9v9h-9z", "^": "M0,-6L5.5,4.5H-5.5z", v: "M0,6L5.5,-4.5H-5.5z",
  D: "M0,-6L6,0L0,6L-6,0z", P: "M-5,-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z", X: "M-5,-3l2,-2l3,3l3,-3l2,2l-3,3l3,3l-2,2l-3,-3l-3,3l-2,-2l3,-3z",
  "*": "M0,-6.5L1.8,-2.2L6.4,-2L2.8,1L4,5.5L0,3L-4,5.5L-2.8,1L-6.4,-2L-1.8,-2.2z",
};

class SweepPage {
  constructor(page) {
    this.page = page;
    this.sorted = [null, false];
    this.titles = Object.fromEntries(page.metrics.map(metric => [metric.key, metric]));
    this.best = Object.fromEntries(page.metrics.map(metric => [metric.key, this.bestBy(metric)]));
    const numbers = page.metrics.map(metric => [metric.key, metric.title]);
    const axes = page.axes.filter(axis => page.runs.every(run => run.axes[axis] !== "" && isFinite(run.axes[axis])));
    this.fill("across", [...numbers, ...axes.map(axis => [axis, axis])], page.across);
    this.fill("up", numbers, page.up);
    this.fill("by", [...page.axes.map(axis => [axis, axis])], page.by);
    for (const id of ["across", "up", "by", "pareto", "log"]) document.getElementById(id).addEventListener("change", () => this.draw());
    document.getElementById("filter").addEventListener("input", () => this.show());
    this.show();
  }

  fill(id, options, chosen) {
    document.getElementById(id).append(...options.map(([value, textContent]) => element("option", { value, textContent, selected: value === chosen })));
  }

  // The best value of a metric within each group: the runs that agree in all axes but the one that is compared.
  bestBy(metric) {
    const best = {};
    for (const run of this.page.runs) {
      const group = this.group(run), value = run.metrics[metric.key];
      if (value === undefined) continue;
      if (!(group in best) || (metric.more_is_better ? value > best[group] : value < best[group])) best[group] = value;
    }
    return best;
  }

  group(run) { return JSON.stringify(this.page.axes.filter(axis => axis !== this.page.by).map(axis => run.axes[axis])); }

  chosen() {
    const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.page.runs.filter(run => {
      const text = [...Object.values(run.axes), run.ended].join(" ").toLowerCase();
      return words.every(word => text.includes(word));
    });
  }

  value(run, key) { return key in this.titles ? run.metrics[key] : Number(run.axes[key]); }

  show() {
    const [key, down] = this.sorted, runs = this.chosen();
    if (key !== null) {
      const of = run => (key in this.titles ? run.metrics[key] : isFinite(run.axes[key]) ? Number(run.axes[key]) : run.axes[key]);
      runs.sort((one, other) => {
        const [a, b] = [of(one), of(other)];
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
      });
    }
    const columns = [...this.page.axes.map(axis => [axis, axis]), ...this.page.metrics.map(metric => [metric.key, metric.title])];
    const head = element("tr");
    for (const [name, title] of columns) {
      const cell = element("th", { textContent: title + (name === key ? (down ? " ▾" : " ▴") : ""), title: name });
      cell.addEventListener("click", () => { this.sorted = [name, name === key && !down]; this.show(); });
      head.append(cell);
    }
    head.append(element("th", { textContent: "ended" }));
    const rows = runs.map(run => {
      const row = element("tr");
      for (const axis of this.page.axes) row.append(element("td", { textContent: run.axes[axis] ?? "" }));
      for (const metric of this.page.metrics) {
        const value = run.metrics[metric.key], best = value !== undefined && value === this.best[metric.key][this.group(run)];
        row.append(element("td", { textContent: value === undefined ? "" : quantity(value, metric.unit), style: best ? "font-weight:700" : "" }));
      }
      row.append(element("td", { textContent: run.ended }));
      return row;
    });
    document.getElementById("count").textContent = `${runs.length} of ${this.page.runs.length}; bold: best of its group`;
    document.getElementById("runs").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    this.draw();
  }

  draw() {
    const [across, up, by] = ["across", "up", "by"].map(id => document.getElementById(id).value);
    const log = document.getElementById("log").checked;
    const points = this.chosen().map(run => ({ run, x: this.value(run, across), y: this.value(run, up), name: run.axes[by] ?? "" }))
      .filter(point => isFinite(point.x) && isFinite(point.y) && (!log || (point.x > 0 && point.y > 0)));
    const picture = document.getElementById("picture");
    if (!points.length) { picture.replaceChildren("nothing to draw"); return; }
    const names = [...new Set(points.map(point => point.name))];
    const look = name => this.page.looks[this.page.look_of[by]?.[name] ?? 0];
    const [left, top, width, height] = [76, 12, 620, 360];
    const scale = (values, from, to) => {
      const f = log ? Math.log10 : value => value, low = f(Math.min(...values)), high = f(Math.max(...values)), pad = (high - low || Math.abs(high) || 1) * 0.05;
      return { at: value => from + (f(value) - low + pad) / (high - low + 2 * pad) * (to - from),
        ticks: [0, 1, 2, 3, 4].map(part => { const value = low + part * (high - low) / 4; return log ? 10 ** value : value; }) };
    };
    const x = scale(points.map(point => point.x), left, left + width), y = scale(points.map(point => point.y), top + height, top);
    const unit = key => this.titles[key]?.unit ?? "", title = key => this.titles[key]?.title ?? key;
    const parts = [`<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="none" stroke="#ddd"/>`];
    for (const tick of x.ticks) parts.push(`<text x="${x.at(tick)}" y="${top + height + 16}" text-anchor="middle">${quantity(tick, unit(across))}</text>`);
    for (const tick of y.ticks) parts.push(`<text x="${left - 6}" y="${y.at(tick) + 4}" text-anchor="end">${quantity(tick, unit(up))}</text>`);
    parts.push(`<text x="${left + width / 2}" y="${top + height + 34}" text-anchor="middle" class="x"></text>`, `<text transform="translate(12,${top + height / 2}) rotate(-90)" text-anchor="middle" class="y"></text>`);
    if (document.getElementById("pareto").checked) {
      const line = this.front(points, across, up).map(point => `${x.at(point.x)},${y.at(point.y)}`).join(" ");
      parts.push(`<polyline points="${line}" fill="none" stroke="#999" stroke-dasharray="4 3" id="front"/>`);
    }
    points.forEach(point => {
      const [colour, marker] = look(point.name);
      parts.push(`<path class="point" d="${SHAPES[marker]}" transform="translate(${x.at(point.x)},${y.at(point.y)})" fill="${colour}" fill-opacity=".8"/>`);
    });
    names.slice(0, 16).forEach((name, at) => parts.push(`<path d="${SHAPES[look(name)[1]]}" transform="translate(${left + width + 20},${top + 12 + 20 * at})" fill="${look(name)[0]}"/><text x="${left + width + 32}" y="${top + 16 + 20 * at}" class="name"></text>`));
    picture.innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 ${top + height + 44}" width="900" font-size="12">${parts.join("")}</svg>`;
    picture.querySelector(".x").textContent = title(across);
    picture.querySelector(".y").textContent = title(up);
    picture.querySelectorAll(".name").forEach((text, at) => { text.textContent = names[at]; });
    picture.querySelectorAll(".point").forEach((mark, at) => {
      const shown = document.createElementNS("http://www.w3.org/2000/svg", "title"), point = points[at];
      shown.textContent = `${Object.entries(point.run.axes).map(pair => pair.join("=")).join(" ")}\n${title(across)}: ${quantity(point.x, unit(across))}\n${title(up)}: ${quantity(point.y, unit(up))}`;
      mark.append(shown);
    });
  }

  // Runs that no other run beats in both numbers.
  front(points, across, up) {
    const sign = key => (this.titles[key]?.more_is_better ? -1 : 1), [sx, sy] = [sign(across), sign(up)];
    const ordered = [...points].sort((one, other) => sx * (one.x - other.x) || sy * (one.y - other.y));
    let least = Infinity;
    return ordered.filter(point => { const better = sy * point.y < least; if (better) least = sy * point.y; return better; });
  }
}

new SweepPage(JSON.parse(document.getElementById("data").textContent));
